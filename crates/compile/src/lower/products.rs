//! Products of matrices and vectors: each element is summed from left to right, by fused multiplications and additions.

use super::print::Printer;
use super::schedule::Item;
use crate::lines::Lines;
use crate::nest::{index, loops, place};
use crate::view::View;

/// `matmul`, with vectors as matrices of one row or one column.
struct Product<'a> {
    left: &'a View,
    right: &'a View,
    rows: usize,
    inner: usize,
    columns: usize,
    /// Strides of the left operand along rows and terms, and of the right one along terms and columns.
    strides: [usize; 4],
}

impl<'a> Product<'a> {
    fn new(item: &'a Item<'_>) -> Product<'a> {
        let [left, right] = item.reads.as_slice() else { unreachable!("`matmul` has two operands") };
        let (rows, inner, left_strides) = match *left.shape {
            [rows, inner] => (rows, inner, [left.strides[0], left.strides[1]]),
            _ => (1, left.shape[0], [0, left.strides[0]]),
        };
        let (columns, right_strides) = match *right.shape {
            [_, columns] => (columns, [right.strides[0], right.strides[1]]),
            _ => (1, [right.strides[0], 0]),
        };
        let strides = [left_strides[0], left_strides[1], right_strides[0], right_strides[1]];
        Product { left, right, rows, inner, columns, strides }
    }
}

pub(super) fn matmul(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    let product = Product::new(item);
    let Product { left, right, rows, inner, columns, strides } = product;
    let at = |view: &View, terms: [(usize, usize); 2]| {
        let terms = terms.into_iter().map(|(axis, stride)| (index(axis), stride));
        printer.homes.element(view, &place(view.offset, terms))
    };
    let (zero, fma) = (printer.precision.number(0.0), printer.precision.function("fma"));
    let result = printer.result(item, &place(0, [(index(0), columns), (index(1), 1)]));
    if inner == 0 {
        loops(&[rows, columns], 0, lines, |lines| lines.line(format!("{result} = {zero};")));
        return;
    }
    // i0: rows, i1: columns, i2: terms. Along the columns sums are independent of each other.
    let x = at(left, [(0, strides[0]), (2, strides[1])]);
    let y = at(right, [(2, strides[2]), (1, strides[3])]);
    let first = |text: &str| text.replace("i2", "0");
    loops(&[rows], 0, lines, |lines| {
        loops(&[columns], 1, lines, |lines| lines.line(format!("{result} = {} * {};", first(&x), first(&y))));
        lines.block(&format!("for (size_t i2 = 1; i2 < {inner}; i2++)"), |lines| {
            loops(&[columns], 1, lines, |lines| lines.line(format!("{result} = {fma}({x}, {y}, {result});")));
        });
    });
}
