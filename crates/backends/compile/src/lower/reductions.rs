//! Sums, means and maxima along axes, from left to right.

use eddy_imp::{Argument, Block, Expr, Intrinsic, Kernel, Type};
use eddy_tensor::{Op, Scalar, Shape};

use super::expression::Elements;
use super::schedule::Item;
use super::write::Writer;
use crate::nest::{index, loops, loops_over, place};
use crate::precision::element_type;
use crate::view::{Root, View, row_major};

/// The axes of an operand before, at and after the reduced one: indices and sizes.
struct Axes<'a> {
    view: &'a View,
    /// The reduced axes: one or all.
    reduced: Vec<usize>,
    outer: Vec<usize>,
    inner: Vec<usize>,
}

impl<'a> Axes<'a> {
    fn new(view: &'a View, axis: Option<usize>) -> Axes<'a> {
        let all: Vec<usize> = (0..view.shape.len()).collect();
        match axis {
            None => Axes { view, reduced: all, outer: Vec::new(), inner: Vec::new() },
            Some(axis) => Axes {
                view,
                reduced: vec![axis],
                outer: all[..axis].to_vec(),
                inner: all[axis + 1..].to_vec(),
            },
        }
    }

    /// All axes but the last one, which separates the streams of a batch.
    fn of_streams(view: &'a View) -> Axes<'a> {
        let last = view.shape.len() - 1;
        Axes { view, reduced: (0..last).collect(), outer: Vec::new(), inner: vec![last] }
    }

    /// The axes that `reduce` sums over: those of size 1 in the result, or missing there.
    fn summed_down(view: &'a View, shape: &Shape) -> Axes<'a> {
        let missing = view.shape.len() - shape.len();
        let is_kept = |axis: &usize| *axis >= missing && shape[*axis - missing] == view.shape[*axis];
        let (outer, reduced) = (0..view.shape.len()).partition(is_kept);
        Axes { view, reduced, outer, inner: Vec::new() }
    }

    fn n(&self) -> usize {
        self.reduced.iter().map(|axis| self.view.shape[*axis]).product()
    }

    fn sizes(&self, axes: &[usize]) -> Vec<usize> {
        axes.iter().map(|axis| self.view.shape[*axis]).collect()
    }

    /// The index of an element; the loop variable of each axis is `i` and its number.
    fn place(&self) -> Expr {
        place(self.view.offset, self.terms(0..self.view.shape.len()))
    }

    /// The index of the first of the reduced elements.
    fn first_place(&self) -> Expr {
        let kept = (0..self.view.shape.len()).filter(|axis| !self.reduced.contains(axis));
        place(self.view.offset, self.terms(kept))
    }

    fn terms(&self, axes: impl Iterator<Item = usize>) -> impl Iterator<Item = (Expr, usize)> {
        axes.map(|axis| (index(axis), self.view.strides[axis]))
    }

    /// The index of the result.
    fn target(&self) -> Expr {
        let kept: Vec<usize> = self.outer.iter().chain(&self.inner).copied().collect();
        let strides = row_major(&self.sizes(&kept));
        place(0, kept.iter().map(|axis| index(*axis)).zip(strides))
    }
}

/// Rows of numbers to be summed.
struct Rows<'a> {
    view: &'a View,
    rows: usize,
    terms: usize,
    /// The strides between rows and between terms.
    strides: [usize; 2],
}

impl Axes<'_> {
    /// The reduced elements as rows, if the kept axes come first and both are evenly spaced.
    fn rows(&self) -> Option<Rows<'_>> {
        let is_before = self.outer.last() < self.reduced.first() || self.outer.is_empty();
        let [(rows, row), (terms, term)] = [self.evenly(&self.outer)?, self.evenly(&self.reduced)?];
        let is_worth_it = self.inner.is_empty() && is_before && rows > 1 && terms > 1;
        let is_memory = matches!(self.view.root, Root::Memory(_) | Root::Var(_));
        (is_worth_it && is_memory).then_some(Rows { view: self.view, rows, terms, strides: [row, term] })
    }

