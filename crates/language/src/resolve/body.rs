//! Resolves the names in the equations of a node.
//!
//! The body of copies, `[i < n: e]`, and a lambda become nodes of their own, whose inputs are the names that
//! they bind and the streams that they read ([`layers`](super::layers)). A call that needs composition (an
//! argument with a name, an input with a default, a `let`, a node as argument) is kept as it is written;
//! [`compose`](super::compose) expands it.

use std::sync::Arc;

use eddy_syntax::{Diagnostic, Diagnostics, Span};
use rustc_hash::FxHashMap;

use super::application::visit_arguments;
use super::arguments::{Misbound, Source};
use super::layers::{Closing, Found, Layer};
use super::node::slots_by_name;
use super::scope::{Scope, callee_in};
use super::unknown::unknown_variable;
use super::{refusals, widths};
use crate::codes;
use crate::names::Name;
use crate::program::{
    Base, Callable, Callee, Composed, ComposedCallee, Copies, Declared, Entity, Let, Module, Node, NodeId,
    Reference, SlotId, TypeDefId,
};
use crate::tree::{self, ExprId, ExprKind, Form, Ident, Index, RowValue};

/// The declarations around a node.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub module: &'a Module,
    pub scope: &'a Scope,
    pub nodes: &'a [Node],
    pub modules: &'a [Module],
    /// The types of all files.
    pub types: &'a [Declared],
    /// The names of the parameters of each function.
    pub parameters: &'a [Vec<String>],
}

impl Context<'_> {
    /// The names of an enumeration, in order.
    pub fn enumerators(&self, of: TypeDefId) -> Vec<&str> {
        let Declared { module, item } = self.types[of.index()];
        let module = &self.modules[module];
        match &module.tree.items[item] {
            tree::Item::Type(tree::TypeDef {
                definition: tree::Definition::Enumeration(cases, _), ..
            }) => cases.iter().map(|case| module.names.text(case.name)).collect(),
            _ => Vec::new(),
        }
    }
}

/// The references of a file, and the expressions that resolution adds to it.
pub(super) struct Resolved {
    pub references: Vec<Reference>,
    added: Vec<(ExprKind, Span, Reference)>,
}

impl Resolved {
    pub fn of(module: &Module) -> Resolved {
        Resolved { references: vec![Reference::Nothing; module.tree.exprs.len()], added: Vec::new() }
    }

    pub fn add(&mut self, kind: ExprKind, span: Span, reference: Reference) -> ExprId {
        self.added.push((kind, span, reference));
        ExprId::new(self.references.len() + self.added.len() - 1)
    }

    pub fn complete(self, module: &mut Module) {
        module.references = self.references;
        for (kind, span, reference) in self.added {
            module.add(kind, span, span, reference);
        }
    }
}

/// The inputs of an optimiser that `train` supplies: the initial value, the step and the gradient.
const N_GIVEN: usize = 3;

/// A step of resolution; the top of the stack is next.
pub(super) enum Step {
    /// Resolve a stream.
    Value(ExprId),
    /// Resolve an argument that must be a node or a function.
    Callable(ExprId),
    /// Resolve an argument for an input that is not known yet.
    Either(ExprId),
    /// Begin the body of copies or of a lambda, which binds these names.
    Open(Vec<Ident>, bool),
    /// End the innermost of them.
    Close(Closing),
}

pub(super) struct Body<'a> {
    pub context: Context<'a>,
    pub node: &'a Node,
    pub slots: FxHashMap<Name, SlotId>,
    /// The bodies of copies and the lambdas around the current expression, outermost first.
    pub layers: Vec<Layer>,
    /// The number of calls of each name so far.
    pub ordinals: FxHashMap<Name, u32>,
    pub resolved: &'a mut Resolved,
    /// The nodes made from copies and lambdas. Their numbers follow those of the written nodes.
    pub made: &'a mut Vec<Node>,
    pub diagnostics: &'a mut Diagnostics,
    /// The last copy whose body was closed.
    pub last_copy: Option<ExprId>,
    /// Whether these are the arguments of an optimiser.
    pub is_rule: bool,
}

