//! Runs plans literally: plain loops over zones and sweeps, no search, no fixpoint (section 10).
//!
//! This is the reference for code that is printed from plans. It keeps to the memory that a plan gives it, and stops with a
//! [`Stop::Violation`] where a plan would read what is not there (law L2).
//!
//! * [`cell`]: what is known of a stream at a cycle, and how an instruction finds it.
//! * [`late`]: loops in which equations are late; [`scan`]: where windows with a derived end end.
//! * [`watch`]: what delays of such a loop remember after the same activation.
//! * [`window`]: one window, with its [`memory`], the [`sweep`]s over it and the [`units`] in it.

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
pub use cell::{Cell, Stop};
use cell::{Operation, operations};
pub use late::LateState;
use late::{LateRun, Outside};
use memory::Memory;
use scan::Scan;
use watch::Watch;
use window::run_window;

/// A plan that is being run.
pub struct Execution<'a> {
    flow: &'a Flow,
    program: Program<'a>,
    roots: Vec<RootRun<'a>>,
    /// The cycles that are not shown yet: which roots were active.
    waiting: VecDeque<Vec<bool>>,
}

/// What does not change while a plan runs.
struct Program<'a> {
    /// For each stream the operation of its equation.
    operations: Vec<Option<Operation<'a>>>,
    /// The values of what does not depend on time.
    invariants: FxHashMap<VarId, Value>,
}

/// One root.
struct RootRun<'a> {
    plan: &'a RootPlan,
    /// The positions of inputs whose presence says that the root is active; none if it always is.
    owners: Option<Vec<usize>>,
    /// The positions of the inputs that it reads.
    inputs: Vec<(VarId, usize, bool)>,
    late: LateRun,
    n_activations: usize,
    /// If an operation failed: how many activations come after the one to which it belongs.
    n_after_failure: usize,
    slots: Vec<Option<Cell>>,
    /// What arrived in the window that is open.
    rows: Vec<FxHashMap<VarId, Cell>>,
    scan: Scan,
    /// What was found, an activation each.
    found: VecDeque<Vec<(VarId, Cell)>>,
    /// The windows that were run.
    windows: Vec<Ran>,
    /// How many windows that might have ended are joined with the next one, and how many were since the last one.
    joins: usize,
    n_joined: usize,
    watch: Option<Watch>,
}

/// A window that was run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The version of the code.
    pub version: usize,
    /// The zone of each of its cycles, by its position in the list of zones.
    pub zones: Vec<usize>,
}

/// The surroundings of a loop that computes all that it reads.
struct Nothing<'a> {
    program: &'a Program<'a>,
    is_end: bool,
}

impl Outside for Nothing<'_> {
    fn invariant(&self, var: VarId) -> Value {
        self.program.invariants[&var].clone()
    }

    fn cell(&self, var: VarId, _: &Place, _: usize) -> Result<Cell, Stop> {
        Err(Stop::Violation(format!("stream {} is kept nowhere", var.index())))
    }

    fn slot(&self, _: SlotId) -> Option<Cell> {
        None
    }

    fn is_end_of_trace(&self) -> bool {
        self.is_end
    }
}

impl<'a> Execution<'a> {
    /// A plan before its first cycle.
    pub fn new(flow: &'a Flow, clocks: &Clocks, plan: &'a Plan) -> Result<Self, Stop> {
        let operations = operations(flow, plan.single);
        let mut invariants: FxHashMap<VarId, Value> = FxHashMap::default();
        for instruction in &plan.invariants {
            let read = |read: &Read| match read {
                Read::Here(_, Place::Immediate(Immediate::Value(value))) => value.clone(),
                Read::Here(_, Place::Immediate(Immediate::Invariant(var))) => invariants[var].clone(),
                _ => unreachable!("invariants are made of what does not change"),
            };
            let value = match &instruction.right {
                Right::Copy(operand) => read(operand),
                Right::Apply(operands) => {
                    let values: Vec<Value> = operands.iter().map(read).collect();
                    let values: Vec<&Value> = values.iter().collect();
                    let op = operations[instruction.var.index()].expect("an operation is applied");
                    op.eval(&values).map_err(|error| Stop::Operation { var: instruction.var, error })?
                }
                _ => unreachable!("invariants are made by operations"),
            };
            invariants.insert(instruction.var, value);
        }
        let roots = plan.roots.iter().map(|root| RootRun::new(flow, clocks, root)).collect();
        let program = Program { operations, invariants };
        Ok(Execution { flow, program, roots, waiting: VecDeque::new() })
    }

    /// Goes on where code that was printed from the plan is. The plan is one forward loop.
    pub fn resume(&mut self, state: LateState) -> Result<(), Stop> {
        let root = self.roots.first_mut().ok_or(Stop::NoPlan)?;
        let lagged = root.lagged()?;
        root.n_activations = state.iteration;
        self.waiting.extend(state.waiting.iter().map(|is_active| vec![*is_active]));
        root.late = LateRun::resume(lagged, state);
        Ok(())
    }

