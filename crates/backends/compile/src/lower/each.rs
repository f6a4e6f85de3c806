//! Operations on each stream of a batch. The values of an element in all streams are contiguous, so loops
//! along the streams are innermost.
//!
//! Matrix products and convolutions are sums of products over rows, columns and terms, whose numbers and
//! strides determine the operation ([`Sums`]). Terms are in the order of the tensor crate.

use eddy_imp::{Argument, Block, Expr, Intrinsic, Kernel, Type};
use eddy_tensor::Each;

use super::schedule::Item;
use super::write::Writer;
use super::{reductions, rows, structure};
use crate::nest::{index, loops, place};
use crate::operation::{Form, Loops, SumOfProducts, form};
use crate::view::{View, row_major};

/// Writes an operation of fixed rank; operations that only move elements become views.
#[deny(clippy::wildcard_enum_match_arm)]
pub(super) fn each(writer: &Writer<'_>, item: &Item<'_>, each: &Each, block: &mut Block) {
    let Form::Loops(of) = form(each.op()) else {
        unreachable!("views and loops over elements handle the axis of streams: {:?}", each.op())
    };
    match of {
        Loops::Argmax => reductions::argmax_of_streams(writer, item, block),
        Loops::Onehot(n) => structure::onehot(writer, item, n, block),
        Loops::Row => rows::row(writer, item, each.is_wide()[0], block),
        Loops::Place(n) => rows::place_row(writer, item, n, each.is_wide()[1], block),
        Loops::Products(op) => {
            let [left, right] = item.reads.as_slice() else { unreachable!("a product has two factors") };
            let factors = [Factor::new(left, each.is_wide()[0]), Factor::new(right, each.is_wide()[1])];
            sums(writer, item, op, factors, block);
        }
        Loops::Sum(_)
        | Loops::Mean(_)
        | Loops::Max(_)
        | Loops::MaxMask(_)
        | Loops::Softmax
        | Loops::SumDown
        | Loops::Chain
        | Loops::Reshape(_)
        | Loops::Pad { .. }
        | Loops::Fold { .. }
        | Loops::Each(_)
        | Loops::Call => unreachable!("views and loops over elements handle the axis of streams: {of:?}"),
    }
}

#[deny(clippy::wildcard_enum_match_arm)]
fn sums(
    writer: &Writer<'_>,
    item: &Item<'_>,
    op: SumOfProducts,
    [left, right]: [Factor<'_>; 2],
    block: &mut Block,
) {
    let shape = &item.statement.ty.shape;
    let n_terms = match op {
        SumOfProducts::Conv2d | SumOfProducts::Conv2dDx => right.view.shape[2],
        SumOfProducts::Conv2dDk => 1,
        SumOfProducts::Matmul => right.view.shape[0],
    };
    let size: usize = shape.iter().product();
    if n_terms == 0 || size == 0 {
        return loops(&[size], 0, block, |block| writer.set(item, index(0), Expr::num(0.0), block));
    }
    match op {
        SumOfProducts::Matmul => matmul(left, right, shape).write(writer, item, block),
        SumOfProducts::Conv2d => loops(&shape[..1], 0, block, |block| {
            conv2d(left, right, shape).write(writer, item, block);
        }),
        SumOfProducts::Conv2dDk => loops(&shape[..2], 0, block, |block| {
            conv2d_dk(left, right, shape).write(writer, item, block);
        }),
        SumOfProducts::Conv2dDx => loops(&shape[..2], 0, block, |block| {
            conv2d_dx(left, right, shape, block).write(writer, item, block);
        }),
    }
}

/// Sums of products of elements of two factors. The first two indices, i0 and i1, belong to enclosing loops.
struct Sums<'a> {
    rows: usize,
    columns: usize,
    /// The number of terms along each of three indices.
    terms: [Expr; 3],
    left: Factor<'a>,
    right: Factor<'a>,
    /// The start of the result, and the strides of its rows and columns.
    start: Expr,
    row: usize,
    column: usize,
}

struct Factor<'a> {
    view: &'a View,
    start: Expr,
    /// The stride between rows of the left factor, or columns of the right factor.
    step: usize,
    /// The stride between terms, along each index.
    terms: [i64; 3],
    /// Whether it has an axis for the streams, and the stride between streams.
    is_wide: bool,
    stream: usize,
}

