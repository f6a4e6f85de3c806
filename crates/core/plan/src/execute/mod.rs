//! Runs plans literally: plain loops over zones and sweeps, no search, no fixpoint (section 10).
//!
//! This is the reference for code printed from plans. It uses only the memory that the plan declares, and
//! stops with [`ExecutionError::Violation`] if a plan reads something that has not been written (law L2).
//!
//! * [`cell`]: what is known about a stream at a cycle, and the execution of instructions.
//! * [`late`]: loops with lags; [`scan`]: finds the derived end of windows.
//! * [`watch`]: the state of several delays after the same activation.
//! * [`window`]: one window, with its [`memory`], [`sweep`]s and [`units`].

mod cell;
mod late;
mod memory;
mod scan;
mod sweep;
mod units;
mod watch;
mod window;

use std::collections::VecDeque;

use eddy_flow::clocks::{Clock, ClockId, Clocks, Root};
use eddy_flow::{Flow, VarId};
use eddy_tensor::Value;
use rustc_hash::FxHashMap;

use crate::plan::{
    Cut, Immediate, Lagged, Place, Plan, Polarity, Read, Right, RootPlan, Schedule, SlotId, Windows,
};
pub use cell::{Cell, ExecutionError};
use cell::{Operation, operations};
pub use late::LateState;
use late::{LateRun, Outside};
use memory::WindowMemory;
use scan::Scan;
use watch::Watch;
use window::run_window;

/// A running plan.
pub struct Execution<'a> {
    flow: &'a Flow,
    program: Program<'a>,
    roots: Vec<RootRun<'a>>,
    /// For each cycle whose outputs have not been returned yet, which roots were active.
    waiting: VecDeque<Vec<bool>>,
}

/// The parts that do not change while a plan runs.
struct Program<'a> {
    /// The operation of each stream's equation.
    operations: Vec<Option<Operation<'a>>>,
    /// The values of parameters and operations on them.
    invariants: FxHashMap<VarId, Value>,
}

struct RootRun<'a> {
    plan: &'a RootPlan,
    /// The positions of the inputs whose presence activates the root; `None` if it is always active.
    owners: Option<Vec<usize>>,
    /// The positions of the inputs that the root reads.
    inputs: Vec<(VarId, usize, bool)>,
    late: LateRun,
    n_activations: usize,
    /// After a failed operation: the number of activations after the one to which it belongs.
    n_after_failure: usize,
    slots: Vec<Option<Cell>>,
    /// The inputs of the open window.
    rows: Vec<FxHashMap<VarId, Cell>>,
    scan: Scan,
    /// The outputs, one entry per activation.
    found: VecDeque<Vec<(VarId, Cell)>>,
    /// The windows that have run.
    windows: Vec<Ran>,
    /// How many possible ends a window passes before it ends.
    joins: usize,
    /// How many possible ends the open window has had.
    n_joined: usize,
    watch: Option<Watch>,
}

/// A window that has run.
#[derive(Clone, Debug)]
pub struct Ran {
    pub version: usize,
    /// The zone of each of its cycles, as an index into the list of zones.
    pub zones: Vec<usize>,
}

/// The environment of a loop that computes everything it reads.
struct NoOutside<'a> {
    program: &'a Program<'a>,
    is_end: bool,
}

impl Outside for NoOutside<'_> {
    fn invariant(&self, var: VarId) -> Value {
        self.program.invariants[&var].clone()
    }

    fn cell(&self, var: VarId, _: &Place, _: usize) -> Result<Cell, ExecutionError> {
        Err(ExecutionError::Violation(format!("stream {} is not stored", var.index())))
    }

    fn slot(&self, _: SlotId) -> Option<Cell> {
        None
    }

    fn is_end_of_trace(&self) -> bool {
        self.is_end
    }
}

impl<'a> Execution<'a> {
    /// Starts a plan before its first cycle.
    pub fn new(flow: &'a Flow, clocks: &Clocks, plan: &'a Plan) -> Result<Self, ExecutionError> {
        let operations = operations(flow, plan.single);
        let mut invariants: FxHashMap<VarId, Value> = FxHashMap::default();
        for instruction in &plan.invariants {
            let read = |read: &Read| match read {
                Read::Here(_, Place::Immediate(Immediate::Value(value))) => value.clone(),
                Read::Here(_, Place::Immediate(Immediate::Invariant(var))) => invariants[var].clone(),
                _ => unreachable!("operands of invariants are constants or invariants"),
            };
            let value = match &instruction.right {
                Right::Copy(operand) => read(operand),
                Right::Apply(operands) => {
                    let values: Vec<Value> = operands.iter().map(read).collect();
                    let values: Vec<&Value> = values.iter().collect();
                    let op = operations[instruction.var.index()].expect("an operation is applied");
                    op.eval(&values)
                        .map_err(|error| ExecutionError::Operation { var: instruction.var, error })?
                }
                _ => unreachable!("invariants are made by operations"),
            };
            invariants.insert(instruction.var, value);
        }
        let roots = plan.roots.iter().map(|root| RootRun::new(flow, clocks, root)).collect();
        let program = Program { operations, invariants };
        Ok(Execution { flow, program, roots, waiting: VecDeque::new() })
    }

