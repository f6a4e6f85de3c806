//! A program as equations whose types are not known yet: what elaboration makes.
//!
//! Type and shape inference turn it into a [`Flow`](crate::flow::Flow). Streams keep their numbers.

use eddy_autodiff::section::Mark;
use eddy_syntax::Span;
use eddy_tensor::{Scalar, Shape};

use crate::flow::{Call, ClockAnnotation, Equation, Named, VarId};

/// A stream before inference.
#[derive(Clone, Debug)]
pub struct DraftVar {
    /// The user's name with its instance path, such as `lstm_cell#1/zr`; streams inside expressions have none.
    pub name: Option<Box<str>>,
    /// Where it is declared or computed.
    pub span: Span,
}

/// A type that is written beside a declaration. An input of an inlined node is its argument, so one stream can have
/// several.
#[derive(Clone, Debug)]
pub struct TypeAnnotation {
    /// The stream.
    pub var: VarId,
    /// Its scalar type.
    pub scalar: Scalar,
    /// Its shape, if brackets are written.
    pub shape: Option<Shape>,
    /// Where it is written.
    pub span: Span,
    /// What it is written for, if that is in an instance.
    pub formal: Option<Formal>,
}

/// A stream of an instance, as its node calls it.
#[derive(Clone, Debug)]
pub struct Formal {
    /// The instance, by its number among the calls.
    pub call: usize,
    /// The name in the node.
    pub name: Box<str>,
    /// Which input it is, if it is one.
    pub input: Option<usize>,
}

/// Equations without types.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The streams.
    pub vars: Vec<DraftVar>,
    /// The equations, in flattening order; each stream that is no input is defined once.
    pub equations: Vec<Equation>,
    /// The inputs of the node that is run.
    pub inputs: Vec<VarId>,
    /// Its outputs.
    pub outputs: Vec<VarId>,
    /// The types that are written.
    pub types: Vec<TypeAnnotation>,
    /// The clocks that are written.
    pub clocks: Vec<ClockAnnotation>,
    /// The instances, outer ones before inner ones.
    pub calls: Vec<Call>,
    /// Other names of streams: an input of an instance is its argument, an output is what it defines. Only those are kept
    /// that will be shown.
    pub aliases: Vec<(Box<str>, VarId)>,
    /// Streams of one type that no equation relates yet: a stream and its derivative.
    pub alike: Vec<Alike>,
    /// Losses that compare two streams element by element.
    pub losses: Vec<Loss>,
    /// Which stretches of equations are to be differentiated.
    pub marks: Vec<Mark>,
    /// The parameters that no training code has taken over, in flattening order.
    pub parameters: Vec<Parameter>,
    /// The parameters that an optimiser has taken over.
    pub learnt: Vec<Named>,
    /// The state of optimisers.
    pub memory: Vec<Named>,
}

/// Two streams of one type.
#[derive(Clone, Copy, Debug)]
pub struct Alike {
    /// One.
    pub left: VarId,
    /// The other.
    pub right: VarId,
    /// Where messages about them point.
    pub span: Span,
}

/// A loss that compares an answer with what it should be, element by element: neither is stretched to the shape of the other.
#[derive(Clone, Debug)]
pub struct Loss {
    /// The node that it is an instance of.
    pub name: String,
    /// What the trained node says.
    pub answer: VarId,
    /// What it should say.
    pub wanted: VarId,
    /// Where messages about them point.
    pub span: Span,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name under which it is saved: the path for seeds, and the name of its stream or the number of its `param`.
    pub name: String,
    /// The stream.
    pub var: VarId,
    /// Where it is written.
    pub span: Span,
}
