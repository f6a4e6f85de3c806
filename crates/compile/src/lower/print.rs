//! Code as text: declarations, conditions, and operations by their kinds.

use std::ops::Range;

use eddy_flow::VarId;
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::expression::{Elements, chosen};
use super::extents::rows_read;
use super::long_loops::LongLoops;
use super::map::Map;
use super::memory::{Home, Homes};
use super::prune::can_fail;
use super::schedule::{Action, ActionKind, Item, Scheduled};
use super::{Code, Right, convolution, each, products, reductions, structure};
use crate::lines::Lines;
use crate::nest::Nest;
use crate::precision::Precision;
use crate::view::{Root, View, is_moving};

/// What printers of operations share.
#[derive(Clone)]
pub(super) struct Printer<'a> {
    pub homes: &'a Homes,
    pub precision: Precision,
    /// The rows of products that are read, if those are not all.
    pub rows_read: FxHashMap<VarId, Range<usize>>,
    /// Scalars that are declared where they are computed.
    pub declared_in_place: FxHashSet<VarId>,
    /// Pointers, and the arrays that each may point to.
    pub pointers: &'a FxHashMap<String, [String; 2]>,
    /// Loops that are functions of their own.
    pub long_loops: &'a LongLoops,
}

/// Writes all actions; scalars that are not always computed are declared in front.
pub(super) fn print(
    code: &Code,
    scheduled: &Scheduled<'_>,
    homes: &Homes,
    precision: Precision,
    long_loops: &LongLoops,
) -> Lines {
    let (rows_read, declared_in_place) = (rows_read(code, scheduled), declared_in_place(scheduled));
    let printer =
        Printer { homes, precision, rows_read, declared_in_place, pointers: &code.pointers, long_loops };
    let mut lines = Lines::default();
    printer.declare_scalars(scheduled, &mut lines);
    let mut actions = scheduled.actions.as_slice();
    while let [first, ..] = actions {
        let n = actions.iter().take_while(|action| action.group == first.group).count();
        let conditions = scheduled.conditions[first.group].iter();
        let conditions: Vec<String> =
            conditions.map(|(view, truth)| condition(homes, view, *truth)).collect();
        lines.guarded(&conditions, |lines| {
            for action in &actions[..n] {
                printer.action(action, lines);
                exports(action, code, &printer, lines);
            }
        });
        actions = &actions[n..];
    }
    mention_conditions(scheduled, homes, &mut lines);
    lines
}

/// Conditions under which nothing happens, since all that would is seen through, are mentioned: compilers warn of what nobody reads.
fn mention_conditions(scheduled: &Scheduled<'_>, homes: &Homes, lines: &mut Lines) {
    let has_actions: FxHashSet<usize> = scheduled.actions.iter().map(|action| action.group).collect();
    let empty = scheduled.conditions.iter().enumerate().filter(|(group, _)| !has_actions.contains(group));
    let views = empty.flat_map(|(_, conditions)| conditions).map(|(view, _)| view);
    let mut names: Vec<String> =
        views.filter(|view| view.var().is_some()).map(|view| condition(homes, view, true)).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        lines.line(format!("(void){name};"));
    }
}

/// A scalar that must have this value.
pub(crate) fn condition(homes: &Homes, view: &View, truth: bool) -> String {
    let element = homes.element(view, &view.offset.to_string());
    if truth { element } else { format!("!{element}") }
}

/// Scalars that are computed whatever happens, by one expression.
fn declared_in_place(scheduled: &Scheduled<'_>) -> FxHashSet<VarId> {
    let is_always = |action: &&Action<'_>| scheduled.conditions[action.group].is_empty();
    let is_expression =
        |action: &&Action<'_>| matches!(&action.kind, ActionKind::Map(shape, _) if shape.is_empty());
    let actions = scheduled.actions.iter().filter(is_always).filter(is_expression);
    actions.flat_map(Action::items).map(|item| item.statement.var).collect()
}

/// Copies results to all places but the one where they were computed.
fn exports(action: &Action<'_>, code: &Code, printer: &Printer<'_>, lines: &mut Lines) {
    for item in action.items() {
        let statement = item.statement;
        let Some(places) = code.exports.get(&statement.var) else { continue };
        match printer.homes.home(statement.var) {
            Home::Scalar(name) => places.iter().for_each(|place| lines.line(format!("{place} = {name};"))),
            Home::Array(home) => {
                for place in places.iter().filter(|place| *place != home) {
                    let view = View::whole(Root::Memory(home.clone()), &statement.ty);
                    printer.copy(&view, place, 0, lines);
                }
            }
            Home::Loop(_) => unreachable!("what goes somewhere is not left in a loop"),
        }
    }
}

