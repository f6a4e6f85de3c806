//! Units: mixed components, that is, streams of a window that depend on each other in both directions
//! (section 5).
//!
//! A unit is a loop with lags, if lags suffice. Otherwise it consists of nested windows that end at another
//! condition, and run from the first to the last or from the last to the first. The backward order occurs in
//! adjoints of training loops: a gradient goes back through learning, one sequence at a time.

use eddy_flow::VarId;
use eddy_tensor::{Op, Scalar};

use crate::cells::Cells;
use crate::plan::{Direction, Mode, Reason};
use crate::region::{Attempt, Context, Draft, Task, cycle_among, plan_region};
use crate::retime::{Lags, retime};
use crate::system::{ClockNo, Def, System};
use crate::zones::Shape;

/// The largest depth of nested windows.
const MAX_DEPTH: usize = 3;

pub struct UnitDraft {
    /// Sorted.
    pub vars: Vec<VarId>,
    /// Streams from outside that it reads, at all cycles.
    pub reads: Vec<VarId>,
    /// The streams that are read outside.
    pub wanted: Vec<VarId>,
    pub run: UnitRun,
}

pub enum UnitRun {
    /// One loop with lags over the activations of a clock.
    Retimed(Lags, ClockNo),
    /// Nested windows.
    Nested(Box<Draft>),
}

impl UnitDraft {
    pub fn nested(&self) -> Option<&Draft> {
        match &self.run {
            UnitRun::Nested(draft) => Some(draft),
            UnitRun::Retimed(..) => None,
        }
    }
}

/// Finds a way to run some streams as a unit.
pub fn solve(
    context: &Context<'_>,
    cells: &Cells<'_>,
    task: &Task,
    vars: Vec<VarId>,
    wanted: Vec<VarId>,
) -> Result<UnitDraft, Reason> {
    let system = context.system;
    let clock = system.clock(vars[0]);
    let mut is_in = vec![false; system.defs.len()];
    for var in &vars {
        is_in[var.index()] = true;
    }
    let is_known = |(condition, _): (VarId, bool)| !system.may_be_unknown[condition.index()];
    if vars.iter().all(|var| system.clock(*var) == clock)
        && system.conditions(clock).all(is_known)
        && let Ok(lags) = retime(system, &vars, clock)
    {
        let mut reads = reads(system, &vars, &is_in);
        reads.extend(
            system
                .conditions(clock)
                .map(|(condition, _)| condition)
                .filter(|var| !is_in[var.index()] && system.is_stream(*var)),
        );
        reads.sort_unstable();
        reads.dedup();
        return Ok(UnitDraft { vars, reads, wanted, run: UnitRun::Retimed(lags, clock) });
    }
    let failure = || Reason::Cycle(cycle_among(system, &vars));
    if task.depth >= MAX_DEPTH {
        return Err(failure());
    }
    let mut best: Option<UnitDraft> = None;
    let mut still_open = None;
    for order in [Direction::Forward, Direction::Backward] {
        for guard in guards(context, cells, &vars, &is_in) {
            if cells.shape.guard.is_some_and(|(own, _)| own == guard.0) && task.order == order {
                continue;
            }
            if let Some(open) = open_at_end(cells, guard) {
                still_open = Some(open);
                continue;
            }
            let attempt = Attempt {
                vars: vars.clone(),
                wanted: wanted.clone(),
                guard,
                order,
                assumes: cells.shape.assumes,
                depth: task.depth + 1,
            };
            if context.failed.borrow().contains(&attempt) {
                continue;
            }
            let shape = Shape {
                clock: system.clock(guard.0),
                guard: Some(guard),
                mode: Mode::Guard,
                assumes: cells.shape.assumes,
            };
            let inner = Task {
                shape,
                order,
                is_inside: is_in.clone(),
                wanted: wanted.clone(),
                carried: Vec::new(),
                depth: task.depth + 1,
            };
            let planned = plan_region(context, inner, None);
            if planned.is_err() {
                context.failed.borrow_mut().insert(attempt);
            }
            if let Ok(draft) = planned {
                let unit = nested(system, vars.clone(), wanted.clone(), draft);
                let is_better = best
                    .as_ref()
                    .and_then(UnitDraft::nested)
                    .is_none_or(|known| unit.nested().is_some_and(|draft| draft.cost() < known.cost()));
                if is_better {
                    best = Some(unit);
                }
            }
        }
        if let Some(unit) = best {
            return Ok(unit);
        }
    }
    Err(still_open.map_or_else(failure, Reason::Open))
}

fn nested(system: &System<'_>, vars: Vec<VarId>, wanted: Vec<VarId>, draft: Draft) -> UnitDraft {
    let mut reads: Vec<VarId> = draft.liveness.outside.iter().map(|(var, _)| *var).collect();
    reads.extend(draft.task.shape.guard.map(|(guard, _)| guard));
    // The unit also reads the conditions of the clock of its windows.
    reads.extend(system.conditions(draft.task.shape.clock).map(|(condition, _)| condition));
    reads.extend(
        draft.zones.alternatives.iter().flat_map(|alternative| &alternative.conditions).map(|(var, _)| *var),
    );
    for unit in &draft.units {
        reads.extend(unit.reads.iter().filter(|var| vars.binary_search(var).is_err()));
    }
    reads.sort_unstable();
    reads.dedup();
    UnitDraft { vars, reads, wanted, run: UnitRun::Nested(Box::new(draft)) }
}

fn reads(system: &System<'_>, vars: &[VarId], is_in: &[bool]) -> Vec<VarId> {
    let operands = vars.iter().flat_map(|var| system.needs(*var)).map(|(operand, _)| operand);
    let mut reads: Vec<VarId> =
        operands.filter(|operand| system.is_stream(*operand) && !is_in[operand.index()]).collect();
    reads.sort_unstable();
    reads.dedup();
    reads
}

/// The conditions that may cut a unit: known before it runs, on a clock at or above all of its streams.
fn guards(context: &Context<'_>, cells: &Cells<'_>, vars: &[VarId], is_in: &[bool]) -> Vec<(VarId, bool)> {
    let system = context.system;
    let mut depends = is_in.to_vec();
    let mut todo: Vec<VarId> = vars.to_vec();
    while let Some(var) = todo.pop() {
        for user in &system.users[var.index()] {
            if !std::mem::replace(&mut depends[user.index()], true) {
                todo.push(*user);
            }
        }
    }
    let is_guard = |var: &VarId| {
        let ty = &system.flow.var(*var).ty;
        let clock = system.clock(*var);
        ty.scalar == Scalar::Bool
            && ty.shape.is_scalar()
            && !depends[var.index()]
            && !system.may_be_unknown[var.index()]
            && system.is_at_or_below(clock, cells.shape.clock)
            && vars.iter().all(|member| system.is_at_or_below(system.clock(*member), clock))
            && context.same.get(var) == Some(var)
            && !matches!(system.def(*var), Def::Copy(_) | Def::Apply(Op::Not, _))
    };
    let found = context.streams.iter().copied().filter(is_guard);
    found.flat_map(|var| [(var, true), (var, false)]).collect()
}

/// Nested windows must end where the enclosing window ends. Returns the guard if it need not hold there.
fn open_at_end(cells: &Cells<'_>, (guard, truth): (VarId, bool)) -> Option<VarId> {
    if cells.shape.mode != Mode::Guard {
        return None;
    }
    let holds = |zone: usize| cells.evaluation.get(guard, zone).truth() == Some(truth);
    let is_closed = cells.is_on_clock(guard) && cells.zones.ends().all(holds);
    (!is_closed).then_some(guard)
}
