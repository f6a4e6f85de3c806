//! The tree of a program as written: with sugar, parentheses and places.
//!
//! Expressions live in a table, children before parents, and refer to each other by number.

use dashu_ratio::RBig;
use eddy_syntax::Span;

use crate::names::Name;
use crate::syntax::Op;
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

/// Variables of one type, `(x y : A)`, or one without its parentheses.
#[derive(Clone, Debug)]
pub struct Binders {
    pub idents: Vec<Ident>,
    pub annotation: Annotation,
    /// The whole binder, with its parentheses.
    pub span: Span,
}

/// The operators without a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// `D^n`: n applications of `D`.
    Derive(u32),
    /// `fix` or `Y`.
    Fix,
    /// `deriv`.
    Deriv,
    /// `tick`.
    Tick,
    /// `op^d`.
    Op(Op, u32),
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An unreadable part, already reported.
    Error,
    /// A variable or a definition.
    Name(Name),
    Number(u64),
    /// `(M)`.
    Group(ExprId),
    /// `M N1 … Nk`, k ≥ 1.
    Apply(ExprId, Vec<ExprId>),
    /// A prefix operator and its argument.
    Prefix(Prefix, ExprId),
    /// `\x:A. M`.
    Lambda(Vec<Binders>, ExprId),
    /// `let^d x = M in P`.
    Let(u32, Ident, ExprId, ExprId),
    /// `if^d M then P else Q`.
    If(u32, ExprId, ExprId, ExprId),
    /// `coin(p)`.
    Coin(RBig),
    /// `choice(p, M, N)`.
    Choice(RBig, ExprId, ExprId),
    /// `omega[A]`.
    Omega(Annotation),
    /// `<M> N`: linear application.
    Linear(ExprId, ExprId),
    /// `<M0, M1>^T`.
    Switch(ExprId, ExprId, ExprId),
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

    /// All expressions, parts before wholes.
    pub fn ids(&self) -> impl Iterator<Item = ExprId> + use<> {
        (0..self.kinds.len()).map(ExprId::new)
    }

    pub fn kind(&self, id: ExprId) -> &ExprKind {
        &self.kinds[id.index()]
    }

    pub fn span(&self, id: ExprId) -> Span {
        self.spans[id.index()]
    }
}

/// `def x : A = M;`.
#[derive(Clone, Debug)]
pub struct Definition {
    pub ident: Ident,
    pub annotation: Option<Annotation>,
    pub term: ExprId,
    /// From `def` to the semicolon.
    pub span: Span,
}

/// The limit that a pragma sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `pragma fuel N;`.
    Fuel,
    /// `pragma coins N;`.
    Coins,
}

/// `pragma fuel N;`.
#[derive(Clone, Copy, Debug)]
pub struct Pragma {
    pub limit: Limit,
    pub value: u64,
    pub span: Span,
}

/// A whole file.
#[derive(Clone, Debug)]
pub struct Program {
    pub pragmas: Vec<Pragma>,
    pub definitions: Vec<Definition>,
    pub main: ExprId,
    pub exprs: Exprs,
}
