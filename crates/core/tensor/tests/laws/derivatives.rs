//! First order: compares V and T of every operation in every operand with finite differences and with each
//! other.

use std::cell::RefCell;
use std::collections::BTreeMap;

use eddy_tensor::{Data, Op, Value};

use crate::cases::{Case, numbers, tensor};
use crate::evaluate::{jvp, vjp};
use crate::harness::{Verdict, law};

const CASES: u32 = 60;

/// Small compared with the distances of the numbers to each other and to zero; large compared with rounding.
const STEP: f64 = 1e-5;

/// The error of a central difference is of the order of `STEP²`, plus the rounding error divided by `STEP`.
const TOLERANCE: f64 = 1e-6;

/// Whether derivatives pass through any operand.
pub fn is_differentiable(op: &Op) -> bool {
    (0..3).any(|operand| op.is_differentiable_in(operand))
}

/// Numbers in the shape of a value, unrelated to it, for cotangents and tangents.
pub fn direction(like: &Value) -> Value {
    let elements = [0.75, -1.125, 1.0, -0.875, 1.25].into_iter().cycle().take(like.n_elements());
    tensor(like.shape(), Data::Num(elements.collect()))
}

pub fn inner(x: &Value, y: &Value) -> f64 {
    assert_eq!(x.shape(), y.shape(), "an inner product of {x} and {y}");
    numbers(x).iter().zip(numbers(y)).map(|(x, y)| x * y).sum()
}

/// `x + step · direction`
pub fn moved(x: &Value, step: f64, direction: &[f64]) -> Value {
    let elements = numbers(x).into_iter().zip(direction).map(|(x, d)| x + step * d);
    tensor(x.shape(), Data::Num(elements.collect()))
}

/// The central differences of a function, along each element of its operand.
pub fn differences(x: &Value, f: impl Fn(&Value) -> f64) -> Vec<f64> {
    let n = x.n_elements();
    let along = |element: usize| {
        let mut direction = vec![0.0; n];
        direction[element] = 1.0;
        (f(&moved(x, STEP, &direction)) - f(&moved(x, -STEP, &direction))) / (2.0 * STEP)
    };
    (0..n).map(along).collect()
}

/// Whether numbers agree, relative to their own magnitude and to `size`, that of the numbers they were
/// computed from.
pub fn near(found: &[f64], expected: &[f64], size: f64) -> Verdict {
    assert_eq!(found.len(), expected.len());
    // False for NaN.
    let is_near = |x: f64, y: f64| (x - y).abs() <= TOLERANCE * (1.0 + y.abs() + size);
    match found.iter().zip(expected).find(|(x, y)| !is_near(**x, **y)) {
        Some((x, y)) => Err(format!("{x} should be near {y}")),
        None => Ok(()),
    }
}

fn with_operand(case: &Case, operand: usize, value: Value) -> Case {
    let mut operands = case.operands.clone();
    operands[operand] = value;
    Case { op: case.op.clone(), operands }
}

#[test]
fn cotangents_are_gradients() {
    let largest = RefCell::new(BTreeMap::<(String, usize), f64>::new());
    law("cotangents_are_gradients", CASES, is_differentiable, |case| {
        let result = case.result();
        let g = direction(&result);
        for operand in case.differentiable() {
            let found = vjp(case, operand, &g);
            if found.shape() != case.operands[operand].shape() {
                return Err(format!("the cotangent {found} has another shape than its operand"));
            }
            let expected = differences(&case.operands[operand], |moved| {
                inner(&g, &with_operand(case, operand, moved.clone()).result())
            });
            near(&numbers(&found), &expected, inner(&g, &result).abs())?;
            let name = format!("{:?}", case.op);
            let name = name.split('(').next().unwrap_or_default().to_owned();
            let mut largest = largest.borrow_mut();
            let most = largest.entry((name, operand)).or_default();
            *most = numbers(&found).iter().fold(*most, |most, x| most.max(x.abs()));
        }
        Ok(())
    });
    // The law must not hold only because all cotangents are zero.
    for (place, most) in largest.into_inner() {
        assert!(most > 0.01, "all cotangents of {place:?} are zero");
    }
}

