//! Executes the plan of a program.

use eddy_language::semantics::Cell as Simulated;
use eddy_plan::execute::{Cell, Execution, ExecutionError};
use eddy_plan::plan::{Cut, Plan, Schedule};
use eddy_plan::{Options, plan};

use crate::generated::case::Ready;
use crate::generated::engines::{NoValue, Rows, SEED, simulate};

pub fn options() -> Options {
    Options { seed: SEED, ..Options::default() }
}

pub fn planned(ready: &Ready, options: &Options) -> Plan {
    plan(ready.flow(), ready.clocks(), options)
}

/// Whether some cells of inputs are unknown: then the event-driven engine runs the program.
pub fn has_unknown_inputs(ready: &Ready) -> bool {
    ready.inputs.iter().flatten().any(|cell| matches!(cell, Simulated::Unknown | Simulated::Present))
}

/// The cells of the outputs by executing a plan.
pub fn execute(ready: &Ready, plan: &Plan) -> Result<Rows, ExecutionError> {
    execute_joining(ready, plan, 0)
}

/// As [`execute`], but each window passes `joins` possible ends before it ends.
pub fn execute_joining(ready: &Ready, plan: &Plan, joins: usize) -> Result<Rows, ExecutionError> {
    let mut execution = Execution::new(ready.flow(), ready.clocks(), plan)?;
    execution.join_windows(joins);
    run(&mut execution, ready)
}

/// Runs a plan to its end.
pub fn run(execution: &mut Execution<'_>, ready: &Ready) -> Result<Rows, ExecutionError> {
    let n_outputs = ready.flow().outputs.len();
    let mut rows: Rows = vec![Vec::new(); n_outputs];
    for cycle in 0..ready.n_cycles {
        let inputs: Vec<Cell> = ready.cycle(cycle).iter().map(input).collect();
        execution.step(&inputs)?;
        take(execution, &mut rows);
    }
    execution.finish()?;
    take(execution, &mut rows);
    if rows.iter().any(|row| row.len() != ready.n_cycles) {
        return Err(ExecutionError::Violation(format!(
            "{} of {} cycles were shown",
            rows[0].len(),
            ready.n_cycles
        )));
    }
    Ok(rows)
}

fn take(execution: &mut Execution<'_>, rows: &mut Rows) {
    while let Some(cells) = execution.next_row() {
        for (row, cell) in rows.iter_mut().zip(cells) {
            row.push(match cell {
                Cell::Unknown | Cell::Present => Simulated::Unknown,
                Cell::Absent => Simulated::Absent,
                Cell::Value(value) => Simulated::Value(value),
            });
        }
    }
}

/// An input cell of a plan.
pub fn input(cell: &Simulated) -> Cell {
    match cell {
        Simulated::Value(value) => Cell::Value(value.clone()),
        Simulated::Absent => Cell::Absent,
        _ => Cell::Unknown,
    }
}

/// The cells of the outputs by simulation; a present cell without value is unknown.
pub fn simulated(ready: &Ready) -> Result<Rows, NoValue> {
    let rows = simulate(ready)?;
    let settled = |cell: &Simulated| match cell {
        Simulated::Present => Simulated::Unknown,
        other => other.clone(),
    };
    let outputs = ready.flow().outputs.iter();
    Ok(outputs.map(|output| rows[output.index()].iter().map(settled).collect()).collect())
}

/// The kind of the plan of the last root, in a word.
pub fn kind(plan: &Plan) -> &'static str {
    let kind = plan.roots.last().map(|root| match &root.schedule {
        Schedule::Forward(lagged) if lagged.max_lag == 0 => "forward",
        Schedule::Forward(_) => "lag",
        Schedule::Windows(windows) => match windows.cut {
            Cut::Guard(..) if windows.versions.len() > 1 => "window constant",
            Cut::Guard(..) => "window",
            Cut::Derived(_) => "derived",
            Cut::Trace => "whole trace",
        },
        Schedule::EventDriven(_) => "event-driven",
    });
    kind.unwrap_or("nothing")
}
