//! Inputs that are read on demand: those on a sampled clock that have a file of their own.
//!
//! In `o = merge c x 0.0` the input `x` is present only where `c` is true. If `x` has its own file
//! (`--in x=FILE`), a row of that file is read only when the clock of `x` is active: the program drives its
//! input (section 7 of the paper on bidirectional reactive programming). The conditions of such clocks are
//! simulated beside the program, with only the equations that they depend on.
//!
//! Decision: a file may still have a row for each cycle, with an absent cell where the clock is false. So a
//! demand skips at most as many rows without a value as there were cycles since the last row.
//!
//! Decision: if a condition looks ahead (`post`, `fby back`), it cannot be known in time whether a row is
//! demanded. Such an input is read at each cycle, as all others are; the same holds for the inputs of a
//! batch, of `--unchecked` programs, of training and of `gradcheck`.

use eddy_flow::{Flow, Polarity, VarId};
use eddy_language::causality::{needed, waiting};
use eddy_language::clocks::{Clock, Clocks, Root};
use eddy_language::prepare::Prepared;
use eddy_language::semantics::Cell;
use eddy_language::semantics::simulate::{Options, Simulation};
use eddy_tensor::Type;

use super::{Columns, Stopped, cell_of};

/// The inputs that are read on demand, and the equations of their conditions.
pub(crate) struct Demands {
    inputs: Vec<Demanded>,
    flow: Flow,
    /// Outermost conditions that are present at every cycle. The equations that demand them are not
    /// simulated.
    always_present: Vec<VarId>,
}

#[derive(Clone)]
struct Demanded {
    /// Its position among the inputs.
    input: usize,
    /// The conditions of its clock, the outermost first, and their required values.
    conditions: Vec<(VarId, bool)>,
    /// The cycles since a row was read.
    n_silent: usize,
}

impl Demands {
    /// The inputs of a program that can be read on demand; `None` if there are none.
    pub fn of(prepared: &Prepared, columns: &Columns) -> Option<Demands> {
        let Prepared { flow, clocks, batch, .. } = prepared;
        let is_waiting = waiting(flow, clocks);
        let demanded = |input: usize| {
            let conditions = conditions(clocks, flow.inputs[input]);
            let is_known = !conditions.iter().any(|(condition, _)| is_waiting[condition.index()]);
            let is_demanded = !conditions.is_empty() && is_known && columns.has_own_file(input);
            is_demanded.then_some(Demanded { input, conditions, n_silent: 0 })
        };
        let inputs: Vec<Demanded> = (0..flow.inputs.len()).filter_map(demanded).collect();
        if inputs.is_empty() || batch.is_some() {
            return None;
        }
        let by: Vec<VarId> = inputs
            .iter()
            .flat_map(|input| input.conditions.iter().map(|(condition, _)| *condition))
            .collect();
        let is_needed = needed(flow, clocks, &by);
        let mut flow = flow.clone();
        flow.equations.retain(|equation| is_needed[equation.out.index()]);
        flow.outputs = by;
        let outermost = inputs.iter().map(|input| input.conditions[0].0);
        let is_always_present = |var: &VarId| clocks.clock(clocks.of(*var)) == Clock::Root(Root::Always);
        let always_present = outermost.filter(is_always_present).collect();
        Some(Demands { inputs, flow, always_present })
    }

    /// The positions of these inputs.
    pub fn inputs(&self) -> impl Iterator<Item = usize> {
        self.inputs.iter().map(|demanded| demanded.input)
    }
}

/// The conditions of a clock, the outermost first.
fn conditions(clocks: &Clocks, var: VarId) -> Vec<(VarId, bool)> {
    let (mut found, mut clock) = (Vec::new(), clocks.of(var));
    while let Clock::On { of, condition, polarity } = clocks.clock(clock) {
        found.push((condition, polarity == Polarity::On));
        clock = of;
    }
    found.reverse();
    found
}

