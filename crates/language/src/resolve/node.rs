//! Resolves the streams, equations and `let`s of each node.

use std::sync::Arc;

use eddy_syntax::{Diagnostic, Diagnostics, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::body::{Body, Context, Resolved};
use super::callables;
use super::scope::{Scope, empty_node};
use super::unknown::unknown_variable;
use crate::codes;
use crate::names::Name;
use crate::program::{Contract, Equation, FunctionId, Let, Module, Node, Program, Role, Slot, SlotId};
use crate::tree::{self, Decl, ExprId, Item, Target};

/// The calls of the optimisers of each `train`, by file and declaration; `None` for a call with errors.
pub(super) type RuleCalls = FxHashMap<(usize, usize), Vec<Option<ExprId>>>;

pub(super) fn resolve_nodes(
    program: &mut Program,
    scopes: &[Scope],
    diagnostics: &mut Diagnostics,
) -> RuleCalls {
    let functions = (0..program.functions.len()).map(FunctionId::new);
    let parameters: Vec<Vec<String>> = functions.map(|function| parameters(program, function)).collect();
    let mut modules = std::mem::take(&mut program.modules);
    // Heads first, because resolving a call needs the interface of its callee.
    for node in &mut program.nodes {
        let module = &modules[node.module];
        let n_before = diagnostics.n_added();
        Head { module, node, slots: FxHashMap::default(), conflicting: FxHashSet::default(), diagnostics }
            .resolve();
        node.is_broken = diagnostics.n_added() > n_before;
    }
    callables::mark_callable_inputs(&mut program.nodes, &modules, scopes);
    let mut broken: Vec<Vec<usize>> = Vec::new();
    let mut names: Vec<Resolved> = modules.iter().map(Resolved::of).collect();
    let mut copies = Vec::new();
    for node in &program.nodes {
        let context = Context {
            module: &modules[node.module],
            scope: &scopes[node.module],
            nodes: &program.nodes,
            modules: &modules,
            types: &program.types,
            parameters: &parameters,
        };
        let body = Body::new(context, node, &mut names[node.module], &mut copies, diagnostics);
        broken.push(body.resolve());
    }
    let mut calls = RuleCalls::default();
    for (number, module) in modules.iter().enumerate() {
        for (item, declared) in module.tree.items.iter().enumerate() {
            let Item::Train(train) = declared else { continue };
            let context = Context {
                module,
                scope: &scopes[number],
                nodes: &program.nodes,
                modules: &modules,
                types: &program.types,
                parameters: &parameters,
            };
            let node = empty_node((number, item), String::new(), train.at, None);
            let resolve = |rule: &tree::Rule| {
                Body::new(context, &node, &mut names[number], &mut copies, diagnostics).rule(rule)
            };
            calls.insert((number, item), train.rules.iter().map(resolve).collect());
        }
    }
    let main = Program::MAIN;
    for run in modules[main].tree.runs() {
        let context = Context {
            module: &modules[main],
            scope: &scopes[main],
            nodes: &program.nodes,
            modules: &modules,
            types: &program.types,
            parameters: &parameters,
        };
        let node = empty_node((main, 0), String::new(), run.span, None);
        Body::new(context, &node, &mut names[main], &mut copies, diagnostics).bench(run);
    }
    for (node, equations) in program.nodes.iter_mut().zip(broken) {
        for equation in equations {
            node.equations[equation].is_broken = true;
        }
    }
    program.nodes.append(&mut copies);
    for (module, names) in modules.iter_mut().zip(names) {
        names.complete(module);
    }
    program.modules = modules;
    calls
}

/// The names of the parameters of a function.
pub(super) fn parameters(program: &Program, function: FunctionId) -> Vec<String> {
    let (module, tree) = program.function(function);
    let names = &program.modules[module].names;
    tree.params.iter().map(|param| names.text(param.ident.name).to_string()).collect()
}

pub(super) fn slots_by_name(node: &Node, module: &Module) -> FxHashMap<Name, SlotId> {
    let name = |slot: &Slot| module.names.find(&slot.name).expect("the name of a slot occurs in its file");
    node.slots.iter().enumerate().map(|(index, slot)| (name(slot), SlotId::new(index))).collect()
}

/// Collects the streams of a node.
struct Head<'a> {
    module: &'a Module,
    node: &'a mut Node,
    slots: FxHashMap<Name, SlotId>,
    /// Names that are both inputs and outputs, or declared twice; already reported.
    conflicting: FxHashSet<Name>,
    diagnostics: &'a mut Diagnostics,
}

