//! From text to tree (section 3), without recursion; parsing continues after errors.
//!
//! The parser is a pushdown machine. It either *expects an operand* or *has an operand* and examines the next
//! token; open forms (a parenthesis, the left side of a `+`, a `let` that expects its `in`) are [`Frame`]s on
//! its own stack, so a program nested a million deep parses like any other:
//!
//! ```text
//! 1 + (2 * x        frames: [1 + _] [( _]       has: 2, sees `*`: pushes [2 * _], expects an operand
//! ```
//!
//! * [`operand`] reads the start of an operand, and pushes the frame that it opens.
//! * [`after`] handles the token after an operand: a tighter operator opens a frame, a looser one closes the
//!   frames above it, anything else must be what the innermost open form expects.
//! * [`recover`] skips to a token that an open form expects, so that independent mistakes get independent
//!   messages and one mistake gets one.
//!
//! `<` and `>` are comparisons and also brackets. In the place of an operand `<` opens a tuple; after an
//! operand `>` closes one exactly when the innermost open bracket or keyword is a `<`.

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
    /// Names with an unreadable definition: their uses are not reported.
    pub poisoned: FxHashSet<Name>,
    /// The errors, in the order of discovery.
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

/// The state of the machine: expects an operand, has one, or has the whole program.
enum State {
    Operand,
    Have(ExprId, Tightness),
    Done(ExprId),
}

/// Whether a suffix or `^` may follow: only after an atom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tightness {
    Atom,
    Power,
    Loose,
}

/// An open form: its parts so far, and the part that comes next.
enum Frame {
    /// The program; expects the end of the file.
    Top,
    /// `( e, …` expects `,` or `)`.
    Paren { open: Span, items: Vec<ExprId> },
    /// `< e, …` expects `,` or `>`.
    Angle { open: Span, items: Vec<ExprId> },
    /// `f( e, …` or `M.op_r( e, …` expects `,` or `)`.
    Arguments { applied: Applied, items: Vec<ExprId> },
    /// `e op` has its left operand.
    Binary { op: Operator, at: Span, left: ExprId },
    /// `-`.
    Negate { minus: Span },
    /// `not`.
    Not { at: Span },
    /// `let p =` expects `in`.
    LetBound { start: Span, pattern: Pattern },
    /// `let p = M in`.
    LetBody { start: Span, pattern: Pattern, bound: ExprId },
    /// `let f(…):U =` expects `in`.
    FunctionBody { start: Span, head: Box<Head> },
    /// `let f(…):U = M in`.
    FunctionRest { start: Span, head: Box<Head>, body: ExprId },
    /// `const c =` expects `in`.
    ConstValue { start: Span, ident: Ident },
    /// `const c = K in`.
    ConstBody { start: Span, ident: Ident, value: ExprId },
    /// `if` expects `then`.
    IfCondition { start: Span },
    /// `if B then` expects `else`.
    IfThen { start: Span, condition: ExprId },
    /// `if B then M else`.
    IfElse { start: Span, condition: ExprId, yes: ExprId },
    /// `M.rd[` or `grad[` expects `]`.
    Point { start: Span, kind: Derivative },
    /// `M.rd[L](x.` expects `)`.
    Body { start: Span, kind: Derivative, point: ExprId, item: Item },
}

/// The owner of the current arguments.
#[derive(Clone, Copy)]
struct Applied {
    /// The start of the whole expression.
    start: Span,
    callee: Callee,
    callee_span: Span,
    /// The cotangent, for `M.op_r(…)`.
    cotangent: Option<ExprId>,
}

/// The kind of the current derivative.
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
    /// Reserved words that were reported as names: their later uses are not reported again.
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

    /// A name that can be bound; a reserved word is reported and then accepted.
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
