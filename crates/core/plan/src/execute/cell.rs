//! What is known about a stream at a cycle, and the execution of an instruction.

use eddy_flow::{Flow, Kind, Polarity, VarId};
use eddy_tensor::{EvalError, Op, Value};

use crate::plan::{Condition, Instruction, Read, Right, SlotId};

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Presence and value are unknown.
    Unknown,
    /// Present, with an unknown value, which depends for example on cycles after the end of the trace.
    Present,
    /// The stream is absent.
    Absent,
    Value(Value),
}

impl Cell {
    /// The value, if it is known.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Cell::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The truth value, if it is known.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Cell::Value(value) => value.as_bool(),
            _ => None,
        }
    }
}

/// Why an execution stops.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecutionError {
    Operation {
        var: VarId,
        error: EvalError,
    },
    /// Streams that should be present together are not: the inputs violate the clocks.
    Synchronisation(VarId),
    NoPlan,
    /// A condition changes inside a window that was planned for a constant condition; the event-driven engine
    /// must run it.
    Mixed(VarId),
    /// The plan is wrong (law L2).
    Violation(String),
}

/// The environment of an instruction.
pub trait Env {
    fn read(&self, read: &Read) -> Result<Cell, ExecutionError>;

    /// The value carried over from another window.
    fn slot(&self, slot: SlotId) -> Option<Cell>;

    /// The register of a delay; `None` before it is written.
    fn register(&self, shift: VarId) -> Option<Cell>;

    /// Whether the window has an activation before this one.
    fn has_before(&self) -> bool;

    /// Whether the window has an activation after this one.
    fn has_after(&self) -> bool;

    /// Whether the trace ends with this window.
    fn is_end_of_trace(&self) -> bool;
}

/// The presence of streams on a clock: `Present`, `Absent` or `Unknown`.
pub fn presence(clock: &[Condition], env: &impl Env) -> Result<Cell, ExecutionError> {
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
pub fn compute(
    op: Option<Operation<'_>>,
    instruction: &Instruction,
    env: &impl Env,
) -> Result<Cell, ExecutionError> {
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
        // Before the first activation, the register may hold a restored state.
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
    // If the presence of an operand is unknown but that of the result is known, the value is unknown.
    Ok(match cell {
        Cell::Unknown => Cell::Present,
        Cell::Absent => return Err(ExecutionError::Synchronisation(var)),
        cell => cell,
    })
}

/// The value of a delay into the future at the end of the window.
fn beyond(init: Option<&Read>, env: &impl Env) -> Result<Cell, ExecutionError> {
    match init {
        Some(init) if env.is_end_of_trace() => env.read(init),
        _ => Ok(Cell::Present),
    }
}

fn apply(
    var: VarId,
    op: Option<Operation<'_>>,
    reads: &[Read],
    env: &impl Env,
) -> Result<Cell, ExecutionError> {
    let mut values = Vec::with_capacity(reads.len());
    for read in reads {
        match env.read(read)? {
            Cell::Value(value) => values.push(value),
            Cell::Absent => return Err(ExecutionError::Synchronisation(var)),
            Cell::Unknown | Cell::Present => {}
        }
    }
    if values.len() < reads.len() {
        return Ok(Cell::Present);
    }
    let values: Vec<&Value> = values.iter().collect();
    let op = op.expect("an operation is applied");
    op.eval(&values).map(Cell::Value).map_err(|error| ExecutionError::Operation { var, error })
}

#[derive(Clone, Copy)]
pub struct Operation<'a> {
    op: &'a Op,
    single: bool,
    pub number: usize,
}

impl Operation<'_> {
    pub fn eval(self, operands: &[&Value]) -> Result<Value, EvalError> {
        let value = self.op.eval(operands)?;
        Ok(if self.single { value.to_num32() } else { value })
    }
}

/// The operation of each stream's equation.
pub fn operations(flow: &Flow, single: bool) -> Vec<Option<Operation<'_>>> {
    let mut operations = vec![None; flow.vars.len()];
    for (number, equation) in flow.equations.iter().enumerate() {
        if let Kind::Apply(op, _) = &equation.kind {
            operations[equation.out.index()] = Some(Operation { op, single, number });
        }
    }
    operations
}
