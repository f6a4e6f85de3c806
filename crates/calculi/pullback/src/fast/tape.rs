//! Numbers on tapes, and the records of tapes.
//!
//! Every active pullback has its own tape, its *level*. A [`Value::Cell`] is a node on one of them; the
//! *primal* of a node is a number of lower levels only. An operation on numbers is done at the lowest level,
//! on reals, and then recorded on the tapes of its operands, from the lowest level to the highest. Two
//! pullbacks never share a level, so there is no perturbation confusion. The arithmetic of a backward sweep
//! is ordinary arithmetic on numbers of lower levels and is itself recorded there, which gives derivatives of
//! derivatives.

use rustc_hash::FxHashMap;

use super::heap::{Mark, Value};
use super::lazy::Opening;
use crate::outcome::{Counters, Limits, Stop};
use crate::primitive::calculus::{
    Arithmetic, Binary, Unary, binary_value, unary_value, undefined_binary, undefined_unary,
};
use crate::types::Type;

/// The origin of a node.
#[derive(Clone, Copy, Debug)]
pub enum Record {
    /// A number with respect to which the pullback differentiates.
    Input,
    Unary(Unary, Value),
    Binary(Binary, Value, Value),
    /// A copy of a number, as a part of the result of a call.
    Join(Value),
    /// A function or functional with respect to which the pullback differentiates; it has no primal.
    Function,
    /// A call of such a function: its node, the argument, the result and its type.
    Call {
        /// The node of the function.
        function: u32,
        /// The argument, without cells of this tape.
        argument: Value,
        /// The result, made of joins and functions of this tape.
        outputs: Value,
        ty: Type,
    },
}

/// A node of a tape.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub record: Record,
    /// Its value, on lower levels.
    pub primal: Value,
}

/// The tape of one active pullback.
#[derive(Debug)]
pub struct Level {
    /// The nodes, operands before operators.
    pub nodes: Vec<Node>,
    /// The size of the heap when the level was opened: older values do not mention this tape.
    pub mark: Mark,
    /// The owner of the level, and the state of the machine at its opening.
    pub opening: Opening,
    /// Tuples and objects with the cells of this tape removed, by their identity.
    pub stripped: FxHashMap<(u32, u32), Value>,
}

/// All tapes, and the counters.
#[derive(Debug)]
pub struct Tapes {
    /// The active levels.
    pub levels: Vec<Level>,
    pub counters: Counters,
    /// Whether a backward sweep is running.
    pub is_sweeping: bool,
    pub limits: Limits,
    pending: Vec<(u32, Value, Value)>,
}

impl Tapes {
    pub fn new(limits: Limits) -> Self {
        Tapes {
            levels: Vec::new(),
            counters: Counters::default(),
            is_sweeping: false,
            limits,
            pending: Vec::new(),
        }
    }

    /// The approximate size of the tapes in bytes.
    pub fn bytes(&self) -> usize {
        let entry = size_of::<((u32, u32), Value)>();
        let of =
            |level: &Level| level.nodes.capacity() * size_of::<Node>() + level.stripped.capacity() * entry;
        self.levels.iter().map(of).sum()
    }

    pub fn push(&mut self, level: u32, record: Record, primal: Value) -> u32 {
        let nodes = &mut self.levels[level as usize].nodes;
        nodes.push(Node { record, primal });
        u32::try_from(nodes.len() - 1).expect("the memory limit ends a run before 2^32 nodes")
    }

    /// The primal of a number on this level; the number itself if it is not on this level.
    pub fn primal(&self, value: Value, level: u32) -> Value {
        match value {
            Value::Cell(at, node) if at == level => self.levels[at as usize].nodes[node as usize].primal,
            value => value,
        }
    }

    /// Counts one scalar operation.
    fn count(&mut self) -> Result<(), Stop> {
        self.counters.total_ops += 1;
        if !self.is_sweeping {
            self.counters.primal_ops += 1;
        }
        self.spend()
    }

    /// Counts one step.
    pub fn spend(&mut self) -> Result<(), Stop> {
        self.counters.steps += 1;
        if self.counters.steps > self.limits.fuel { Err(Stop::OutOfFuel) } else { Ok(()) }
    }

    /// The highest level of two numbers.
    fn top(a: Value, b: Value) -> Option<u32> {
        match (a, b) {
            (Value::Cell(a, _), Value::Cell(b, _)) => Some(a.max(b)),
            (Value::Cell(level, _), _) | (_, Value::Cell(level, _)) => Some(level),
            _ => None,
        }
    }

    /// Descends to reals; the levels passed wait in `pending`, the lowest on top.
    fn descend(&mut self, mut a: Value, mut b: Value) -> (f64, f64) {
        while let Some(level) = Self::top(a, b) {
            self.pending.push((level, a, b));
            (a, b) = (self.primal(a, level), self.primal(b, level));
        }
        match (a, b) {
            (Value::Real(a), Value::Real(b)) => (a, b),
            other => unreachable!("{other:?} are no numbers"),
        }
    }

    /// Ascends again, and records the operation on each level.
    fn ascend(&mut self, value: f64, record: impl Fn(Value, Value) -> Record) -> Value {
        let mut result = Value::Real(value);
        while let Some((level, a, b)) = self.pending.pop() {
            let node = self.push(level, record(a, b), result);
            result = Value::Cell(level, node);
        }
        result
    }
}

impl Arithmetic for Tapes {
    type Number = Value;
    type Error = Stop;

    fn constant(&mut self, value: f64) -> Value {
        Value::Real(value)
    }

    fn unary(&mut self, op: Unary, a: Value) -> Result<Value, Stop> {
        self.count()?;
        let (real, _) = self.descend(a, Value::Real(0.0));
        let value = unary_value(op, real);
        if !value.is_finite() {
            return Err(Stop::Domain(undefined_unary(op, real)));
        }
        Ok(self.ascend(value, |a, _| Record::Unary(op, a)))
    }

    fn binary(&mut self, op: Binary, a: Value, b: Value) -> Result<Value, Stop> {
        self.count()?;
        let (left, right) = self.descend(a, b);
        let value = binary_value(op, left, right);
        if !value.is_finite() {
            return Err(Stop::Domain(undefined_binary(op, left, right)));
        }
        Ok(self.ascend(value, |a, b| Record::Binary(op, a, b)))
    }
}
