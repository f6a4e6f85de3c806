//! Machine code, cycle by cycle.
//!
//! Compiled code runs cycles whose inputs respect the clocks, and windows that are closed. It hands all rare
//! cases to the simulator or the executor of plans ([`Takeover`]): the window that is open when the stream
//! ends, unknown inputs, inputs that contradict the clocks, operations without a value, windows that are too
//! long. The engine that takes over runs all rows since the end of the last window again.

use std::collections::VecDeque;

use eddy_compile::emit::Shape;
use eddy_compile::machine::{Machine, StepError};
use eddy_flow::VarId;
use eddy_language::clocks::{Clock, Root};
use eddy_language::semantics::Cell;
use eddy_tensor::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::history::History;
use super::program::Compilation;
use super::simulated::learnt;
use super::takeover::{Start, Takeover};
use super::{EngineError, EngineInput};

/// A program that runs as machine code.
pub struct Compiled<'a> {
    source: EngineInput<'a>,
    compilation: &'a Compilation,
    machine: Machine,
    /// For each root, the positions of its inputs.
    roots: Vec<Vec<usize>>,
    /// The part of the state before the first of `rows` that has changed since.
    start: Start,
    start_cycle: u64,
    /// Whether no stream was present before the first of the rows. Delays then start with the values of their
    /// equations, whatever compiled code has stored, or with the restored values.
    is_fresh: bool,
    restored: Vec<(VarId, Value)>,
    /// The cycles to run again after a takeover.
    rows: Vec<Vec<Cell>>,
    /// For each cycle without a result so far, which inputs on sampled clocks are present.
    unchecked: VecDeque<Vec<bool>>,
    /// The state some cycles ago, if windows run later than they end.
    history: History,
    takeover: Option<Takeover<'a>>,
    found: VecDeque<Vec<Cell>>,
}

