//! What is said about streams that wait for themselves.

use eddy_syntax::Diagnostic;

use crate::codes;

/// A cycle is shown by at most so many of its streams: no reader follows a longer one, and the page would be as long as the
/// program.
const MAX_SHOWN: usize = 12;

use crate::flow::{Flow, Labels, VarId, in_instance};

/// A stream needs its own value at the same cycle.
pub(super) fn instantaneous(flow: &Flow, labels: &Labels<'_>, cycle: &[VarId]) -> Diagnostic {
    let names = names(flow, labels, cycle);
    let title = format!("causality error: instantaneous cycle through {}", shown(&names));
    on_cycle(flow, labels, cycle, title)
        .reason(format!("each waits for the next at the same cycle: {}", path(labels, cycle)))
        .help("put a delay on the cycle, such as `0.0 fby …`, so that it reads a value of the past")
}

/// A stream needs its own future, without end.
pub(super) fn infinite_future(flow: &Flow, labels: &Labels<'_>, cycle: &[VarId]) -> Diagnostic {
    let names = shown(&names(flow, labels, cycle));
    let title = format!(
        "causality error: {names} depends on the infinite future (a post cycle that no merge or if breaks)"
    );
    on_cycle(flow, labels, cycle, title)
        .reason(format!("each cycle waits for a later one: {}", path(labels, cycle)))
        .help("break the chain where a condition says so: `merge c (… when c) ((post …) when not c)`")
}

fn on_cycle(flow: &Flow, labels: &Labels<'_>, cycle: &[VarId], title: String) -> Diagnostic {
    let definitions = flow.definitions();
    let span = |var: VarId| definitions[var.index()].map(|number| flow.equations[number].span);
    // The first of them in the text is where the message points.
    let mut spans: Vec<_> = cycle.iter().filter_map(|var| Some((span(*var)?, *var))).collect();
    spans.sort_by_key(|(span, _)| span.start);
    let mut diagnostic = Diagnostic::error(codes::CAUSALITY, spans[0].0, title);
    let named = spans.iter().skip(1).filter(|(_, var)| flow.var(*var).name.is_some());
    for (span, var) in named.take(MAX_SHOWN) {
        diagnostic = diagnostic.cause(*span, format!("`{}` is on the cycle", labels.label(*var)));
    }
    // A cycle may go through several instances; the calls that are written in the node of another are not needed.
    let mut calls: Vec<usize> =
        cycle.iter().filter_map(|var| flow.equations[definitions[var.index()]?].call).collect();
    calls.sort_unstable();
    calls.dedup();
    calls
        .iter()
        .take(MAX_SHOWN)
        .map(|call| &flow.calls[*call])
        .fold(diagnostic, |diagnostic, call| in_instance(&call.node, call.span, diagnostic))
}

/// The named streams on a cycle, sorted.
fn names(flow: &Flow, labels: &Labels<'_>, cycle: &[VarId]) -> Vec<String> {
    let mut names: Vec<String> =
        cycle.iter().filter_map(|var| flow.var(*var).name.as_deref()).map(str::to_string).collect();
    if names.is_empty() {
        names.push(labels.label(cycle[0]));
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Names with arrows between them, as many as are shown.
fn shown(names: &[String]) -> String {
    let text = names[..names.len().min(MAX_SHOWN)].join(" -> ");
    match names.len().saturating_sub(MAX_SHOWN) {
        0 => text,
        n => format!("{text} and {n} more"),
    }
}

/// `y -> z -> y`.
fn path(labels: &Labels<'_>, cycle: &[VarId]) -> String {
    let mut steps: Vec<String> = cycle.iter().take(MAX_SHOWN).map(|var| labels.label(*var)).collect();
    if cycle.len() > MAX_SHOWN {
        steps.push("…".to_string());
    }
    steps.push(labels.label(cycle[0]));
    steps.join(" -> ")
}
