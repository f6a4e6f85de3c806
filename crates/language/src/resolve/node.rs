//! Resolves the streams and equations of each node, and the names in them.

use eddy_syntax::{Diagnostic, Diagnostics, Span};
use eddy_tensor::{Arity, Builtin};
use rustc_hash::{FxHashMap, FxHashSet};

use super::scope::{Scope, callee_in};
use super::unknown::{unknown_callee, unknown_variable};
use crate::codes;
use crate::names::Name;
use crate::program::{
    Base, Callable, Callee, Entity, Equation, FunctionId, Module, Node, Program, Reference, Role, Slot,
    SlotId,
};
use crate::tree::{self, Decl, ExprId, ExprKind, Ident, Target};

pub(super) fn resolve_nodes(program: &mut Program, scopes: &[Scope], diagnostics: &mut Diagnostics) {
    let functions = (0..program.functions.len()).map(FunctionId::new);
    let n_parameters: Vec<usize> =
        functions.map(|function| program.function(function).1.params.len()).collect();
    let mut modules = std::mem::take(&mut program.modules);
    // Heads first, because resolving a call needs the interface of its callee.
    for node in &mut program.nodes {
        let module = &modules[node.module];
        let n_before = diagnostics.n_added();
        Head { module, node, slots: FxHashMap::default(), conflicting: FxHashSet::default(), diagnostics }
            .resolve();
        node.is_broken = diagnostics.n_added() > n_before;
    }
    let mut broken: Vec<Vec<usize>> = Vec::new();
    let mut references: Vec<Vec<Reference>> =
        modules.iter().map(|module| vec![Reference::Nothing; module.tree.exprs.len()]).collect();
    for node in &program.nodes {
        let body = Body {
            node,
            module: &modules[node.module],
            scope: &scopes[node.module],
            nodes: &program.nodes,
            n_parameters: &n_parameters,
            slots: slots_by_name(node, &modules[node.module]),
            ordinals: FxHashMap::default(),
            references: &mut references[node.module],
            diagnostics,
        };
        broken.push(body.resolve());
    }
    for (node, equations) in program.nodes.iter_mut().zip(broken) {
        for equation in equations {
            node.equations[equation].is_broken = true;
        }
    }
    for (module, references) in modules.iter_mut().zip(references) {
        module.references = references;
    }
    program.modules = modules;
}

fn slots_by_name(node: &Node, module: &Module) -> FxHashMap<Name, SlotId> {
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
        self.node.slots.push(Slot {
            name: self.module.names.text(decl.ident.name).to_string(),
            span: decl.ident.span,
            role,
            annotations: decl.annotation.into_iter().collect(),
            type_names: decl.type_name.into_iter().collect(),
            enumeration: None,
            clocks: Vec::new(),
        });
        id
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

/// Resolves the names in the equations of a node.
struct Body<'a> {
    node: &'a Node,
    module: &'a Module,
    scope: &'a Scope,
    nodes: &'a [Node],
    /// How many parameters each function has.
    n_parameters: &'a [usize],
    slots: FxHashMap<Name, SlotId>,
    /// The number of calls of each name so far.
    ordinals: FxHashMap<Name, u32>,
    references: &'a mut Vec<Reference>,
    diagnostics: &'a mut Diagnostics,
}

