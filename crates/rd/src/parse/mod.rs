//! From text to tree (section 3), without recursion and without giving up.
//!
//! The parser is a pushdown machine. It either *wants an operand* or *has an operand* and looks at what
//! follows; forms that are still open (a parenthesis, the left side of a `+`, a `let` waiting for its `in`) are
//! [`Frame`]s on a stack of its own, so that a program nested a million deep parses like any other:
//!
//! ```text
//! 1 + (2 * x        frames: [1 + _] [( _]       has: 2, sees `*`: pushes [2 * _], wants an operand
//! ```
//!
//! * [`operand`] reads what an operand can start with, and pushes the frame that it opens.
//! * [`after`] decides what follows an operand: a tighter operator opens a frame, a looser one closes
//!   the frames above it, anything else must be what the innermost open form waits for.
//! * [`recover`] skips to a place that an open form waits for, so that independent mistakes get
//!   independent messages and one mistake gets one.
//!
//! `<` and `>` are comparisons and also brackets. In the place of an operand `<` opens a tuple; after an operand
//! `>` closes one exactly when the innermost open bracket or keyword is a `<`.

mod after;
mod head;
mod lexicon;
mod operand;
mod recover;
mod types;

use eddy_syntax::cursor::Cursor;
use eddy_syntax::lex::{Comment, LexError, Lexed, Token, TokenKind, lex};
use eddy_syntax::{Diagnostic, Diagnostics, SourceFile, Span};
use rustc_hash::FxHashSet;

use crate::codes;
use crate::names::{Name, Names};
use crate::operation::Pred;
use crate::surface::{
    Abstraction, BinaryOp, Callee, ExprId, ExprKind, Exprs, Head, Ident, Item, Mode, Pattern, Program,
};
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
    /// Names whose definition could not be read: their uses are no mistakes.
    pub poisoned: FxHashSet<Name>,
    /// The mistakes, in the order in which they were found.
    pub diagnostics: Diagnostics,
}

/// Parses a file.
///
/// ```
/// use eddy_syntax::SourceFile;
/// let parsed = eddy_rd::parse::parse(&SourceFile::new("f.rd", "let x = in let y = 2 + in x + y"));
/// assert_eq!(parsed.diagnostics.len(), 2, "two mistakes, two messages");
/// ```
pub fn parse(file: &SourceFile) -> Parsed {
    let Lexed { tokens, comments, errors } = lex(file, &LEXICON);
    let mut cursor = Cursor::new(file, &tokens, &errors);
    let help = "comments nest: each `(*` needs a `*)` of its own; unit is written `()`";
    let lexical = |error: &LexError| error.diagnostic(file, codes::LEXICAL, "", help);
    cursor.diagnostics = errors.iter().map(lexical).collect();
    let mut parser = Parser {
        cursor,
        frames: vec![Frame::Top],
        exprs: Exprs::default(),
        names: Names::default(),
        types: Types::default(),
        misused: FxHashSet::default(),
        poisoned: FxHashSet::default(),
    };
    let directives = parser.directives();
    let term = parser.term();
    let Parser { cursor, exprs, names, types, poisoned, .. } = parser;
    let diagnostics = cursor.diagnostics;
    let program = Program { directives, term, exprs };
    Parsed { program, names, types, tokens, comments, poisoned, diagnostics }
}

/// Whether the machine looks for an operand, has one, or has the whole program.
enum State {
    Operand,
    Have(ExprId, Tightness),
    Done(ExprId),
}

/// What may follow an operand directly: a suffix or `^` only after an atom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tightness {
    Atom,
    Power,
    Loose,
}