impl<'a> Factor<'a> {
    fn new(view: &'a View, is_wide: bool) -> Factor<'a> {
        let stream = if is_wide { view.slice().2 } else { 0 };
        Factor { view, start: view.offset.into(), step: 0, terms: [0; 3], is_wide, stream }
    }

    /// The same factor, starting at an index along each of the first axes.
    fn at(self, indices: &[Expr]) -> Factor<'a> {
        let indices = indices.iter().cloned().zip(self.view.strides.iter().copied());
        Factor { start: place(self.view.offset, indices), ..self }
    }

    /// The same factor, with strides along these axes: rows or columns, and terms.
    fn along(self, step: Option<usize>, terms: [Option<usize>; 3]) -> Factor<'a> {
        let stride = |axis: Option<usize>| axis.map_or(0, |axis| self.view.strides[axis]);
        let step = stride(step);
        let terms =
            terms.map(|axis| i64::try_from(stride(axis)).expect("a size of memory is far below 2^63"));
        Factor { step, terms, ..self }
    }

    /// The element of row or column `i`, at term t0, t1, t2, in stream i4.
    fn element(&self, writer: &Writer<'_>, i: Expr) -> Expr {
        let start = self.start.clone().cast(Type::Offset);
        let mut at = start + Expr::from(self.step) * i.cast(Type::Offset);
        at = at + Expr::from(self.stream) * index(4).cast(Type::Offset);
        for (number, stride) in self.terms.into_iter().enumerate() {
            at = at + Expr::from(stride) * Expr::var(term(number));
        }
        writer.homes.element(self.view, at)
    }

    fn pointer(&self, writer: &Writer<'_>) -> Option<Argument> {
        let array = writer.homes.memory(self.view).filter(|_| self.stream <= 1)?;
        Some(array.index(self.start.clone()).into())
    }

    fn strides(&self) -> impl Iterator<Item = Argument> {
        let terms = self.terms.map(Argument::from);
        [self.step.into()].into_iter().chain(terms).chain([self.stream.into()])
    }
}

/// The name of an index of terms.
fn term(number: usize) -> String {
    format!("t{number}")
}

impl Sums<'_> {
    /// Calls a kernel, which computes many sums at once, or writes plain loops if the streams of a factor
    /// have another stride.
    fn write(&self, writer: &Writer<'_>, item: &Item<'_>, block: &mut Block) {
        let Sums { rows, columns, terms, left, right, start, row, column } = self;
        let streams = *item.statement.ty.shape.last().expect("it has an axis for the streams");
        if let (Some(a), Some(b)) = (left.pointer(writer), right.pointer(writer)) {
            let result: Argument = writer.array(item).index(start.clone()).into();
            let mut arguments: Vec<Argument> = [streams, *rows, *columns].map(Argument::from).into();
            arguments.extend(terms.iter().cloned().map(Argument::from));
            arguments.push(a);
            arguments.extend(left.strides());
            arguments.push(b);
            arguments.extend(right.strides());
            arguments.extend([result, (*row).into(), (*column).into()]);
            return block.kernel(Kernel::EachSums, false, arguments);
        }
        loops(&[*rows, *columns, streams], 2, block, |block| {
            block.variable("sum", Type::Num, Expr::num(-0.0));
            let (x, y) = (left.element(writer, index(2)), right.element(writer, index(3)));
            let sum = Expr::Call(Intrinsic::Fma, vec![x, y, Expr::var("sum")]);
            let [n0, n1, n2] = terms.clone();
            block.count(term(0), Type::Offset, 0, n0, |block| {
                block.count(term(1), Type::Offset, 0, n1, |block| {
                    block.count(term(2), Type::Offset, 0, n2, |block| block.assign("sum", sum));
                });
            });
            let at = start.clone() + Expr::from(*row) * index(2) + Expr::from(*column) * index(3) + index(4);
            writer.set(item, at, Expr::var("sum"), block);
        });
    }
}

fn literals(sizes: [usize; 3]) -> [Expr; 3] {
    sizes.map(Expr::from)
}

