//! Abstract evaluation: what is known about streams without running the program (section 4).
//!
//! An element of the domain describes all cells of a stream, or all of its cells in one zone of a window:
//!
//! ```text
//! Unset  <  Absent  <  Known k  <  Top          not visited; never present; k wherever present; anything
//! ```
//!
//! Evaluation is optimistic: everything starts as `Unset` and rises. So `p = 0.5 fby p` evaluates to 0.5.

use std::collections::VecDeque;

use eddy_flow::{Constant, Kind, VarId};
use eddy_tensor::{Op, Type, Value, Zeros};

use crate::Options;
use crate::plan::Immediate;
use crate::system::{Def, System};

/// A value that does not depend on the cycle.
#[derive(Clone, Debug, PartialEq)]
pub enum KnownValue {
    Value(Value),
    /// A zero of differentiation: adding it changes nothing.
    Zero(Value),
    /// A parameter or an operation on parameters. Its value may be set when the program starts, so it is not
    /// folded.
    Invariant(VarId),
}

impl KnownValue {
    pub fn constant(constant: &Constant, ty: &Type, options: &Options) -> KnownValue {
        let value = constant.value(ty, options.seed);
        let value = if options.single { value.to_num32() } else { value };
        if *constant == Constant::Zero { KnownValue::Zero(value) } else { KnownValue::Value(value) }
    }

    /// The value, unless it is set when the program starts.
    pub fn value(&self) -> Option<&Value> {
        match self {
            KnownValue::Value(value) | KnownValue::Zero(value) => Some(value),
            KnownValue::Invariant(_) => None,
        }
    }

    /// The truth value of a known `bool`.
    pub fn truth(&self) -> Option<bool> {
        self.value().and_then(Value::as_bool)
    }

    /// As an operand of an instruction.
    pub fn immediate(&self) -> Immediate {
        match self {
            KnownValue::Value(value) | KnownValue::Zero(value) => Immediate::Value(value.clone()),
            KnownValue::Invariant(var) => Immediate::Invariant(*var),
        }
    }
}

/// Knowledge about some cells.
#[derive(Clone, Debug, PartialEq)]
pub enum Abstract {
    /// Not visited yet.
    Unset,
    /// Never present.
    Absent,
    /// This value wherever the stream is present.
    Known(KnownValue),
    /// Anything.
    Top,
}

impl Abstract {
    /// The least element above both.
    #[must_use]
    pub fn join(&self, other: &Abstract) -> Abstract {
        match (self, other) {
            (Abstract::Top, _) | (_, Abstract::Top) => Abstract::Top,
            (Abstract::Known(a), Abstract::Known(b)) => match (a.value(), b.value()) {
                _ if a == b => self.clone(),
                (Some(x), Some(y)) if x == y => Abstract::Known(KnownValue::Value(x.clone())),
                _ => Abstract::Top,
            },
            (Abstract::Known(_), _) => self.clone(),
            (_, Abstract::Known(_)) => other.clone(),
            (Abstract::Absent, _) | (_, Abstract::Absent) => Abstract::Absent,
            _ => Abstract::Unset,
        }
    }

    pub fn truth(&self) -> Option<bool> {
        match self {
            Abstract::Known(known) => known.truth(),
            _ => None,
        }
    }

    pub fn known(&self) -> Option<&KnownValue> {
        match self {
            Abstract::Known(known) => Some(known),
            _ => None,
        }
    }
}

/// The presence of a stream, from the conditions of its clock, outer ones first: `Absent`, `Top` if it may be
/// present, or `Unset` if a condition has not been visited yet.
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
                // If the presence of the next condition is unknown, nothing follows from its value.
                None if may_never_be_known(system, condition) => return Abstract::Top,
                None => {}
            },
        }
    }
    Abstract::Top
}

/// The value of a stream that reads no other cycle.
pub fn evaluate(
    system: &System<'_>,
    var: VarId,
    get: impl Fn(VarId) -> Abstract,
    of_invariants: impl Fn() -> Abstract,
) -> Abstract {
    match system.def(var) {
        Def::Input => Abstract::Top,
        Def::Known(known) | Def::Materialised(known) => Abstract::Known(known.clone()),
        Def::Absent => Abstract::Absent,
        Def::Copy(operand) => get(*operand),
        Def::Choice { condition, yes, no } => match get(*condition) {
            Abstract::Unset => Abstract::Unset,
            Abstract::Absent => Abstract::Absent,
            value => match value.truth() {
                Some(true) => get(*yes),
                Some(false) => get(*no),
                // Even a choice between equal values waits for its condition.
                None if may_never_be_known(system, *condition) => Abstract::Top,
                None => get(*yes).join(&get(*no)),
            },
        },
        Def::Apply(op, operands) => apply(system, op, operands, get, of_invariants),
        Def::Fby { .. } | Def::Ahead { .. } => unreachable!("delays look at other cycles"),
    }
}

/// Whether the presence of a stream may be unknown; then a delay cannot find its previous or next activation.
pub fn has_uncertain_clock(system: &System<'_>, var: VarId) -> bool {
    system.conditions(system.clock(var)).any(|(condition, _)| may_never_be_known(system, condition))
}

/// Whether a stream may be present without a value.
fn may_never_be_known(system: &System<'_>, var: VarId) -> bool {
    system.may_be_unknown[var.index()] || system.may_deadlock[var.index()]
}

fn apply(
    system: &System<'_>,
    op: &Op,
    operands: &[VarId],
    get: impl Fn(VarId) -> Abstract,
    of_invariants: impl Fn() -> Abstract,
) -> Abstract {
    // `false and x` is false and `true or x` is true, provided that `x` is certain to have a value:
    // connectives are strict.
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
                return Abstract::Known(KnownValue::Value(Value::Bool(truth)));
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
                is_zero &= matches!(known, KnownValue::Zero(_));
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
    // A failing operation is not folded, so that the error is reported at run time.
    match op.eval(&values).map(|value| if system.single { value.to_num32() } else { value }) {
        Err(_) => Abstract::Top,
        Ok(value) if is_zero && op.facts().zeros == Zeros::Kept => Abstract::Known(KnownValue::Zero(value)),
        Ok(value) => Abstract::Known(KnownValue::Value(value)),
    }
}

/// What is known about each stream at all cycles.
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
                // Delays of streams that may wait for themselves are `Top` here; the evaluation by zones is
                // more precise.
                _ if system.is_instantaneous[var.index()] || system.is_memory[var.index()] => Abstract::Top,
                Def::Fby { .. } | Def::Ahead { .. }
                    if system.is_circular[var.index()] || has_uncertain_clock(system, var) =>
                {
                    Abstract::Top
                }
                Def::Fby { init, next } => get(*init).join(&get(*next)),
                Def::Ahead { init: Some(init), next } => get(*init).join(&get(*next)),
                Def::Ahead { init: None, .. } => Abstract::Top,
                Def::Copy(operand) if is_parameter[var.index()] => match get(*operand) {
                    Abstract::Known(_) => Abstract::Known(KnownValue::Invariant(var)),
                    other => other,
                },
                _ => evaluate(system, var, get, || Abstract::Known(KnownValue::Invariant(var))),
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
