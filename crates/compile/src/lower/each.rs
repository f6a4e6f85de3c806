//! Operations on each stream of a batch. The values of an element in all streams are neighbours, so the innermost loop goes along the streams.

use eddy_tensor::{Each, Op};

use super::print::Printer;
use super::schedule::Item;
use super::{convolution, products, reductions, structure};
use crate::lines::Lines;
use crate::nest::{index, loops, place};
use crate::view::View;

/// Writes an operation that knows no further axis; those that only move elements are seen through.
pub(super) fn each(printer: &Printer<'_>, item: &Item<'_>, each: &Each, lines: &mut Lines) {
    match each.op() {
        Op::Matmul => matmul(printer, item, each, lines),
        Op::Conv2d => convolution::conv2d(printer, item, lines),
        Op::Conv2dDx => convolution::conv2d_dx(printer, item, lines),
        Op::Conv2dDk => convolution::conv2d_dk(printer, item, lines),
        Op::Argmax => reductions::argmax_of_streams(printer, item, lines),
        Op::Onehot(n) => structure::onehot(printer, item, *n, lines),
        op => unreachable!("it knows a further axis: {op:?}"),
    }
}

/// A factor: what one stream sees, and how far it is to the next one.
struct Factor {
    own: View,
    stream: usize,
}

impl Factor {
    fn new(view: &View, is_wide: bool) -> Factor {
        if !is_wide {
            return Factor { own: view.clone(), stream: 0 };
        }
        let (own, _, stream) = view.slice();
        Factor { own, stream }
    }

    /// The element at these indices along rows and terms, or terms and columns, in stream i2.
    fn element(&self, printer: &Printer<'_>, [one, other]: [(&str, usize); 2]) -> String {
        let terms = [one, other, ("i2", self.stream)].map(|(at, stride)| (at.to_string(), stride));
        printer.homes.element(&self.own, &place(self.own.offset, terms))
    }
}

fn matmul(printer: &Printer<'_>, item: &Item<'_>, each: &Each, lines: &mut Lines) {
    let [left, right] = [0, 1].map(|number| Factor::new(&item.reads[number], each.is_wide()[number]));
    let ([rows, inner, columns], strides) = products::sizes(&left.own, &right.own);
    let streams = *item.statement.ty.shape.last().expect("it has an axis for the streams");
    if inner == 0 {
        let (zero, result) = (printer.precision.number(0.0), printer.result(item, "i0"));
        let size = rows * columns * streams;
        return loops(&[size], 0, lines, |lines| lines.line(format!("{result} = {zero};")));
    }
    if rows * columns == 0 {
        return;
    }
    let [a, b] = [&left, &right].map(|factor| products::pointer(printer, &factor.own, 0));
    let [a_row, a_term, b_term, b_column] = strides;
    if let (Some(a), Some(b), 0..=1, 0..=1) = (a, b, left.stream, right.stream) {
        let function = printer.precision.function("matmul_each");
        return lines.line(format!(
            "{function}({streams}, {rows}, {inner}, {columns}, {a}, {a_row}, {a_term}, {}, {b}, {b_term}, {b_column}, {}, {});",
            left.stream,
            right.stream,
            printer.array(item)
        ));
    }
    // Loops with one sum after the other, for factors that lie otherwise. i0: rows, i1: columns, i2: streams, i3: terms.
    let x = |term: &str| left.element(printer, [("i0", a_row), (term, a_term)]);
    let y = |term: &str| right.element(printer, [(term, b_term), ("i1", b_column)]);
    let (ty, fma) = (printer.c_type(item), printer.precision.function("fma"));
    let target = [(index(0), columns * streams), (index(1), streams), (index(2), 1)];
    let result = printer.result(item, &place(0, target));
    loops(&[rows, columns, streams], 0, lines, |lines| {
        lines.line(format!("{ty} sum = {} * {};", x("0"), y("0")));
        lines.block(&format!("for (size_t i3 = 1; i3 < {inner}; i3++)"), |lines| {
            lines.line(format!("sum = {fma}({}, {}, sum);", x("i3"), y("i3")));
        });
        lines.line(format!("{result} = sum;"));
    });
}