/// A form that is still open: what was read of it, and which of its parts comes next.
enum Frame {
    /// The program; waits for the end of the file.
    Top,
    /// `( e, …` waits for `,` or `)`.
    Paren { open: Span, items: Vec<ExprId> },
    /// `< e, …` waits for `,` or `>`.
    Angle { open: Span, items: Vec<ExprId> },
    /// `f( e, …` or `M.op_r( e, …` waits for `,` or `)`.
    Arguments { applied: Applied, items: Vec<ExprId> },
    /// `e op` has its left operand.
    Binary { op: Operator, at: Span, left: ExprId },
    /// `-`.
    Negate { minus: Span },
    /// `not`.
    Not { at: Span },
    /// `let p =` waits for `in`.
    LetBound { start: Span, pattern: Pattern },
    /// `let p = M in`.
    LetBody { start: Span, pattern: Pattern, bound: ExprId },
    /// `let f(…):U =` waits for `in`.
    FunctionBody { start: Span, head: Box<Head> },
    /// `let f(…):U = M in`.
    FunctionRest { start: Span, head: Box<Head>, body: ExprId },
    /// `const c =` waits for `in`.
    ConstValue { start: Span, ident: Ident },
    /// `const c = K in`.
    ConstBody { start: Span, ident: Ident, value: ExprId },
    /// `if` waits for `then`.
    IfCondition { start: Span },
    /// `if B then` waits for `else`.
    IfThen { start: Span, condition: ExprId },
    /// `if B then M else`.
    IfElse { start: Span, condition: ExprId, yes: ExprId },
    /// `M.rd[` or `grad[` waits for `]`.
    Point { start: Span, kind: Derivative },
    /// `M.rd[L](x.` waits for `)`.
    Body { start: Span, kind: Derivative, point: ExprId, item: Item },
}

/// What the arguments that are being read belong to.
#[derive(Clone, Copy)]
struct Applied {
    /// The start of the whole expression.
    start: Span,
    callee: Callee,
    callee_span: Span,
    /// The cotangent, for `M.op_r(…)`.
    cotangent: Option<ExprId>,
}

/// Which derivative is being read.
#[derive(Clone, Copy)]
enum Derivative {
    Gradient,
    Of(Mode, ExprId),
}

/// An infix operator.
#[derive(Clone, Copy)]
enum Operator {
    Term(BinaryOp),
    Compare(Pred),
    And,
    Or,
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    frames: Vec<Frame>,
    exprs: Exprs,
    names: Names,
    types: Types,
    /// The reserved words that were used, and reported, as names: their later uses are not.
    misused: FxHashSet<&'static str>,
    poisoned: FxHashSet<Name>,
}

impl Parser<'_> {
    fn term(&mut self) -> ExprId {
        let mut state = State::Operand;
        loop {
            state = match state {
                State::Operand => self.operand(),
                State::Have(expr, tightness) => self.after(expr, tightness),
                State::Done(expr) => return expr,
            };
        }
    }

    fn directives(&mut self) -> Vec<Ident> {
        let mut directives = Vec::new();
        while self.cursor.eat("use") {
            match self.ident("the name of a directive") {
                Some(ident) => directives.push(ident),
                None => break,
            }
        }
        directives
    }

    fn expect(&mut self, symbol: &'static str) -> bool {
        let seen = self.cursor.eat(symbol);
        if !seen {
            self.syntax_error(&format!("`{symbol}`"));
        }
        seen
    }

    /// A name that is free to be bound; a reserved word is reported and read as if it were one.
    fn ident(&mut self, what: &str) -> Option<Ident> {
        let token = self.cursor.token();
        let text = self.cursor.slice(token.span);
        match token.kind {
            TokenKind::Name => {}
            TokenKind::Symbol(word) if word.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                if self.misused.insert(word) {
                    let title = format!("`{text}` is reserved");
                    let diagnostic = Diagnostic::error(codes::RESERVED, token.span, title)
                        .label("this word belongs to the language")
                        .help(format!("choose another name, for instance `{text}1`"));
                    self.cursor.diagnostics.push(diagnostic);
                }
                let name = self.names.intern(text);
                self.poisoned.insert(name);
            }
            _ => {
                self.syntax_error(what);
                return None;
            }
        }
        self.cursor.advance();
        Some(Ident { name: self.names.intern(text), span: token.span })
    }

    fn push(&mut self, kind: ExprKind, start: Span) -> ExprId {
        let span = self.cursor.since(start);
        self.exprs.push(kind, span)
    }

    fn error_node(&mut self) -> ExprId {
        let span = self.cursor.token().span;
        self.exprs.push(ExprKind::Error, span)
    }

    fn finish_derivative(&mut self, start: Span, kind: Derivative, point: ExprId, of: Abstraction) -> State {
        let point = self.need_term(point);
        let kind = match kind {
            Derivative::Gradient => ExprKind::Gradient(point, of),
            Derivative::Of(mode, cotangent) => ExprKind::Derivative(mode, cotangent, point, of),
        };
        State::Have(self.push(kind, start), Tightness::Atom)
    }
}
