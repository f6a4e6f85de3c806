//! The operational semantics (section 7): event-driven, without normalisation, locally backwards.
//!
//! Cells are filled by the equations: an equation looks at the cells of its streams and joins what it can conclude into them,
//! in any direction; presence spreads backwards as well as forwards. A cycle is opened when nothing is left to conclude in
//! those that are open. The result does not depend on the order, since updates are monotone and are joins; the order
//! here is the lowest cycle, then the first equation.
//!
//! An equation runs when a cell that it mentions changes, and only then. Delays look at other cycles: one that needs the
//! neighbouring activation of its stream searches for it once and then waits at the cell where the search stopped
//! ([`delay`]), so that nothing is scanned twice.
//!
//! Cycles in which everything that is needed is known are released, oldest first. Of them only the last value of each `fby` is
//! kept, so the memory in use is the window between the oldest cycle that is not complete and the newest one. What is
//! needed is everything, or what certain streams are made of; the others are computed while their cycle is open.
//!
//! * [`update`]: the rules for one equation at one cycle (Definitions 5 to 8).
//! * [`delay`]: `fby`, `fby back` and `post` (Definitions 9 and 10).
//! * [`window`]: the open cycles and what is left to do in them.

mod delay;
mod tables;
mod update;
mod window;

use eddy_tensor::{EvalError, Value};

use crate::causality::{needed, waiting};
use crate::cell::Cell;
use crate::clocks::{Clock, Clocks, Root};
use crate::flow::{Flow, Kind, VarId};
use tables::Tables;
use window::Window;

/// How a program is simulated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether `if` waits for the branch that it does not choose.
    pub strict: bool,
    /// The seed of random initialisers.
    pub seed: u64,
    /// At most so many cycles may be open at once.
    pub max_window: Option<usize>,
    /// Whether numbers have single precision.
    pub single: bool,
}

/// What the environment says about an input at a cycle.
pub type Input = Cell;

/// Why a simulation cannot go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// An operation has no value.
    Operation {
        /// The number of the equation.
        equation: usize,
        /// The cycle.
        cycle: u64,
        /// What is wrong.
        error: EvalError,
    },
    /// More cycles are open than may be.
    Window {
        /// The oldest cycle that is not complete.
        cycle: u64,
        /// A stream that is not known there.
        var: VarId,
        /// How many cycles may be open.
        limit: usize,
    },
}

/// How the first contradiction came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The cycle.
    pub cycle: u64,
    /// The stream that cannot be what is said of it.
    pub var: VarId,
    /// Whether it is there; otherwise it is absent.
    pub is_there: bool,
    /// The equation that needs it to be otherwise.
    pub equation: usize,
}

/// What a delay knows of the cycles that were released.
#[derive(Clone, Debug)]
enum Past {
    /// Its stream was absent in all of them.
    None,
    /// The value of its operand at the last activation.
    Value(Value),
    /// Nothing: it is not needed, and the last activation was not known when its cycle was released.
    Forgotten,
}

