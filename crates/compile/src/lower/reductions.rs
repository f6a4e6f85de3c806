//! Sums, means and maxima along axes, from left to right.

use eddy_tensor::{Op, Scalar, Shape};

use super::expression::Elements;
use super::print::{Printer, site};
use super::schedule::Item;
use crate::lines::Lines;
use crate::nest::{index, loops, loops_over, place};
use crate::view::{Root, View, row_major};

/// The axes of an operand around the one that is reduced: indices and sizes.
struct Axes<'a> {
    view: &'a View,
    /// The axes that are reduced, all or one.
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

    /// All axes but the last one, along which the streams of a batch lie.
    fn of_streams(view: &'a View) -> Axes<'a> {
        let last = view.shape.len() - 1;
        Axes { view, reduced: (0..last).collect(), outer: Vec::new(), inner: vec![last] }
    }

    /// The axes that `reduce` sums over: those that have size 1 in the result, or are missing there.
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

    /// Where an element is; the index of each axis is `i` and its number, unless it is fixed.
    fn place(&self, fixed: &[(usize, &str)]) -> String {
        let terms = (0..self.view.shape.len()).map(|axis| {
            let at = fixed.iter().find(|(other, _)| *other == axis).map(|(_, text)| (*text).to_string());
            (at.unwrap_or_else(|| index(axis)), self.view.strides[axis])
        });
        let terms: Vec<(String, usize)> = terms.filter(|(at, _)| at != "0").collect();
        place(self.view.offset, terms)
    }

    /// Where the result is.
    fn target(&self) -> String {
        let kept: Vec<usize> = self.outer.iter().chain(&self.inner).copied().collect();
        let strides = row_major(&self.sizes(&kept));
        place(0, kept.iter().map(|axis| index(*axis)).zip(strides))
    }
}

/// Rows of numbers, each of which is to be summed.
struct Rows<'a> {
    view: &'a View,
    rows: usize,
    terms: usize,
    /// From row to row, and from term to term.
    strides: [usize; 2],
}

impl Axes<'_> {
    /// What is reduced as rows, if what is kept comes before it and both are evenly spaced.
    fn rows(&self) -> Option<Rows<'_>> {
        let is_before = self.outer.last() < self.reduced.first() || self.outer.is_empty();
        let [(rows, row), (terms, term)] = [self.evenly(&self.outer)?, self.evenly(&self.reduced)?];
        let is_worth_it = self.inner.is_empty() && is_before && rows > 1 && terms > 1;
        let is_memory = matches!(self.view.root, Root::Memory(_) | Root::Var(_));
        (is_worth_it && is_memory).then_some(Rows { view: self.view, rows, terms, strides: [row, term] })
    }

    /// Some neighbouring axes as one: its size and its stride.
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
    fn sums(&self, printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
        let Rows { view, rows, terms, strides: [row, term] } = self;
        let first = printer.homes.element(view, &view.offset.to_string());
        let (function, result) = (printer.precision.function("row_sums"), printer.array(item));
        lines.line(format!("{function}({rows}, {terms}, &{first}, {row}, {term}, {result});"));
    }
}

fn plus(printer: &Printer<'_>, item: &Item<'_>, x: &str, y: &str) -> String {
    let site = site(item);
    let elements = Elements { precision: printer.precision, operand: item.reads[0].scalar, site: &site };
    elements.expression(&Op::Add, &[x.to_string(), y.to_string()])
}

/// What is added to: the sum of one term is that term.
fn neutral(printer: &Printer<'_>, scalar: Scalar, n_terms: usize) -> String {
    match scalar {
        Scalar::Int => "0".to_string(),
        _ if n_terms == 0 => printer.precision.number(0.0),
        _ => printer.precision.number(-0.0),
    }
}