impl<'a> Body<'a> {
    pub fn new(
        context: Context<'a>,
        node: &'a Node,
        resolved: &'a mut Resolved,
        made: &'a mut Vec<Node>,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        let slots = slots_by_name(node, context.module);
        let (layers, ordinals) = (Vec::new(), FxHashMap::default());
        Body {
            context,
            node,
            slots,
            layers,
            ordinals,
            resolved,
            made,
            diagnostics,
            last_copy: None,
            is_rule: false,
        }
    }

    /// Returns the indices of equations with errors, which are reported.
    pub fn resolve(mut self) -> Vec<usize> {
        let node = self.node;
        let tree = self.context.module.node_tree(node.item);
        let annotations = node.slots.iter().flat_map(|slot| &slot.annotations);
        let type_names = node.slots.iter().flat_map(|slot| &slot.type_names);
        let sizes = type_names.filter_map(|name| name.sizes);
        for dims in annotations.filter_map(|annotation| annotation.dims).chain(sizes) {
            for dim in self.context.module.tree.exprs.items(dims) {
                self.expression(Step::Value(*dim));
            }
        }
        for slot in node.inputs() {
            if let Some(default) = slot.default {
                let is_callable = slot.is_callable;
                self.expression(if is_callable { Step::Callable(default) } else { Step::Value(default) });
            }
        }
        let mut broken = Vec::new();
        let mut lets = node.lets.iter().peekable();
        for (number, (equation, tree)) in node.equations.iter().zip(&tree.equations).enumerate() {
            while let Some(item) = lets.next_if(|item| item.at <= number) {
                self.item(item);
            }
            let n_before = self.diagnostics.n_added();
            self.expression(Step::Value(equation.value));
            self.diagnostics.extend(widths::check(&self, tree));
            if self.diagnostics.n_added() > n_before {
                broken.push(number);
            }
        }
        for item in lets {
            self.item(item);
        }
        if node.name == "param" {
            self.check_param_is_identity(node);
        }
        broken
    }

    /// Resolves the value of a `let`.
    fn item(&mut self, item: &Let) {
        if self.is_stream(item.value) {
            let span = self.context.module.tree.exprs.at(item.value);
            return self.diagnostics.push(refusals::let_of_stream(span, &item.name));
        }
        self.expression(Step::Callable(item.value));
    }

    /// Whether the value of a `let` can only be a stream.
    fn is_stream(&self, value: ExprId) -> bool {
        let exprs = &self.context.module.tree.exprs;
        match exprs.kind(exprs.without_parentheses(value)) {
            ExprKind::Variable(name) => {
                matches!(self.find(name), Some(Found::Slot { is_callable: false, .. }))
            }
            ExprKind::Call(..) | ExprKind::Error => false,
            ExprKind::Form(form, _) => !matches!(exprs.form(form), Form::Lambda { .. }),
            _ => true,
        }
    }

    /// Resolves the call of an optimiser, `O(init, step, g, args)`; `None` if it has an error.
    pub fn rule(mut self, rule: &tree::Rule) -> Option<ExprId> {
        let module = self.context.module;
        let (name, span) = (rule.optimiser.name, rule.optimiser.span);
        // An unknown optimiser is reported with the `train`.
        let Some(Base::Node(node)) = self.context.scope.nodes.get(module.names.text(name)) else {
            return None;
        };
        let known = Callee::Instance(Callable::from(*node));
        let given = (0..N_GIVEN).map(|slot| {
            let reference = Reference::Slot(SlotId::new(slot));
            (None, self.resolved.add(ExprKind::Variable(name), span, reference))
        });
        let mut arguments: Vec<(Option<String>, ExprId)> = given.collect();
        arguments.extend(self.written(rule.arguments));
        let n_before = self.diagnostics.n_added();
        let inputs = self.inputs_of(&known);
        let steps = match inputs.bind(&arguments) {
            Ok(bound) if !bound.contains(&Source::Missing) => {
                let mut steps = Vec::new();
                visit_arguments(&inputs, &bound, &arguments, &mut steps);
                steps.split_off(N_GIVEN)
            }
            bound @ Err(Misbound::NoInput(_) | Misbound::GivenTwice(_)) => {
                let text = module.names.text(name);
                let refusal =
                    refusals::misbound(&self.context, text, &known, &inputs, &bound, &arguments, span);
                self.diagnostics.push(refusal);
                return None;
            }
            // The number of arguments is reported with the `train`.
            _ => return None,
        };
        self.is_rule = true;
        for step in steps {
            self.expression(step);
        }
        if self.diagnostics.n_added() > n_before {
            return None;
        }
        let callee = ComposedCallee::Known(known);
        let composed = Composed { callee, ordinal: 1, arguments, copies: None };
        Some(self.resolved.add(ExprKind::Variable(name), span, Reference::Composed(Arc::new(composed))))
    }

