//! Resolves `train` declarations, and finds the derivatives that the user wrote.

use std::collections::BTreeSet;

use eddy_syntax::{Diagnostic, Diagnostics, Span};
use rustc_hash::FxHashMap;

use super::node::RuleCalls;
use super::scope::Scope;
use super::unknown::{Part, unknown_part};
use crate::codes;
use crate::program::{Base, Customs, Module, NodeId, Program, Rule, Train, TrainId};
use crate::tree::{self, ExprId, Ident, Item};

/// Resolves all `train` declarations, in the order of their numbers. `calls` are the calls of their
/// optimisers.
pub(super) fn resolve_trains(
    program: &mut Program,
    scopes: &[Scope],
    calls: &RuleCalls,
    diagnostics: &mut Diagnostics,
) {
    let (mut trains, mut broken) = (Vec::new(), BTreeSet::new());
    for (number, module) in program.modules.iter().enumerate() {
        for (item, declared) in module.tree.items.iter().enumerate() {
            let Item::Train(train) = declared else { continue };
            let calls = calls.get(&(number, item)).map_or(&[][..], Vec::as_slice);
            let resolver = Resolver { program, module, scope: &scopes[number], calls, diagnostics };
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
    /// For each rule, the call of its optimiser.
    calls: &'a [Option<ExprId>],
    diagnostics: &'a mut Diagnostics,
}

/// The resolved names and arguments of a `train`.
struct Parts {
    node: NodeId,
    loss: NodeId,
    rules: Vec<Rule>,
}

impl Resolver<'_> {
    /// Returns the declaration and whether all its parts are resolved; if not, the errors are reported.
    fn resolve(mut self, module: usize, train: &tree::Train) -> (Train, bool) {
        let name = self.module.names.text(train.ident.name).to_string();
        let parts = self.parts(train);
        let is_whole = parts.is_some();
        let placeholder = Parts { node: NodeId::new(0), loss: NodeId::new(0), rules: Vec::new() };
        let Parts { node, loss, rules } = parts.unwrap_or(placeholder);
        let train = Train {
            module,
            name,
            span: train.at,
            node,
            loss,
            rules,
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
        let rules: Vec<Option<Rule>> =
            train.rules.iter().enumerate().map(|(number, rule)| self.rule(number, rule)).collect();
        self.check_order(&train.rules);
        let (node, loss) = (node?, loss?);
        let rules = rules.into_iter().collect::<Option<Vec<Rule>>>()?;
        self.check_interface(node, train.node.span, None, 1, "a trained node");
        self.check_interface(loss, train.loss.span, Some(2), 1, "a loss takes an output and its target, and");
        (self.diagnostics.n_added() == n_before).then_some(Parts { node, loss, rules })
    }

    fn rule(&mut self, number: usize, rule: &tree::Rule) -> Option<Rule> {
        let optimiser = self.node(Part::Optimiser, rule.optimiser)?;
        let declared = self.program.node(optimiser);
        let n_arguments = rule.arguments.len();
        let n_defaults = declared.inputs().iter().filter(|slot| slot.default.is_some()).count();
        if self.calls.get(number).copied().flatten().is_none() || declared.outputs.len() != 1 {
            let n_inputs = 3 + n_arguments;
            let n_most = declared.n_inputs;
            let is_too_few = n_inputs + n_defaults < n_most;
            let n_expected = if is_too_few || n_inputs > n_most { n_inputs } else { n_most };
            self.check_interface(
                optimiser,
                rule.optimiser.span,
                Some(n_expected),
                1,
                "an optimiser takes the initial value, the step, the gradient and the arguments given here, and",
            );
        }
        let call = self.calls.get(number).copied().flatten()?;
        let pattern = rule.pattern.as_ref().map(|pattern| pattern.text.clone());
        Some(Rule { optimiser, arguments: Vec::new(), call, pattern, span: rule.optimiser.span })
    }

    /// Reports a rule after one that takes all parameters.
    fn check_order(&mut self, rules: &[tree::Rule]) {
        for pair in rules.windows(2) {
            if pair[0].pattern.is_none() {
                let title = "a rule without `for` takes all parameters, so no rule can follow it";
                let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, pair[1].optimiser.span, title)
                    .cause(pair[0].optimiser.span, "this rule takes all that is left")
                    .help("put it last, or give it a pattern: `for \"encoder/*\"`");
                self.diagnostics.push(diagnostic);
                return;
            }
        }
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