/// A program that is being simulated.
pub struct Simulation<'a> {
    flow: &'a Flow,
    tables: Tables,
    /// For each stream the number of its equation.
    definitions: Vec<Option<usize>>,
    window: Window,
    options: Options,
    /// Streams that the environment demands, and the numbers of the inputs whose presence decides; without any, they are always
    /// there.
    demands: Vec<(VarId, Vec<usize>)>,
    /// For each delay the value of its operand at the last released activation.
    past: Vec<Past>,
    /// For each delay that looks ahead the cycle that waits for the next one to be opened.
    frontier: Vec<Option<u64>>,
    is_ended: bool,
    n_firings: u64,
    is_output: Vec<bool>,
    /// Streams that nobody needs and that wait for later cycles: nobody learns if they have no value.
    is_left_alone: Vec<bool>,
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
            is_left_alone: vec![false; flow.vars.len()],
            look_ahead: 0,
            widest: 0,
            current: None,
            contradiction: None,
        }
    }

    /// Before the first cycle: a cycle is complete when these streams and all that they are made of are known there.
    #[must_use]
    pub fn needing(mut self, clocks: &Clocks, streams: &[VarId]) -> Self {
        let is_needed = needed(self.flow, clocks, streams);
        let is_waiting = waiting(self.flow, clocks);
        self.is_left_alone =
            is_needed.iter().zip(is_waiting).map(|(is_needed, waits)| waits && !is_needed).collect();
        self.window.need(is_needed);
        self
    }

    /// Puts a value into a `fby`, as if that had been the last value of its operand.
    pub fn restore(&mut self, var: VarId, value: Value) {
        if let Some((number, _)) = self.fby_of(var) {
            let delay = self.tables.delay(number);
            self.past[delay] = Past::Value(if self.options.single { value.to_num32() } else { value });
        }
    }

    /// The value that a `fby` would have at its next activation, as far as it is known.
    pub fn memory(&self, var: VarId) -> Option<&Value> {
        let (number, next) = self.fby_of(var)?;
        let open = (self.window.first()..self.window.end()).rev();
        let last = open.map(|cycle| self.cell(cycle, next)).find_map(Cell::value);
        let past = match &self.past[self.tables.delay(number)] {
            Past::Value(value) => Some(value),
            Past::None | Past::Forgotten => None,
        };
        last.or(past)
    }

    /// What some `fby`s would be at their next activation after the last cycle at which all of them are known; one that was never active has no
    /// value. Tells how many cycles that is after; none if there is no such cycle, from the one before the window on.
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

    /// Opens a cycle with these inputs, in the order of the program's inputs, and concludes what can be concluded.
    pub fn open(&mut self, inputs: &[Input]) -> Result<(), Failure> {
        self.open_cycle(inputs)?;
        self.run()
    }

    /// As [`open`](Self::open), as long as there is time; returns `None` if the time was too short. The simulation is then of no further use.
    pub fn open_in_time(
        &mut self,
        inputs: &[Input],
        has_time: &mut dyn FnMut() -> bool,
    ) -> Option<Result<(), Failure>> {
        match self.open_cycle(inputs) {
            Ok(()) => self.run_in_time(has_time),
            Err(failure) => Some(Err(failure)),
        }
    }

    /// Something is known about a stream at the last cycle: concludes what follows from that.
    pub fn learn(&mut self, var: VarId, cell: &Input) -> Result<(), Failure> {
        let last = self.window.end() - 1;
        match cell {
            Cell::Value(value) if self.options.single => {
                self.join(last, var, &Cell::Value(value.to_num32()));
            }
            cell => self.join(last, var, cell),
        }
        self.run()
    }

    /// As [`open`](Self::open), for the last cycle: the trace is known to end there.
    pub fn open_last(&mut self, inputs: &[Input]) -> Result<(), Failure> {
        self.open_cycle(inputs)?;
        self.end()
    }

    /// There are no more cycles: concludes what follows from that.
    pub fn end(&mut self) -> Result<(), Failure> {
        self.is_ended = true;
        self.wake_frontier();
        self.run()
    }

    /// As [`end`](Self::end), as long as there is time.
    pub fn end_in_time(&mut self, has_time: &mut dyn FnMut() -> bool) -> Option<Result<(), Failure>> {
        self.is_ended = true;
        self.wake_frontier();
        self.run_in_time(has_time)
    }

    fn open_cycle(&mut self, inputs: &[Input]) -> Result<(), Failure> {
        if let Some(limit) = self.options.max_window
            && self.window.len() >= limit
        {
            let (cycle, var) = self.oldest_unknown();
            return Err(Failure::Window { cycle, var, limit });
        }
        let cycle = self.window.open();
        self.widest = self.widest.max(self.window.len());
        self.meet_frontier(cycle);
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
            // Always, if no input decides; otherwise as the inputs of the root are, as far as that is known.
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

    fn run(&mut self) -> Result<(), Failure> {
        self.run_in_time(&mut || true).expect("there is time")
    }

    /// Concludes what can be concluded. Where an operation has no value the others go on, so that what is told, and what is known beside it, does not
    /// depend on the order of equations: it is the first equation at the earliest cycle.
    fn run_in_time(&mut self, has_time: &mut dyn FnMut() -> bool) -> Option<Result<(), Failure>> {
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
            Some(((cycle, equation), error)) => Err(Failure::Operation { equation, cycle, error }),
            None => Ok(()),
        })
    }

    /// Joins something into a cell, and schedules whoever mentions it.
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

    /// Remembers what was known of a stream that could not become this cell.
    #[cold]
    fn contradict(&mut self, cycle: u64, var: VarId, cell: &Cell) {
        if let (Some(equation), Cell::Absent | Cell::Present | Cell::Value(_)) = (self.current, cell) {
            let is_there = *cell == Cell::Absent;
            self.contradiction = Some(Contradiction { cycle, var, is_there, equation });
        }
    }

    /// How the first contradiction came about, if there is one.
    pub fn contradiction(&self) -> Option<Contradiction> {
        self.contradiction
    }

    /// The first cycle that was not released.
    pub fn first_cycle(&self) -> u64 {
        self.window.first()
    }

    /// The number of cycles that were opened.
    pub fn n_cycles(&self) -> u64 {
        self.window.end()
    }

    /// How many cycles are kept.
    pub fn n_open(&self) -> usize {
        self.window.len()
    }

    /// The largest number of later cycles that were open when an output got its final status.
    pub fn look_ahead(&self) -> u64 {
        self.look_ahead
    }

    /// The largest number of cycles that were open at once.
    pub fn widest_window(&self) -> u64 {
        self.widest as u64
    }

    /// How many updates changed a cell.
    pub fn n_firings(&self) -> u64 {
        self.n_firings
    }

    /// What is known about a stream at a cycle that was not released.
    pub fn cell(&self, cycle: u64, var: VarId) -> &Cell {
        self.window.cell(cycle, var)
    }

    /// Whether everything that is needed is known at a cycle that was not released.
    pub fn is_complete(&self, cycle: u64) -> bool {
        self.window.is_complete(cycle)
    }

    /// Forgets the first cycle, in which everything that is needed is known.
    pub fn release(&mut self) {
        let cycle = self.window.first();
        debug_assert!(self.window.is_complete(cycle), "only complete cycles are released");
        self.remember(cycle);
        self.window.release();
    }

    /// The lowest cycle with a contradiction, and the first equation whose stream has it there.
    pub fn first_error(&self) -> Option<(u64, usize)> {
        let cycle = self.window.first_wrong()?;
        let mut equations = self.flow.equations.iter();
        let equation = equations.position(|equation| *self.cell(cycle, equation.out) == Cell::Error);
        Some((cycle, equation.expect("an input in error has put its equations in error")))
    }

    fn oldest_unknown(&self) -> (u64, VarId) {
        let cycles = self.window.first()..self.window.end();
        let is_open = |cycle, var| self.window.is_needed(var) && !self.cell(cycle, var).is_final();
        let unknown = |cycle: u64| self.flow.var_ids().find(|var| is_open(cycle, *var));
        let mut found = cycles.filter_map(|cycle| Some((cycle, unknown(cycle)?)));
        found.next().unwrap_or((self.window.first(), VarId::new(0)))
    }
}