impl Body<'_> {
    /// Returns the indices of equations with errors, which are reported.
    fn resolve(mut self) -> Vec<usize> {
        let node = self.node;
        let tree = self.module.node_tree(node.item);
        let annotations = node.slots.iter().flat_map(|slot| &slot.annotations);
        let type_names = node.slots.iter().flat_map(|slot| &slot.type_names);
        let sizes = type_names.filter_map(|name| name.sizes);
        for dims in annotations.filter_map(|annotation| annotation.dims).chain(sizes) {
            for dim in self.module.tree.exprs.items(dims) {
                self.expression(*dim);
            }
        }
        let mut broken = Vec::new();
        for (number, (equation, tree)) in node.equations.iter().zip(&tree.equations).enumerate() {
            let n_before = self.diagnostics.n_added();
            self.expression(equation.value);
            self.check_width(tree);
            if self.diagnostics.n_added() > n_before {
                broken.push(number);
            }
        }
        if node.name == "param" {
            self.check_param_is_identity(node);
        }
        broken
    }

    /// Resolves an expression and all its parts, in the order of the text.
    fn expression(&mut self, root: ExprId) {
        let exprs = &self.module.tree.exprs;
        let mut todo = vec![root];
        while let Some(expr) = todo.pop() {
            match exprs.kind(expr) {
                ExprKind::Variable(name) => self.variable(expr, name),
                ExprKind::Call(name, arguments) => self.call(expr, name, arguments.len()),
                _ => {}
            }
            let parts = todo.len();
            todo.extend(exprs.children(expr));
            todo[parts..].reverse();
        }
    }

    fn variable(&mut self, expr: ExprId, name: Name) {
        match self.slots.get(&name) {
            Some(slot) => self.references[expr.index()] = Reference::Slot(*slot),
            None if let Some(Entity::Constant(constant)) = self.entity(name) => {
                self.references[expr.index()] = Reference::Constant(constant);
            }
            None if let Some(Entity::Enumerator(of, number)) = self.entity(name) => {
                self.references[expr.index()] = Reference::Enumerator(of, number);
            }
            None => {
                let ident = Ident { name, span: self.module.tree.exprs.at(expr) };
                let (module, scope, slots, nodes) = (self.module, self.scope, &self.slots, self.nodes);
                self.diagnostics.push_with(|| {
                    let diagnostic = unknown_variable(module, ident, slots);
                    match callee_in(module.names.text(name), scope) {
                        Some(callee) => callee_used_as_stream(&callee, diagnostic, nodes),
                        None => diagnostic,
                    }
                });
            }
        }
    }

    fn entity(&self, name: Name) -> Option<Entity> {
        self.scope.entities.get(self.module.names.text(name)).copied()
    }

    fn call(&mut self, expr: ExprId, name: Name, n_arguments: usize) {
        let (text, span) = (self.module.names.text(name), self.module.tree.exprs.at(expr));
        let Some(callee) = callee_in(text, self.scope) else {
            match self.slots.get(&name) {
                Some(slot) => {
                    self.diagnostics.push(stream_used_as_callee(&self.node.slots[slot.index()], span));
                }
                None if self.scope.missing.contains(text) => {}
                // The search for suggestions visits all names, so it runs only if the error is kept.
                None => {
                    let scope = self.scope;
                    self.diagnostics.push_with(|| unknown_callee(text, n_arguments, span, scope));
                }
            }
            return;
        };
        if let Some(expected) = self.wrong_number(&callee, n_arguments) {
            let found = if n_arguments == 1 { "1 is".to_string() } else { format!("{n_arguments} are") };
            let title = format!("`{text}` expects {expected}, but {found} given");
            let mut diagnostic = Diagnostic::error(codes::ARITY, span, title);
            if let Callee::Instance(Callable { base: Base::Node(node), .. }) = callee {
                let node = &self.nodes[node.index()];
                diagnostic = diagnostic.cause(node.span, "declared here").help(call_form(node));
            } else if text == "max" {
                diagnostic = diagnostic.help(codes::LARGER_OF_TWO);
            }
            self.diagnostics.push(diagnostic);
            return;
        }
        let ordinal = self.ordinals.entry(name).or_insert(0);
        *ordinal += 1;
        self.references[expr.index()] = Reference::Call { callee, ordinal: *ordinal };
    }

    /// The expected number of arguments, if `n_arguments` is wrong.
    fn wrong_number(&self, callee: &Callee, n_arguments: usize) -> Option<String> {
        let exactly = |n: usize| {
            let plural = if n == 1 { "" } else { "s" };
            (n_arguments != n).then(|| format!("{n} argument{plural}"))
        };
        match callee {
            // The interface of a synthesised node depends on types: elaboration counts its arguments.
            Callee::Instance(callable) => match (callable.base, callable.modes.as_slice()) {
                (Base::Node(node), []) => exactly(self.nodes[node.index()].n_inputs),
                _ => None,
            },
            Callee::Applied(function, modes) if modes.is_empty() => {
                exactly(self.n_parameters[function.index()])
            }
            // The interface of a derivative depends on types.
            Callee::Applied(..) => None,
            Callee::Function(builtin) => {
                (!builtin.accepts(n_arguments)).then(|| expected_arguments(*builtin))
            }
            Callee::Initialiser(_) | Callee::Param => exactly(1),
        }
    }

    /// Reports an equation whose left side does not name as many streams as its right side has.
    fn check_width(&mut self, equation: &tree::Equation) {
        let exprs = &self.module.tree.exprs;
        let mut todo = vec![equation.value];
        // The number of outputs of a synthesised node depends on types: elaboration counts them.
        let mut n_streams = Some(0);
        while let Some(expr) = todo.pop() {
            let expr = exprs.without_parentheses(expr);
            match exprs.kind(expr) {
                ExprKind::Tuple(items) => todo.extend(exprs.items(items)),
                ExprKind::Error => return,
                ExprKind::Call(..) if matches!(self.references[expr.index()], Reference::Nothing) => return,
                _ => {
                    n_streams = n_streams.zip(self.streams_of(expr)).map(|(sum, n)| sum + n);
                    self.check_parts_are_single(expr);
                }
            }
        }
        let Some(n_streams) = n_streams else { return };
        let n_names = equation.targets.len();
        if n_names != n_streams {
            let count = |n: usize| if n == 1 { "1 stream".to_string() } else { format!("{n} streams") };
            let title = format!(
                "the left side names {}, but the right side has {}",
                count(n_names),
                count(n_streams)
            );
            let names = equation.targets[0].span().to(equation.targets[n_names - 1].span());
            let diagnostic =
                Diagnostic::error(codes::WIDTH, exprs.at(equation.value), title).cause(names, count(n_names));
            self.diagnostics.push(match n_streams {
                0 => without_outputs(diagnostic),
                _ if n_names < n_streams => diagnostic.help("write `_` for a stream that is not needed"),
                _ => diagnostic,
            });
        }
    }

    /// The number of streams of an expression; `None` if it is not known yet.
    fn streams_of(&self, expr: ExprId) -> Option<usize> {
        match (self.module.tree.exprs.kind(expr), &self.references[expr.index()]) {
            (ExprKind::Call(..), Reference::Call { callee: Callee::Instance(callable), .. }) => {
                match (callable.base, callable.modes.as_slice()) {
                    (Base::Node(node) | Base::Woven { node, .. }, []) => {
                        Some(self.nodes[node.index()].outputs.len())
                    }
                    _ => None,
                }
            }
            // The number of results of a function depends on types.
            (
                ExprKind::Call(..),
                Reference::Nothing | Reference::Call { callee: Callee::Applied(..), .. },
            ) => None,
            _ => Some(1),
        }
    }

    /// Reports a part of an expression that is not a single stream.
    fn check_parts_are_single(&mut self, root: ExprId) {
        let exprs = &self.module.tree.exprs;
        let mut todo: Vec<ExprId> = exprs.children(root).collect();
        while let Some(expr) = todo.pop() {
            let n_streams = match exprs.kind(expr) {
                ExprKind::Tuple(items) => items.len(),
                _ => self.streams_of(expr).unwrap_or(1),
            };
            if n_streams != 1 {
                let title = format!("this place names one stream, but the expression has {n_streams}");
                let diagnostic = Diagnostic::error(codes::WIDTH, exprs.at(expr), title);
                self.diagnostics.push(match n_streams {
                    0 => without_outputs(diagnostic),
                    _ => diagnostic.help("give its streams names in an equation of its own"),
                });
            }
            todo.extend(exprs.children(expr));
        }
    }

    /// Reports a definition of the primitive `param` other than the identity, which `param` is outside of
    /// training.
    fn check_param_is_identity(&mut self, node: &Node) {
        let is_identity = match (node.n_inputs, node.outputs.as_slice(), node.equations.as_slice()) {
            (1, [output], [equation]) => {
                let value = self.module.tree.exprs.without_parentheses(equation.value);
                equation.targets == [Some(*output)]
                    && matches!(self.references[value.index()], Reference::Slot(slot) if slot == SlotId::new(0))
            }
            _ => false,
        };
        if !is_identity {
            let diagnostic = Diagnostic::error(codes::PRIMITIVE, node.span, "`param` is a primitive").reason(
                "it may be defined as the identity, `node param(init)->(o) o = init;`, and as nothing else",
            );
            self.diagnostics.push(diagnostic);
        }
    }
}

