//! Elaborates instances of synthesised nodes: the equations of the original node, in a section that specifies
//! how to differentiate them.

use std::rc::Rc;

use eddy_autodiff::section::{Adjoint, Diff, Edge, Mark, Mode, Pair, Request, Section, Tangent, Weave};
use eddy_syntax::Span;
use eddy_tensor::{Op, Scalar, Shape};

use super::instance::Binding;
use super::interface::Interface;
use super::{Elaborator, Operand, Work};
use crate::draft::{SameType, TypeAnnotation};
use crate::flow::{Constant, Kind, Path, Polarity, VarId};
use crate::program::{Base, Callable};

/// The place of an instance.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Such as `diff_cell#2/`.
    pub path: Path,
    /// The same with the names of the original nodes, such as `cell#2/`.
    pub seed_path: Path,
    pub span: Span,
    /// The call that creates the instance; `None` for the root.
    pub call: Option<usize>,
    /// The numbers of the copies around the instances that it makes, if it is itself the body of copies.
    pub suffix: String,
    /// The shared parameters that it is given, as paths.
    pub shares: Vec<Path>,
    /// Whether its parameters are those of a `let`.
    pub is_shared: bool,
}

impl Place {
    /// A place outside of copies.
    pub fn new(path: Path, seed_path: Path, span: Span, call: Option<usize>) -> Place {
        Place { path, seed_path, span, call, suffix: String::new(), shares: Vec::new(), is_shared: false }
    }
}

/// A section whose equations are being elaborated.
pub(super) struct OpenSection {
    place: Place,
    what: SectionKind,
    /// The number of parameters before the section.
    n_parameters: usize,
}

enum SectionKind {
    Weave { node: String, end: Option<VarId>, cut: Option<VarId>, n_outputs: usize },
    Derivative(Derivative),
}

struct Derivative {
    mode: Mode,
    inner: Rc<Interface>,
    outer: Rc<Interface>,
    /// The streams that the inner node reads, without its static inputs, and whether each is a `num`.
    inputs: Vec<(VarId, bool)>,
    /// The further inputs of the derivative.
    extra: Vec<VarId>,
    /// The streams that its further outputs must define.
    targets: Vec<Option<VarId>>,
    /// Whether this is `diff_N` with the constant `false` for `bp`: it computes the outputs of N, and absent
    /// cotangents.
    is_inference: bool,
}

