//! The cells of all streams, by either semantics.

use eddy_flow::Flow;
use eddy_language::clocks::Clocks;
use eddy_language::semantics::Cell;
use eddy_language::semantics::denote::Denotation;
use eddy_language::semantics::simulate::{Options, Simulation};

use super::case::Ready;
use super::harness::Verdict;

/// Rows of cells, by input or by stream, then by cycle.
pub type Rows = Vec<Vec<Cell>>;

pub const SEED: u64 = 1;

/// An operation has no value: the law does not apply.
pub struct NoValue;

impl From<NoValue> for Verdict {
    fn from(_: NoValue) -> Verdict {
        Verdict::Vacuous("no value")
    }
}

/// The cells; without them, the law does not apply.
macro_rules! cells {
    ($found:expr) => {
        match $found {
            Ok(found) => found,
            Err(no_value) => return Ok(Verdict::from(no_value)),
        }
    };
}
pub(crate) use cells;

/// Whether the simulation knows the end of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Known,
    Unknown,
}

pub fn options() -> Options {
    Options { seed: SEED, ..Options::default() }
}

/// Semantics A.
pub fn denote(ready: &Ready) -> Result<Rows, NoValue> {
    denote_flow(ready.flow(), ready.clocks(), ready)
}

/// Semantics A of a transformed flow of the same program.
pub fn denote_flow(flow: &Flow, clocks: &Clocks, ready: &Ready) -> Result<Rows, NoValue> {
    let mut denotation = Denotation::new(flow, clocks, &ready.inputs, ready.n_cycles, SEED);
    denotation.solve().map_err(|_| NoValue)?;
    Ok(flow.var_ids().map(|var| denotation.row(var).to_vec()).collect())
}

/// A simulation in which all cycles are open.
pub fn simulation(ready: &Ready, end: End) -> Result<Simulation<'_>, NoValue> {
    simulation_of(ready.flow(), ready.clocks(), ready, end)
}

fn simulation_of<'a>(
    flow: &'a Flow,
    clocks: &Clocks,
    ready: &Ready,
    end: End,
) -> Result<Simulation<'a>, NoValue> {
    let mut simulation = Simulation::new(flow, clocks, options());
    for cycle in 0..ready.n_cycles {
        let is_last = end == End::Known && cycle + 1 == ready.n_cycles;
        let cells = ready.cycle(cycle);
        let opened = if is_last { simulation.open_last(&cells) } else { simulation.open(&cells) };
        opened.map_err(|_| NoValue)?;
    }
    Ok(simulation)
}

/// Semantics B.
pub fn simulate(ready: &Ready) -> Result<Rows, NoValue> {
    simulate_flow(ready.flow(), ready.clocks(), ready)
}

/// Semantics B of a transformed flow of the same program.
pub fn simulate_flow(flow: &Flow, clocks: &Clocks, ready: &Ready) -> Result<Rows, NoValue> {
    let simulation = simulation_of(flow, clocks, ready, End::Known)?;
    Ok(rows(&simulation, flow, ready.n_cycles))
}

/// All cells of a simulation that released none.
pub fn rows(simulation: &Simulation<'_>, flow: &Flow, n_cycles: usize) -> Rows {
    let row = |var| (0..n_cycles).map(|cycle| simulation.cell(cycle as u64, var).clone()).collect();
    flow.var_ids().map(row).collect()
}

/// Reads ? as ⊥.
pub fn settled(rows: &Rows) -> Rows {
    let settle = |cell: &Cell| if *cell == Cell::Present { Cell::Unknown } else { cell.clone() };
    rows.iter().map(|row| row.iter().map(settle).collect()).collect()
}
