//! The interface in which derivatives are written: anything that operations can be applied to.
//!
//! The derivative of each operation is one formula over an [`Algebra`]. On values it computes, on flow it
//! adds equations, on text it prints. The caller provides the algebra and a [`Site`].

use crate::op::Op;
use crate::shape::Shape;

/// Something that operations can be applied to.
pub trait Algebra {
    /// A tensor, or a representation of one.
    type Value: Clone;

    /// Applies an operation.
    fn apply(&mut self, op: Op, operands: &[Self::Value]) -> Self::Value;

    /// A `num` constant of shape `[]`.
    fn constant(&mut self, value: f64) -> Self::Value;

    fn shape(&self, value: &Self::Value) -> Shape;

    /// A `num` zero of this shape that depends on nothing. Algebras with such a constant override this.
    fn zeros(&mut self, shape: &Shape) -> Self::Value {
        let zero = self.constant(0.0);
        self.stretched(&zero, shape)
    }
}

/// One application `y = f(x₁, …, xₙ)`, with everything that its derivative may read.
///
/// A derivative reads only the operands and the result that its formula names (minimal dependence); reading
/// more would make programs wait for values that they do not need. Shapes are static and may be read freely.
pub struct Site<'a, V> {
    /// `x₁, …, xₙ`
    pub operands: &'a [V],
    /// `y`
    pub result: &'a V,
    pub shapes: &'a [Shape],
    pub result_shape: &'a Shape,
}

/// Shorthands for the operations that formulas use.
pub(crate) trait Formula: Algebra {
    fn one(&mut self, op: Op, x: &Self::Value) -> Self::Value {
        self.apply(op, std::slice::from_ref(x))
    }

    fn two(&mut self, op: Op, x: &Self::Value, y: &Self::Value) -> Self::Value {
        self.apply(op, &[x.clone(), y.clone()])
    }

    fn neg(&mut self, x: &Self::Value) -> Self::Value {
        self.one(Op::Neg, x)
    }

    fn sub(&mut self, x: &Self::Value, y: &Self::Value) -> Self::Value {
        self.two(Op::Sub, x, y)
    }

    fn mul(&mut self, x: &Self::Value, y: &Self::Value) -> Self::Value {
        self.two(Op::Mul, x, y)
    }

    fn div(&mut self, x: &Self::Value, y: &Self::Value) -> Self::Value {
        self.two(Op::Div, x, y)
    }

    /// `x` where the condition holds, 0 elsewhere. A product with a mask would be wrong, because 0 · ∞ is
    /// NaN.
    fn keep_where(&mut self, condition: &Self::Value, x: &Self::Value) -> Self::Value {
        let zero = self.constant(0.0);
        self.apply(Op::Where, &[condition.clone(), x.clone(), zero])
    }

    /// 0 where the condition holds, `x` elsewhere.
    fn keep_where_not(&mut self, condition: &Self::Value, x: &Self::Value) -> Self::Value {
        let zero = self.constant(0.0);
        self.apply(Op::Where, &[condition.clone(), zero, x.clone()])
    }

    /// Sums `x` down to `shape`, unless it has that shape.
    fn reduced(&mut self, x: &Self::Value, shape: &Shape) -> Self::Value {
        if self.shape(x) == *shape { x.clone() } else { self.one(Op::Reduce(shape.clone()), x) }
    }

    /// Broadcasts `x` to `shape`, unless it has that shape.
    fn stretched(&mut self, x: &Self::Value, shape: &Shape) -> Self::Value {
        if self.shape(x) == *shape { x.clone() } else { self.one(Op::Broadcast(shape.clone()), x) }
    }

    /// Reshapes `x` to `shape`, unless it has that shape.
    fn reshaped(&mut self, x: &Self::Value, shape: &Shape) -> Self::Value {
        if self.shape(x) == *shape { x.clone() } else { self.one(Op::Reshape(shape.clone()), x) }
    }
}

impl<A: Algebra + ?Sized> Formula for A {}