impl Head<'_> {
    fn resolve(mut self) {
        let tree = self.module.node_tree(self.node.item);
        for decl in &tree.inputs {
            self.declare(decl, Role::Input);
        }
        self.node.n_inputs = self.node.slots.len();
        for decl in &tree.outputs {
            if let Some(slot) = self.declare(decl, Role::Output) {
                self.node.outputs.push(slot);
            }
        }
        let mut defined_at: Vec<Option<Span>> = vec![None; self.node.slots.len()];
        for equation in &tree.equations {
            let targets = equation.targets.iter().map(|target| match target {
                Target::Discard(_) => None,
                Target::Decl(decl) => self.define(decl, &mut defined_at),
            });
            let targets = targets.collect();
            self.node.equations.push(Equation { targets, value: equation.value, is_broken: false });
        }
        self.lets(tree);
        for ident in tree.probes.iter().flat_map(|probe| &probe.idents) {
            match self.slots.get(&ident.name) {
                Some(slot) => self.node.slots[slot.index()].is_probed = true,
                None => self.diagnostics.push(unknown_variable(self.module, *ident, &self.slots)),
            }
        }
        if !self.node.is_external() {
            self.undefined_outputs(&defined_at);
        }
        self.clocks(tree);
    }

    /// A declaration in the head of the node.
    fn declare(&mut self, decl: &Decl, role: Role) -> Option<SlotId> {
        if let Some(earlier) = self.slots.get(&decl.ident.name) {
            let earlier = &self.node.slots[earlier.index()];
            let name = &earlier.name;
            let (code, title) = if earlier.role == role {
                (codes::DEFINED_TWICE, format!("`{name}` is defined twice in the head of the node"))
            } else {
                (codes::INPUT_AND_OUTPUT, format!("`{name}` is both an input and an output"))
            };
            let diagnostic =
                Diagnostic::error(code, decl.ident.span, title).cause(earlier.span, "first declared here");
            self.diagnostics.push(diagnostic);
            self.conflicting.insert(decl.ident.name);
            return None;
        }
        Some(self.slot(decl, role))
    }

    /// A declaration on the left side of an equation.
    fn define(&mut self, decl: &Decl, defined_at: &mut Vec<Option<Span>>) -> Option<SlotId> {
        if self.conflicting.contains(&decl.ident.name) {
            return None;
        }
        let slot = match self.slots.get(&decl.ident.name) {
            None => {
                defined_at.push(None);
                self.slot(decl, Role::Local)
            }
            Some(slot) => {
                let known = &mut self.node.slots[slot.index()];
                known.annotations.extend(decl.annotation);
                known.type_names.extend(decl.type_name);
                *slot
            }
        };
        let known = &self.node.slots[slot.index()];
        let name = &known.name;
        let earlier = match (known.role, defined_at[slot.index()]) {
            (Role::Input, _) => Some((known.span, "it is an input: the caller defines it")),
            (_, Some(earlier)) => Some((earlier, "the first definition")),
            _ => None,
        };
        if let Some((earlier, text)) = earlier {
            let title = format!("`{name}` is defined twice");
            let diagnostic =
                Diagnostic::error(codes::DEFINED_TWICE, decl.ident.span, title).cause(earlier, text);
            self.diagnostics.push(diagnostic);
            return None;
        }
        defined_at[slot.index()] = Some(decl.ident.span);
        Some(slot)
    }

    fn slot(&mut self, decl: &Decl, role: Role) -> SlotId {
        let id = SlotId::new(self.node.slots.len());
        self.slots.insert(decl.ident.name, id);
        let name = self.module.names.text(decl.ident.name).to_string();
        let tree = self.module.node_tree(self.node.item);
        let contract = tree.contracts.iter().find(|contract| contract.stream == decl.ident.name);
        let contract = contract.map(|contract| {
            Arc::new(Contract {
                is_assumption: contract.is_assumption,
                message: contract.text.clone(),
                span: contract.word,
            })
        });
        self.node.slots.push(Slot {
            contract,
            annotations: decl.annotation.into_iter().collect(),
            type_names: decl.type_name.into_iter().collect(),
            default: decl.default,
            is_callable: decl.is_callable,
            ..Slot::new(name, decl.ident.span, role)
        });
        id
    }

    /// The `let`s of the node, whose names are not those of streams.
    fn lets(&mut self, tree: &tree::Node) {
        let mut earlier: FxHashMap<Name, Span> = FxHashMap::default();
        for item in &tree.lets {
            let name = self.module.names.text(item.ident.name).to_string();
            let stream = self.slots.get(&item.ident.name).map(|slot| self.node.slots[slot.index()].span);
            if let Some(first) = stream.or_else(|| earlier.get(&item.ident.name).copied()) {
                let title = format!("`{name}` is defined twice");
                let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, item.ident.span, title)
                    .cause(first, "the first definition");
                self.diagnostics.push(match stream {
                    Some(_) => {
                        diagnostic.help(format!("an equation is written without `let`: `{name} = …;`"))
                    }
                    None => diagnostic,
                });
                continue;
            }
            earlier.insert(item.ident.name, item.ident.span);
            self.node.lets.push(Let { name, span: item.ident.span, value: item.value, at: item.at });
        }
    }

    fn undefined_outputs(&mut self, defined_at: &[Option<Span>]) {
        for slot in &self.node.outputs {
            let output = &self.node.slots[slot.index()];
            let is_conflicting =
                self.module.names.find(&output.name).is_some_and(|name| self.conflicting.contains(&name));
            if defined_at[slot.index()].is_none() && !is_conflicting {
                let title = format!("the output `{}` has no definition", output.name);
                self.diagnostics.push(
                    Diagnostic::error(codes::NO_DEFINITION, output.span, title)
                        .help(format!("add an equation `{} = …;`", output.name)),
                );
            }
        }
    }

    /// Resolves the clock annotations, last, because a condition may be declared after the streams that it
    /// samples.
    fn clocks(&mut self, tree: &tree::Node) {
        let heads = tree.inputs.iter().chain(&tree.outputs);
        let decls = heads.chain(tree.equations.iter().flat_map(tree::Equation::decls));
        for decl in decls.filter(|decl| !decl.clock.is_empty()) {
            let conditions: Option<Vec<_>> = decl
                .clock
                .iter()
                .map(|sampling| match self.slots.get(&sampling.condition.name) {
                    Some(slot) => Some((*slot, sampling.polarity)),
                    None => {
                        let (module, slots) = (self.module, &self.slots);
                        self.diagnostics.push_with(|| unknown_variable(module, sampling.condition, slots));
                        None
                    }
                })
                .collect();
            let span = decl.clock[0].span.to(decl.clock[decl.clock.len() - 1].span);
            if let (Some(conditions), Some(slot)) = (conditions, self.slots.get(&decl.ident.name)) {
                self.node.slots[slot.index()].clocks.push((conditions, span));
            }
        }
    }
}
