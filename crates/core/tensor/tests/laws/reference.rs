//! Compares the value of every operation with its definition: the element of the result at each index.
//!
//! The `match` has no `_` arm: a new operation does not compile before it has a definition here, or a law in
//! [`definitions`](crate::definitions).

#![deny(clippy::wildcard_enum_match_arm)]

use eddy_tensor::{Op, Value};

use crate::cases::Case;
use crate::elements::{element, indices};
use crate::harness::{Verdict, law};

enum Expected {
    /// The same bits.
    Exactly(Value),
    /// Within a tolerance, because the reference library rounds differently.
    Near(f64),
    /// The terms of the reference cancel; the tests of the elementary functions are strict.
    Roughly(f64),
    /// A law of `definitions` covers it.
    Elsewhere,
}

/// The element of an operand at an index, without broadcasting.
fn at(operand: &Value, index: &[usize]) -> Value {
    assert_eq!(index.len(), operand.shape().len(), "an index into {operand}");
    element(operand, index)
}

fn num(value: &Value) -> f64 {
    let Value::Num(x) = value else { panic!("{value} is no number") };
    *x
}

fn int(value: &Value) -> i64 {
    let Value::Int(x) = value else { panic!("{value} is no integer") };
    *x
}

fn bool(value: &Value) -> bool {
    let Value::Bool(x) = value else { panic!("{value} is no truth value") };
    *x
}

fn all(operand: &Value) -> Vec<(Vec<usize>, f64)> {
    indices(operand.shape()).into_iter().map(|index| (index.clone(), num(&at(operand, &index)))).collect()
}

/// Sums from left to right.
fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    terms.into_iter().reduce(|sum, term| sum + term).unwrap_or(0.0)
}

/// The element of a case's result at an index.
fn expected(case: &Case, index: &[usize]) -> Expected {
    let x = |operand: usize| num(&element(&case.operands[operand], index));
    let i = |operand: usize| int(&element(&case.operands[operand], index));
    let b = |operand: usize| bool(&element(&case.operands[operand], index));
    let exactly = |x: f64| Expected::Exactly(Value::Num(x));
    let truth = |b: bool| Expected::Exactly(Value::Bool(b));
    let integer = |i: i64| Expected::Exactly(Value::Int(i));
    let read = |operand: usize, index: &[usize]| Expected::Exactly(at(&case.operands[operand], index));
    match &case.op {
        Op::Copy | Op::StopGradient | Op::ToNum => exactly(x(0)),
        Op::Add => exactly(x(0) + x(1)),
        Op::Sub => exactly(x(0) - x(1)),
        Op::Mul => exactly(x(0) * x(1)),
        Op::Div => exactly(x(0) / x(1)),
        Op::Maximum => exactly(if x(0) < x(1) { x(1) } else { x(0) }),
        Op::Minimum => exactly(if x(0) > x(1) { x(1) } else { x(0) }),
        Op::Neg => exactly(-x(0)),
        Op::Abs => exactly(if x(0) < 0.0 { -x(0) } else { x(0) }),
        Op::Relu => exactly(if x(0) > 0.0 { x(0) } else { 0.0 }),
        Op::Sqrt => exactly(x(0).sqrt()),
        Op::ZerosLike => exactly(0.0),
        Op::OnesLike => exactly(1.0),
        Op::Pow => Expected::Near(x(0).powf(x(1))),
        Op::Exp => Expected::Near(x(0).exp()),
        Op::Log => Expected::Near(x(0).ln()),
        Op::Tanh => Expected::Near(x(0).tanh()),
        Op::Sigmoid => Expected::Near(1.0 / (1.0 + (-x(0)).exp())),
        Op::Sin => Expected::Near(x(0).sin()),
        Op::Cos => Expected::Near(x(0).cos()),
        Op::Lgamma => Expected::Roughly(log_gamma(x(0))),
        Op::Digamma => Expected::Roughly(slope_of_log_gamma(x(0))),
        Op::IntDiv => integer((i(0) - i(0).rem_euclid(i(1))) / i(1)),
        Op::IntMod => integer(((i(0) % i(1)) + i(1).abs()) % i(1).abs()),
        #[allow(clippy::cast_possible_truncation)] // that is what it does
        Op::ToInt => integer(x(0) as i64),
        Op::Lt => truth(x(0) < x(1)),
        Op::Le => truth(x(0) <= x(1)),
        Op::Gt => truth(x(0) > x(1)),
        Op::Ge => truth(x(0) >= x(1)),
        Op::Eq => truth(x(0) == x(1)),
        Op::Ne => truth(x(0) != x(1)),
        Op::And => truth(b(0) && b(1)),
        Op::Or => truth(b(0) || b(1)),
        Op::Not => truth(!b(0)),
        Op::If => exactly(if bool(&case.operands[0]) { x(1) } else { x(2) }),
        Op::Where => exactly(if b(0) { x(1) } else { x(2) }),

        Op::Concat => {
            let (mut operand, mut row) = (0, index[0]);
            while row >= case.operands[operand].shape()[0] {
                row -= case.operands[operand].shape()[0];
                operand += 1;
            }
            read(operand, &[&[row], &index[1..]].concat())
        }
        Op::Stack => read(index[0], &index[1..]),
        Op::Index(row) => read(0, &[&[*row], index].concat()),
        Op::Row => {
            let row = usize::try_from(int(&case.operands[1])).expect("it is inside");
            read(0, &[&[row], index].concat())
        }
        Op::Place(_) => {
            if int(&case.operands[0]) == i64::try_from(index[0]).expect("small") {
                read(1, &index[1..])
            } else {
                exactly(0.0)
            }
        }
        Op::Slice(lo, _) => read(0, &[&[lo + index[0]], &index[1..]].concat()),
        Op::Pad(lo, _) => match index[0].checked_sub(*lo) {
            Some(row) if row < case.operands[0].shape()[0] => read(0, &[&[row], &index[1..]].concat()),
            Some(_) | None => exactly(0.0),
        },
        Op::Reshape(shape) => {
            let place = indices(shape).iter().position(|other| other == index).expect("it is inside");
            read(0, &indices(case.operands[0].shape())[place])
        }
        Op::Transpose => read(0, &index.iter().rev().copied().collect::<Vec<_>>()),
        Op::Spread(axis, _) => read(0, &[&index[..*axis], &index[axis + 1..]].concat()),
        Op::Broadcast(_) => exactly(x(0)),
        Op::Unfold(axis, _, stride) => {
            let row = index[*axis] * stride + index[axis + 1];
            read(0, &[&index[..*axis], &[row], &index[axis + 2..]].concat())
        }
        Op::Fold(axis, stride, _) => {
            // All positions in windows that cover this row, in the order of the windows.
            let meets = |place: &[usize]| {
                place[..*axis] == index[..*axis]
                    && place[*axis] * stride + place[axis + 1] == index[*axis]
                    && place[axis + 2..] == index[axis + 1..]
            };
            let terms = all(&case.operands[0]).into_iter().filter(|(place, _)| meets(place));
            Expected::Near(sum(terms.map(|(_, x)| x)))
        }
        Op::SumTo => {
            // The elements for which broadcasting the result would read this one.
            let small = case.operands[1].shape();
            let meets = |place: &[usize]| {
                let own = &place[place.len() - small.len()..];
                (0..small.len()).all(|axis| small[axis] == 1 || own[axis] == index[axis])
            };
            let terms = all(&case.operands[0]).into_iter().filter(|(place, _)| meets(place));
            exactly(sum(terms.map(|(_, x)| x)))
        }
        Op::MaxMask(axis) => {
            let is_beside = |place: &[usize]| {
                axis.is_none_or(|axis| {
                    (0..index.len()).all(|other| other == axis || place[other] == index[other])
                })
            };
            let others = all(&case.operands[0]).into_iter().filter(|(place, _)| is_beside(place));
            // All numbers of a case are different.
            exactly(f64::from(others.into_iter().all(|(_, other)| other <= x(0))))
        }
        Op::Argmax => {
            let numbers: Vec<f64> = all(&case.operands[0]).into_iter().map(|(_, x)| x).collect();
            let is_largest = |x: &f64| numbers.iter().all(|other| other <= x);
            let place = numbers.iter().position(is_largest).expect("one is the largest");
            integer(i64::try_from(place).expect("it is small"))
        }
        Op::Softmax => {
            let is_beside = |place: &[usize]| place[..place.len() - 1] == index[..index.len() - 1];
            let row = all(&case.operands[0]).into_iter().filter(|(place, _)| is_beside(place));
            Expected::Near(x(0).exp() / sum(row.map(|(_, x)| x.exp())))
        }
        Op::Onehot(_) => {
            exactly(f64::from(int(&case.operands[0]) == i64::try_from(index[0]).expect("small")))
        }

        Op::Sum(_)
        | Op::Mean(_)
        | Op::Max(_)
        | Op::Reduce(_)
        | Op::Matmul
        | Op::Outer
        | Op::Conv2d
        | Op::Conv2dDx
        | Op::Conv2dDk => Expected::Elsewhere,
        Op::Each(_) | Op::Call(_) => unreachable!("it is no operation of the table"),
    }
}

