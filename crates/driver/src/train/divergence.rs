//! Where the first NaN or infinity arose.

use std::borrow::Cow;

use eddy_flow::{Flow, VarId};
use eddy_language::codes;
use eddy_language::semantics::Cell;
use eddy_language::semantics::simulate::Simulation;
use eddy_syntax::Diagnostic;

/// Repeats an epoch and returns the first cycle and equation whose value is not finite although its operands
/// are.
pub(super) fn locate<'a>(
    flow: &Flow,
    mut simulation: Simulation<'_>,
    rows: impl Iterator<Item = Cow<'a, [Cell]>>,
    loss: VarId,
) -> Diagnostic {
    for row in rows {
        if simulation.open(&row).is_err() {
            break;
        }
        while simulation.first_cycle() < simulation.n_cycles()
            && simulation.is_complete(simulation.first_cycle())
        {
            let cycle = simulation.first_cycle();
            if let Some(number) = culprit(flow, &simulation, cycle) {
                return diagnostic(flow, number, cycle);
            }
            simulation.release();
        }
    }
    // A cell that waits for a later cycle is treated as unknown.
    let mut open = simulation.first_cycle()..simulation.n_cycles();
    let found = open.find_map(|cycle| Some((cycle, culprit(flow, &simulation, cycle)?)));
    match found {
        Some((cycle, number)) => diagnostic(flow, number, cycle),
        None => {
            let title = "training diverged: the loss is not finite";
            with_help(Diagnostic::error(codes::DIVERGENCE, flow.var(loss).span, title))
        }
    }
}

/// The first equation at a cycle whose value is not finite, and whose present operands are.
fn culprit(flow: &Flow, simulation: &Simulation<'_>, cycle: u64) -> Option<usize> {
    let is_bad = |var: VarId| simulation.cell(cycle, var).value().is_some_and(|value| !value.is_finite());
    flow.equations.iter().position(|equation| {
        is_bad(equation.out) && !equation.kind.is_delay() && !equation.kind.operands().any(is_bad)
    })
}

fn diagnostic(flow: &Flow, number: usize, cycle: u64) -> Diagnostic {
    let equation = &flow.equations[number];
    let label = flow.labels().subject(equation.out, "'");
    let title = format!("training diverged: {label} is not finite at cycle {cycle} of this epoch");
    with_help(flow.in_instances(number, Diagnostic::error(codes::DIVERGENCE, equation.span, title)))
}

/// Adds the usual remedy.
pub(super) fn with_help(diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.help("try a smaller rate, clipped gradients, or inputs of size 1")
}