/// The sum along an axis, or of all; `after` is what becomes of it.
pub(super) fn sum(
    printer: &Printer<'_>,
    item: &Item<'_>,
    axis: Option<usize>,
    after: Option<&dyn Fn(&str) -> String>,
    lines: &mut Lines,
) {
    let view = &item.reads[0];
    let axes = Axes::new(view, axis);
    let element = |fixed: &[(usize, &str)]| printer.homes.element(view, &axes.place(fixed));
    let finish = |sum: &str| after.map_or_else(|| sum.to_string(), |after| after(sum));
    let start = neutral(printer, view.scalar, axes.n());
    let target = printer.result(item, &axes.target());
    if let Some(rows) = axes.rows().filter(|_| view.scalar == Scalar::Num) {
        rows.sums(printer, item, lines);
        if after.is_some() {
            loops_over(&axes.outer, &axes.sizes(&axes.outer), lines, |lines| {
                lines.line(format!("{target} = {};", finish(&target)));
            });
        }
        return;
    }
    if axes.inner.is_empty() {
        loops_over(&axes.outer, &axes.sizes(&axes.outer), lines, |lines| {
            lines.block("", |lines| {
                lines.line(format!("{} sum = {start};", printer.c_type(item)));
                loops_over(&axes.reduced, &axes.sizes(&axes.reduced), lines, |lines| {
                    lines.line(format!("sum = {};", plus(printer, item, "sum", &element(&[]))));
                });
                lines.line(format!("{target} = {};", finish("sum")));
            });
        });
        return;
    }
    // Along the inner axes additions are independent of each other and vectorise.
    let inner = axes.sizes(&axes.inner);
    loops_over(&axes.outer, &axes.sizes(&axes.outer), lines, |lines| {
        loops_over(&axes.inner, &inner, lines, |lines| lines.line(format!("{target} = {start};")));
        loops_over(&axes.reduced, &axes.sizes(&axes.reduced), lines, |lines| {
            loops_over(&axes.inner, &inner, lines, |lines| {
                lines.line(format!("{target} = {};", plus(printer, item, &target, &element(&[]))));
            });
        });
        if after.is_some() {
            loops_over(&axes.inner, &inner, lines, |lines| {
                lines.line(format!("{target} = {};", finish(&target)));
            });
        }
    });
}

#[allow(clippy::cast_precision_loss)] // a size is below 2^28
pub(super) fn mean(printer: &Printer<'_>, item: &Item<'_>, axis: Option<usize>, lines: &mut Lines) {
    let view = &item.reads[0];
    if view.shape.is_scalar() {
        let element = printer.homes.element(view, &view.offset.to_string());
        lines.line(format!("{} = {element};", printer.result(item, "0")));
        return;
    }
    let n = printer.precision.number(Axes::new(view, axis).n() as f64);
    sum(printer, item, axis, Some(&|sum| format!("{sum} / {n}")), lines);
}

/// The places of the first maximum of each slice: `best` is its position along the reduced axis, or among all elements.
fn first_maxima(printer: &Printer<'_>, axes: &Axes<'_>, lines: &mut Lines, found: impl Fn(&mut Lines)) {
    let view = axes.view;
    let kept: Vec<usize> = axes.outer.iter().chain(&axes.inner).copied().collect();
    let exceeds = match view.scalar {
        Scalar::Int => "eddy_int_exceeds".to_string(),
        _ => printer.precision.function("exceeds"),
    };
    let ty = printer.precision.c_type(view.scalar);
    loops_over(&kept, &axes.sizes(&kept), lines, |lines| {
        lines.block("", |lines| {
            let zeros: Vec<(usize, &str)> = axes.reduced.iter().map(|axis| (*axis, "0")).collect();
            lines.line(format!("{ty} max = {};", printer.homes.element(view, &axes.place(&zeros))));
            lines.line("size_t best = 0;");
            let strides = row_major(&axes.sizes(&axes.reduced));
            loops_over(&axes.reduced, &axes.sizes(&axes.reduced), lines, |lines| {
                let at = place(0, axes.reduced.iter().map(|axis| index(*axis)).zip(strides));
                let element = printer.homes.element(view, &axes.place(&[]));
                lines.line(format!("const {ty} next = {element};"));
                lines.line(format!("if ({exceeds}(next, max)) {{ max = next; best = {at}; }}"));
            });
            found(lines);
        });
    });
}

pub(super) fn max(printer: &Printer<'_>, item: &Item<'_>, axis: Option<usize>, lines: &mut Lines) {
    let axes = Axes::new(&item.reads[0], axis);
    if !axes.inner.is_empty() && item.reads[0].scalar == Scalar::Num {
        return maxima_side_by_side(printer, item, &axes, lines);
    }
    first_maxima(printer, &axes, lines, |lines| {
        lines.line("(void)best;");
        lines.line(format!("{} = max;", printer.result(item, &axes.target())));
    });
}

/// Along the inner axes maxima are independent of each other, as sums are.
fn maxima_side_by_side(printer: &Printer<'_>, item: &Item<'_>, axes: &Axes<'_>, lines: &mut Lines) {
    let element = |fixed: &[(usize, &str)]| printer.homes.element(axes.view, &axes.place(fixed));
    let (target, inner) = (printer.result(item, &axes.target()), axes.sizes(&axes.inner));
    let maximum = printer.precision.function("maximum");
    let zeros: Vec<(usize, &str)> = axes.reduced.iter().map(|axis| (*axis, "0")).collect();
    loops_over(&axes.outer, &axes.sizes(&axes.outer), lines, |lines| {
        loops_over(&axes.inner, &inner, lines, |lines| {
            lines.line(format!("{target} = {};", element(&zeros)));
        });
        loops_over(&axes.reduced, &axes.sizes(&axes.reduced), lines, |lines| {
            loops_over(&axes.inner, &inner, lines, |lines| {
                lines.line(format!("{target} = {maximum}({target}, {});", element(&[])));
            });
        });
    });
}

