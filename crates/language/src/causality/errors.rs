//! Diagnostics about streams that wait for themselves.

use eddy_syntax::{Diagnostic, Severity};
use rustc_hash::FxHashSet;

use super::graph::{Edge, Graph, Guard};
use crate::codes;
use crate::flow::{Flow, Labels, VarId, in_instance};

/// The largest number of streams of a cycle to show: longer lists are not useful, and would grow with the
/// program.
const MAX_SHOWN: usize = 12;

/// A stream needs its own value at the same cycle.
pub(super) fn instantaneous(flow: &Flow, labels: &Labels<'_>, cycle: &[VarId]) -> Diagnostic {
    let names = names(flow, labels, cycle);
    let title = format!("causality error: instantaneous cycle through {}", shown(&names));
    on_cycle(flow, labels, cycle, title)
        .reason(format!("each waits for the next at the same cycle: {}", path(labels, cycle)))
        .help("put a delay on the cycle, such as `0.0 fby …`, so that it reads a value of the past")
}

/// A stream needs its own future without end.
pub(super) fn infinite_future(flow: &Flow, labels: &Labels<'_>, cycle: &[VarId]) -> Diagnostic {
    let names = shown(&names(flow, labels, cycle));
    let title = format!(
        "causality error: {names} depends on the infinite future (a post cycle that no merge or if breaks)"
    );
    on_cycle(flow, labels, cycle, title)
        .reason(format!("each cycle waits for a later one: {}", path(labels, cycle)))
        .help("break the chain at a condition: `merge c (… when c) ((post …) when not c)`")
}

/// The activations at which a stream is unknown in every run.
pub(super) enum Gap {
    /// All of them.
    Always,
    /// All but the first n.
    After(usize),
    /// The first one.
    First,
    /// Some of them.
    Some,
}

/// An output has no value in any run.
pub(super) fn never_has_value(
    flow: &Flow,
    labels: &Labels<'_>,
    graph: &Graph,
    output: VarId,
    cycle: &[VarId],
) -> Diagnostic {
    let label = labels.subject(output, "`");
    let title = format!("causality error: {label} never has a value: {}", waits(flow, labels, graph, cycle));
    unresolved(flow, labels, graph, cycle, on_cycle(flow, labels, cycle, title))
}

/// A stream has no value at some of its activations, in every run.
pub(super) fn gap(flow: &Flow, labels: &Labels<'_>, graph: &Graph, cycle: &[VarId], gap: Gap) -> Diagnostic {
    let label = labels.subject(cycle[0], "`");
    let when = match gap {
        Gap::Always => format!("{label} never has a value"),
        Gap::After(1) => format!("{label} has no value after its first one"),
        Gap::After(n) => format!("{label} has no value after its first {n}"),
        Gap::First => format!("{label} has no value at its first cycle"),
        Gap::Some => format!("{label} has no value at some of its cycles"),
    };
    let title = format!("{when}: {}", waits(flow, labels, graph, cycle));
    let diagnostic = as_warning(on_cycle(flow, labels, cycle, title));
    unresolved(flow, labels, graph, cycle, diagnostic)
}

/// A stream needs its own value at the cycles where some guards are open.
pub(super) fn possible_deadlock(flow: &Flow, labels: &Labels<'_>, cycle: &[Edge]) -> Diagnostic {
    let vars: Vec<VarId> = cycle.iter().map(|edge| edge.from).collect();
    let mut conditions: Vec<String> = Vec::new();
    for edge in cycle {
        let condition = match edge.guard {
            None => continue,
            Some(Guard::Condition(condition, truth)) => {
                format!("{} is {truth}", labels.subject(condition, "`"))
            }
            Some(Guard::First) => format!("{} has its first value", labels.subject(edge.from, "`")),
            Some(Guard::Last | Guard::EndOfTrace) => {
                format!("{} has its last value", labels.subject(edge.from, "`"))
            }
        };
        if !conditions.contains(&condition) {
            conditions.push(condition);
        }
    }
    let label = labels.subject(first_named(flow, &vars), "`");
    let title = format!("{label} waits for itself at each cycle where {}", conditions.join(" and "));
    as_warning(on_cycle(flow, labels, &vars, title))
        .reason(format!(
            "each needs the next at the same cycle, so no future input can resolve it: {}",
            path(labels, &vars)
        ))
        .help("put a delay on the cycle, such as `0.0 fby …`, so that it reads a value of the past")
}

/// How the streams of a cycle wait for each other.
fn waits(flow: &Flow, labels: &Labels<'_>, graph: &Graph, cycle: &[VarId]) -> String {
    let names = shown(&names(flow, labels, cycle));
    if is_instantaneous(graph, cycle) {
        format!("{names} waits for itself at the same cycle")
    } else {
        format!("{names} waits for later cycles without end")
    }
}

