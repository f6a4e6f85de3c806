//! How far into the future cells look (P4, P5).

use eddy_flow::{Flow, VarId};
use eddy_language::causality::{Verdict as Lookahead, causality, needed};
use eddy_language::clocks::Clock;
use eddy_language::semantics::simulate::Simulation;

use crate::generated::case::{Case, Ready};
use crate::generated::compare::{below, label, show};
use crate::generated::engines::{End, Rows, cells, denote, options, rows, simulate, simulation};
use crate::generated::harness::{SampleChoices, Trial, Verdict, law_of_programs};
use crate::generated::trace::Absences;

/// The inputs up to a cycle.
fn cut(ready: &Ready, n_cycles: usize) -> Ready {
    let inputs: Rows = ready.inputs.iter().map(|row| row[..n_cycles].to_vec()).collect();
    ready.with_inputs(inputs, n_cycles)
}

#[test]
fn p4_outputs_need_no_more_than_the_look_ahead_used() {
    law_of_programs("P4 look-ahead used", 300, Case::sample, |_, ready| {
        // The simulation does not know the end of the trace: what `fby back` concludes from the end is not
        // look-ahead.
        let whole = cells!(simulation(ready, End::Unknown));
        let all = rows(&whole, ready.flow(), ready.n_cycles);
        let ahead = usize::try_from(whole.look_ahead()).expect("traces are short");
        for m in 0..ready.n_cycles.saturating_sub(ahead) {
            let cut = cut(ready, m + ahead + 1);
            let part = cells!(simulation(&cut, End::Unknown));
            let part = rows(&part, ready.flow(), cut.n_cycles);
            for output in &ready.flow().outputs {
                let (short, long) = (&part[output.index()][..=m], &all[output.index()][..=m]);
                if short != long {
                    let label = label(ready.flow(), *output);
                    let (short, long) = (show(short), show(long));
                    return Err(format!(
                        "`{label}` up to {m}, look-ahead {ahead}\n  whole: {long}\n  cut: {short}"
                    ));
                }
            }
        }
        Ok(Verdict::of(ready.n_cycles > ahead, "a trace as long as the look-ahead"))
    });
}

#[test]
fn p4_prefixes_of_inputs_give_prefixes_of_streams() {
    law_of_programs("P4 prefixes", 300, Case::sample, |_, ready| {
        let whole = cells!(simulate(ready));
        for n_cycles in 0..ready.n_cycles {
            let cut = cut(ready, n_cycles);
            let part = rows(&cells!(simulation(&cut, End::Unknown)), ready.flow(), n_cycles);
            below(ready.flow(), (&format!("B, {n_cycles} cycles"), &part), ("B", &whole))?;
        }
        Ok(Verdict::Holds)
    });
}

#[test]
fn p4_without_fby_back_the_end_of_a_prefix_adds_nothing() {
    law_of_programs("P4 prefixes with an end", 300, Case::sample_without_end, |_, ready| {
        let (b, a) = (cells!(simulate(ready)), cells!(denote(ready)));
        for n_cycles in 0..ready.n_cycles {
            let cut = cut(ready, n_cycles);
            let (part_b, part_a) = (cells!(simulate(&cut)), cells!(denote(&cut)));
            below(ready.flow(), (&format!("B, {n_cycles} cycles"), &part_b), ("B", &b))?;
            below(ready.flow(), (&format!("A, {n_cycles} cycles"), &part_a), ("A", &a))?;
        }
        Ok(Verdict::Holds)
    });
}

#[test]
fn p5_the_window_is_bounded_by_the_look_ahead() {
    // Theorem 3 is about all streams: one that no output depends on, or only through the past, has its own
    // look-ahead.
    law_of_programs("P5 window", 300, sample_bounded, |_, ready| {
        let all: Vec<VarId> = ready.flow().var_ids().collect();
        window_is_bounded(ready, &all)
    });
}

#[test]
fn p5_the_window_is_bounded_by_the_look_ahead_of_what_is_needed() {
    law_of_programs("P5 window, outputs", 300, sample_bounded, |_, ready| {
        window_is_bounded(ready, &ready.flow().outputs)
    });
}

/// `check --memory` reports this bound for each output.
fn window_is_bounded(ready: &Ready, streams: &[VarId]) -> Trial {
    let is_needed = needed(ready.flow(), ready.clocks(), streams);
    let outputs = ready.flow().var_ids().filter(|var| is_needed[var.index()]).collect();
    let flow = Flow { outputs, ..ready.flow().clone() };
    let Some(bound) = bound(&flow, ready) else { return Ok(Verdict::Vacuous("not bounded")) };
    let mut simulation = Simulation::new(&flow, ready.clocks(), options()).needing(ready.clocks(), streams);
    for cycle in 0..ready.n_cycles {
        if simulation.open(&ready.cycle(cycle)).is_err() {
            return Ok(Verdict::Vacuous("no value"));
        }
        let window = simulation.n_open();
        if window > bound + 1 {
            return Err(format!("look-ahead {bound}, but {window} cycles are open at cycle {cycle}"));
        }
        release(&mut simulation);
    }
    Ok(Verdict::Holds)
}

/// Releases complete cycles.
fn release(simulation: &mut Simulation<'_>) {
    while simulation.first_cycle() < simulation.n_cycles() && simulation.is_complete(simulation.first_cycle())
    {
        simulation.release();
    }
}

/// The bound of the verdict `look-ahead z`.
fn bound(flow: &Flow, ready: &Ready) -> Option<usize> {
    match causality(flow, ready.clocks()) {
        Ok(Lookahead::LookAhead(bound)) => Some(bound),
        _ => None,
    }
}

fn sample_bounded(source: &mut SampleChoices<'_>) -> Case {
    let program = source.program.program_without_guards();
    Case::new(program, source, Absences::None)
}

#[test]
fn p5_outputs_look_no_further_than_the_verdict() {
    law_of_programs("P5 look-ahead used", 300, sample_bounded, |_, ready| looks_no_further(ready));
}

/// The verdict is about the cells of outputs; if an output is on a sampled clock, its condition counts as an
/// output.
fn looks_no_further(ready: &Ready) -> Trial {
    let mut outputs = ready.flow().outputs.clone();
    for output in &ready.flow().outputs {
        outputs.extend(conditions(ready, *output));
    }
    let flow = Flow { outputs, ..ready.flow().clone() };
    let Some(bound) = bound(&flow, ready) else { return Ok(Verdict::Vacuous("not bounded")) };
    let used = cells!(simulation(ready, End::Unknown)).look_ahead();
    if used <= bound as u64 {
        Ok(Verdict::Holds)
    } else {
        Err(format!("look-ahead {bound}, but {used} is used"))
    }
}

/// The conditions of a stream's clock.
fn conditions(ready: &Ready, var: VarId) -> Vec<VarId> {
    let mut conditions = Vec::new();
    let mut clock = ready.clocks().of(var);
    while let Clock::On { of, condition, .. } = ready.clocks().clock(clock) {
        conditions.push(condition);
        clock = of;
    }
    conditions
}
