//! Resolves calls, and nodes and functions that stand as arguments.

use std::sync::Arc;

use eddy_syntax::Span;

use super::arguments::{Misbound, Source};
use super::body::{Body, Context, Step};
use super::inputs::{Inputs, inputs_of};
use super::layers::Found;
use super::refusals;
use super::scope::callee_in;
use super::unknown::unknown_callee;
use crate::names::Name;
use crate::program::{Callee, Composed, ComposedCallee, Entity, Reference};
use crate::tree::{ExprId, ExprKind, ExprList, Form};

impl<'a> Body<'a> {
    /// The callee of this name; an unknown one is reported.
    fn callee(&mut self, name: Name, n_arguments: usize, span: Span) -> Option<ComposedCallee> {
        match self.find(name) {
            Some(Found::Let(number)) if self.layers.is_empty() => return Some(ComposedCallee::Let(number)),
            Some(Found::Let(_) | Found::Slot { is_callable: true, .. }) => {
                return Some(ComposedCallee::Formal(self.capture(name)));
            }
            Some(Found::Slot { is_callable: false, .. }) | None => {}
        }
        let Context { module, scope, .. } = self.context;
        let text = module.names.text(name);
        if let Some(callee) = callee_in(text, scope) {
            return Some(ComposedCallee::Known(callee));
        }
        if self.find(name).is_some() {
            let declared = self.slots.get(&name).map(|slot| &self.node.slots[slot.index()]);
            self.diagnostics.push(refusals::stream_used_as_callee(text, declared, span));
        } else if !scope.missing.contains(text) {
            // The search for suggestions visits all names, so it runs only if the error is kept.
            self.diagnostics.push_with(|| unknown_callee(text, n_arguments, span, scope));
        }
        None
    }