/// The error about `g + x`, where `g` is a node or a function.
fn callee_used_as_stream(callee: &Callee, diagnostic: Diagnostic, nodes: &[Node]) -> Diagnostic {
    let (what, name, inputs) = match callee {
        Callee::Instance(Callable { base: Base::Node(node), .. }) => {
            let node = &nodes[node.index()];
            let inputs: Vec<&str> = node.inputs().iter().map(|slot| slot.name.as_str()).collect();
            ("a node", node.name.as_str(), inputs.join(", "))
        }
        Callee::Instance(_) => ("a node", "…", "…".to_string()),
        Callee::Applied(..) => ("a function", "…", "…".to_string()),
        Callee::Function(builtin) => ("a function", builtin.name(), "…".to_string()),
        Callee::Initialiser(initialiser) => ("a function", initialiser.name(), "…".to_string()),
        Callee::Param => ("a function", "param", "…".to_string()),
    };
    let diagnostic = Diagnostic { help: None, ..diagnostic };
    diagnostic
        .label(format!("this is {what}, not a stream"))
        .help(format!("give it its arguments: `{name}({inputs})`"))
}

/// The error about `g(x)`, where `g` is a stream.
fn stream_used_as_callee(slot: &Slot, span: Span) -> Diagnostic {
    let name = &slot.name;
    Diagnostic::error(codes::UNKNOWN_CALLEE, span, format!("unknown node or function `{name}`"))
        .label("this is a stream, which cannot be called")
        .cause(slot.span, format!("`{name}` is declared here"))
        .help(format!("a product is written `{name} * x`, an item of a tensor `{name}[0]`"))
}