    /// Merges adjacent axes: size and stride.
    fn evenly(&self, axes: &[usize]) -> Option<(usize, usize)> {
        let (mut size, mut stride) = (1, 0);
        for axis in axes.iter().rev().filter(|axis| self.view.shape[**axis] != 1) {
            if size == 1 {
                stride = self.view.strides[*axis];
            } else if self.view.strides[*axis] != size * stride {
                return None;
            }
            size *= self.view.shape[*axis];
        }
        Some((size, stride))
    }
}

impl Rows<'_> {
    fn sums(&self, writer: &Writer<'_>, item: &Item<'_>, block: &mut Block) {
        let Rows { view, rows, terms, strides: [row, term] } = self;
        let x = writer.homes.memory(view).expect("rows are in memory").index(view.offset);
        let result = writer.array(item).index(0);
        let arguments: Vec<Argument> =
            vec![(*rows).into(), (*terms).into(), x.into(), (*row).into(), (*term).into(), result.into()];
        block.kernel(Kernel::RowSums, false, arguments);
    }
}

fn plus(item: &Item<'_>, x: Expr, y: Expr) -> Expr {
    let elements = Elements { operand: item.reads[0].scalar, site: item.statement.site };
    elements.expression(&Op::Add, vec![x, y])
}

/// The initial value of a sum, such that the sum of one term is that term.
fn neutral(scalar: Scalar, n_terms: usize) -> Expr {
    match scalar {
        Scalar::Int => Expr::Int(0),
        _ if n_terms == 0 => Expr::num(0.0),
        _ => Expr::num(-0.0),
    }
}

/// The sum along an axis, or of all elements; `after` is applied to it.
pub(super) fn sum(
    writer: &Writer<'_>,
    item: &Item<'_>,
    axis: Option<usize>,
    after: Option<&dyn Fn(Expr) -> Expr>,
    block: &mut Block,
) {
    let view = &item.reads[0];
    let axes = Axes::new(view, axis);
    let element = || writer.homes.element(view, axes.place());
    let finish = |sum: Expr| match after {
        None => sum,
        Some(after) => after(sum),
    };
    let start = neutral(view.scalar, axes.n());
    let target = || writer.result(item, axes.target());
    let set = |value: Expr, block: &mut Block| writer.set(item, axes.target(), value, block);
    if let Some(rows) = axes.rows().filter(|_| view.scalar == Scalar::Num) {
        rows.sums(writer, item, block);
        if after.is_some() {
            loops_over(&axes.outer, &axes.sizes(&axes.outer), block, |block| set(finish(target()), block));
        }
        return;
    }
    if axes.inner.is_empty() {
        loops_over(&axes.outer, &axes.sizes(&axes.outer), block, |block| {
            block.scope(|block| {
                block.variable("sum", element_type(item.statement.ty.scalar), start);
                loops_over(&axes.reduced, &axes.sizes(&axes.reduced), block, |block| {
                    block.assign("sum", plus(item, Expr::var("sum"), element()));
                });
                set(finish(Expr::var("sum")), block);
            });
        });
        return;
    }
    // Along the inner axes additions are independent of each other and vectorise.
    let inner = axes.sizes(&axes.inner);
    loops_over(&axes.outer, &axes.sizes(&axes.outer), block, |block| {
        loops_over(&axes.inner, &inner, block, |block| set(start, block));
        loops_over(&axes.reduced, &axes.sizes(&axes.reduced), block, |block| {
            loops_over(&axes.inner, &inner, block, |block| set(plus(item, target(), element()), block));
        });
        if after.is_some() {
            loops_over(&axes.inner, &inner, block, |block| set(finish(target()), block));
        }
    });
}

