//! Operations on streams of a batch, whose last axis the operation must not see.
//!
//! An operation on the first axis, or one that is told which axis it works on, is the same on more axes. So is one on elements, if what is
//! shared is stretched along the batch. One that works on all elements works on the first axis, once all own axes are one. The others know no
//! further axis, and are applied to each stream by itself ([`each`]).

use eddy_flow::VarId;
use eddy_tensor::{Each, Op, Shape};

use crate::products;
use crate::writer::Writer;

/// Defines `out`, which is wide, by an operation.
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
        Op::Concat | Op::Stack | Op::SumTo => {
            let operands: Vec<VarId> = operands.iter().map(|operand| writer.widened(*operand)).collect();
            writer.define_apply(out, op, &operands);
        }
        Op::Reshape(shape) => writer.define_apply(out, Op::Reshape(writer.wide(&shape)), operands),
        Op::Broadcast(shape) => writer.define_apply(out, Op::Broadcast(writer.wide(&shape)), operands),
        Op::Reduce(shape) => writer.define_apply(out, Op::Reduce(writer.wide(&shape)), operands),
        Op::Sum(None) | Op::Mean(None) | Op::Max(None) | Op::MaxMask(None) => {
            whole(writer, out, &op, operands[0]);
        }
        Op::Softmax => softmax(writer, out, operands[0]),
        Op::Matmul => products::matmul(writer, out, operands[0], operands[1]),
        Op::Outer => products::outer(writer, out, operands[0], operands[1]),
        Op::Transpose if writer.own_shape(out).len() < 2 => writer.define_apply(out, Op::Copy, operands),
        Op::Each(_) => unreachable!("a flow becomes a batch once"),
        Op::Transpose | Op::Conv2d | Op::Conv2dDx | Op::Conv2dDk | Op::Argmax | Op::Onehot(_) => {
            each(writer, out, op, operands);
        }
    }
}

/// The way out: one operation on each stream.
pub(crate) fn each(writer: &mut Writer, out: VarId, op: Op, operands: &[VarId]) {
    let is_wide: Vec<bool> = operands.iter().map(|operand| writer.is_wide(*operand)).collect();
    writer.define_apply(out, Op::Each(Each::new(op, &is_wide)), operands);
}

/// An operation that broadcasts: shapes are aligned at their ends, where the batch is.
fn stretched(writer: &mut Writer, out: VarId, op: Op, operands: &[VarId]) {
    let operands: Vec<VarId> = operands.iter().map(|operand| writer.column(*operand)).collect();
    writer.define_apply(out, op, &operands);
}

/// `if`: what is chosen by a condition of each stream is chosen element by element.
fn choice(writer: &mut Writer, out: VarId, operands: &[VarId]) {
    let [condition, yes, no] = *operands else { unreachable!("`if` has a condition and two branches") };
    if writer.is_wide(condition) {
        return stretched(writer, out, Op::Where, operands);
    }
    let (yes, no) = (writer.widened(yes), writer.widened(no));
    writer.define_apply(out, Op::If, &[condition, yes, no]);
}

/// An operation on all elements at once, in row-major order: they become the first axis.
fn whole(writer: &mut Writer, out: VarId, op: &Op, operand: VarId) {
    let own = writer.own_shape(operand);
    let is_itself = own.is_scalar() && !matches!(op, Op::MaxMask(_));
    if is_itself {
        return writer.define_apply(out, Op::Copy, &[operand]);
    }
    let column = columns(writer, operand);
    match op {
        Op::Sum(_) => writer.define_apply(out, Op::Sum(Some(0)), &[column]),
        Op::Mean(_) => writer.define_apply(out, Op::Mean(Some(0)), &[column]),
        Op::Max(_) => writer.define_apply(out, Op::Max(Some(0)), &[column]),
        Op::MaxMask(_) => {
            let mask = writer.apply(Op::MaxMask(Some(0)), &[column]);
            let shape = writer.wide(&own);
            writer.define_apply(out, Op::Reshape(shape), &[mask]);
        }
        _ => unreachable!("it works on all elements"),
    }
}

/// `softmax` works on the last own axis: written out, each of its steps is told which axis that is.
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

/// The elements of each stream as a column: shape `[size,B]`.
fn columns(writer: &mut Writer, var: VarId) -> VarId {
    let size = writer.own_shape(var).iter().product();
    let shape = Shape::new(&[size, writer.n]);
    writer.reshaped(var, &shape)
}