    pub fn inputs_of(&self, callee: &Callee) -> Inputs<'a> {
        inputs_of(self.context.nodes, self.context.parameters, callee)
    }

    /// The arguments of a call, each with its name if it has one.
    pub fn written(&self, arguments: ExprList) -> Vec<(Option<String>, ExprId)> {
        let module = self.context.module;
        let exprs = &module.tree.exprs;
        let argument = |argument: &ExprId| match exprs.kind(*argument) {
            ExprKind::Named(name, value) => (Some(module.names.text(name).to_string()), value),
            _ => (None, *argument),
        };
        exprs.items(arguments).iter().map(argument).collect()
    }

    pub fn call(&mut self, expr: ExprId, name: Name, arguments: ExprList, todo: &mut Vec<Step>) {
        let span = self.context.module.tree.exprs.at(expr);
        let written = self.written(arguments);
        let Some(callee) = self.callee(name, written.len(), span) else {
            todo.extend(written.into_iter().map(|(_, argument)| Step::Either(argument)));
            return;
        };
        let ComposedCallee::Known(known) = callee else {
            todo.extend(written.iter().map(|(_, argument)| Step::Either(*argument)));
            let ordinal = self.ordinal(name);
            return self.compose(expr, callee, ordinal, written);
        };
        let text = self.context.module.names.text(name);
        if let Some(refusal) = refusals::wrong_operands(text, &known, &written, span) {
            self.diagnostics.push(refusal);
            todo.extend(written.into_iter().map(|(_, argument)| Step::Value(argument)));
            return;
        }
        let inputs = self.inputs_of(&known);
        match inputs.bind(&written) {
            Ok(bound) if !bound.contains(&Source::Missing) || inputs.is_open => {
                visit_arguments(&inputs, &bound, &written, todo);
                let ordinal = self.ordinal(name);
                let is_plain = !inputs.has_callables()
                    && !bound.contains(&Source::Default)
                    && written.iter().all(|(name, _)| name.is_none());
                if is_plain {
                    return self.set(expr, Reference::Call { callee: known, ordinal, site: None });
                }
                self.compose(expr, ComposedCallee::Known(known), ordinal, written);
            }
            bound => {
                self.diagnostics.push(refusals::misbound(
                    &self.context,
                    text,
                    &known,
                    &inputs,
                    &bound,
                    &written,
                    span,
                ));
                todo.extend(written.into_iter().map(|(_, argument)| Step::Either(argument)));
            }
        }
    }

    fn compose(
        &mut self,
        expr: ExprId,
        callee: ComposedCallee,
        ordinal: u32,
        arguments: Vec<(Option<String>, ExprId)>,
    ) {
        let composed = Composed { callee, ordinal, arguments, copies: None };
        self.set(expr, Reference::Composed(Arc::new(composed)));
    }

    /// Whether an argument is a node or a function: the name of one, a lambda, or a call that leaves inputs
    /// open.
    pub fn is_callable(&self, expr: ExprId) -> bool {
        let Context { module, scope, .. } = self.context;
        let expr = module.tree.exprs.without_parentheses(expr);
        match module.tree.exprs.kind(expr) {
            ExprKind::Variable(name) => match self.find(name) {
                Some(Found::Slot { is_callable, .. }) => is_callable,
                Some(Found::Let(_)) => true,
                None => {
                    self.entity(name).is_none_or(|entity| matches!(entity, Entity::Function(_)))
                        && callee_in(module.names.text(name), scope).is_some()
                }
            },
            ExprKind::Call(name, arguments) => {
                self.find(name).is_none()
                    && callee_in(module.names.text(name), scope).is_some_and(|callee| {
                        let inputs = self.inputs_of(&callee);
                        inputs
                            .bind(&self.written(arguments))
                            .is_ok_and(|bound| bound.contains(&Source::Missing))
                    })
            }
            ExprKind::Form(form, _) => matches!(module.tree.exprs.form(form), Form::Lambda { .. }),
            _ => false,
        }
    }

    /// Resolves a callable: a name, a partial application or a lambda.
    pub fn callable(&mut self, written: ExprId, todo: &mut Vec<Step>) {
        let exprs = &self.context.module.tree.exprs;
        let (expr, span) = (exprs.without_parentheses(written), exprs.at(written));
        let (name, mut arguments) = match exprs.kind(expr) {
            ExprKind::Variable(name)
                if !matches!(self.find(name), Some(Found::Slot { is_callable: false, .. })) =>
            {
                (name, Vec::new())
            }
            ExprKind::Call(name, arguments) => (name, self.written(arguments)),
            ExprKind::Form(form, parts) if let Form::Lambda { params } = exprs.form(form) => {
                let parts = exprs.items(parts);
                self.lambda(written, params, parts[0], todo);
                return;
            }
            ExprKind::Error => return,
            _ => return self.diagnostics.push(refusals::not_callable(span)),
        };
        let text = self.context.module.names.text(name);
        let is_constant = self.find(name).is_none()
            && matches!(self.entity(name), Some(Entity::Constant(_) | Entity::Enumerator(..)));
        if is_constant {
            return self.diagnostics.push(refusals::not_callable(span));
        }
        let Some(callee) = self.callee(name, arguments.len(), span) else { return };
        if let ComposedCallee::Known(known) = &callee {
            let inputs = self.inputs_of(known);
            if self.is_rule {
                inputs.name_after_given(&mut arguments);
            }
            match inputs.bind(&arguments) {
                Ok(bound) if bound.contains(&Source::Missing) || arguments.is_empty() || inputs.is_open => {
                    visit_arguments(&inputs, &bound, &arguments, todo);
                }
                Ok(_) => return self.diagnostics.push(refusals::nothing_left(text, span)),
                Err(Misbound::TooMany) => return self.diagnostics.push(refusals::nothing_left(text, span)),
                bound => {
                    let refusal =
                        refusals::misbound(&self.context, text, known, &inputs, &bound, &arguments, span);
                    return self.diagnostics.push(refusal);
                }
            }
        } else {
            todo.extend(arguments.iter().map(|(_, argument)| Step::Either(*argument)));
        }
        self.compose(written, callee, 0, arguments);
    }
}

/// Schedules the arguments in the order of the text.
pub(super) fn visit_arguments(
    inputs: &Inputs<'_>,
    bound: &[Source],
    written: &[(Option<String>, ExprId)],
    todo: &mut Vec<Step>,
) {
    let mut is_callable = vec![false; written.len()];
    for (input, source) in bound.iter().enumerate() {
        if let Source::Argument(number) = source {
            is_callable[*number] = inputs.is_callable(input);
        }
    }
    let step = |((_, argument), is_callable): (&(Option<String>, ExprId), bool)| {
        if is_callable { Step::Callable(*argument) } else { Step::Value(*argument) }
    };
    todo.extend(written.iter().zip(is_callable).map(step));
}
