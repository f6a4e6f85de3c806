//! Finds the symbols in the text of a node.
//!
//! Names are those that copies and lambdas bind, then streams and `let`s of the node, then nodes and
//! functions.

use rustc_hash::FxHashMap;

use super::functions::{Step, Walk};
use super::names::{Collector, written_name};
use super::operators::operator;
use super::{Purpose, SymbolKind};
use crate::contracts::is_contract;
use crate::program::{Base, Callable, Callee, ComposedCallee, NodeId, Reference, SlotId};
use crate::resolve::callee_of;
use crate::tree::{self, Automaton, Decl, ExprId, ExprKind, ExprList, Ident, Target, TypeKind};

/// The node whose text is visited.
pub(super) struct NodeScope<'a> {
    id: NodeId,
    slots: FxHashMap<&'a str, SlotId>,
}

impl<'a> Collector<'a> {
    pub(super) fn walk_node(&mut self, id: NodeId) -> Walk<'a, '_> {
        let node = self.program.node(id);
        let slots = node.slots.iter().enumerate();
        // The first leaf of a record represents the record.
        let slots =
            slots.rev().map(|(number, slot)| (written_name(&slot.name), SlotId::new(number))).collect();
        let file = self.program.module_of(id);
        let node_scope = Some(NodeScope { id, slots });
        Walk {
            collector: self,
            file,
            module: node.module,
            node: node_scope,
            env: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Visits an expression outside of nodes and functions: a row of a test bench.
    pub(super) fn expression(&mut self, module: usize, expr: ExprId) {
        self.walk(module).root(expr);
    }

    /// Visits the arguments of an optimiser.
    pub(super) fn arguments(&mut self, module: usize, callee: Option<&Callable>, arguments: ExprList) {
        let file = &self.program.modules[module];
        for argument in file.tree.exprs.items(arguments) {
            let mut walk = self.walk(module);
            walk.argument_name(callee, *argument);
            walk.root(*argument);
        }
    }
}

impl Walk<'_, '_> {
    /// Visits the whole text of the node.
    pub(super) fn whole(&mut self, tree: &tree::Node) {
        for item in &tree.lets {
            self.bind(item.ident);
        }
        // An input whose default is a node has no stream.
        for input in &tree.inputs {
            if input.default.is_some() && !self.has_stream(input.ident) {
                let name = self.file.names.text(input.ident.name);
                let id = self.node.as_ref().map(|node| node.id);
                let symbol = id.and_then(|id| self.collector.defaulted_input(id, name));
                if let Some(symbol) = symbol {
                    self.collector.name(symbol, input.ident.span, Purpose::Definition);
                    self.env.push((input.ident.name, symbol));
                }
            }
        }
        for decl in tree.inputs.iter().chain(&tree.outputs) {
            self.decl(decl);
        }
        for item in &tree.lets {
            self.root(item.value);
        }
        // What a state machine stands for is not written.
        let is_written = |equation: &&tree::Equation| equation.value.index() < self.file.n_written;
        for equation in tree.equations.iter().filter(is_written) {
            for target in &equation.targets {
                if let Target::Decl(decl) = target
                    && !is_contract(self.file.names.text(decl.ident.name))
                {
                    self.decl(decl);
                }
            }
            self.root(equation.value);
        }
        for ident in tree.probes.iter().flat_map(|probe| &probe.idents) {
            self.stream(*ident, Purpose::Use);
        }
        for automaton in &tree.automata {
            self.automaton(automaton);
        }
    }

    fn automaton(&mut self, automaton: &Automaton) {
        if let Some((stream, ty)) = automaton.stream {
            self.stream(stream, Purpose::Definition);
            self.global(ty);
        }
        for state in &automaton.states {
            if automaton.stream.is_some() { self.global(state.ident) } else { self.bind(state.ident) }
        }
        for last in &automaton.lasts {
            self.stream(last.ident, Purpose::Use);
            self.root(last.value);
        }
        for state in &automaton.states {
            let n_names = self.env.len();
            let is_written = |decl: &&Decl| !is_contract(self.file.names.text(decl.ident.name));
            let decls = state.equations.iter().flat_map(tree::Equation::decls).filter(is_written);
            for decl in decls.collect::<Vec<_>>() {
                if self.has_stream(decl.ident) { self.decl(decl) } else { self.bind(decl.ident) }
            }
            for item in &state.lets {
                self.bind(item.ident);
                self.root(item.value);
            }
            for equation in &state.equations {
                self.root(equation.value);
            }
            for ident in state.probes.iter().flat_map(|probe| &probe.idents) {
                if !self.bound(*ident) {
                    self.stream(*ident, Purpose::Use);
                }
            }
            for transition in &state.transitions {
                self.root(transition.condition);
                self.used(transition.target);
            }
            self.then(vec![Step::Leave(n_names)]);
            self.finish();
        }
    }

    pub(super) fn root(&mut self, expr: ExprId) {
        self.then(vec![Step::Expr(expr)]);
        self.finish();
    }

    fn decl(&mut self, decl: &Decl) {
        self.stream(decl.ident, Purpose::Definition);
        for sampling in &decl.clock {
            self.stream(sampling.condition, Purpose::Use);
        }
        if let Some(name) = decl.type_name
            && let TypeKind::Named(ident, _) = self.file.tree.written.ty(name.ty)
        {
            self.global(*ident);
        }
        let sizes = decl.type_name.and_then(|name| name.sizes);
        if let Some(dims) = decl.annotation.and_then(|annotation| annotation.dims).or(sizes) {
            for dim in self.file.tree.exprs.items(dims) {
                self.root(*dim);
            }
        }
        if let Some(default) = decl.default {
            self.root(default);
        }
    }

    fn has_stream(&self, ident: Ident) -> bool {
        let text = self.file.names.text(ident.name);
        self.node.as_ref().is_some_and(|node| node.slots.contains_key(text))
    }

    /// Adds an occurrence of a stream of the node; returns whether it has one of this name.
    fn stream(&mut self, ident: Ident, purpose: Purpose) -> bool {
        let Some(node) = &self.node else { return false };
        let name = written_name(self.file.names.text(ident.name));
        let Some(slot) = node.slots.get(name) else { return false };
        let symbol = self.collector.streams[node.id.index()][slot.index()];
        self.collector.name(symbol, ident.span, purpose);
        true
    }

    /// Adds an occurrence of the name or the operator of an expression of a node, without its parts.
    pub(super) fn named_in_node(&mut self, expr: ExprId) {
        let exprs = &self.file.tree.exprs;
        let span = exprs.at(expr);
        match exprs.kind(expr) {
            ExprKind::Variable(name) | ExprKind::Call(name, _) => {
                let ident = Ident { name, span };
                if !self.bound(ident) {
                    let is_variable = matches!(exprs.kind(expr), ExprKind::Variable(_));
                    if !is_variable || !self.stream(ident, Purpose::Use) {
                        self.callee(expr, ident);
                    }
                }
            }
            kind => {
                if let Some((name, doc)) = operator(kind) {
                    let facts = self.collector.known.of_expr(self.module, expr);
                    self.collector.operation((SymbolKind::Operator, name, doc), span).facts = facts;
                }
            }
        }
        if let ExprKind::Call(_, arguments) = exprs.kind(expr) {
            let callee = match self.callee_of_call(expr) {
                Some(Callee::Instance(callable)) => Some(callable),
                _ => None,
            };
            for argument in exprs.items(arguments) {
                self.argument_name(callee.as_ref(), *argument);
            }
        }
    }

    /// Adds an occurrence of the input that an argument names.
    fn argument_name(&mut self, callee: Option<&Callable>, argument: ExprId) {
        let exprs = &self.file.tree.exprs;
        let (ExprKind::Named(name, _), Some(callee)) = (exprs.kind(argument), callee) else { return };
        let (Base::Node(node) | Base::Woven { node, .. }) = callee.base else { return };
        let program = self.collector.program;
        let text = self.file.names.text(name);
        let inputs = &program.node(node).slots;
        let symbol = match inputs.iter().position(|slot| written_name(&slot.name) == text) {
            Some(input) => Some(self.collector.streams[node.index()][input]),
            None => self.collector.defaulted_input(node, text),
        };
        if let Some(symbol) = symbol {
            self.collector.name(symbol, exprs.at(argument), Purpose::Use);
        }
    }

    fn callee_of_call(&self, expr: ExprId) -> Option<Callee> {
        let exprs = &self.file.tree.exprs;
        let (ExprKind::Variable(name) | ExprKind::Call(name, _)) = exprs.kind(expr) else { return None };
        match &self.file.references[expr.index()] {
            Reference::Call { callee, .. } => Some(callee.clone()),
            Reference::Composed(composed) => match &composed.callee {
                ComposedCallee::Known(callee) => Some(callee.clone()),
                ComposedCallee::Formal(_) | ComposedCallee::Let(_) => None,
            },
            _ => callee_of(self.file.names.text(name), &self.file.visible),
        }
    }

    /// Adds an occurrence of a called name; looks the name up if the call has errors.
    fn callee(&mut self, expr: ExprId, ident: Ident) {
        let facts = self.collector.known.of_expr(self.module, expr);
        let function = |name, doc| (SymbolKind::Function, name, doc);
        match self.callee_of_call(expr) {
            None if self.file.entities.contains_key(self.file.names.text(ident.name)) => {
                return self.global(ident);
            }
            None => {
                // A callable input, or a stream that is called, which is an error.
                self.stream(ident, Purpose::Use);
                return;
            }
            Some(Callee::Instance(callable)) => self.collector.callable(&callable, ident.span),
            Some(Callee::Applied(..)) => return self.global(ident),
            Some(Callee::Function(builtin)) => {
                self.collector.operation(function(builtin.name(), builtin.doc()), ident.span)
            }
            Some(Callee::Initialiser(initialiser)) => {
                self.collector.operation(function(initialiser.name(), initialiser.doc()), ident.span)
            }
            Some(Callee::AllSum) => self.collector.operation(function("all_sum", ALL_SUM), ident.span),
            Some(Callee::Param) => self.collector.operation(function("param", PARAM), ident.span),
        }
        .facts = facts;
    }
}

const ALL_SUM: &str = "in an optimiser, the sum over all parameters of its rule";
const PARAM: &str = "a parameter with this initial value, which training changes";
