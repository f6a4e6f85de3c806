//! The shadow check: the first cycles of compiled code are also simulated, and compared bit for bit.
//!
//! C compilers have errors, and the C text that Eddy prints may have errors as well. At the beginning of a
//! run both engines get each row, in lock step. A row is passed on when both engines have computed it with
//! equal results; so an interactive stream is still answered row by row. When the two differ, the run
//! continues on the simulator, which has run since the first row: no wrong row was passed on, and no row is
//! passed on twice.
//!
//! The check ends after [`MAX_CYCLES`] cycles, or when the simulator has used up its [`Budget`]. If no row
//! was compared by then, because a window or the whole trace is longer, both engines also run the rows so far
//! as if the data ended there ([`Shadow::trial`]).
//!
//! Decision: two NaNs are equal, whatever their signs and payloads: IEEE 754 leaves these open, no operation
//! of Eddy distinguishes them, and all print as `nan`. Zeros with different signs differ.
//!
//! Decision: failures are compared too. Compiled code that runs in windows detects an operation without a
//! value when its window ends, later than the simulator; so it may continue until it has computed the rows
//! before that cycle. Failures of `--max-window` are not compared: the engines count open cycles differently.

#![expect(clippy::disallowed_methods, reason = "the check has a budget of time, which changes no result")]

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use eddy_compile::emit::Shape;
use eddy_flow::VarId;
use eddy_language::semantics::{Cell, simulate};
use eddy_tensor::Value;

use super::difference::Difference;
use super::program::Compilation;
use super::simulated::Simulated;
use super::{Engine, EngineError, EngineInput, Run};

/// The number of cycles to compare, if the simulator is fast enough. Compiled code of a program without
/// windows runs the same instructions at each cycle, so more cycles would mostly repeat the comparison.
const MAX_CYCLES: usize = 1000;

/// The budget for a run of any length.
const MIN_BUDGET: Duration = Duration::from_millis(50);

/// The budget is also this fraction of a run of known length.
const BUDGET_FRACTION: u32 = 100;

/// The simulator that runs the same cycles as compiled code.
pub(super) struct Shadow<'a> {
    source: EngineInput<'a>,
    compilation: &'a Compilation,
    reference: Box<Simulated<'a>>,
    reference_failure: Option<EngineError>,
    /// The state at the start of the run.
    restored: Vec<(VarId, Value)>,
    given: Vec<(VarId, Value)>,
    /// The inputs so far.
    inputs: Vec<Vec<Cell>>,
    compiled_rows: VecDeque<Vec<Cell>>,
    reference_rows: VecDeque<Vec<Cell>>,
    /// Rows that are equal in both engines.
    confirmed: VecDeque<Vec<Cell>>,
    n_compared: usize,
    budget: Budget,
}

/// The result of the comparison so far.
enum Verdict {
    Undecided,
    Agreed,
    /// The simulator was too slow for a single comparison.
    NotCompared,
    /// The engines differ; the simulator can continue unless it was told that the data end.
    Differ(Difference, CanGoOn),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CanGoOn {
    Yes,
    No,
}

/// The time that the simulator may use, and has used.
struct Budget {
    spent: Duration,
    compiled: Duration,
    n_cycles: u32,
    /// The number of cycles of the run, if it is known.
    expected_cycles: Option<u64>,
}

impl Budget {
    /// 50 ms, or 1 % of the expected time of compiled code.
    fn limit(&self) -> Duration {
        let per_cycle = self.compiled.checked_div(self.n_cycles).unwrap_or_default();
        let cycles = u32::try_from(self.expected_cycles.unwrap_or(0)).unwrap_or(u32::MAX);
        let whole = per_cycle.checked_mul(cycles).unwrap_or(Duration::MAX);
        (whole / BUDGET_FRACTION).max(MIN_BUDGET)
    }

    /// Half of the budget is for comparing cycles as they arrive, the rest for completing the comparison.
    fn is_half_spent(&self) -> bool {
        self.spent >= self.limit() / 2
    }

