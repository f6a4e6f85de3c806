//! What has no printed form (section 9.5, limits).

use eddy_syntax::{Diagnostic, Span};
use rustc_hash::FxHashSet;

use super::activity::Summary;
use super::link::calls;
use super::local::Typed;
use crate::codes;
use crate::program::{Base, Callable, NodeId, Program};

/// Nodes and `M_end` have one, if they instantiate nothing else that is synthesised.
pub(super) fn check(program: &Program, callable: &Callable) -> Result<(), Vec<Diagnostic>> {
    if !is_printable(callable) {
        return Err(vec![synthesised(program, callable, program.span_of(callable))]);
    }
    let root = program.origin(callable.base);
    let mut todo = vec![root];
    let mut seen: FxHashSet<NodeId> = FxHashSet::from_iter([root]);
    while let Some(node) = todo.pop() {
        let module = program.module_of(node);
        for (callable, expr) in calls(program, node) {
            if !is_printable(callable) {
                return Err(vec![synthesised(program, callable, module.tree.exprs.at(expr))]);
            }
            let origin = program.origin(callable.base);
            if seen.insert(origin) {
                todo.push(origin);
            }
        }
    }
    Ok(())
}

fn is_printable(callable: &Callable) -> bool {
    let is_printable = matches!(callable.base, Base::Node(_) | Base::Woven { cut: false, .. });
    is_printable && callable.modes.is_empty()
}

fn synthesised(program: &Program, callable: &Callable, span: Span) -> Diagnostic {
    let title = format!("`{}` is synthesised and has no source to differentiate", program.name_of(callable));
    Diagnostic::error(codes::NOT_PRINTED, span, title)
        .reason("`eddy diff` prints training code for nodes, and for `M_end`, whose source it writes first")
        .help("the synthesised node can be run: `eddy run FILE --node NAME`")
}

/// A derivative that the user wrote is called, so it must be there: the transpose of `tan_M` has no source.
pub(super) fn check_customs(typed: &Typed<'_>, summaries: &[Option<Summary>]) -> Result<(), Vec<Diagnostic>> {
    for (instance, summary) in summaries.iter().enumerate().skip(1) {
        let Some(custom) = summary.as_ref().and_then(|summary| summary.custom) else { continue };
        if custom.adjoint.is_none() && custom.tangent.is_some() {
            let name = &typed.node(instance).name;
            let title = format!(
                "the custom derivative of `{name}` is `tan_{name}` alone, whose transpose is synthesised and has no source"
            );
            let diagnostic = Diagnostic::error(codes::NOT_PRINTED, Span::default(), title)
                .help(format!("write `adj_{name}` too"));
            return Err(vec![diagnostic]);
        }
    }
    Ok(())
}
