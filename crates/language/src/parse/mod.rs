//! Parses text to a tree (section 1), without recursion and with error recovery.
//!
//! Declarations, equations and rows follow each other, so plain functions read them. Only expressions nest,
//! and a pushdown machine reads these: it either *wants an operand* or *has an operand* and examines the next
//! token. Open forms (a parenthesis, the left side of a `+`, a `merge` without all its arguments) are
//! [`Frame`]s on an explicit stack, so that an expression nested a million deep parses like any other:
//!
//! ```text
//! 1 + (2 * x        frames: [1 + _] [( _]       has: 2, sees `*`: pushes [2 * _], wants an operand
//! ```
//!
//! * [`item`], [`node`], [`run`] and [`function`] read declarations.
//! * [`operand`] reads the start of an operand, and pushes the frame that it opens; [`after`] decides what
//!   follows an operand: a tighter operator opens a frame, a looser one closes the frames above it, any other
//!   token must be the one that the innermost open form expects.
//! * [`form`] reads the forms of functions, [`stream_form`] those that nodes share; [`binders`] distinguishes
//!   `[i < n: e]` from a list.
//! * [`recover`] reports the expected token and finds the position to continue: the end of the equation or
//!   row. So errors in two equations give two messages, and one error gives one. [`foreign`],
//!   [`foreign_operands`] and [`foreign_statements`] recognise the syntax of other languages. If the
//!   intention is clear (`f (x)`, `a && b`), the error is reported and parsing continues as if it had been
//!   written correctly.
//! * [`first_value`] warns about `x + 0.0 fby y`.
//! * [`contract`] reads contracts and probes. [`doc`] finds the comment that documents a node.
//!
//! **No blanks.** A `(` is a call exactly when it directly follows a name, a `[` an index exactly when it
//! directly follows its left token. So `merge c (x) (y)` has three arguments, `merge c(x) (y) z` too, and
//! `f (x)` is an error.

mod after;
mod automaton;
mod binders;
mod contract;
mod doc;
mod first_value;
mod foreign;
mod foreign_operands;
mod foreign_statements;
mod form;
mod frame;
mod function;
mod item;
mod lexical;
mod lexicon;
mod node;
mod number;
mod operand;
mod recover;
mod run;
mod stream_form;

use eddy_syntax::lex::{Comment, Lexed, Token, TokenKind, lex};
use eddy_syntax::{Diagnostic, Diagnostics, SourceFile, Span};
use rustc_hash::FxHashSet;

use crate::names::{Name, Names};
use crate::tree::{Cells, ExprId, ExprKind, Exprs, Ident, Program};
use frame::Frame;

pub(crate) use form::is_reserved as is_reserved_in_functions;
pub use lexicon::LEXICON;

/// The result of parsing: a tree, for any text, and the errors.
#[derive(Debug)]
pub struct Parsed {
    /// The tree; an unreadable part is [`ExprKind::Error`], or missing.
    pub program: Program,
    pub names: Names,
    /// The tokens, for the formatter.
    pub tokens: Vec<Token>,
    /// The comments, for the formatter.
    pub comments: Vec<Comment>,
    /// Names that occur in unreadable text, perhaps in their definition: their uses are not errors.
    pub poisoned: FxHashSet<Name>,
    /// The errors, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Warnings about suspicious code; empty if there are errors.
    pub warnings: Vec<Diagnostic>,
}

/// Parses a file.
///
/// ```
/// use eddy_syntax::SourceFile;
/// let file = SourceFile::new("f.eddy", "node f(x)->(o, p) o = x +; p = (x;");
/// assert_eq!(eddy_language::parse::parse(&file).diagnostics.len(), 2, "two mistakes, two messages");
/// ```
pub fn parse(file: &SourceFile) -> Parsed {
    let Lexed { mut tokens, comments, errors } = lex(file, &LEXICON);
    let mut diagnostics: Diagnostics = errors.iter().map(|error| lexical::diagnostic(file, *error)).collect();
    diagnostics.extend(lexical::drop_foreign_comments(file, &mut tokens));
    let mut parser = Parser {
        file,
        tokens: &tokens,
        comments: &comments,
        at: 0,
        frames: Vec::new(),
        items: Vec::new(),
        closing: binders::matching(&tokens),
        grammar: Grammar::Streams,
        program: Program::default(),
        names: Names::default(),
        unreadable: errors.iter().map(|error| error.span().start).collect(),
        diagnostics,
        last_complaint: None,
        has_guessed: false,
        misused: FxHashSet::default(),
        explained: FxHashSet::default(),
        poisoned: FxHashSet::default(),
    };
    parser.file();
    let Parser { program, names, poisoned, diagnostics, .. } = parser;
    let diagnostics = diagnostics.into_sorted();
    let warnings =
        if diagnostics.is_empty() { first_value::warnings(file, &program, &names) } else { Vec::new() };
    Parsed { program, names, tokens, comments, poisoned, diagnostics, warnings }
}

/// The state of the machine: it wants an operand, has one, has the whole expression, or found an error.
enum State {
    Operand,
    Have(ExprId, Tightness),
    Done(ExprId),
    Failed,
}

