//! Expands composition (composition.md, sections 1 to 4): afterwards every call has a node or a function as
//! its callee, and one argument for each of its inputs.
//!
//! ```text
//! node twice(f, x) -> (y)                  node twice(x, f:k) -> (y)
//!   y = f(f(x));                             y = gain(f:k, gain(f:k, x));        named f#1, f#2
//! a = twice(gain(2.0), x);                 a = twice(x, 2.0);
//! ```
//!
//! A node with callable inputs is a *template*. For each combination of callables that it is given, a node is
//! made from it, in which the callables stand for these inputs. The values that a callable brings along
//! become further inputs; a `let` keeps them in streams. So all later phases see first-order nodes; only
//! instance paths and shared parameters need more, which a [`Site`](crate::program::Site) says.
//!
//! * [`closure`]: callables with the values that they bring along.
//! * [`copy`](mod@copy): expressions of other files, for defaults.
//! * [`expand`]: the equations of one node. [`call`]: one call. [`rules`]: the optimisers of `train`s.
//!   [`benches`]: test benches. [`cases`]: sampling by constructors. [`reset`]: instances that restart.

mod benches;
mod call;
mod cases;
mod closure;
mod copy;
mod expand;
mod reset;
mod rules;

use std::fmt::Write;

use eddy_syntax::{Diagnostic, Diagnostics};
use rustc_hash::FxHashMap;

use super::node::parameters;
use crate::codes;
use crate::program::{FunctionId, Made, Node, NodeId, Program, Reference, Role, Sharing, Slot, SlotId};
use crate::static_value::postorder;
use crate::tree::{ExprKind, Form};
use closure::{Closure, Part};

/// The largest depth of nodes that are made from templates for each other.
const MAX_DEPTH: usize = 1000;

pub(super) fn compose(program: &mut Program, diagnostics: &mut Diagnostics) {
    let functions = (0..program.functions.len()).map(FunctionId::new);
    let parameters = functions.map(|function| parameters(program, function)).collect();
    let n_nodes = program.nodes.len();
    for node in &mut program.nodes {
        let has_callables = node.callable_inputs().next().is_some();
        node.is_template = has_callables;
    }
    let mut composer =
        Composer { program, parameters, memo: FxHashMap::default(), waiting: Vec::new(), diagnostics };
    composer.check_defaults();
    for id in (0..n_nodes).map(NodeId::new) {
        if !composer.program.node(id).is_template && composer.is_composed(id) {
            let env = vec![None; composer.program.node(id).slots.len()];
            composer.expand(Task { id, template: id, env, slots: None, depth: 0 });
        }
        while let Some(task) = composer.waiting.pop() {
            composer.expand(task);
        }
    }
    composer.rules();
    composer.benches();
    composer.templates_with_defaults();
    for node in program.nodes.iter_mut().filter(|node| node.is_template) {
        node.equations.clear();
        node.lets.clear();
    }
}

/// A node whose equations are to be made.
struct Task {
    id: NodeId,
    /// The node that has the equations as they are written.
    template: NodeId,
    /// The callables that stand for its inputs.
    env: Vec<Option<Closure>>,
    /// The stream for each stream of the template, if they have other numbers.
    slots: Option<Vec<Option<SlotId>>>,
    /// How many templates are inside each other.
    depth: usize,
}

struct Composer<'a> {
    program: &'a mut Program,
    /// The names of the parameters of each function.
    parameters: Vec<Vec<String>>,
    /// The nodes that were made, by template and callables.
    memo: FxHashMap<(NodeId, String), NodeId>,
    waiting: Vec<Task>,
    diagnostics: &'a mut Diagnostics,
}

