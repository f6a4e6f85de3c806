//! Products of matrices and vectors: each element is summed from left to right, by fused multiplications and additions.

use std::ops::Range;

use super::print::Printer;
use super::schedule::Item;
use crate::lines::Lines;
use crate::nest::{index, loops, place};
use crate::view::{Root, View};

/// Products of so many terms are worth the while of several threads, if there are any. One thread adds up about twenty terms in a nanosecond, so
/// it has fifty microseconds to do; to wake another takes about twenty.
const LARGE: usize = 1 << 20;

/// `matmul`, with vectors as matrices of one row or one column.
struct Product<'a> {
    /// What it is added to.
    to: Option<&'a View>,
    left: &'a View,
    right: &'a View,
    /// The first row, and how many.
    first: usize,
    rows: usize,
    inner: usize,
    columns: usize,
    /// Strides of the left operand along rows and terms, and of the right one along terms and columns.
    strides: [usize; 4],
}

impl<'a> Product<'a> {
    fn new(item: &'a Item<'_>) -> Product<'a> {
        let (to, left, right) = match item.reads.as_slice() {
            [left, right] => (None, left, right),
            [to, left, right] => (Some(to), left, right),
            _ => unreachable!("a product has two factors"),
        };
        let (rows, inner, left_strides) = match *left.shape {
            [rows, inner] => (rows, inner, [left.strides[0], left.strides[1]]),
            _ => (1, left.shape[0], [0, left.strides[0]]),
        };
        let (columns, right_strides) = match *right.shape {
            [_, columns] => (columns, [right.strides[0], right.strides[1]]),
            _ => (1, [right.strides[0], 0]),
        };
        let strides = [left_strides[0], left_strides[1], right_strides[0], right_strides[1]];
        Product { to, left, right, first: 0, rows, inner, columns, strides }
    }

    /// The same, but only these rows.
    fn with_rows(self, rows: Option<&Range<usize>>) -> Product<'a> {
        match rows {
            // A vector times a matrix has one row, though its shape has none.
            Some(range) if self.left.shape.len() == 2 => {
                Product { first: range.start, rows: range.len(), ..self }
            }
            _ => self,
        }
    }
}

/// How much memory a product needs besides its result: a right operand whose rows are not lists of neighbours is put aside by rows.
pub(super) fn workspace(item: &Item<'_>) -> usize {
    let Product { inner, columns, strides, .. } = Product::new(item);
    if columns > 1 && strides[3] != 1 { inner * columns } else { 0 }
}

/// Where the elements of an operand begin, as a pointer; some are skipped.
fn pointer(printer: &Printer<'_>, view: &View, skipped: usize) -> Option<String> {
    let element = printer.homes.element(view, &(view.offset + skipped).to_string());
    matches!(view.root, Root::Memory(_) | Root::Var(_)).then(|| format!("&{element}"))
}

pub(super) fn matmul(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    let product = Product::new(item);
    if product.inner == 0 {
        let (zero, result) = (printer.precision.number(0.0), printer.result(item, "i0"));
        let to = product.to.map(|to| printer.homes.element(to, &place(to.offset, [(index(0), 1)])));
        let sum = to.map_or(zero.clone(), |to| format!("{to} + {zero}"));
        loops(&[product.rows * product.columns], 0, lines, |lines| lines.line(format!("{result} = {sum};")));
        return;
    }
    if product.rows * product.columns == 0 {
        return;
    }
    let product = product.with_rows(printer.rows_read.get(&item.statement.var));
    if !kernel(printer, item, &product, lines) {
        element_by_element(printer, item, &product, lines);
    }
}

/// A call of the tiled product, where the elements along the rows of the right operand, or along the columns of the left one if the
/// right one is a vector, lie one after the other, or are put so first.
fn kernel(printer: &Printer<'_>, item: &Item<'_>, product: &Product<'_>, lines: &mut Lines) -> bool {
    let Product { to, left, right, first, rows, inner, columns, strides } = *product;
    if item.statement.ty.shape.is_scalar() {
        return false;
    }
    let [a_row, a_term, b_term, b_column] = strides;
    let (a, b) = (pointer(printer, left, first * a_row), pointer(printer, right, 0));
    let (Some(a), Some(b)) = (a, b) else { return false };
    let is_large = rows * inner * columns >= LARGE;
    let function = match (is_large, to) {
        (false, None) => "matmul",
        (false, Some(_)) => "matmul_plus",
        (true, None) => "large_matmul",
        (true, Some(_)) => "large_matmul_plus",
    };
    let function = printer.precision.function(function);
    // What is added lies as the result does.
    let plus = |row: usize| {
        to.map_or(String::new(), |to| {
            format!(", &{}, {row}", printer.homes.element(to, &to.offset.to_string()))
        })
    };
    let c = printer.array(item);
    let c = if first == 0 { c } else { format!("&{c}[{}]", first * columns) };
    if columns > 1 && b_column == 1 {
        lines.line(format!(
            "{function}({rows}, {inner}, {columns}, {a}, {a_row}, {a_term}, {b}, {b_term}, {c}, {columns}{});",
            plus(columns)
        ));
        return true;
    }
    if let Some(packed) = printer.homes.workspace(item.statement.var) {
        let pack = printer.precision.function("pack");
        lines.line(format!("{pack}({inner}, {columns}, {b}, {b_term}, {b_column}, {packed});"));
        lines.line(format!(
            "{function}({rows}, {inner}, {columns}, {a}, {a_row}, {a_term}, {packed}, {columns}, {c}, {columns}{});",
            plus(columns)
        ));
        return true;
    }
    // A matrix times a vector is the vector times the transposed matrix.
    if columns == 1 && a_row == 1 {
        let plus = plus(0);
        lines.line(format!("{function}(1, {inner}, {rows}, {b}, 0, {b_term}, {a}, {a_term}, {c}, 0{plus});"));
        return true;
    }
    false
}

/// Loops with sums in memory, for operands that lie otherwise.
fn element_by_element(printer: &Printer<'_>, item: &Item<'_>, product: &Product<'_>, lines: &mut Lines) {
    let Product { to, left, right, first, rows, inner, columns, strides } = *product;
    let at = |view: &View, skipped: usize, terms: [(usize, usize); 2]| {
        let terms = terms.into_iter().map(|(axis, stride)| (index(axis), stride));
        printer.homes.element(view, &place(view.offset + skipped, terms))
    };
    let fma = printer.precision.function("fma");
    let result = printer.result(item, &place(first * columns, [(index(0), columns), (index(1), 1)]));
    let ty = printer.c_type(item);
    // i0: rows, i1: columns, i2: terms.
    let x = at(left, first * strides[0], [(0, strides[0]), (2, strides[1])]);
    let y = at(right, 0, [(2, strides[2]), (1, strides[3])]);
    let at_first = |text: &str| text.replace("i2", "0");
    loops(&[rows, columns], 0, lines, |lines| {
        lines.line(format!("{ty} sum = {} * {};", at_first(&x), at_first(&y)));
        lines.block(&format!("for (size_t i2 = 1; i2 < {inner}; i2++)"), |lines| {
            lines.line(format!("sum = {fma}({x}, {y}, sum);"));
        });
        match to {
            None => lines.line(format!("{result} = sum;")),
            Some(to) => lines.line(format!("{result} = {} + sum;", at(to, 0, [(0, columns), (1, 1)]))),
        }
    });
}
