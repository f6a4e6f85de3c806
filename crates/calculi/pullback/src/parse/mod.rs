//! From text to tree (section 3), without recursion; parsing continues after errors.
//!
//! The parser is a pushdown machine. It either *expects an operand* or *has an operand* and examines the next
//! token; open forms (a parenthesis, the left side of a `+`, a `λ` that expects the end of its body) are
//! [`Frame`]s on its own stack, so a program nested a million deep parses like any other:
//!
//! ```text
//! f x + (2 * y      frames: [main] [f x + _] [( _]    has: 2, sees `*`: pushes [2 * _], expects an operand
//! ```
//!
//! * [`declaration`] reads the declarations before the main expression, up to the expressions in them.
//! * [`operand`] reads the start of an operand, and pushes the frame that it opens.
//! * [`after`] handles the token after an operand: an argument, a tighter operator, or a token that an open
//!   form expects.
//! * [`binder`] and [`types`] read patterns and types, which contain no expressions.
//! * [`recover`] skips to a token that an open form expects, so that independent mistakes get independent
//!   messages and one mistake gets one.
//!
//! The operators `Ω f`, `J f` and `(λx.s)^*` have a meaning only before a `·`. They are read as expressions
//! of their own, and [`after`] inspects the left side of each `·`; operators without a `·` are reported at
//! the end.

mod after;
mod binder;
mod declaration;
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
use crate::surface::{
    BinaryOp, Binder, Derivative, ExprId, ExprKind, Former, Ident, Program, Side, Tree, WrittenId,
};

pub use lexicon::LEXICON;

/// The result of parsing: always a tree, and the errors.
#[derive(Debug)]
pub struct Parsed {
    /// The tree; unreadable parts are [`ExprKind::Error`].
    pub program: Program,
    pub names: Names,
    /// The tokens, for the formatter.
    pub tokens: Vec<Token>,
    /// The comments, for the formatter.
    pub comments: Vec<Comment>,
    /// Names with an unreadable declaration: their uses are not reported.
    pub poisoned: FxHashSet<Name>,
    /// The errors, in the order of discovery.
    pub diagnostics: Diagnostics,
}

/// Parses a file.
///
/// ```
/// use eddy_syntax::SourceFile;
/// let parsed = eddy_pullback::parse::parse(&SourceFile::new("f.pb", "def f = ; def g = 2 + ; f + g"));
/// assert_eq!(parsed.diagnostics.len(), 2, "two mistakes, two messages");
/// ```
pub fn parse(file: &SourceFile) -> Parsed {
    let Lexed { tokens, comments, errors } = lex(file, &LEXICON);
    let mut cursor = Cursor::new(file, &tokens, &errors);
    let help = "comments nest: each `(*` needs a `*)` of its own; a product is written `( *`";
    let lexical = |error: &LexError| error.diagnostic(file, codes::LEXICAL, "parse error: ", help);
    cursor.diagnostics = errors.iter().map(lexical).collect();
    let mut parser = Parser {
        cursor,
        frames: Vec::new(),
        program: Program::default(),
        names: Names::default(),
        applied_operators: FxHashSet::default(),
        poisoned: FxHashSet::default(),
    };
    parser.file();
    parser.report_lone_operators();
    let Parser { cursor, program, names, poisoned, .. } = parser;
    let diagnostics = cursor.diagnostics;
    Parsed { program, names, tokens, comments, poisoned, diagnostics }
}

/// The state of the machine: expects an operand, has one, or has all of a declaration.
enum State {
    Operand,
    Have(ExprId, Tightness),
    Done,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tightness {
    /// An atom with its exponents: everything may follow.
    Post,
    /// An application or a prefix form: more arguments may follow.
    Application,
    /// An operator form: `·` may follow.
    Operator,
    /// An open form that extends as far as possible: only operators may follow.
    Loose,
}

/// A prefix of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    Project(Side),
    Sharp,
    Flat,
    Omega,
    Jay,
}

/// `jacobian`, `grad` or `vjp`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sugar {
    Derivative(Derivative),
    Vjp,
}

/// The parts of a declaration before its expression.
enum Head {
    Prim { start: Span, ident: Ident, params: Vec<Ident> },
    Def { start: Span, ident: Ident, binders: Vec<Binder>, result: Option<WrittenId> },
}

/// The three kinds of brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Paren,
    Angle,
    Square,
}

impl Bracket {
    fn of(symbol: &str) -> Option<Bracket> {
        Some(match symbol {
            "(" => Bracket::Paren,
            "<" => Bracket::Angle,
            "[" => Bracket::Square,
            _ => return None,
        })
    }

    fn close(self) -> &'static str {
        match self {
            Bracket::Paren => ")",
            Bracket::Angle => ">",
            Bracket::Square => "]",
        }
    }
}