/// The conditions at some cycle.
pub(crate) struct DemandRun<'a> {
    demands: &'a Demands,
    inputs: Vec<Demanded>,
    simulation: Simulation<'a>,
    /// Whether an operation failed: the program ends at that cycle, and demands nothing more.
    has_failed: bool,
    /// The number of cycles since the last demand.
    n_idle: u64,
}

/// After this many cycles without a demand, a run that ends only when a demanded file ends is reported as
/// idle. A simulator takes less than a second for them, and few programs that drive their inputs demand less
/// often.
pub(super) const IDLE_CYCLES: u64 = 100_000;

/// The result of a cycle.
pub(crate) enum DemandOutcome {
    /// All inputs that can be known are known.
    Answered,
    /// A file has no more rows.
    Ended,
}

impl<'a> DemandRun<'a> {
    /// Before the first cycle.
    pub fn new(demands: &'a Demands, clocks: &Clocks, options: Options) -> DemandRun<'a> {
        let flow = &demands.flow;
        let options = Options { max_window: None, ..options };
        let simulation = Simulation::new(flow, clocks, options).needing(clocks, &flow.outputs);
        DemandRun { demands, inputs: demands.inputs.clone(), simulation, has_failed: false, n_idle: 0 }
    }

    /// Whether no row was demanded for [`IDLE_CYCLES`] cycles; true once.
    pub fn becomes_idle(&self) -> bool {
        self.n_idle == IDLE_CYCLES
    }

    /// Reads the inputs that the program demands at a cycle into `cells`, which contain unknown cells for
    /// these inputs.
    pub fn cycle(
        &mut self,
        columns: &mut Columns,
        types: &[&Type],
        cells: &mut [Cell],
        cycle: u64,
    ) -> Result<DemandOutcome, Stopped> {
        let mut open: Vec<usize> = (0..self.inputs.len()).collect();
        self.n_idle += 1;
        for demanded in &self.inputs {
            cells[demanded.input] = Cell::Unknown;
        }
        self.has_failed |= self.simulation.open(cells).is_err();
        for condition in &self.demands.always_present {
            self.has_failed |= self.simulation.learn(*condition, &Cell::Present).is_err();
        }
        // One input may be the condition of another.
        while let Some((position, is_there)) = self.first_decided(&open) {
            let demanded = &mut self.inputs[open.remove(position)];
            let (input, n_silent) = (demanded.input, demanded.n_silent);
            cells[input] = Cell::Absent;
            demanded.n_silent += 1;
            if is_there {
                demanded.n_silent = 0;
                self.n_idle = 0;
                match columns.next_of(input, n_silent)? {
                    Some(row) => {
                        let flow = &self.demands.flow;
                        cells[input] = cell_of(columns, flow, (input, types[input]), &row, cycle)?;
                    }
                    None => return Ok(DemandOutcome::Ended),
                }
            }
            let var = self.demands.flow.inputs[input];
            self.has_failed |= self.simulation.learn(var, &cells[input]).is_err();
        }
        let simulation = &mut self.simulation;
        while simulation.first_cycle() < simulation.n_cycles()
            && simulation.is_complete(simulation.first_cycle())
        {
            simulation.release();
        }
        Ok(DemandOutcome::Answered)
    }

    /// The first of these inputs whose presence is known: its position in the list, and its presence.
    fn first_decided(&self, open: &[usize]) -> Option<(usize, bool)> {
        if self.has_failed {
            return None;
        }
        let last = self.simulation.n_cycles() - 1;
        let is_there = |demanded: &Demanded| {
            for (condition, truth) in &demanded.conditions {
                match self.simulation.cell(last, *condition) {
                    Cell::Absent => return Some(false),
                    cell if cell.truth()? != *truth => return Some(false),
                    _ => {}
                }
            }
            Some(true)
        };
        let mut decided = open.iter().enumerate();
        decided.find_map(|(position, at)| Some((position, is_there(&self.inputs[*at])?)))
    }
}
