//! Operations that copy a value, convert it, or return a constant of its shape: `copy stop_gradient num int
//! onehot zeros_like ones_like`.

use crate::algebra::{Algebra, Site};
use crate::element::{Float, with_float};
use crate::kernel::{map, try_map};
use crate::operation::{EvalError, Operation, no_derivative};
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::shape_rule::ShapeRule;
use crate::signature::{ALPHA, INT, NUM, Signature};
use crate::value::{Kind, Value};

/// `y = x`
pub(crate) struct Copy;

impl Operation for Copy {
    fn signature(&self) -> Signature {
        Signature::any(&[ALPHA], ALPHA)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Equal
    }

    #[inline]
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        Ok(operands[0].clone())
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // g
    fn vjp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, g: &A::Value, _: &mut A) -> A::Value {
        g.clone()
    }

    fn jvp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, t: &A::Value, _: &mut A) -> A::Value {
        t.clone()
    }
}

/// A copy through which no derivative passes.
pub(crate) struct StopGradient;

impl Operation for StopGradient {
    fn signature(&self) -> Signature {
        Signature::any(&[ALPHA], ALPHA)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Equal
    }

    #[inline]
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        Ok(operands[0].clone())
    }

    no_derivative!();
}

/// `num(x)` converts an integer to a number; a number is unchanged.
pub(crate) struct ToNum;

impl Operation for ToNum {
    fn signature(&self) -> Signature {
        Signature::numeric(&[ALPHA], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Equal
    }

    #[inline]
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        #[allow(clippy::cast_precision_loss)] // beyond 2^53 the nearest number is meant
        let to_num = |x: i64| x as f64;
        match operands[0] {
            Value::Int(x) => Ok(Value::Num(to_num(*x))),
            x if x.kind() == Kind::Int => Ok(map(x, to_num)),
            x => Ok(x.clone()),
        }
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // g, if the operand is a number
    fn vjp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, g: &A::Value, _: &mut A) -> A::Value {
        g.clone()
    }

    fn jvp<A: Algebra>(&self, _: usize, _: &Site<'_, A::Value>, t: &A::Value, _: &mut A) -> A::Value {
        t.clone()
    }
}

/// `int(x)` truncates a number to an integer; an integer is unchanged.
///
/// Decision: NaN and numbers beyond 64 bits are errors, like an integer overflow, and are not clamped.
pub(crate) struct ToInt;

impl Operation for ToInt {
    fn signature(&self) -> Signature {
        Signature::numeric(&[ALPHA], INT)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Equal
    }

    #[inline]
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        match operands[0] {
            Value::Num(x) => to_int(*x).map(Value::Int),
            x if x.kind() == Kind::Int => Ok(x.clone()),
            x => with_float!(x, F => try_map(x, to_int::<F>)),
        }
    }

    no_derivative!();
}

fn to_int<F: Float>(x: F) -> Result<i64, EvalError> {
    x.truncated().ok_or(EvalError::IntOutOfRange)
}

/// `onehot(n,i)`: a vector of n numbers, 1 at index i and 0 elsewhere.
///
/// Decision: an index outside of the vector is an error; all zeros would hide a wrong label from the loss.
pub(crate) struct Onehot(pub usize);

impl Operation for Onehot {
    fn signature(&self) -> Signature {
        Signature::any(&[INT], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Fixed(Shape::new(&[self.0]))
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        if !operands[0].is_scalar() {
            let found = operands[0].clone();
            return Err(ShapeError::Rank { op: "onehot", needs: "a scalar index", found });
        }
        let shape = Shape::new(&[self.0]);
        shape.n_elements()?;
        Ok(shape)
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let [Value::Int(index)] = operands else { unreachable!("operands passed the rules: one integer") };
        let mut elements = vec![0.0; self.0];
        let slot = usize::try_from(*index).ok().and_then(|index| elements.get_mut(index));
        // An index beyond 32 bits is out of range of every vector.
        let shown = i32::try_from(*index).unwrap_or(if *index < 0 { i32::MIN } else { i32::MAX });
        *slot.ok_or(EvalError::OnehotOutOfRange { index: shown })? = 1.0;
        Ok(crate::element::Element::value(Shape::new(&[self.0]), elements))
    }

    no_derivative!();
}

/// `zeros_like(x)` and `ones_like(x)`: a constant with the type and shape of x.
pub(crate) enum Like {
    Zeros,
    Ones,
}

impl Operation for Like {
    fn signature(&self) -> Signature {
        Signature::numeric(&[ALPHA], ALPHA)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Equal
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let scalar = match (self, operands[0].kind()) {
            (Like::Zeros, Kind::Int) => Value::Int(0),
            (Like::Zeros, Kind::Num) => Value::Num(0.0),
            (Like::Zeros, Kind::Num32) => Value::Num32(0.0),
            (Like::Ones, Kind::Int) => Value::Int(1),
            (Like::Ones, Kind::Num) => Value::Num(1.0),
            (Like::Ones, Kind::Num32) => Value::Num32(1.0),
            (_, Kind::Bool) => unreachable!("operands passed the typing rules: not numbers"),
        };
        Ok(Value::filled(scalar, operands[0].shape()))
    }

    no_derivative!();
}

#[cfg(test)]
mod tests {
    use crate::op::Op;
    use crate::testing::check;

    #[test]
    fn copies() {
        for op in [Op::Copy, Op::StopGradient] {
            check(&op, &["[true,false]"], "bool [2] [true,false]");
            check(&op, &["3"], "int [] 3");
        }
        assert!(Op::Copy.is_differentiable_in(0));
        assert!(!Op::StopGradient.is_differentiable_in(0));
    }

    #[test]
    fn numbers_and_integers() {
        check(&Op::ToNum, &["[1,-2]"], "num [2] [1,-2]");
        check(&Op::ToNum, &["3"], "num [] 3");
        check(&Op::ToNum, &["[1.5]"], "num [1] [1.5]");
        check(&Op::ToInt, &["[1.9,-1.9]"], "int [2] [1,-1]");
        check(&Op::ToInt, &["-0.5"], "int [] 0");
        check(&Op::ToInt, &["[7]"], "int [1] [7]");
    }

    #[test]
    fn values_beyond_int_are_out_of_range() {
        check(&Op::ToInt, &["-9223372036854775808.0"], "int [] -9223372036854775808");
        for x in ["9223372036854775808.0", "-1e19", "nan", "[0.0,inf]"] {
            check(&Op::ToInt, &[x], "the number is out of range of int");
        }
    }

    #[test]
    fn one_hot() {
        check(&Op::Onehot(3), &["1"], "num [3] [0,1,0]");
        check(&Op::Onehot(3), &["3"], "the index 3 is out of range of onehot");
        check(&Op::Onehot(3), &["-1"], "the index -1 is out of range of onehot");
        check(&Op::Onehot(3), &["[1]"], "onehot needs a scalar index, not shape [1]");
        check(&Op::Onehot(1 << 29), &["1"], "shape [536870912] has more than 268435456 elements");
    }

    #[test]
    fn constants_of_the_same_shape() {
        check(&Op::ZerosLike, &["[1.5,nan]"], "num [2] [0,0]");
        check(&Op::OnesLike, &["[[1,2]]"], "int [1,2] [[1,1]]");
        check(&Op::OnesLike, &["2.5"], "num [] 1");
    }
}
