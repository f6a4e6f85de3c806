//! Operations on streams of a batch. The last axis separates the streams, so the operation must not mix its
//! elements.
//!
//! An operation on the first axis, or on an axis that it names, works unchanged on tensors with one more
//! axis. An element-wise operation does too, once shared operands are broadcast along the batch. An operation
//! on all elements becomes one on the first axis, after a reshape merges all axes but the last. All others
//! are applied to each stream separately ([`each`]).

#![deny(clippy::wildcard_enum_match_arm)]

use eddy_flow::VarId;
use eddy_tensor::{Each, Op, Shape};

use crate::products;
use crate::writer::Writer;

/// Defines the wide variable `out` by an operation.
pub(crate) fn wide(writer: &mut Writer, out: VarId, op: Op, operands: &[VarId]) {
    match op {
        Op::Copy
        | Op::StopGradient
        | Op::Neg
        | Op::Not
        | Op::Abs
        | Op::Relu
        | Op::Exp
        | Op::Log
        | Op::Sqrt
        | Op::Tanh
        | Op::Sigmoid
        | Op::Sin
        | Op::Cos
        | Op::Lgamma
        | Op::Digamma
        | Op::ToNum
        | Op::ToInt
        | Op::ZerosLike
        | Op::OnesLike
        | Op::Index(_)
        | Op::Slice(..)
        | Op::Pad(..)
        | Op::Spread(..)
        | Op::Unfold(..)
        | Op::Fold(..)
        | Op::Sum(Some(_))
        | Op::Mean(Some(_))
        | Op::Max(Some(_))
        | Op::MaxMask(Some(_)) => writer.define_apply(out, op, operands),
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Div
        | Op::Pow
        | Op::Maximum
        | Op::Minimum
        | Op::IntDiv
        | Op::IntMod
        | Op::Lt
        | Op::Le
        | Op::Gt
        | Op::Ge
        | Op::Eq
        | Op::Ne
        | Op::And
        | Op::Or
        | Op::Where => stretched(writer, out, op, operands),
        Op::If => choice(writer, out, operands),
        // The index is shared: the rows of all streams are at the same place.
        Op::Row if !writer.is_wide(operands[1]) => writer.define_apply(out, op, operands),
        Op::Place(_) if !writer.is_wide(operands[0]) => writer.define_apply(out, op, operands),
        Op::Concat | Op::Stack | Op::SumTo => {
            let operands: Vec<VarId> = operands.iter().map(|operand| writer.widened(*operand)).collect();
            writer.define_apply(out, op, &operands);
        }
        Op::Reshape(shape) => writer.define_apply(out, Op::Reshape(writer.wide(&shape)), operands),
        Op::Broadcast(shape) => writer.define_apply(out, Op::Broadcast(writer.wide(&shape)), operands),
        Op::Reduce(shape) => writer.define_apply(out, Op::Reduce(writer.wide(&shape)), operands),
        Op::Sum(None) => along_first(writer, out, Op::Sum(Some(0)), operands[0]),
        Op::Mean(None) => along_first(writer, out, Op::Mean(Some(0)), operands[0]),
        Op::Max(None) => along_first(writer, out, Op::Max(Some(0)), operands[0]),
        Op::MaxMask(None) => mask_of_all(writer, out, operands[0]),
        Op::Softmax => softmax(writer, out, operands[0]),
        Op::Matmul => products::matmul(writer, out, operands[0], operands[1]),
        Op::Outer => products::outer(writer, out, operands[0], operands[1]),
        Op::Transpose if writer.own_shape(out).len() < 2 => writer.define_apply(out, Op::Copy, operands),
        Op::Each(_) => unreachable!("a flow becomes a batch once"),
        Op::Transpose
        | Op::Conv2d
        | Op::Conv2dDx
        | Op::Conv2dDk
        | Op::Argmax
        | Op::Onehot(_)
        | Op::Row
        | Op::Place(_)
        | Op::Call(_) => {
            each(writer, out, op, operands);
        }
    }
}

/// Applies an operation to each stream separately.
pub(crate) fn each(writer: &mut Writer, out: VarId, op: Op, operands: &[VarId]) {
    let is_wide: Vec<bool> = operands.iter().map(|operand| writer.is_wide(*operand)).collect();
    writer.define_apply(out, Op::Each(Each::new(op, &is_wide)), operands);
}

/// Translates an operation that broadcasts: shapes are aligned at their ends, where the axis of the batch is.
fn stretched(writer: &mut Writer, out: VarId, op: Op, operands: &[VarId]) {
    let operands: Vec<VarId> = operands.iter().map(|operand| writer.column(*operand)).collect();
    writer.define_apply(out, op, &operands);
}

/// `if` with a wide condition chooses element by element.
fn choice(writer: &mut Writer, out: VarId, operands: &[VarId]) {
    let [condition, yes, no] = *operands else { unreachable!("`if` has a condition and two branches") };
    if writer.is_wide(condition) {
        return stretched(writer, out, Op::Where, operands);
    }
    let (yes, no) = (writer.widened(yes), writer.widened(no));
    writer.define_apply(out, Op::If, &[condition, yes, no]);
}

/// Translates an operation on all elements, in row-major order: they become the first axis.
fn along_first(writer: &mut Writer, out: VarId, op: Op, operand: VarId) {
    if writer.own_shape(operand).is_scalar() {
        return writer.define_apply(out, Op::Copy, &[operand]);
    }
    let column = columns(writer, operand);
    writer.define_apply(out, op, &[column]);
}

/// Translates `max_mask` of all elements; the result has the shape of the operand.
fn mask_of_all(writer: &mut Writer, out: VarId, operand: VarId) {
    let column = columns(writer, operand);
    let mask = writer.apply(Op::MaxMask(Some(0)), &[column]);
    let shape = writer.wide(&writer.own_shape(operand));
    writer.define_apply(out, Op::Reshape(shape), &[mask]);
}

/// `softmax` works on the last axis of one stream, which is not the last one in a batch, so it is written out
/// in operations that name their axis.
fn softmax(writer: &mut Writer, out: VarId, operand: VarId) {
    let shape = writer.shape(operand).clone();
    if shape.contains(&0) {
        return writer.define_apply(out, Op::Copy, &[operand]);
    }
    let axis = shape.len() - 2;
    let mut sizes = shape.to_vec();
    sizes[axis] = 1;
    let kept = Shape::from(sizes);
    let max = writer.apply(Op::Max(Some(axis)), &[operand]);
    let max = writer.reshaped(max, &kept);
    let below = writer.apply(Op::Sub, &[operand, max]);
    let exponentials = writer.apply(Op::Exp, &[below]);
    let sum = writer.apply(Op::Sum(Some(axis)), &[exponentials]);
    let sum = writer.reshaped(sum, &kept);
    writer.define_apply(out, Op::Div, &[exponentials, sum]);
}

/// The elements of each stream as a column, of shape `[size,B]`.
fn columns(writer: &mut Writer, var: VarId) -> VarId {
    let size = writer.own_shape(var).iter().product();
    let shape = Shape::new(&[size, writer.n]);
    writer.reshaped(var, &shape)
}
