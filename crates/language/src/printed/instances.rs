//! All instances of a program, and the translation of each call in training code.

use eddy_autodiff::Transposed;
use eddy_autodiff::section::Mode;
use rustc_hash::FxHashSet;

use super::activity::{Summary, summary, transposed};
use super::local::{Action, Local, Step, StreamId, Typed};
use super::nodes::Template;
use super::supports::Returns;
use super::{Form, Shapes, Ties};
use crate::clocks::Clocks;
use crate::elaborate::interface;
use crate::program::{Base, Callable, Callee, NodeId, Program, Reference, SlotId};
use crate::static_value::postorder;
use crate::tree::{ExprKind, UnaryOp};

/// An instance whose training code is printed, as seen by its callers.
#[derive(Clone, Debug)]
pub(super) struct Derived {
    /// The name of the printed node.
    pub name: String,
    /// For each input, whether the printed node returns the support of its cotangent.
    pub returns: Returns,
}

/// Facts about all instances.
pub(super) struct Instances<'a> {
    pub typed: &'a Typed<'a>,
    pub locals: &'a [Local],
    pub summaries: &'a [Option<Summary>],
    pub clocks: &'a Clocks,
    pub form: Form,
    pub shapes: Shapes,
    pub ties: Ties,
    /// For each instance, which of its outputs have cotangents in its caller.
    pub seeded: Vec<Vec<bool>>,
    /// The backward equations of instances whose training code is needed.
    pub transposed: Vec<Option<Transposed>>,
    /// The instances that were printed.
    pub derived: Vec<Option<Derived>>,
}

impl Instances<'_> {
    /// Transposes an instance and returns the callees whose training code it needs, in the order of its text.
    /// This determines which outputs of the callees have cotangents.
    pub fn transpose(&mut self, instance: usize) -> Vec<usize> {
        let local = &self.locals[instance];
        let transposed = transposed(self.typed, instance, local, self.summaries, &self.seeded[instance]);
        let mut callees = Vec::new();
        for step in &local.steps {
            if let Some((Treatment::Derived, callee)) = self.treatment(step, &transposed) {
                let is_active = |result: &StreamId| transposed.cotangents.contains_key(result);
                self.seeded[callee] = step.results.iter().map(is_active).collect();
                callees.push(callee);
            }
        }
        self.transposed[instance] = Some(transposed);
        callees
    }

    /// The translation of a call; `None` if its results carry no cotangents and it contains no parameter. A
    /// call that only contains parameters needs training code, which keeps them at their first values.
    pub fn treatment(&self, step: &Step, transposed: &Transposed) -> Option<(Treatment, usize)> {
        let Action::Call(callee) = step.action else { return None };
        let summary = summary(self.summaries, callee);
        let custom = summary.custom;
        let reset = reset_template(self.typed, callee).filter(|_| self.form != Form::Dense);
        let is_active = step.results.iter().any(|result| transposed.cotangents.contains_key(result));
        let treatment = match (reset, custom) {
            (Some(template), _) => Treatment::Reset(template),
            (None, None) => Treatment::Derived,
            (None, Some(custom)) if custom.adjoint.is_some() || custom.tangent.is_some() => Treatment::Custom,
            (None, Some(_)) => return Some((Treatment::Replaced, callee)),
        };
        (is_active || summary.contains_parameter).then_some((treatment, callee))
    }

    /// The inputs for which the translation of a call returns cotangents.
    pub fn inputs_with_cotangents(&self, treatment: Option<(Treatment, usize)>, callee: usize) -> Vec<usize> {
        let local = &self.locals[callee];
        let inputs = 0..self.typed.node(callee).n_inputs;
        match treatment {
            Some((Treatment::Reset(template), _)) => template.inputs_with_cotangents().to_vec(),
            // The user's derivative has the interface of section 9.1, for any arguments.
            Some((Treatment::Custom | Treatment::Replaced, _)) => {
                let node = self.typed.recorded(callee).node;
                let adjoint = Callable { base: Base::Node(node), modes: vec![Mode::Adjoint] };
                let slots =
                    self.typed.node(callee).inputs().iter().zip(&self.typed.recorded(callee).constants);
                let constants =
                    slots.filter_map(|(slot, constant)| Some((slot.name.clone(), constant.clone()?)));
                let interface = interface(self.typed.program, &adjoint, &constants.collect());
                let interface = interface.expect("the synthesised node was accepted");
                inputs.filter(|input| interface.inputs[*input].is_num).collect()
            }
            _ => inputs.filter(|input| local.is_num(local.slot(SlotId::new(*input)))).collect(),
        }
    }

    /// Whether the node of an instance and its custom adjoint can be sampled: neither reads other cycles.
    pub fn is_pointwise(&self, instance: usize) -> bool {
        let program = self.typed.program;
        let node = self.typed.recorded(instance).node;
        let adjoint = program.customs.get(&node).and_then(|customs| customs.adjoint);
        let mut todo: Vec<NodeId> = adjoint.into_iter().chain([node]).collect();
        let mut seen: FxHashSet<NodeId> = todo.iter().copied().collect();
        while let Some(node) = todo.pop() {
            let (module, declared) = (program.module_of(node), program.node(node));
            let roots = declared.equations.iter().map(|equation| equation.value);
            for expr in roots.flat_map(|root| postorder(&module.tree.exprs, root)) {
                match module.tree.exprs.kind(expr) {
                    ExprKind::Fby(..) | ExprKind::When(..) | ExprKind::Merge(..) => return false,
                    ExprKind::Unary(UnaryOp::Post, _) => return false,
                    _ => {}
                }
                if let Reference::Call { callee: Callee::Instance(callable), .. } =
                    &module.references[expr.index()]
                {
                    let origin = program.origin(callable.base);
                    if seen.insert(origin) {
                        todo.push(origin);
                    }
                }
            }
        }
        true
    }
}

/// The translation of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// Its training code is called.
    Derived,
    /// The training code of a prelude node with resets is called.
    Reset(Template),
    /// The user's `adj_M` is called in addition.
    Custom,
    /// The user's `diff_M` is called in its place.
    Replaced,
}

/// The training code of Fig 20 for `fby_end`, `post_end` and `param_end` of the prelude.
fn reset_template(typed: &Typed<'_>, instance: usize) -> Option<Template> {
    let node = typed.node(instance);
    if node.module != Program::PRELUDE {
        return None;
    }
    match node.name.as_str() {
        "fby_end" => Some(Template::FbyEnd),
        "post_end" => Some(Template::PostEnd),
        "param_end" => Some(Template::ParamEnd),
        _ => None,
    }
}
