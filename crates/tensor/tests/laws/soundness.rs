//! The rules are sound: whatever passes the typing and shape rules has a value of the promised type, or an error of
//! evaluation, and derivatives of the promised shapes. Tried on arbitrary shapes, empty ones included.

use std::cell::Cell;

use eddy_tensor::{
    Algebra, Arity, Class, Op, Scalar, Shape, Signature, Site, Slot, Static, StaticKind, Value, builtin,
};

use crate::cases::Choices;
use crate::derivatives::direction;
use crate::evaluate::Evaluate;
use crate::harness::{Verdict, law_of};

const CASES: u32 = 3000;

/// An operation with any static arguments, and operands that fit its signature.
#[derive(Debug)]
struct Sample {
    op: Op,
    operands: Vec<Value>,
    result: Scalar,
}

fn sample(op: &Op, c: &mut Choices<'_>) -> Sample {
    let op = with_statics(op, c);
    let signature = op.signature();
    let alpha = match signature.alpha {
        Class::Numeric => [Scalar::Num, Scalar::Int][c.below(2)],
        Class::Any => [Scalar::Num, Scalar::Int, Scalar::Bool][c.below(3)],
    };
    let n_operands = match signature.arity {
        Arity::Exactly(n) => n,
        Arity::AtLeast(n) => n + c.below(3),
    };
    let operands = (0..n_operands).map(|index| operand(&signature, index, alpha, c)).collect();
    let result = match signature.result {
        Slot::Is(scalar) => scalar,
        Slot::Alpha => alpha,
        Slot::Free => unreachable!("a result has a type"),
    };
    Sample { op, operands, result }
}

fn with_statics(op: &Op, c: &mut Choices<'_>) -> Op {
    if let Op::Index(_) = op {
        return Op::Index(c.below(3));
    }
    let Some(builtin) = builtin(op.name()) else { return op.clone() };
    let mut statics = Vec::new();
    for kind in builtin.statics() {
        match kind {
            StaticKind::Shape => statics.push(Static::List((0..c.below(4)).map(|_| small(c)).collect())),
            StaticKind::Axis if c.below(2) == 0 => {}
            StaticKind::Size | StaticKind::Axis => statics.push(Static::Int(small(c))),
        }
    }
    builtin.op(&statics).expect("these are what it asks for")
}

fn small(c: &mut Choices<'_>) -> i64 {
    i64::try_from(c.below(4)).expect("it is small")
}

fn operand(signature: &Signature, index: usize, alpha: Scalar, c: &mut Choices<'_>) -> Value {
    let sizes: Vec<usize> = (0..c.below(5)).map(|_| [1, 2, 0][c.below(3)]).collect();
    let shape = Shape::from(sizes);
    let scalar = match signature.operand(index) {
        Slot::Is(scalar) => scalar,
        Slot::Alpha => alpha,
        Slot::Free => Scalar::Bool,
    };
    match scalar {
        Scalar::Num => c.num(&shape),
        Scalar::Int => c.int(&shape),
        Scalar::Bool => c.bool(&shape),
    }
}

/// Whether the sample passes the shape rules, and then is what they promise.
fn holds(sample: &Sample, n_accepted: &Cell<u32>) -> Verdict {
    let shapes: Vec<Shape> = sample.operands.iter().map(|operand| operand.shape().clone()).collect();
    let Ok(shape) = sample.op.shape(&shapes.iter().collect::<Vec<_>>()) else { return Ok(()) };
    n_accepted.set(n_accepted.get() + 1);
    let Ok(result) = sample.op.eval(&sample.operands.iter().collect::<Vec<_>>()) else { return Ok(()) };
    if (result.scalar(), result.shape()) != (sample.result, &shape) {
        return Err(format!("{result} should be of type {} {shape}", sample.result));
    }
    if sample.result != Scalar::Num {
        return Ok(());
    }
    let site = Site { operands: &sample.operands, result: &result, shapes: &shapes, result_shape: &shape };
    for (index, operand) in sample.operands.iter().enumerate() {
        if operand.scalar() != Scalar::Num || !sample.op.is_differentiable_in(index) {
            continue;
        }
        let backward = sample.op.vjp(index, &site, &direction(&result), &mut Evaluate);
        let forward = sample.op.jvp(index, &site, &direction(operand), &mut Evaluate);
        let found = [backward, forward].map(|value| value.map(|value| Evaluate.shape(&value)));
        if found != [Some(shapes[index].clone()), Some(shape.clone())] {
            return Err(format!("derivatives in operand {index} have shapes {found:?}"));
        }
    }
    Ok(())
}

#[test]
fn what_passes_the_rules_has_a_value() {
    for op in Op::all() {
        let n_accepted = Cell::new(0);
        let name = format!("what_passes_the_rules_has_a_value: {op:?}");
        law_of(&name, CASES, |c| sample(op, c), |sample| holds(sample, &n_accepted));
        assert!(n_accepted.get() > 0, "no sample of {op:?} passed the rules");
    }
}

#[test]
fn shape_errors_have_a_word_of_their_class() {
    let words = ["shape", "broadcast", "matmul", "reshape", "concatenate", "out of range"];
    for op in Op::all() {
        let name = format!("shape_errors_have_a_word_of_their_class: {op:?}");
        law_of(
            &name,
            CASES / 10,
            |c| sample(op, c),
            |sample| {
                let shapes: Vec<&Shape> = sample.operands.iter().map(Value::shape).collect();
                match sample.op.shape(&shapes).map_err(|error| error.to_string()) {
                    Err(sentence) if !words.iter().any(|word| sentence.contains(word)) => Err(sentence),
                    _ => Ok(()),
                }
            },
        );
    }
}
