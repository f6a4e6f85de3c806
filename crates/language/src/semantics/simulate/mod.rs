//! The operational semantics (section 7): event-driven, without normalisation, locally backwards.
//!
//! An equation reads the cells of its streams and joins its conclusions into them, in any direction: presence
//! propagates backwards as well as forwards. A new cycle is opened when the open ones allow no further
//! conclusion. The result does not depend on the order, because updates are monotone and are joins; the order
//! here is the lowest cycle, then the first equation.
//!
//! An equation runs only when a cell that it mentions changes. A delay reads other cycles: it searches for
//! the neighbouring activation of its stream once and then waits at the cell where the search stopped
//! ([`delay`]), so that no cell is scanned twice.
//!
//! Cycles are released, oldest first, once all needed cells are known. Of released cycles only the last value
//! of each `fby` is kept, so the memory in use is the window between the oldest incomplete cycle and the
//! newest one. By default all streams are needed; [`Simulation::needing`] restricts them to some streams and
//! their dependencies. The other streams are computed only while their cycle is open.
//!
//! * [`update`]: the rules for one equation at one cycle (Definitions 5 to 8).
//! * [`delay`]: `fby`, `fby back` and `post` (Definitions 9 and 10).
//! * [`window`]: the open cycles and the equations scheduled in them.

mod delay;
mod tables;
mod update;
mod window;

use eddy_tensor::{EvalError, Value};

use crate::causality::{needed, waiting};
use crate::clocks::{Clock, Clocks, Root};
use crate::flow::{Flow, Kind, VarId};
use crate::semantics::Cell;
use tables::Tables;
use window::Window;

#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether `if` waits for the branch that it does not select.
    pub strict: bool,
    pub seed: u64,
    /// The largest number of cycles that may be open at once.
    pub max_window: Option<usize>,
    /// Whether numbers have single precision.
    pub single: bool,
}

/// The cell of an input at a cycle, given by the environment.
pub type Input = Cell;

/// Why a simulation cannot continue.
#[derive(Clone, Debug, PartialEq)]
pub enum SimulationError {
    /// An operation has no value.
    Operation {
        /// The index of the equation.
        equation: usize,
        cycle: u64,
        error: EvalError,
    },
    /// More cycles are open than `Options::max_window` allows.
    Window {
        /// The oldest incomplete cycle.
        cycle: u64,
        /// A stream that is unknown there.
        var: VarId,
        limit: usize,
    },
}

/// The cause of the first contradiction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    pub cycle: u64,
    /// The stream with contradictory cells.
    pub var: VarId,
    /// Whether it is present; otherwise it is absent.
    pub is_there: bool,
    /// The equation that requires the opposite.
    pub equation: usize,
}

/// The released cycles as seen by a delay.
#[derive(Clone, Debug)]
enum Past {
    /// Its stream was absent in all of them.
    None,
    /// The value of its operand at the last activation.
    Value(Value),
    /// Unknown: the stream is not needed, and its last activation was unknown when its cycle was released.
    Forgotten,
}

pub struct Simulation<'a> {
    flow: &'a Flow,
    tables: Tables,
    /// For each stream the index of its equation.
    definitions: Vec<Option<usize>>,
    window: Window,
    options: Options,
    /// Streams whose presence the environment decides, with the indices of the inputs that decide it; without
    /// such inputs, they are always present.
    demands: Vec<(VarId, Vec<usize>)>,
    /// For each delay the value of its operand at the last released activation.
    past: Vec<Past>,
    /// For each delay that looks ahead, the cycle that waits for the next one to be opened.
    frontier: Vec<Option<u64>>,
    is_ended: bool,
    n_firings: u64,
    is_output: Vec<bool>,
    /// Streams that are not needed and wait for later cycles: an operation without a value is no error there.
    may_lack_value: Vec<bool>,
    look_ahead: u64,
    widest: usize,
    /// The equation that is being applied.
    current: Option<usize>,
    contradiction: Option<Contradiction>,
}

