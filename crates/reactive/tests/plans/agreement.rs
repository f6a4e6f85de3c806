//! L1: a plan computes what the operational semantics says, cell by cell, bit for bit.

use std::cell::RefCell;
use std::collections::BTreeMap;

use eddy_plan::execute::Stop;
use eddy_plan::show::report;
use eddy_reactive::cell::Cell;

use crate::generated::case::{Case, Ready};
use crate::generated::compare::show;
use crate::generated::engines::cells;
use crate::generated::harness::{Trial, Verdict, law_of_programs};
use crate::run::{execute, kind, options, planned, simulated};

fn agrees(ready: &Ready, counts: &RefCell<BTreeMap<&'static str, usize>>) -> Trial {
    let plan = planned(ready, &options());
    *counts.borrow_mut().entry(kind(&plan)).or_default() += 1;
    if ready.inputs.iter().flatten().any(|cell| matches!(cell, Cell::Unknown | Cell::Present)) {
        return Ok(Verdict::Skipped("unknown inputs"));
    }
    let simulated = cells!(simulated(ready));
    let executed = match execute(ready, &plan) {
        Ok(rows) => rows,
        Err(Stop::NoPlan) => return Ok(Verdict::Skipped("no plan")),
        Err(Stop::Mixed(_)) => return Ok(Verdict::Skipped("a condition that changes inside a window")),
        Err(stop) => return Err(format!("{stop:?}\n{}", report("n", ready.flow(), &plan))),
    };
    for (output, (simulated, executed)) in ready.flow().outputs.iter().zip(simulated.iter().zip(&executed)) {
        if simulated != executed {
            let name = ready.flow().var(*output).name.as_deref().unwrap_or("_");
            return Err(format!(
                "`{name}`\n  simulated: {}\n  executed:  {}\n{}",
                show(simulated),
                show(executed),
                report("n", ready.flow(), &plan)
            ));
        }
    }
    Ok(Verdict::Holds)
}

#[test]
fn l1_a_plan_computes_what_the_semantics_says() {
    let counts = RefCell::default();
    law_of_programs("L1 plan = B", 800, Case::sample, |_, ready| agrees(ready, &counts));
    println!("{:?}", counts.borrow());
}

#[test]
fn zz_event_driven() {
    let n = RefCell::new(0);
    law_of_programs("event-driven", 800, Case::sample, |case, ready| {
        let plan = planned(ready, &options());
        if kind(&plan) != "event-driven" {
            return Ok(Verdict::Skipped("planned"));
        }
        let simulated = cells!(simulated(ready));
        let long = ready.n_cycles > 4;
        if simulated.iter().flatten().any(|cell| *cell == Cell::Unknown) {
            return Ok(Verdict::Skipped(if long { "unknown cells" } else { "unknown cells, short" }));
        }
        if !long {
            return Ok(Verdict::Skipped("short"));
        }
        *n.borrow_mut() += 1;
        if *n.borrow() <= 12 {
            println!("{case:?}\n{}", report("n", ready.flow(), &plan));
        }
        Ok(Verdict::Holds)
    });
}
