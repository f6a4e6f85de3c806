//! The parts of a program that composition makes: `let`s, callables, copies, and the rules of optimisers
//! (composition.md, sections 1 to 5).

use eddy_syntax::Span;
use eddy_tensor::Static;

use super::{Base, Callee, NodeId, SlotId};
use crate::tree::{ExprId, Reduction};

/// What composition adds to a call (composition.md, sections 1 to 4).
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// The name in instance paths, if it is not that of the callee: that of a `let` or of a callable input.
    pub label: Option<String>,
    /// The order in which the arguments are elaborated, if it is not that of the inputs.
    pub order: Option<Vec<usize>>,
    /// The parameters of the instance, if it shares them with other instances.
    pub sharing: Option<Sharing>,
    /// The shared parameters that the callee passes on.
    pub shares: Vec<Sharing>,
    /// Set if the first argument is the number of copies of the call.
    pub copies: Option<Copies>,
    /// The stream of the node at which the instance is as new: `reset f(x) every c`.
    pub every: Option<SlotId>,
}

/// The parameters of a `let`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Those of the `let` with this name, in the instance that makes the call.
    Own(String),
    /// Those that the instance that makes the call was given, by number.
    Given(usize),
}

/// What becomes of the copies of a call (composition.md, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// `[i < n: e]`, or a reduction of it such as `sum(i < n: e)`.
    Stack(Option<Reduction>),
    /// `concat(i < n: e)`
    Concat,
    /// `fold h = z for i < n do e`: each copy gets the streams of the copy before it.
    Fold { n_streams: usize },
}

impl Copies {
    /// How many arguments come before what the body captures (the number of copies, the first streams of a
    /// fold), and how many inputs of the body: the number of the copy, the state.
    pub fn n_bound(self) -> (usize, usize) {
        match self {
            Copies::Stack(_) | Copies::Concat => (1, 1),
            Copies::Fold { n_streams } => (2, 1 + n_streams),
        }
    }
}

/// A call or a callable as it is written.
#[derive(Clone, Debug)]
pub struct Composed {
    pub(crate) callee: ComposedCallee,
    pub(crate) ordinal: u32,
    /// The arguments in the order of the text, each with its name if it has one.
    pub(crate) arguments: Vec<(Option<String>, ExprId)>,
    pub(crate) copies: Option<Copies>,
}

#[derive(Clone, Debug)]
pub(crate) enum ComposedCallee {
    Known(Callee),
    /// A callable input of the node.
    Formal(SlotId),
    /// A `let` of the node, by its number.
    Let(usize),
}

/// A test bench that gives nodes or functions to its node.
#[derive(Clone, Debug)]
pub struct ComposedBench {
    /// The node that is made for it.
    pub node: NodeId,
    /// The rows that are nodes or functions.
    pub rows: Vec<String>,
    /// The values that these bring along.
    pub constants: Vec<(String, Static)>,
}

impl ComposedBench {
    /// What runs in the place of the node that the test bench names.
    pub fn base_of(&self, named: Base) -> Base {
        match named {
            Base::Woven { end, cut, .. } => Base::Woven { node: self.node, end, cut },
            _ => Base::Node(self.node),
        }
    }
}

/// `let e = C;` in a node: an instance whose calls share their parameters (composition.md, section 1).
#[derive(Clone, Debug)]
pub struct Let {
    pub name: String,
    pub span: Span,
    /// The callable.
    pub value: ExprId,
    /// The number of equations before it in the text.
    pub at: usize,
}

/// How a node came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It is written.
    Written,
    /// It is the body of copies, whose streams have no names of their own and whose instances belong to the
    /// node around it.
    Copied,
    /// It is a state of a machine.
    State,
    /// It is a lambda, or a written node with callables in the place of its callable inputs.
    Composed,
}

/// `O(args) for "encoder/*"`, resolved.
#[derive(Clone, Debug)]
pub struct Rule {
    /// O, or what is made from it if it is given nodes or functions.
    pub optimiser: NodeId,
    /// The arguments of the optimiser after the parameter, the step and the gradient.
    pub arguments: Vec<Static>,
    /// `O(init, step, g, args)` as it is written.
    pub(crate) call: ExprId,
    /// The parameters that it updates; `None` for all that no rule before it takes.
    pub pattern: Option<String>,
    pub span: Span,
}
