//! Resolves `train` declarations, and finds the derivatives that the user wrote.

use std::collections::BTreeSet;

use eddy_syntax::{Diagnostic, Diagnostics, Span};
use eddy_tensor::Static;
use rustc_hash::FxHashMap;

use super::scope::Scope;
use super::unknown::{Part, unknown_part};
use crate::codes;
use crate::program::{Base, Customs, Module, NodeId, Program, Train, TrainId};
use crate::static_value::constant_expression;
use crate::tree::{self, Ident, Item};

/// Resolves all `train` declarations, in the order of their numbers.
pub(super) fn resolve_trains(program: &mut Program, scopes: &[Scope], diagnostics: &mut Diagnostics) {
    let (mut trains, mut broken) = (Vec::new(), BTreeSet::new());
    for (number, module) in program.modules.iter().enumerate() {
        for item in &module.tree.items {
            let Item::Train(train) = item else { continue };
            let resolver = Resolver { program, module, scope: &scopes[number], diagnostics };
            let (train, is_whole) = resolver.resolve(number, train);
            if !is_whole {
                broken.insert(TrainId::new(trains.len()));
            }
            trains.push(train);
        }
    }
    program.trains = trains;
    program.broken_trains = broken;
}

struct Resolver<'a> {
    program: &'a Program,
    module: &'a Module,
    scope: &'a Scope,
    diagnostics: &'a mut Diagnostics,
}

/// The resolved names and arguments of a `train`.
struct Parts {
    node: NodeId,
    loss: NodeId,
    optimiser: NodeId,
    arguments: Vec<Static>,
}

impl Resolver<'_> {
    /// Returns the declaration and whether all its parts are resolved; if not, the errors are reported.
    fn resolve(mut self, module: usize, train: &tree::Train) -> (Train, bool) {
        let name = self.module.names.text(train.ident.name).to_string();
        let parts = self.parts(train);
        let is_whole = parts.is_some();
        let placeholder = Parts {
            node: NodeId::new(0),
            loss: NodeId::new(0),
            optimiser: NodeId::new(0),
            arguments: Vec::new(),
        };
        let Parts { node, loss, optimiser, arguments } = parts.unwrap_or(placeholder);
        let train = Train {
            module,
            name,
            span: train.at,
            node,
            loss,
            optimiser,
            arguments,
            segment: train.segment.is_some(),
            mean: train.mean.is_some(),
            truncate: train.truncate.is_some(),
        };
        (train, is_whole)
    }

    /// Returns `None` if a part cannot be resolved.
    fn parts(&mut self, train: &tree::Train) -> Option<Parts> {
        let n_before = self.diagnostics.n_added();
        let node = if self.is_named_as_its_node(train) { None } else { self.node(Part::Trained, train.node) };
        let loss = self.node(Part::Loss, train.loss);
        let optimiser = self.node(Part::Optimiser, train.optimiser);
        let arguments = self.arguments(train);
        let (node, loss, optimiser, arguments) = (node?, loss?, optimiser?, arguments?);
        self.check_interface(node, train.node.span, None, 1, "a trained node");
        self.check_interface(loss, train.loss.span, Some(2), 1, "a loss takes an output and its target, and");
        let n_inputs = 3 + arguments.len();
        self.check_interface(
            optimiser,
            train.optimiser.span,
            Some(n_inputs),
            1,
            "an optimiser takes the initial value, the step, the gradient and the arguments given here, and",
        );
        (self.diagnostics.n_added() == n_before).then_some(Parts { node, loss, optimiser, arguments })
    }

    /// Whether the `train` and its node have the same name, which is already reported as defined twice.
    fn is_named_as_its_node(&self, train: &tree::Train) -> bool {
        let is_it = |item: &Item| matches!(item, Item::Node(node) if node.ident.name == train.node.name);
        train.node.name == train.ident.name && self.module.tree.items.iter().any(is_it)
    }

    fn node(&mut self, part: Part, ident: Ident) -> Option<NodeId> {
        let name = self.module.names.text(ident.name);
        match self.scope.nodes.get(name) {
            Some(Base::Node(node)) => Some(*node),
            Some(_) => {
                let title = format!("`{name}` is a training node itself");
                let help = "name the node that it trains";
                self.diagnostics.push(Diagnostic::error(codes::UNKNOWN_CALLEE, ident.span, title).help(help));
                None
            }
            None => {
                if !self.scope.missing.contains(name) {
                    let nodes = &self.program.nodes;
                    self.diagnostics.push(unknown_part(part, name, ident.span, self.scope, nodes));
                }
                None
            }
        }
    }

    fn arguments(&mut self, train: &tree::Train) -> Option<Vec<Static>> {
        let exprs = &self.module.tree.exprs;
        let mut values = Vec::new();
        for argument in exprs.items(train.arguments) {
            match constant_expression(exprs, *argument) {
                Ok(value) => values.push(value),
                Err(diagnostic) => {
                    self.diagnostics.push(*diagnostic);
                    return None;
                }
            }
        }
        Some(values)
    }

    /// Checks the number of inputs and outputs of a node.
    fn check_interface(
        &mut self,
        node: NodeId,
        span: Span,
        n_inputs: Option<usize>,
        n_outputs: usize,
        what: &str,
    ) {
        let declared = self.program.node(node);
        let name = &declared.name;
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let title = match n_inputs {
            Some(n) if n != declared.n_inputs => {
                let expected = count(declared.n_inputs, "argument");
                format!("`{name}` expects {expected}, but `train` gives it {n}: {what} has 1 output")
            }
            _ if n_outputs != declared.outputs.len() => {
                let found = count(declared.outputs.len(), "output");
                format!("`train` expects a node with 1 output, but `{name}` has {found}")
            }
            _ => return,
        };
        let diagnostic = Diagnostic::error(codes::ARITY, span, title).cause(declared.span, "declared here");
        self.diagnostics.push(diagnostic);
    }
}

/// Finds the derivatives that the user wrote, in the file of their node or in the main file.
pub(super) fn find_customs(program: &mut Program, scopes: &[Scope]) {
    let mut customs = FxHashMap::default();
    for (number, node) in program.nodes.iter().enumerate() {
        let seen = [&scopes[node.module].nodes, &scopes[Program::MAIN].nodes];
        let find = |prefix: &str| {
            let name = format!("{prefix}{}", node.name);
            seen.iter().find_map(|nodes| match nodes.get(&name) {
                Some(Base::Node(node)) => Some(*node),
                _ => None,
            })
        };
        let found = Customs { adjoint: find("adj_"), tangent: find("tan_"), diff: find("diff_") };
        if found.adjoint.is_some() || found.tangent.is_some() || found.diff.is_some() {
            customs.insert(NodeId::new(number), found);
        }
    }
    program.customs = customs;
}
