//! Products of matrices and vectors: `matmul` and `outer`.
//!
//! Both are bilinear: the derivative in one operand reads only the other operand, and is one of these
//! products again. Every element is summed from left to right, starting from the first term; each further
//! term is added with one rounding (see [`products`](crate::products)).

use crate::algebra::{Algebra, Formula, Site};
use crate::element::{Element, Float, with_float};
use crate::op::Op;
use crate::operation::{EvalError, Operation};
use crate::products::{Rows, accumulate};
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::shape_rule::ShapeRule;
use crate::signature::{NUM, Signature};
use crate::value::Value;

/// `matmul(x₁,x₂)`: `[n,k]·[k,m]`, `[n,k]·[k]`, `[k]·[k,m]`, or `[k]·[k]`, which is a scalar.
pub(crate) struct Matmul;

impl Operation for Matmul {
    fn signature(&self) -> Signature {
        Signature::any(&[NUM, NUM], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        let [left, right] = operands else { unreachable!("`matmul` has two operands") };
        for operand in operands {
            if !(1..=2).contains(&operand.len()) {
                let found = (*operand).clone();
                return Err(ShapeError::Rank { op: "matmul", needs: "one or two axes", found });
            }
        }
        let (rows, inner) = left.split_at(left.len() - 1);
        if inner[0] != right[0] {
            return Err(ShapeError::Matmul { left: (*left).clone(), right: (*right).clone() });
        }
        let shape = Shape::from([rows, &right[1..]].concat());
        shape.n_elements()?;
        Ok(shape)
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let [x, y] = operands else { unreachable!("`matmul` has two operands") };
        let shape = self.shape(&[x.shape(), y.shape()]).expect("operands passed the shape rules");
        Ok(with_float!(x, F => {
            let products = matrix_product(F::slice(x), F::slice(y), y.shape()[0], shape.size());
            F::value(shape, products)
        }))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // as matrices: g x₂ᵀ · x₁ᵀ g
    fn vjp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        let other = &s.operands[1 - operand];
        match (operand, s.shapes[0].len(), s.shapes[1].len()) {
            (_, 1, 1) => a.mul(g, other),
            (0, 2, 1) => a.two(Op::Outer, g, other),
            (0, 1, _) => a.two(Op::Matmul, other, g),
            (1, 1, _) => a.two(Op::Outer, other, g),
            (0, ..) => {
                let transposed = a.one(Op::Transpose, other);
                a.two(Op::Matmul, g, &transposed)
            }
            _ => {
                let transposed = a.one(Op::Transpose, other);
                a.two(Op::Matmul, &transposed, g)
            }
        }
    }

    // matmul(t,x₂) · matmul(x₁,t)
    fn jvp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        product_with(&Op::Matmul, operand, s, t, a)
    }
}

/// The product with `t` in place of an operand.
pub(crate) fn product_with<A: Algebra>(
    op: &Op,
    operand: usize,
    s: &Site<'_, A::Value>,
    t: &A::Value,
    a: &mut A,
) -> A::Value {
    let other = &s.operands[1 - operand];
    if operand == 0 { a.two(op.clone(), t, other) } else { a.two(op.clone(), other, t) }
}

/// The product of an n × k and a k × m matrix, with `n_elements` = n · m.
fn matrix_product<F: Float>(xs: &[F], ys: &[F], k: usize, n_elements: usize) -> Vec<F> {
    let mut products = F::accumulators(n_elements, k);
    if k > 0 {
        let x = Rows { elements: xs, steps: [k, 1], n_columns: k };
        accumulate(x, ys, ys.len() / k, &mut products);
    }
    products
}

/// `outer(x₁,x₂)`: all products of an element of `[n]` and one of `[k]`, as `[n,k]`.
pub(crate) struct Outer;

