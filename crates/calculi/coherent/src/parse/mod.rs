//! From text to tree (section 2), without recursion; parsing continues after errors.
//!
//! The parser is a pushdown machine. It *expects* a term or an argument, or it *has* one and examines the
//! next token; open forms (a parenthesis, the words of an application, a `let` that expects its `in`) are
//! [`Frame`]s on its own stack, so a program nested a million deep parses like any other:
//!
//! ```text
//! f (succ x        frames: [f _] [( _] [succ _]      has: x, closes `succ`, no argument follows, expects `)`
//! ```
//!
//! * [`operand`] reads the start of an argument, and pushes the frame that it opens.
//! * [`after`] handles the next token: another argument, or a token that the innermost open form expects.
//! * [`items`] reads definitions and pragmas, [`types`] types, [`numbers`] numerals and probabilities.
//! * [`recover`] skips to a token that an open form expects, so that one mistake gets one message.
//!
//! Prefix operators bind tighter than application, and a block (`\x:A. M`, `let`, `if`) may be the last
//! argument; it extends as far to the right as it can.

mod after;
mod items;
mod lexicon;
mod numbers;
mod operand;
mod recover;
mod types;

use dashu_ratio::RBig;
use eddy_syntax::cursor::Cursor;
use eddy_syntax::lex::{Comment, LexError, Lexed, Token, TokenKind, lex};
use eddy_syntax::{Diagnostic, Diagnostics, SourceFile, Span};

use crate::codes;
use crate::names::Names;
use crate::surface::{Binders, ExprId, ExprKind, Exprs, Ident, Prefix, Program};
use crate::types::Types;

pub use lexicon::LEXICON;

/// The result of parsing: always a tree, and the errors.
#[derive(Debug)]
pub struct Parsed {
    /// The tree; unreadable parts are [`ExprKind::Error`].
    pub program: Program,
    pub names: Names,
    pub types: Types,
    /// The tokens, for the formatter.
    pub tokens: Vec<Token>,
    /// The comments, for the formatter.
    pub comments: Vec<Comment>,
    /// The errors, in the order of the source: of lexing if there are any, otherwise of parsing.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a file.
///
/// ```
/// use eddy_syntax::SourceFile;
/// let parsed = eddy_coherent::parse::parse(&SourceFile::new("f.cd", "def x = ; def y = (2; x"));
/// assert_eq!(parsed.diagnostics.len(), 2, "two mistakes, two messages");
/// ```
pub fn parse(file: &SourceFile) -> Parsed {
    let Lexed { tokens, comments, errors } = lex(file, &LEXICON);
    let mut parser = Parser {
        cursor: Cursor::new(file, &tokens, &[]),
        frames: Vec::new(),
        exprs: Exprs::default(),
        names: Names::default(),
        types: Types::default(),
    };
    let (pragmas, definitions) = parser.items();
    let main = parser.term(Frame::Main);
    let Parser { cursor, exprs, names, types, .. } = parser;
    let program = Program { pragmas, definitions, main, exprs };
    // Lexical errors come first, because they cause others.
    let diagnostics = if errors.is_empty() {
        cursor.diagnostics.into_sorted()
    } else {
        let help = "comments nest: each `(*` needs a `*)` of its own";
        let lexical = |error: &LexError| error.diagnostic(file, codes::LEXICAL, "", help);
        errors.iter().map(lexical).collect::<Diagnostics>().into_sorted()
    };
    Parsed { program, names, types, tokens, comments, diagnostics }
}

/// The state of the machine.
enum State {
    /// Expects a term: `arg { arg }` or a block.
    Term,
    /// Expects an argument.
    Argument,
    /// Has an argument.
    Have(ExprId),
    /// Has a term, after which no argument follows.
    HaveTerm(ExprId),
    /// Has the whole term of an item.
    Done(ExprId),
}

/// An open form: its parts so far, and the part that comes next.
enum Frame {
    /// The final term; expects the end of the file.
    Main,
    /// `def x = `; expects `;`.
    Definition { start: Span },
    /// The words of an application so far.
    Words { items: Vec<ExprId> },
    /// `op`.
    Prefix { start: Span, prefix: Prefix },
    /// `(` expects `)`.
    Paren { open: Span },
    /// `\x:A.`.
    Lambda { start: Span, binders: Vec<Binders> },
    /// `let^d x =` expects `in`.
    LetBound { start: Span, depth: u32, ident: Ident },
    /// `let^d x = M in`.
    LetBody { start: Span, depth: u32, ident: Ident, bound: ExprId },
    /// `if^d` expects `then`.
    IfCondition { start: Span, depth: u32 },
    /// `if^d M then` expects `else`.
    IfThen { start: Span, depth: u32, condition: ExprId },
    /// `if^d M then P else`.
    IfElse { start: Span, depth: u32, condition: ExprId, yes: ExprId },
    /// `choice(p,` expects `,`.
    ChoiceFirst { start: Span, probability: RBig },
    /// `choice(p, M,` expects `)`.
    ChoiceSecond { start: Span, probability: RBig, first: ExprId },
    /// `<` expects `>` or `,`.
    Angle { open: Span },
    /// `<M0,` expects `>`.
    AngleSecond { open: Span, first: ExprId },
    /// `<M>` expects an argument.
    Linear { open: Span, function: ExprId },
    /// `<M0, M1>^` expects an atom.
    Switch { open: Span, first: ExprId, second: ExprId },
    /// `M +`, which was reported; the next summand is read and discarded.
    Summand { left: ExprId },
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    frames: Vec<Frame>,
    exprs: Exprs,
    names: Names,
    types: Types,
}

impl Parser<'_> {
    /// Reads a term and the end of its item.
    fn term(&mut self, item: Frame) -> ExprId {
        self.frames = vec![item];
        let mut state = State::Term;
        loop {
            state = match state {
                State::Term => {
                    self.frames.push(Frame::Words { items: Vec::new() });
                    State::Argument
                }
                State::Argument => self.argument(),
                State::Have(expr) => self.after_argument(expr),
                State::HaveTerm(expr) => self.after_term(expr),
                State::Done(expr) => return expr,
            };
        }
    }

    fn expect(&mut self, symbol: &'static str) -> bool {
        let seen = self.cursor.eat(symbol);
        if !seen {
            self.syntax_error(&format!("`{symbol}`"));
        }
        seen
    }

    /// A name that can be bound.
    fn ident(&mut self, what: &str) -> Option<Ident> {
        let token = self.cursor.token();
        if token.kind != TokenKind::Name {
            self.syntax_error(what);
            if self.cursor.sees_word() {
                let text = self.cursor.slice(token.span);
                self.cursor
                    .help(&format!("`{text}` is reserved; choose another name, for instance `{text}'`"));
            }
            return None;
        }
        self.cursor.advance();
        Some(Ident { name: self.names.intern(self.cursor.slice(token.span)), span: token.span })
    }

    fn push(&mut self, kind: ExprKind, start: Span) -> ExprId {
        let span = self.cursor.since(start);
        self.exprs.push(kind, span)
    }

    fn error_node(&mut self) -> ExprId {
        let span = self.cursor.token().span;
        self.exprs.push(ExprKind::Error, span)
    }
}
