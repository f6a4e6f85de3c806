//! The algebra of values: derivatives that compute.

use eddy_tensor::{Algebra, Op, Shape, Site, Value};

use crate::cases::{Case, eval};

/// Applies operations to values immediately.
pub struct Evaluate;

impl Algebra for Evaluate {
    type Value = Value;

    fn apply(&mut self, op: Op, operands: &[Value]) -> Value {
        let operands: Vec<&Value> = operands.iter().collect();
        eval(&op, &operands)
    }

    fn constant(&mut self, value: f64) -> Value {
        Value::Num(value)
    }

    fn shape(&self, value: &Value) -> Shape {
        value.shape().clone()
    }
}

/// V(f,i) at a case, applied to `g`.
pub fn vjp(case: &Case, operand: usize, g: &Value) -> Value {
    at(case, |site| case.op.vjp(operand, site, g, &mut Evaluate)).expect("a differentiable operand")
}

/// T(f,i) at a case, applied to `t`.
pub fn jvp(case: &Case, operand: usize, t: &Value) -> Value {
    at(case, |site| case.op.jvp(operand, site, t, &mut Evaluate)).expect("a differentiable operand")
}

fn at<R>(case: &Case, derive: impl FnOnce(&Site<'_, Value>) -> R) -> R {
    let (shapes, result) = (case.shapes(), case.result());
    derive(&Site { operands: &case.operands, result: &result, shapes: &shapes, result_shape: result.shape() })
}
