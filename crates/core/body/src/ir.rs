//! Modules of bodies: statements, regions and types.
//!
//! A body is a pure function with several results. It consists of statements in A-normal form: operands are
//! names, each name is defined once, and a region sees the names of the regions around it. Sizes of tensors
//! are values of type `int`; only the number of axes is part of a type.
//!
//! One [`Loop`] serves `for`, `each` and `while`. Its results are its final states, then the rows that it
//! collects, then its accumulators, and the number of iterations if it is a `while`. `each` has no states:
//! its iterations are independent.
//!
//! # How reductions over ranges are expressed
//!
//! Decision: there is no reduction construct. The following statements compile to plain loops and have the
//! required derivatives.
//!
//! | reduction | statements | reverse derivative |
//! | --- | --- | --- |
//! | `sum` | `each` that adds to an accumulator, which starts from `-0.0` | one pass, cotangent known in advance, so value and adjoint can be one `each` |
//! | `prod` | `for` with one state | prefix times suffix, no division |
//! | `max`, `min`, `argmax`, `argmin` | `each` collects the terms, `first_max` finds the index, the term is computed again at that index | through one term only |
//! | `any`, `all` | `while` | none |
//! | filter | `each` of conditions, `for` that counts, gather | that of the gather |

use std::sync::Arc;

use eddy_syntax::Span;
use eddy_tensor::Value;

use crate::operation::Operation;

eddy_index::id! {
    /// A name of a body.
    pub struct Var, "a body has less than 2^32 names";
    /// A body of a module.
    pub struct BodyId, "a module has less than 2^32 bodies";
    /// An enumeration of a module.
    pub struct EnumId, "a module has less than 2^32 enumerations";
}

/// The kind of the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elem {
    /// Truth values.
    Bool,
    /// 64-bit integers, checked.
    Int,
    /// Floating point numbers.
    Num,
    /// Enumerators, which are numbered from 0.
    Enum(EnumId),
    /// Handles of the values that a forward sweep keeps for its reverse sweep.
    Tape,
}

/// A kind of elements and a number of axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// The kind of the elements.
    pub elem: Elem,
    /// The number of axes.
    pub rank: usize,
}

impl Type {
    /// A scalar type.
    pub const fn scalar(elem: Elem) -> Type {
        Type { elem, rank: 0 }
    }

    /// Whether values of this type have derivatives.
    pub fn is_num(self) -> bool {
        self.elem == Elem::Num
    }

    /// The type of a tensor whose rows have this type.
    #[must_use]
    pub fn row(self) -> Type {
        Type { rank: self.rank + 1, ..self }
    }
}

/// Bodies that may call each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// The enumerations.
    pub enums: Vec<Enumeration>,
    /// The bodies.
    pub bodies: Vec<Body>,
    /// Derivatives that replace those of the code.
    pub customs: Vec<Custom>,
}

/// A type of named constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    /// Its name.
    pub name: String,
    /// Its enumerators.
    pub cases: Vec<String>,
}

/// A derivative of a body that replaces the synthesised one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Custom {
    /// The body whose derivative is replaced.
    pub of: BodyId,
    /// The derivative that is replaced, `adj` or `tan`.
    pub mode: Mode,
    /// The body that replaces it; its interface is that of the synthesised derivative.
    pub derivative: BodyId,
}

/// A pure function.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Its name in the module.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The types of its results.
    pub results: Vec<Type>,
    /// The statements; the region yields the results.
    pub region: Region,
    /// The names, by [`Var`].
    pub names: Vec<String>,
}

/// A parameter of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub var: Var,
    /// Its type.
    pub ty: Type,
    /// Whether it is an accumulator of the caller, which the body can only add to.
    pub is_acc: bool,
}

/// Statements, and the names whose values they compute.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region {
    /// In the order of execution.
    pub stmts: Vec<Stmt>,
    /// The results of the region.
    pub yields: Vec<Var>,
}

/// A statement: the names that it defines, and the computation of their values.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// The names that it defines.
    pub results: Vec<Var>,
    pub kind: Kind,
    /// The source; errors at run time refer to it.
    pub span: Span,
}

/// The computation of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A literal.
    Const(Literal),
    /// An operation on operands.
    Op(Operation, Vec<Var>),
    /// Elements of a tensor.
    Index(Var, Vec<At>),
    /// The tensor with the elements at a place replaced. The tensor is not used again.
    Update(Var, Vec<At>, Var),
    /// The tensor with the elements at a place increased, duplicates in row-major order. The tensor is not
    /// used again.
    Increase(Var, Vec<At>, Var),
    /// Adds to a place of an accumulator.
    Add(Var, Vec<At>, Var),
    /// Runs one of two regions.
    If(Var, Region, Region),
    /// Calls a body or its derivative.
    Call(Mode, BodyId, Vec<Var>),
    /// `for`, `each` or `while`.
    Loop(Box<Loop>),
    /// The values of these types that [`Operation::Pack`] put into a tape.
    Unpack(Vec<Type>, Var),
}

/// The function of a body that is called: the body itself or a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// The body itself.
    Plain,
    /// `adj f(x.., dy..) -> (y.., dx..)`: a mark, which [`expand`](crate::expand::expand) replaces by a call.
    Adj,
    /// `tan f(x.., tx..) -> (y.., ty..)`: a mark as well.
    Tan,
}

