//! Numbers that tapes know, and what tapes hold.
//!
//! Every active pullback has a tape of its own, its *level*. A [`Value::Cell`] is a node on one of them; the *primal* of a node is a number of lower levels only. An
//! operation on numbers is done at the lowest level, on reals, and then noted on each tape that one of its operands is on, from the lowest level to the
//! highest. Levels are never identified, so there is no perturbation confusion; and the arithmetic of a backward sweep, being ordinary arithmetic on numbers of
//! lower levels, is itself noted there: that is what makes derivatives of derivatives.

use rustc_hash::FxHashMap;

use super::heap::{Mark, Value};
use super::lazy::Opening;
use crate::outcome::{Counters, Limits, Stop};
use crate::primitive::calculus::{
    Arithmetic, Binary, Unary, binary_value, unary_value, undefined_binary, undefined_unary,
};
use crate::types::Type;

/// Where a node comes from.
#[derive(Clone, Copy, Debug)]
pub enum Record {
    /// A number that the pullback differentiates with respect to.
    Input,
    /// An operation on one number.
    Unary(Unary, Value),
    /// An operation on two numbers.
    Binary(Binary, Value, Value),
    /// The same number again, as a part of the result of a call.
    Join(Value),
    /// A function or functional that is differentiated with respect to; it has no primal.
    Function,
    /// A call of such a function: its node, the argument, the result and its type.
    Call {
        /// The node of the function.
        function: u32,
        /// The argument, without cells of this tape.
        argument: Value,
        /// The result, made of joins and functions of this tape.
        outputs: Value,
        /// Its type.
        ty: Type,
    },
}

/// A node of a tape.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Where it comes from.
    pub record: Record,
    /// Its value, on lower levels.
    pub primal: Value,
}

/// The tape of one active pullback.
#[derive(Debug)]
pub struct Level {
    /// The nodes, operands before operators.
    pub nodes: Vec<Node>,
    /// What the heap held when the level was opened: older values know nothing of this tape.
    pub mark: Mark,
    /// What opened it, and where the machine stood.
    pub opening: Opening,
    /// Tuples and objects without the cells of this tape, by what identifies them.
    pub stripped: FxHashMap<(u32, u32), Value>,
}

/// All tapes, and what is counted.
#[derive(Debug)]
pub struct Tapes {
    /// The active levels.
    pub levels: Vec<Level>,
    /// What was counted.
    pub counters: Counters,
    /// Whether a backward sweep is going on.
    pub is_sweeping: bool,
    /// What may be used.
    pub limits: Limits,
    pending: Vec<(u32, Value, Value)>,
}

impl Tapes {
    /// No levels.
    pub fn new(limits: Limits) -> Self {
        Tapes {
            levels: Vec::new(),
            counters: Counters::default(),
            is_sweeping: false,
            limits,
            pending: Vec::new(),
        }
    }

    /// About how many bytes the tapes take.
    pub fn bytes(&self) -> usize {
        let entry = size_of::<((u32, u32), Value)>();
        let of =
            |level: &Level| level.nodes.capacity() * size_of::<Node>() + level.stripped.capacity() * entry;
        self.levels.iter().map(of).sum()
    }

    /// Adds a node to a level.
    pub fn push(&mut self, level: u32, record: Record, primal: Value) -> u32 {
        let nodes = &mut self.levels[level as usize].nodes;
        nodes.push(Node { record, primal });
        u32::try_from(nodes.len() - 1).expect("the memory limit ends a run before 2^32 nodes")
    }

    /// A number without the cell of this level that it may be.
    pub fn primal(&self, value: Value, level: u32) -> Value {
        match value {
            Value::Cell(at, node) if at == level => self.levels[at as usize].nodes[node as usize].primal,
            value => value,
        }
    }

    /// One scalar operation.
    fn count(&mut self) -> Result<(), Stop> {
        self.counters.total_ops += 1;
        if !self.is_sweeping {
            self.counters.primal_ops += 1;
        }
        self.spend()
    }

    /// One step.
    pub fn spend(&mut self) -> Result<(), Stop> {
        self.counters.steps += 1;
        if self.counters.steps > self.limits.fuel { Err(Stop::OutOfFuel) } else { Ok(()) }
    }

    /// The highest level that one of two numbers is on.
    fn top(a: Value, b: Value) -> Option<u32> {
        match (a, b) {
            (Value::Cell(a, _), Value::Cell(b, _)) => Some(a.max(b)),
            (Value::Cell(level, _), _) | (_, Value::Cell(level, _)) => Some(level),
            _ => None,
        }
    }

    /// Goes down to reals; the levels on the way wait in `pending`, the lowest on top.
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

    /// Comes up again, and notes the operation on each level.
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
