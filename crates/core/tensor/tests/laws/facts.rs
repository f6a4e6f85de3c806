//! Compares the facts of the table with the behaviour of the operations.

use std::cell::Cell;

use eddy_tensor::{Class, Data, FailureCondition, Family, Op, Scalar, Slot, Value, Zeros};

use crate::cases::{Case, tensor};
use crate::elements::indices;
use crate::harness::{Verdict, law};

const CASES: u32 = 60;

/// Replaces the elements of the operands; `make` receives each element and its index in the operand.
fn with_elements(case: &Case, make: impl Fn(&Value, usize) -> Value) -> Case {
    let replaced = |operand: &Value| {
        let n = operand.n_elements();
        let data = match make(operand, 0) {
            Value::Num(_) => Data::Num((0..n).map(|i| num(&make(operand, i))).collect()),
            Value::Int(_) => Data::Int((0..n).map(|i| int(&make(operand, i))).collect()),
            _ => return operand.clone(),
        };
        tensor(operand.shape(), data)
    };
    Case { op: case.op.clone(), operands: case.operands.iter().map(replaced).collect() }
}

fn num(value: &Value) -> f64 {
    let Value::Num(x) = value else { unreachable!("all elements have one type") };
    *x
}

fn int(value: &Value) -> i64 {
    let Value::Int(x) = value else { unreachable!("all elements have one type") };
    *x
}

/// A view reads at an offset plus strides times the index of the result.
#[test]
fn views_read_at_strides() {
    let is_view = |op: &Op| op.facts().family == Family::View;
    law("views_read_at_strides", CASES, is_view, |case| {
        #[allow(clippy::cast_precision_loss)] // a case has few elements
        let numbered = with_elements(case, |_, position| Value::Num(position as f64));
        let result = numbered.result();
        let found: Vec<(Vec<usize>, f64)> = indices(result.shape())
            .into_iter()
            .zip(result.elements())
            .map(|(index, position)| (index, num(&position)))
            .collect();
        let Some((origin, offset)) = found.first() else { return Ok(()) };
        let stride = |axis: usize| {
            let mut index = origin.clone();
            index[axis] += 1;
            found.iter().find(|(other, _)| *other == index).map_or(0.0, |(_, position)| position - offset)
        };
        let strides: Vec<f64> = (0..origin.len()).map(stride).collect();
        for (index, position) in &found {
            #[allow(clippy::cast_precision_loss)] // as above
            let expected =
                index.iter().zip(&strides).fold(*offset, |sum, (i, stride)| sum + *i as f64 * stride);
            if *position != expected {
                return Err(format!("{index:?} is read at {position}, not at {expected}"));
            }
        }
        Ok(())
    });
}

/// The result for operands of `+0` is `+0`.
#[test]
fn operations_that_keep_zeros_return_zeros() {
    let keeps = |op: &Op| op.facts().zeros == Zeros::Kept;
    law("operations_that_keep_zeros_return_zeros", CASES, keeps, |case| {
        let zero = |operand: &Value, _| match operand.scalar() {
            Scalar::Num => Value::Num(0.0),
            _ => Value::Bool(false),
        };
        let result = with_elements(case, zero).result();
        match result.elements().find(|element| num(element).to_bits() != 0) {
            Some(element) => Err(format!("{element} is not +0")),
            None => Ok(()),
        }
    });
}

/// Values at the edges of their ranges.
const NUMS: [f64; 6] = [f64::NAN, f64::INFINITY, -1e300, 0.0, -0.0, 1e300];
const INTS: [i64; 6] = [i64::MIN, i64::MAX, -1, 0, 1, i64::MIN + 1];

/// Whether the operation accepts integers where the case has numbers.
fn accepts_integers(op: &Op) -> bool {
    let signature = op.signature();
    signature.operands.contains(&Slot::Alpha) && matches!(signature.alpha, Class::Numeric | Class::Any)
}

/// Replaces the numbers of a case by extreme ones, or by extreme integers if `of_integers`.
fn extreme(case: &Case, of_integers: bool, turn: usize) -> Case {
    let index_of_onehot = matches!(case.op, Op::Onehot(_));
    with_elements(case, |operand, position| match operand.scalar() {
        Scalar::Num if of_integers => Value::Int(INTS[(position + turn) % INTS.len()]),
        Scalar::Num => Value::Num(NUMS[(position + turn) % NUMS.len()]),
        Scalar::Int if index_of_onehot => Value::Int(INTS[turn % INTS.len()]),
        Scalar::Int => Value::Int(INTS[(position * 5 + turn) % INTS.len()]),
        Scalar::Bool => Value::Bool(true),
    })
}

/// An operation fails only where the table says so, and does fail for some operands there.
#[test]
fn failures_are_those_of_the_table() {
    for op in Op::all() {
        let n_failures = Cell::new(0);
        let count = |case: &Case| -> Verdict {
            for of_integers in [false, true] {
                if of_integers && !accepts_integers(&case.op) {
                    continue;
                }
                for turn in 0..INTS.len() {
                    let case = extreme(case, of_integers, turn);
                    let operands: Vec<&Value> = case.operands.iter().collect();
                    let Err(error) = case.op.eval(&operands) else { continue };
                    n_failures.set(n_failures.get() + 1);
                    // Integer operands give integer results, except for conversions, which may fail in any
                    // case.
                    let result = if of_integers { Scalar::Int } else { Scalar::Num };
                    if !case.op.can_fail(result) {
                        return Err(format!("{:?} of {result}: {error}", case.op));
                    }
                }
            }
            Ok(())
        };
        law("failures_are_those_of_the_table", CASES, |other| std::ptr::eq(other, op), count);
        let can_be_met = match op.facts().failure {
            FailureCondition::Never => false,
            FailureCondition::OnIntegers => accepts_integers(op),
            FailureCondition::OnSome => true,
        };
        assert_eq!(n_failures.get() > 0, can_be_met, "{op:?} failed {} times", n_failures.get());
    }
}
