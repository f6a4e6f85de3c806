//! From text to tree (section 2), without recursion and without giving up.
//!
//! The parser is a pushdown machine. It *wants* a term or an argument, or it *has* one and looks at what follows; forms that
//! are still open (a parenthesis, the words of an application, a `let` waiting for its `in`) are [`Frame`]s on a stack of
//! its own, so that a program nested a million deep parses like any other:
//!
//! ```text
//! f (succ x        frames: [f _] [( _] [succ _]      has: x, closes `succ`, sees no further argument, waits for `)`
//! ```
//!
//! * [`operand`] reads what an argument can start with, and pushes the frame that it opens.
//! * [`after`] decides what follows: another argument, or what the innermost open form waits for.
//! * [`items`] reads definitions and pragmas, [`types`] types, [`numbers`] numerals and probabilities.
//! * [`recover`] skips to a place that an open form waits for, so that one mistake gets one message.
//!
//! Prefix operators bind tighter than application, and a block (`\x:A. M`, `let`, `if`) may be the last argument; it
//! extends as far to the right as it can.

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

/// What parsing gives: a tree, whatever the text, and what was wrong with it.
#[derive(Debug)]
pub struct Parsed {
    /// The tree; what could not be read is [`ExprKind::Error`].
    pub program: Program,
    /// The names in it.
    pub names: Names,
    /// The types in it.
    pub types: Types,
    /// The tokens, for the formatter.
    pub tokens: Vec<Token>,
    /// The comments, for the formatter.
    pub comments: Vec<Comment>,
    /// The mistakes, in the order of the source: of lexing if there are any, otherwise of parsing.
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
    // What the lexer could not read comes first, and explains the rest.
    let diagnostics = if errors.is_empty() {
        cursor.diagnostics.into_sorted()
    } else {
        let help = "comments nest: each `(*` needs a `*)` of its own";
        let lexical = |error: &LexError| error.diagnostic(file, codes::LEXICAL, "", help);
        errors.iter().map(lexical).collect::<Diagnostics>().into_sorted()
    };
    Parsed { program, names, types, tokens, comments, diagnostics }
}

/// What the machine looks for, or has.
enum State {
    /// Wants a term: `arg { arg }` or a block.
    Term,
    /// Wants an argument.
    Argument,
    /// Has an argument.
    Have(ExprId),
    /// Has a term, after which no argument follows.
    HaveTerm(ExprId),
    /// Has the whole term of an item.
    Done(ExprId),
}

/// A form that is still open: what was read of it, and which of its parts comes next.
enum Frame {
    /// The final term; waits for the end of the file.
    Main,
    /// `def x = `; waits for `;`.
    Definition { start: Span },
    /// The words of an application so far.
    Words { items: Vec<ExprId> },
    /// `op`.
    Prefix { start: Span, prefix: Prefix },
    /// `(` waits for `)`.
    Paren { open: Span },
    /// `\x:A.`.
    Lambda { start: Span, binders: Vec<Binders> },
    /// `let^d x =` waits for `in`.
    LetBound { start: Span, depth: u32, ident: Ident },
    /// `let^d x = M in`.
    LetBody { start: Span, depth: u32, ident: Ident, bound: ExprId },
    /// `if^d` waits for `then`.
    IfCondition { start: Span, depth: u32 },
    /// `if^d M then` waits for `else`.
    IfThen { start: Span, depth: u32, condition: ExprId },
    /// `if^d M then P else`.
    IfElse { start: Span, depth: u32, condition: ExprId, yes: ExprId },
    /// `choice(p,` waits for `,`.
    ChoiceFirst { start: Span, probability: RBig },
    /// `choice(p, M,` waits for `)`.
    ChoiceSecond { start: Span, probability: RBig, first: ExprId },
    /// `<` waits for `>` or `,`.
    Angle { open: Span },
    /// `<M0,` waits for `>`.
    AngleSecond { open: Span, first: ExprId },
    /// `<M>` wants an argument.
    Linear { open: Span, function: ExprId },
    /// `<M0, M1>^` wants an atom.
    Switch { open: Span, first: ExprId, second: ExprId },
    /// `M +`, which is reported already; what follows is read and forgotten.
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
    /// Reads a term and what ends the item that it belongs to.
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

    /// A name that is free to be bound.
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
