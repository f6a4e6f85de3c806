//! The tree of a program as written: with sugar, parentheses and places.
//!
//! Expressions live in a table, children before parents, and refer to each other by number.

use eddy_syntax::Span;

use crate::integer::{Int, Op};
use crate::names::Name;
use crate::types::Type;

eddy_index::id! {
    pub struct ExprId, "fewer expressions than source bytes";
}

/// A name and its place.
#[derive(Clone, Copy, Debug)]
pub struct Ident {
    pub name: Name,
    pub span: Span,
}

/// A type and its place.
#[derive(Clone, Copy, Debug)]
pub struct Annotation {
    pub ty: Type,
    pub span: Span,
}

/// A variable that a λ or a `let` binds, in typed languages with its type.
#[derive(Clone, Copy, Debug)]
pub struct Binder {
    pub ident: Ident,
    /// Its type; `None` in `.lam`.
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
    /// Its spelling in source text.
    pub fn symbol(self) -> &'static str {
        match self {
            Prefix::Ref => "ref",
            Prefix::First => "fst",
            Prefix::Second => "snd",
            Prefix::Read => "!",
        }
    }
}

/// An argument of a function: a term, or a type in brackets.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    Term(ExprId),
    /// `[A]`; the span holds the brackets.
    Type(Annotation, Span),
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An unreadable part, already reported.
    Error,
    /// A variable.
    Name(Name),
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

#[derive(Clone, Debug, Default)]
pub struct Exprs {
    kinds: Vec<ExprKind>,
    spans: Vec<Span>,
}

impl Exprs {
    /// Adds an expression whose parts were added before.
    pub fn push(&mut self, kind: ExprKind, span: Span) -> ExprId {
        let id = ExprId::new(self.kinds.len());
        self.kinds.push(kind);
        self.spans.push(span);
        id
    }

    pub fn kind(&self, id: ExprId) -> &ExprKind {
        &self.kinds[id.index()]
    }

    pub fn span(&self, id: ExprId) -> Span {
        self.spans[id.index()]
    }
}

/// A whole file.
#[derive(Clone, Debug)]
pub struct Program {
    pub main: ExprId,
    pub exprs: Exprs,
}
