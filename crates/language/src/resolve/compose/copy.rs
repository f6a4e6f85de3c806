//! Copies expressions that read no streams from one file to another: defaults of inputs.

use eddy_syntax::Diagnostic;

use crate::codes;
use crate::program::{Callee, Program, Reference, SlotId};
use crate::static_value::postorder;
use crate::tree::{ExprId, ExprKind, Number, UnaryOp};

/// Copies an expression into a file. `stands_for` gives the expression in that file for each stream that it
/// reads: an input of the callee.
pub fn copied(
    program: &mut Program,
    (from, root): (usize, ExprId),
    to: usize,
    stands_for: &mut dyn FnMut(&mut Program, SlotId) -> Option<ExprId>,
) -> Option<ExprId> {
    let order = postorder(&program.modules[from].tree.exprs, root);
    let mut made: rustc_hash::FxHashMap<ExprId, ExprId> = rustc_hash::FxHashMap::default();
    for expr in order {
        let module = &program.modules[from];
        let exprs = &module.tree.exprs;
        let (kind, span, at) = (exprs.kind(expr), exprs.span(expr), exprs.at(expr));
        let reference = module.references[expr.index()].clone();
        if let Reference::Slot(slot) = reference {
            let expr_there = stands_for(program, slot)?;
            made.insert(expr, expr_there);
            continue;
        }
        let text = |name| module.names.text(name).to_string();
        let items: Vec<ExprId> = exprs.children(expr).map(|child| made[&child]).collect();
        let name = match kind {
            ExprKind::Variable(name) | ExprKind::Call(name, _) => Some(text(name)),
            ExprKind::Number(number) => Some(text(number.text)),
            _ => None,
        };
        let there = &mut program.modules[to];
        let name = name.map(|name| there.names.intern(&name));
        let list = |items: &[ExprId], there: &mut crate::program::Module| {
            there.tree.exprs.list(items.iter().copied())
        };
        let kind = match (kind, name, &items[..]) {
            (ExprKind::Number(number), Some(text), _) => ExprKind::Number(Number { text, ..number }),
            (ExprKind::Variable(_), Some(name), _) => ExprKind::Variable(name),
            (ExprKind::Call(..), Some(name), items) => ExprKind::Call(name, list(items, there)),
            (ExprKind::List(_), _, items) => ExprKind::List(list(items, there)),
            (ExprKind::Group(_), _, [inner]) => ExprKind::Group(*inner),
            (ExprKind::Unary(op, _), _, [inner]) => ExprKind::Unary(op, *inner),
            (ExprKind::Binary(op, ..), _, [left, right]) => ExprKind::Binary(op, *left, *right),
            (ExprKind::Index(..), _, [value, index]) => ExprKind::Index(*value, *index),
            (kind, ..) => kind,
        };
        let new = there.add(kind, span, at, reference);
        made.insert(expr, new);
    }
    made.get(&root).copied()
}

/// Whether all names of an expression are known; those that are not were reported.
pub fn is_resolved(program: &Program, module: usize, root: ExprId) -> bool {
    let module = &program.modules[module];
    let exprs = &module.tree.exprs;
    let is_unknown = |expr: &ExprId| {
        let is_name =
            matches!(exprs.kind(*expr), ExprKind::Variable(_) | ExprKind::Call(..) | ExprKind::Error);
        is_name && matches!(module.references[expr.index()], Reference::Nothing)
    };
    !postorder(exprs, root).iter().any(is_unknown)
}

/// The error about a default that is not a constant.
pub fn refused_default(
    program: &Program,
    module: usize,
    root: ExprId,
    n_inputs: usize,
) -> Option<Diagnostic> {
    let module = &program.modules[module];
    let exprs = &module.tree.exprs;
    let is_allowed = |expr: ExprId| match (exprs.kind(expr), &module.references[expr.index()]) {
        (_, Reference::Slot(slot)) => slot.index() < n_inputs,
        (ExprKind::Call(..), Reference::Call { callee: Callee::Initialiser(initialiser), .. }) => {
            matches!(initialiser.name(), "zeros" | "ones")
        }
        (ExprKind::Variable(_), Reference::Constant(_) | Reference::Enumerator(..)) => true,
        (
            ExprKind::Number(_)
            | ExprKind::Bool(_)
            | ExprKind::Group(_)
            | ExprKind::List(_)
            | ExprKind::Index(..)
            | ExprKind::Error
            | ExprKind::Unary(UnaryOp::Negate | UnaryOp::Not, _)
            | ExprKind::Binary(..),
            _,
        ) => true,
        // What is unknown was reported.
        (ExprKind::Variable(_) | ExprKind::Call(..), Reference::Nothing) => true,
        _ => false,
    };
    let refused = postorder(exprs, root).into_iter().find(|expr| !is_allowed(*expr))?;
    let diagnostic =
        Diagnostic::error(codes::COMPILE_TIME, exprs.at(refused), "the default of an input is a constant");
    Some(diagnostic.reason(
        "numbers, constants, `zeros` and `ones`, static inputs of the same node, nodes and functions",
    ))
}
