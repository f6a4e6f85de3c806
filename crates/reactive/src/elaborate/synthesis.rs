//! Instances of synthesised nodes: the equations of the node, in a section that says what is to become of them.

use std::rc::Rc;

use eddy_autodiff::section::{Adjoint, Diff, Edge, Mark, Mode, Pair, Section, Tangent, Weave, Wish};
use eddy_syntax::Span;
use eddy_tensor::{Op, Scalar, Shape};

use super::instance::Binding;
use super::interface::Interface;
use super::{Elaborator, Operand, Work};
use crate::draft::{Alike, TypeAnnotation};
use crate::flow::{Constant, Kind, Polarity, VarId};
use crate::program::{Base, Callable};

/// Where an instance is, and what its names begin with.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Such as `diff_cell#2/`.
    pub path: String,
    /// The same with the names of the nodes that are derived, such as `cell#2/`.
    pub seed_path: String,
    pub span: Span,
    /// The call that makes it; none for the node that is run.
    pub call: Option<usize>,
}

/// A section whose equations are being elaborated.
pub(super) struct Open {
    place: Place,
    what: Opened,
    /// How many parameters there were before it.
    n_parameters: usize,
}

enum Opened {
    Weave { node: String, end: Option<VarId>, cut: Option<VarId>, n_outputs: usize },
    Derivative(Derivative),
}

struct Derivative {
    mode: Mode,
    inner: Rc<Interface>,
    outer: Rc<Interface>,
    /// The streams that the inner node reads, without its static inputs.
    inputs: Vec<(VarId, bool)>,
    /// What the derivative is given besides.
    extra: Vec<VarId>,
    /// The streams that its own outputs must be.
    targets: Vec<Option<VarId>>,
    /// `diff_N` with `bp` the constant false is N.
    is_inference: bool,
}