#[test]
fn tangents_are_directional_derivatives() {
    law("tangents_are_directional_derivatives", CASES, is_differentiable, |case| {
        let result = case.result();
        for operand in case.differentiable() {
            let x = &case.operands[operand];
            let t = direction(x);
            let found = jvp(case, operand, &t);
            if found.shape() != result.shape() {
                return Err(format!("the tangent {found} has another shape than the result"));
            }
            let at = |step: f64| with_operand(case, operand, moved(x, step, &numbers(&t))).result();
            let (before, after) = (numbers(&at(-STEP)), numbers(&at(STEP)));
            let expected: Vec<f64> =
                after.iter().zip(before).map(|(after, before)| (after - before) / (2.0 * STEP)).collect();
            let size = numbers(&result).iter().fold(0.0, |size: f64, y| size.max(y.abs()));
            near(&numbers(&found), &expected, size)?;
        }
        Ok(())
    });
}

#[test]
fn tangents_are_transposed_cotangents() {
    law("tangents_are_transposed_cotangents", 2 * CASES, is_differentiable, |case| {
        let g = direction(&case.result());
        for operand in case.differentiable() {
            let t = direction(&case.operands[operand]);
            let forward = inner(&jvp(case, operand, &t), &g);
            let backward = inner(&t, &vjp(case, operand, &g));
            // Both sum the same products in different orders.
            if (forward - backward).abs() > 1e-9 * (1.0 + forward.abs()) {
                return Err(format!("⟨T t, g⟩ is {forward}, ⟨t, V g⟩ is {backward}"));
            }
        }
        Ok(())
    });
}

#[test]
fn operations_without_derivative() {
    // All of them are constant or have other results than numbers, but `digamma`, whose derivative is not in
    // the table.
    let names = "< <= > >= == != and or not div mod int argmax onehot stop_gradient zeros_like ones_like max_mask digamma";
    let expected: Vec<&str> = names.split_whitespace().collect();
    let mut constant: Vec<&str> = Op::all().filter(|op| !is_differentiable(op)).map(Op::name).collect();
    constant.sort_by_key(|name| expected.iter().position(|other| other == name));
    assert_eq!(constant, expected);
    assert!(!Op::If.is_differentiable_in(0) && !Op::Where.is_differentiable_in(0), "conditions");
    assert!(!Op::SumTo.is_differentiable_in(1), "only its shape is used");
}

#[test]
fn at_a_tie_the_first_operand_wins() {
    let case = |op: Op| Case { op, operands: vec![Value::Num(1.0), Value::Num(1.0)] };
    for op in [Op::Maximum, Op::Minimum] {
        let case = case(op);
        assert_eq!(vjp(&case, 0, &Value::Num(3.0)), Value::Num(3.0));
        assert_eq!(vjp(&case, 1, &Value::Num(3.0)), Value::Num(0.0));
    }
    let zero = |op: Op| Case { op, operands: vec![Value::Num(0.0)] };
    assert_eq!(vjp(&zero(Op::Relu), 0, &Value::Num(3.0)), Value::Num(0.0));
    assert_eq!(vjp(&zero(Op::Abs), 0, &Value::Num(3.0)), Value::Num(0.0));
    let equal = tensor(&[3].into(), Data::Num(vec![1.0, 2.0, 2.0]));
    let max = Case { op: Op::Max(None), operands: vec![equal] };
    assert_eq!(vjp(&max, 0, &Value::Num(3.0)).to_string(), "[0,3,0]");
}

#[test]
fn a_selection_keeps_infinite_cotangents_apart() {
    let infinite = Value::Num(f64::INFINITY);
    let x = tensor(&[2].into(), Data::Num(vec![1.0, 2.0]));
    let max = Case { op: Op::Max(None), operands: vec![x] };
    assert_eq!(vjp(&max, 0, &infinite).to_string(), "[0,inf]");
    let relu = Case { op: Op::Relu, operands: vec![Value::Num(-1.0)] };
    assert_eq!(vjp(&relu, 0, &infinite), Value::Num(0.0));
}
