//! A function of the program as an operation.
//!
//! The table has a fixed number of operations; a program may also apply functions of its own. [`Call`] makes
//! such a function an operation, so that engines, differentiation and batching need no rules for functions.
//! Its [`Callee`] computes its value and its derivatives.
//!
//! An operation has one result. A function with several `num` results, and the adjoint of a function with
//! several `num` operands, return them as one vector, a *pack*: the elements of all of them in row-major
//! order. So the cotangents of one call are one call, and slices of the pack have the derivatives of the
//! table.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::algebra::{Algebra, Formula, Site};
use crate::op::Op;
use crate::operation::{EvalError, Operation};
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::shape_rule::ShapeRule;
use crate::signature::{Arity, Class, Signature, Slot};
use crate::value::{Scalar, Type, Value};

/// What a [`Call`] applies: a pure function of tensors of fixed types.
pub trait Callee: Any + fmt::Debug + Send + Sync {
    fn name(&self) -> &str;

    fn operands(&self) -> &[Type];

    fn result(&self) -> &Type;

    /// The value; an error is an [`EvalError::Function`], which [`Callee::failure`] explains.
    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError>;

    /// An error of [`Callee::eval`].
    fn failure(&self, number: u32) -> CallFailure;

    /// Whether both functions are results of the same code, so that one call at the same operands computes
    /// both.
    fn shares_code(&self, other: &dyn Callee) -> bool;

    /// The code that compilers translate, in a type that they and the implementations of this trait agree on;
    /// `None` if there is no such code.
    fn code(&self) -> Option<Arc<dyn Any + Send + Sync>>;

    /// The function of the operands and the cotangent of the result that returns the pack of the cotangents
    /// of all `num` operands.
    fn adjoint(&self) -> Call;

    /// The function of the operands and the tangents of all `num` operands that returns the tangent of the
    /// result.
    fn tangent(&self) -> Call;
}

/// Why a function has no value at some operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    pub message: String,
    /// Where it happened, as positions in the source; empty if that is not known.
    pub place: std::ops::Range<u32>,
}

/// The application of a function of the program. Two calls are equal if they share their function.
#[derive(Clone, Debug)]
pub struct Call(Arc<dyn Callee>);

impl Call {
    pub fn new(callee: Arc<dyn Callee>) -> Call {
        Call(callee)
    }

    pub fn callee(&self) -> &dyn Callee {
        &*self.0
    }

    fn nums(&self) -> impl Iterator<Item = usize> + '_ {
        let operands = self.0.operands().iter().enumerate();
        operands.filter(|(_, ty)| ty.scalar == Scalar::Num).map(|(number, _)| number)
    }
}

impl PartialEq for Call {
    fn eq(&self, other: &Call) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Call {}

impl Hash for Call {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).cast::<()>().hash(state);
    }
}

impl Operation for Call {
    /// The types of operands are those of the function, which the signature does not repeat.
    fn signature(&self) -> Signature {
        Signature {
            alpha: Class::Any,
            operands: &[Slot::Free],
            result: Slot::Is(self.0.result().scalar),
            arity: Arity::AtLeast(0),
        }
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        for (found, needed) in operands.iter().zip(self.0.operands()) {
            if **found != needed.shape {
                return Err(ShapeError::Different { left: (*found).clone(), right: needed.shape.clone() });
            }
        }
        Ok(self.0.result().shape.clone())
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        self.0.eval(operands)
    }

    fn is_differentiable_in(&self, operand: usize) -> bool {
        let is_num = |ty: &Type| ty.scalar == Scalar::Num;
        is_num(self.0.result()) && self.0.operands().get(operand).is_some_and(is_num)
    }

    /// The slice of the pack of cotangents that belongs to the operand.
    fn vjp<A: Algebra>(
        &self,
        operand: usize,
        site: &Site<'_, A::Value>,
        g: &A::Value,
        algebra: &mut A,
    ) -> A::Value {
        let mut operands = site.operands.to_vec();
        operands.push(g.clone());
        let pack = algebra.apply(Op::Call(self.0.adjoint()), &operands);
        if self.nums().count() == 1 {
            return pack;
        }
        let size = |number: usize| self.0.operands()[number].shape.iter().product::<usize>();
        let lo = self.nums().take_while(|number| *number < operand).map(size).sum();
        let slice = algebra.one(Op::Slice(lo, lo + size(operand)), &pack);
        algebra.reshaped(&slice, &self.0.operands()[operand].shape)
    }

    /// The tangent of a point that moves only along this operand.
    fn jvp<A: Algebra>(
        &self,
        operand: usize,
        site: &Site<'_, A::Value>,
        t: &A::Value,
        algebra: &mut A,
    ) -> A::Value {
        let mut operands = site.operands.to_vec();
        for number in self.nums() {
            let is_moved = number == operand;
            operands.push(if is_moved { t.clone() } else { algebra.zeros(&site.shapes[number]) });
        }
        algebra.apply(Op::Call(self.0.tangent()), &operands)
    }
}
