//! What is known of a stream without running the program: abstract evaluation (section 4).
//!
//! An element of the domain stands for all cells of a stream, or for all of its cells in one zone of a window:
//!
//! ```text
//! Unset  <  Absent  <  Known k  <  Top          nothing seen yet; never there; k wherever it is there; anything
//! ```
//!
//! Evaluation is optimistic: everything starts as `Unset` and rises. So `p = 0.5 fby p` is found to be 0.5.

use std::collections::VecDeque;

use eddy_flow::{Constant, Kind, VarId};
use eddy_tensor::{Op, Type, Value};

use crate::Options;
use crate::plan::Immediate;
use crate::system::{Def, System};

/// A value that does not depend on the cycle.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// A value.
    Value(Value),
    /// A zero that differentiation wrote: adding it changes nothing.
    Zero(Value),
    /// A parameter, or what is made of parameters. Its value may be set when the program starts, so it is not folded.
    Invariant(VarId),
}

impl Known {
    /// The value of a constant.
    pub fn constant(constant: &Constant, ty: &Type, options: &Options) -> Known {
        let value = constant.value(ty, options.seed);
        let value = if options.single { value.to_num32() } else { value };
        if *constant == Constant::Zero { Known::Zero(value) } else { Known::Value(value) }
    }

    /// The value, unless it is set when the program starts.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Known::Value(value) | Known::Zero(value) => Some(value),
            Known::Invariant(_) => None,
        }
    }

    /// The truth value, if it is one.
    pub fn truth(&self) -> Option<bool> {
        self.value().and_then(Value::as_bool)
    }

    /// As an operand of an instruction.
    pub fn immediate(&self) -> Immediate {
        match self {
            Known::Value(value) | Known::Zero(value) => Immediate::Value(value.clone()),
            Known::Invariant(var) => Immediate::Invariant(*var),
        }
    }
}

/// What is known of some cells.
#[derive(Clone, Debug, PartialEq)]
pub enum Abstract {
    /// Nothing was seen yet.
    Unset,
    /// The stream is never there.
    Absent,
    /// It has this value wherever it is there.
    Known(Known),
    /// It may be anything.
    Top,
}

impl Abstract {
    /// What is known of both.
    #[must_use]
    pub fn join(&self, other: &Abstract) -> Abstract {
        match (self, other) {
            (Abstract::Top, _) | (_, Abstract::Top) => Abstract::Top,
            (Abstract::Known(a), Abstract::Known(b)) => match (a.value(), b.value()) {
                _ if a == b => self.clone(),
                (Some(x), Some(y)) if x == y => Abstract::Known(Known::Value(x.clone())),
                _ => Abstract::Top,
            },
            (Abstract::Known(_), _) => self.clone(),
            (_, Abstract::Known(_)) => other.clone(),
            (Abstract::Absent, _) | (_, Abstract::Absent) => Abstract::Absent,
            _ => Abstract::Unset,
        }
    }

    /// The truth value, if it is known.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Abstract::Known(known) => known.truth(),
            _ => None,
        }
    }

    /// The value, if it is known.
    pub fn known(&self) -> Option<&Known> {
        match self {
            Abstract::Known(known) => Some(known),
            _ => None,
        }
    }
}

/// Whether a stream is there, as far as its conditions tell, outer ones first: `Top` if it may be, and `Unset` if they are not seen
/// yet.
pub fn presence(
    system: &System<'_>,
    conditions: impl Iterator<Item = (VarId, bool)>,
    get: impl Fn(VarId) -> Abstract,
) -> Abstract {
    for (condition, polarity) in conditions {
        match get(condition) {
            Abstract::Absent => return Abstract::Absent,
            Abstract::Unset => return Abstract::Unset,
            value => match value.truth() {
                Some(truth) if truth != polarity => return Abstract::Absent,
                Some(_) => {}
                // If it is not known whether the next condition is there, nothing follows from its value.
                None if may_never_be_known(system, condition) => return Abstract::Top,
                None => {}
            },
        }
    }
    Abstract::Top
}

/// The value of a stream that looks at no other cycle.
pub fn evaluate(
    system: &System<'_>,
    var: VarId,
    get: impl Fn(VarId) -> Abstract,
    of_invariants: impl Fn() -> Abstract,
) -> Abstract {
    match system.def(var) {
        Def::Input => Abstract::Top,
        Def::Known(known) | Def::Spelled(known) => Abstract::Known(known.clone()),
        Def::Absent => Abstract::Absent,
        Def::Copy(operand) => get(*operand),
        Def::Choice { condition, yes, no } => match get(*condition) {
            Abstract::Unset => Abstract::Unset,
            Abstract::Absent => Abstract::Absent,
            value => match value.truth() {
                Some(true) => get(*yes),
                Some(false) => get(*no),
                // Even a choice between equals waits for its condition.
                None if may_never_be_known(system, *condition) => Abstract::Top,
                None => get(*yes).join(&get(*no)),
            },
        },
        Def::Apply(op, operands) => apply(system, op, operands, get, of_invariants),
        Def::Fby { .. } | Def::Ahead { .. } => unreachable!("delays look at other cycles"),
    }
}