    /// Resolves the rows of a test bench that are nodes or functions.
    pub fn bench(mut self, run: &tree::Run) {
        let module = self.context.module;
        let name = module.names.text(run.node.name);
        let Some(Callee::Instance(Callable { base: Base::Node(node) | Base::Woven { node, .. }, .. })) =
            callee_in(name, self.context.scope)
        else {
            return;
        };
        let Some(node) = self.context.nodes.get(node.index()) else { return };
        for row in &run.rows {
            let name = module.names.text(row.ident.name);
            let is_callable = node.callable_inputs().any(|slot| slot.name == name);
            if let (true, RowValue::Constant(value)) = (is_callable, &row.value) {
                self.expression(Step::Callable(*value));
            }
        }
    }

    pub fn reference(&self, expr: ExprId) -> &Reference {
        &self.resolved.references[expr.index()]
    }

    pub fn set(&mut self, expr: ExprId, reference: Reference) {
        self.resolved.references[expr.index()] = reference;
    }

    /// Resolves an expression and all its parts, in the order of the text.
    fn expression(&mut self, first: Step) {
        let mut todo = vec![first];
        while let Some(step) = todo.pop() {
            let parts = todo.len();
            match step {
                Step::Value(expr) => self.value(expr, &mut todo),
                Step::Callable(expr) => self.callable(expr, &mut todo),
                Step::Either(expr) if self.is_callable(expr) => todo.push(Step::Callable(expr)),
                Step::Either(expr) => todo.push(Step::Value(expr)),
                Step::Open(binders, is_lambda) => self.open(&binders, is_lambda),
                Step::Close(closing) => self.close(closing),
            }
            todo[parts..].reverse();
        }
    }

    fn value(&mut self, expr: ExprId, todo: &mut Vec<Step>) {
        let exprs = &self.context.module.tree.exprs;
        match exprs.kind(expr) {
            ExprKind::Variable(name) => self.variable(expr, name),
            ExprKind::Call(name, arguments) => self.call(expr, name, arguments, todo),
            ExprKind::Form(form, parts) => {
                let parts = exprs.items(parts);
                match exprs.form(form) {
                    Form::Comprehension(_) | Form::Reduction { .. } | Form::Loop { .. } => {
                        self.copies(expr, exprs.form(form), parts, todo);
                    }
                    Form::Place(indices)
                        if indices.len() > 1 && indices.iter().any(|index| *index != Index::At) =>
                    {
                        self.diagnostics.push(refusals::several_ranges(exprs.at(expr)));
                    }
                    Form::Last(ident) => {
                        let name = self.context.module.names.text(ident.name);
                        self.diagnostics.push(refusals::last_outside(exprs.at(expr), name));
                    }
                    Form::WhenIs(_) | Form::Merge(_) => {
                        if self.check_constructors(exprs.form(form), exprs.at(expr)) {
                            todo.extend(parts.iter().map(|part| Step::Value(*part)));
                        }
                    }
                    Form::Lambda { .. } => {
                        let title = "a function stands where a stream is needed";
                        let diagnostic = Diagnostic::error(codes::TYPE, exprs.at(expr), title)
                            .help("give it a name, `let f = \\x. …;`, and call it: `f(x)`");
                        self.diagnostics.push(diagnostic);
                    }
                    _ => todo.extend(parts.iter().map(|part| Step::Value(*part))),
                }
            }
            _ => todo.extend(exprs.children(expr).map(Step::Value)),
        }
    }