#[test]
fn values_are_those_of_the_definitions() {
    law(
        "values_are_those_of_the_definitions",
        100,
        |_| true,
        |case| -> Verdict {
            let result = case.result();
            for (index, found) in indices(result.shape()).iter().zip(result.elements()) {
                match expected(case, index) {
                    Expected::Elsewhere => return Ok(()),
                    Expected::Exactly(expected) if found == expected => {}
                    // Both libraries are accurate to a digit or two, and a few sums run in another order.
                    Expected::Near(expected)
                        if (num(&found) - expected).abs() <= 1e-14 * expected.abs() + 1e-15 => {}
                    Expected::Roughly(expected) if (num(&found) - expected).abs() <= 1e-12 => {}
                    Expected::Exactly(expected) => {
                        return Err(format!("{found} at {index:?} should be {expected}"));
                    }
                    Expected::Near(expected) | Expected::Roughly(expected) => {
                        return Err(format!("{found} at {index:?} should be near {expected}"));
                    }
                }
            }
            Ok(())
        },
    );
}

/// log Γ(x) for positive x: Stirling's series at a number of at least 20.
fn log_gamma(x: f64) -> f64 {
    let (mut y, mut product) = (x, 1.0);
    while y < 20.0 {
        product *= y;
        y += 1.0;
    }
    let half_log_turn = 0.5 * std::f64::consts::TAU.ln();
    (y - 0.5) * y.ln() - y + half_log_turn + 1.0 / (12.0 * y) - 1.0 / (360.0 * y.powi(3))
        + 1.0 / (1260.0 * y.powi(5))
        - product.ln()
}

/// The derivative of [`log_gamma`].
fn slope_of_log_gamma(x: f64) -> f64 {
    let (mut y, mut sum) = (x, 0.0);
    while y < 20.0 {
        sum += 1.0 / y;
        y += 1.0;
    }
    let tail = 1.0 / (120.0 * y.powi(4)) - 1.0 / (252.0 * y.powi(6)) + 1.0 / (240.0 * y.powi(8));
    y.ln() - 0.5 / y - 1.0 / (12.0 * y.powi(2)) + tail - sum
}
