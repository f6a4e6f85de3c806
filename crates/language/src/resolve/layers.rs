//! The bodies of copies and lambdas, which become nodes of their own (composition.md, sections 1 and 3).
//!
//! ```text
//! o = [i < 3: k * x[i]];        node copy(i, k, x) -> (value)  value = k * x[i];
//!                               o = copy(0, k, x), copy(1, k, x), copy(2, k, x), stacked
//! ```
//!
//! A body binds names, which are its first inputs, and *captures* the names that it reads from around it,
//! which are its other inputs. Instances in the body of copies belong to the node around it: their numbers
//! count on, and the index of the copy is added to them. A lambda is a node like any other.

use std::sync::Arc;

use eddy_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::body::{Body, Step};
use super::refusals;
use crate::codes;
use crate::names::Name;
use crate::program::{
    Callable, Callee, Composed, ComposedCallee, Copies, Equation, Made, Node, Reference, Role, Slot, SlotId,
};
use crate::tree::{
    Binders, Control, ExprId, ExprKind, Form, Ident, LambdaParam, LoopKind, PatternKind, Reduction,
};

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Slot {
        slot: SlotId,
        is_callable: bool,
    },
    /// A `let` of the node.
    Let(usize),
}

/// The body of copies or of a lambda.
#[derive(Default)]
pub(super) struct Layer {
    names: FxHashMap<Name, SlotId>,
    /// Its inputs: those that it binds, then those that it captures.
    slots: Vec<Slot>,
    /// What it captures, as named in the layer around it.
    captured: Vec<(Name, Found)>,
    /// The number of calls of each name so far, for a lambda.
    pub ordinals: Option<FxHashMap<Name, u32>>,
}

/// The end of a body.
pub(super) struct Closing {
    pub kind: ClosingKind,
    /// The expression that is the body; `None` for the copy that was closed last.
    pub value: Option<ExprId>,
    /// The expression that stands for the whole.
    pub whole: ExprId,
    /// Whether it is only a part of that expression: an inner range.
    pub is_inner: bool,
}

pub(super) enum ClosingKind {
    Lambda,
    /// With the number of copies.
    Copies {
        bound: ExprId,
        reduction: Option<Reduction>,
    },
    Fold {
        bound: ExprId,
        first: ExprId,
        n_streams: usize,
    },
}

