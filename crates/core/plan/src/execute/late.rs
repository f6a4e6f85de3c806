//! Runs a loop with lags.

use std::cmp::Reverse;

use eddy_flow::VarId;
use eddy_tensor::Value;
use rustc_hash::FxHashMap;

use super::cell::{Cell, Env, ExecutionError, Operation, compute};
use crate::plan::{Immediate, Lagged, Place, Read, SlotId};

/// The environment of a loop.
pub trait Outside {
    fn invariant(&self, var: VarId) -> Value;

    /// A cell that the loop does not compute, at an activation.
    fn cell(&self, var: VarId, place: &Place, activation: usize) -> Result<Cell, ExecutionError>;

    /// The value carried over from another window.
    fn slot(&self, slot: SlotId) -> Option<Cell>;

    /// Whether the trace ends with the last activation.
    fn is_end_of_trace(&self) -> bool;
}

/// The state of a loop.
#[derive(Clone, Debug, Default)]
pub struct LateRun {
    /// Values with the iteration that computed them, at the index `iteration % length`.
    rings: FxHashMap<VarId, Vec<Option<(usize, Cell)>>>,
    registers: FxHashMap<VarId, Cell>,
    iteration: usize,
    failure: Option<LateFailure>,
}

/// A failed operation.
#[derive(Clone, Debug)]
pub struct LateFailure {
    /// The lag of its stream.
    pub lag: usize,
    pub activation: usize,
    /// The index of its equation.
    number: usize,
    pub stop: ExecutionError,
}

impl LateFailure {
    /// The order of failures. The smallest is reported: the one of the earliest cycle, and there of the first
    /// equation.
    fn rank(&self) -> (Reverse<usize>, usize) {
        (Reverse(self.lag), self.number)
    }
}

/// The state of a loop in the form that compiled code has.
#[derive(Clone, Debug, Default)]
pub struct LateState {
    /// The number of completed iterations.
    pub iteration: usize,
    /// For each cycle without output so far, whether the root was active.
    pub waiting: Vec<bool>,
    /// Values in rings, with the iteration that computed each.
    pub rings: Vec<(VarId, Vec<(usize, Cell)>)>,
    /// Registers that have been written.
    pub registers: Vec<(VarId, Cell)>,
}

impl LateRun {
    /// Continues a loop from a state.
    pub fn resume(lagged: &Lagged, state: LateState) -> LateRun {
        let registers = state.registers.into_iter().collect();
        let mut run = LateRun { registers, iteration: state.iteration, ..LateRun::default() };
        for (var, values) in state.rings {
            let mut ring = vec![None; lagged.slots(var)];
            let n = ring.len();
            for (iteration, cell) in values {
                ring[iteration % n] = Some((iteration, cell));
            }
            run.rings.insert(var, ring);
        }
        run
    }

    /// The next value of a `fby`: its register, or the newest value of its operand if that is kept in a ring.
    /// Before its first activation this is `None`, or a restored state.
    pub fn remembered(&self, fby: VarId, ring: Option<VarId>) -> Option<&Cell> {
        let newest = ring.and_then(|next| {
            let entries = self.rings.get(&next)?.iter().flatten();
            entries.max_by_key(|(iteration, _)| *iteration).map(|(_, cell)| cell)
        });
        newest.or_else(|| self.registers.get(&fby))
    }

    /// The number of stored values.
    pub fn n_values(&self) -> usize {
        self.rings.values().map(Vec::len).sum::<usize>() + self.registers.len()
    }

    fn put(&mut self, lagged: &Lagged, var: VarId, cell: Cell) {
        let iteration = self.iteration;
        let ring = self.rings.entry(var).or_insert_with(|| vec![None; lagged.slots(var)]);
        let n = ring.len();
        ring[iteration % n] = Some((iteration, cell));
    }

    /// Takes the failure of the last iteration, if any.
    pub fn failure(&mut self) -> Option<LateFailure> {
        self.failure.take()
    }