fn unresolved(
    flow: &Flow,
    labels: &Labels<'_>,
    graph: &Graph,
    cycle: &[VarId],
    mut diagnostic: Diagnostic,
) -> Diagnostic {
    let place = diagnostic.primary.span;
    let mut seen = FxHashSet::default();
    let guards = edges(graph, cycle).filter_map(|edge| match edge.guard {
        Some(Guard::Condition(condition, _)) => Some(condition),
        _ => None,
    });
    let guards = guards.filter(|guard| flow.var(*guard).span != place && seen.insert(*guard));
    for guard in guards.take(MAX_SHOWN) {
        let text = format!("{} does not break the cycle then", labels.subject(guard, "`"));
        diagnostic = diagnostic.cause(flow.var(guard).span, text);
    }
    let path = path(labels, cycle);
    let diagnostic =
        diagnostic.reason(format!("each needs the next, and no future input can resolve it: {path}"));
    if is_instantaneous(graph, cycle) {
        diagnostic.help("put a delay on the cycle, such as `0.0 fby …`, so that it reads a value of the past")
    } else {
        diagnostic.help(
            "break the chain with a condition that becomes true: `merge c (… when c) ((post …) when not c)`",
        )
    }
}

/// The edges from each stream of a cycle to the next.
fn edges<'a>(graph: &'a Graph, cycle: &'a [VarId]) -> impl Iterator<Item = &'a Edge> {
    let next = cycle.iter().cycle().skip(1);
    cycle.iter().zip(next).flat_map(|(from, to)| graph.edges(*from).iter().filter(move |edge| edge.to == *to))
}

fn is_instantaneous(graph: &Graph, cycle: &[VarId]) -> bool {
    edges(graph, cycle).all(|edge| edge.weight == 0)
}

fn as_warning(diagnostic: Diagnostic) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, code: codes::DEADLOCK, ..diagnostic }
}

fn on_cycle(flow: &Flow, labels: &Labels<'_>, cycle: &[VarId], title: String) -> Diagnostic {
    let definitions = flow.definitions();
    let span = |var: VarId| definitions[var.index()].map(|number| flow.equations[number].span);
    // The message points at the first of them in the text.
    let mut spans: Vec<_> = cycle.iter().filter_map(|var| Some((span(*var)?, *var))).collect();
    spans.sort_by_key(|(span, _)| span.start);
    let mut diagnostic = Diagnostic::error(codes::CAUSALITY, spans[0].0, title);
    let named = spans.iter().skip(1).filter(|(_, var)| flow.var(*var).name.is_some());
    for (span, var) in named.take(MAX_SHOWN) {
        diagnostic = diagnostic.cause(*span, format!("{} is on the cycle", labels.subject(*var, "`")));
    }
    // A cycle may go through several instances; only the innermost calls are shown.
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

/// The stream that represents a cycle in messages: the alphabetically first name, if any stream has a name.
pub(super) fn first_named(flow: &Flow, cycle: &[VarId]) -> VarId {
    let named = cycle.iter().filter(|var| flow.var(**var).name.is_some());
    *named.min_by_key(|var| flow.var(**var).name.as_deref()).unwrap_or(&cycle[0])
}

/// The named streams on a cycle, sorted.
fn names(flow: &Flow, labels: &Labels<'_>, cycle: &[VarId]) -> Vec<String> {
    let mut names: Vec<String> = cycle
        .iter()
        .filter(|var| flow.var(**var).name.is_some())
        .map(|var| labels.subject(*var, ""))
        .collect();
    if names.is_empty() {
        names.push(labels.subject(cycle[0], ""));
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Names separated by arrows, at most `MAX_SHOWN`.
fn shown(names: &[String]) -> String {
    let text = names[..names.len().min(MAX_SHOWN)].join(" -> ");
    match names.len().saturating_sub(MAX_SHOWN) {
        0 => text,
        n => format!("{text} and {n} more"),
    }
}

/// The streams of a cycle as `y -> z -> y`.
fn path(labels: &Labels<'_>, cycle: &[VarId]) -> String {
    let around = cycle.iter().chain([&cycle[0]]);
    let mut steps: Vec<(String, bool)> =
        around.map(|var| (labels.subject(*var, ""), labels.is_written(*var))).collect();
    // Consecutive parts of one derivative are one step.
    steps.dedup_by(|step, before| step == before && !step.1);
    let mut steps: Vec<String> = steps.into_iter().map(|(step, _)| step).collect();
    if steps.len() > MAX_SHOWN + 1 {
        steps.splice(MAX_SHOWN..steps.len() - 1, ["…".to_string()]);
    }
    steps.join(" -> ")
}