    /// Continues from the state of compiled code. The plan must be one forward loop.
    pub fn resume(&mut self, state: LateState) -> Result<(), ExecutionError> {
        let root = self.roots.first_mut().ok_or(ExecutionError::NoPlan)?;
        let lagged = root.lagged()?;
        root.n_activations = state.iteration;
        self.waiting.extend(state.waiting.iter().map(|is_active| vec![*is_active]));
        root.late = LateRun::resume(lagged, state);
        Ok(())
    }

    /// Runs a cycle with these inputs, in the order of the program's inputs.
    pub fn step(&mut self, inputs: &[Cell]) -> Result<(), ExecutionError> {
        let (mut active, mut stepped) = (Vec::new(), Ok(()));
        for root in &mut self.roots {
            let is_active = match &root.owners {
                None => true,
                Some(owners) => owners.iter().any(|owner| inputs[*owner] != Cell::Absent),
            };
            active.push(is_active);
            if is_active && stepped.is_ok() {
                stepped = root.step(&self.program, inputs);
            }
        }
        self.waiting.push_back(active);
        stepped
    }

    /// Ends the trace.
    pub fn finish(&mut self) -> Result<(), ExecutionError> {
        for root in &mut self.roots {
            root.finish(&self.program)?;
        }
        Ok(())
    }

    /// From now on, joins windows: each passes `n` possible ends before it ends. Only derived ends can be
    /// passed.
    pub fn join_windows(&mut self, n: usize) {
        for root in &mut self.roots {
            root.joins = n;
        }
    }

    /// From now on, tracks the common state of these `fby`s of a forward loop ([`state`](Self::state)).
    pub fn watch(&mut self, fbys: &[VarId]) -> Result<(), ExecutionError> {
        let root = self.roots.first_mut().ok_or(ExecutionError::NoPlan)?;
        root.watch = Some(Watch::new(root.lagged()?, fbys, &root.late));
        Ok(())
    }

    /// The state of the watched `fby`s after the last activation at which all of them are known; `None` if
    /// there was no such activation.
    pub fn state(&self) -> Option<&[Option<Value>]> {
        self.roots.first()?.watch.as_ref()?.known()
    }

    /// The number of cycles between the failed operation's cycle and the last one.
    pub fn failed_before(&self) -> usize {
        let n_later = self.roots.first().map_or(0, |root| root.n_after_failure);
        let activations = self.waiting.iter().rev().enumerate().filter(|(_, active)| active[0]);
        activations.map(|(n_cycles, _)| n_cycles).nth(n_later).unwrap_or(0)
    }

    /// The windows that a root has run, by the index of its plan.
    pub fn windows(&self, root: usize) -> &[Ran] {
        &self.roots[root].windows
    }

    /// The largest number of cycles that a root keeps for its open window.
    pub fn n_open(&self) -> usize {
        self.roots.iter().map(|root| root.rows.len()).max().unwrap_or(0)
    }

    /// The number of values in rings and slots, of all roots.
    pub fn n_values(&self) -> usize {
        self.roots.iter().map(|root| root.late.n_values() + root.slots.len()).sum()
    }

    /// The outputs of the next complete cycle.
    pub fn next_row(&mut self) -> Option<Vec<Cell>> {
        let active = self.waiting.front()?;
        if self.roots.iter().zip(active).any(|(root, is_active)| *is_active && root.found.is_empty()) {
            return None;
        }
        let active = self.waiting.pop_front()?;
        let mut cells: FxHashMap<VarId, Cell> = FxHashMap::default();
        for (root, is_active) in self.roots.iter_mut().zip(active) {
            if is_active {
                cells.extend(root.found.pop_front()?);
            }
        }
        Some(
            self.flow
                .outputs
                .iter()
                .map(|output| cells.get(output).cloned().unwrap_or(Cell::Absent))
                .collect(),
        )
    }
}

impl<'a> RootRun<'a> {
    fn new(flow: &Flow, clocks: &Clocks, plan: &'a RootPlan) -> Self {
        let on_root = |clock: ClockId| {
            (0..flow.inputs.len()).filter(|index| clocks.of(flow.inputs[*index]) == clock).collect::<Vec<_>>()
        };
        let owners = match clocks.clock(plan.clock) {
            Clock::Root(Root::Input(_)) => Some(on_root(plan.clock)),
            _ => None,
        };
        let position = |var: VarId| {
            flow.inputs
                .iter()
                .position(|input| *input == var)
                .expect("inputs of a plan are inputs of its flow")
        };
        let inputs =
            plan.inputs.iter().map(|var| (*var, position(*var), clocks.of(*var) == plan.clock)).collect();
        let n_slots = match &plan.schedule {
            Schedule::Windows(windows) => windows.carried.len(),
            _ => 0,
        };
        RootRun {
            plan,
            owners,
            inputs,
            late: LateRun::default(),
            n_activations: 0,
            n_after_failure: 0,
            slots: vec![None; n_slots],
            rows: Vec::new(),
            scan: Scan::default(),
            found: VecDeque::new(),
            windows: Vec::new(),
            joins: 0,
            n_joined: 0,
            watch: None,
        }
    }