impl Printer<'_> {
    /// Scalars are declared once, before the conditions under which they are computed.
    fn declare_scalars(&self, scheduled: &Scheduled<'_>, lines: &mut Lines) {
        let items = scheduled.actions.iter().flat_map(Action::items);
        for item in items.filter(|item| !self.declared_in_place.contains(&item.statement.var)) {
            if let Home::Scalar(name) = self.homes.home(item.statement.var) {
                lines.line(format!("{} {name} = 0;", self.precision.c_type(item.statement.ty.scalar)));
                // It may be computed only because it can fail.
                if can_fail(item.statement) {
                    lines.line(format!("(void){name};"));
                }
            }
        }
    }

    fn action(&self, action: &Action<'_>, lines: &mut Lines) {
        match &action.kind {
            ActionKind::Map(shape, items) => Map::new(self, shape, items).print(lines),
            ActionKind::Other(item) => {
                lines.line(format!("/* {} */", item.statement.comment));
                self.other(item, lines);
            }
        }
    }

    pub fn expression(&self, item: &Item<'_>, reads: &[String]) -> String {
        let site = site(item);
        let operand = item.reads.first().map_or(item.statement.ty.scalar, |view| view.scalar);
        let elements = Elements { precision: self.precision, operand, site: &site };
        match &item.statement.right {
            Right::Copy(_) => reads[0].clone(),
            Right::Choice(..) | Right::Apply(Op::Where, _) => {
                chosen(self.precision, &item.statement.ty, reads)
            }
            Right::Accumulate(..) => unreachable!("products have loops of their own"),
            Right::Apply(op, _) if is_moving(op) => reads[0].clone(),
            Right::Apply(op, _) => elements.expression(op, reads),
        }
    }

    /// Elements into consecutive places of an array.
    pub fn copy(&self, view: &View, to: &str, offset: usize, lines: &mut Lines) {
        let ty = eddy_tensor::Type { scalar: view.scalar, shape: view.shape.clone() };
        let mut target = View::whole(Root::Memory(to.to_string()), &ty);
        target.offset = offset;
        let nest = Nest::new(&view.shape, &[view, &target]);
        nest.write(lines, |lines| {
            let element = self.homes.element(view, &nest.place(0));
            lines.line(format!("{to}[{}] = {element};", nest.place(1)));
        });
    }

    fn other(&self, item: &Item<'_>, lines: &mut Lines) {
        let op = match &item.statement.right {
            Right::Apply(op, _) => op,
            Right::Accumulate(..) => return products::matmul(self, item, lines),
            _ => unreachable!("others are loops over elements"),
        };
        match op {
            Op::Matmul => products::matmul(self, item, lines),
            Op::Sum(axis) => reductions::sum(self, item, *axis, None, lines),
            Op::Mean(axis) => reductions::mean(self, item, *axis, lines),
            Op::Max(axis) => reductions::max(self, item, *axis, lines),
            Op::MaxMask(axis) => reductions::max_mask(self, item, *axis, lines),
            Op::Argmax => reductions::argmax(self, item, lines),
            Op::Softmax => reductions::softmax(self, item, lines),
            Op::SumTo | Op::Reduce(_) => reductions::sum_down(self, item, lines),
            Op::Concat | Op::Stack => structure::chain(self, item, lines),
            Op::Reshape(_) => structure::reshape(self, item, lines),
            Op::Pad(lo, _) => structure::pad(self, item, *lo, lines),
            Op::Onehot(n) => structure::onehot(self, item, *n, lines),
            Op::Fold(axis, stride, _) => structure::fold(self, item, *axis, *stride, lines),
            Op::Conv2d => convolution::conv2d(self, item, lines),
            Op::Conv2dDx => convolution::conv2d_dx(self, item, lines),
            Op::Conv2dDk => convolution::conv2d_dk(self, item, lines),
            Op::Each(each) => each::each(self, item, each, lines),
            _ => unreachable!("an operation on elements, or one that moves them: {op:?}"),
        }
    }

    /// The array that a tensor result goes to.
    pub fn array(&self, item: &Item<'_>) -> String {
        match self.homes.home(item.statement.var) {
            Home::Array(text) => text.clone(),
            home => unreachable!("a tensor is in an array, not in {home:?}"),
        }
    }

    /// The element of a result at a place; a scalar has one.
    pub fn result(&self, item: &Item<'_>, place: &str) -> String {
        match self.homes.home(item.statement.var) {
            Home::Array(text) => format!("{text}[{place}]"),
            Home::Scalar(name) | Home::Loop(name) => name.clone(),
        }
    }

    /// The type of the elements of a result.
    pub fn c_type(&self, item: &Item<'_>) -> &'static str {
        self.precision.c_type(item.statement.ty.scalar)
    }
}

/// What says where something failed.
pub(super) fn site(item: &Item<'_>) -> String {
    format!("&error, {}", item.statement.site)
}
