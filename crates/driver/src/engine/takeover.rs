//! The engine that takes over from compiled code: the simulator, or the executor of plans where streams are
//! late.
//!
//! Between two windows, the state of compiled code consists of the values of delays, so a simulation can
//! start from there. If streams are late, no such point exists: delays have advanced to different cycles.
//! Then the plan itself is executed, from the ring buffers of compiled code.

use eddy_compile::emit::Shape;
use eddy_flow::VarId;
use eddy_language::semantics::Cell;
use eddy_language::semantics::simulate::{self, Contradiction};
use eddy_plan::execute::{self, Execution, ExecutionError, LateState};
use eddy_tensor::Value;

use super::program::Compilation;
use super::simulated::{Simulated, learnt};
use super::{EngineError, EngineInput};

/// The state of compiled code.
#[derive(Default)]
pub struct Start {
    /// For each delay its value; `None` if it has had no activation yet.
    pub delay_states: Vec<(VarId, Option<Value>)>,
    /// If streams are late: ring buffers and registers.
    pub late: Option<LateState>,
}

/// An engine that runs a program from some cycle on.
pub struct Takeover<'a> {
    source: EngineInput<'a>,
    run: Run<'a>,
    /// The delays in the state of compiled code.
    fbys: Vec<VarId>,
    /// The condition that ends windows.
    guard: Option<bool>,
    /// Whether this engine runs to the end of the trace: compiled code can start only at the beginning of a
    /// window, and only with known values.
    is_forever: bool,
}

enum Run<'a> {
    Simulated(Box<Simulated<'a>>),
    Executed(Box<Executed<'a>>),
}

/// An executing plan.
struct Executed<'a> {
    execution: Execution<'a>,
    n_shown: usize,
    n_cycles: u64,
    /// Whether an operation failed: then only decided cells are shown.
    has_failed: bool,
}

impl<'a> Takeover<'a> {
    pub fn new(
        source: EngineInput<'a>,
        compilation: &'a Compilation,
        start: Start,
        cycle: u64,
    ) -> Takeover<'a> {
        let fbys = start.delay_states.iter().map(|(fby, _)| *fby).collect();
        // Before the first cycle no stream is late.
        let run = match start.late.filter(|late| late.iteration > 0) {
            None => {
                let watched = match compilation.emitted.shape {
                    Shape::Windows { end: Some((guard, _)), .. } => Some(guard),
                    _ => None,
                };
                let mut simulated = Simulated::new(source, cycle).watching(watched);
                for (fby, value) in start.delay_states {
                    if let Some(value) = value {
                        simulated.restore(fby, value);
                    }
                }
                Run::Simulated(Box::new(simulated))
            }
            Some(late) => {
                let execution = Execution::new(&compilation.flow, source.clocks, &compilation.plan);
                let mut execution = execution.expect("compiled code has computed what does not change");
                execution.resume(late).expect("the plan is one loop");
                let learnt = learnt(source.flow);
                if !learnt.is_empty() {
                    execution.watch(&learnt).expect("the plan is one loop");
                }
                let n_shown = source.shown.len();
                Run::Executed(Box::new(Executed { execution, n_shown, n_cycles: cycle, has_failed: false }))
            }
        };
        let (guard, is_forever) = match compilation.emitted.shape {
            Shape::Windows { end: Some((_, truth)), lag: 0 } => (Some(truth), false),
            Shape::Forward | Shape::Late(_) => (None, false),
            // A trace begins only once. If windows run later than they end, the values of delays are not the
            // whole state.
            Shape::Windows { .. } | Shape::Trace => (None, true),
        };
        Takeover { source, run, fbys, guard, is_forever }
    }

    /// The state of the delays that outlive the trace; see [`super::Engine::state`].
    pub fn state(&self) -> Option<Vec<Option<Value>>> {
        match &self.run {
            Run::Simulated(run) => run.state(),
            Run::Executed(run) => run.execution.state().map(<[_]>::to_vec),
        }
    }

    pub fn open(&mut self, cells: &[Cell]) -> Result<(), EngineError> {
        self.is_forever |= cells.iter().any(|cell| !cell.is_final());
        match &mut self.run {
            Run::Simulated(run) => run.open(cells),
            Run::Executed(run) => {
                let cells: Vec<execute::Cell> = cells.iter().map(to_plan).collect();
                let stepped = run.execution.step(&cells);
                run.n_cycles += 1;
                run.has_failed = stepped.is_err();
                stepped.map_err(|stop| run.failure(self.source, stop))
            }
        }
    }

    pub fn end(&mut self) -> Result<(), EngineError> {
        match &mut self.run {
            Run::Simulated(run) => run.end(),
            Run::Executed(run) => {
                let ended = run.execution.finish();
                run.has_failed = ended.is_err();
                ended.map_err(|stop| run.failure(self.source, stop))
            }
        }
    }

    pub fn next_row(&mut self) -> Option<Vec<Cell>> {
        match &mut self.run {
            Run::Simulated(run) => run.next_row(),
            Run::Executed(run) => {
                let row = run.execution.next_row()?;
                let row: Vec<Cell> = row.iter().take(run.n_shown).map(from_plan).collect();
                (!run.has_failed || row.iter().all(Cell::is_final)).then_some(row)
            }
        }
    }

    /// The state with which compiled code continues; `None` if it cannot, because it can start only where
    /// windows start.
    pub fn hand_back(&self) -> Option<Vec<(VarId, Value)>> {
        match &self.run {
            Run::Simulated(run) if run.is_idle() && !self.is_forever && run.last_truth() == self.guard => {
                Some(self.fbys.iter().filter_map(|fby| Some((*fby, run.delay_state(*fby)?))).collect())
            }
            _ => None,
        }
    }
}

impl Executed<'_> {
    /// Why the plan stopped, in the form of the simulator's failures.
    fn failure(&self, source: EngineInput<'_>, stop: ExecutionError) -> EngineError {
        let definition = |var: VarId| source.flow.equations.iter().position(|equation| equation.out == var);
        let now = self.n_cycles.saturating_sub(1);
        match stop {
            ExecutionError::Operation { var, error } => {
                let cycle = now.saturating_sub(self.execution.failed_before() as u64);
                let equation = definition(var).expect("only equations fail");
                EngineError::Simulation(simulate::SimulationError::Operation { equation, cycle, error })
            }
            ExecutionError::Synchronisation(var) => {
                let mut equations = source.flow.equations.iter();
                let user =
                    || equations.position(|equation| equation.kind.operands().any(|operand| operand == var));
                let equation = definition(var).or_else(user).unwrap_or(0);
                let contradiction = Contradiction { cycle: now, var, is_there: false, equation };
                EngineError::Synchronisation(now, equation, Some(contradiction))
            }
            ExecutionError::NoPlan | ExecutionError::Mixed(_) | ExecutionError::Violation(_) => {
                unreachable!("the plan is one loop: {stop:?}")
            }
        }
    }
}

fn to_plan(cell: &Cell) -> execute::Cell {
    match cell {
        Cell::Unknown => execute::Cell::Unknown,
        Cell::Present | Cell::Error => execute::Cell::Present,
        Cell::Absent => execute::Cell::Absent,
        Cell::Value(value) => execute::Cell::Value(value.clone()),
    }
}

fn from_plan(cell: &execute::Cell) -> Cell {
    match cell {
        execute::Cell::Unknown => Cell::Unknown,
        execute::Cell::Present => Cell::Present,
        execute::Cell::Absent => Cell::Absent,
        execute::Cell::Value(value) => Cell::Value(value.clone()),
    }
}