    fn variable(&mut self, expr: ExprId, name: Name) {
        match self.find(name) {
            Some(Found::Slot { is_callable: false, .. }) => {
                let slot = self.capture(name);
                self.set(expr, Reference::Slot(slot));
            }
            None if let Some(Entity::Constant(constant)) = self.entity(name) => {
                self.set(expr, Reference::Constant(constant));
            }
            None if let Some(Entity::Enumerator(of, number)) = self.entity(name) => {
                self.set(expr, Reference::Enumerator(of, number));
            }
            found => {
                let ident = Ident { name, span: self.context.module.tree.exprs.at(expr) };
                let Context { module, scope, nodes, .. } = self.context;
                let slots = &self.slots;
                self.diagnostics.push_with(|| {
                    let diagnostic = unknown_variable(module, ident, slots);
                    if found.is_some() {
                        return refusals::callable_used_as_stream(diagnostic, module.names.text(name));
                    }
                    match callee_in(module.names.text(name), scope) {
                        Some(callee) => refusals::callee_used_as_stream(&callee, diagnostic, nodes),
                        None => diagnostic,
                    }
                });
            }
        }
    }

    pub fn entity(&self, name: Name) -> Option<Entity> {
        self.context.scope.entities.get(self.context.module.names.text(name)).copied()
    }

    /// The number of this call among those of the same name.
    pub fn ordinal(&mut self, name: Name) -> u32 {
        let lambda = self.layers.iter_mut().rev().find_map(|layer| layer.ordinals.as_mut());
        let ordinal = lambda.unwrap_or(&mut self.ordinals).entry(name).or_insert(0);
        *ordinal += 1;
        *ordinal
    }

    /// Reports a definition of the primitive `param` other than the identity, which `param` is outside of
    /// training.
    fn check_param_is_identity(&mut self, node: &Node) {
        let is_identity = match (node.n_inputs, node.outputs.as_slice(), node.equations.as_slice()) {
            (1, [output], [equation]) => {
                let value = self.context.module.tree.exprs.without_parentheses(equation.value);
                equation.targets == [Some(*output)]
                    && matches!(self.reference(value), Reference::Slot(slot) if *slot == SlotId::new(0))
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

    /// The number of the next node that is made.
    pub fn next_node(&self) -> NodeId {
        NodeId::new(self.context.nodes.len() + self.made.len())
    }

    /// The number of streams of an expression; `None` if it is not known yet.
    pub fn streams_of(&self, expr: ExprId) -> Option<usize> {
        let module = self.context.module;
        let outputs = |callee: &Callee| match callee {
            Callee::Instance(Callable { base: Base::Node(node) | Base::Woven { node, .. }, modes })
                if modes.is_empty() =>
            {
                Some(match self.context.nodes.get(node.index()) {
                    Some(node) => node.outputs.len(),
                    None => self.made[node.index() - self.context.nodes.len()].outputs.len(),
                })
            }
            Callee::Instance(_) | Callee::Applied(..) => None,
            _ => Some(1),
        };
        match self.reference(expr) {
            Reference::Call { callee, .. } => outputs(callee),
            Reference::Composed(composed) => match (&composed.copies, &composed.callee) {
                (Some(Copies::Fold { n_streams }), _) => Some(*n_streams),
                (Some(_), _) => Some(1),
                (None, ComposedCallee::Known(callee)) => outputs(callee),
                (None, _) => None,
            },
            Reference::Nothing if matches!(module.tree.exprs.kind(expr), ExprKind::Call(..)) => None,
            _ => Some(1),
        }
    }
}
