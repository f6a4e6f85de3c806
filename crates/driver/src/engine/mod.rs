//! Runs a program on a stream: compiled if that is possible, and simulated otherwise. Both give the same
//! cells.
//!
//! * [`kind`]: the engines by name. [`choose`]: which one runs, and what to report about it.
//! * [`program`]: compiles a program once.
//! * [`compiled`]: machine code, cycle by cycle. It runs closed windows only, and hands over all other
//!   cycles.
//! * [`parts`]: programs with several roots, one by one.
//! * [`companions`]: booleans that say what is known at the end of a trace.
//! * [`history`]: the state some cycles ago, for a takeover.
//! * [`takeover`]: the simulator, which starts from the state of compiled code and hands it back.
//! * [`simulated`]: the simulator alone.
//! * [`shadow`]: checks the first cycles of compiled code with the simulator. [`difference`]: what differs.

pub(crate) mod choose;
mod companions;
mod compiled;
mod difference;
mod history;
mod kind;
mod parts;
mod program;
mod shadow;
mod simulated;
mod takeover;

use std::collections::VecDeque;

use eddy_flow::{Flow, VarId};
use eddy_language::clocks::Clocks;
use eddy_language::semantics::simulate::{self, Contradiction};
use eddy_language::semantics::{Cell, errors};
use eddy_syntax::Diagnostic;
use eddy_tensor::Value;

use compiled::Compiled;
pub use difference::Difference;
pub use kind::EngineKind;
use parts::Parts;
pub use parts::{Part, split};
pub use program::{Compilation, Native, NotCompiled, Printed, compile, print, print_in_pieces};
use shadow::Shadow;
use simulated::Simulated;

/// The input of an engine.
#[derive(Clone, Copy)]
pub struct EngineInput<'a> {
    /// The equations.
    pub flow: &'a Flow,
    /// The clocks of its streams.
    pub clocks: &'a Clocks,
    /// The streams to show.
    pub shown: &'a [VarId],
    /// Options for simulating it.
    pub options: simulate::Options,
    /// Whether contradictions end the run.
    pub is_checked: bool,
    /// Whether compiled code recomputes the values of loops instead of keeping them.
    pub checkpoints: bool,
}

/// A running program.
pub struct Engine<'a> {
    run: Run<'a>,
    /// The simulator that checks the first cycles of compiled code.
    shadow: Option<Box<Shadow<'a>>>,
    /// Rows that both engines agreed on.
    confirmed: VecDeque<Vec<Cell>>,
    difference: Option<Box<Difference>>,
    is_not_compared: bool,
    /// The number of opened cycles, and of rows taken.
    n_cycles: u64,
    n_taken: u64,
    look_ahead: u64,
}

