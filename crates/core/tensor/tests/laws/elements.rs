//! Elementwise operations: the result at an index is the operation on the operands at that index.

use eddy_tensor::{Op, Shape, ShapeRule, Value};

use crate::cases::{Case, Choices, eval};
use crate::harness::{Verdict, law, law_of};

pub fn indices(shape: &Shape) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for size in shape.iter() {
        all = all
            .iter()
            .flat_map(|index: &Vec<usize>| (0..*size).map(move |i| [index.clone(), vec![i]].concat()))
            .collect();
    }
    all
}

/// The element that broadcasting reads at an index of the result.
pub fn element(value: &Value, index: &[usize]) -> Value {
    let shape = value.shape();
    let own = &index[index.len() - shape.len()..];
    let place = own
        .iter()
        .zip(shape.iter())
        .fold(0, |place, (i, size)| place * size + if *size == 1 { 0 } else { *i });
    value.elements().nth(place).expect("the index is inside")
}

/// Compares bits: the scalar path and the path for tensors are the same function.
fn holds_at_each_index(case: &Case) -> Verdict {
    let result = case.result();
    for (index, found) in indices(result.shape()).iter().zip(result.elements()) {
        let operands: Vec<Value> = case.operands.iter().map(|operand| element(operand, index)).collect();
        let operands: Vec<&Value> = operands.iter().collect();
        let expected = eval(&case.op, &operands);
        if found != expected {
            return Err(format!("{found} at {index:?} should be {expected}"));
        }
    }
    Ok(())
}

#[test]
fn broadcasting_is_evaluation_at_each_index() {
    let is_elementwise = |op: &Op| match op.shape_rule() {
        ShapeRule::Broadcast => true,
        ShapeRule::Equal => !matches!(op, Op::Softmax | Op::MaxMask(_)),
        _ => false,
    };
    law("broadcasting_is_evaluation_at_each_index", 150, is_elementwise, holds_at_each_index);
}

#[test]
fn integers_broadcast_as_numbers_do() {
    let sample = |c: &mut Choices<'_>| {
        let op =
            [Op::Add, Op::Sub, Op::Mul, Op::Maximum, Op::Minimum, Op::IntDiv, Op::IntMod, Op::Lt, Op::Eq];
        let op = op[c.below(op.len())].clone();
        let [x, y] = c.broadcasting();
        Case { op, operands: vec![c.int(&x), c.int(&y)] }
    };
    law_of("integers_broadcast_as_numbers_do", 1000, sample, holds_at_each_index);
}

#[test]
fn stretching_is_reading_at_each_index() {
    law(
        "stretching_is_reading_at_each_index",
        300,
        |op| matches!(op, Op::Broadcast(_)),
        |case| {
            let result = case.result();
            let mut pairs = indices(result.shape()).into_iter().zip(result.elements());
            match pairs.find(|(index, found)| *found != element(&case.operands[0], index)) {
                Some((index, found)) => Err(format!("{found} at {index:?}")),
                None => Ok(()),
            }
        },
    );
}

#[test]
fn shapes_follow_their_rules() {
    law(
        "shapes_follow_their_rules",
        100,
        |_| true,
        |case| {
            let (shapes, result) = (case.shapes(), case.result());
            let result = result.shape();
            let holds = match case.op.shape_rule() {
                ShapeRule::Equal => shapes.iter().all(|shape| shape == result),
                ShapeRule::Broadcast => shapes.iter().all(|shape| shape.stretches_to(result)),
                ShapeRule::If => shapes[0].is_scalar() && shapes[1..].iter().all(|shape| shape == result),
                ShapeRule::Stack => {
                    result[0] == shapes.len() && shapes.iter().all(|shape| **shape == result[1..])
                }
                ShapeRule::Like(operand) => shapes[operand] == *result,
                ShapeRule::Fixed(shape) => shape == *result,
                ShapeRule::Function => true,
            };
            if holds { Ok(()) } else { Err(format!("{shapes:?} gave {result}")) }
        },
    );
}
