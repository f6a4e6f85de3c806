//! L1 on the test benches of all file tests and examples: the golden examples, the library, the semantics.

use eddy_language::semantics::Cell;
use eddy_language::semantics::simulate::Simulation;
use eddy_plan::Options;
use eddy_plan::execute::ExecutionError;
use eddy_plan::show::report;

use crate::bench_files::each_bench;
use crate::generated::case::Ready;
use crate::generated::engines::{Rows, rows};
use crate::run::{execute, has_unknown_inputs, planned};

/// The cells of the outputs by simulation, with the seed of test benches; `None` if an operation fails, or
/// inputs violate the clocks.
fn simulated(ready: &Ready) -> Option<Rows> {
    let mut simulation =
        Simulation::new(ready.flow(), ready.clocks(), eddy_language::semantics::simulate::Options::default());
    for cycle in 0..ready.n_cycles {
        let cells = ready.cycle(cycle);
        let is_last = cycle + 1 == ready.n_cycles;
        if is_last { simulation.open_last(&cells) } else { simulation.open(&cells) }.ok()?;
    }
    let rows = rows(&simulation, ready.flow(), ready.n_cycles);
    if rows.iter().flatten().any(|cell| *cell == Cell::Error) {
        return None;
    }
    let settled = |cell: &Cell| if *cell == Cell::Present { Cell::Unknown } else { cell.clone() };
    let outputs = ready.flow().outputs.iter();
    Some(outputs.map(|output| rows[output.index()].iter().map(settled).collect()).collect())
}

#[test]
fn l1_all_test_benches() {
    let (mut n_agree, mut n_without_plan, mut wrong) = (0, 0, Vec::new());
    each_bench(|path, ready| {
        let (false, Some(expected)) = (has_unknown_inputs(&ready), simulated(&ready)) else { return };
        let plan = planned(&ready, &Options::default());
        match execute(&ready, &plan) {
            Ok(found) if found == expected => n_agree += 1,
            Err(ExecutionError::NoPlan | ExecutionError::Mixed(_)) => n_without_plan += 1,
            other => {
                let report = report("bench", ready.flow(), &plan, None);
                wrong.push(format!("{}: {other:?}\n{expected:?}\n{report}", path.display()));
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_agree >= 250 && n_without_plan <= 10, "{n_agree} agree, {n_without_plan} have no plan");
}