#[allow(clippy::cast_precision_loss, reason = "a size is below 2^28")]
pub(super) fn mean(writer: &Writer<'_>, item: &Item<'_>, axis: Option<usize>, block: &mut Block) {
    let view = &item.reads[0];
    if view.shape.is_scalar() {
        return writer.set(item, 0.into(), writer.homes.first(view), block);
    }
    let n = Axes::new(view, axis).n() as f64;
    sum(writer, item, axis, Some(&|sum| sum / Expr::num(n)), block);
}

/// Finds the first maximum of each slice: `best` is its index along the reduced axis, or among all elements.
fn first_maxima(writer: &Writer<'_>, axes: &Axes<'_>, block: &mut Block, found: impl Fn(&mut Block)) {
    let view = axes.view;
    let kept: Vec<usize> = axes.outer.iter().chain(&axes.inner).copied().collect();
    let exceeds = match view.scalar {
        Scalar::Int => Intrinsic::IntExceeds,
        _ => Intrinsic::Exceeds,
    };
    let ty = element_type(view.scalar);
    loops_over(&kept, &axes.sizes(&kept), block, |block| {
        block.scope(|block| {
            block.variable("max", ty, writer.homes.element(view, axes.first_place()));
            block.variable("best", Type::Size, 0);
            let strides = row_major(&axes.sizes(&axes.reduced));
            loops_over(&axes.reduced, &axes.sizes(&axes.reduced), block, |block| {
                let at = place(0, axes.reduced.iter().map(|axis| index(*axis)).zip(strides));
                block.constant("next", ty, writer.homes.element(view, axes.place()));
                let is_next = Expr::Call(exceeds, vec![Expr::var("next"), Expr::var("max")]);
                block.when(is_next, |block| {
                    block.assign("max", Expr::var("next"));
                    block.assign("best", at);
                });
            });
            found(block);
        });
    });
}

pub(super) fn max(writer: &Writer<'_>, item: &Item<'_>, axis: Option<usize>, block: &mut Block) {
    let axes = Axes::new(&item.reads[0], axis);
    if !axes.inner.is_empty() && item.reads[0].scalar == Scalar::Num {
        return maxima_side_by_side(writer, item, &axes, block);
    }
    first_maxima(writer, &axes, block, |block| {
        writer.set(item, axes.target(), Expr::var("max"), block);
    });
}

/// Along the inner axes maxima are independent of each other, as sums are.
fn maxima_side_by_side(writer: &Writer<'_>, item: &Item<'_>, axes: &Axes<'_>, block: &mut Block) {
    let (target, inner) = (writer.result(item, axes.target()), axes.sizes(&axes.inner));
    let set = |value: Expr, block: &mut Block| writer.set(item, axes.target(), value, block);
    loops_over(&axes.outer, &axes.sizes(&axes.outer), block, |block| {
        loops_over(&axes.inner, &inner, block, |block| {
            set(writer.homes.element(axes.view, axes.first_place()), block);
        });
        loops_over(&axes.reduced, &axes.sizes(&axes.reduced), block, |block| {
            loops_over(&axes.inner, &inner, block, |block| {
                let element = writer.homes.element(axes.view, axes.place());
                set(Expr::Call(Intrinsic::Maximum, vec![target, element]), block);
            });
        });
    });
}

pub(super) fn argmax(writer: &Writer<'_>, item: &Item<'_>, block: &mut Block) {
    positions(writer, item, &Axes::new(&item.reads[0], None), block);
}

/// The first maximum of each stream of a batch.
pub(super) fn argmax_of_streams(writer: &Writer<'_>, item: &Item<'_>, block: &mut Block) {
    positions(writer, item, &Axes::of_streams(&item.reads[0]), block);
}

fn positions(writer: &Writer<'_>, item: &Item<'_>, axes: &Axes<'_>, block: &mut Block) {
    first_maxima(writer, axes, block, |block| {
        writer.set(item, axes.target(), Expr::var("best").cast(Type::Int), block);
    });
}

