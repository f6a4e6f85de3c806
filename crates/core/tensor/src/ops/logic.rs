//! Comparisons, logic, and choices: `< <= > >= == != and or not if where`.
//!
//! Truth values have no derivatives. A choice passes cotangents and tangents to the chosen operand.

use crate::algebra::{Algebra, Formula, Site};
use crate::element::{Element, with_element};
use crate::kernel::{map, select, zip};
use crate::op::Op;
use crate::operation::{EvalError, Operation, no_derivative};
use crate::shape_rule::ShapeRule;
use crate::signature::{ALPHA, BOOL, Signature};
use crate::value::Value;

/// A comparison of two elements. Numbers compare as in IEEE 754: NaN differs from everything, itself
/// included.
pub(crate) trait Comparison {
    const SIGNATURE: Signature = Signature::numeric(&[ALPHA, ALPHA], BOOL);

    fn holds<T: Element>(x: T, y: T) -> bool;
}

/// `x₁ < x₂`.
pub(crate) struct Lt;

impl Comparison for Lt {
    #[inline]
    fn holds<T: Element>(x: T, y: T) -> bool {
        x < y
    }
}

/// `x₁ <= x₂`.
pub(crate) struct Le;

impl Comparison for Le {
    #[inline]
    fn holds<T: Element>(x: T, y: T) -> bool {
        x <= y
    }
}

/// `x₁ > x₂`.
pub(crate) struct Gt;

impl Comparison for Gt {
    #[inline]
    fn holds<T: Element>(x: T, y: T) -> bool {
        x > y
    }
}

/// `x₁ >= x₂`.
pub(crate) struct Ge;

impl Comparison for Ge {
    #[inline]
    fn holds<T: Element>(x: T, y: T) -> bool {
        x >= y
    }
}

/// `x₁ == x₂`.
pub(crate) struct Eq;

impl Comparison for Eq {
    const SIGNATURE: Signature = Signature::any(&[ALPHA, ALPHA], BOOL);

    #[inline]
    fn holds<T: Element>(x: T, y: T) -> bool {
        x == y
    }
}

/// `x₁ != x₂`.
pub(crate) struct Ne;

impl Comparison for Ne {
    const SIGNATURE: Signature = Signature::any(&[ALPHA, ALPHA], BOOL);

    #[inline]
    fn holds<T: Element>(x: T, y: T) -> bool {
        x != y
    }
}

/// Compares each pair of elements.
pub(crate) struct Compare<T>(pub T);

impl<T: Comparison> Operation for Compare<T> {
    fn signature(&self) -> Signature {
        T::SIGNATURE
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Broadcast
    }

    #[inline]
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        match operands {
            [Value::Num(x), Value::Num(y)] => Ok(Value::Bool(T::holds(*x, *y))),
            [Value::Int(x), Value::Int(y)] => Ok(Value::Bool(T::holds(*x, *y))),
            _ => Ok(compare_tensors::<T>(operands)),
        }
    }

    no_derivative!();
}

/// Separate from the scalar case, which is hot and must stay small.
#[inline(never)]
fn compare_tensors<T: Comparison>(operands: &[&Value]) -> Value {
    let [x, y] = operands else { unreachable!("a comparison has two operands") };
    with_element!(x, E => zip(x, y, T::holds::<E>))
}

/// `and` or `or`. Both operands are always computed.
pub(crate) struct Connective(pub fn(bool, bool) -> bool);

impl Operation for Connective {
    fn signature(&self) -> Signature {
        Signature::any(&[BOOL, BOOL], BOOL)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Broadcast
    }

    #[inline]
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        match operands {
            [Value::Bool(x), Value::Bool(y)] => Ok(Value::Bool(self.0(*x, *y))),
            [x, y] => Ok(zip(x, y, self.0)),
            _ => unreachable!("a connective has two operands"),
        }
    }

    no_derivative!();
}

/// `not x`.
pub(crate) struct Not;

impl Operation for Not {
    fn signature(&self) -> Signature {
        Signature::any(&[BOOL], BOOL)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Equal
    }

    #[inline]
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        match operands {
            [Value::Bool(x)] => Ok(Value::Bool(!x)),
            [x] => Ok(map(x, |x: bool| !x)),
            _ => unreachable!("`not` has one operand"),
        }
    }

    no_derivative!();
}

/// `if c then x else y` chooses a whole value. Here both branches are values; a semantics that does not wait
/// for the other branch does not evaluate this operation.
pub(crate) struct If;

impl Operation for If {
    fn signature(&self) -> Signature {
        Signature::any(&[BOOL, ALPHA, ALPHA], ALPHA)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::If
    }

    #[inline]
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let [Value::Bool(condition), x, y] = operands else {
            unreachable!("operands passed the rules: a scalar condition and two branches")
        };
        Ok(if *condition { (*x).clone() } else { (*y).clone() })
    }

    fn is_differentiable_in(&self, operand: usize) -> bool {
        operand > 0
    }

    // if c then g else 0 · if c then 0 else g
    fn vjp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        let zero = a.zeros(s.result_shape);
        let [x, y] = if operand == 1 { [g.clone(), zero] } else { [zero, g.clone()] };
        a.apply(Op::If, &[s.operands[0].clone(), x, y])
    }

    fn jvp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        self.vjp(operand, s, t, a)
    }
}