    /// Runs the simulator until the budget is spent.
    fn simulate<T>(&mut self, run: impl FnOnce(&mut dyn FnMut() -> bool) -> T) -> T {
        let (started, left) = (Instant::now(), self.limit().saturating_sub(self.spent));
        let result = run(&mut || started.elapsed() < left);
        self.spent += started.elapsed();
        result
    }
}

impl<'a> Engine<'a> {
    /// A compiled program before its first cycle, whose first cycles are also simulated. `expected_cycles` is
    /// the length of the run, if it is known; it determines the budget.
    pub fn shadowed(
        source: EngineInput<'a>,
        compilation: &'a Compilation,
        expected_cycles: Option<u64>,
    ) -> Engine<'a> {
        let started = Instant::now();
        let reference = Box::new(Simulated::new(source, 0));
        let budget =
            Budget { spent: started.elapsed(), compiled: Duration::ZERO, n_cycles: 0, expected_cycles };
        let shadow = Shadow {
            source,
            compilation,
            reference,
            reference_failure: None,
            restored: Vec::new(),
            given: Vec::new(),
            inputs: Vec::new(),
            compiled_rows: VecDeque::new(),
            reference_rows: VecDeque::new(),
            confirmed: VecDeque::new(),
            n_compared: 0,
            budget,
        };
        Engine { shadow: Some(Box::new(shadow)), ..Engine::new(source, Some(compilation)) }
    }

    /// Whether the comparison is still going on.
    pub fn is_shadowed(&self) -> bool {
        self.shadow.is_some()
    }

    /// The difference, if compiled code was wrong; the run is simulated since. Returned once.
    pub fn take_difference(&mut self) -> Option<Box<Difference>> {
        self.difference.take()
    }

    /// Whether the simulator was too slow for a single comparison. Returned once.
    pub fn take_not_compared(&mut self) -> bool {
        std::mem::take(&mut self.is_not_compared)
    }

    pub(super) fn open_twice(
        &mut self,
        mut shadow: Box<Shadow<'a>>,
        cells: &[Cell],
    ) -> Result<(), EngineError> {
        shadow.inputs.push(cells.to_vec());
        let started = Instant::now();
        let opened = self.run.open(cells);
        shadow.budget.compiled += started.elapsed();
        shadow.budget.n_cycles += 1;
        shadow.compiled_rows.extend(std::iter::from_fn(|| self.run.next_row()));
        let verdict = shadow.open(cells, &opened, &self.run);
        self.settle(shadow, opened, verdict)
    }

    pub(super) fn end_twice(&mut self, mut shadow: Box<Shadow<'a>>) -> Result<(), EngineError> {
        let ended = self.run.end();
        shadow.compiled_rows.extend(std::iter::from_fn(|| self.run.next_row()));
        let verdict = shadow.end(&ended, &self.run);
        self.settle(shadow, ended, verdict)
    }

    /// Passes rows on, and chooses the engine that continues.
    fn settle(
        &mut self,
        mut shadow: Box<Shadow<'a>>,
        compiled: Result<(), EngineError>,
        verdict: Verdict,
    ) -> Result<(), EngineError> {
        self.confirmed.append(&mut shadow.confirmed);
        let (difference, can_go_on) = match verdict {
            Verdict::Undecided => {
                self.shadow = Some(shadow);
                return compiled;
            }
            Verdict::Agreed | Verdict::NotCompared => {
                self.is_not_compared = matches!(verdict, Verdict::NotCompared);
                self.confirmed.append(&mut shadow.compiled_rows);
                return compiled;
            }
            Verdict::Differ(difference, can_go_on) => (difference, can_go_on),
        };
        self.difference = Some(Box::new(difference));
        let failed = match can_go_on {
            CanGoOn::Yes => shadow.reference_failure.take(),
            CanGoOn::No => shadow.simulate_again(),
        };
        self.confirmed.append(&mut shadow.reference_rows);
        self.run = Run::Simulated(shadow.reference);
        failed.map_or(Ok(()), Err)
    }
}

impl<'a> Shadow<'a> {
    pub fn restore(&mut self, values: &[(VarId, Value)]) {
        for (fby, value) in values {
            self.reference.restore(*fby, value.clone());
        }
        self.restored = values.to_vec();
    }

    /// The equations of the source have the value of the parameter already.
    pub fn give(&mut self, parameter: VarId, value: &Value) {
        self.given.push((parameter, value.clone()));
    }

