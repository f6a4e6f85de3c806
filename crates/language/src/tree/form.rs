//! The forms of expressions that functions have; nodes have records, fields and `match` (functions.md,
//! section 1).
//!
//! A form is in the table of expressions as [`ExprKind::Form`](super::ExprKind::Form): its kind, here, and
//! the list of its parts. The order of the parts is the order of the text; each variant lists them.

use eddy_syntax::Span;

use super::Ident;
use super::function::{Param, PatternId, TypeId};

eddy_index::id! {
    /// A form in the table of a program.
    pub struct FormId, "a form takes at least one byte of a source file";
}

#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// `()`; no parts.
    Unit,
    /// `let p: T = e in b`; parts: e, b.
    Let { pattern: PatternId, annotation: Option<TypeId> },
    /// `let f(x: T) -> T = e in b`; parts: e, b.
    LetFunction { ident: Ident, params: Vec<Param>, result: Option<TypeId> },
    /// `\p: T, q. e`; part: e.
    Lambda { params: Vec<LambdaParam> },
    /// `fold s = e for binders do b` or `while c do b`; parts: e, then those of the binders or c, then b.
    Loop { kind: LoopKind, state: PatternId, control: Control },
    /// `[i < n, j < m if c: e]`; parts: those of the binders, then e.
    Comprehension(Binders),
    /// `sum(i < n: e)`; parts: those of the binders, then e.
    Reduction { kind: Reduction, binders: Binders },
    /// `a[i, lo..hi]`; parts: a, then those of the indices.
    Place(Vec<Index>),
    /// `a with [i, lo..hi] = e` or `+= e`; parts: a, those of the indices, e.
    Update { indices: Vec<Index>, kind: UpdateKind },
    /// `{x = e, y = e}`; parts: the values.
    Record(Vec<Ident>),
    /// `{r with x = e, y = e}`; parts: r, then the values.
    RecordUpdate(Vec<Ident>),
    /// `match e { a: e, _: e }`; parts: the scrutinee, then the alternatives.
    Match(Vec<Case>),
    /// `merge s { a: e, b: e }`; parts: s, then the branches. Only in nodes.
    Merge(Vec<Case>),
    /// `x when s is a`; parts: x, s. Only in nodes.
    WhenIs(Ident),
    /// `last o`; no parts. Only in automata.
    Last(Ident),
    /// `reset f(x) every c`; parts: the call, then c. Only in nodes.
    Reset,
    /// `r.x`; part: r.
    Field(Ident),
    /// `t.0`; part: t.
    Component { index: u32, span: Span },
}

#[derive(Clone, Debug, PartialEq)]
pub struct LambdaParam {
    pub pattern: PatternId,
    pub annotation: Option<TypeId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    Fold,
    /// The same as `fold`.
    Loop,
    Scan,
}

impl LoopKind {
    pub const ALL: [LoopKind; 3] = [LoopKind::Fold, LoopKind::Loop, LoopKind::Scan];

    /// The word in source text.
    pub fn word(self) -> &'static str {
        match self {
            LoopKind::Fold => "fold",
            LoopKind::Loop => "loop",
            LoopKind::Scan => "scan",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    For(Binders),
    While,
}

/// `i < n, lo <= j < m if c`; parts: for each binder its lower bound, if it has one, and its upper one; then
/// c.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Binders {
    pub binders: Vec<Binder>,
    pub has_filter: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binder {
    pub ident: Ident,
    pub has_lower: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    Sum,
    Prod,
    Max,
    Min,
    Argmax,
    Argmin,
    Any,
    All,
    /// Only in nodes.
    Mean,
    /// Only in nodes.
    Concat,
}

impl Reduction {
    /// Those of functions.
    pub const ALL: [Reduction; 8] = [
        Reduction::Sum,
        Reduction::Prod,
        Reduction::Max,
        Reduction::Min,
        Reduction::Argmax,
        Reduction::Argmin,
        Reduction::Any,
        Reduction::All,
    ];

    /// Those of nodes.
    pub const OF_NODES: [Reduction; 5] =
        [Reduction::Sum, Reduction::Mean, Reduction::Max, Reduction::Argmax, Reduction::Concat];

    /// The word in source text.
    pub fn word(self) -> &'static str {
        match self {
            Reduction::Mean => "mean",
            Reduction::Concat => "concat",
            Reduction::Sum => "sum",
            Reduction::Prod => "prod",
            Reduction::Max => "max",
            Reduction::Min => "min",
            Reduction::Argmax => "argmax",
            Reduction::Argmin => "argmin",
            Reduction::Any => "any",
            Reduction::All => "all",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// `i`, or an int tensor; one part.
    At,
    /// `lo..hi`; a part for each bound that is written.
    Range { has_lower: bool, has_upper: bool },
}

impl Index {
    /// The number of its parts.
    pub fn n_parts(self) -> usize {
        match self {
            Index::At => 1,
            Index::Range { has_lower, has_upper } => usize::from(has_lower) + usize::from(has_upper),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateKind {
    /// `=`
    Replace,
    /// `+=`
    Add,
}

/// The pattern of an alternative of a `match`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Enumerator(Ident),
    /// `_`
    Otherwise(Span),
}