impl Elaborator<'_> {
    /// Begins an instance of a node or of a synthesised node.
    pub(super) fn instantiate(
        &mut self,
        callable: &Callable,
        levels: &[Rc<Interface>],
        place: Place,
        mut bindings: Vec<Binding>,
        mut targets: Vec<Option<VarId>>,
    ) {
        for (level, mode) in callable.modes.iter().enumerate().rev() {
            let (inner, outer) = (Rc::clone(&levels[level]), Rc::clone(&levels[level + 1]));
            targets.resize(outer.outputs.len(), None);
            let own = targets.split_off(inner.outputs.len());
            let extra = bindings.split_off(inner.inputs.len());
            let extra: Vec<VarId> =
                extra.into_iter().map(|binding| self.as_stream(binding, place.span)).collect();
            let is_outermost = level + 1 == callable.modes.len();
            let is_inference = *mode == Mode::Diff && is_outermost && self.falses.contains(&extra[0]);
            let inputs = self.distinct_inputs(&inner, &mut bindings, &targets, place.span);
            let derivative =
                Derivative { mode: *mode, inner, outer, inputs, extra, targets: own, is_inference };
            self.open(place.clone(), SectionKind::Derivative(derivative));
        }
        match callable.base {
            Base::Node(node) => self.enter(node, place, bindings, &targets),
            Base::Woven { node, end, cut } => {
                let declared = self.program.node(node);
                let (name, n_outputs) = (declared.name.clone(), declared.outputs.len());
                let signals = bindings.split_off(declared.n_inputs);
                let mut signals = signals.into_iter().map(|binding| self.signal(binding, place.span));
                let end = if end { signals.next() } else { None };
                let cut = if cut { signals.next() } else { None };
                drop(signals);
                self.open(place.clone(), SectionKind::Weave { node: name, end, cut, n_outputs });
                self.enter(node, place, bindings, &targets);
            }
            Base::Train(train) => self.train(train, place, bindings, &targets, true),
            Base::Test(train) => self.train(train, place, bindings, &targets, false),
        }
    }

    /// Begins a section; it ends when all work that is pushed after this call is complete.
    fn open(&mut self, place: Place, what: SectionKind) {
        if let SectionKind::Derivative(derivative) = &what
            && !derivative.is_inference
        {
            self.n_derivatives += 1;
        }
        self.begin_section();
        let n_parameters = self.draft.parameters.len();
        self.work.push(Work::Close(Box::new(OpenSection { place, what, n_parameters })));
    }

    pub(super) fn begin_section(&mut self) {
        self.draft.marks.push(Mark { at: self.draft.equations.len(), what: Edge::Begin });
    }

    pub(super) fn end_section(&mut self, request: Request, span: Span) {
        let section = Box::new(Section { span, request });
        self.draft.marks.push(Mark { at: self.draft.equations.len(), what: Edge::End(section) });
    }

    /// Ends a section whose outputs are on the stack.
    pub(super) fn close(&mut self, open: OpenSection) {
        let OpenSection { place, what, n_parameters } = open;
        match what {
            SectionKind::Weave { node, end, cut, n_outputs } => {
                let outputs = self.pop_n(n_outputs);
                self.end_section(
                    Request::Weave(Weave { node, end, cut, is_differentiated: self.n_derivatives > 0 }),
                    place.span,
                );
                self.operands.extend(outputs.iter().map(|output| Operand::Stream(*output)));
            }
            SectionKind::Derivative(derivative) => {
                let outputs = self.pop_n(derivative.inner.outputs.len());
                let own = self.close_derivative(&derivative, &place, &outputs, n_parameters);
                self.operands.extend(outputs.iter().copied().chain(own).map(Operand::Stream));
            }
        }
    }

    /// Ends a derivative; returns the outputs that it adds.
    fn close_derivative(
        &mut self,
        derivative: &Derivative,
        place: &Place,
        outputs: &[VarId],
        n_parameters: usize,
    ) -> Vec<VarId> {
        let Derivative { mode, inner, outer, inputs, extra, targets, is_inference } = derivative;
        let span = place.span;
        let own = self.own_outputs(&outer.outputs[inner.outputs.len()..], targets, place);
        let inputs: Vec<VarId> = inputs.iter().filter(|(_, is_num)| *is_num).map(|(var, _)| *var).collect();
        let outputs = outputs.iter().zip(&inner.outputs).filter(|(_, port)| port.is_num);
        let outputs: Vec<VarId> = outputs.map(|(var, _)| *var).collect();
        let parameters = self.draft.parameters[n_parameters..].iter().map(|parameter| parameter.var);
        let parameters: Vec<VarId> = parameters.take(inner.n_parameters).collect();
        let request = match mode {
            Mode::Adjoint => {
                let (of_inputs, of_parameters) = own.split_at(inputs.len());
                self.require_same_types(&parameters, of_parameters, span);
                Request::Adjoint(Adjoint {
                    inputs: self.pairs(&inputs, of_inputs, span),
                    outputs: self.pairs(&outputs, extra, span),
                    parameters: of_parameters.to_vec(),
                })
            }
            Mode::Diff => {
                let bp = extra[0];
                self.require_condition(bp, span);
                let inputs = self.pairs(&inputs, &own, span);
                let outputs = self.pairs(&outputs, &extra[1..], span);
                if *is_inference {
                    self.cancel_section();
                    return self.absent_cotangents(&inputs, bp, span);
                }
                let taken = self.draft.parameters.split_off(n_parameters);
                let parameters = taken.into_iter().map(|parameter| parameter.name).collect();
                Request::Diff(Diff { bp, inputs, outputs, parameters })
            }
            Mode::Tangent => {
                let (of_inputs, of_parameters) = extra.split_at(inputs.len());
                self.require_same_types(&parameters, of_parameters, span);
                Request::Tangent(Tangent {
                    inputs: self.pairs(&inputs, of_inputs, span),
                    parameters: of_parameters.to_vec(),
                    outputs: self.pairs(&outputs, &own, span),
                })
            }
        };
        self.n_derivatives -= 1;
        self.end_section(request, span);
        own
    }

    /// Removes the beginning of the innermost open section: its equations are not differentiated.
    fn cancel_section(&mut self) {
        // Inner sections are closed, so the last open edge belongs to this section.
        let mut depth = 0_usize;
        let begin = self.draft.marks.iter().rposition(|mark| match mark.what {
            Edge::End(_) => {
                depth += 1;
                false
            }
            Edge::Begin if depth > 0 => {
                depth -= 1;
                false
            }
            Edge::Begin => true,
        });
        self.draft.marks.remove(begin.expect("the section was begun"));
    }

    /// Cotangents that are never present: `0 when bp`, with `bp` the constant `false`.
    fn absent_cotangents(&mut self, inputs: &[Pair], bp: VarId, span: Span) -> Vec<VarId> {
        let mut outputs = Vec::new();
        for pair in inputs {
            let zero = self.write(None, Kind::Const(Constant::Zero), span);
            let when = Kind::When { value: zero, condition: bp, polarity: Polarity::On };
            outputs.push(self.write(Some(pair.derivative), when, span));
        }
        outputs
    }

    /// Streams for the outputs that a section adds.
    pub(super) fn own_outputs(
        &mut self,
        ports: &[super::interface::Port],
        targets: &[Option<VarId>],
        place: &Place,
    ) -> Vec<VarId> {
        let mut own = Vec::new();
        for (number, port) in ports.iter().enumerate() {
            let target = targets.get(number).copied().flatten();
            let name = || place.path.name(port.name.as_str());
            own.push(target.unwrap_or_else(|| self.var(Some(name()), place.span)));
        }
        own
    }

    fn pairs(&mut self, primals: &[VarId], derivatives: &[VarId], span: Span) -> Vec<Pair> {
        self.require_same_types(primals, derivatives, span);
        let pair = |(primal, derivative): (&VarId, &VarId)| Pair { primal: *primal, derivative: *derivative };
        primals.iter().zip(derivatives).map(pair).collect()
    }

    /// Requires pairs of streams, such as a stream and its derivative, to have the same type.
    pub(super) fn require_same_types(&mut self, lefts: &[VarId], rights: &[VarId], span: Span) {
        for (left, right) in lefts.iter().zip(rights) {
            self.draft.same_types.push(SameType { left: *left, right: *right, span });
        }
    }

    /// Requires `end`, `cut` or `bp` to be a Boolean scalar.
    fn require_condition(&mut self, var: VarId, span: Span) {
        let shape = Some(Shape::scalar());
        self.draft.types.push(TypeAnnotation { var, scalar: Scalar::Bool, shape, span, formal: None });
    }

    pub(super) fn signal(&mut self, binding: Binding, span: Span) -> VarId {
        let var = self.as_stream(binding, span);
        self.require_condition(var, span);
        var
    }

    /// An argument as a stream.
    pub(super) fn as_stream(&mut self, binding: Binding, span: Span) -> VarId {
        match binding {
            Binding::Stream(var) => var,
            Binding::Static(constant) => self.write(None, Kind::Const(Constant::from(&constant)), span),
        }
    }

    /// The streams that a node reads. Each needs its own cotangent, so an argument that is given twice, or is
    /// an output of the node itself, is copied.
    fn distinct_inputs(
        &mut self,
        interface: &Interface,
        bindings: &mut [Binding],
        targets: &[Option<VarId>],
        span: Span,
    ) -> Vec<(VarId, bool)> {
        let mut inputs: Vec<(VarId, bool)> = Vec::new();
        for (binding, port) in bindings.iter_mut().zip(&interface.inputs) {
            if port.is_static || (!port.is_num && matches!(binding, Binding::Static(_))) {
                continue;
            }
            let mut var = self.as_stream(binding.clone(), span);
            let is_taken =
                inputs.iter().any(|(other, is_num)| *is_num && *other == var) || targets.contains(&Some(var));
            if port.is_num && is_taken {
                var = self.write(None, Kind::Apply(Op::Copy, Box::new([var])), span);
            }
            *binding = Binding::Stream(var);
            inputs.push((var, port.is_num));
        }
        inputs
    }
}
