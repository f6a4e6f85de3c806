//! Causality (section 8): checks that every output depends on a bounded part of the future, and determines
//! which part.
//!
//! The graph has an edge from each stream to each operand of its equation, weighted by how far into the
//! future it looks: -1 for the past of `fby`, +1 for `post` and `fby back`, 0 otherwise. A cycle of weight 0
//! or more can only be computed if it is broken: by the branch of an `if` or a `merge` that is not selected,
//! or by the end of the trace. Such edges are *guarded*.
//!
//! ```text
//! o = merge bp (i when bp) ((post o) when not bp)       o → post o → o   weight 1, guarded by bp
//! ```
//!
//! The verdict is conservative: it depends on the graph and not on values. A guard may fail to break its
//! cycle, which [`deadlock`] detects.

mod conditions;
mod deadlock;
mod errors;
pub mod facts;
mod graph;
mod needed;
mod weights;

use std::collections::BTreeSet;

use eddy_syntax::Diagnostic;

use crate::clocks::Clocks;
use crate::flow::components::components;
use crate::flow::{Flow, VarId, cases};
use graph::{Edge, Graph, Guard};
pub use needed::{needed, waiting};
use weights::{heaviest_paths, nonnegative_components, nonnegative_cycle};

/// How far into the future the outputs look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// At most this many activations of a root clock: no stream that looks ahead is sampled.
    LookAhead(usize),
    /// To the next activation of a sampled stream, at an unbounded distance.
    NextActivation,
    /// To the next cycle where one of these guards breaks the chain.
    Guarded {
        /// Names of conditions, sorted.
        conditions: Vec<String>,
        end_of_trace: bool,
    },
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Verdict::LookAhead(cycles) => write!(f, "look-ahead {cycles}"),
            Verdict::NextActivation => f.write_str("look-ahead next activation"),
            Verdict::Guarded { conditions, end_of_trace } => {
                let mut guards: Vec<&str> = conditions.iter().map(String::as_str).collect();
                if *end_of_trace {
                    guards.push("end of trace");
                    guards.sort_unstable();
                }
                if guards.is_empty() {
                    f.write_str("look-ahead guarded")
                } else {
                    write!(f, "look-ahead guarded by {}", guards.join(", "))
                }
            }
        }
    }
}

/// Decides causality for all outputs.
pub fn causality(flow: &Flow, clocks: &Clocks) -> Result<Verdict, Box<Diagnostic>> {
    causality_of(flow, clocks, &flow.outputs)
}

/// As [`causality`], and finds cycles that their guards do not break: a warning each, or an error if an
/// output never has a value.
pub fn causality_and_deadlocks(
    flow: &Flow,
    clocks: &Clocks,
) -> Result<(Verdict, Vec<Diagnostic>), Box<Diagnostic>> {
    let verdict = causality(flow, clocks)?;
    // If no cycle has weight 0 or more, every cell becomes known.
    let warnings = match verdict {
        Verdict::Guarded { .. } => deadlock::deadlocks(flow, clocks, &Graph::new(flow), &flow.outputs)?,
        Verdict::LookAhead(_) | Verdict::NextActivation => Vec::new(),
    };
    Ok((verdict, warnings))
}

/// Decides causality of a program; the verdict is about these outputs.
pub fn causality_of(flow: &Flow, clocks: &Clocks, outputs: &[VarId]) -> Result<Verdict, Box<Diagnostic>> {
    let graph = Graph::new(flow);
    let labels = flow.labels().with_points();
    if let Some(cycle) = graph.cycle_within(|edge| edge.guard.is_none() && edge.weight == 0) {
        return Err(Box::new(errors::instantaneous(flow, &labels, &cycle)));
    }
    if let Some(cycle) = nonnegative_cycle(&graph, |edge| edge.guard.is_none()) {
        return Err(Box::new(errors::infinite_future(flow, &labels, &cycle)));
    }
    let reachable = graph.reachable(outputs);
    let component = components(flow.vars.len(), |var| {
        if reachable[var] {
            graph.edges(VarId::new(var)).iter().map(|edge| edge.to.index()).collect()
        } else {
            Vec::new()
        }
    });
    let looping = nonnegative_components(&graph, &component, |edge| reachable[edge.from.index()]);
    if looping.is_empty() {
        return Ok(bounded(flow, clocks, &graph, &reachable, outputs));
    }
    Ok(guarded(flow, &graph, &component, &looping))
}

fn bounded(flow: &Flow, clocks: &Clocks, graph: &Graph, reachable: &[bool], outputs: &[VarId]) -> Verdict {
    let is_sampled = |edge: &Edge| edge.weight > 0 && !clocks.is_root(clocks.of(edge.from));
    let mut edges = flow.var_ids().filter(|var| reachable[var.index()]).flat_map(|var| graph.edges(var));
    if edges.any(is_sampled) {
        return Verdict::NextActivation;
    }
    let heaviest = heaviest_paths(graph, outputs);
    Verdict::LookAhead(usize::try_from(heaviest.max(0)).expect("no path is longer than the program"))
}

fn guarded(flow: &Flow, graph: &Graph, component: &[usize], looping: &BTreeSet<usize>) -> Verdict {
    let (mut conditions, mut end_of_trace) = (BTreeSet::new(), false);
    for var in flow.var_ids() {
        for edge in graph.edges(var) {
            let home = component[edge.from.index()];
            if !looping.contains(&home) || component[edge.to.index()] != home {
                continue;
            }
            match edge.guard {
                Some(Guard::Condition(condition, _)) => {
                    conditions.insert(condition);
                }
                Some(Guard::EndOfTrace) => end_of_trace = true,
                Some(Guard::First | Guard::Last) | None => {}
            }
        }
    }
    let names: BTreeSet<String> = conditions
        .into_iter()
        .filter_map(|var| flow.var(var).name.as_deref())
        .map(|name| cases::tested_stream(name).unwrap_or_else(|| name.to_string()))
        // Streams that composition adds have names that no program has.
        .filter(|name| !name.contains(':'))
        .collect();
    Verdict::Guarded { conditions: names.into_iter().collect(), end_of_trace }
}