/// The error about `_ = sink(x);`. Decision: a node without outputs cannot be instantiated, because an
/// instance could have no effect.
fn without_outputs(diagnostic: Diagnostic) -> Diagnostic {
    diagnostic
        .reason("a node without outputs has no effect on its caller; it can only be run on its own")
        .help("remove the call, or give the node an output")
}

/// The form of a call of the node.
fn call_form(node: &Node) -> String {
    let inputs: Vec<&str> = node.inputs().iter().map(|slot| slot.name.as_str()).collect();
    format!("arguments go by position: `{}({})`", node.name, inputs.join(", "))
}

/// `2 arguments`, `2 or 3 arguments`, `at least 1 argument`.
fn expected_arguments(builtin: Builtin) -> String {
    let (n, or_more) = match builtin.arity() {
        Arity::Exactly(n) => (n + builtin.n_leading(), false),
        Arity::AtLeast(n) => (n + builtin.n_leading(), true),
    };
    let plural = if n == 1 && !builtin.has_axis() { "" } else { "s" };
    match (or_more, builtin.has_axis()) {
        (true, _) => format!("at least {n} argument{plural}"),
        (false, true) => format!("{n} or {} argument{plural}", n + 1),
        (false, false) => format!("{n} argument{plural}"),
    }
}