impl<'a> Simulation<'a> {
    /// A program before its first cycle.
    pub fn new(flow: &'a Flow, clocks: &Clocks, options: Options) -> Self {
        let tables = Tables::new(flow, options);
        let owners = |var: &VarId| match clocks.clock(clocks.of(*var)) {
            Clock::Root(Root::Input(owner)) => {
                let on_root = clocks.inputs_on_root(flow, owner);
                (0..flow.inputs.len()).filter(|index| on_root.contains(&flow.inputs[*index])).collect()
            }
            _ => Vec::new(),
        };
        let demands = clocks.demanded().iter().map(|var| (*var, owners(var))).collect();
        let n_delays = tables.n_delays();
        let mut is_output = vec![false; flow.vars.len()];
        for output in &flow.outputs {
            is_output[output.index()] = true;
        }
        Simulation {
            flow,
            definitions: flow.definitions(),
            window: Window::new(flow.vars.len(), flow.equations.len(), n_delays),
            tables,
            options,
            demands,
            past: vec![Past::None; n_delays],
            frontier: vec![None; n_delays],
            is_ended: false,
            n_firings: 0,
            is_output,
            may_lack_value: vec![false; flow.vars.len()],
            look_ahead: 0,
            widest: 0,
            current: None,
            contradiction: None,
        }
    }

    /// Restricts the needed streams to these and their dependencies: a cycle is complete when they are known.
    /// Call it before the first cycle.
    #[must_use]
    pub fn needing(mut self, clocks: &Clocks, streams: &[VarId]) -> Self {
        let is_needed = needed(self.flow, clocks, streams);
        let is_waiting = waiting(self.flow, clocks);
        self.may_lack_value =
            is_needed.iter().zip(is_waiting).map(|(is_needed, waits)| waits && !is_needed).collect();
        self.window.need(is_needed);
        self
    }

    /// Sets the state of a `fby`, as if `value` had been the last value of its operand.
    pub fn restore(&mut self, var: VarId, value: Value) {
        if let Some((number, _)) = self.fby_of(var) {
            let delay = self.tables.delay(number);
            self.past[delay] = Past::Value(if self.options.single { value.to_num32() } else { value });
        }
    }

    /// The value that a `fby` will have at its next activation, if known.
    pub fn delay_state(&self, var: VarId) -> Option<&Value> {
        let (number, next) = self.fby_of(var)?;
        let open = (self.window.first()..self.window.end()).rev();
        let last = open.map(|cycle| self.cell(cycle, next)).find_map(Cell::value);
        let past = match &self.past[self.tables.delay(number)] {
            Past::Value(value) => Some(value),
            Past::None | Past::Forgotten => None,
        };
        last.or(past)
    }

    /// The state of some `fby`s after the last cycle at which all of them are known, and the number of cycles
    /// up to and including that cycle. A `fby` that was never active has no value. `None` if neither the last
    /// released cycle nor an open cycle is such a cycle.
    pub fn state(&self, fbys: &[VarId]) -> Option<(u64, Vec<Option<Value>>)> {
        let delays: Vec<(usize, VarId)> = fbys.iter().filter_map(|fby| self.fby_of(*fby)).collect();
        let past = |number: usize| &self.past[self.tables.delay(number)];
        let is_forgotten = |(number, _): &(usize, VarId)| matches!(past(*number), Past::Forgotten);
        let mut is_unknown: Vec<bool> = delays.iter().map(is_forgotten).collect();
        let mut n_unknown = is_unknown.iter().filter(|is_unknown| **is_unknown).count();
        let mut end = (n_unknown == 0).then_some(self.window.first());
        for cycle in self.window.first()..self.window.end() {
            for ((_, next), is_unknown) in delays.iter().zip(&mut is_unknown) {
                let is_value = match self.cell(cycle, *next) {
                    Cell::Absent => continue,
                    cell => cell.value().is_some(),
                };
                n_unknown = n_unknown + usize::from(!is_value) - usize::from(*is_unknown);
                *is_unknown = !is_value;
            }
            if n_unknown == 0 {
                end = Some(cycle + 1);
            }
        }
        let cycles = self.window.first()..end?;
        let value = |(number, next): &(usize, VarId)| {
            let newest = cycles.clone().rev().find_map(|cycle| self.cell(cycle, *next).value());
            newest.or(if let Past::Value(value) = past(*number) { Some(value) } else { None }).cloned()
        };
        Some((cycles.end, delays.iter().map(value).collect()))
    }

