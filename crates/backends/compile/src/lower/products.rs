//! Products of matrices and vectors: each element is summed from left to right with fused multiply-adds.

use std::ops::Range;

use eddy_imp::{Argument, Block, Expr, Intrinsic, Kernel, Type};

use super::schedule::Item;
use super::write::Writer;
use crate::nest::{index, loops, place};
use crate::runtime::LARGE;
use crate::view::View;

/// `matmul`, with vectors as matrices of one row or one column.
struct Product<'a> {
    /// The array that the product is added to.
    to: Option<&'a View>,
    left: &'a View,
    right: &'a View,
    /// The first row, and the number of rows.
    first: usize,
    rows: usize,
    inner: usize,
    columns: usize,
    /// The strides of the left operand along rows and terms, and of the right one along terms and columns.
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

    /// The same product, with only these rows.
    fn with_rows(self, rows: Option<&Range<usize>>) -> Product<'a> {
        match rows {
            // A vector times a matrix has one row, which its shape does not show.
            Some(range) if self.left.shape.len() == 2 => {
                Product { first: range.start, rows: range.len(), ..self }
            }
            _ => self,
        }
    }
}

/// The number of temporary elements of a product: a right operand whose rows are not contiguous is copied to
/// row-major order.
pub(super) fn workspace(item: &Item<'_>) -> usize {
    let Product { inner, columns, strides, .. } = Product::new(item);
    if columns > 1 && strides[3] != 1 { inner * columns } else { 0 }
}

/// Where the elements of an operand begin, after the skipped ones.
fn start(writer: &Writer<'_>, view: &View, skipped: usize) -> Option<Argument> {
    writer.homes.memory(view).map(|array| array.index(view.offset + skipped).into())
}

pub(super) fn matmul(writer: &Writer<'_>, item: &Item<'_>, block: &mut Block) {
    let product = Product::new(item);
    if product.inner == 0 {
        let to = product.to.map(|to| writer.homes.element(to, place(to.offset, [(index(0), 1)])));
        let sum = to.map_or(Expr::num(0.0), |to| to + Expr::num(0.0));
        loops(&[product.rows * product.columns], 0, block, |block| writer.set(item, index(0), sum, block));
        return;
    }
    if product.rows * product.columns == 0 {
        return;
    }
    let product = product.with_rows(writer.rows_read.get(&item.statement.var));
    if !kernel(writer, item, &product, block) {
        element_by_element(writer, item, &product, block);
    }
}

/// Calls the tiled product. The rows of the right operand must be contiguous, or the columns of the left
/// operand if the right one is a vector; otherwise the operand is copied first.
fn kernel(writer: &Writer<'_>, item: &Item<'_>, product: &Product<'_>, block: &mut Block) -> bool {
    let Product { to, left, right, first, rows, inner, columns, strides } = *product;
    if item.statement.ty.shape.is_scalar() {
        return false;
    }
    let [a_row, a_term, b_term, b_column] = strides;
    let (a, b) = (start(writer, left, first * a_row), start(writer, right, 0));
    let (Some(a), Some(b)) = (a, b) else { return false };
    let is_large = rows * inner * columns >= LARGE;
    let c: Argument = writer.array(item).index(first * columns).into();
    let plus = to.map(|to| start(writer, to, 0).expect("the operand that a product is added to is an array"));
    let call = |sizes: [usize; 3],
                (a, a_row, a_term): (Argument, usize, usize),
                (b, b_term): (Argument, usize),
                row: usize,
                block: &mut Block| {
        let mut arguments: Vec<Argument> = sizes.map(Argument::from).into();
        arguments.extend([a, a_row.into(), a_term.into(), b, b_term.into(), c.clone(), row.into()]);
        // The added array has the layout of the result.
        let kernel = match plus.clone() {
            None => Kernel::Matmul,
            Some(plus) => {
                arguments.extend([plus, row.into()]);
                Kernel::MatmulPlus
            }
        };
        block.kernel(kernel, is_large, arguments);
    };
    if columns > 1 && b_column == 1 {
        call([rows, inner, columns], (a, a_row, a_term), (b, b_term), columns, block);
        return true;
    }
    if let Some(packed) = writer.homes.workspace(item.statement.var) {
        let packed: Argument = packed.index(0).into();
        let sizes = [inner, columns].map(Argument::from);
        let strides = [b_term, b_column].map(Argument::from);
        let arguments = sizes.into_iter().chain([b]).chain(strides).chain([packed.clone()]).collect();
        block.kernel(Kernel::Pack, false, arguments);
        call([rows, inner, columns], (a, a_row, a_term), (packed, columns), columns, block);
        return true;
    }
    // A matrix times a vector is the vector times the transposed matrix.
    if columns == 1 && a_row == 1 {
        call([1, inner, rows], (b, 0, b_term), (a, a_term), 0, block);
        return true;
    }
    false
}

/// Loops with sums in memory, for operands with other strides.
fn element_by_element(writer: &Writer<'_>, item: &Item<'_>, product: &Product<'_>, block: &mut Block) {
    let Product { to, left, right, first, rows, inner, columns, strides } = *product;
    let at = |view: &View, skipped: usize, terms: [(Expr, usize); 2]| {
        writer.homes.element(view, place(view.offset + skipped, terms))
    };
    // i0: rows, i1: columns, i2: terms.
    let x = |term: Expr| at(left, first * strides[0], [(index(0), strides[0]), (term, strides[1])]);
    let y = |term: Expr| at(right, 0, [(term, strides[2]), (index(1), strides[3])]);
    loops(&[rows, columns], 0, block, |block| {
        block.variable("sum", Type::Num, x(0.into()) * y(0.into()));
        block.count("i2", Type::Size, 1, inner, |block| {
            let term = Expr::Call(Intrinsic::Fma, vec![x(index(2)), y(index(2)), Expr::var("sum")]);
            block.assign("sum", term);
        });
        let sum = match to {
            None => Expr::var("sum"),
            Some(to) => at(to, 0, [(index(0), columns), (index(1), 1)]) + Expr::var("sum"),
        };
        writer.set(item, place(first * columns, [(index(0), columns), (index(1), 1)]), sum, block);
    });
}
