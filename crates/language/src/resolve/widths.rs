//! Checks that equations name as many streams as their right sides have.

use eddy_syntax::Diagnostic;

use super::body::Body;
use super::refusals::without_outputs;
use crate::codes;
use crate::program::{Callee, Reference};
use crate::tree::{self, ExprId, ExprKind, Form};

/// The errors about an equation whose left side does not name as many streams as its right side has.
pub(super) fn check(body: &Body<'_>, equation: &tree::Equation) -> Vec<Diagnostic> {
    let exprs = &body.context.module.tree.exprs;
    let mut errors = Vec::new();
    let mut todo = vec![equation.value];
    // The number of outputs of a synthesised node depends on types: elaboration counts them.
    let mut n_streams = Some(0);
    while let Some(expr) = todo.pop() {
        let expr = exprs.without_parentheses(expr);
        match exprs.kind(expr) {
            ExprKind::Tuple(items) => todo.extend(exprs.items(items)),
            ExprKind::Error => return errors,
            ExprKind::Call(..) if matches!(body.reference(expr), Reference::Nothing) => return errors,
            _ => {
                check_parts_are_single(body, expr, &mut errors);
                let expr = called(body, expr);
                if matches!(exprs.kind(expr), ExprKind::Call(..))
                    && matches!(body.reference(expr), Reference::Nothing)
                {
                    return errors;
                }
                n_streams = n_streams.zip(streams_of(body, expr)).map(|(sum, n)| sum + n);
            }
        }
    }
    let Some(n_streams) = n_streams else { return errors };
    let n_names = equation.targets.len();
    if n_names != n_streams {
        let count = |n: usize| if n == 1 { "1 stream".to_string() } else { format!("{n} streams") };
        let title =
            format!("the left side names {}, but the right side has {}", count(n_names), count(n_streams));
        let names = equation.targets[0].span().to(equation.targets[n_names - 1].span());
        let diagnostic =
            Diagnostic::error(codes::WIDTH, exprs.at(equation.value), title).cause(names, count(n_names));
        errors.push(match n_streams {
            0 => without_outputs(diagnostic),
            _ if n_names < n_streams => diagnostic.help("write `_` for a stream that is not needed"),
            _ => diagnostic,
        });
    }
    errors
}

/// The call of a `reset`; for any other expression, the expression.
fn called(body: &Body<'_>, expr: ExprId) -> ExprId {
    let exprs = &body.context.module.tree.exprs;
    match exprs.kind(expr) {
        ExprKind::Form(form, parts) if *exprs.form(form) == Form::Reset => exprs.items(parts)[0],
        _ => expr,
    }
}

/// The number of streams of an expression; `None` if it is not known yet.
fn streams_of(body: &Body<'_>, expr: ExprId) -> Option<usize> {
    match body.reference(expr) {
        // The number of results of a function depends on types.
        Reference::Call { callee: Callee::Applied(..), .. } => None,
        _ => body.streams_of(expr),
    }
}

/// Reports each part of an expression that is not a single stream.
fn check_parts_are_single(body: &Body<'_>, root: ExprId, errors: &mut Vec<Diagnostic>) {
    let exprs = &body.context.module.tree.exprs;
    let mut todo: Vec<ExprId> = parts(body, root);
    while let Some(expr) = todo.pop() {
        let n_streams = match exprs.kind(expr) {
            ExprKind::Tuple(items) => items.len(),
            _ => streams_of(body, called(body, expr)).unwrap_or(1),
        };
        if n_streams != 1 {
            let title = format!("this place names one stream, but the expression has {n_streams}");
            let diagnostic = Diagnostic::error(codes::WIDTH, exprs.at(expr), title);
            errors.push(match n_streams {
                0 => without_outputs(diagnostic),
                _ => diagnostic.help("give its streams names in an equation of its own"),
            });
        }
        todo.extend(parts(body, expr));
    }
}

/// The parts of an expression that are streams of the node; the body of a fold has as many streams as its
/// state.
fn parts(body: &Body<'_>, expr: ExprId) -> Vec<ExprId> {
    let exprs = &body.context.module.tree.exprs;
    match body.reference(expr) {
        Reference::Composed(composed) if composed.copies.is_some() => Vec::new(),
        Reference::Composed(composed) => composed
            .arguments
            .iter()
            .map(|(_, argument)| *argument)
            .filter(|argument| !is_callable(body, *argument))
            .collect(),
        // The call of a `reset` may have several streams where the `reset` may.
        _ if called(body, expr) != expr => {
            let inner = parts(body, called(body, expr));
            inner.into_iter().chain(exprs.children(expr).skip(1)).collect()
        }
        _ => exprs.children(expr).collect(),
    }
}

/// Whether an argument is a callable, whose streams are not streams of the node.
fn is_callable(body: &Body<'_>, expr: ExprId) -> bool {
    matches!(body.reference(expr), Reference::Composed(composed) if composed.ordinal == 0 && composed.copies.is_none())
}
