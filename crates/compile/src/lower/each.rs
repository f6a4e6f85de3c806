//! Operations on each stream of a batch. The values of an element in all streams are neighbours, so loops along the streams are innermost.
//!
//! Products of matrices and convolutions are sums of products, with rows, columns and terms, whose numbers and strides say which operation it is
//! ([`Sums`]). Terms come in the order of the tensor crate.

use eddy_tensor::{Each, Op};

use super::print::Printer;
use super::schedule::Item;
use super::{reductions, structure};
use crate::lines::Lines;
use crate::nest::{loops, place};
use crate::view::{Root, View, row_major};

/// Writes an operation that knows no further axis; those that only move elements are seen through.
pub(super) fn each(printer: &Printer<'_>, item: &Item<'_>, each: &Each, lines: &mut Lines) {
    match (each.op(), item.reads.as_slice()) {
        (Op::Argmax, _) => reductions::argmax_of_streams(printer, item, lines),
        (Op::Onehot(n), _) => structure::onehot(printer, item, *n, lines),
        (op, [left, right]) => {
            let factors = [Factor::new(left, each.is_wide()[0]), Factor::new(right, each.is_wide()[1])];
            sums(printer, item, op, factors, lines);
        }
        (op, _) => unreachable!("it knows a further axis: {op:?}"),
    }
}

fn sums(printer: &Printer<'_>, item: &Item<'_>, op: &Op, [left, right]: [Factor<'_>; 2], lines: &mut Lines) {
    let shape = &item.statement.ty.shape;
    let n_terms = match op {
        Op::Conv2d | Op::Conv2dDx => right.view.shape[2],
        Op::Conv2dDk => 1,
        _ => right.view.shape[0],
    };
    let size: usize = shape.iter().product();
    if n_terms == 0 || size == 0 {
        let (zero, result) = (printer.precision.number(0.0), printer.result(item, "i0"));
        return loops(&[size], 0, lines, |lines| lines.line(format!("{result} = {zero};")));
    }
    match op {
        Op::Matmul => matmul(left, right, shape).write(printer, item, lines),
        Op::Conv2d => loops(&shape[..1], 0, lines, |lines| {
            conv2d(left, right, shape).write(printer, item, lines);
        }),
        Op::Conv2dDk => loops(&shape[..2], 0, lines, |lines| {
            conv2d_dk(left, right, shape).write(printer, item, lines);
        }),
        Op::Conv2dDx => loops(&shape[..2], 0, lines, |lines| {
            conv2d_dx(left, right, shape, lines).write(printer, item, lines);
        }),
        op => unreachable!("no sum of products: {op:?}"),
    }
}

/// Sums of products of elements of two factors. The first two indices, i0 and i1, are those of loops around it.
struct Sums<'a> {
    rows: usize,
    columns: usize,
    /// How many terms there are along each of three indices, as C.
    terms: [String; 3],
    left: Factor<'a>,
    right: Factor<'a>,
    /// Where the result begins, and how far apart its rows and columns are.
    start: String,
    row: usize,
    column: usize,
}

/// What is multiplied.
struct Factor<'a> {
    view: &'a View,
    /// Where it begins, as C.
    start: String,
    /// From row to row of the left factor, from column to column of the right one.
    step: usize,
    /// From term to term, along each index.
    terms: [isize; 3],
    /// Whether it has an axis for the streams, and how far it is from one to the next.
    is_wide: bool,
    stream: usize,
}

impl<'a> Factor<'a> {
    fn new(view: &'a View, is_wide: bool) -> Factor<'a> {
        let stream = if is_wide { view.slice().2 } else { 0 };
        Factor { view, start: view.offset.to_string(), step: 0, terms: [0; 3], is_wide, stream }
    }

    /// The same, beginning at an index along each of the first axes.
    fn at(self, indices: &[&str]) -> Factor<'a> {
        let indices = indices.iter().map(|index| (*index).to_string()).zip(self.view.strides.iter().copied());
        Factor { start: place(self.view.offset, indices), ..self }
    }

    /// The same, with strides along these axes: rows or columns, and terms.
    fn along(self, step: Option<usize>, terms: [Option<usize>; 3]) -> Factor<'a> {
        let stride = |axis: Option<usize>| axis.map_or(0, |axis| self.view.strides[axis]);
        let step = stride(step);
        let terms = terms.map(|axis| stride(axis).cast_signed());
        Factor { step, terms, ..self }
    }

    /// The element of row or column `i`, at term t0, t1, t2, in stream i4.
    fn element(&self, printer: &Printer<'_>, i: &str) -> String {
        let [t0, t1, t2] = self.terms;
        let (start, step, stream) = (&self.start, self.step, self.stream);
        let terms = format!("(size_t)({t0} * t0 + {t1} * t1 + {t2} * t2)");
        let at = format!("{start} + {step} * {i} + {stream} * i4 + {terms}");
        printer.homes.element(self.view, &at)
    }

    fn pointer(&self, printer: &Printer<'_>) -> Option<String> {
        let is_array = matches!(self.view.root, Root::Memory(_) | Root::Var(_));
        (is_array && self.stream <= 1).then(|| format!("&{}", printer.homes.element(self.view, &self.start)))
    }

    fn strides(&self) -> String {
        let [t0, t1, t2] = self.terms;
        format!("{}, {t0}, {t1}, {t2}, {}", self.step, self.stream)
    }
}

