//! The simulator, from some cycle on.

use std::collections::VecDeque;

use eddy_flow::{Flow, VarId};
use eddy_language::semantics::Cell;
use eddy_language::semantics::simulate::{self, Contradiction, Simulation};
use eddy_tensor::Value;

use super::{EngineError, EngineInput};

/// A simulated program.
pub struct Simulated<'a> {
    simulation: Simulation<'a>,
    shown: &'a [VarId],
    /// Delays that outlive the trace.
    outliving: Vec<VarId>,
    is_checked: bool,
    /// The number of the first cycle.
    start: u64,
    /// A condition whose value at the last cycle is recorded.
    watched: Option<VarId>,
    last_truth: Option<bool>,
    n_found: u64,
    found: VecDeque<Vec<Cell>>,
}

impl<'a> Simulated<'a> {
    /// A program before a cycle.
    pub fn new(source: EngineInput<'a>, start: u64) -> Simulated<'a> {
        let EngineInput { flow, clocks, shown, options, is_checked, .. } = source;
        // Other streams are computed while their cycle is open, but do not keep it open.
        let contracts = flow.contracts.iter().map(|contract| contract.var);
        let needed = flow.outputs.iter().chain(shown).copied().chain(learnt(flow)).chain(contracts);
        let needed: Vec<VarId> = needed.collect();
        let simulation = Simulation::new(flow, clocks, options).needing(clocks, &needed);
        Simulated {
            simulation,
            shown,
            outliving: learnt(flow),
            is_checked,
            start,
            watched: None,
            last_truth: None,
            n_found: 0,
            found: VecDeque::new(),
        }
    }

    /// Records the values of a condition.
    pub fn watching(self, watched: Option<VarId>) -> Simulated<'a> {
        Simulated { watched, ..self }
    }

    /// The value of the recorded condition at the last cycle, if it is known.
    pub fn last_truth(&self) -> Option<bool> {
        self.last_truth
    }

    pub fn restore(&mut self, fby: VarId, value: Value) {
        self.simulation.restore(fby, value);
    }

    pub fn delay_state(&self, fby: VarId) -> Option<Value> {
        self.simulation.delay_state(fby).cloned()
    }

    /// The state of the delays that outlive the trace; see [`Simulation::state`].
    pub fn state(&self) -> Option<Vec<Option<Value>>> {
        let (n_cycles, values) = self.simulation.state(&self.outliving)?;
        (self.start + n_cycles > 0).then_some(values)
    }

    pub fn open(&mut self, cells: &[Cell]) -> Result<(), EngineError> {
        let opened = self.simulation.open(cells);
        self.opened(opened)
    }

    /// As [`open`](Self::open), but returns `None` if the time runs out. The simulation is then unusable.
    pub fn open_in_time(
        &mut self,
        cells: &[Cell],
        has_time: &mut dyn FnMut() -> bool,
    ) -> Option<Result<(), EngineError>> {
        let opened = self.simulation.open_in_time(cells, has_time)?;
        Some(self.opened(opened))
    }

    fn opened(&mut self, opened: Result<(), simulate::SimulationError>) -> Result<(), EngineError> {
        let last = self.simulation.n_cycles().checked_sub(1);
        self.last_truth =
            last.zip(self.watched).and_then(|(last, watched)| self.simulation.cell(last, watched).truth());
        self.concluded(opened)
    }

    /// Ends the trace: all cells keep their present values.
    pub fn end(&mut self) -> Result<(), EngineError> {
        let ended = self.simulation.end();
        self.ended(ended)
    }

    /// As [`end`](Self::end), with limited time.
    pub fn end_in_time(&mut self, has_time: &mut dyn FnMut() -> bool) -> Option<Result<(), EngineError>> {
        let ended = self.simulation.end_in_time(has_time)?;
        Some(self.ended(ended))
    }

    fn ended(&mut self, ended: Result<(), simulate::SimulationError>) -> Result<(), EngineError> {
        self.concluded(ended)?;
        while self.n_found < self.simulation.n_cycles() {
            self.find();
        }
        Ok(())
    }

    pub fn next_row(&mut self) -> Option<Vec<Cell>> {
        self.found.pop_front()
    }

    /// Whether no cycle is open.
    pub fn is_idle(&self) -> bool {
        self.simulation.n_open() == 0
    }

    /// Processes the decided cycles, and drops those in which everything is known.
    fn concluded(&mut self, outcome: Result<(), simulate::SimulationError>) -> Result<(), EngineError> {
        // The cycle that stopped the program shows nothing.
        let n_good = match &outcome {
            Err(simulate::SimulationError::Operation { cycle, .. }) => *cycle,
            _ => self.simulation.n_cycles(),
        };
        while self.n_found < n_good && self.is_decided(self.n_found) {
            self.find();
        }
        let start = self.start;
        outcome.map_err(|failure| EngineError::Simulation(later(failure, start)))?;
        if let Some((cycle, equation)) = self.simulation.first_error()
            && self.is_checked
        {
            let contradiction = self.simulation.contradiction();
            let contradiction = contradiction.map(|one| Contradiction { cycle: one.cycle + start, ..one });
            return Err(EngineError::Synchronisation(cycle + start, equation, contradiction));
        }
        while self.simulation.first_cycle() < self.n_found
            && self.simulation.is_complete(self.simulation.first_cycle())
        {
            self.simulation.release();
        }
        Ok(())
    }

    fn find(&mut self) {
        let cell = |var: &VarId| self.simulation.cell(self.n_found, *var).clone();
        self.found.push_back(self.shown.iter().map(cell).collect());
        self.n_found += 1;
    }

    /// Whether all shown cells of a cycle are decided and may be shown.
    fn is_decided(&self, cycle: u64) -> bool {
        let is_decided = |cell: &Cell| cell.is_final() && !(self.is_checked && *cell == Cell::Error);
        self.shown.iter().all(|var| is_decided(self.simulation.cell(cycle, *var)))
    }

    pub fn stats(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("cycles", self.simulation.n_cycles()),
            ("look-ahead used", self.simulation.look_ahead()),
            ("widest window", self.simulation.widest_window()),
            ("updates", self.simulation.n_firings()),
        ]
    }
}

/// The delays that outlive a trace.
pub(super) fn learnt(flow: &Flow) -> Vec<VarId> {
    flow.persistent_state.iter().map(|memory| memory.var).collect()
}

/// A failure of a simulation that started at a later cycle.
fn later(failure: simulate::SimulationError, start: u64) -> simulate::SimulationError {
    match failure {
        simulate::SimulationError::Operation { equation, cycle, error } => {
            simulate::SimulationError::Operation { equation, cycle: cycle + start, error }
        }
        simulate::SimulationError::Window { cycle, var, limit } => {
            simulate::SimulationError::Window { cycle: cycle + start, var, limit }
        }
    }
}