enum Run<'a> {
    Simulated(Box<Simulated<'a>>),
    Compiled(Box<Compiled<'a>>),
    Parts(Box<Parts<'a>>),
}

/// Why a run cannot continue.
#[derive(Clone, Debug, PartialEq)]
pub enum EngineError {
    /// The program has no value there.
    Simulation(simulate::SimulationError),
    /// The inputs contradict the clocks: the cycle, the equation, and the chain of reasons.
    Synchronisation(u64, usize, Option<Contradiction>),
}

impl EngineError {
    /// The cycle at which the run stopped.
    pub fn cycle(&self) -> u64 {
        match self {
            EngineError::Simulation(
                simulate::SimulationError::Operation { cycle, .. }
                | simulate::SimulationError::Window { cycle, .. },
            )
            | EngineError::Synchronisation(cycle, ..) => *cycle,
        }
    }

    /// The message for the user.
    pub fn diagnostic(&self, flow: &Flow) -> Diagnostic {
        match self {
            EngineError::Simulation(failure) => errors::simulation(flow, failure),
            EngineError::Synchronisation(cycle, equation, contradiction) => {
                errors::synchronisation(flow, *equation, *cycle, *contradiction)
            }
        }
    }
}

impl<'a> Engine<'a> {
    /// A program before its first cycle, on machine code if there is a compilation.
    pub fn new(source: EngineInput<'a>, compilation: Option<&'a Compilation>) -> Engine<'a> {
        Engine::of(match compilation {
            Some(compilation) => match &compilation.split {
                Some(split) => Run::Parts(Box::new(Parts::new(source, compilation, split))),
                None => return Engine::compiled(source, compilation),
            },
            None => Run::Simulated(Box::new(Simulated::new(source, 0))),
        })
    }

    /// A program compiled as a whole.
    fn compiled(source: EngineInput<'a>, compilation: &'a Compilation) -> Engine<'a> {
        Engine::of(Run::Compiled(Box::new(Compiled::new(source, compilation))))
    }

    fn of(run: Run<'a>) -> Engine<'a> {
        Engine {
            run,
            shadow: None,
            confirmed: VecDeque::new(),
            difference: None,
            is_not_compared: false,
            n_cycles: 0,
            n_taken: 0,
            look_ahead: 0,
        }
    }

    /// Before the first cycle: sets the state of `fby`s.
    pub fn restore(&mut self, values: Vec<(VarId, Value)>) {
        if let Some(shadow) = &mut self.shadow {
            shadow.restore(&values);
        }
        match &mut self.run {
            Run::Simulated(run) => values.into_iter().for_each(|(fby, value)| run.restore(fby, value)),
            Run::Compiled(run) => run.restore(values),
            Run::Parts(_) => unreachable!("programs that learn are not split"),
        }
    }

    /// How many cycles before the end of the trace [`near_end`](Self::near_end) is to be called.
    pub fn n_before_end(&self) -> usize {
        match &self.run {
            Run::Compiled(run) => run.n_before_end(),
            Run::Simulated(_) | Run::Parts(_) => 0,
        }
    }

    /// Announces that the trace ends after [`n_before_end`](Self::n_before_end) more cycles, or fewer.
    /// Without this call, [`state`](Self::state) may know less.
    pub fn near_end(&mut self) -> Result<(), EngineError> {
        match &mut self.run {
            Run::Compiled(run) => run.near_end(),
            Run::Simulated(_) | Run::Parts(_) => Ok(()),
        }
    }

    /// Before the first cycle: sets the value of a parameter that is not learnt. The equations of the source
    /// contain that value already.
    pub fn give(&mut self, parameter: VarId, value: &Value) {
        if let Some(shadow) = &mut self.shadow {
            shadow.give(parameter, value);
        }
        match &mut self.run {
            Run::Simulated(_) => {}
            Run::Compiled(run) => run.give(parameter, value),
            Run::Parts(run) => run.give(parameter, value),
        }
    }

    /// Runs a cycle.
    pub fn open(&mut self, cells: &[Cell]) -> Result<(), EngineError> {
        self.n_cycles += 1;
        match self.shadow.take() {
            Some(shadow) => self.open_twice(shadow, cells),
            None => self.run.open(cells),
        }
    }

    /// Ends the trace.
    pub fn end(&mut self) -> Result<(), EngineError> {
        match self.shadow.take() {
            Some(shadow) => self.end_twice(shadow),
            None => self.run.end(),
        }
    }

    /// The cells of the shown streams at the next cycle, if they are decided.
    pub fn next_row(&mut self) -> Option<Vec<Cell>> {
        let row = match self.confirmed.pop_front() {
            None if self.shadow.is_none() => self.run.next_row(),
            confirmed => confirmed,
        }?;
        self.look_ahead = self.look_ahead.max(self.n_cycles - 1 - self.n_taken);
        self.n_taken += 1;
        Some(row)
    }

    /// At the end of the trace: the values of the `fby`s that outlive it (`Flow::persistent_state`) after the
    /// last cycle at which all of them are known; a `fby` that was never active has no value. `None` if there
    /// is no such cycle.
    pub fn state(&self) -> Option<Vec<Option<Value>>> {
        self.run.state()
    }

    /// Counters for `--stats`.
    pub fn stats(&self) -> Vec<(&'static str, u64)> {
        match &self.run {
            Run::Simulated(run) => run.stats(),
            Run::Compiled(_) | Run::Parts(_) => vec![
                ("cycles", self.n_cycles),
                ("look-ahead used", self.look_ahead),
                ("widest window", self.look_ahead + u64::from(self.n_cycles > 0)),
            ],
        }
    }
}

impl Run<'_> {
    fn open(&mut self, cells: &[Cell]) -> Result<(), EngineError> {
        match self {
            Run::Simulated(run) => run.open(cells),
            Run::Compiled(run) => run.open(cells),
            Run::Parts(run) => run.open(cells),
        }
    }

    fn end(&mut self) -> Result<(), EngineError> {
        match self {
            Run::Simulated(run) => run.end(),
            Run::Compiled(run) => run.end(),
            Run::Parts(run) => run.end(),
        }
    }

    fn next_row(&mut self) -> Option<Vec<Cell>> {
        match self {
            Run::Simulated(run) => run.next_row(),
            Run::Compiled(run) => run.next_row(),
            Run::Parts(run) => run.next_row(),
        }
    }

    fn state(&self) -> Option<Vec<Option<Value>>> {
        match self {
            Run::Simulated(run) => run.state(),
            Run::Compiled(run) => run.state(),
            Run::Parts(_) => unreachable!("programs that learn are not split"),
        }
    }

    /// Whether the simulator runs the program now, either all of it or after a takeover.
    fn is_simulated(&self) -> bool {
        match self {
            Run::Simulated(_) => true,
            Run::Compiled(run) => run.is_taken_over(),
            Run::Parts(run) => run.is_simulated(),
        }
    }
}
