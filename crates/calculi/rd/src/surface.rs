//! The tree of a program as written: with sugar, parentheses and places.
//!
//! Nodes live in one table and refer to each other by number, children before parents, so dropping or copying
//! a deep tree cannot exhaust the stack.

use eddy_syntax::Span;

use crate::names::Name;
use crate::operation::{Pred, Scalar};
use crate::types::Type;

eddy_index::id! {
    /// A node of the tree.
    pub struct ExprId, "fewer nodes than source bytes";
}

/// A whole file.
#[derive(Clone, Debug)]
pub struct Program {
    /// The directives `use NAME` at its head.
    pub directives: Vec<Ident>,
    pub term: ExprId,
    pub exprs: Exprs,
}

/// A name and its place.
#[derive(Clone, Copy, Debug)]
pub struct Ident {
    pub name: Name,
    pub span: Span,
}

/// A type and the place where it is written.
#[derive(Clone, Copy, Debug)]
pub struct Annotation {
    pub ty: Type,
    pub span: Span,
}

/// A binder with its optional type.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub ident: Ident,
    /// Its type, where one is written.
    pub annotation: Option<Annotation>,
}

/// The left side of a `let`.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// `x` or `x:T`.
    Name(Item),
    /// `(x, y, …)`, with any number of items.
    Tuple(Vec<Item>, Span),
}

/// The head of a function definition.
#[derive(Clone, Debug)]
pub struct Head {
    /// `let`, `letrec` or `letrec[n]`.
    pub recursion: Recursion,
    pub ident: Ident,
    pub params: Vec<Item>,
    /// The parameter list with its parentheses.
    pub params_span: Span,
    pub result: Annotation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recursion {
    /// `let f(…)`: no recursion.
    None,
    /// `letrec f(…)`.
    Unlimited,
    /// `letrec[n] f(…)`.
    Limited(u32),
}

/// The function under a derivative.
#[derive(Clone, Copy, Debug)]
pub enum Abstraction {
    /// `(x:T. N)`.
    Binder(Item, ExprId),
    /// `(f)`, which means `(x. f(x))`.
    Function(Ident),
}

impl Abstraction {
    /// The body of a binder.
    pub fn body(&self) -> Option<ExprId> {
        match self {
            Abstraction::Binder(_, body) => Some(*body),
            Abstraction::Function(_) => None,
        }
    }
}

/// Functions that are sugar for conditionals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinked {
    /// `relu`.
    Relu,
    /// `abs`.
    Abs,
    /// `max`.
    Max,
    /// `min`.
    Min,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function variable.
    Function(Name),
    /// An operation on reals.
    Scalar(Scalar),
    /// `dot`.
    Dot,
    /// `scale`.
    Scale,
    /// `fst`.
    Fst,
    /// `snd`.
    Snd,
    /// `relu`, `abs`, `max` or `min`.
    Kinked(Kinked),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`.
    Div,
    /// `^` with an exponent that is not an integer literal.
    Pow,
}

/// Forward or reverse derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `M.rd[L](x. N)`.
    Reverse,
    /// `M.fd[L](x. N)`.
    Forward,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An unreadable part, already reported.
    Error,
    Number(f64),
    /// `*` or `()`.
    Unit,
    /// A variable or constant.
    Name(Name),
    /// `zero[T]`.
    Zero(Annotation),
    /// `(e)`.
    Group(ExprId),
    /// `(e, e, …)` or `<e, e, …>`; an angle tuple may have one item.
    Tuple(Vec<ExprId>),
    /// `f(…)`, `sin(…)`, `fst(…)`, …
    Call(Callee, Span, Vec<ExprId>),
    /// `M.op_r(…)`.
    ReverseCall(ExprId, Callee, Span, Vec<ExprId>),
    /// `M + N`, `M - N`, ….
    Binary(BinaryOp, Span, ExprId, ExprId),
    /// `M ^ k` with an integer literal.
    Power(ExprId, i64),
    /// `-M`.
    Negate(ExprId),
    /// `M.rd[L](x. N)` or `M.fd[L](x. N)`.
    Derivative(Mode, ExprId, ExprId, Abstraction),
    /// `grad[L](x. N)`.
    Gradient(ExprId, Abstraction),
    /// `let p = M in N`.
    Let(Pattern, ExprId, ExprId),
    /// A function definition: head, body, rest of the program.
    Function(Box<Head>, ExprId, ExprId),
    /// `const c = K in N`.
    Const(Ident, ExprId, ExprId),
    /// `if B then M else N`.
    If(ExprId, ExprId, ExprId),
    /// `M < N`, `M > N`, ….
    Compare(Pred, Span, ExprId, ExprId),
    /// `true` or `false`.
    Truth(bool),
    /// `not B`.
    Not(ExprId),
    /// `B && C`.
    And(ExprId, ExprId),
    /// `B || C`.
    Or(ExprId, ExprId),
}

/// Terms denote numbers, conditions denote truth values; the grammar keeps them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Term,
    Condition,
}

#[derive(Clone, Debug, Default)]
pub struct Exprs {
    kinds: Vec<ExprKind>,
    spans: Vec<Span>,
    sorts: Vec<Sort>,
}

impl Exprs {
    pub fn push(&mut self, kind: ExprKind, span: Span) -> ExprId {
        let id = ExprId::new(self.kinds.len());
        let sort = match &kind {
            ExprKind::Group(inner) => self.sort(*inner),
            ExprKind::Compare(..)
            | ExprKind::Truth(_)
            | ExprKind::Not(_)
            | ExprKind::And(..)
            | ExprKind::Or(..) => Sort::Condition,
            _ => Sort::Term,
        };
        self.kinds.push(kind);
        self.spans.push(span);
        self.sorts.push(sort);
        id
    }

    /// All nodes, children before parents.
    pub fn ids(&self) -> impl Iterator<Item = ExprId> {
        (0..).map(ExprId).take(self.kinds.len())
    }

    pub fn kind(&self, id: ExprId) -> &ExprKind {
        &self.kinds[id.index()]
    }

    pub fn span(&self, id: ExprId) -> Span {
        self.spans[id.index()]
    }

    /// Term or condition.
    pub fn sort(&self, id: ExprId) -> Sort {
        self.sorts[id.index()]
    }

    /// Whether the node is a placeholder for an error that was reported.
    pub fn is_error(&self, id: ExprId) -> bool {
        matches!(self.kind(id), ExprKind::Error)
    }
}
