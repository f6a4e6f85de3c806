//! The [`Host`] of differentiation: supplies the derivatives that the user wrote (section 9.12), and clocks.

use eddy_autodiff::section::{Argument, Instance, Mode};
use eddy_autodiff::{EquationLimit, Expanded, Gradients, Host, expand};
use eddy_syntax::Diagnostic;
use eddy_tensor::Type;
use rustc_hash::FxHashMap;

use crate::clocks::{self, Clocks};
use crate::codes;
use crate::draft::TypeAnnotation;
use crate::elaborate::{ElaborationOptions, elaborate};
use crate::flow::Flow;
use crate::infer::{Hints, infer};
use crate::program::{NodeId, Program};

pub struct Customs<'a> {
    program: &'a Program,
    /// The derivatives whose elaboration has begun, to detect a derivative that needs itself.
    open: Vec<NodeId>,
}

impl<'a> Customs<'a> {
    pub fn new(program: &'a Program) -> Self {
        Customs { program, open: Vec::new() }
    }

    fn node(&self, instance: &Instance, mode: Mode) -> NodeId {
        let customs = self.program.customs[&NodeId::new(instance.node)];
        let node = match mode {
            Mode::Adjoint => customs.adjoint,
            Mode::Tangent => customs.tangent,
            Mode::Diff => customs.diff,
        };
        node.expect("the instance has this derivative")
    }

    /// A derivative must have the inputs and outputs of section 9.1.
    fn check_interface(&self, instance: &Instance, mode: Mode, node: NodeId) -> Result<(), Box<Diagnostic>> {
        let declared = self.program.node(node);
        let n_varying = instance.inputs.iter().filter(|input| input.has_cotangent).count();
        let n_differentiable = instance.outputs.iter().filter(|output| output.has_cotangent).count();
        let (more_inputs, more_outputs) = match mode {
            Mode::Adjoint => (n_differentiable, n_varying),
            Mode::Tangent => (n_varying, n_differentiable),
            Mode::Diff => (1 + n_differentiable, n_varying),
        };
        let (n_inputs, n_outputs) =
            (instance.inputs.len() + more_inputs, instance.outputs.len() + more_outputs);
        if declared.n_inputs == n_inputs && declared.outputs.len() == n_outputs {
            return Ok(());
        }
        let (name, of) = (&declared.name, &instance.name);
        let title = format!(
            "the custom derivative `{name}` of `{of}` must have {n_inputs} inputs and {n_outputs} outputs, but it has {} and {}",
            declared.n_inputs,
            declared.outputs.len()
        );
        let form = match mode {
            Mode::Adjoint => "adj_M(x.., dy..) -> (y.., dx..)",
            Mode::Tangent => "tan_M(x.., tx..) -> (y.., ty..)",
            Mode::Diff => "diff_M(x.., bp, dy..) -> (y.., dx..)",
        };
        let diagnostic = Diagnostic::error(codes::CUSTOM, declared.span, title)
            .cause(instance.span, format!("`{of}` is differentiated here"))
            .help(format!("its form is `{form}`, with a derivative for each `num` input and output"));
        Err(Box::new(diagnostic))
    }

    /// Each derivative must have the type of its stream.
    fn check_types(
        &self,
        instance: &Instance,
        node: NodeId,
        flow: &Flow,
        types: &[Type],
    ) -> Result<(), Box<Diagnostic>> {
        let declared = self.program.node(node);
        let derivatives = flow.outputs.iter().zip(&declared.outputs).skip(instance.outputs.len());
        let mut types = types.iter();
        let varying = instance.inputs.iter().filter_map(|input| {
            let ty = match input.argument {
                Argument::Stream(_) => types.next(),
                Argument::Static(_) => None,
            };
            input.has_cotangent.then_some(ty)
        });
        for ((output, slot), expected) in derivatives.zip(varying) {
            let found = &flow.var(*output).ty;
            if let Some(expected) = expected.filter(|expected| *expected != found) {
                let (name, slot) = (&declared.name, &declared.slots[slot.index()]);
                let title = format!(
                    "the custom derivative `{name}` returns `{}` of type {found}, but its stream has type {expected}",
                    slot.name
                );
                return Err(Box::new(
                    Diagnostic::error(codes::CUSTOM, slot.span, title)
                        .cause(instance.span, format!("`{}` is differentiated here", instance.name)),
                ));
            }
        }
        Ok(())
    }
}

impl Host for Customs<'_> {
    fn rule(&mut self, instance: &Instance, mode: Mode, types: &[Type]) -> Result<Expanded, Vec<Diagnostic>> {
        let node = self.node(instance, mode);
        let declared = self.program.node(node);
        self.check_interface(instance, mode, node).map_err(|diagnostic| vec![*diagnostic])?;
        if self.open.contains(&node) {
            let title = format!("the custom derivative `{}` needs itself", declared.name);
            let diagnostic = Diagnostic::error(codes::CUSTOM, declared.span, title)
                .reason(format!("it differentiates something that contains `{}`", instance.name));
            return Err(vec![diagnostic]);
        }
        let mut constants = FxHashMap::default();
        for (input, slot) in instance.inputs.iter().zip(declared.inputs()) {
            if let Argument::Static(constant) = &input.argument {
                constants.insert(slot.name.clone(), constant.clone());
            }
        }
        let seed_path = instance.seed_path.clone();
        let given = ElaborationOptions {
            constants,
            seed_path,
            is_differentiated: true,
            ..ElaborationOptions::default()
        };
        let mut draft = elaborate(self.program, &node.into(), &given)?;
        for (input, ty) in draft.inputs.clone().into_iter().zip(types) {
            let span = draft.vars[input.index()].span;
            let shape = Some(ty.shape.clone());
            draft.types.push(TypeAnnotation { var: input, scalar: ty.scalar, shape, span, formal: None });
        }
        let (flow, marks) =
            infer(self.program, draft, &Hints::default()).map_err(|failure| failure.diagnostics)?;
        if mode != Mode::Tangent {
            self.check_types(instance, node, &flow, types).map_err(|diagnostic| vec![*diagnostic])?;
        }
        self.open.push(node);
        let expanded = expand(flow, marks, Gradients::Direct, self);
        self.open.pop();
        expanded
    }

    fn clocks(&self, flow: &Flow) -> Result<Clocks, Vec<Diagnostic>> {
        clocks::infer(flow)
    }

    fn equation_limit(&self) -> EquationLimit {
        self.program.limits.equation_limit()
    }

    fn guessed_clocks(&self, flow: &Flow) -> Clocks {
        clocks::guess(flow)
    }
}