/// An open form: its parts so far, and the part that comes next.
enum Frame {
    /// The main expression; expects the end of the file.
    Main,
    /// `def f =` or `prim f(x) =` expects `;`.
    Declaration(Head),
    /// `( e, …` expects `,` or the closing bracket.
    Tuple { open: Span, bracket: Bracket, items: Vec<ExprId> },
    /// `pull( e, …` expects `,` or `)`.
    Former { start: Span, former: Former, first: Option<ExprId> },
    /// `e op` has its left operand.
    Binary { op: BinaryOp, at: Span, left: ExprId },
    /// `e @`.
    Contract { left: ExprId },
    /// `e ·`.
    Dot { left: ExprId, at: Span },
    /// `-`.
    Negate { minus: Span },
    /// `fst`, `sharp`, `Omega`, …
    Prefix { start: Span, prefix: Prefix },
    /// `f` expects an argument.
    Argument { function: ExprId },
    /// `\b b.`
    LambdaBody { start: Span, binders: Vec<Binder> },
    /// `let b =` expects `in`.
    LetBound { start: Span, binder: Binder },
    /// `let b = e in`.
    LetBody { start: Span, binder: Binder, bound: ExprId },
    /// `jacobian` expects `at`.
    SugarFunction { start: Span, sugar: Sugar },
    /// `jacobian f at`; a `vjp` expects `with`.
    SugarPoint { start: Span, sugar: Sugar, function: ExprId },
    /// `vjp f at v with`.
    SugarCovector { start: Span, function: ExprId, point: ExprId },
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    frames: Vec<Frame>,
    program: Program,
    names: Names,
    /// Operators before a `·`.
    applied_operators: FxHashSet<ExprId>,
    poisoned: FxHashSet<Name>,
}

impl Parser<'_> {
    /// Reads operands and what follows them until the innermost declaration is complete.
    fn expression(&mut self, frame: Frame) {
        self.frames.push(frame);
        let mut state = State::Operand;
        loop {
            state = match state {
                State::Operand => self.operand(),
                State::Have(expr, tightness) => self.after(expr, tightness),
                State::Done => return,
            };
        }
    }

    /// Reports operators that do not stand before a `·`; only `Ω r` with a literal has a meaning of its own.
    fn report_lone_operators(&mut self) {
        let tree = &self.program.tree;
        for id in tree.ids() {
            let (what, help) = match tree.kind(id) {
                ExprKind::Omega(inner) if !tree.is_literal(*inner) => {
                    ("Ω", "a pullback is `(Ω f) · w`; alone, `Ω [1]` with numbers is a constant 1-form")
                }
                ExprKind::Jay(_) => ("J", "a Jacobian is `J f · v`, a function of the point"),
                ExprKind::Star(inner) if tree.is_lambda(*inner) => {
                    ("a dual map", "a dual map is `(λx.s)^* · t`, with a covector `t`")
                }
                _ => continue,
            };
            if !self.applied_operators.contains(&id) {
                let title = format!("parse error: {what} without its `·`");
                let diagnostic = Diagnostic::error(codes::SYNTAX, tree.span(id), title)
                    .label("this operator has no operand")
                    .help(help);
                self.cursor.diagnostics.push(diagnostic);
            }
        }
    }

    fn tree(&mut self) -> &mut Tree {
        &mut self.program.tree
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
                let title = format!("parse error: `{text}` is reserved");
                let diagnostic = Diagnostic::error(codes::RESERVED, token.span, title)
                    .label("this word belongs to the language")
                    .help(format!("choose another name, for instance `{}1`", word.to_lowercase()));
                self.cursor.diagnostics.push(diagnostic);
                self.cursor.forgive();
                return None;
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
        self.tree().push(kind, span)
    }

    fn error_node(&mut self) -> ExprId {
        let span = self.cursor.token().span;
        self.tree().push(ExprKind::Error, span)
    }

    /// A natural number after `^`; `least` is the smallest that is allowed.
    fn exponent(&mut self, least: u32) -> Option<u32> {
        let token = self.cursor.token();
        let text = self.cursor.slice(token.span);
        let exponent = text.parse::<u32>().ok().filter(|_| token.kind == TokenKind::Number);
        match exponent {
            Some(n) if n >= least => {
                self.cursor.advance();
                Some(n)
            }
            _ => {
                self.syntax_error(&format!("an exponent, a natural number from {least} to {}", u32::MAX));
                if token.kind == TokenKind::Number && text.contains('.') {
                    self.cursor.help(
                        "a point after a number belongs to it if a digit follows: put a blank before it",
                    );
                } else if self.cursor.sees("-") || least == 0 {
                    self.cursor.help("exponents are natural numbers: write `1 / x^2` for a negative one");
                }
                None
            }
        }
    }
}
