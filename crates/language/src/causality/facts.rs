//! Facts about streams that hold in every run: an abstract interpretation of the denotational semantics
//! (section 6).
//!
//! A stream has a fact for each activation: the first [`N_FIRST`] of its clock one by one, all later ones
//! together.
//!
//! ```text
//! c = true fby false                        true  false false false false…
//! y = if c then 10.0 else y + x             10    never never never never…
//! ```
//!
//! *Soundness.* A fact stands for a set of cells: `Never` for {⊥}, `Is(v)` for {⊥, v}, `Any` for all. Each
//! function below returns a fact that covers the result of the equation for all cells that the facts of its
//! operands cover, and inputs are `Any`. The iteration to the least solution of the program starts from cells
//! that are all ⊥, and the iteration here from rows that are all `Never`, so by induction over the steps the
//! facts cover the least solution. Hence `Never` means ⊥ in every run. The converse does not hold.
//!
//! The k-th activation of a stream is the k-th cycle at which its clock is not false. With this definition,
//! streams of one clock have the same count even where a condition is ⊥, and `fby` moves one activation back.
//! `when` changes the count depending on values, so its result has one fact for all activations, unless its
//! condition always holds.

use std::collections::VecDeque;

use eddy_tensor::{Op, Value};

use crate::flow::{Flow, Kind, Polarity, VarId};

/// Activations with facts of their own: enough for `true fby false` and a few delays after it. Each costs 16
/// bytes per stream.
const N_FIRST: usize = 4;
/// The index in a row for all later activations.
pub const LATER: usize = N_FIRST;
/// The facts about a stream, by activation.
pub type Row = [Fact; N_FIRST + 1];

/// A fact about a stream that holds in all runs at one activation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fact {
    /// ⊥.
    Never,
    /// ⊥ or this Boolean.
    Truth(bool),
    /// ⊥ or this number, compared by its bits.
    Number(u64),
    /// ⊥ or this integer.
    Integer(i64),
    /// No restriction.
    Any,
}

impl Fact {
    fn of(value: &Value) -> Fact {
        match value {
            _ if !value.shape().is_empty() => Fact::Any,
            Value::Bool(truth) => Fact::Truth(*truth),
            Value::Int(integer) => Fact::Integer(*integer),
            Value::Num(number) if is_single(*number) => Fact::Number(number.to_bits()),
            _ => Fact::Any,
        }
    }

    fn value(self) -> Option<Value> {
        match self {
            Fact::Never | Fact::Any => None,
            Fact::Truth(truth) => Some(truth.into()),
            Fact::Number(bits) => Some(f64::from_bits(bits).into()),
            Fact::Integer(integer) => Some(integer.into()),
        }
    }

    /// The fact that covers both.
    fn join(self, other: Fact) -> Fact {
        match (self, other) {
            (Fact::Never, fact) | (fact, Fact::Never) => fact,
            (a, b) if a == b => a,
            _ => Fact::Any,
        }
    }

    /// Whether a condition can have this value.
    pub fn may_be(self, truth: bool) -> bool {
        matches!(self, Fact::Any) || self == Fact::Truth(truth)
    }
}

fn join_all(row: &Row) -> Fact {
    row.iter().fold(Fact::Never, |joined, fact| joined.join(*fact))
}

pub struct Facts {
    rows: Vec<Row>,
}

