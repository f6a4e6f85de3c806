//! L1: a plan computes the cells of the operational semantics, bit for bit. L2 is checked at the same time.

use std::cell::RefCell;
use std::collections::BTreeMap;

use eddy_plan::execute::ExecutionError;
use eddy_plan::show::report;

use crate::generated::case::Ready;
use crate::generated::compare::show;
use crate::generated::engines::cells;
use crate::generated::harness::{Trial, Verdict, law, show as show_line};
use crate::run::{execute, has_unknown_inputs, kind, options, planned, simulated};
use crate::samples::{Family, Sample};

fn agrees(ready: &Ready, counts: &RefCell<BTreeMap<&'static str, usize>>) -> Trial {
    let plan = planned(ready, &options());
    *counts.borrow_mut().entry(kind(&plan)).or_default() += 1;
    if has_unknown_inputs(ready) {
        return Ok(Verdict::Vacuous("unknown inputs"));
    }
    let simulated = cells!(simulated(ready));
    let executed = match execute(ready, &plan) {
        Ok(rows) => rows,
        Err(ExecutionError::NoPlan) => return Ok(Verdict::Vacuous("no plan")),
        Err(ExecutionError::Mixed(_)) => {
            return Ok(Verdict::Vacuous("a condition that changes inside a window"));
        }
        Err(stop) => return Err(format!("{stop:?}\n{}", report("n", ready.flow(), &plan, None))),
    };
    for (output, (simulated, executed)) in ready.flow().outputs.iter().zip(simulated.iter().zip(&executed)) {
        if simulated != executed {
            let name = ready.flow().var(*output).name.as_deref().unwrap_or("_");
            return Err(format!(
                "`{name}`\n  simulated: {}\n  executed:  {}\n{}",
                show(simulated),
                show(executed),
                report("n", ready.flow(), &plan, None)
            ));
        }
    }
    Ok(Verdict::Holds)
}

fn l1(name: &'static str, cases: u32, family: Family) {
    let counts = RefCell::default();
    law(
        name,
        cases,
        |source| Sample::of(family, source),
        |sample| match &sample.ready {
            Ok(ready) => agrees(ready, &counts),
            Err(refusal) => Ok(Verdict::Vacuous(refusal)),
        },
    );
    show_line(&format!("{name}: {:?}", counts.borrow()));
}

#[test]
fn l1_plain_programs() {
    l1("L1 plan = B", 800, Family::Plain);
}

#[test]
fn l1_adjoints() {
    l1("L1 adjoints", 300, Family::Adjoint);
}

#[test]
fn l1_resets() {
    l1("L1 resets", 300, Family::Reset);
}

#[test]
fn l1_training() {
    l1("L1 training", 300, Family::Training);
}

#[test]
fn l1_through_training() {
    l1("L1 through training", 100, Family::ThroughTraining);
}

#[test]
fn l1_both_ways() {
    l1("L1 both ways", 200, Family::BothWays);
}