    fn open(&mut self, cells: &[Cell], compiled: &Result<(), EngineError>, run: &Run<'a>) -> Verdict {
        if self.reference_failure.is_none() {
            let reference = &mut self.reference;
            let opened = self.budget.simulate(|has_time| reference.open_in_time(cells, has_time));
            let Some(opened) = opened else { return self.out_of_time() };
            self.reference_failure = opened.err();
            self.reference_rows.extend(std::iter::from_fn(|| self.reference.next_row()));
        }
        if let Some(difference) = self.different_row().or_else(|| self.different_ending(compiled, false)) {
            return Verdict::Differ(difference, CanGoOn::Yes);
        }
        if compiled.is_err() || self.has_window_failure() {
            return Verdict::Agreed;
        }
        if self.reference_failure.is_some() {
            return Verdict::Undecided;
        }
        let is_between_windows = self.n_compared == self.inputs.len();
        if is_between_windows
            && matches!(self.compilation.emitted.shape, Shape::Forward | Shape::Windows { lag: 0, .. })
            && let Some(difference) = self.different_memory(run)
        {
            return Verdict::Differ(difference, CanGoOn::Yes);
        }
        let is_caught_up = self.compiled_rows.is_empty() && self.reference_rows.is_empty();
        if self.inputs.len() < MAX_CYCLES && !self.budget.is_half_spent() {
            Verdict::Undecided
        } else if self.n_compared == 0 {
            self.trial()
        } else if is_caught_up {
            Verdict::Agreed
        } else {
            // A window is open, and earlier rows were compared: wait for its rows while time remains.
            Verdict::Undecided
        }
    }

    fn end(&mut self, compiled: &Result<(), EngineError>, run: &Run<'a>) -> Verdict {
        if self.reference_failure.is_none() {
            let reference = &mut self.reference;
            let ended = self.budget.simulate(|has_time| reference.end_in_time(has_time));
            let Some(ended) = ended else { return self.out_of_time() };
            self.reference_failure = ended.err();
            self.reference_rows.extend(std::iter::from_fn(|| self.reference.next_row()));
        }
        let difference = self.different_row().or_else(|| self.different_ending(compiled, true));
        if difference.is_none() && (compiled.is_err() || self.has_window_failure()) {
            return Verdict::Agreed;
        }
        let difference = difference.or_else(|| self.different_length());
        match difference.or_else(|| self.different_memory(run)) {
            Some(difference) => Verdict::Differ(difference, CanGoOn::Yes),
            None => Verdict::Agreed,
        }
    }

    fn out_of_time(&self) -> Verdict {
        if self.n_compared > 0 { Verdict::Agreed } else { Verdict::NotCompared }
    }

    /// Runs the inputs so far on both engines as if the data ended there. If an input can close the open
    /// window, one more row closes it.
    fn trial(&mut self) -> Verdict {
        let mut engine = Engine::new(self.source, Some(self.compilation));
        if !self.restored.is_empty() {
            engine.restore(self.restored.clone());
        }
        self.given.iter().for_each(|(parameter, value)| engine.give(*parameter, value));
        let closing = self.closing_row();
        let mut compiled = self.inputs.iter().chain(&closing).try_for_each(|cells| engine.run.open(cells));
        if compiled.is_ok() {
            compiled = engine.run.end();
        }
        let rows_of_run = std::mem::take(&mut self.compiled_rows);
        self.compiled_rows.extend(std::iter::from_fn(|| engine.run.next_row()));
        let reference = &mut self.reference;
        let ended = self.budget.simulate(|has_time| {
            if let Some(cells) = &closing
                && let Err(failure) = reference.open_in_time(cells, has_time)?
            {
                return Some(Err(failure));
            }
            reference.end_in_time(has_time)
        });
        let n_inputs = self.inputs.len();
        self.inputs.extend(closing);
        let verdict = self.judge_trial(&engine, compiled, ended);
        // The rows of the trial are discarded: the run has more data.
        self.compiled_rows = rows_of_run;
        self.reference_rows.clear();
        self.confirmed.clear();
        self.inputs.truncate(n_inputs);
        verdict
    }

