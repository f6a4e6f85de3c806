//! A warning about `x + 0.0 fby y`.
//!
//! `fby` binds loosest, so this is `(x + 0.0) fby y`: the sum is the first value, and `x` is never read
//! again. In most cases `x + (0.0 fby y)` was intended. Both are valid programs, so the warning covers only
//! the suspicious form: the left side of `fby` has no parentheses and is an operator whose right operand is a
//! literal and whose left operand reads a stream.

use eddy_syntax::{Confidence, Diagnostic, Edit, SourceFile, Span};

use super::recover::shortened;
use crate::codes;
use crate::names::Names;
use crate::tree::{ExprId, ExprKind, Exprs, Program, UnaryOp};

/// The warnings about a file without errors.
pub(super) fn warnings(file: &SourceFile, program: &Program, names: &Names) -> Vec<Diagnostic> {
    let exprs = &program.exprs;
    let suspects = exprs.ids().filter_map(|id| match exprs.kind(id) {
        ExprKind::Fby(_, first, _) => match exprs.kind(first) {
            ExprKind::Binary(_, left, right) if is_literal(exprs, names, right) => {
                Some((id, first, left, right))
            }
            _ => None,
        },
        _ => None,
    });
    let suspects: Vec<_> = suspects.collect();
    if suspects.is_empty() {
        return Vec::new();
    }
    let reads = reads_stream(exprs, names);
    let wrong = suspects.into_iter().filter(|(_, _, left, _)| reads[left.index()]);
    wrong
        .map(|(fby, first, _, right)| {
            let delayed = Span::new(exprs.span(right).start, exprs.span(fby).end);
            let meant = format!("({})", file.slice(delayed));
            let whole = shortened(file.slice(exprs.span(first)));
            let title = format!("the first value of this `fby` is all of `{whole}`");
            let edit = Edit { span: delayed, replacement: meant.clone(), confidence: Confidence::Maybe };
            Diagnostic::warning(codes::FIRST_VALUE, exprs.span(first), title)
                .label("only the first cycle has this value")
                .reason("`fby` binds looser than operators; parentheses around its left side say that this is meant")
                .help_with_edit(format!("to delay first, write `{}`", shortened(&meant)), edit)
        })
        .collect()
}

/// A number, a truth value, or `zeros([3])`.
fn is_literal(exprs: &Exprs, names: &Names, expr: ExprId) -> bool {
    match exprs.kind(expr) {
        ExprKind::Number(_) | ExprKind::Bool(_) => true,
        ExprKind::Unary(UnaryOp::Negate, inner) => matches!(exprs.kind(inner), ExprKind::Number(_)),
        ExprKind::Call(name, _) => matches!(names.text(name), "zeros" | "ones"),
        _ => false,
    }
}

/// For each expression whether it contains a name or a call other than `zeros` and `ones`. The parts of an
/// expression precede it in the list of expressions, so one pass suffices.
fn reads_stream(exprs: &Exprs, names: &Names) -> Vec<bool> {
    let mut reads = vec![false; exprs.len()];
    for id in exprs.ids() {
        let is_stream = match exprs.kind(id) {
            ExprKind::Variable(_) => true,
            ExprKind::Call(name, _) => !matches!(names.text(name), "zeros" | "ones"),
            _ => false,
        };
        reads[id.index()] = is_stream || exprs.children(id).any(|part| reads[part.index()]);
    }
    reads
}
