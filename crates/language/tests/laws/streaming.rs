//! A simulation that releases complete cycles computes the same cells as one that keeps them.

use eddy_language::causality::needed;
use eddy_language::semantics::simulate::Simulation;

use crate::generated::case::{Case, Ready};
use crate::generated::compare::{below, label, same, show};
use crate::generated::engines::{Rows, cells, options, simulate};
use crate::generated::harness::{SampleChoices, Verdict, law_of_programs};

#[test]
fn releasing_complete_cycles_changes_no_cell() {
    let sample = |source: &mut SampleChoices<'_>| Case::sample(source).changed(Ready::with_unknown_cycles);
    law_of_programs("release", 400, sample, |_, ready| {
        let whole = cells!(simulate(ready));
        let simulation = Simulation::new(ready.flow(), ready.clocks(), options());
        let Some(seen) = released(simulation, ready) else { return Ok(Verdict::Vacuous("no value")) };
        same(ready.flow(), ("kept", &whole), ("released", &seen))?;
        Ok(Verdict::Holds)
    });
}

#[test]
fn releasing_cycles_whose_outputs_are_complete_changes_no_output() {
    let sample = |source: &mut SampleChoices<'_>| Case::sample(source).changed(Ready::with_unknown_cycles);
    law_of_programs("release of what is not needed", 400, sample, |_, ready| {
        let (flow, clocks) = (ready.flow(), ready.clocks());
        let whole = cells!(simulate(ready));
        // Half of the outputs, so that some streams are dead.
        let outputs = &flow.outputs[flow.outputs.len() / 2..];
        let simulation = Simulation::new(flow, clocks, options()).needing(clocks, outputs);
        let Some(seen) = released(simulation, ready) else { return Ok(Verdict::Vacuous("no value")) };
        below(flow, ("released", &seen), ("kept", &whole))?;
        let is_needed = needed(flow, clocks, outputs);
        for var in flow.var_ids().filter(|var| is_needed[var.index()]) {
            let (seen, whole) = (&seen[var.index()], &whole[var.index()]);
            if seen != whole {
                let (label, seen, whole) = (label(flow, var), show(seen), show(whole));
                return Err(format!("`{label}`\n  released: {seen}\n  kept: {whole}"));
            }
        }
        Ok(Verdict::Holds)
    });
}

/// The cells of a simulation that releases each cycle as soon as it is complete: those of a released cycle as
/// they were at its release, the others as they are at the end.
fn released(mut simulation: Simulation<'_>, ready: &Ready) -> Option<Rows> {
    let mut seen: Rows = vec![Vec::new(); ready.flow().vars.len()];
    for cycle in 0..ready.n_cycles {
        simulation.open(&ready.cycle(cycle)).ok()?;
        while simulation.n_open() > 0 && simulation.is_complete(simulation.first_cycle()) {
            for var in ready.flow().var_ids() {
                seen[var.index()].push(simulation.cell(simulation.first_cycle(), var).clone());
            }
            simulation.release();
        }
    }
    simulation.end().ok()?;
    for var in ready.flow().var_ids() {
        let open = simulation.first_cycle()..simulation.n_cycles();
        seen[var.index()].extend(open.map(|cycle| simulation.cell(cycle, var).clone()));
    }
    Some(seen)
}
