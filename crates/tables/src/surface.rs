//! The tree of a program as it is written: sugar, parentheses and places are kept.
//!
//! Expressions live in a table, children before parents, and refer to each other by number.

use eddy_syntax::Span;

use crate::integer::{Int, Op};
use crate::names::Name;
use crate::types::Type;

/// The number of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExprId(u32);

/// A name and its place.
#[derive(Clone, Copy, Debug)]
pub struct Ident {
    /// The name.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
}

/// A type and its place.
#[derive(Clone, Copy, Debug)]
pub struct Annotation {
    /// The type.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
}

/// A variable that a λ or a `let` binds, in typed languages with its type.
#[derive(Clone, Copy, Debug)]
pub struct Binder {
    /// The variable.
    pub ident: Ident,
    /// Its type; none in `.lam`.
    pub annotation: Option<Annotation>,
}

/// An operator in front of an atom, in `.ref`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prefix {
    /// `ref e`.
    Ref,
    /// `fst e`.
    First,
    /// `snd e`.
    Second,
    /// `!e`.
    Read,
}

impl Prefix {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Prefix::Ref => "ref",
            Prefix::First => "fst",
            Prefix::Second => "snd",
            Prefix::Read => "!",
        }
    }
}

/// What stands behind a function: a term, or a type in brackets.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    /// A term.
    Term(ExprId),
    /// `[A]`; the span holds the brackets.
    Type(Annotation, Span),
}

/// The forms of terms.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Something that could not be read, and was reported.
    Error,
    /// A variable.
    Name(Name),
    /// A literal.
    Int(Int),
    /// `(e)`.
    Group(ExprId),
    /// `(e1, …, en)`, n ≥ 2.
    Tuple(Vec<ExprId>),
    /// `e a1 … an`, n ≥ 1.
    Apply(ExprId, Vec<Argument>),
    /// An operator in front of an atom.
    Prefix(Prefix, ExprId),
    /// `e1 o e2`.
    Binary(Op, ExprId, ExprId),
    /// `λx y. e`.
    Lambda(Vec<Binder>, ExprId),
    /// `Λa b. e`.
    TypeLambda(Vec<Ident>, ExprId),
    /// `fix f : A. e`.
    Fix(Ident, Annotation, ExprId),
    /// `let x y = e in b`.
    Let(Ident, Vec<Binder>, ExprId, ExprId),
    /// `if c then a else b`.
    If(ExprId, ExprId, ExprId),
    /// `a; b`.
    Sequence(ExprId, ExprId),
    /// `a := b`.
    Assign(ExprId, ExprId),
}

/// All expressions of a program.
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    kinds: Vec<ExprKind>,
    spans: Vec<Span>,
}

impl Exprs {
    /// Adds an expression; its parts are there already.
    pub fn push(&mut self, kind: ExprKind, span: Span) -> ExprId {
        let id = ExprId(u32::try_from(self.kinds.len()).expect("fewer expressions than source bytes"));
        self.kinds.push(kind);
        self.spans.push(span);
        id
    }

    /// What an expression is.
    pub fn kind(&self, id: ExprId) -> &ExprKind {
        &self.kinds[id.0 as usize]
    }

    /// Where it stands.
    pub fn span(&self, id: ExprId) -> Span {
        self.spans[id.0 as usize]
    }
}

/// A whole file.
#[derive(Clone, Debug)]
pub struct Program {
    /// The term.
    pub main: ExprId,
    /// All expressions.
    pub exprs: Exprs,
}
