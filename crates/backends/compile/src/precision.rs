//! Values of the language in code: their types, and their elements as literals.

pub use eddy_imp::Precision;
use eddy_imp::{Expr, Type};
use eddy_tensor::{Scalar, Value};

pub(crate) fn element_type(scalar: Scalar) -> Type {
    match scalar {
        Scalar::Num => Type::Num,
        Scalar::Int => Type::Int,
        Scalar::Bool => Type::Bool,
    }
}

/// The elements of a value, in row-major order.
pub(crate) fn elements(value: &Value) -> Vec<Expr> {
    value.elements().map(|element| literal(&element)).collect()
}

pub(crate) fn literal(scalar: &Value) -> Expr {
    match scalar {
        Value::Bool(truth) => Expr::Bool(*truth),
        Value::Int(x) => Expr::Int(*x),
        Value::Num(x) => Expr::num(*x),
        Value::Num32(x) => Expr::num(f64::from(*x)),
        Value::Tensor(_) => unreachable!("an element is a scalar"),
    }
}

pub(crate) fn zero(scalar: Scalar) -> Expr {
    match scalar {
        Scalar::Num => Expr::num(0.0),
        Scalar::Int => Expr::Int(0),
        Scalar::Bool => Expr::Bool(false),
    }
}

/// The element that a value has everywhere, if all are the same.
pub(crate) fn uniform(value: &Value) -> Option<Value> {
    let mut elements = value.elements();
    let first = elements.next()?;
    elements.all(|element| element == first).then_some(first)
}
