//! Operations that assemble elements: `concat`, `[a,b,..]`, `reshape`, `pad`, `onehot`, `fold`.

use eddy_imp::{Binary, Block, Expr, Intrinsic, Stmt};
use eddy_tensor::Op;

use super::expression::{Elements, chosen};
use super::schedule::Item;
use super::write::Writer;
use crate::nest::{index, loops, place};
use crate::precision;
use crate::view::row_major;

/// Concatenates the elements of all operands.
pub(super) fn chain(writer: &Writer<'_>, item: &Item<'_>, block: &mut Block) {
    let array = writer.array(item);
    let mut offset = 0;
    for view in &item.reads {
        writer.copy(view, &array, offset, block);
        offset += view.shape.iter().product::<usize>();
    }
}

/// Copies the elements to row-major order, which the operand does not have.
pub(super) fn reshape(writer: &Writer<'_>, item: &Item<'_>, block: &mut Block) {
    if item.statement.ty.shape.is_scalar() {
        return writer.set(item, 0.into(), writer.homes.first(&item.reads[0]), block);
    }
    chain(writer, item, block);
}

/// Places the operand in some rows; the others are zero.
pub(super) fn pad(writer: &Writer<'_>, item: &Item<'_>, lo: usize, block: &mut Block) {
    let (array, shape) = (writer.array(item), &item.statement.ty.shape);
    let row: usize = shape[1..].iter().product();
    zeros(writer, item, block);
    writer.copy(&item.reads[0], &array, lo * row, block);
}

pub(super) fn zeros(writer: &Writer<'_>, item: &Item<'_>, block: &mut Block) {
    let size: usize = item.statement.ty.shape.iter().product();
    let zero = precision::zero(item.statement.ty.scalar);
    let array = writer.array(item);
    loops(&[size], 0, block, |block| block.store(array.index(index(0)), zero));
}

/// 1 at an index, 0 elsewhere; in a batch, at the index of each stream.
pub(super) fn onehot(writer: &Writer<'_>, item: &Item<'_>, n: usize, block: &mut Block) {
    zeros(writer, item, block);
    let (view, streams) = (&item.reads[0], &item.statement.ty.shape[1..]);
    let strides = view.strides.iter().map(|stride| (index(0), *stride));
    let at = writer.homes.element(view, place(view.offset, strides));
    let at = Expr::Checked(Intrinsic::Index, vec![at, n.into()], item.statement.site);
    let array = writer.array(item);
    loops(streams, 0, block, |block| match (n, streams) {
        (0, _) => block.push(Stmt::Check(at)),
        (_, []) => block.store(array.index(at), Expr::num(1.0)),
        (_, [streams, ..]) => block.store(array.index(Expr::from(*streams) * at + index(0)), Expr::num(1.0)),
    });
}

/// Adds up windows: the first that covers an element sets it.
pub(super) fn fold(writer: &Writer<'_>, item: &Item<'_>, axis: usize, stride: usize, block: &mut Block) {
    let (view, shape) = (&item.reads[0], &item.statement.ty.shape);
    zeros(writer, item, block);
    if view.shape.iter().product::<usize>() == 0 {
        return;
    }
    let size = view.shape[axis + 1];
    let own = row_major(shape);
    // The axes of the operand: those before, the windows, the position in a window, those after.
    let strides = (0..view.shape.len()).map(|at| match at {
        _ if at < axis => own[at],
        _ if at == axis => stride * own[axis],
        _ => own[at - 1],
    });
    let target = writer.array(item).index(place(0, (0..view.shape.len()).map(index).zip(strides)));
    let from = place(view.offset, (0..view.shape.len()).map(index).zip(view.strides.iter().copied()));
    let element = writer.homes.element(view, from);
    let elements = Elements { operand: view.scalar, site: item.statement.site };
    let sum = elements.expression(&Op::Add, vec![target.load(), element.clone()]);
    // The elements that the previous window has written.
    let n_reached = size.saturating_sub(stride);
    let is_reached = Expr::binary(Binary::And, index(axis).gt(0), index(axis + 1).lt(n_reached));
    let value = match n_reached {
        0 => element,
        _ => chosen(&item.statement.ty, vec![is_reached, sum, element]),
    };
    loops(&view.shape, 0, block, |block| block.store(target, value));
}