pub(super) fn argmax(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    positions(printer, item, &Axes::new(&item.reads[0], None), lines);
}

/// The first maximum of each stream of a batch.
pub(super) fn argmax_of_streams(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    positions(printer, item, &Axes::of_streams(&item.reads[0]), lines);
}

fn positions(printer: &Printer<'_>, item: &Item<'_>, axes: &Axes<'_>, lines: &mut Lines) {
    first_maxima(printer, axes, lines, |lines| {
        lines.line(format!("{} = (int64_t)best;", printer.result(item, &axes.target())));
    });
}

pub(super) fn max_mask(printer: &Printer<'_>, item: &Item<'_>, axis: Option<usize>, lines: &mut Lines) {
    let shape = &item.statement.ty.shape;
    let (one, zero) = (printer.precision.number(1.0), printer.precision.number(0.0));
    if shape.is_scalar() {
        lines.line(format!("{} = {one};", printer.result(item, "0")));
        return;
    }
    let size: usize = shape.iter().product();
    let array = printer.array(item);
    loops(&[size], 0, lines, |lines| lines.line(format!("{array}[i0] = {zero};")));
    if size == 0 {
        return;
    }
    let strides = row_major(shape);
    let axes = Axes::new(&item.reads[0], axis);
    first_maxima(printer, &axes, lines, |lines| {
        let terms = (0..shape.len()).filter(|axis| !axes.reduced.contains(axis));
        let mut terms: Vec<(String, usize)> = terms.map(|axis| (index(axis), strides[axis])).collect();
        terms.push(("best".to_string(), axis.map_or(1, |axis| strides[axis])));
        lines.line(format!("{array}[{}] = {one};", place(0, terms)));
    });
}

/// Exponentials along the last axis, scaled to sum 1.
pub(super) fn softmax(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    let view = &item.reads[0];
    let last = view.shape.len() - 1;
    let n = view.shape[last];
    if view.shape.iter().product::<usize>() == 0 {
        return;
    }
    let axes = Axes::new(view, Some(last));
    let array = printer.array(item);
    let strides = row_major(&view.shape);
    let target = place(0, (0..view.shape.len()).map(|axis| (index(axis), strides[axis])));
    let (ty, exceeds) = (printer.c_type(item), printer.precision.function("exceeds"));
    let element = printer.homes.element(view, &axes.place(&[]));
    loops_over(&axes.outer, &axes.sizes(&axes.outer), lines, |lines| {
        lines.block("", |lines| {
            lines.line(format!("{ty} max = {};", printer.homes.element(view, &axes.place(&[(last, "0")]))));
            loops_over(&[last], &[n], lines, |lines| {
                lines.line(format!("max = {exceeds}({element}, max) ? {element} : max;"));
            });
            loops_over(&[last], &[n], lines, |lines| {
                lines.line(format!(
                    "{array}[{target}] = {}({element} - max);",
                    printer.precision.function("exp")
                ));
            });
            lines.line(format!("{ty} sum = {};", printer.precision.number(-0.0)));
            loops_over(&[last], &[n], lines, |lines| lines.line(format!("sum += {array}[{target}];")));
            loops_over(&[last], &[n], lines, |lines| lines.line(format!("{array}[{target}] /= sum;")));
        });
    });
}

/// The elements that stretching would make equal, summed in row-major order.
pub(super) fn sum_down(printer: &Printer<'_>, item: &Item<'_>, lines: &mut Lines) {
    let (view, shape) = (&item.reads[0], &item.statement.ty.shape);
    let n_terms: usize = view.shape.iter().product();
    let size: usize = shape.iter().product();
    if let Some(rows) = Axes::summed_down(view, shape).rows().filter(|_| view.scalar == Scalar::Num) {
        rows.sums(printer, item, lines);
        return;
    }
    let missing = view.shape.len() - shape.len();
    let own = row_major(shape);
    let strides = (0..view.shape.len()).map(|axis| match axis.checked_sub(missing) {
        Some(kept) if shape[kept] != 1 => own[kept],
        _ => 0,
    });
    let target = place(0, (0..view.shape.len()).map(index).zip(strides));
    let start = neutral(printer, view.scalar, if view.shape == *shape { 1 } else { n_terms });
    loops(&[size], 0, lines, |lines| lines.line(format!("{} = {start};", printer.result(item, "i0"))));
    let all: Vec<usize> = (0..view.shape.len()).collect();
    let element = printer.homes.element(view, &Axes::new(view, None).place(&[]));
    let result = printer.result(item, &target);
    loops_over(&all, &view.shape, lines, |lines| {
        lines.line(format!("{result} = {};", plus(printer, item, &result, &element)));
    });
}
