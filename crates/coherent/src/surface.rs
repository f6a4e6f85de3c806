//! The tree of a program as it is written: sugar, parentheses and places are kept.
//!
//! Expressions live in a table, children before parents, and refer to each other by number.

use dashu_ratio::RBig;
use eddy_syntax::Span;

use crate::names::Name;
use crate::syntax::Op;
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

/// Variables of one type, `(x y : A)`, or one without its parentheses.
#[derive(Clone, Debug)]
pub struct Binders {
    /// The variables.
    pub idents: Vec<Ident>,
    /// Their type.
    pub annotation: Annotation,
    /// All of it, with its parentheses.
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

/// The forms of terms.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Something that could not be read, and was reported.
    Error,
    /// A variable or a definition.
    Name(Name),
    /// A numeral.
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

/// `def x : A = M;`.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name.
    pub ident: Ident,
    /// The declared type.
    pub annotation: Option<Annotation>,
    /// What it stands for.
    pub term: ExprId,
    /// All of it, from `def` to the semicolon.
    pub span: Span,
}

/// Which limit a pragma sets.
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
    /// The limit.
    pub limit: Limit,
    /// How much.
    pub value: u64,
    /// All of it.
    pub span: Span,
}

/// A whole file.
#[derive(Clone, Debug)]
pub struct Program {
    /// The pragmas, in order.
    pub pragmas: Vec<Pragma>,
    /// The definitions, in order.
    pub definitions: Vec<Definition>,
    /// The final term.
    pub main: ExprId,
    /// All expressions.
    pub exprs: Exprs,
}