/// A selector of elements along one axis. Axes after the last selector are selected as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// An `int` drops the axis; an `int` tensor replaces it by its own axes (gather).
    Int(Var),
    /// From the first index up to the second, which is excluded.
    Range(Var, Var),
    /// All of them.
    All,
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal {
    /// The kind of the elements; enumerators are integers in `value`.
    pub elem: Elem,
    /// Shared, since large constants are copied with the statements that mention them.
    pub value: Arc<Value>,
}

/// A name inside of a loop, and its value before the first iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The name inside.
    pub var: Var,
    /// The name outside.
    pub init: Var,
}

/// The iterations of a loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// For each index below a count, in order.
    For {
        /// The index.
        index: Var,
        /// The count; a negative one is 0.
        count: Var,
    },
    /// For each index below a count; iterations are independent of each other. Additions to accumulators are
    /// made in order.
    Each {
        /// The index.
        index: Var,
        /// The count; a negative one is 0.
        count: Var,
    },
    /// As long as this region, which sees the states, yields `true`.
    While(Region),
}

/// `for`, `each` or `while`. Its results are the states, the rows, the accumulators, and the count of a
/// `while`.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub control: Control,
    /// The states; the body yields their next values. Each keeps its shape.
    pub states: Vec<Binding>,
    /// The accumulators; the body can only add to them.
    pub accs: Vec<Binding>,
    /// Names that are visible at the end of the body; their values become rows of a result.
    pub collect: Vec<Var>,
    /// The statements of an iteration.
    pub body: Region,
}

impl Module {
    /// The body of this name.
    pub fn find(&self, name: &str) -> Option<BodyId> {
        self.bodies.iter().position(|body| body.name == name).map(BodyId::new)
    }

    /// A body.
    pub fn body(&self, id: BodyId) -> &Body {
        &self.bodies[id.index()]
    }

    /// The body that replaces a derivative.
    pub fn custom(&self, of: BodyId, mode: Mode) -> Option<BodyId> {
        self.customs
            .iter()
            .find(|custom| custom.of == of && custom.mode == mode)
            .map(|custom| custom.derivative)
    }
}

impl Body {
    /// The name of a variable.
    pub fn name(&self, var: Var) -> &str {
        self.names.get(var.index()).map_or("?", String::as_str)
    }
}

impl Stmt {
    /// A statement without a source.
    pub fn new(results: Vec<Var>, kind: Kind) -> Stmt {
        Stmt { results, kind, span: Span::default() }
    }
}

impl Literal {
    /// A number.
    pub fn num(x: f64) -> Literal {
        Literal { elem: Elem::Num, value: Arc::new(Value::Num(x)) }
    }

    /// An integer.
    pub fn int(x: i64) -> Literal {
        Literal { elem: Elem::Int, value: Arc::new(Value::Int(x)) }
    }

    /// A truth value.
    pub fn bool(x: bool) -> Literal {
        Literal { elem: Elem::Bool, value: Arc::new(Value::Bool(x)) }
    }

    /// Its type.
    pub fn ty(&self) -> Type {
        Type { elem: self.elem, rank: self.value.shape().len() }
    }
}

impl Loop {
    /// The index of the first collected row among the results.
    pub fn first_row(&self) -> usize {
        self.states.len()
    }

    /// The index of the first accumulator among the results.
    pub fn first_acc(&self) -> usize {
        self.states.len() + self.collect.len()
    }

    /// The number of results.
    pub fn n_results(&self) -> usize {
        self.first_acc() + self.accs.len() + usize::from(matches!(self.control, Control::While(_)))
    }

    /// The index and the count; `None` for a `while`.
    pub fn counter(&self) -> Option<(Var, Var)> {
        match self.control {
            Control::For { index, count } | Control::Each { index, count } => Some((index, count)),
            Control::While(_) => None,
        }
    }
}

impl At {
    /// The names in it.
    pub fn vars(self) -> impl Iterator<Item = Var> {
        let (first, second) = match self {
            At::Int(at) => (Some(at), None),
            At::Range(lo, hi) => (Some(lo), Some(hi)),
            At::All => (None, None),
        };
        first.into_iter().chain(second)
    }
}

impl Kind {
    /// The names that the statement itself reads, those inside of its regions left out.
    pub fn operands(&self) -> Vec<Var> {
        let placed = |array: Var, at: &[At], value: Option<Var>| {
            let places = at.iter().flat_map(|at| at.vars());
            std::iter::once(array).chain(places).chain(value).collect()
        };
        match self {
            Kind::Const(_) => Vec::new(),
            Kind::Op(_, operands) | Kind::Call(_, _, operands) => operands.clone(),
            Kind::Index(array, at) => placed(*array, at, None),
            Kind::Update(array, at, value)
            | Kind::Increase(array, at, value)
            | Kind::Add(array, at, value) => placed(*array, at, Some(*value)),
            Kind::If(condition, ..) => vec![*condition],
            Kind::Unpack(_, tape) => vec![*tape],
            Kind::Loop(repeat) => {
                let inits = repeat.states.iter().chain(&repeat.accs).map(|binding| binding.init);
                repeat.counter().map(|(_, count)| count).into_iter().chain(inits).collect()
            }
        }
    }

    /// The regions of the statement.
    pub fn regions(&self) -> Vec<&Region> {
        match self {
            Kind::If(_, yes, no) => vec![yes, no],
            Kind::Loop(repeat) => match &repeat.control {
                Control::While(condition) => vec![condition, &repeat.body],
                _ => vec![&repeat.body],
            },
            _ => Vec::new(),
        }
    }
}