/// Whether it may not be known when a stream is there: then a delay does not know where its neighbour is.
pub fn has_doubtful_clock(system: &System<'_>, var: VarId) -> bool {
    system.conditions(system.clock(var)).any(|(condition, _)| may_never_be_known(system, condition))
}

/// Whether a stream may have no value although it is there.
fn may_never_be_known(system: &System<'_>, var: VarId) -> bool {
    system.may_be_unknown[var.index()] || system.is_doubtful[var.index()]
}

fn apply(
    system: &System<'_>,
    op: &Op,
    operands: &[VarId],
    get: impl Fn(VarId) -> Abstract,
    of_invariants: impl Fn() -> Abstract,
) -> Abstract {
    // A connective with an absorbing operand; its other operand must not be unknown, since logic is strict.
    let absorbing = match op {
        Op::And => Some(false),
        Op::Or => Some(true),
        _ => None,
    };
    if let (Some(truth), [left, right]) = (absorbing, operands) {
        for (one, other) in [(left, right), (right, left)] {
            if get(*one).truth() == Some(truth)
                && !may_never_be_known(system, *other)
                && system.flow.var(*other).ty.shape.is_scalar()
            {
                return Abstract::Known(Known::Value(Value::Bool(truth)));
            }
        }
    }
    let mut values: Vec<Value> = Vec::with_capacity(operands.len());
    let (mut is_unset, mut is_top, mut has_invariants, mut is_zero) = (false, false, false, true);
    for operand in operands {
        match get(*operand) {
            Abstract::Absent => return Abstract::Absent,
            Abstract::Unset => is_unset = true,
            Abstract::Top => is_top = true,
            Abstract::Known(known) => {
                is_zero &= matches!(known, Known::Zero(_));
                match known.value() {
                    Some(value) => values.push(value.clone()),
                    None => has_invariants = true,
                }
            }
        }
    }
    if is_unset {
        return Abstract::Unset;
    }
    if is_top {
        return Abstract::Top;
    }
    if has_invariants {
        return of_invariants();
    }
    let values: Vec<&Value> = values.iter().collect();
    // What has no value is left to the run, which says so.
    match op.eval(&values).map(|value| if system.single { value.to_num32() } else { value }) {
        Err(_) => Abstract::Top,
        Ok(value) if is_zero && keeps_zeros(op) => Abstract::Known(Known::Zero(value)),
        Ok(value) => Abstract::Known(Known::Value(value)),
    }
}

/// Whether an operation makes zeros of zeros.
fn keeps_zeros(op: &Op) -> bool {
    let op = op.applied();
    let adds = matches!(op, Op::Add | Op::Sum(_) | Op::SumTo | Op::Reduce(_) | Op::Fold(..));
    let moves = matches!(
        op,
        Op::Concat | Op::Stack | Op::Index(_) | Op::Reshape(_) | Op::Transpose | Op::StopGradient
    );
    let repeats =
        matches!(op, Op::Slice(..) | Op::Pad(..) | Op::Spread(..) | Op::Broadcast(_) | Op::Unfold(..));
    adds || moves || repeats
}

/// What is known of each stream at all cycles.
pub fn evaluate_everywhere(system: &System<'_>) -> Vec<Abstract> {
    let n = system.defs.len();
    let mut is_parameter = vec![false; n];
    for equation in &system.flow.equations {
        is_parameter[equation.out.index()] = matches!(equation.kind, Kind::Param(_));
    }
    let mut values = vec![Abstract::Unset; n];
    let mut queue: VecDeque<VarId> = system.flow.var_ids().collect();
    let mut is_queued = vec![true; n];
    while let Some(var) = queue.pop_front() {
        is_queued[var.index()] = false;
        let get = |operand: VarId| values[operand.index()].clone();
        let found = match presence(system, system.all_conditions(system.clock(var)).into_iter(), get) {
            Abstract::Top => match system.def(var) {
                // Where streams may wait for themselves, nothing follows from delays; windows will tell more.
                _ if system.is_instantaneous[var.index()] || system.is_memory[var.index()] => Abstract::Top,
                Def::Fby { .. } | Def::Ahead { .. }
                    if system.is_circular[var.index()] || has_doubtful_clock(system, var) =>
                {
                    Abstract::Top
                }
                Def::Fby { init, next } => get(*init).join(&get(*next)),
                Def::Ahead { init: Some(init), next } => get(*init).join(&get(*next)),
                Def::Ahead { init: None, .. } => Abstract::Top,
                Def::Copy(operand) if is_parameter[var.index()] => match get(*operand) {
                    Abstract::Known(_) => Abstract::Known(Known::Invariant(var)),
                    other => other,
                },
                _ => evaluate(system, var, get, || Abstract::Known(Known::Invariant(var))),
            },
            other => other,
        };
        if found != values[var.index()] {
            values[var.index()] = found;
            for user in &system.users[var.index()] {
                if !std::mem::replace(&mut is_queued[user.index()], true) {
                    queue.push_back(*user);
                }
            }
        }
    }
    values
}
