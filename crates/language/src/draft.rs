//! A program as equations whose types are not known yet: the result of elaboration.
//!
//! Type and shape inference turn it into a [`Flow`](crate::flow::Flow); a stream keeps its id.

use std::rc::Rc;

use eddy_autodiff::section::Mark;
use eddy_syntax::Span;
use eddy_tensor::{Scalar, Shape, Static};
use rustc_hash::FxHashMap;

use crate::flow::{Call, ClockAnnotation, Contract, Equation, Name, Named, VarId};
use crate::functions::apply::{ApplySite, WrittenTensor};
use crate::program::StructuredCall;

#[derive(Clone, Debug)]
pub struct DraftVar {
    /// The user's name with its instance path, such as `lstm_cell#1/zr`; `None` for streams inside
    /// expressions.
    pub name: Option<Name>,
    pub span: Span,
}

/// A type annotation. An input of an inlined node is its argument, so one stream can have several.
#[derive(Clone, Debug)]
pub struct TypeAnnotation {
    pub var: VarId,
    pub scalar: Scalar,
    /// `None` if the annotation has no brackets.
    pub shape: Option<Shape>,
    pub span: Span,
    /// The stream of an instance to which the annotation belongs; `None` in the root node.
    pub formal: Option<Formal>,
}

/// A stream of an instance under the name that it has in its node.
#[derive(Clone, Debug)]
pub struct Formal {
    /// The instance, as an index into the calls.
    pub call: usize,
    pub name: Box<str>,
    /// Its position among the inputs, if it is an input.
    pub input: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub vars: Vec<DraftVar>,
    /// In flattening order; each stream except the inputs is defined once.
    pub equations: Vec<Equation>,
    /// The inputs of the root node.
    pub inputs: Vec<VarId>,
    /// The outputs of the root node.
    pub outputs: Vec<VarId>,
    pub types: Vec<TypeAnnotation>,
    pub clocks: Vec<ClockAnnotation>,
    /// The leaves of streams that are records; all leaves of one record are on one clock.
    pub bundles: Vec<Bundle>,
    /// Instances, outer ones before inner ones.
    pub calls: Vec<Call>,
    /// Other names of streams: an input of an instance is an alias of its argument, an output of the stream
    /// that it defines. Contains only the names that will be shown.
    pub aliases: Vec<(Name, VarId)>,
    /// Pairs of streams that have the same type although no equation relates them yet, such as a stream and
    /// its derivative.
    pub same_types: Vec<SameType>,
    /// Losses that compare two streams element by element.
    pub losses: Vec<Loss>,
    /// The ranges of equations to differentiate.
    pub marks: Vec<Mark>,
    /// The parameters outside of training code, in flattening order.
    pub parameters: Vec<Parameter>,
    /// The parameters that an optimiser updates.
    pub learnt: Vec<Named>,
    pub persistent_state: Vec<Named>,
    pub contracts: Vec<Contract>,
    /// The streams that `probe` marks, by name; those of outer instances first.
    pub probes: Vec<Name>,
    /// The streams that are results of functions. The equations of one application are consecutive.
    pub applications: FxHashMap<VarId, Part>,
}

/// A function that a node applies. Its operation is determined when its arguments have types.
#[derive(Clone, Debug)]
pub struct Application {
    pub(crate) name: String,
    pub(crate) site: ApplySite,
    /// For each leaf of the arguments, its compile-time value; `None` for a stream.
    pub(crate) arguments: Vec<Option<Static>>,
    /// The written type of each leaf that is a stream.
    pub(crate) operands: Vec<Option<WrittenTensor>>,
    /// The written types of the leaves of the results; empty if none is written.
    pub(crate) results: Vec<WrittenTensor>,
    /// The structure of each argument, and of each name on the left side.
    pub(crate) structures: StructuredCall,
}

/// A result of an application.
#[derive(Clone, Debug)]
pub struct Part {
    pub application: Rc<Application>,
    /// Its index among the leaves of the results.
    pub number: usize,
}

/// The leaves of a stream that is a record.
#[derive(Clone, Debug)]
pub struct Bundle {
    pub vars: Vec<VarId>,
    /// The span for errors about them.
    pub span: Span,
    /// The instance that contains it.
    pub call: Option<usize>,
}

/// Two streams that must have the same type.
#[derive(Clone, Copy, Debug)]
pub struct SameType {
    pub left: VarId,
    pub right: VarId,
    /// The span for errors about them.
    pub span: Span,
}

/// A loss that compares an output with its target element by element: neither is broadcast to the shape of
/// the other.
#[derive(Clone, Debug)]
pub struct Loss {
    /// The loss node.
    pub name: String,
    /// The output of the trained node.
    pub output: VarId,
    pub target: VarId,
    /// The span for errors about them.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name under which it is saved: the seed path, followed by the name of its stream or the number of
    /// its `param`.
    pub name: Name,
    pub var: VarId,
    pub span: Span,
}
