//! Finds the inputs that are nodes or functions (composition.md, section 2).
//!
//! An input is callable if its type is `node`, or if it has no type, no node, function or operation of its
//! name is visible, and the node calls it, writes it right of a `let`, or passes it to a callable input.

use rustc_hash::{FxHashMap, FxHashSet};

use super::arguments::{Source, bind};
use super::inputs::formals;
use super::scope::{Scope, callee_in};
use crate::names::Name;
use crate::program::{Base, Callable, Callee, Module, Node, NodeId, Slot};
use crate::static_value::postorder;
use crate::tree::{ExprId, ExprKind};

/// An input that is an argument of a call: it is callable if that input of the callee is.
struct Passed {
    caller: NodeId,
    input: usize,
    callee: NodeId,
    position: usize,
}

pub(super) fn mark_callable_inputs(nodes: &mut [Node], modules: &[Module], scopes: &[Scope]) {
    let mut passed = Vec::new();
    let mut found: FxHashSet<(NodeId, usize)> = FxHashSet::default();
    for (number, node) in nodes.iter().enumerate() {
        let search = Search {
            id: NodeId::new(number),
            node,
            nodes,
            module: &modules[node.module],
            scope: &scopes[node.module],
        };
        search.run(&mut found, &mut passed);
    }
    let called = found.clone();
    loop {
        let n_before = found.len();
        for Passed { caller, input, callee, position } in &passed {
            let is_callable = nodes[callee.index()].slots[*position].is_callable;
            if is_callable || found.contains(&(*callee, *position)) {
                found.insert((*caller, *input));
            }
        }
        if found.len() == n_before {
            break;
        }
    }
    // An input that is only passed on is a stream if it is read as one too.
    let is_passed = |node: NodeId, input: usize| {
        let is_it = |passed: &&Passed| (passed.caller, passed.input) == (node, input);
        passed
            .iter()
            .filter(is_it)
            .filter(|passed| {
                found.contains(&(passed.callee, passed.position))
                    || nodes[passed.callee.index()].slots[passed.position].is_callable
            })
            .count()
    };
    let confirmed: Vec<(NodeId, usize)> = found
        .iter()
        .copied()
        .filter(|(node, input)| {
            called.contains(&(*node, *input))
                || n_uses(&nodes[node.index()], modules, *input) == is_passed(*node, *input)
        })
        .collect();
    for (node, input) in confirmed {
        nodes[node.index()].slots[input].is_callable = true;
    }
}

/// How often a node reads an input.
fn n_uses(node: &Node, modules: &[Module], input: usize) -> usize {
    let module = &modules[node.module];
    let exprs = &module.tree.exprs;
    let Some(name) = module.names.find(&node.slots[input].name) else { return 0 };
    let roots = node.equations.iter().map(|equation| equation.value);
    let roots = roots.chain(node.lets.iter().map(|item| item.value));
    let parts = roots.flat_map(|root| postorder(exprs, root));
    parts.filter(|part| matches!(exprs.kind(*part), ExprKind::Variable(other) if other == name)).count()
}

struct Search<'a> {
    id: NodeId,
    node: &'a Node,
    nodes: &'a [Node],
    module: &'a Module,
    scope: &'a Scope,
}

impl Search<'_> {
    fn run(&self, found: &mut FxHashSet<(NodeId, usize)>, passed: &mut Vec<Passed>) {
        let candidates = self.candidates();
        if candidates.is_empty() {
            return;
        }
        let exprs = &self.module.tree.exprs;
        let lets = self.node.lets.iter().map(|item| item.value);
        for value in lets.clone() {
            if let ExprKind::Variable(name) = exprs.kind(exprs.without_parentheses(value))
                && let Some(input) = candidates.get(&name)
            {
                found.insert((self.id, *input));
            }
        }
        let mut todo: Vec<ExprId> =
            self.node.equations.iter().map(|equation| equation.value).chain(lets).collect();
        while let Some(expr) = todo.pop() {
            if let ExprKind::Call(name, arguments) = exprs.kind(expr) {
                if let Some(input) = candidates.get(&name) {
                    found.insert((self.id, *input));
                }
                self.passes(name, exprs.items(arguments), &candidates, passed);
            }
            todo.extend(exprs.children(expr));
        }
    }

    /// The inputs that may be callable, by name.
    fn candidates(&self) -> FxHashMap<Name, usize> {
        let is_open = |(_, slot): &(usize, &Slot)| {
            slot.annotations.is_empty()
                && slot.type_names.is_empty()
                && slot.clocks.is_empty()
                && callee_in(&slot.name, self.scope).is_none()
        };
        let inputs = self.node.inputs().iter().enumerate().filter(is_open);
        inputs.filter_map(|(input, slot)| Some((self.module.names.find(&slot.name)?, input))).collect()
    }

    /// Adds the candidates among the arguments of a call of a node.
    fn passes(
        &self,
        callee: Name,
        arguments: &[ExprId],
        candidates: &FxHashMap<Name, usize>,
        passed: &mut Vec<Passed>,
    ) {
        let exprs = &self.module.tree.exprs;
        let callee = callee_in(self.module.names.text(callee), self.scope);
        let Some(Callee::Instance(Callable {
            base: Base::Node(callee) | Base::Woven { node: callee, .. },
            ..
        })) = callee
        else {
            return;
        };
        let formals = formals(&self.nodes[callee.index()]);
        let names: Vec<Option<&str>> = arguments.iter().map(|argument| self.name_of(*argument)).collect();
        let Ok(bound) = bind(&formals, &names) else { return };
        for (position, source) in bound.iter().enumerate() {
            let Source::Argument(number) = source else { continue };
            let value = match exprs.kind(arguments[*number]) {
                ExprKind::Named(_, value) => value,
                _ => arguments[*number],
            };
            if let ExprKind::Variable(name) = exprs.kind(exprs.without_parentheses(value))
                && let Some(input) = candidates.get(&name)
            {
                passed.push(Passed { caller: self.id, input: *input, callee, position });
            }
        }
    }

    fn name_of(&self, argument: ExprId) -> Option<&str> {
        match self.module.tree.exprs.kind(argument) {
            ExprKind::Named(name, _) => Some(self.module.names.text(name)),
            _ => None,
        }
    }
}
