//! L10: each claimed constant of a zone equals the value of the simulation there.

use eddy_language::clocks::{Clock, Root};
use eddy_language::semantics::Cell;
use eddy_plan::execute::Execution;
use eddy_plan::plan::{Immediate, Schedule};
use eddy_plan::show::report;
use eddy_tests::law::Coverage;

use crate::generated::case::Ready;
use crate::generated::engines::{cells, simulate};
use crate::generated::harness::{Trial, Verdict, law};
use crate::run::{has_unknown_inputs, options, planned, run};
use crate::samples::{Family, Sample};

fn claims_hold(ready: &Ready, coverage: &Coverage) -> Trial {
    let plan = planned(ready, &options());
    let rows = cells!(simulate(ready));
    let Ok(mut execution) = Execution::new(ready.flow(), ready.clocks(), &plan) else {
        return Ok(Verdict::Vacuous("no value"));
    };
    if run(&mut execution, ready).is_err() {
        return Ok(Verdict::Vacuous("no plan"));
    }
    for (number, root) in plan.roots.iter().enumerate() {
        let Schedule::Windows(windows) = &root.schedule else { continue };
        // The cycles at which the root is active.
        let is_active = |cycle: &usize| match ready.clocks().clock(root.clock) {
            Clock::Root(Root::Input(owner)) => {
                let inputs = ready.clocks().inputs_on_root(ready.flow(), owner);
                inputs.iter().any(|input| rows[input.index()][*cycle].is_present())
            }
            _ => true,
        };
        let mut cycles = (0..ready.n_cycles).filter(is_active);
        for window in execution.windows(number) {
            let region = &windows.versions[window.version].region;
            for zone in &window.zones {
                let cycle = cycles.next().expect("windows are made of cycles");
                for claim in region.claims.iter().filter(|claim| claim.zone.index() == *zone) {
                    let (Immediate::Value(value), cell) = (&claim.value, &rows[claim.var.index()][cycle])
                    else {
                        continue;
                    };
                    if matches!(cell, Cell::Value(_)) {
                        coverage.note("a claim");
                    }
                    let is_right = match cell {
                        Cell::Value(found) => found == value,
                        Cell::Absent => true,
                        // A claim about a stream of unknown presence is wrong, unless the plan says that the
                        // stream may be unknown.
                        _ => false,
                    };
                    if !is_right && root.may_be_unknown.contains(&claim.var) && *cell == Cell::Unknown {
                        continue;
                    }
                    if !is_right {
                        let name = ready.flow().labels().label(claim.var);
                        let report = report("n", ready.flow(), &plan, None);
                        return Err(format!("`{name}` at cycle {cycle} is {cell}, not {value}\n{report}"));
                    }
                }
            }
        }
    }
    Ok(Verdict::Holds)
}

#[test]
fn l10_what_is_claimed_is_true() {
    for family in [Family::Plain, Family::Reset, Family::Training] {
        let coverage = Coverage::default();
        law(
            "L10 claims",
            300,
            |source| Sample::of(family, source),
            |sample| match &sample.ready {
                Ok(ready) if has_unknown_inputs(ready) => Ok(Verdict::Vacuous("unknown inputs")),
                Ok(ready) => claims_hold(ready, &coverage),
                Err(refusal) => Ok(Verdict::Vacuous(refusal)),
            },
        );
        coverage.require(&format!("L10 claims, {family:?}"), 100, ["a claim"]);
    }
}
