//! Operations on streams of a batch, whose last axis the operation must not see.
//!
//! An operation on the first axis, or one that is told which axis it works on, is the same on more axes. So is one on elements, if what is
//! shared is stretched along the batch. One that works on all elements works on the first axis, once all own axes are one.

use eddy_flow::VarId;
use eddy_tensor::{Op, Shape};

use crate::each::each;
use crate::products;
use crate::writer::{Writer, with_last};

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
        Op::Transpose | Op::Conv2d | Op::Conv2dDx | Op::Conv2dDk | Op::Argmax | Op::Onehot(_) => {
            each(writer, out, &op, operands);
        }
    }
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

/// `softmax` works on the last axis, so the batch is put in front.
fn softmax(writer: &mut Writer, out: VarId, operand: VarId) {
    let own = writer.own_shape(operand);
    let rows = rows(writer, operand);
    let softmax = writer.apply(Op::Softmax, &[rows]);
    from_rows(writer, out, softmax, &own);
}

/// The elements of each stream as a column: shape `[size,B]`.
pub(crate) fn columns(writer: &mut Writer, var: VarId) -> VarId {
    let size = writer.own_shape(var).iter().product();
    let shape = Shape::new(&[size, writer.n]);
    writer.reshaped(var, &shape)
}

/// A wide stream with the batch as first axis.
pub(crate) fn rows(writer: &mut Writer, var: VarId) -> VarId {
    let own = writer.own_shape(var);
    if own.is_scalar() {
        return var;
    }
    let columns = columns(writer, var);
    let transposed = writer.apply(Op::Transpose, &[columns]);
    let shape = Shape::from([&[writer.n], &own[..]].concat());
    writer.reshaped(transposed, &shape)
}

/// Defines a wide stream, whose shape in one stream is `own`, by what has the batch as first axis.
pub(crate) fn from_rows(writer: &mut Writer, out: VarId, rows: VarId, own: &Shape) {
    if own.is_scalar() {
        return writer.define_apply(out, Op::Copy, &[rows]);
    }
    let size = own.iter().product();
    let flat = writer.reshaped(rows, &Shape::new(&[writer.n, size]));
    let columns = writer.apply(Op::Transpose, &[flat]);
    let shape = with_last(own, writer.n);
    writer.define_apply(out, Op::Reshape(shape), &[columns]);
}