impl Composer<'_> {
    /// Whether a node has a `let` or a call that must be expanded.
    fn is_composed(&self, id: NodeId) -> bool {
        let (module, node) = (self.program.module_of(id), self.program.node(id));
        let is_composed = |root| {
            let parts = postorder(&module.tree.exprs, root);
            parts.into_iter().any(|part| {
                let is_case = match module.tree.exprs.kind(part) {
                    ExprKind::Form(form, _) => {
                        matches!(module.tree.exprs.form(form), Form::WhenIs(_) | Form::Merge(_) | Form::Reset)
                    }
                    _ => false,
                };
                is_case || matches!(module.references[part.index()], Reference::Composed(_))
            })
        };
        !node.lets.is_empty() || node.equations.iter().any(|equation| is_composed(equation.value))
    }

    /// A template whose callable inputs have defaults is a node like any other: with these.
    fn templates_with_defaults(&mut self) {
        let templates: Vec<NodeId> = (0..self.program.nodes.len())
            .map(NodeId::new)
            .filter(|id| self.program.node(*id).is_template)
            .collect();
        for id in templates {
            let node = self.program.node(id);
            let has_all =
                node.made == Made::Written && node.callable_inputs().all(|slot| slot.default.is_some());
            let inputs: Vec<usize> =
                (0..node.n_inputs).filter(|input| node.slots[*input].is_callable).collect();
            if !has_all {
                continue;
            }
            let default = |input: &usize| Some((*input, self.default_of(id, *input)?));
            let Some(callables) = inputs.iter().map(default).collect::<Option<Vec<_>>>() else { continue };
            let Some(made) = self.specialised(id, &callables, 0) else { continue };
            while let Some(task) = self.waiting.pop() {
                self.expand(task);
            }
            let (mut values, mut shares) = (Vec::new(), Vec::new());
            for (_, closure) in &callables {
                closure.collect(&mut values, &mut shares);
            }
            let mut node = Node { made: Made::Written, ..self.program.node(made).clone() };
            // The values that the defaults bring along are defaults of further inputs.
            let first = node.n_inputs - values.len();
            for (slot, value) in node.slots[first..].iter_mut().zip(values) {
                if let Part::Constant(_, expr) = value {
                    slot.default = Some(expr);
                }
            }
            self.program.nodes[id.index()] = node;
        }
    }

    /// Reports defaults that are not constants, and drops them.
    fn check_defaults(&mut self) {
        for number in 0..self.program.nodes.len() {
            let node = &self.program.nodes[number];
            let (module, n_inputs) = (node.module, node.n_inputs);
            for input in 0..n_inputs {
                let slot = &self.program.nodes[number].slots[input];
                let Some(default) = slot.default.filter(|_| !slot.is_callable) else { continue };
                let refusal = copy::refused_default(self.program, module, default, n_inputs);
                if refusal.is_some() || !copy::is_resolved(self.program, module, default) {
                    self.program.nodes[number].slots[input].default = None;
                }
                self.diagnostics.extend(refusal);
            }
        }
    }

    /// The node that is made from a template for these callables, one for each of its callable inputs.
    fn specialised(
        &mut self,
        template: NodeId,
        callables: &[(usize, Closure)],
        depth: usize,
    ) -> Option<NodeId> {
        let mut key = String::new();
        for (input, closure) in callables {
            let _ = write!(key, "{input}=");
            closure.signature(&mut key);
        }
        if let Some(made) = self.memo.get(&(template, key.clone())) {
            return Some(*made);
        }
        let node = self.program.node(template).clone();
        let nested = callables.iter().map(|(_, closure)| closure.depth()).max().unwrap_or(0);
        if depth >= MAX_DEPTH || nested >= closure::MAX_DEPTH {
            let title = format!("the node `{}` instantiates itself", node.name);
            let reason = format!("its callables contain each other more than {MAX_DEPTH} deep");
            self.diagnostics.push(Diagnostic::error(codes::RECURSIVE, node.span, title).reason(reason));
            return None;
        }
        let id = NodeId::new(self.program.nodes.len());
        let (made, env, slots) = self.head(&node, callables);
        self.memo.insert((template, key), id);
        self.program.nodes.push(made);
        self.waiting.push(Task { id, template, env, slots: Some(slots), depth: depth + 1 });
        Some(id)
    }

    /// The streams of a node that is made from a template: its inputs without the callable ones, the values
    /// that these bring along, and all others.
    fn head(
        &self,
        template: &Node,
        callables: &[(usize, Closure)],
    ) -> (Node, Vec<Option<Closure>>, Vec<Option<SlotId>>) {
        let mut renumbered = vec![None; template.slots.len()];
        let mut slots: Vec<Slot> = Vec::new();
        for (number, slot) in template.inputs().iter().enumerate().filter(|(_, slot)| !slot.is_callable) {
            renumbered[number] = Some(SlotId::new(slots.len()));
            slots.push(slot.clone());
        }
        let mut env = vec![None; template.slots.len()];
        let mut n_shares = 0;
        for (input, closure) in callables {
            let formal = &template.slots[*input];
            let inputs = |closure: &Closure, input: usize| self.input_name(closure, input);
            let mut slot = |closure: &Closure, input: usize| {
                let name = format!("{}:{}", formal.name, inputs(closure, input));
                slots.push(Slot { is_captured: true, ..Slot::new(name, formal.span, Role::Input) });
                SlotId::new(slots.len() - 1)
            };
            let mut share = || {
                n_shares += 1;
                Sharing::Given(n_shares - 1)
            };
            env[*input] = Some(closure.received(&mut slot, &mut share));
        }
        let n_inputs = slots.len();
        for (number, slot) in template.slots.iter().enumerate().skip(template.n_inputs) {
            renumbered[number] = Some(SlotId::new(slots.len()));
            slots.push(slot.clone());
        }
        let renumber = |slot: SlotId| renumbered[slot.index()].expect("only callable inputs have no stream");
        for slot in &mut slots {
            for (conditions, _) in &mut slot.clocks {
                for (condition, _) in conditions {
                    *condition = renumber(*condition);
                }
            }
        }
        let made = Node {
            slots,
            n_inputs,
            outputs: template.outputs.iter().map(|output| renumber(*output)).collect(),
            equations: Vec::new(),
            lets: Vec::new(),
            is_expanded: true,
            is_template: false,
            made: if template.made == Made::Written { Made::Composed } else { template.made },
            ..template.clone()
        };
        (made, env, renumbered)
    }

    /// The name of an input of a callable, or its number.
    fn input_name(&self, closure: &Closure, input: usize) -> String {
        let inputs = self.inputs_of(&closure.callee);
        inputs.formals.get(input).map_or_else(|| input.to_string(), |formal| formal.name.to_string())
    }
}