impl Body<'_> {
    pub(super) fn find(&self, name: Name) -> Option<Found> {
        for layer in self.layers.iter().rev() {
            if let Some(slot) = layer.names.get(&name) {
                return Some(Found::Slot { slot: *slot, is_callable: layer.slots[slot.index()].is_callable });
            }
        }
        if let Some(slot) = self.slots.get(&name) {
            let is_callable = self.node.slots[slot.index()].is_callable;
            return Some(Found::Slot { slot: *slot, is_callable });
        }
        let text = self.context.module.names.text(name);
        self.node.lets.iter().position(|item| item.name == text).map(Found::Let)
    }

    /// The stream of this name in the innermost body; bodies between it and its declaration capture it.
    pub(super) fn capture(&mut self, name: Name) -> SlotId {
        let level = self.layers.iter().rposition(|layer| layer.names.contains_key(&name));
        let mut found = match level {
            Some(level) => {
                let slot = self.layers[level].names[&name];
                let is_callable = self.layers[level].slots[slot.index()].is_callable;
                Found::Slot { slot, is_callable }
            }
            None => self.find(name).expect("only names that were found are captured"),
        };
        let text = self.context.module.names.text(name).to_string();
        for layer in &mut self.layers[level.map_or(0, |level| level + 1)..] {
            let slot = SlotId::new(layer.slots.len());
            let is_callable = !matches!(found, Found::Slot { is_callable: false, .. });
            layer.slots.push(Slot { is_callable, ..Slot::new(text.clone(), self.node.span, Role::Input) });
            layer.captured.push((name, found));
            layer.names.insert(name, slot);
            found = Found::Slot { slot, is_callable };
        }
        match found {
            Found::Slot { slot, .. } => slot,
            Found::Let(_) => unreachable!("outside of copies, a `let` has no stream"),
        }
    }

    /// Begins the body of copies or of a lambda.
    pub(super) fn open(&mut self, binders: &[Ident], is_lambda: bool) {
        let mut layer = Layer { ordinals: is_lambda.then(FxHashMap::default), ..Layer::default() };
        for ident in binders {
            let slot = SlotId::new(layer.slots.len());
            let text = self.context.module.names.text(ident.name).to_string();
            layer.slots.push(Slot::new(text.clone(), ident.span, Role::Input));
            if layer.names.insert(ident.name, slot).is_some() {
                let title = format!("`{text}` is defined twice");
                self.diagnostics.push(Diagnostic::error(codes::DEFINED_TWICE, ident.span, title));
            }
        }
        self.layers.push(layer);
    }

    /// Ends the innermost body: makes its node, and the call that takes its place.
    pub(super) fn close(&mut self, closing: Closing) {
        let Closing { kind, value, whole, is_inner } = closing;
        let layer = self.layers.pop().expect("each body is closed once");
        let value = value.or(self.last_copy.take()).expect("an inner range was closed before");
        let span = self.context.module.tree.exprs.at(whole);
        let n_outputs = match kind {
            ClosingKind::Fold { n_streams, .. } => n_streams,
            _ => 1,
        };
        let made = if matches!(kind, ClosingKind::Lambda) { Made::Composed } else { Made::Copied };
        let callee = self.make_node(layer.slots, value, n_outputs, made, span);
        let captured: Vec<ExprId> =
            layer.captured.iter().map(|(name, found)| self.read(*name, *found, span)).collect();
        let (copies, own) = match &kind {
            ClosingKind::Lambda => (None, Vec::new()),
            ClosingKind::Copies { bound, reduction: Some(Reduction::Concat) } => {
                (Some(Copies::Concat), vec![*bound])
            }
            ClosingKind::Copies { bound, reduction } => (Some(Copies::Stack(*reduction)), vec![*bound]),
            ClosingKind::Fold { bound, first, n_streams } => {
                (Some(Copies::Fold { n_streams: *n_streams }), vec![*bound, *first])
            }
        };
        // The captured inputs of a lambda are given by name, so that those that it binds are left.
        let nodes = &self.made[callee.index() - self.context.nodes.len()];
        let n_bound = nodes.n_inputs - captured.len();
        let names: Vec<String> =
            nodes.slots[n_bound..nodes.n_inputs].iter().map(|slot| slot.name.clone()).collect();
        let named = |(argument, name): (ExprId, String)| (copies.is_none().then_some(name), argument);
        let arguments = own.into_iter().map(|argument| (None, argument));
        let arguments = arguments.chain(captured.into_iter().zip(names).map(named)).collect();
        let callee = ComposedCallee::Known(Callee::Instance(Callable::from(callee)));
        let reference = Reference::Composed(Arc::new(Composed { callee, ordinal: 0, arguments, copies }));
        if is_inner {
            let kind = self.context.module.tree.exprs.kind(whole);
            self.last_copy = Some(self.resolved.add(kind, span, reference));
        } else {
            self.resolved.references[whole.index()] = reference;
        }
    }

    fn make_node(
        &mut self,
        mut slots: Vec<Slot>,
        value: ExprId,
        n_outputs: usize,
        made: Made,
        span: Span,
    ) -> crate::program::NodeId {
        let id = self.next_node();
        let n_inputs = slots.len();
        let outputs: Vec<SlotId> = (0..n_outputs).map(|output| SlotId::new(n_inputs + output)).collect();
        slots.extend((0..n_outputs).map(|output| Slot::new(format!("value.{output}"), span, Role::Output)));
        let targets = outputs.iter().copied().map(Some).collect();
        self.made.push(Node {
            module: self.node.module,
            item: self.node.item,
            name: if made == Made::Copied { "copy".to_string() } else { "lambda".to_string() },
            span,
            doc: None,
            slots,
            n_inputs,
            outputs,
            equations: vec![Equation { targets, value, is_broken: false }],
            is_expanded: true,
            bundles: Vec::new(),
            is_static: Vec::new(),
            is_broken: false,
            lets: Vec::new(),
            made,
            is_template: false,
        });
        id
    }

    /// An expression for a captured name, in the body around it.
    fn read(&mut self, name: Name, found: Found, span: Span) -> ExprId {
        let callable = |callee| {
            let composed = Composed { callee, ordinal: 0, arguments: Vec::new(), copies: None };
            Reference::Composed(Arc::new(composed))
        };
        let reference = match found {
            Found::Slot { slot, is_callable: false } => Reference::Slot(slot),
            Found::Slot { slot, .. } => callable(ComposedCallee::Formal(slot)),
            Found::Let(number) => callable(ComposedCallee::Let(number)),
        };
        self.resolved.add(ExprKind::Variable(name), span, reference)
    }

    /// Copies, reductions and folds.
    pub(super) fn copies(&mut self, expr: ExprId, form: &Form, parts: &[ExprId], todo: &mut Vec<Step>) {
        let (binders, reduction) = match form {
            Form::Comprehension(binders) => (binders, None),
            Form::Reduction { kind, binders } => (binders, Some(*kind)),
            Form::Loop { kind: LoopKind::Fold, control: Control::For(binders), .. } => (binders, None),
            _ => {
                let span = self.context.module.tree.exprs.at(expr);
                return self.diagnostics.push(refusals::loop_in_node(span));
            }
        };
        if let Some(refusal) = self.refused_range(expr, binders, form) {
            return self.diagnostics.push(refusal);
        }
        if let Form::Loop { state, .. } = form {
            return self.fold(expr, *state, binders, parts, todo);
        }
        let (element, bounds) = parts.split_last().expect("copies have a body");
        for (binder, bound) in binders.binders.iter().zip(bounds) {
            todo.push(Step::Value(*bound));
            todo.push(Step::Open(vec![binder.ident], false));
        }
        todo.push(Step::Value(*element));
        for (number, bound) in bounds.iter().enumerate().rev() {
            todo.push(Step::Close(Closing {
                kind: ClosingKind::Copies { bound: *bound, reduction },
                value: (number + 1 == bounds.len()).then_some(*element),
                whole: expr,
                is_inner: number > 0,
            }));
        }
    }

    /// The error about a range that nodes do not have: `lo <= i < n`, or a filter.
    fn refused_range(&self, expr: ExprId, binders: &Binders, form: &Form) -> Option<Diagnostic> {
        let is_fold_of_many = matches!(form, Form::Loop { .. }) && binders.binders.len() > 1;
        let is_plain = !binders.has_filter && binders.binders.iter().all(|binder| !binder.has_lower);
        let span = self.context.module.tree.exprs.at(expr);
        if is_fold_of_many {
            return Some(refusals::range(span, "a `fold` of a node has one range"));
        }
        (!is_plain).then(|| refusals::range(span, "copies are counted from 0: a range is `i < n`"))
    }

    /// `fold h = z for i < n do e`.
    fn fold(
        &mut self,
        expr: ExprId,
        state: crate::tree::PatternId,
        binders: &Binders,
        parts: &[ExprId],
        todo: &mut Vec<Step>,
    ) {
        let &[first, bound, body] = parts else { unreachable!("a fold has a start, a range and a body") };
        let written = &self.context.module.tree.written;
        let mut bound_names = vec![binders.binders[0].ident];
        match written.pattern(state) {
            PatternKind::Name(ident) => bound_names.push(*ident),
            PatternKind::Tuple(patterns) => {
                for pattern in patterns {
                    match written.pattern(*pattern) {
                        PatternKind::Name(ident) => bound_names.push(*ident),
                        _ => return self.diagnostics.push(refusals::pattern(written.pattern_span(*pattern))),
                    }
                }
            }
            _ => return self.diagnostics.push(refusals::pattern(written.pattern_span(state))),
        }
        let n_streams = bound_names.len() - 1;
        todo.push(Step::Value(first));
        todo.push(Step::Value(bound));
        todo.push(Step::Open(bound_names, false));
        todo.push(Step::Value(body));
        todo.push(Step::Close(Closing {
            kind: ClosingKind::Fold { bound, first, n_streams },
            value: Some(body),
            whole: expr,
            is_inner: false,
        }));
    }

    /// `\x, y. e` as a callable.
    pub(super) fn lambda(
        &mut self,
        whole: ExprId,
        params: &[LambdaParam],
        body: ExprId,
        todo: &mut Vec<Step>,
    ) {
        let written = &self.context.module.tree.written;
        let mut bound_names = Vec::new();
        for param in params {
            match written.pattern(param.pattern) {
                PatternKind::Name(ident) => bound_names.push(*ident),
                _ => {
                    return self.diagnostics.push(refusals::pattern(written.pattern_span(param.pattern)));
                }
            }
        }
        todo.push(Step::Open(bound_names, true));
        todo.push(Step::Value(body));
        let kind = ClosingKind::Lambda;
        todo.push(Step::Close(Closing { kind, value: Some(body), whole, is_inner: false }));
    }
}