pub(super) fn max_mask(writer: &Writer<'_>, item: &Item<'_>, axis: Option<usize>, block: &mut Block) {
    let shape = &item.statement.ty.shape;
    if shape.is_scalar() {
        return writer.set(item, 0.into(), Expr::num(1.0), block);
    }
    let size: usize = shape.iter().product();
    let array = writer.array(item);
    loops(&[size], 0, block, |block| block.store(array.index(index(0)), Expr::num(0.0)));
    if size == 0 {
        return;
    }
    let strides = row_major(shape);
    let axes = Axes::new(&item.reads[0], axis);
    first_maxima(writer, &axes, block, |block| {
        let terms = (0..shape.len()).filter(|axis| !axes.reduced.contains(axis));
        let mut terms: Vec<(Expr, usize)> = terms.map(|axis| (index(axis), strides[axis])).collect();
        terms.push((Expr::var("best"), axis.map_or(1, |axis| strides[axis])));
        block.store(array.index(place(0, terms)), Expr::num(1.0));
    });
}

/// Exponentials along the last axis, scaled to sum 1.
pub(super) fn softmax(writer: &Writer<'_>, item: &Item<'_>, block: &mut Block) {
    let view = &item.reads[0];
    let last = view.shape.len() - 1;
    let n = view.shape[last];
    if view.shape.iter().product::<usize>() == 0 {
        return;
    }
    let axes = Axes::new(view, Some(last));
    let strides = row_major(&view.shape);
    let target = place(0, (0..view.shape.len()).map(|axis| (index(axis), strides[axis])));
    let target = writer.array(item).index(target);
    let element = || writer.homes.element(view, axes.place());
    let (max, sum) = (|| Expr::var("max"), || Expr::var("sum"));
    let along = |block: &mut Block, inner: &dyn Fn(&mut Block)| loops_over(&[last], &[n], block, inner);
    loops_over(&axes.outer, &axes.sizes(&axes.outer), block, |block| {
        block.scope(|block| {
            block.variable("max", Type::Num, writer.homes.element(view, axes.first_place()));
            along(block, &|block| {
                let is_larger = Expr::Call(Intrinsic::Exceeds, vec![element(), max()]);
                block.assign("max", Expr::choice(is_larger, element(), max()));
            });
            along(block, &|block| {
                block.store(&target, Expr::Call(Intrinsic::Exp, vec![element() - max()]));
            });
            block.variable("sum", Type::Num, Expr::num(-0.0));
            along(block, &|block| block.assign("sum", sum() + target.load()));
            along(block, &|block| block.store(&target, target.load() / sum()));
        });
    });
}

/// Sums the elements that broadcasting would make equal, in row-major order.
pub(super) fn sum_down(writer: &Writer<'_>, item: &Item<'_>, block: &mut Block) {
    let (view, shape) = (&item.reads[0], &item.statement.ty.shape);
    let n_terms: usize = view.shape.iter().product();
    let size: usize = shape.iter().product();
    if let Some(rows) = Axes::summed_down(view, shape).rows().filter(|_| view.scalar == Scalar::Num) {
        return rows.sums(writer, item, block);
    }
    let missing = view.shape.len() - shape.len();
    let own = row_major(shape);
    let strides = (0..view.shape.len()).map(|axis| match axis.checked_sub(missing) {
        Some(kept) if shape[kept] != 1 => own[kept],
        _ => 0,
    });
    let target = place(0, (0..view.shape.len()).map(index).zip(strides));
    let start = neutral(view.scalar, if view.shape == *shape { 1 } else { n_terms });
    loops(&[size], 0, block, |block| writer.set(item, index(0), start, block));
    let all: Vec<usize> = (0..view.shape.len()).collect();
    let element = writer.homes.element(view, Axes::new(view, None).place());
    loops_over(&all, &view.shape, block, |block| {
        let sum = plus(item, writer.result(item, target.clone()), element);
        writer.set(item, target, sum, block);
    });
}