/// The grammar of the current expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grammar {
    /// Expressions of nodes.
    Streams,
    /// Expressions of `fn`, `const` and `eval`.
    Functions,
    /// Sizes in written types.
    Sizes,
}

/// Which tokens may directly follow an operand: an index only after a `Postfix`, `when` after a `Postfix` or
/// `Sampled`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tightness {
    Postfix,
    Sampled,
    Loose,
}

struct Parser<'a> {
    file: &'a SourceFile,
    tokens: &'a [Token],
    comments: &'a [Comment],
    at: usize,
    /// The open forms of the current expression.
    frames: Vec<Frame>,
    /// The items of these forms; each form has the index of its first item.
    items: Vec<ExprId>,
    /// For each opening bracket, the token that closes it.
    closing: Vec<u32>,
    grammar: Grammar,
    program: Program,
    names: Names,
    diagnostics: Diagnostics,
    /// Positions of text that the lexer could not read, in order.
    unreadable: Vec<u32>,
    /// The token of the last error; further errors at this token are dropped.
    last_complaint: Option<usize>,
    /// Whether an error in the current expression was reported and the parser continued with a guess of what
    /// was intended. Later errors in the expression are dropped: they probably follow from that guess.
    has_guessed: bool,
    /// The reserved words that were used as names: only the first use of each is reported.
    misused: FxHashSet<&'static str>,
    /// The words of other languages that were already explained: only the first use of each is explained.
    explained: FxHashSet<&'static str>,
    poisoned: FxHashSet<Name>,
}

impl<'a> Parser<'a> {
    /// `expr`: up to the first token that cannot belong to it; `None` after a reported error.
    fn expression(&mut self) -> Option<ExprId> {
        debug_assert!(self.frames.is_empty() && self.items.is_empty(), "expressions do not nest here");
        self.has_guessed = false;
        self.expression_after(State::Operand)
    }

    /// `f(e, …)`; its name was read, and its parenthesis is the next token.
    fn call_of(&mut self, callee: Ident) -> Option<ExprId> {
        self.has_guessed = false;
        let start = self.arguments(callee);
        self.expression_after(start)
    }

    fn expression_after(&mut self, mut state: State) -> Option<ExprId> {
        loop {
            state = match state {
                State::Operand => self.operand(),
                State::Have(expr, tightness) => self.after(expr, tightness),
                State::Done(expr) => return Some(expr),
                State::Failed => {
                    self.frames.clear();
                    self.items.clear();
                    return None;
                }
            };
        }
    }

    /// `[expr {"," expr}]` up to `close`, which is not read; `None` after a reported error.
    fn expressions(&mut self, close: &'static str) -> Option<Vec<ExprId>> {
        let mut exprs = Vec::new();
        if self.sees(close) {
            return Some(exprs);
        }
        loop {
            exprs.push(self.expression()?);
            if !self.eat(",") {
                return Some(exprs);
            }
        }
    }

    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn peek(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.at + ahead).map_or(TokenKind::End, |token| token.kind)
    }

    fn sees(&self, symbol: &'static str) -> bool {
        self.token().kind == TokenKind::Symbol(symbol)
    }

    /// Whether the next token is this contextual keyword.
    fn sees_word(&self, word: &str) -> bool {
        self.token().kind == TokenKind::Name && self.text() == word
    }

    /// The text of the next token.
    fn text(&self) -> &'a str {
        self.file.slice(self.token().span)
    }

    /// The token just read, or the first token if none was read.
    fn previous(&self) -> Token {
        self.tokens[self.at.saturating_sub(1)]
    }

    fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, symbol: &'static str) -> bool {
        let seen = self.sees(symbol);
        if seen {
            self.advance();
        }
        seen
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let seen = self.sees_word(word);
        if seen {
            self.advance();
        }
        seen
    }

    /// Whether the next token has no blank before it.
    fn is_glued(&self) -> bool {
        self.at > 0 && self.previous().span.end == self.token().span.start
    }

    /// Whether the next token is the first one on its line.
    fn starts_line(&self) -> bool {
        let before = if self.at == 0 { self.file.base() } else { self.previous().span.end };
        self.at == 0 || self.file.slice(Span::new(before, self.token().span.start)).contains('\n')
    }

    fn intern(&mut self, span: Span) -> Name {
        self.names.intern(self.file.slice(span))
    }

    /// The span from `start` to the token just read.
    fn since(&self, start: Span) -> Span {
        let end = self.previous().span;
        if start.start < end.end { start.to(end) } else { start }
    }

    fn push(&mut self, kind: ExprKind, start: Span, at: Span) -> ExprId {
        let span = self.since(start);
        self.program.exprs.push(kind, span, at)
    }

    /// A placeholder for a missing expression.
    fn error_expr(&mut self) -> ExprId {
        let span = self.token().span.before();
        self.program.exprs.push(ExprKind::Error, span, span)
    }

    fn exprs(&self) -> &Exprs {
        &self.program.exprs
    }

    fn cells(&mut self) -> &mut Cells {
        &mut self.program.cells
    }

    fn ident_here(&mut self) -> Ident {
        let span = self.advance().span;
        Ident { name: self.intern(span), span }
    }
}
