//! Operations that put elements together: `concat`, `[a,b,..]`, `reshape`, `pad`, `onehot`, `fold`.

use eddy_tensor::{Op, Scalar};

use super::expression::{Elements, chosen};
use super::print::{Printer, site};
use super::schedule::Item;
use crate::lines::Lines;
use crate::nest::{index, loops, place};
use crate::view::row_major;

/// The elements of all operands, one after the other.
pub(super) fn chain(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    let array = printer.array(item);
    let mut offset = 0;
    for view in &item.reads {
        printer.copy(view, &array, offset, lines);
        offset += view.shape.iter().product::<usize>();
    }
}

/// The elements in row-major order, which they are not in.
pub(super) fn reshape(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    if item.statement.ty.shape.is_scalar() {
        let view = &item.reads[0];
        let element = printer.homes.element(view, &view.offset.to_string());
        lines.line(format!("{} = {element};", printer.result(item, "0")));
        return;
    }
    chain(printer, item, lines);
}

/// The operand as some rows, and zeros elsewhere.
pub(super) fn pad(printer: &Printer<'_>, item: &Item<'_>, lo: usize, lines: &mut Lines) {
    let (array, shape) = (printer.array(item), &item.statement.ty.shape);
    let row: usize = shape[1..].iter().product();
    zeros(printer, item, lines);
    printer.copy(&item.reads[0], &array, lo * row, lines);
}

fn zeros(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    let size: usize = item.statement.ty.shape.iter().product();
    let zero = match item.statement.ty.scalar {
        Scalar::Num => printer.precision.number(0.0),
        _ => "0".to_string(),
    };
    let array = printer.array(item);
    loops(&[size], 0, lines, |lines| lines.line(format!("{array}[i0] = {zero};")));
}

/// 1 at an index, 0 elsewhere; in a batch, at the index of each stream.
pub(super) fn onehot(printer: &Printer<'_>, item: &Item<'_>, n: usize, lines: &mut Lines) {
    zeros(printer, item, lines);
    let (view, streams) = (&item.reads[0], &item.statement.ty.shape[1..]);
    let strides = view.strides.iter().map(|stride| (index(0), *stride));
    let at = printer.homes.element(view, &place(view.offset, strides));
    let (array, one) = (printer.array(item), printer.precision.number(1.0));
    let place = match streams {
        [] => format!("eddy_index({at}, {n}, {})", site(item)),
        [streams, ..] => format!("{streams} * eddy_index({at}, {n}, {}) + i0", site(item)),
    };
    loops(streams, 0, lines, |lines| match n {
        0 => lines.line(format!("(void)eddy_index({at}, 0, {});", site(item))),
        _ => lines.line(format!("{array}[{place}] = {one};")),
    });
}

/// Windows added up: the first that reaches an element sets it.
pub(super) fn fold(printer: &Printer<'_>, item: &Item<'_>, axis: usize, stride: usize, lines: &mut Lines) {
    let (view, shape) = (&item.reads[0], &item.statement.ty.shape);
    zeros(printer, item, lines);
    if view.shape.iter().product::<usize>() == 0 {
        return;
    }
    let size = view.shape[axis + 1];
    let own = row_major(shape);
    // The axes of the operand: those before, the windows, the place in a window, those after.
    let strides = (0..view.shape.len()).map(|at| match at {
        _ if at < axis => own[at],
        _ if at == axis => stride * own[axis],
        _ => own[at - 1],
    });
    let target = place(0, (0..view.shape.len()).map(index).zip(strides));
    let from = place(view.offset, (0..view.shape.len()).map(index).zip(view.strides.iter().copied()));
    let (array, element) = (printer.array(item), printer.homes.element(view, &from));
    let site = site(item);
    let elements = Elements { precision: printer.precision, operand: view.scalar, site: &site };
    let sum = elements.expression(&Op::Add, &[format!("{array}[{target}]"), element.clone()]);
    // What the window before has reached.
    let n_reached = size.saturating_sub(stride);
    let is_reached = format!("({} > 0) & ({} < {n_reached})", index(axis), index(axis + 1));
    let value = match n_reached {
        0 => element,
        _ => chosen(printer.precision, &item.statement.ty, &[is_reached, sum, element]),
    };
    loops(&view.shape, 0, lines, |lines| lines.line(format!("{array}[{target}] = {value};")));
}