    fn fby_of(&self, var: VarId) -> Option<(usize, VarId)> {
        let number = self.definitions[var.index()]?;
        match self.flow.equations[number].kind {
            Kind::Fby { next, .. } => Some((number, next)),
            _ => None,
        }
    }

    /// Opens a cycle with these inputs, in the order of the program's inputs, and runs all scheduled
    /// equations.
    pub fn open(&mut self, inputs: &[Input]) -> Result<(), SimulationError> {
        self.open_cycle(inputs)?;
        self.run()
    }

    /// As [`open`](Self::open), with a time limit: returns `None` as soon as `has_time` is false. The
    /// simulation must not be used after that.
    pub fn open_in_time(
        &mut self,
        inputs: &[Input],
        has_time: &mut dyn FnMut() -> bool,
    ) -> Option<Result<(), SimulationError>> {
        match self.open_cycle(inputs) {
            Ok(()) => self.run_in_time(has_time),
            Err(failure) => Some(Err(failure)),
        }
    }

    /// Joins a cell into a stream at the last cycle, and runs all scheduled equations.
    pub fn learn(&mut self, var: VarId, cell: &Input) -> Result<(), SimulationError> {
        let last = self.window.end() - 1;
        match cell {
            Cell::Value(value) if self.options.single => {
                self.join(last, var, &Cell::Value(value.to_num32()));
            }
            cell => self.join(last, var, cell),
        }
        self.run()
    }

    /// As [`open`](Self::open), for the last cycle of the trace.
    pub fn open_last(&mut self, inputs: &[Input]) -> Result<(), SimulationError> {
        self.open_cycle(inputs)?;
        self.end()
    }

    /// Ends the trace, and runs all scheduled equations.
    pub fn end(&mut self) -> Result<(), SimulationError> {
        self.is_ended = true;
        self.wake_frontier();
        self.run()
    }

    /// As [`end`](Self::end), with a time limit.
    pub fn end_in_time(&mut self, has_time: &mut dyn FnMut() -> bool) -> Option<Result<(), SimulationError>> {
        self.is_ended = true;
        self.wake_frontier();
        self.run_in_time(has_time)
    }