impl Facts {
    pub fn new(flow: &Flow) -> Facts {
        let mut facts = Facts { rows: vec![[Fact::Never; N_FIRST + 1]; flow.vars.len()] };
        for input in &flow.inputs {
            facts.rows[input.index()] = [Fact::Any; N_FIRST + 1];
        }
        // Training carries the state of these streams over from epoch to epoch, so their first value may
        // differ from the initial value.
        let mut is_carried = vec![false; flow.vars.len()];
        for memory in &flow.persistent_state {
            is_carried[memory.var.index()] = true;
        }
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); flow.vars.len()];
        for (number, equation) in flow.equations.iter().enumerate() {
            let number = u32::try_from(number).expect("elaboration stops before 2^32 equations");
            for operand in equation.kind.operands() {
                users[operand.index()].push(number);
            }
        }
        // Rows only grow, and each entry grows at most twice, so this terminates.
        let mut todo: VecDeque<usize> = (0..flow.equations.len()).collect();
        let mut is_planned = vec![true; flow.equations.len()];
        while let Some(number) = todo.pop_front() {
            is_planned[number] = false;
            let equation = &flow.equations[number];
            let mut row = facts.row_of(flow, &equation.kind, equation.out);
            if is_carried[equation.out.index()] && row[0] != Fact::Never {
                row[0] = Fact::Any;
            }
            if facts.rows[equation.out.index()] != row {
                facts.rows[equation.out.index()] = row;
                for user in users[equation.out.index()].iter().map(|user| *user as usize) {
                    if !std::mem::replace(&mut is_planned[user], true) {
                        todo.push_back(user);
                    }
                }
            }
        }
        facts
    }

    /// The facts about a stream, by activation.
    pub fn row(&self, var: VarId) -> &Row {
        &self.rows[var.index()]
    }

    /// Whether a condition has this value at every activation.
    pub fn is_always(&self, condition: VarId, truth: bool) -> bool {
        self.row(condition).iter().all(|fact| *fact == Fact::Truth(truth))
    }

    fn row_of(&self, flow: &Flow, kind: &Kind, out: VarId) -> Row {
        let at = |var: VarId, index: usize| self.rows[var.index()][index];
        match kind {
            Kind::Const(constant) => {
                // A random value depends on the seed, and a given value is not part of the program.
                let is_written = !matches!(
                    constant,
                    crate::flow::Constant::Initialiser(..) | crate::flow::Constant::Value(_)
                );
                let ty = &flow.var(out).ty;
                let is_scalar = ty.shape.is_empty();
                let fact = if is_written && is_scalar { Fact::of(&constant.value(ty, 0)) } else { Fact::Any };
                [fact; N_FIRST + 1]
            }
            Kind::Apply(op, operands) => {
                std::array::from_fn(|index| apply(op, operands.iter().map(|operand| at(*operand, index))))
            }
            // Learned values may replace the initial value.
            Kind::Param(operand) => std::array::from_fn(|index| match at(*operand, index) {
                Fact::Never => Fact::Never,
                _ => Fact::Any,
            }),
            Kind::When { value, condition, polarity } => {
                let truth = *polarity == Polarity::On;
                if self.is_always(*condition, truth) {
                    return *self.row(*value);
                }
                let chosen = (0..=LATER).filter(|index| at(*condition, *index).may_be(truth));
                let fact = chosen.fold(Fact::Never, |joined, index| joined.join(at(*value, index)));
                [fact; N_FIRST + 1]
            }
            Kind::Merge { condition, yes, no } => std::array::from_fn(|index| {
                let branch = |value: VarId, truth: bool| match at(*condition, index).may_be(truth) {
                    false => Fact::Never,
                    true if self.is_always(*condition, truth) => at(value, index),
                    true => join_all(self.row(value)),
                };
                branch(*yes, true).join(branch(*no, false))
            }),
            Kind::Fby { init, next } => std::array::from_fn(|index| match index {
                0 => at(*init, 0),
                LATER => at(*next, LATER - 1).join(at(*next, LATER)),
                _ => at(*next, index - 1),
            }),
            Kind::Post(next) => std::array::from_fn(|index| at(*next, (index + 1).min(LATER))),
            // The trace may end at any cycle.
            Kind::FbyBack { init, next } => {
                std::array::from_fn(|index| at(*init, index).join(at(*next, (index + 1).min(LATER))))
            }
        }
    }
}

/// An operation waits for all of its operands, `if` only for the selected branch.
fn apply(op: &Op, operands: impl Iterator<Item = Fact>) -> Fact {
    let operands: Vec<Fact> = operands.collect();
    if let (Op::If, [condition, yes, no]) = (op, operands.as_slice()) {
        return match condition {
            Fact::Never => Fact::Never,
            Fact::Truth(true) => *yes,
            Fact::Truth(false) => *no,
            _ => yes.join(*no),
        };
    }
    if operands.contains(&Fact::Never) {
        return Fact::Never;
    }
    match op {
        Op::And if operands.contains(&Fact::Truth(false)) => return Fact::Truth(false),
        Op::Or if operands.contains(&Fact::Truth(true)) => return Fact::Truth(true),
        _ => {}
    }
    let is_number = |fact: &Fact| matches!(fact, Fact::Number(_));
    if operands.iter().any(is_number) && !is_same_in_single_precision(op) {
        return Fact::Any;
    }
    let values: Option<Vec<Value>> = operands.iter().map(|fact| fact.value()).collect();
    let Some(values) = values else { return Fact::Any };
    let values: Vec<&Value> = values.iter().collect();
    // An operation without a value stops the run.
    op.eval(&values).map_or(Fact::Any, |value| Fact::of(&value))
}

/// Whether a number is representable in single precision, in which a program may also run.
#[allow(clippy::cast_possible_truncation)] // the truncation is what is tested
fn is_single(number: f64) -> bool {
    f64::from(number as f32).to_bits() == number.to_bits()
}

/// Whether an operation on numbers that are representable in single precision has the same result there, if
/// the result is representable too: true if it is rounded correctly, or a comparison.
fn is_same_in_single_precision(op: &Op) -> bool {
    use Op::{Add, Copy, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Neg, Sub};
    matches!(op, Add | Sub | Mul | Div | Neg | Copy | Eq | Ne | Lt | Le | Gt | Ge)
}
