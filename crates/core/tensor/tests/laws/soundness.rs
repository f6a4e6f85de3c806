//! Soundness: operands that satisfy the typing and shape rules give a value of the predicted type or an
//! evaluation error, and derivatives of the predicted shapes. Tried on arbitrary shapes, including empty
//! ones.

use std::cell::Cell;

use eddy_tensor::{
    Algebra, Arity, Class, Each, Op, Scalar, Shape, Signature, Site, Slot, Static, StaticKind, Value, builtin,
};

use crate::cases::{Case, Choices, case};
use crate::derivatives::direction;
use crate::evaluate::Evaluate;
use crate::harness::{Verdict, law_of};
use eddy_tests::law::show;

const CASES: u32 = 3000;

/// At least this many samples of each operation must have a value.
const LEAST_COMPARED: u32 = 300;

/// An operation with arbitrary static arguments, and operands that match its signature.
#[derive(Debug)]
struct Sample {
    op: Op,
    operands: Vec<Value>,
    result: Scalar,
}

fn sample(op: &Op, c: &mut Choices<'_>) -> Sample {
    // Arbitrary shapes rarely match; those of convolutions almost never do.
    if c.below(4) == 3 {
        let Case { op, operands } = case(op, c);
        let signature = op.signature();
        let alpha = (0..operands.len()).find(|index| signature.operand(*index) == Slot::Alpha);
        let result = result_of(&signature, operands[alpha.unwrap_or(0)].scalar());
        return Sample { op, operands, result };
    }
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
    let result = result_of(&signature, alpha);
    Sample { op, operands, result }
}

fn result_of(signature: &Signature, alpha: Scalar) -> Scalar {
    match signature.result {
        Slot::Is(scalar) => scalar,
        Slot::Alpha => alpha,
        Slot::Free => unreachable!("a result has a type"),
    }
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

/// Holds if the sample violates the shape rules, or satisfies them and behaves as they predict.
fn holds(sample: &Sample, n_compared: &Cell<u32>) -> Verdict {
    let shapes: Vec<Shape> = sample.operands.iter().map(|operand| operand.shape().clone()).collect();
    let Ok(shape) = sample.op.shape(&shapes.iter().collect::<Vec<_>>()) else { return Ok(()) };
    let Ok(result) = sample.op.eval(&sample.operands.iter().collect::<Vec<_>>()) else { return Ok(()) };
    n_compared.set(n_compared.get() + 1);
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
fn operands_that_satisfy_the_rules_have_a_value() {
    for op in Op::all() {
        let n_compared = Cell::new(0);
        let name = format!("operands_that_satisfy_the_rules_have_a_value: {op:?}");
        law_of(&name, CASES, |c| sample(op, c), |sample| holds(sample, &n_compared));
        show(&format!("{name}: {} of {CASES} samples have a value", n_compared.get()));
        assert!(n_compared.get() >= LEAST_COMPARED, "{} samples of {op:?} have a value", n_compared.get());
    }
}

/// For all operands, the shape rule rejects results with too many elements before anything is computed.
#[test]
fn results_that_are_too_large_are_refused() {
    let large = 1 << 14;
    let each = |op| Op::Each(Each::new(op, &[true]));
    let cases: [(Op, &[&[usize]]); 12] = [
        (Op::Add, &[&[large, 1], &[1, 2 * large]]),
        (Op::Outer, &[&[large], &[2 * large]]),
        (Op::Matmul, &[&[large, 1], &[1, 2 * large]]),
        (Op::Spread(0, 2 * large), &[&[large]]),
        (Op::Broadcast(Shape::new(&[large, 2 * large])), &[&[]]),
        (Op::Reshape(Shape::new(&[large, 2 * large])), &[&[large]]),
        (Op::Pad(0, 2 * large), &[&[1, large]]),
        (Op::Unfold(0, large, 1), &[&[4 * large]]),
        (Op::Fold(0, large * large, 2 * large * large + 1), &[&[3, 1]]),
        (Op::Onehot(2 * large * large), &[&[]]),
        (each(Op::Onehot(2 * large)), &[&[large]]),
        (each(Op::Spread(0, 2 * large)), &[&[large]]),
    ];
    for (op, shapes) in cases {
        let shapes: Vec<Shape> = shapes.iter().map(|sizes| Shape::new(sizes)).collect();
        let refused = op.shape(&shapes.iter().collect::<Vec<_>>()).expect_err("it is too large");
        assert!(refused.to_string().contains("has more than 268435456 elements"), "{op:?}: {refused}");
    }
}

#[test]
fn an_operation_on_slices_needs_a_slice() {
    let each = Op::Each(Each::new(Op::Argmax, &[true]));
    assert_eq!(each.shape(&[&Shape::new(&[2, 1])]), Ok(Shape::new(&[1])));
    assert!(each.shape(&[&Shape::new(&[2, 0])]).is_err());
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