impl<'a> Compiled<'a> {
    /// A program before its first cycle.
    pub fn new(source: EngineInput<'a>, compilation: &'a Compilation) -> Compiled<'a> {
        let machine = Machine::new(compilation.emitted.clone(), &compilation.library);
        let mut compiled = Compiled {
            source,
            compilation,
            machine,
            roots: roots(source),
            start: Start::default(),
            start_cycle: 0,
            is_fresh: true,
            restored: Vec::new(),
            rows: Vec::new(),
            unchecked: VecDeque::new(),
            history: History::new(&compilation.emitted),
            takeover: None,
            found: VecDeque::new(),
        };
        compiled.start_rows();
        compiled
    }

    pub fn restore(&mut self, values: Vec<(VarId, Value)>) {
        self.machine.remember(&values);
        self.restored = values;
        self.start_rows();
    }

    /// How many cycles before the end of the trace the executor of plans takes over. At the end, the late
    /// streams of this many cycles are not computed yet. The executor computes their known values, and needs
    /// all of these cycles to do so.
    pub fn n_before_end(&self) -> usize {
        match (&self.compilation.emitted.shape, self.source.flow.persistent_state.is_empty()) {
            (Shape::Late(_), false) => self.compilation.plan.max_lag(),
            _ => 0,
        }
    }

    pub fn near_end(&mut self) -> Result<(), EngineError> {
        let is_late = matches!(self.compilation.emitted.shape, Shape::Late(_));
        if is_late && self.takeover.is_none() { self.take_over() } else { Ok(()) }
    }

    pub fn give(&mut self, parameter: VarId, value: &Value) {
        self.machine.give(parameter, value);
    }

    pub fn state(&self) -> Option<Vec<Option<Value>>> {
        match &self.takeover {
            Some(takeover) => takeover.state(),
            None => Some(self.machine.delay_states(&learnt(self.source.flow))),
        }
    }

    pub fn next_row(&mut self) -> Option<Vec<Cell>> {
        self.found.pop_front()
    }

    /// Whether the simulator has taken over and has not handed back.
    pub fn is_taken_over(&self) -> bool {
        self.takeover.is_some()
    }

    pub fn open(&mut self, cells: &[Cell]) -> Result<(), EngineError> {
        if self.takeover.is_some() {
            self.open_elsewhere(cells)?;
            self.resume_compiled();
            return Ok(());
        }
        self.open_here(cells)?;
        self.resume_compiled();
        Ok(())
    }

    fn open_here(&mut self, cells: &[Cell]) -> Result<(), EngineError> {
        self.rows.push(cells.to_vec());
        let is_known = !cells.iter().any(|cell| matches!(cell, Cell::Unknown | Cell::Present | Cell::Error));
        if !is_known || !self.is_synchronous(cells) {
            return self.take_over();
        }
        let inputs: Vec<Option<Value>> = cells.iter().map(|cell| cell.value().cloned()).collect();
        if let Err(StepError::Operation(_) | StepError::Full | StepError::Mixed) = self.machine.step(&inputs)
        {
            return self.take_over();
        }
        let is_there = |(input, _): &(usize, _)| inputs[*input].is_some();
        self.unchecked.push_back(self.compilation.sampled.iter().map(is_there).collect());
        self.history.step(&self.machine);
        let n_found = self.found.len();
        if !self.take_rows() {
            return self.take_over();
        }
        let n_done = match self.compilation.emitted.shape {
            // A takeover starts at the first cycle of the window; a trace is one window.
            Shape::Windows { .. } | Shape::Trace => self.found.len() - n_found,
            Shape::Forward | Shape::Late(_) => self.rows.len(),
        };
        if n_done > 0 {
            self.start_cycle += n_done as u64;
            let is_active =
                |cells: &Vec<Cell>| cells.is_empty() || cells.iter().any(|cell| *cell != Cell::Absent);
            self.is_fresh &= !self.rows[..n_done].iter().any(is_active);
            self.rows.drain(..n_done);
            self.start_rows();
        }
        Ok(())
    }

    /// Ends the trace: hands the open window to the simulator.
    pub fn end(&mut self) -> Result<(), EngineError> {
        // Late streams of the last cycles are still missing, even if all outputs are known.
        let is_late = matches!(self.compilation.emitted.shape, Shape::Late(_));
        let is_open = is_late || !self.machine.is_between_windows();
        if self.takeover.is_none() && is_open {
            let start = self.start();
            // Compiled code continues with placeholders for unknown values, so all state that outlives the
            // trace must be known.
            let is_known = self.compilation.is_state_known;
            let is_run = self.compilation.emitted.is_flushed && !is_late && is_known && self.flush();
            if !is_run {
                self.take_over_from(start)?;
            }
        }
        match &mut self.takeover {
            Some(takeover) => {
                let ended = takeover.end();
                self.found.extend(std::iter::from_fn(|| takeover.next_row()));
                ended
            }
            None => Ok(()),
        }
    }

    /// Runs the remaining cycles; returns whether no window stays open and the inputs respect the clocks.
    fn flush(&mut self) -> bool {
        self.machine.flush().is_ok() && self.machine.is_between_windows() && self.take_rows()
    }

    /// Takes the complete rows; returns whether their inputs respect the clocks.
    fn take_rows(&mut self) -> bool {
        let mut rows = Vec::new();
        while let Some(values) = self.machine.next_row() {
            if !self.respects_conditions(self.unchecked.get(rows.len()), &values) {
                return false;
            }
            rows.push(values);
        }
        for values in rows {
            self.unchecked.pop_front();
            let cells = (0..self.source.shown.len()).map(|output| self.cell(output, &values));
            self.found.push_back(cells.collect());
        }
        true
    }

    /// The cell of an output.
    fn cell(&self, output: usize, values: &[Option<Value>]) -> Cell {
        let companion = self.compilation.companions.get(output).copied().flatten();
        let is_known = companion.and_then(|companion| values[companion].as_ref()?.as_bool());
        match &values[output] {
            None => Cell::Absent,
            Some(_) if is_known == Some(false) => Cell::Present,
            Some(value) => Cell::Value(value.clone()),
        }
    }

    /// Saves the state that the next rows will change, if they may have to run again.
    fn start_rows(&mut self) {
        let Compilation { emitted, sampled, .. } = self.compilation;
        let may_be_run_again = emitted.can_fail || !sampled.is_empty();
        let is_windows = matches!(emitted.shape, Shape::Windows { .. } | Shape::Trace);
        let n_vars = self.source.flow.vars.len();
        let memories = emitted.delay_states.iter().filter(|memory| memory.fby.index() < n_vars);
        let changed = memories.filter(|memory| may_be_run_again || is_windows && memory.lag.is_some());
        self.start = Start {
            delay_states: changed
                .map(|memory| (memory.fby, self.history.value(&self.machine, memory)))
                .collect(),
            late: if may_be_run_again { self.machine.late_state() } else { None },
        };
    }

    /// The whole state before the first of the rows.
    fn start(&mut self) -> Start {
        let n_vars = self.source.flow.vars.len();
        let memories = self.compilation.emitted.delay_states.iter();
        let memories = memories.filter(|memory| memory.fby.index() < n_vars);
        if self.is_fresh {
            let restored: FxHashMap<VarId, &Value> =
                self.restored.iter().map(|(fby, value)| (*fby, value)).collect();
            let value = |fby: VarId| (fby, restored.get(&fby).map(|value| (*value).clone()));
            return Start { delay_states: memories.map(|memory| value(memory.fby)).collect(), late: None };
        }
        let mut start = std::mem::take(&mut self.start);
        start.late = start.late.or_else(|| self.machine.late_state());
        let known: FxHashSet<VarId> = start.delay_states.iter().map(|(fby, _)| *fby).collect();
        let mut others: Vec<VarId> = memories.map(|memory| memory.fby).collect();
        others.retain(|fby| !known.contains(fby));
        let values = self.machine.delay_states(&others);
        start.delay_states.extend(others.into_iter().zip(values));
        start
    }

    /// Hands these rows and all later ones to the simulator or the executor of plans.
    fn take_over(&mut self) -> Result<(), EngineError> {
        let start = self.start();
        self.take_over_from(start)
    }

    fn take_over_from(&mut self, start: Start) -> Result<(), EngineError> {
        self.takeover = Some(Takeover::new(self.source, self.compilation, start, self.start_cycle));
        for cells in std::mem::take(&mut self.rows) {
            self.open_elsewhere(&cells)?;
        }
        Ok(())
    }

    fn open_elsewhere(&mut self, cells: &[Cell]) -> Result<(), EngineError> {
        let takeover = self.takeover.as_mut().expect("the simulator or the executor runs the program");
        let opened = takeover.open(cells);
        self.start_cycle += 1;
        self.found.extend(std::iter::from_fn(|| takeover.next_row()));
        opened
    }

    /// Continues in compiled code after a takeover, if a window ended at this cycle.
    fn resume_compiled(&mut self) {
        let Some(memories) = self.takeover.as_ref().and_then(Takeover::hand_back) else { return };
        self.takeover = None;
        self.is_fresh = false;
        self.machine.start_window();
        self.unchecked.clear();
        self.machine.remember(&memories);
        self.start_rows();
    }

    /// Whether the inputs of each root are present together.
    fn is_synchronous(&self, cells: &[Cell]) -> bool {
        self.roots.iter().all(|inputs| {
            let mut absent = inputs.iter().map(|input| cells[*input] == Cell::Absent);
            let first = absent.next();
            absent.all(|absent| Some(absent) == first)
        })
    }

    /// Whether inputs on sampled clocks are present exactly where their conditions hold.
    fn respects_conditions(&self, inputs: Option<&Vec<bool>>, outputs: &[Option<Value>]) -> bool {
        let truth = |(output, truth): &(usize, bool)| {
            outputs[*output].as_ref().and_then(Value::as_bool) == Some(*truth)
        };
        let mut sampled = self.compilation.sampled.iter().zip(inputs.into_iter().flatten());
        sampled.all(|((_, conditions), is_there)| conditions.iter().all(truth) == *is_there)
    }
}

/// For each root, the positions of its inputs.
fn roots(source: EngineInput<'_>) -> Vec<Vec<usize>> {
    let mut roots: Vec<(VarId, Vec<usize>)> = Vec::new();
    for (position, input) in source.flow.inputs.iter().enumerate() {
        if let Clock::Root(Root::Input(owner)) = source.clocks.clock(source.clocks.of(*input)) {
            match roots.iter_mut().find(|(known, _)| *known == owner) {
                Some((_, inputs)) => inputs.push(position),
                None => roots.push((owner, vec![position])),
            }
        }
    }
    roots.into_iter().map(|(_, inputs)| inputs).collect()
}
