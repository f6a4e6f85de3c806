//! From text to tree (section 3), without recursion; parsing continues after errors.
//!
//! The parser is a pushdown machine. It *expects* a block or an atom, or it *has* one and examines the next
//! token; open forms (a parenthesis, the left side of a `+`, a `let` that expects its `in`) are [`Frame`]s on
//! its own stack, so a program nested a million deep parses like any other:
//!
//! ```text
//! 1 + f (x         frames: [1 + _] [f _] [( _] [x _]       has: x, sees no further argument, waits for `)`
//! ```
//!
//! * [`operand`] reads the start of an atom or a block, and pushes the frame that it opens.
//! * [`after`] handles the next token: another argument, an operator, or a token that the innermost open form
//!   expects.
//! * [`types`] reads types; [`reader`] is the stream of tokens, which the parsers of values and intersection
//!   types also use.
//! * [`recover`] skips to a token that an open form expects, so that one mistake gets one message.
//!
//! A minus directly in front of a digit belongs to the literal unless an operand ends before it (section 3).
//! When the machine expects an atom, no operand has just ended; when it has an atom, one has. So the state of
//! the parser decides, not the lexer.

mod after;
mod lexicon;
mod operand;
pub mod reader;
mod recover;
mod types;

use eddy_syntax::lex::{Comment, LexError, Lexed, Token, lex};
use eddy_syntax::{Diagnostic, Diagnostics, SourceFile, Span};

use crate::codes;
use crate::dialect::Dialect;
use crate::integer::Op;
use crate::names::{Name, Names};
use crate::surface::{Annotation, Argument, Binder, ExprId, ExprKind, Exprs, Ident, Prefix, Program};
use crate::types::Types;
use reader::Reader;

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
/// use eddy_tables::dialect::Dialect;
/// let parsed = eddy_tables::parse::parse(&SourceFile::new("f.lam", "(1 + ) * (2"), Dialect::Lambda);
/// assert_eq!(parsed.diagnostics.len(), 2, "two mistakes, two messages");
/// ```
pub fn parse(file: &SourceFile, dialect: Dialect) -> Parsed {
    let Lexed { tokens, comments, errors } = lex(file, &LEXICON);
    let mut parser = Parser {
        reader: Reader::new(file, &tokens),
        dialect,
        frames: Vec::new(),
        exprs: Exprs::default(),
        names: Names::default(),
        types: Types::default(),
        type_names: Vec::new(),
    };
    let main = parser.program();
    let Parser { exprs, names, types, reader, .. } = parser;
    let diagnostics = or_lexical(file, &errors, reader.0.diagnostics);
    Parsed { program: Program { main, exprs }, names, types, tokens, comments, diagnostics }
}

/// Lexical errors come first, because they cause others.
pub fn or_lexical(file: &SourceFile, errors: &[LexError], others: Diagnostics) -> Vec<Diagnostic> {
    if errors.is_empty() {
        return others.into_sorted();
    }
    let help = "comments nest: each `(*` needs a `*)` of its own";
    let lexical = |error: &LexError| error.diagnostic(file, codes::LEXICAL, "parse error: ", help);
    errors.iter().map(lexical).collect::<Diagnostics>().into_sorted()
}

/// The state of the machine.
enum State {
    /// Expects a block: a binding form, a conditional, or operands with operators between them.
    Block,
    /// Expects an operand: a function and its arguments.
    Operand,
    /// Expects an atom.
    Atom,
    HaveAtom(ExprId),
    /// Has an operand, after which no argument follows.
    HaveOperand(ExprId),
    HaveBlock(ExprId),
    /// Has an expression, after which no `;` follows.
    HaveExpr(ExprId),
    /// Has the program.
    Done(ExprId),
}

/// An open form: its parts so far, and the part that comes next.
enum Frame {
    /// The program; expects the end of the file.
    Main,
    /// `(` or `⟨`, and the parts before the last comma; expects `,` or the bracket that closes it.
    Bracket { open: Span, close: &'static str, items: Vec<ExprId> },
    /// A function and its arguments so far.
    Words { function: Option<ExprId>, arguments: Vec<Argument> },
    /// `ref`, `fst`, `snd` or `!`, which expects an atom.
    Prefix { start: Span, prefix: Prefix },
    /// `a o`, which expects an operand.
    Binary { op: Op, left: ExprId },
    /// `a :=`, which expects a block.
    Assign { target: ExprId },
    /// `a;`.
    Sequence { first: ExprId },
    /// `λx.`.
    Lambda { start: Span, binders: Vec<Binder> },
    /// `Λa.`; its variables are in scope until it ends.
    TypeLambda { start: Span, idents: Vec<Ident> },
    /// `fix f : A.`.
    Fix { start: Span, ident: Ident, annotation: Annotation },
    /// `let x =` expects `in`.
    LetBound { start: Span, ident: Ident, params: Vec<Binder> },
    /// `let x = e in`.
    LetBody { start: Span, ident: Ident, params: Vec<Binder>, bound: ExprId },
    /// `if` expects `then`.
    IfCondition { start: Span },
    /// `if c then` expects `else`.
    IfThen { start: Span, condition: ExprId },
    /// `if c then a else`, which expects a block.
    IfElse { start: Span, condition: ExprId, yes: ExprId },
}

struct Parser<'a> {
    reader: Reader<'a>,
    dialect: Dialect,
    frames: Vec<Frame>,
    exprs: Exprs,
    names: Names,
    types: Types,
    /// The type variables in scope, the innermost last.
    type_names: Vec<Name>,
}

impl Parser<'_> {
    fn program(&mut self) -> ExprId {
        self.frames.push(Frame::Main);
        let mut state = State::Block;
        loop {
            state = match state {
                State::Block => self.block(),
                State::Operand => self.operand(),
                State::Atom => self.atom(),
                State::HaveAtom(expr) => self.after_atom(expr),
                State::HaveOperand(expr) => self.after_operand(expr),
                State::HaveBlock(expr) => self.after_block(expr),
                State::HaveExpr(expr) => self.after_expr(expr),
                State::Done(expr) => return expr,
            };
        }
    }

    /// A name that can be bound.
    fn ident(&mut self, what: &str) -> Option<Ident> {
        let span = self.reader.name(what)?;
        Some(Ident { name: self.names.intern(self.reader.slice(span)), span })
    }

    fn push(&mut self, kind: ExprKind, start: Span) -> ExprId {
        let span = self.reader.since(start);
        self.exprs.push(kind, span)
    }

    fn error_node(&mut self) -> ExprId {
        let span = self.reader.token().span;
        self.exprs.push(ExprKind::Error, span)
    }
}