impl Operation for Outer {
    fn signature(&self) -> Signature {
        Signature::any(&[NUM, NUM], NUM)
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        if let Some(other) = operands.iter().find(|shape| shape.len() != 1) {
            return Err(ShapeError::Rank { op: "outer", needs: "two vectors", found: (*other).clone() });
        }
        let shape = Shape::new(&[operands[0][0], operands[1][0]]);
        shape.n_elements()?;
        Ok(shape)
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let shape = Shape::new(&[operands[0].shape()[0], operands[1].shape()[0]]);
        Ok(with_float!(operands[0], F => {
            let (xs, ys) = (F::slice(operands[0]), F::slice(operands[1]));
            F::value(shape, xs.iter().flat_map(|x| ys.iter().map(move |y| *x * *y)).collect())
        }))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // matmul(g,x₂) · matmul(x₁,g)
    fn vjp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        product_with(&Op::Matmul, operand, s, g, a)
    }

    // outer(t,x₂) · outer(x₁,t)
    fn jvp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        product_with(&Op::Outer, operand, s, t, a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, eval, value, zeros};

    #[test]
    fn products_of_matrices_and_vectors() {
        let (a, b) = ("[[1.0,2.0],[3.0,4.0],[5.0,6.0]]", "[[1.0,10.0],[100.0,1000.0]]");
        check(&Op::Matmul, &[a, b], "num [3,2] [[201,2010],[403,4030],[605,6050]]");
        check(&Op::Matmul, &[a, "[1.0,10.0]"], "num [3] [21,43,65]");
        check(&Op::Matmul, &["[1.0,10.0]", b], "num [2] [1001,10010]");
        check(&Op::Matmul, &["[1.0,2.0]", "[3.0,4.0]"], "num [] 11");
        check(&Op::Matmul, &["[1.0,2.0]", "[[3.0],[4.0]]"], "num [1] [11]");
        check(&Op::Outer, &["[1.0,2.0]", "[3.0,4.0,5.0]"], "num [2,3] [[3,4,5],[6,8,10]]");
    }

    #[test]
    fn inner_sizes_agree() {
        check(
            &Op::Matmul,
            &["[[1.0,2.0,3.0]]", "[1.0,2.0]"],
            "matmul of shapes [1,3] and [2]: the inner sizes differ",
        );
        check(&Op::Matmul, &["1.0", "[1.0]"], "matmul needs one or two axes, not shape []");
        check(&Op::Matmul, &["[1.0]", "[[[1.0]]]"], "matmul needs one or two axes, not shape [1,1,1]");
        check(&Op::Outer, &["[1.0]", "[[1.0]]"], "outer needs two vectors, not shape [1,1]");
    }

    #[test]
    fn sums_go_from_left_to_right_from_the_first_term() {
        let (row, ones) = ("[1.0,1e100,1.0,-1e100]", "[1.0,1.0,1.0,1.0]");
        check(&Op::Matmul, &[row, ones], "num [] 0");
        check(&Op::Matmul, &[row, "[[1.0,0.0],[1.0,0.0],[1.0,1.0],[1.0,0.0]]"], "num [2] [0,1]");
        let product = eval(&Op::Matmul, &[&value("[-0.0]"), &value("[1.0]")]);
        assert_eq!(product, Value::Num(-0.0));
    }

    #[test]
    fn many_rows_take_turns_with_the_same_result() {
        // Numbers of different magnitudes, so that a different order changes the bits.
        let numbers: Vec<f64> = (0..19 * 7).map(|i| (f64::from(i) * 0.7).exp().sin() * 1e3).collect();
        let x = vector(numbers[..7].to_vec());
        let matrix = eval(&Op::Reshape(Shape::new(&[19, 7])), &[&vector(numbers)]);
        let product = eval(&Op::Matmul, &[&matrix, &x]);
        let rows = (0..19).map(|i| eval(&Op::Index(i), &[&matrix]));
        let one_by_one: Vec<Value> = rows.map(|row| eval(&Op::Matmul, &[&row, &x])).collect();
        assert_eq!(product.elements().collect::<Vec<_>>(), one_by_one);
    }

    #[test]
    fn sums_of_nothing_are_zero() {
        let product = eval(&Op::Matmul, &[&zeros(&[2, 0]), &zeros(&[0, 1])]);
        assert_eq!(product, zeros(&[2, 1]));
        let product = eval(&Op::Matmul, &[&zeros(&[0, 2]), &value("[1.0,2.0]")]);
        assert_eq!(product, zeros(&[0]));
    }

    fn vector(elements: Vec<f64>) -> Value {
        f64::value(Shape::new(&[elements.len()]), elements)
    }
}