    fn open_cycle(&mut self, inputs: &[Input]) -> Result<(), SimulationError> {
        if let Some(limit) = self.options.max_window
            && self.window.len() >= limit
        {
            let (cycle, var) = self.oldest_unknown();
            return Err(SimulationError::Window { cycle, var, limit });
        }
        let cycle = self.window.open();
        self.widest = self.widest.max(self.window.len());
        self.resume_at_frontier(cycle);
        for (input, cell) in self.flow.inputs.iter().zip(inputs) {
            match cell {
                Cell::Value(value) if self.options.single => {
                    self.join(cycle, *input, &Cell::Value(value.to_num32()));
                }
                cell => self.join(cycle, *input, cell),
            }
        }
        for index in 0..self.demands.len() {
            let (var, owners) = &self.demands[index];
            // Present, if no input decides; otherwise what the cells of the deciding inputs say together.
            let status = if owners.is_empty() {
                Cell::Present
            } else {
                owners.iter().map(|owner| &inputs[*owner]).fold(Cell::Unknown, |mut status, cell| {
                    status.join(if cell.is_present() { &Cell::Present } else { cell });
                    status
                })
            };
            let var = *var;
            self.join(cycle, var, &status);
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), SimulationError> {
        self.run_in_time(&mut || true).expect("there is no time limit")
    }

    /// Runs all scheduled equations. If an operation has no value, the others continue, so that the reported
    /// error and the known cells do not depend on the order of equations: the error is that of the first
    /// equation at the earliest cycle.
    fn run_in_time(&mut self, has_time: &mut dyn FnMut() -> bool) -> Option<Result<(), SimulationError>> {
        let mut first = None;
        while let Some((cycle, equation)) = self.window.next() {
            if !has_time() {
                return None;
            }
            let before = self.window.n_changes;
            self.current = Some(equation);
            if let Err(error) = self.update(cycle, equation)
                && first.as_ref().is_none_or(|(place, _)| (cycle, equation) < *place)
            {
                first = Some(((cycle, equation), error));
            }
            if self.window.n_changes != before {
                self.n_firings += 1;
            }
        }
        Some(match first {
            Some(((cycle, equation), error)) => Err(SimulationError::Operation { equation, cycle, error }),
            None => Ok(()),
        })
    }

    /// Joins something into a cell, and schedules the equations that mention it.
    fn join(&mut self, cycle: u64, var: VarId, cell: &Cell) {
        if self.window.join(cycle, var, cell) {
            if self.is_output[var.index()] && self.window.cell(cycle, var).is_final() {
                self.look_ahead = self.look_ahead.max(self.window.end() - 1 - cycle);
            }
            for equation in self.tables.uses(var) {
                self.window.schedule(cycle, *equation);
            }
            if self.contradiction.is_none() && *self.window.cell(cycle, var) == Cell::Error {
                self.contradict(cycle, var, cell);
            }
        }
    }

    /// Records the cause of the first contradiction.
    #[cold]
    fn contradict(&mut self, cycle: u64, var: VarId, cell: &Cell) {
        if let (Some(equation), Cell::Absent | Cell::Present | Cell::Value(_)) = (self.current, cell) {
            let is_there = *cell == Cell::Absent;
            self.contradiction = Some(Contradiction { cycle, var, is_there, equation });
        }
    }

    /// The cause of the first contradiction, if there is one.
    pub fn contradiction(&self) -> Option<Contradiction> {
        self.contradiction
    }

    /// The first cycle that is not released.
    pub fn first_cycle(&self) -> u64 {
        self.window.first()
    }

    /// The number of opened cycles.
    pub fn n_cycles(&self) -> u64 {
        self.window.end()
    }

    /// The number of open cycles.
    pub fn n_open(&self) -> usize {
        self.window.len()
    }

    /// The largest number of later cycles that were open when an output became final.
    pub fn look_ahead(&self) -> u64 {
        self.look_ahead
    }

    /// The largest number of cycles that were open at once.
    pub fn widest_window(&self) -> u64 {
        self.widest as u64
    }

    /// The number of updates that changed a cell.
    pub fn n_firings(&self) -> u64 {
        self.n_firings
    }

    /// The cell of a stream at a cycle that is not released.
    pub fn cell(&self, cycle: u64, var: VarId) -> &Cell {
        self.window.cell(cycle, var)
    }

    /// Whether all needed streams are known at a cycle that is not released.
    pub fn is_complete(&self, cycle: u64) -> bool {
        self.window.is_complete(cycle)
    }

    /// Releases the first cycle, which must be complete.
    pub fn release(&mut self) {
        let cycle = self.window.first();
        debug_assert!(self.window.is_complete(cycle), "only complete cycles are released");
        self.save_operands(cycle);
        self.window.release();
    }

    /// The lowest cycle with a contradiction, and the first equation whose stream has it there.
    pub fn first_error(&self) -> Option<(u64, usize)> {
        let cycle = self.window.first_cycle_with_error()?;
        let mut equations = self.flow.equations.iter();
        let equation = equations.position(|equation| *self.cell(cycle, equation.out) == Cell::Error);
        Some((cycle, equation.expect("an error of an input propagates to its equations")))
    }

    fn oldest_unknown(&self) -> (u64, VarId) {
        let cycles = self.window.first()..self.window.end();
        let is_open = |cycle, var| self.window.is_needed(var) && !self.cell(cycle, var).is_final();
        let unknown = |cycle: u64| self.flow.var_ids().find(|var| is_open(cycle, *var));
        let mut found = cycles.filter_map(|cycle| Some((cycle, unknown(cycle)?)));
        found.next().unwrap_or((self.window.first(), VarId::new(0)))
    }
}