    fn lagged(&self) -> Result<&'a Lagged, ExecutionError> {
        match &self.plan.schedule {
            Schedule::Forward(lagged) => Ok(lagged),
            Schedule::Windows(windows) => Ok(&windows.prelude),
            Schedule::EventDriven(_) => Err(ExecutionError::NoPlan),
        }
    }

    fn step(&mut self, program: &Program<'_>, inputs: &[Cell]) -> Result<(), ExecutionError> {
        let mut cells = Vec::new();
        for (var, position, is_on_root) in &self.inputs {
            if *is_on_root && inputs[*position] == Cell::Absent {
                return Err(ExecutionError::Synchronisation(*var));
            }
            cells.push((*var, inputs[*position].clone()));
        }
        self.n_activations += 1;
        let lagged = self.lagged()?;
        let outside = NoOutside { program, is_end: false };
        let shown = self.late.iterate(&program.operations, lagged, &cells, None, &outside)?;
        self.conclude(program, shown)
    }

    fn finish(&mut self, program: &Program<'_>) -> Result<(), ExecutionError> {
        let lagged = self.lagged()?;
        let n = Some(self.n_activations);
        for _ in 0..lagged.max_lag {
            let outside = NoOutside { program, is_end: true };
            let shown = self.late.iterate(&program.operations, lagged, &[], n, &outside)?;
            self.conclude(program, shown)?;
        }
        if let Schedule::Windows(windows) = &self.plan.schedule
            && !self.rows.is_empty()
        {
            let is_closed = matches!(windows.cut, Cut::Trace);
            self.window(windows, program, is_closed, true)?;
        }
        Ok(())
    }

    /// Ends an iteration. If an operation failed, the outputs of earlier cycles are kept.
    fn conclude(
        &mut self,
        program: &Program<'_>,
        shown: Option<Vec<(VarId, Cell)>>,
    ) -> Result<(), ExecutionError> {
        if let Some(watch) = &mut self.watch {
            watch.look(&self.late);
        }
        let Some(failure) = self.late.failure() else { return self.arrive(program, shown) };
        if let Schedule::Forward(lagged) = &self.plan.schedule
            && failure.lag < lagged.look_ahead
        {
            self.found.extend(shown);
        }
        self.n_after_failure = self.n_activations.saturating_sub(failure.activation + 1);
        Err(failure.stop)
    }

    /// Handles a complete activation: outputs it, or adds it to the open window.
    fn arrive(
        &mut self,
        program: &Program<'_>,
        shown: Option<Vec<(VarId, Cell)>>,
    ) -> Result<(), ExecutionError> {
        let Some(shown) = shown else { return Ok(()) };
        let Schedule::Windows(windows) = &self.plan.schedule else {
            self.found.push_back(shown);
            return Ok(());
        };
        let row: FxHashMap<VarId, Cell> = shown.into_iter().collect();
        let is_last = match &windows.cut {
            Cut::Guard(guard, polarity) => row[guard].truth() == Some(*polarity == Polarity::On),
            Cut::Derived(derived_end) => {
                let closes = self.scan.closes(program, derived_end, &row)?;
                self.n_joined += usize::from(closes);
                closes && self.n_joined > self.joins
            }
            Cut::Trace => false,
        };
        self.rows.push(row);
        if is_last { self.window(windows, program, true, false) } else { Ok(()) }
    }

    fn window(
        &mut self,
        windows: &Windows,
        program: &Program<'_>,
        is_closed: bool,
        is_end: bool,
    ) -> Result<(), ExecutionError> {
        let rows = std::mem::take(&mut self.rows);
        self.n_joined = 0;
        let version = windows
            .versions
            .iter()
            .position(|version| {
                version
                    .assumes
                    .is_none_or(|(var, truth)| rows.iter().all(|row| row[&var].truth() == Some(truth)))
            })
            .ok_or_else(|| {
                ExecutionError::Mixed(windows.versions[0].assumes.map_or(VarId::new(0), |(var, _)| var))
            })?;
        let mut memory = WindowMemory {
            program,
            buffers: vec![vec![None; rows.len()]; windows.buffers.len()],
            scalars: vec![None; windows.scalars.len()],
            slots: std::mem::take(&mut self.slots),
            carried: &windows.carried,
            rows,
            is_end,
        };
        let (zones, shown) = run_window(windows, &windows.versions[version], &mut memory, is_closed)?;
        self.slots = memory.slots;
        self.found.extend(shown);
        self.windows.push(Ran { version, zones });
        Ok(())
    }
}