/// `where(c,x,y)` chooses each element.
pub(crate) struct Where;

impl Operation for Where {
    fn signature(&self) -> Signature {
        Signature::any(&[BOOL, ALPHA, ALPHA], ALPHA)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Broadcast
    }

    #[inline]
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let [condition, x, y] = operands else { unreachable!("`where` has three operands") };
        match condition {
            Value::Bool(condition) if x.shape() == y.shape() => {
                Ok(if *condition { (*x).clone() } else { (*y).clone() })
            }
            _ => Ok(with_element!(x, T => select::<T>(condition, x, y))),
        }
    }

    fn is_differentiable_in(&self, operand: usize) -> bool {
        operand > 0
    }

    // g where c, 0 elsewhere · 0 where c, g elsewhere
    fn vjp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        let full = masked(operand, s, g, a);
        a.reduced(&full, &s.shapes[operand])
    }

    fn jvp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        let own = masked(operand, s, t, a);
        a.stretched(&own, s.result_shape)
    }
}

/// `d` where `where` chooses the operand, 0 elsewhere.
fn masked<A: Algebra>(operand: usize, s: &Site<'_, A::Value>, d: &A::Value, a: &mut A) -> A::Value {
    let condition = &s.operands[0];
    if operand == 1 { a.keep_where(condition, d) } else { a.keep_where_not(condition, d) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, eval};

    #[test]
    fn comparisons() {
        for (op, expected) in [
            (Op::Lt, "[true,false,false]"),
            (Op::Le, "[true,true,false]"),
            (Op::Gt, "[false,false,true]"),
            (Op::Ge, "[false,true,true]"),
            (Op::Eq, "[false,true,false]"),
            (Op::Ne, "[true,false,true]"),
        ] {
            let expected = format!("bool [3] {expected}");
            check(&op, &["[1,2,3]", "2"], &expected);
            check(&op, &["[1.0,2.0,3.0]", "2.0"], &expected);
            let scalars: Vec<Value> =
                [1, 2, 3].map(|x| eval(&op, &[&Value::Int(x), &Value::Int(2)])).to_vec();
            let operands: Vec<&Value> = scalars.iter().collect();
            assert_eq!(format!("bool [3] {}", eval(&Op::Stack, &operands)), expected);
        }
    }

    #[test]
    fn nan_is_equal_to_nothing() {
        for op in [Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq] {
            check(&op, &["nan", "[nan,1.0]"], "bool [2] [false,false]");
        }
        check(&Op::Ne, &["nan", "nan"], "bool [] true");
        check(&Op::Eq, &["0.0", "-0.0"], "bool [] true");
    }

    #[test]
    fn truth_values_can_be_equal_but_not_ordered() {
        check(&Op::Eq, &["[true,false]", "true"], "bool [2] [true,false]");
        check(&Op::Ne, &["true", "false"], "bool [] true");
        assert_eq!(Op::Lt.signature().to_string(), "α × α → bool, α numeric");
        assert_eq!(Op::Eq.signature().to_string(), "α × α → bool");
    }

    #[test]
    fn connectives() {
        check(
            &Op::And,
            &["[true,true,false,false]", "[true,false,true,false]"],
            "bool [4] [true,false,false,false]",
        );
        check(
            &Op::Or,
            &["[true,true,false,false]", "[true,false,true,false]"],
            "bool [4] [true,true,true,false]",
        );
        check(&Op::Or, &["true", "false"], "bool [] true");
        check(&Op::And, &["[[true],[false]]", "[true,false]"], "bool [2,2] [[true,false],[false,false]]");
        check(&Op::Not, &["[true,false]"], "bool [2] [false,true]");
        check(&Op::Not, &["true"], "bool [] false");
    }

    #[test]
    fn if_chooses_whole_values() {
        check(&Op::If, &["true", "[1,2]", "[3,4]"], "int [2] [1,2]");
        check(&Op::If, &["false", "true", "false"], "bool [] false");
        check(&Op::If, &["true", "[1,2]", "3"], "shapes [2] and [] should be equal");
        check(&Op::If, &["[true]", "1", "3"], "if needs a scalar condition, not shape [1]");
    }

    #[test]
    fn where_chooses_elements() {
        check(&Op::Where, &["[true,false]", "[1,2]", "0"], "int [2] [1,0]");
        check(&Op::Where, &["true", "1.0", "2.0"], "num [] 1");
        check(&Op::Where, &["false", "[1,2]", "[3,4]"], "int [2] [3,4]");
        check(&Op::Where, &["false", "[1,2]", "[[3],[4]]"], "int [2,2] [[3,3],[4,4]]");
        check(&Op::Where, &["[[true],[false]]", "[1,2]", "[5,6]"], "int [2,2] [[1,2],[5,6]]");
        check(&Op::Where, &["[true,false]", "[true,true]", "false"], "bool [2] [true,false]");
        check(&Op::Where, &["[true,false]", "[1,2,3]", "0"], "shapes [2] and [3] do not broadcast");
    }
}
