//! L4 and L5: bounds on kept values, and on the lag of outputs.

use eddy_flow::VarId;
use eddy_language::causality::{Verdict as LookAhead, causality_of};
use eddy_language::clocks::Clock;
use eddy_language::semantics::Cell as Simulated;
use eddy_plan::execute::{Cell, Execution};
use eddy_plan::plan::Schedule;
use eddy_plan::show::report;
use eddy_plan::{Options, plan};
use eddy_tensor::Value;
use eddy_tests::law::Coverage;

use crate::generated::case::Ready;
use crate::generated::harness::{Trial, Verdict, law};
use crate::programs::{PROGRAMS, prepared};
use crate::run::{has_unknown_inputs, input, options, planned};
use crate::samples::{Family, Sample};

/// L4: with windows of bounded length, the numbers of kept cycles and of kept values are bounded, for any
/// length of the trace.
#[track_caller]
fn check_bounded(node: &str, longest: usize) {
    let prepared = prepared(PROGRAMS, node);
    let plan = plan(&prepared.flow, &prepared.clocks, &Options::default());
    let mut execution =
        Execution::new(&prepared.flow, &prepared.clocks, &plan).expect("the program has a plan");
    let mut values_at_start = 0;
    for cycle in 0..20_000_usize {
        let is_last = cycle % longest == longest - 1;
        let inputs: Vec<Cell> = prepared
            .flow
            .inputs
            .iter()
            .map(|input| match prepared.flow.var(*input).name.as_deref() {
                Some("end" | "bp" | "batch_end" | "e" | "g" | "cut") => Cell::Value(Value::Bool(is_last)),
                // Targets are present where `bp` is true.
                Some("gt") if !is_last => Cell::Absent,
                _ => Cell::Value(Value::Num(0.25)),
            })
            .collect();
        execution.step(&inputs).expect("the plan runs");
        assert!(execution.n_open() <= longest, "{node}: {} cycles are kept", execution.n_open());
        if cycle == 2 * longest {
            values_at_start = execution.n_values();
        }
        while execution.next_row().is_some() {}
    }
    assert_eq!(execution.n_values(), values_at_start, "{node}");
}

#[test]
fn l4_memory_is_bounded_by_the_longest_window() {
    for node in
        ["running_mean", "subclock_of_bp", "backfill", "bn", "birnn", "t_sgd", "two_backfills", "t_pipe"]
    {
        check_bounded(node, 100);
    }
    check_bounded("t_adam", 10);
}

/// L5: a program whose look-ahead is bounded has a forward plan with at most that lag, and each output
/// appears exactly as late as the plan says.
fn comes_in_time(sample: &Sample, coverage: &Coverage) -> Trial {
    let ready = match &sample.ready {
        Ok(ready) if has_unknown_inputs(ready) => return Ok(Verdict::Vacuous("unknown inputs")),
        Ok(ready) => ready,
        Err(refusal) => return Ok(Verdict::Vacuous(refusal)),
    };
    let plan = planned(ready, &options());
    let Some(LookAhead::LookAhead(bound)) = ready.prepared.verdict else {
        return Ok(Verdict::Holds);
    };
    coverage.note("a bound");
    let mut look_ahead = 0;
    for root in &plan.roots {
        let Schedule::Forward(lagged) = &root.schedule else {
            return Err(format!("look-ahead {bound}\n{}", report("n", ready.flow(), &plan, None)));
        };
        look_ahead = look_ahead.max(lagged.look_ahead);
    }
    // `check` follows operands; a condition that looks ahead may delay the presence of a stream beyond that
    // bound.
    if look_ahead > bound && has_clock_that_looks_ahead(ready) {
        return Ok(Verdict::Vacuous("a clock that looks ahead"));
    }
    if look_ahead > bound {
        return Err(format!("look-ahead {bound}\n{}", report("n", ready.flow(), &plan, None)));
    }
    let is_dense = ready.inputs.iter().flatten().all(Simulated::is_present);
    if plan.roots.len() != 1 || !is_dense || ready.flow().inputs.is_empty() {
        return Ok(Verdict::Holds);
    }
    let Ok(mut execution) = Execution::new(ready.flow(), ready.clocks(), &plan) else {
        return Ok(Verdict::Vacuous("no value"));
    };
    let mut n_shown = 0;
    for cycle in 0..ready.n_cycles {
        let inputs: Vec<Cell> = ready.cycle(cycle).iter().map(input).collect();
        if execution.step(&inputs).is_err() {
            return Ok(Verdict::Vacuous("no value"));
        }
        while execution.next_row().is_some() {
            n_shown += 1;
        }
        coverage.note(if look_ahead > 0 { "a late row" } else { "a row in time" });
        if n_shown != (cycle + 1).saturating_sub(look_ahead) {
            return Err(format!("{n_shown} cycles are shown after cycle {cycle}, look-ahead {look_ahead}"));
        }
    }
    Ok(Verdict::Holds)
}

fn has_clock_that_looks_ahead(ready: &Ready) -> bool {
    let condition = |clock: &Clock| match clock {
        Clock::On { condition, .. } => Some(*condition),
        Clock::Root(_) => None,
    };
    let conditions: Vec<VarId> = ready.clocks().all().iter().filter_map(condition).collect();
    !matches!(causality_of(ready.flow(), ready.clocks(), &conditions), Ok(LookAhead::LookAhead(0)))
}

#[test]
fn l5_outputs_have_the_lag_that_check_prints() {
    for family in [Family::Plain, Family::Adjoint, Family::Training] {
        let coverage = Coverage::default();
        law(
            "L5 look-ahead",
            300,
            |source| Sample::of(family, source),
            |sample| comes_in_time(sample, &coverage),
        );
        let name = format!("L5 look-ahead, {family:?}");
        coverage.require(&name, 50, ["a bound"]);
        coverage.require(&name, 5, ["a late row", "a row in time"]);
    }
}
