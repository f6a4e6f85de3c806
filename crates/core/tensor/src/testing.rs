//! Shared by the tests of this crate: values written as text, and one `check` for all operations.

use crate::op::Op;
use crate::shape::Shape;
use crate::signature::{Class, Slot};
use crate::value::{Scalar, Type, Value};

/// `check(&Op::Add, &["1", "[2,3]"], "int [2] [3,4]")` compares the result with its type, or the error
/// message, with `expected`. The operands must satisfy the typing rules.
#[track_caller]
pub(crate) fn check(op: &Op, operands: &[&str], expected: &str) {
    let operands: Vec<Value> = operands.iter().map(|text| value(text)).collect();
    let operands: Vec<&Value> = operands.iter().collect();
    assert_eq!(outcome(op, &operands), expected, "{op:?}");
}

/// Evaluates an operation that must not fail.
pub(crate) fn eval(op: &Op, operands: &[&Value]) -> Value {
    op.eval(operands).unwrap_or_else(|error| panic!("{op:?}: {error}"))
}

/// The message of the shape error for these operands.
pub(crate) fn refusal(op: &Op, operands: &[&Shape]) -> String {
    let error = op.shape(operands).expect_err("these shapes do not fit");
    has_a_known_word(&error.to_string())
}

/// For values that [`value`] cannot write: zeros, and tensors without elements.
pub(crate) fn zeros(sizes: &[usize]) -> Value {
    Value::zeros(&Type { scalar: Scalar::Num, shape: Shape::new(sizes) })
}

fn outcome(op: &Op, operands: &[&Value]) -> String {
    let scalar = result_type(op, operands);
    let shapes: Vec<&Shape> = operands.iter().map(|operand| operand.shape()).collect();
    let shape = match op.shape(&shapes) {
        Ok(shape) => shape,
        Err(error) => return has_a_known_word(&error.to_string()),
    };
    match op.eval(operands) {
        Ok(result) => {
            assert_eq!((result.scalar(), result.shape()), (scalar, &shape), "the type of {op:?}");
            format!("{} {result}", result.ty())
        }
        Err(error) => error.to_string(),
    }
}

/// Checks that a shape error contains a word that the specification lists.
fn has_a_known_word(sentence: &str) -> String {
    let words = ["shape", "broadcast", "matmul", "reshape", "concatenate", "out of range"];
    assert!(words.iter().any(|word| sentence.contains(word)), "{sentence}");
    sentence.to_owned()
}

/// The scalar type of the result, by the signature. Asserts that the operands satisfy the signature.
fn result_type(op: &Op, operands: &[&Value]) -> Scalar {
    let signature = op.signature();
    assert!(op.arity().accepts(operands.len()), "{op:?} has another number of operands");
    let mut alpha = None;
    for (index, operand) in operands.iter().enumerate() {
        let found = operand.scalar();
        match signature.operand(index) {
            Slot::Is(scalar) => assert_eq!(found, scalar, "operand {index} of {op:?}"),
            Slot::Alpha => assert_eq!(*alpha.get_or_insert(found), found, "operand {index} of {op:?}"),
            Slot::Free => {}
        }
    }
    let is_numeric = signature.alpha == Class::Numeric;
    assert!(!is_numeric || alpha != Some(Scalar::Bool), "{op:?} is for numbers");
    match signature.result {
        Slot::Is(scalar) => scalar,
        Slot::Alpha => alpha.expect("α of the result is that of an operand"),
        Slot::Free => unreachable!("a result has a type"),
    }
}

/// Parses a value in the notation of the language: `[[1,2],[3,4]]` is of `int`; `1.5`, `1e3`, `nan` and `inf`
/// are of `num`.
pub(crate) fn value(text: &str) -> Value {
    let mut rest = text;
    let value = read(&mut rest);
    assert!(rest.is_empty(), "{rest} is left of {text}");
    value
}

fn read(rest: &mut &str) -> Value {
    if let Some(inner) = rest.strip_prefix('[') {
        *rest = inner;
        let mut rows = vec![read(rest)];
        while let Some(after) = rest.strip_prefix(',') {
            *rest = after;
            rows.push(read(rest));
        }
        *rest = rest.strip_prefix(']').expect("lists are closed");
        let rows: Vec<&Value> = rows.iter().collect();
        return Op::Stack.eval(&rows).expect("stacking cannot fail");
    }
    let end = rest.find([',', ']']).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after;
    if let Ok(truth) = word.parse::<bool>() {
        return Value::Bool(truth);
    }
    word.parse::<i64>().map_or_else(|_| Value::Num(word.parse().expect("a number")), Value::Int)
}