/// `result[i,j] = Σₖ left[i,k] · right[k,j]`; a vector is a row on the left and a column on the right.
fn matmul<'a>(left: Factor<'a>, right: Factor<'a>, shape: &[usize]) -> Sums<'a> {
    let n_axes = |factor: &Factor<'_>| factor.view.shape.len() - usize::from(factor.is_wide);
    let is_matrix = [&left, &right].map(|factor| n_axes(factor) == 2);
    let inner = right.view.shape[0];
    let streams = shape[shape.len() - 1];
    let rows = if is_matrix[0] { left.view.shape[0] } else { 1 };
    let columns = if is_matrix[1] { right.view.shape[1] } else { 1 };
    let left = if is_matrix[0] {
        left.along(Some(0), [None, None, Some(1)])
    } else {
        left.along(None, [None, None, Some(0)])
    };
    let right = right.along(is_matrix[1].then_some(1), [None, None, Some(0)]);
    let terms = literals([1, 1, inner]);
    Sums { rows, columns, terms, left, right, start: 0.into(), row: columns * streams, column: streams }
}

/// `result[r,q,o] = Σᵢⱼ꜀ image[r+i,q+j,c] · kernel[i,j,c,o]`, for the row r = i0.
fn conv2d<'a>(image: Factor<'a>, kernel: Factor<'a>, shape: &[usize]) -> Sums<'a> {
    let own = row_major(shape);
    let terms = literals([kernel.view.shape[0], kernel.view.shape[1], kernel.view.shape[2]]);
    let left = image.at(&[index(0)]).along(Some(1), [Some(0), Some(1), Some(2)]);
    let right = kernel.along(Some(3), [Some(0), Some(1), Some(2)]);
    let start = place(0, [(index(0), own[0])]);
    Sums { rows: shape[1], columns: shape[2], terms, left, right, start, row: own[1], column: own[2] }
}

/// `result[i,j,c,o] = Σᵣ_q image[r+i,q+j,c] · g[r,q,o]`, for the position i = i0, j = i1.
fn conv2d_dk<'a>(image: Factor<'a>, g: Factor<'a>, shape: &[usize]) -> Sums<'a> {
    let own = row_major(shape);
    let terms = literals([1, g.view.shape[0], g.view.shape[1]]);
    let left = image.at(&[index(0), index(1)]).along(Some(2), [None, Some(0), Some(1)]);
    let right = g.along(Some(2), [None, Some(0), Some(1)]);
    let start = place(0, [(index(0), own[0]), (index(1), own[1])]);
    Sums { rows: shape[2], columns: shape[3], terms, left, right, start, row: own[2], column: own[3] }
}

/// `result[y,x,c] = Σᵣ_q_o kernel[y-r,x-q,c,o] · g[r,q,o]`, for the pixel y = i0, x = i1: over all r and q
/// for which the position is inside of the kernel.
fn conv2d_dx<'a>(kernel: Factor<'a>, g: Factor<'a>, shape: &[usize], block: &mut Block) -> Sums<'a> {
    let own = row_major(shape);
    for (axis, first, n) in [(0, "r", "nr"), (1, "q", "nq")] {
        let (size, n_pixels) = (kernel.view.shape[axis], g.view.shape[axis]);
        let is_below = index(axis).lt(size);
        block.constant(first, Type::Size, Expr::choice(is_below, 0, index(axis) - (size - 1)));
        let end = Expr::choice(index(axis).lt(n_pixels), index(axis) + 1, n_pixels);
        block.constant(n, Type::Offset, (end - Expr::var(first)).cast(Type::Offset));
    }
    let (r, q) = (|| Expr::var("r"), || Expr::var("q"));
    let terms = [Expr::var("nr"), Expr::var("nq"), g.view.shape[2].into()];
    let places = [index(0) - r(), index(1) - q()];
    let mut left = kernel.at(&places).along(Some(2), [Some(0), Some(1), Some(3)]);
    left.terms = [-left.terms[0], -left.terms[1], left.terms[2]];
    let right = g.at(&[r(), q()]).along(None, [Some(0), Some(1), Some(2)]);
    let start = place(0, [(index(0), own[0]), (index(1), own[1])]);
    Sums { rows: shape[2], columns: 1, terms, left, right, start, row: own[2], column: 0 }
}
