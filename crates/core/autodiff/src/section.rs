//! The requests of a program about ranges of its equations.

use eddy_flow::{Name, Path, VarId};
use eddy_syntax::Span;
use eddy_tensor::Static;

/// The position where a section begins or ends. Sections are nested; marks are in the order of the text.
#[derive(Clone, Debug)]
pub struct Mark {
    /// The number of equations before it.
    pub at: usize,
    /// Which edge it is.
    pub what: Edge,
}

/// One edge of a section.
#[derive(Clone, Debug)]
pub enum Edge {
    Begin,
    /// The end, with the request of the section.
    End(Box<Section>),
}

/// A range of equations and the request for it.
#[derive(Clone, Debug)]
pub struct Section {
    /// The call or declaration that requests it.
    pub span: Span,
    pub request: Request,
}

/// A stream and its cotangent or tangent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub primal: VarId,
    pub derivative: VarId,
}

/// The request of a section.
#[derive(Clone, Debug)]
pub enum Request {
    /// An instance of a node with derivatives written by the user.
    Instance(Instance),
    /// `N_end`, `N_cut`, `N_end_cut`.
    Weave(Weave),
    /// `reset N(x) every c`.
    Restart(Restart),
    /// `adj_N`.
    Adjoint(Adjoint),
    /// `diff_N`.
    Diff(Diff),
    /// `tan_N`.
    Tangent(Tangent),
    /// `train N as M …`.
    Train(Train),
}

impl Request {
    /// Whether it requests derivatives of the equations.
    pub(crate) fn is_derivative(&self) -> bool {
        !matches!(self, Request::Instance(_) | Request::Weave(_) | Request::Restart(_))
    }
}

/// Resets at `end`, cuts of the gradient at `cut`.
#[derive(Clone, Debug)]
pub struct Weave {
    /// The node, for messages.
    pub node: String,
    pub end: Option<VarId>,
    pub cut: Option<VarId>,
    /// Whether a derivative is taken of the result.
    pub is_differentiated: bool,
}

/// Restarts at c.
#[derive(Clone, Debug)]
pub struct Restart {
    /// The node, for messages.
    pub node: String,
    /// c, a Boolean scalar.
    pub every: VarId,
}

/// `adj_N(x.., dy..) -> (y.., dx.., dparam..)`.
#[derive(Clone, Debug)]
pub struct Adjoint {
    /// x with dx, to be defined.
    pub inputs: Vec<Pair>,
    /// y with dy.
    pub outputs: Vec<Pair>,
    /// The cotangent of each parameter, to be defined.
    pub parameters: Vec<VarId>,
}

/// `diff_N(x.., bp, dy..) -> (y.., dx..)`.
#[derive(Clone, Debug)]
pub struct Diff {
    pub bp: VarId,
    /// x with dx, to be defined.
    pub inputs: Vec<Pair>,
    /// y with dy.
    pub outputs: Vec<Pair>,
    /// The names under which its parameters are saved.
    pub parameters: Vec<Name>,
}

/// `tan_N(x.., tx.., tparam..) -> (y.., ty..)`.
#[derive(Clone, Debug)]
pub struct Tangent {
    /// x with tx.
    pub inputs: Vec<Pair>,
    /// The tangent of each parameter.
    pub parameters: Vec<VarId>,
    /// y with ty, to be defined.
    pub outputs: Vec<Pair>,
}

/// `train N as M …`.
#[derive(Clone, Debug)]
pub struct Train {
    /// N, for messages.
    pub node: String,
    /// The loss, whose cotangent is 1.
    pub loss: VarId,
    /// The number that the cotangent of the loss is divided by, on the clock of the loss.
    pub n_rows: Option<VarId>,
    /// The parameters and their optimisers.
    pub parameters: Vec<Trained>,
    /// Whether `end` or `cut` limits the backward pass.
    pub is_bounded: bool,
}

/// A parameter and its optimiser.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The initial value that the optimiser reads; to be defined.
    pub init: VarId,
    /// The gradient that it reads; to be defined.
    pub gradient: VarId,
    /// When it makes a step; to be defined. `None` if the program defines it.
    pub step: Option<VarId>,
    /// Its output, which is the parameter.
    pub value: VarId,
}

/// An instance of a node with derivatives written by the user.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The number of the node; the [`Host`](crate::Host) assigns it.
    pub node: usize,
    pub name: String,
    /// The instance path, such as `layer#1/round#2/`.
    pub path: Path,
    /// The path that determines random seeds.
    pub seed_path: Path,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
    /// Whether there is an `adj_M`.
    pub has_adjoint: bool,
    /// Whether there is a `tan_M`.
    pub has_tangent: bool,
    /// Whether there is a `diff_M`.
    pub has_diff: bool,
    /// The span of the instantiation.
    pub span: Span,
}

impl Instance {
    /// Replaces its streams.
    pub(crate) fn rename(&mut self, rename: &impl Fn(VarId) -> VarId) {
        for input in &mut self.inputs {
            if let Argument::Stream(var) = &mut input.argument {
                *var = rename(*var);
            }
        }
        for output in &mut self.outputs {
            output.var = rename(output.var);
        }
    }

    /// The inputs that are streams.
    pub(crate) fn streams(&self) -> impl Iterator<Item = VarId> + '_ {
        self.inputs.iter().filter_map(|input| match input.argument {
            Argument::Stream(var) => Some(var),
            Argument::Static(_) => None,
        })
    }

    /// The input streams through which derivatives pass.
    pub(crate) fn varying(&self) -> impl Iterator<Item = VarId> + '_ {
        self.inputs.iter().filter(|input| input.has_cotangent).filter_map(|input| match input.argument {
            Argument::Stream(var) => Some(var),
            Argument::Static(_) => None,
        })
    }

    /// The output streams through which derivatives pass.
    pub(crate) fn differentiable(&self) -> impl Iterator<Item = VarId> + '_ {
        self.outputs.iter().filter(|output| output.has_cotangent).map(|output| output.var)
    }
}

/// An argument of an instance.
#[derive(Clone, Debug)]
pub struct Input {
    /// A stream or a constant.
    pub argument: Argument,
    /// Whether it has a cotangent, as a `num` that is not constant.
    pub has_cotangent: bool,
}

#[derive(Clone, Debug)]
pub enum Argument {
    Stream(VarId),
    Static(Static),
}

/// An output of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    pub var: VarId,
    /// Whether it has a cotangent: it is a `num`.
    pub has_cotangent: bool,
}

/// A kind of derivative, which is synthesised or written by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// `adj_M`.
    Adjoint,
    /// `tan_M`.
    Tangent,
    /// `diff_M`.
    Diff,
}

impl Mode {
    /// The prefix of the synthesised node's name.
    pub fn prefix(self) -> &'static str {
        match self {
            Mode::Adjoint => "adj_",
            Mode::Tangent => "tan_",
            Mode::Diff => "diff_",
        }
    }
}