    /// Runs one iteration. `n` is the number of activations, or `None` as long as the trace may go on.
    /// Returns the outputs that are complete, if any. If an operation fails, the others continue, because
    /// they may belong to earlier cycles, whose outputs must still be produced.
    pub fn iterate(
        &mut self,
        operations: &[Option<Operation<'_>>],
        lagged: &Lagged,
        inputs: &[(VarId, Cell)],
        n: Option<usize>,
        outside: &impl Outside,
    ) -> Result<Option<Vec<(VarId, Cell)>>, ExecutionError> {
        for (var, cell) in inputs {
            self.put(lagged, *var, cell.clone());
        }
        let is_activation = |lag: usize| {
            let activation = self.iteration.checked_sub(lag)?;
            n.is_none_or(|n| activation < n).then_some(activation)
        };
        let active: Vec<Option<usize>> = lagged.body.iter().map(|late| is_activation(late.lag)).collect();
        for (late, activation) in lagged.body.iter().zip(active) {
            if let Some(activation) = activation {
                let var = late.instruction.var;
                let env = LateEnv { run: self, n, activation, outside };
                let operation = operations[var.index()];
                let cell = match compute(operation, &late.instruction, &env) {
                    Err(stop @ ExecutionError::Operation { .. }) => {
                        let number = operation.map_or(0, |operation| operation.number);
                        self.fail(LateFailure { lag: late.lag, activation, number, stop });
                        Cell::Present
                    }
                    computed => computed?,
                };
                self.put(lagged, var, cell);
            }
        }
        let shown = match activation_at(self.iteration, lagged.look_ahead, n) {
            None => None,
            Some(activation) => {
                let env = LateEnv { run: self, n, activation, outside };
                let mut shown = Vec::new();
                for instruction in &lagged.emit.code {
                    shown.push((instruction.var, compute(None, instruction, &env)?));
                }
                Some(shown)
            }
        };
        self.write_registers(lagged, n, outside)?;
        self.iteration += 1;
        Ok(shown)
    }

    fn fail(&mut self, failure: LateFailure) {
        if self.failure.as_ref().is_none_or(|first| failure.rank() < first.rank()) {
            self.failure = Some(failure);
        }
    }

    /// A register takes the value of its operand if its `fby` is present. If the presence is unknown, the
    /// register becomes unknown.
    fn write_registers(
        &mut self,
        lagged: &Lagged,
        n: Option<usize>,
        outside: &impl Outside,
    ) -> Result<(), ExecutionError> {
        let mut written = Vec::new();
        for register in &lagged.registers {
            let lag = lagged.lag(register.fby);
            let Some(activation) = activation_at(self.iteration, lag, n) else { continue };
            let env = LateEnv { run: self, n, activation, outside };
            let own = env.ring(register.fby, 0)?;
            match own {
                Cell::Absent => {}
                Cell::Unknown => written.push((register.fby, Cell::Unknown)),
                Cell::Present | Cell::Value(_) => written.push((register.fby, env.read(&register.next)?)),
            }
        }
        self.registers.extend(written);
        Ok(())
    }

    /// The cell that was computed `age` iterations before the last one.
    pub fn last(&self, var: VarId, age: usize) -> Option<Cell> {
        let iteration = self.iteration.checked_sub(age + 1)?;
        let ring = self.rings.get(&var)?;
        let entry = ring[iteration % ring.len()].as_ref();
        entry.filter(|(stamp, _)| *stamp == iteration).map(|(_, cell)| cell.clone())
    }
}

/// The activation that an iteration computes for streams with this lag; `None` if there is none.
fn activation_at(iteration: usize, lag: usize, n: Option<usize>) -> Option<usize> {
    let activation = iteration.checked_sub(lag)?;
    n.is_none_or(|n| activation < n).then_some(activation)
}

struct LateEnv<'a, O> {
    run: &'a LateRun,
    n: Option<usize>,
    activation: usize,
    outside: &'a O,
}

impl<O: Outside> LateEnv<'_, O> {
    fn ring(&self, var: VarId, age: usize) -> Result<Cell, ExecutionError> {
        let wrong =
            |what: &str| ExecutionError::Violation(format!("stream {} of age {age} {what}", var.index()));
        let iteration = self.run.iteration.checked_sub(age).ok_or_else(|| wrong("is before the first"))?;
        let ring = self.run.rings.get(&var).ok_or_else(|| wrong("was never computed"))?;
        match &ring[iteration % ring.len()] {
            Some((stamp, cell)) if *stamp == iteration => Ok(cell.clone()),
            _ => Err(wrong("is no longer in its ring, or not yet")),
        }
    }
}

impl<O: Outside> Env for LateEnv<'_, O> {
    fn read(&self, read: &Read) -> Result<Cell, ExecutionError> {
        let (var, place, activation) = match read {
            Read::Here(var, place) => (*var, place, self.activation),
            Read::Before { var, inner, .. } => (*var, inner, self.activation - 1),
            Read::After { var, inner, .. } => (*var, inner, self.activation + 1),
        };
        match place {
            Place::Immediate(Immediate::Value(value)) => Ok(Cell::Value(value.clone())),
            Place::Immediate(Immediate::Invariant(var)) => Ok(Cell::Value(self.outside.invariant(*var))),
            Place::Absent => Ok(Cell::Absent),
            Place::Ring(age) => self.ring(var, *age),
            place => self.outside.cell(var, place, activation),
        }
    }

    fn slot(&self, slot: SlotId) -> Option<Cell> {
        self.outside.slot(slot)
    }

    fn register(&self, shift: VarId) -> Option<Cell> {
        self.run.registers.get(&shift).cloned()
    }

    fn has_before(&self) -> bool {
        self.activation > 0
    }

    fn has_after(&self) -> bool {
        self.n.is_none_or(|n| self.activation + 1 < n)
    }

    fn is_end_of_trace(&self) -> bool {
        self.outside.is_end_of_trace()
    }
}