    /// Runs a cycle with these inputs, in the order of the program's inputs.
    pub fn step(&mut self, inputs: &[Cell]) -> Result<(), Stop> {
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

    /// There are no more cycles.
    pub fn finish(&mut self) -> Result<(), Stop> {
        for root in &mut self.roots {
            root.finish(&self.program)?;
        }
        Ok(())
    }

    /// From now on, windows that nothing forces to end are joined: so many ends are passed over before one is taken. Only ends that are
    /// derived can be passed over.
    pub fn join_windows(&mut self, n: usize) {
        for root in &mut self.roots {
            root.joins = n;
        }
    }

    /// From now on, says what these `fby`s of a forward loop remember together ([`state`](Self::state)).
    pub fn watch(&mut self, fbys: &[VarId]) -> Result<(), Stop> {
        let root = self.roots.first_mut().ok_or(Stop::NoPlan)?;
        root.watch = Some(Watch::new(root.lagged()?, fbys, &root.late));
        Ok(())
    }

    /// What the watched `fby`s remember after the last activation at which all of them are known; none if there was no such activation.
    pub fn state(&self) -> Option<&[Option<Value>]> {
        self.roots.first()?.watch.as_ref()?.known()
    }

    /// How many cycles before the last one an operation of the forward loop failed.
    pub fn failed_before(&self) -> usize {
        let n_later = self.roots.first().map_or(0, |root| root.n_after_failure);
        let activations = self.waiting.iter().rev().enumerate().filter(|(_, active)| active[0]);
        activations.map(|(n_cycles, _)| n_cycles).nth(n_later).unwrap_or(0)
    }

    /// The windows that a root has run, by the position of its plan.
    pub fn windows(&self, root: usize) -> &[Ran] {
        &self.roots[root].windows
    }

    /// How many cycles are kept, of the root that keeps most.
    pub fn n_open(&self) -> usize {
        self.roots.iter().map(|root| root.rows.len()).max().unwrap_or(0)
    }

    /// How many values are in rings and slots, of all roots.
    pub fn n_values(&self) -> usize {
        self.roots.iter().map(|root| root.late.n_values() + root.slots.len()).sum()
    }

    /// The outputs of the next cycle that is complete.
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
        let position =
            |var: VarId| flow.inputs.iter().position(|input| *input == var).expect("it is an input");
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

    fn lagged(&self) -> Result<&'a Lagged, Stop> {
        match &self.plan.schedule {
            Schedule::Forward(lagged) => Ok(lagged),
            Schedule::Windows(windows) => Ok(&windows.prelude),
            Schedule::EventDriven(_) => Err(Stop::NoPlan),
        }
    }

    fn step(&mut self, program: &Program<'_>, inputs: &[Cell]) -> Result<(), Stop> {
        let mut cells = Vec::new();
        for (var, position, is_on_root) in &self.inputs {
            if *is_on_root && inputs[*position] == Cell::Absent {
                return Err(Stop::Synchronisation(*var));
            }
            cells.push((*var, inputs[*position].clone()));
        }
        self.n_activations += 1;
        let lagged = self.lagged()?;
        let outside = Nothing { program, is_end: false };
        let shown = self.late.iterate(&program.operations, lagged, &cells, None, &outside)?;
        self.conclude(program, shown)
    }

    fn finish(&mut self, program: &Program<'_>) -> Result<(), Stop> {
        let lagged = self.lagged()?;
        let n = Some(self.n_activations);
        for _ in 0..lagged.max_lag {
            let outside = Nothing { program, is_end: true };
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

    /// An iteration is over. If something failed, what is shown of earlier cycles is kept.
    fn conclude(&mut self, program: &Program<'_>, shown: Option<Vec<(VarId, Cell)>>) -> Result<(), Stop> {
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

    /// An activation is complete: it is shown, or it is part of the window.
    fn arrive(&mut self, program: &Program<'_>, shown: Option<Vec<(VarId, Cell)>>) -> Result<(), Stop> {
        let Some(shown) = shown else { return Ok(()) };
        let Schedule::Windows(windows) = &self.plan.schedule else {
            self.found.push_back(shown);
            return Ok(());
        };
        let row: FxHashMap<VarId, Cell> = shown.into_iter().collect();
        let is_last = match &windows.cut {
            Cut::Guard(guard, polarity) => row[guard].truth() == Some(*polarity == Polarity::On),
            Cut::Derived(closing) => {
                let closes = self.scan.closes(program, closing, &row)?;
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
    ) -> Result<(), Stop> {
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
            .ok_or_else(|| Stop::Mixed(windows.versions[0].assumes.map_or(VarId::new(0), |(var, _)| var)))?;
        let mut memory = Memory {
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