    fn judge_trial(
        &mut self,
        engine: &Engine<'a>,
        compiled: Result<(), EngineError>,
        reference: Option<Result<(), EngineError>>,
    ) -> Verdict {
        let Some(reference) = reference else { return Verdict::NotCompared };
        self.reference_failure = reference.err();
        self.reference_rows.extend(std::iter::from_fn(|| self.reference.next_row()));
        let difference = self.different_row().or_else(|| self.different_ending(&compiled, true));
        let difference = match difference {
            None if compiled.is_err() || self.has_window_failure() => None,
            None => self.different_length().or_else(|| self.different_memory(&engine.run)),
            difference => difference,
        };
        self.reference_failure = None;
        match difference {
            Some(difference) => Verdict::Differ(difference, CanGoOn::No),
            None if compiled.is_err() || engine.run.is_simulated() => Verdict::NotCompared,
            None => Verdict::Agreed,
        }
    }

    /// The last row, with one input changed so that the open window ends; `None` if the end does not depend
    /// on an input alone.
    fn closing_row(&self) -> Option<Vec<Cell>> {
        let Shape::Windows { end: Some((guard, truth)), .. } = self.compilation.emitted.shape else {
            return None;
        };
        let input = self.source.flow.inputs.iter().position(|input| *input == guard)?;
        let mut cells = self.inputs.last()?.clone();
        cells[input] = Cell::Value(Value::Bool(truth));
        Some(cells)
    }

    /// Simulates the inputs so far, from the first one on.
    fn simulate_again(&mut self) -> Option<EngineError> {
        *self.reference = Simulated::new(self.source, 0);
        self.restored.iter().for_each(|(fby, value)| self.reference.restore(*fby, value.clone()));
        let mut inputs = self.inputs.iter();
        let failed = inputs.find_map(|cells| self.reference.open(cells).err());
        self.reference_rows = std::iter::from_fn(|| self.reference.next_row()).collect();
        failed
    }

    /// Compares the rows that both engines have computed.
    fn different_row(&mut self) -> Option<Difference> {
        while !self.compiled_rows.is_empty()
            && let Some(simulated) = self.reference_rows.pop_front()
            && let Some(compiled) = self.compiled_rows.pop_front()
        {
            if compiled != simulated {
                let difference =
                    Difference::of_rows(self.source, self.n_compared, &compiled, &simulated, &self.inputs);
                self.reference_rows.push_front(simulated);
                return Some(difference);
            }
            self.n_compared += 1;
            self.confirmed.push_back(simulated);
        }
        None
    }

    /// Compares the state of optimisers, as far as both engines know it. Compiled code does not compute state
    /// that no shown stream needs, and late loops know less than the simulator until the last cycles have
    /// passed through them.
    fn different_memory(&self, run: &Run<'a>) -> Option<Difference> {
        let memory = &self.source.flow.persistent_state;
        if memory.is_empty() || matches!(self.compilation.emitted.shape, Shape::Late(_)) {
            return None;
        }
        let (compiled, simulated) = (run.state()?, self.reference.state()?);
        memory.iter().zip(compiled.into_iter().zip(simulated)).find_map(|(memory, (compiled, simulated))| {
            let (compiled, simulated) = (Cell::Value(compiled?), Cell::Value(simulated?));
            let is_different = compiled != simulated;
            is_different.then(|| Difference::of_memory(&memory.name, &compiled, &simulated, &self.inputs))
        })
    }

    fn different_length(&self) -> Option<Difference> {
        let (compiled, simulated) = (self.compiled_rows.len(), self.reference_rows.len());
        (compiled != simulated).then(|| {
            let n = self.n_compared;
            Difference::of_length(n + compiled, n + simulated, &self.inputs)
        })
    }

    fn different_ending(&self, compiled: &Result<(), EngineError>, is_end: bool) -> Option<Difference> {
        let compiled = compiled.as_ref().err();
        let simulated = self.reference_failure.as_ref();
        if compiled == simulated || compiled.is_some_and(is_of_window) || self.has_window_failure() {
            return None;
        }
        if let (None, Some(failure), false) = (compiled, simulated, is_end)
            && (self.n_compared + self.compiled_rows.len()) as u64 <= failure.cycle()
        {
            return None;
        }
        Some(Difference::of_endings(self.source, compiled, simulated, &self.inputs))
    }

    fn has_window_failure(&self) -> bool {
        self.reference_failure.as_ref().is_some_and(is_of_window)
    }
}

fn is_of_window(failure: &EngineError) -> bool {
    matches!(failure, EngineError::Simulation(simulate::SimulationError::Window { .. }))
}
