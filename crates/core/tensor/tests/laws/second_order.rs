//! Second order: V and T are differentiable in the operands, in the result, and in their argument.
//!
//! For each operation, `⟨w, V(f,i)(g)⟩` is recorded on a tape, differentiated there, and compared with finite
//! differences. This also shows that derivatives use only operations that have derivatives.

use eddy_tensor::{Algebra, Op, Scalar, Value};

use crate::cases::{Case, numbers};
use crate::derivatives::{differences, direction, is_differentiable, near};
use crate::harness::{Verdict, law};
use crate::tape::{Id, Tape};

const CASES: u32 = 30;

#[derive(Clone, Copy)]
enum Mode {
    Reverse,
    Forward,
}

/// Records `⟨w, V(f,i)(d)⟩`, or T instead of V, on a tape; `inputs` are the operands, then `d`.
fn record(op: &Op, operand: usize, mode: Mode, inputs: &[Value]) -> (Tape, Vec<Id>, Id) {
    let mut tape = Tape::default();
    let ids: Vec<Id> = inputs.iter().map(|input| tape.input(input.clone())).collect();
    let (d, operands) = ids.split_last().expect("there is a direction");
    let result = tape.apply(op.clone(), operands);
    let derivative = tape.at_site(result, |op, site, tape| {
        let derivative = match mode {
            Mode::Reverse => op.vjp(operand, site, d, tape),
            Mode::Forward => op.jvp(operand, site, d, tape),
        };
        derivative.expect("a differentiable operand")
    });
    let w = direction(tape.value(derivative));
    let w = tape.input(w);
    let products = tape.apply(Op::Mul, &[w, derivative]);
    let output = tape.apply(Op::Sum(None), &[products]);
    (tape, ids, output)
}

fn holds(case: &Case, operand: usize, mode: Mode) -> Verdict {
    let like = match mode {
        Mode::Reverse => case.result(),
        Mode::Forward => case.operands[operand].clone(),
    };
    let inputs: Vec<Value> = case.operands.iter().cloned().chain([direction(&like)]).collect();
    let (mut tape, ids, output) = record(&case.op, operand, mode, &inputs);
    let size = numbers(tape.value(output))[0].abs();
    let gradients = tape.gradient(output, &ids);
    for (index, gradient) in gradients.into_iter().enumerate() {
        if inputs[index].scalar() != Scalar::Num {
            continue;
        }
        let expected = differences(&inputs[index], |moved| {
            let mut inputs = inputs.clone();
            inputs[index] = moved.clone();
            let (tape, _, output) = record(&case.op, operand, mode, &inputs);
            numbers(tape.value(output))[0]
        });
        near(&numbers(tape.value(gradient)), &expected, size)
            .map_err(|reason| format!("operand {operand}, in input {index}: {reason}"))?;
    }
    Ok(())
}

/// The derivative of `lgamma` has none.
fn is_twice_differentiable(op: &Op) -> bool {
    is_differentiable(op) && *op != Op::Lgamma
}

#[test]
fn cotangents_have_gradients() {
    law("cotangents_have_gradients", CASES, is_twice_differentiable, |case| {
        case.differentiable().try_for_each(|operand| holds(case, operand, Mode::Reverse))
    });
}

#[test]
fn tangents_have_gradients() {
    law("tangents_have_gradients", CASES, is_twice_differentiable, |case| {
        case.differentiable().try_for_each(|operand| holds(case, operand, Mode::Forward))
    });
}

#[test]
fn a_tower_of_derivatives() {
    // x⁴ has the derivatives 4x³, 12x², 24x, 24, 0.
    let mut tape = Tape::default();
    let x = tape.input(Value::Num(3.0));
    let square = tape.apply(Op::Mul, &[x, x]);
    let mut y = tape.apply(Op::Mul, &[square, square]);
    for expected in [108.0, 108.0, 72.0, 24.0, 0.0] {
        y = tape.gradient(y, &[x])[0];
        assert_eq!(tape.value(y), &Value::Num(expected));
    }
}
