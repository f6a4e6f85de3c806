//! What is known of a stream at a cycle, and how an instruction finds it.

use eddy_flow::{Flow, Kind, Polarity, VarId};
use eddy_tensor::{EvalError, Op, Value};

use crate::plan::{Condition, Instruction, Read, Right, SlotId};

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// It is not known whether the stream is there.
    Unknown,
    /// The stream is there with a value that is not known: it waits for what comes after the end.
    Present,
    /// The stream is not there.
    Absent,
    /// The value.
    Value(Value),
}

impl Cell {
    /// The value, if there is one.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Cell::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The truth value, if there is one.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Cell::Value(value) => value.as_bool(),
            _ => None,
        }
    }
}

/// Why a plan cannot go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// An operation has no value.
    Operation {
        /// The stream.
        var: VarId,
        /// What is wrong.
        error: EvalError,
    },
    /// Streams are not there together: the inputs do not respect the clocks.
    Synchronisation(VarId),
    /// There is no static plan.
    NoPlan,
    /// A condition changes inside a window that was planned for windows in which it does not: the event-driven engine runs it.
    Mixed(VarId),
    /// The plan is wrong (law L2).
    Violation(String),
}

/// Where an instruction is executed.
pub trait Env {
    /// A cell.
    fn read(&self, read: &Read) -> Result<Cell, Stop>;

    /// What was carried over from another window.
    fn slot(&self, slot: SlotId) -> Option<Cell>;

    /// The register of a delay, if it was written.
    fn register(&self, shift: VarId) -> Option<Cell>;

    /// Whether there is an activation before this one in the window.
    fn has_before(&self) -> bool;

    /// Whether there is an activation after this one in the window.
    fn has_after(&self) -> bool;

    /// Whether the trace ends with this window.
    fn is_end_of_trace(&self) -> bool;
}

/// Whether a clock is active: absent if it is not.
pub fn presence(clock: &[Condition], env: &impl Env) -> Result<Cell, Stop> {
    for condition in clock {
        match env.read(&condition.read)? {
            Cell::Absent => return Ok(Cell::Absent),
            Cell::Unknown | Cell::Present => return Ok(Cell::Unknown),
            cell @ Cell::Value(_) => {
                if cell.truth() != Some(condition.polarity == Polarity::On) {
                    return Ok(Cell::Absent);
                }
            }
        }
    }
    Ok(Cell::Present)
}

/// Executes an instruction; `op` is the operation of its stream's equation.
pub fn compute(op: Option<Operation<'_>>, instruction: &Instruction, env: &impl Env) -> Result<Cell, Stop> {
    let var = instruction.var;
    match presence(&instruction.clock, env)? {
        Cell::Present => {}
        other => return Ok(other),
    }
    let slot = |slot: &Option<SlotId>| slot.and_then(|slot| env.slot(slot));
    let cell = match &instruction.right {
        Right::Copy(read) => return env.read(read),
        Right::Apply(reads) => return apply(var, op, reads, env),
        Right::Choice { condition, yes, no } => match env.read(condition)?.truth() {
            Some(true) => env.read(yes)?,
            Some(false) => env.read(no)?,
            None => Cell::Present,
        },
        Right::Carried { slot: carried, init, is_tracked } => {
            let tracked = if *is_tracked { env.register(var) } else { None };
            match tracked.or_else(|| slot(carried)) {
                Some(cell) => cell,
                None => env.read(init)?,
            }
        }
        Right::Register { slot: carried, init } => match env.register(var).or_else(|| slot(carried)) {
            Some(cell) => cell,
            None => env.read(init)?,
        },
        Right::Previous { next, .. } if env.has_before() => env.read(next)?,
        // A register stands for what was remembered before the first activation.
        Right::Previous { slot: carried, init, .. } => match slot(carried).or_else(|| env.register(var)) {
            Some(cell) => cell,
            None => env.read(init)?,
        },
        Right::Ahead { next: Some(next), .. } if env.has_after() => env.read(next)?,
        Right::Ahead { slot: carried, init, .. } => match slot(carried) {
            Some(cell) => cell,
            None => beyond(init.as_ref(), env)?,
        },
        Right::Tracked { slot: carried, init } => match env.register(var).or_else(|| slot(carried)) {
            Some(cell) => cell,
            None => beyond(init.as_ref(), env)?,
        },
    };
    // Where the presence of an operand is not known, but that of the result is, its value is not known.
    Ok(match cell {
        Cell::Unknown => Cell::Present,
        Cell::Absent => return Err(Stop::Synchronisation(var)),
        cell => cell,
    })
}

/// What a delay into the future is where there is no future.
fn beyond(init: Option<&Read>, env: &impl Env) -> Result<Cell, Stop> {
    match init {
        Some(init) if env.is_end_of_trace() => env.read(init),
        _ => Ok(Cell::Present),
    }
}

fn apply(var: VarId, op: Option<Operation<'_>>, reads: &[Read], env: &impl Env) -> Result<Cell, Stop> {
    let mut values = Vec::with_capacity(reads.len());
    for read in reads {
        match env.read(read)? {
            Cell::Value(value) => values.push(value),
            Cell::Absent => return Err(Stop::Synchronisation(var)),
            Cell::Unknown | Cell::Present => {}
        }
    }
    if values.len() < reads.len() {
        return Ok(Cell::Present);
    }
    let values: Vec<&Value> = values.iter().collect();
    let op = op.expect("an operation is applied");
    op.eval(&values).map(Cell::Value).map_err(|error| Stop::Operation { var, error })
}

/// An operation, and the precision of its result.
#[derive(Clone, Copy)]
pub struct Operation<'a> {
    op: &'a Op,
    single: bool,
    /// The number of the equation.
    pub number: usize,
}

impl Operation<'_> {
    pub fn eval(self, operands: &[&Value]) -> Result<Value, EvalError> {
        let value = self.op.eval(operands)?;
        Ok(if self.single { value.to_num32() } else { value })
    }
}

/// For each stream the operation of its equation.
pub fn operations(flow: &Flow, single: bool) -> Vec<Option<Operation<'_>>> {
    let mut operations = vec![None; flow.vars.len()];
    for (number, equation) in flow.equations.iter().enumerate() {
        if let Kind::Apply(op, _) = &equation.kind {
            operations[equation.out.index()] = Some(Operation { op, single, number });
        }
    }
    operations
}
