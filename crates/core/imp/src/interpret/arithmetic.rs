//! Operations on elements, in the precision of the program.

use std::cmp::Ordering;

use super::{InterpreterError, Machine, Run};
use crate::expr::Binary;
use crate::interpret::Value;
use crate::intrinsic::Intrinsic;
use crate::types::Precision;

impl Machine<'_> {
    pub(super) fn number(&self, x: f64) -> Value {
        Value::Num(self.memory.rounded(x))
    }

    pub(super) fn binary(&self, op: Binary, left: Value, right: Value) -> Run<Value> {
        let ordering = match (left, right) {
            (Value::Num(x), Value::Num(y)) => {
                if !op.is_comparison() {
                    // An operation in single precision equals the one in double precision, rounded: double
                    // precision has more than twice as many bits.
                    return Ok(match op {
                        Binary::Add => self.number(x + y),
                        Binary::Sub => self.number(x - y),
                        Binary::Mul => self.number(x * y),
                        Binary::Div => self.number(x / y),
                        _ => return Err(InterpreterError(format!("`{}` of numbers", op.symbol()))),
                    });
                }
                x.partial_cmp(&y)
            }
            (Value::Bool(x), Value::Bool(y)) => match op {
                Binary::And => return Ok(Value::Bool(x & y)),
                Binary::Or => return Ok(Value::Bool(x | y)),
                _ => Some(x.cmp(&y)),
            },
            (left, right) => {
                let (x, y) = (left.count(), right.count());
                let count = match op {
                    Binary::Add => x.checked_add(y),
                    Binary::Sub => x.checked_sub(y),
                    Binary::Mul => x.checked_mul(y),
                    Binary::Div => x.checked_div(y),
                    Binary::Rem => x.checked_rem(y),
                    _ => return Ok(Value::Bool(holds(op, Some(x.cmp(&y))))),
                };
                return count
                    .map(Value::Count)
                    .ok_or_else(|| InterpreterError(format!("{x} {} {y} is no count", op.symbol())));
            }
        };
        Ok(Value::Bool(holds(op, ordering)))
    }

    /// The value of a function; `None` if it fails.
    pub(super) fn function(&self, function: Intrinsic, operands: &[Value]) -> Option<Value> {
        let x = operands.first().map_or(0.0, |value| value.num());
        let y = operands.get(1).map_or(0.0, |value| value.num());
        let int = |at: usize| operands.get(at).map_or(0, |value| value.count());
        Some(match function {
            Intrinsic::Exp => self.elementary(x, eddy_elementary::double::exp, eddy_elementary::single::exp),
            Intrinsic::Log => self.elementary(x, eddy_elementary::double::log, eddy_elementary::single::log),
            Intrinsic::Tanh => {
                self.elementary(x, eddy_elementary::double::tanh, eddy_elementary::single::tanh)
            }
            Intrinsic::Sigmoid => {
                self.elementary(x, eddy_elementary::double::sigmoid, eddy_elementary::single::sigmoid)
            }
            Intrinsic::Sin => self.elementary(x, eddy_elementary::double::sin, eddy_elementary::single::sin),
            Intrinsic::Cos => self.elementary(x, eddy_elementary::double::cos, eddy_elementary::single::cos),
            Intrinsic::Lgamma => {
                self.elementary(x, eddy_elementary::double::lgamma, eddy_elementary::single::lgamma)
            }
            Intrinsic::Digamma => {
                self.elementary(x, eddy_elementary::double::digamma, eddy_elementary::single::digamma)
            }
            Intrinsic::Pow => match self.memory.precision {
                Precision::Double => Value::Num(eddy_elementary::double::pow(x, y)),
                Precision::Single => Value::Num(eddy_elementary::single::pow(narrow(x), narrow(y)).into()),
            },
            Intrinsic::Sqrt => self.number(x.sqrt()),
            Intrinsic::Abs => Value::Num(x.abs()),
            Intrinsic::Relu => Value::Num(if x <= 0.0 { 0.0 } else { x }),
            Intrinsic::Maximum => Value::Num(if exceeds(y, x) { y } else { x }),
            Intrinsic::Minimum => Value::Num(if y < x || (y.is_nan() && !x.is_nan()) { y } else { x }),
            Intrinsic::Fma => {
                let z = operands.get(2)?.num();
                match self.memory.precision {
                    Precision::Double => Value::Num(x.mul_add(y, z)),
                    Precision::Single => Value::Num(narrow(x).mul_add(narrow(y), narrow(z)).into()),
                }
            }
            Intrinsic::Exceeds => Value::Bool(exceeds(x, y)),
            Intrinsic::IntExceeds => Value::Bool(int(0) > int(1)),
            Intrinsic::Choose | Intrinsic::ChooseInt | Intrinsic::ChooseBool => {
                *operands.get(if operands.first()?.truth() { 1 } else { 2 })?
            }
            Intrinsic::ToInt => Value::Int(truncated(x)?),
            Intrinsic::IntAdd => Value::Int(int(0).checked_add(int(1))?),
            Intrinsic::IntSub => Value::Int(int(0).checked_sub(int(1))?),
            Intrinsic::IntMul => Value::Int(int(0).checked_mul(int(1))?),
            Intrinsic::IntNeg => Value::Int(int(0).checked_neg()?),
            Intrinsic::IntAbs => Value::Int(int(0).checked_abs()?),
            Intrinsic::IntDiv => Value::Int(int(0).checked_div_euclid(int(1))?),
            Intrinsic::IntMod if int(1) == -1 => Value::Int(0),
            Intrinsic::IntMod => Value::Int(int(0).checked_rem_euclid(int(1))?),
            Intrinsic::Index => Value::Count(Some(int(0)).filter(|at| (0..int(1)).contains(at))?),
        })
    }

    fn elementary(&self, x: f64, double: fn(f64) -> f64, single: fn(f32) -> f32) -> Value {
        match self.memory.precision {
            Precision::Double => Value::Num(double(x)),
            Precision::Single => Value::Num(single(narrow(x)).into()),
        }
    }
}

fn holds(op: Binary, ordering: Option<Ordering>) -> bool {
    match op {
        Binary::Lt => ordering == Some(Ordering::Less),
        Binary::Le => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        Binary::Gt => ordering == Some(Ordering::Greater),
        Binary::Ge => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
        Binary::Eq => ordering == Some(Ordering::Equal),
        _ => ordering != Some(Ordering::Equal),
    }
}

/// Whether a number replaces another as a maximum: the first NaN wins.
fn exceeds(x: f64, y: f64) -> bool {
    x > y || (x.is_nan() && !y.is_nan())
}

/// Truncates a number; `None` if the result is not an integer of the language.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the range is checked first")]
fn truncated(x: f64) -> Option<i64> {
    let limit = -(i64::MIN as f64);
    (x >= -limit && x < limit).then(|| x.trunc() as i64)
}

/// A number that has single precision.
#[allow(clippy::cast_possible_truncation, reason = "it has single precision")]
fn narrow(x: f64) -> f32 {
    x as f32
}