impl Sums<'_> {
    /// A call of the runtime, which computes many sums at once; or loops with one after the other, where the streams of a factor lie otherwise.
    fn write(&self, printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
        let Sums { rows, columns, terms, left, right, start, row, column } = self;
        let streams = *item.statement.ty.shape.last().expect("it has an axis for the streams");
        if let (Some(a), Some(b)) = (left.pointer(printer), right.pointer(printer)) {
            let (function, array) = (printer.precision.function("each_sums"), printer.array(item));
            let (a_strides, b_strides, terms) = (left.strides(), right.strides(), terms.join(", "));
            return lines.line(format!(
                "{function}({streams}, {rows}, {columns}, {terms}, {a}, {a_strides}, {b}, {b_strides}, &{array}[{start}], {row}, {column});"
            ));
        }
        let (ty, fma, zero) =
            (printer.c_type(item), printer.precision.function("fma"), printer.precision.number(-0.0));
        let result = printer.result(item, &format!("{start} + {row} * i2 + {column} * i3 + i4"));
        loops(&[*rows, *columns, streams], 2, lines, |lines| {
            lines.line(format!("{ty} sum = {zero};"));
            let [n0, n1, n2] = terms;
            lines.line(format!("for (ptrdiff_t t0 = 0; t0 < {n0}; t0++)"));
            lines.line(format!("for (ptrdiff_t t1 = 0; t1 < {n1}; t1++)"));
            lines.line(format!("for (ptrdiff_t t2 = 0; t2 < {n2}; t2++)"));
            let (x, y) = (left.element(printer, "i2"), right.element(printer, "i3"));
            lines.line(format!("  sum = {fma}({x}, {y}, sum);"));
            lines.line(format!("{result} = sum;"));
        });
    }
}

fn literals<const N: usize>(sizes: [usize; N]) -> [String; N] {
    sizes.map(|size| size.to_string())
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
    Sums {
        rows,
        columns,
        terms,
        left,
        right,
        start: "0".to_string(),
        row: columns * streams,
        column: streams,
    }
}

/// `result[r,q,o] = Σᵢⱼ꜀ image[r+i,q+j,c] · kernel[i,j,c,o]`, for the row r = i0.
fn conv2d<'a>(image: Factor<'a>, kernel: Factor<'a>, shape: &[usize]) -> Sums<'a> {
    let own = row_major(shape);
    let terms = literals([kernel.view.shape[0], kernel.view.shape[1], kernel.view.shape[2]]);
    let left = image.at(&["i0"]).along(Some(1), [Some(0), Some(1), Some(2)]);
    let right = kernel.along(Some(3), [Some(0), Some(1), Some(2)]);
    let start = place(0, [("i0".to_string(), own[0])]);
    Sums { rows: shape[1], columns: shape[2], terms, left, right, start, row: own[1], column: own[2] }
}

/// `result[i,j,c,o] = Σᵣ_q image[r+i,q+j,c] · g[r,q,o]`, for the place i = i0, j = i1.
fn conv2d_dk<'a>(image: Factor<'a>, g: Factor<'a>, shape: &[usize]) -> Sums<'a> {
    let own = row_major(shape);
    let terms = literals([1, g.view.shape[0], g.view.shape[1]]);
    let left = image.at(&["i0", "i1"]).along(Some(2), [None, Some(0), Some(1)]);
    let right = g.along(Some(2), [None, Some(0), Some(1)]);
    let start = place(0, [("i0".to_string(), own[0]), ("i1".to_string(), own[1])]);
    Sums { rows: shape[2], columns: shape[3], terms, left, right, start, row: own[2], column: own[3] }
}

/// `result[y,x,c] = Σᵣ_q_o kernel[y-r,x-q,c,o] · g[r,q,o]`, for the pixel y = i0, x = i1: over all r and q for which the place in the kernel is one.
fn conv2d_dx<'a>(kernel: Factor<'a>, g: Factor<'a>, shape: &[usize], lines: &mut Lines) -> Sums<'a> {
    let own = row_major(shape);
    for (axis, first, n) in [(0, "r", "nr"), (1, "q", "nq")] {
        let (size, n_pixels) = (kernel.view.shape[axis], g.view.shape[axis]);
        lines.line(format!("const size_t {first} = i{axis} < {size} ? 0 : i{axis} - {};", size - 1));
        let end = format!("(i{axis} < {n_pixels} ? i{axis} + 1 : {n_pixels})");
        lines.line(format!("const ptrdiff_t {n} = (ptrdiff_t)({end} - {first});"));
    }
    let terms = ["nr", "nq", &g.view.shape[2].to_string()].map(str::to_string);
    let mut left = kernel.at(&["(i0 - r)", "(i1 - q)"]).along(Some(2), [Some(0), Some(1), Some(3)]);
    left.terms = [-left.terms[0], -left.terms[1], left.terms[2]];
    let right = g.at(&["r", "q"]).along(None, [Some(0), Some(1), Some(2)]);
    let start = place(0, [("i0".to_string(), own[0]), ("i1".to_string(), own[1])]);
    Sums { rows: shape[2], columns: 1, terms, left, right, start, row: own[2], column: 0 }
}
