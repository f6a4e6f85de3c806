//! Type and clock annotations in the node of an instance.

use eddy_syntax::Diagnostic;
use eddy_tensor::{Scalar, Shape};

use super::instance::Binding;
use super::{Elaborator, InstanceId};
use crate::codes;
use crate::draft::{Bundle, Formal, TypeAnnotation};
use crate::flow::Constant;
use crate::flow::{ClockAnnotation, VarId};
use crate::program::{Slot, SlotId};
use crate::static_value::{self, Static};
use crate::tree::{self, Annotation};

impl Elaborator<'_> {
    /// Collects the annotations of streams, and checks those of constants.
    pub(super) fn annotations(&mut self, id: InstanceId) {
        let program = self.program;
        let node = program.node(self.instances[id.index()].node);
        for (number, slot) in node.slots.iter().enumerate() {
            let binding = self.instances[id.index()].bindings[number].clone();
            for annotation in &slot.annotations {
                let Some((scalar, shape)) = self.written_type(id, annotation) else { return };
                match &binding {
                    Binding::Stream(var) => {
                        let formal = self.instances[id.index()].call.map(|call| Formal {
                            call,
                            name: slot.name.as_str().into(),
                            input: (number < node.n_inputs).then_some(number),
                        });
                        let span = annotation.span;
                        self.draft.types.push(TypeAnnotation { var: *var, scalar, shape, span, formal });
                    }
                    Binding::Static(constant) => {
                        if let Some(diagnostic) = wrong_constant(slot, annotation, constant, scalar, shape) {
                            self.fail(diagnostic);
                            return;
                        }
                    }
                }
            }
            if let Binding::Stream(var) = binding {
                self.written_clocks(id, slot, var);
            }
        }
        for bundle in &node.bundles {
            let streams =
                bundle.iter().filter_map(|slot| match self.instances[id.index()].bindings[slot.index()] {
                    Binding::Stream(var) => Some(var),
                    Binding::Static(_) => None,
                });
            let (vars, call) = (streams.collect(), self.instances[id.index()].call);
            let span = node.slots[bundle[0].index()].span;
            self.draft.bundles.push(Bundle { vars, span, call });
        }
    }

    fn written_type(&mut self, id: InstanceId, annotation: &Annotation) -> Option<(Scalar, Option<Shape>)> {
        let exprs = &self.module(id).tree.exprs;
        let shape = match annotation.dims {
            None => None,
            Some(dims) => {
                let sizes = exprs.items(dims).iter().map(|dim| self.size(id, *dim));
                Some(Shape::from(sizes.collect::<Option<Vec<usize>>>()?))
            }
        };
        let scalar = match annotation.scalar {
            tree::Scalar::Num => Scalar::Num,
            tree::Scalar::Int => Scalar::Int,
            tree::Scalar::Bool => Scalar::Bool,
        };
        Some((scalar, shape))
    }

    fn written_clocks(&mut self, id: InstanceId, slot: &Slot, var: VarId) {
        let call = self.instances[id.index()].call;
        for (conditions, span) in &slot.clocks {
            let is_stream = |slot: &SlotId| {
                matches!(self.instances[id.index()].bindings[slot.index()], Binding::Stream(_))
            };
            if conditions.iter().all(|(slot, _)| is_stream(slot)) {
                let conditions = conditions
                    .iter()
                    .map(|(slot, polarity)| (self.stream_of(id, *slot), *polarity))
                    .collect();
                let clock = ClockAnnotation { var, conditions, span: *span, call };
                self.draft.clocks.push(clock.clone());
                self.instances[id.index()].clocks.push(clock);
            }
        }
    }
}

/// The error about a constant whose annotation has a different type or shape.
fn wrong_constant(
    slot: &Slot,
    annotation: &Annotation,
    constant: &Static,
    scalar: Scalar,
    shape: Option<Shape>,
) -> Option<Diagnostic> {
    let (name, value) = (&slot.name, static_value::shown(constant));
    let found = match constant {
        Static::Num(_) => "num",
        Static::Int(_) | Static::List(_) => "a number",
    };
    if scalar == Scalar::Bool || (scalar == Scalar::Int && found == "num") {
        let title = format!("type error: the constant '{value}' is {found} but '{name}' is {scalar}");
        return Some(Diagnostic::error(codes::TYPE, annotation.span, title));
    }
    // A number is broadcast to the shape of its place (section 3), so an annotated shape does not contradict
    // it.
    let found = Constant::from(constant).shape()?;
    let expected = shape.filter(|shape| *shape != found)?;
    let title = format!("the constant `{value}` has shape {found} but `{name}` has shape {expected}");
    Some(Diagnostic::error(codes::SHAPE, annotation.span, title))
}