impl Elaborator<'_> {
    /// Begins an instance of a node or of a synthesised one.
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
            self.open(place.clone(), Opened::Derivative(derivative));
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
                self.open(place.clone(), Opened::Weave { node: name, end, cut, n_outputs });
                self.enter(node, place, bindings, &targets);
            }
            Base::Train(train) => self.train(train, place, bindings, &targets, true),
            Base::Test(train) => self.train(train, place, bindings, &targets, false),
        }
    }

    /// A section begins; it ends when what is pushed on the work from here on is done.
    fn open(&mut self, place: Place, what: Opened) {
        if let Opened::Derivative(derivative) = &what
            && !derivative.is_inference
        {
            self.n_derivatives += 1;
        }
        self.begin_section();
        let n_parameters = self.draft.parameters.len();
        self.work.push(Work::Close(Box::new(Open { place, what, n_parameters })));
    }

    pub(super) fn begin_section(&mut self) {
        self.draft.marks.push(Mark { at: self.draft.equations.len(), what: Edge::Begin });
    }

    pub(super) fn end_section(&mut self, wish: Wish, span: Span) {
        let section = Box::new(Section { span, wish });
        self.draft.marks.push(Mark { at: self.draft.equations.len(), what: Edge::End(section) });
    }

    /// The equations of a section are done: its outputs are on the stack.
    pub(super) fn close(&mut self, open: Open) {
        let Open { place, what, n_parameters } = open;
        match what {
            Opened::Weave { node, end, cut, n_outputs } => {
                let outputs = self.pop_n(n_outputs);
                self.end_section(Wish::Weave(Weave { node, end, cut }), place.span);
                self.operands.extend(outputs.iter().map(|output| Operand::Stream(*output)));
            }
            Opened::Derivative(derivative) => {
                let outputs = self.pop_n(derivative.inner.outputs.len());
                let own = self.close_derivative(&derivative, &place, &outputs, n_parameters);
                self.operands.extend(outputs.iter().copied().chain(own).map(Operand::Stream));
            }
        }
    }

    /// The outputs that the derivative adds.
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
        let wish = match mode {
            Mode::Adjoint => {
                let (of_inputs, of_parameters) = own.split_at(inputs.len());
                self.alike(&parameters, of_parameters, span);
                Wish::Adjoint(Adjoint {
                    inputs: self.pairs(&inputs, of_inputs, span),
                    outputs: self.pairs(&outputs, extra, span),
                    parameters: of_parameters.to_vec(),
                })
            }
            Mode::Diff => {
                let bp = extra[0];
                self.is_condition(bp, span);
                let inputs = self.pairs(&inputs, &own, span);
                let outputs = self.pairs(&outputs, &extra[1..], span);
                if *is_inference {
                    self.end_without_wish();
                    return self.never(&inputs, bp, span);
                }
                let taken = self.draft.parameters.split_off(n_parameters);
                let parameters = taken.into_iter().map(|parameter| parameter.name).collect();
                Wish::Diff(Diff { bp, inputs, outputs, parameters })
            }
            Mode::Tangent => {
                let (of_inputs, of_parameters) = extra.split_at(inputs.len());
                self.alike(&parameters, of_parameters, span);
                Wish::Tangent(Tangent {
                    inputs: self.pairs(&inputs, of_inputs, span),
                    parameters: of_parameters.to_vec(),
                    outputs: self.pairs(&outputs, &own, span),
                })
            }
        };
        self.n_derivatives -= 1;
        self.end_section(wish, span);
        own
    }

    /// The section turned out to be none: its equations stay as they are.
    fn end_without_wish(&mut self) {
        // Inner sections are closed, so the last edge that is open is this one's.
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

    /// Cotangents that are never there: `0 when bp`, with bp the constant false.
    fn never(&mut self, inputs: &[Pair], bp: VarId, span: Span) -> Vec<VarId> {
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
            let name = format!("{}{}", place.path, port.name);
            own.push(target.unwrap_or_else(|| self.var(Some(name), place.span)));
        }
        own
    }

    fn pairs(&mut self, primals: &[VarId], derivatives: &[VarId], span: Span) -> Vec<Pair> {
        self.alike(primals, derivatives, span);
        let pair = |(primal, derivative): (&VarId, &VarId)| Pair { primal: *primal, derivative: *derivative };
        primals.iter().zip(derivatives).map(pair).collect()
    }

    /// Streams and their derivatives have the same types.
    pub(super) fn alike(&mut self, lefts: &[VarId], rights: &[VarId], span: Span) {
        for (left, right) in lefts.iter().zip(rights) {
            self.draft.alike.push(Alike { left: *left, right: *right, span });
        }
    }

    /// `end`, `cut` and `bp` are scalar truth values.
    fn is_condition(&mut self, var: VarId, span: Span) {
        let shape = Some(Shape::scalar());
        self.draft.types.push(TypeAnnotation { var, scalar: Scalar::Bool, shape, span, formal: None });
    }

    pub(super) fn signal(&mut self, binding: Binding, span: Span) -> VarId {
        let var = self.as_stream(binding, span);
        self.is_condition(var, span);
        var
    }

    /// An argument as a stream.
    pub(super) fn as_stream(&mut self, binding: Binding, span: Span) -> VarId {
        match binding {
            Binding::Stream(var) => var,
            Binding::Static(constant) => self.write(None, Kind::Const(Constant::from(&constant)), span),
        }
    }

    /// The streams that a node reads. Each has a cotangent of its own, so what is given twice, or comes from the node itself, is
    /// copied; a constant becomes a stream.
    fn distinct_inputs(
        &mut self,
        interface: &Interface,
        bindings: &mut [Binding],
        targets: &[Option<VarId>],
        span: Span,
    ) -> Vec<(VarId, bool)> {
        let mut inputs: Vec<(VarId, bool)> = Vec::new();
        for (binding, port) in bindings.iter_mut().zip(&interface.inputs) {
            if port.is_static {
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
