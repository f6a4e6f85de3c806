//! Writes code as statements of `imp`: declarations, conditions, and operations by kind.

use std::ops::Range;

use eddy_flow::VarId;
use eddy_imp::stmt::Comment;
use eddy_imp::{Block, Expr, Place};
use eddy_tensor::Type;
use rustc_hash::{FxHashMap, FxHashSet};

use super::expression::{Elements, chosen};
use super::extents::rows_read;
use super::map::Map;
use super::memory::{Home, Homes};
use super::schedule::{Action, ActionKind, Item, Scheduled};
use super::{Code, Right, calls, convolution, each, products, reductions, rows, structure};
use crate::nest::Nest;
use crate::operation::{Form, Loops, SumOfProducts, form, is_moving};
use crate::precision::{element_type, zero};
use crate::view::{Root, View};

/// Shared by the writers of operations.
pub(super) struct Writer<'a> {
    pub homes: &'a Homes,
    /// The rows of products that are read, if those are not all.
    pub rows_read: FxHashMap<VarId, Range<usize>>,
    /// Scalars that are declared where they are computed.
    pub declared_in_place: FxHashSet<VarId>,
}

/// Writes all actions; scalars that are computed conditionally are declared first.
pub(super) fn write(code: &Code, scheduled: &Scheduled<'_>, homes: &Homes) -> Block {
    let (rows_read, declared_in_place) = (rows_read(code, scheduled), declared_in_place(scheduled));
    let writer = Writer { homes, rows_read, declared_in_place };
    let mut block = Block::new();
    writer.declare_scalars(scheduled, &mut block);
    let mut actions = scheduled.actions.as_slice();
    while let [first, ..] = actions {
        let n = actions.iter().take_while(|action| action.group == first.group).count();
        let conditions = scheduled.conditions[first.group].iter();
        let conditions = Expr::all(conditions.map(|(view, truth)| condition(homes, view, *truth)));
        block.when(conditions, |block| {
            for action in &actions[..n] {
                writer.action(action, block);
                exports(action, code, &writer, block);
            }
        });
        actions = &actions[n..];
    }
    block
}

/// The condition that a scalar has this value.
fn condition(homes: &Homes, view: &View, truth: bool) -> Expr {
    let element = homes.first(view);
    if truth { element } else { !element }
}

/// Scalars that are computed unconditionally, by one expression.
fn declared_in_place(scheduled: &Scheduled<'_>) -> FxHashSet<VarId> {
    let is_always = |action: &&Action<'_>| scheduled.conditions[action.group].is_empty();
    let is_expression =
        |action: &&Action<'_>| matches!(&action.kind, ActionKind::Map(shape, _) if shape.is_empty());
    let actions = scheduled.actions.iter().filter(is_always).filter(is_expression);
    actions.flat_map(Action::items).map(|item| item.statement.var).collect()
}

/// Copies results to their other places.
fn exports(action: &Action<'_>, code: &Code, writer: &Writer<'_>, block: &mut Block) {
    for item in action.items() {
        let statement = item.statement;
        let Some(places) = code.exports.get(&statement.var) else { continue };
        match writer.homes.home(statement.var) {
            Home::Scalar(name) => places.iter().for_each(|place| block.store(place, name)),
            Home::Array(home) => {
                for place in places.iter().filter(|place| *place != home) {
                    let view = View::whole(Root::Memory(home.clone()), &statement.ty);
                    writer.copy(&view, place, 0, block);
                }
            }
            Home::Loop(_) => unreachable!("an exported result is stored"),
        }
    }
}

impl Writer<'_> {
    /// Declares scalars once, before the conditions under which they are computed.
    fn declare_scalars(&self, scheduled: &Scheduled<'_>, block: &mut Block) {
        let items = scheduled.actions.iter().flat_map(Action::items);
        for item in items.filter(|item| !self.declared_in_place.contains(&item.statement.var)) {
            if let Home::Scalar(name) = self.homes.home(item.statement.var) {
                let scalar = item.statement.ty.scalar;
                block.variable(name, element_type(scalar), zero(scalar));
            }
        }
    }

    fn action(&self, action: &Action<'_>, block: &mut Block) {
        match &action.kind {
            ActionKind::Map(shape, items) => Map::new(self, shape, items).write(block),
            ActionKind::Call(items) => {
                for item in items {
                    block.note(item.statement.comment.clone());
                }
                calls::call(self, items, block);
            }
            ActionKind::Other(item) => {
                block.note(item.statement.comment.clone());
                self.other(item, block);
            }
        }
    }

    /// Copies elements to consecutive elements of an array.
    pub fn copy(&self, view: &View, to: &Place, offset: usize, block: &mut Block) {
        let ty = Type { scalar: view.scalar, shape: view.shape.clone() };
        let mut target = View::whole(Root::Memory(to.clone()), &ty);
        target.offset = offset;
        let nest = Nest::new(&view.shape, &[view, &target]);
        nest.write(block, |block| {
            block.store(to.index(nest.place(1)), self.homes.element(view, nest.place(0)));
        });
    }

    fn other(&self, item: &Item<'_>, block: &mut Block) {
        let op = match &item.statement.right {
            Right::Apply(op, _) => op,
            Right::Accumulate(..) => return products::matmul(self, item, block),
            _ => unreachable!("others are loops over elements"),
        };
        let Form::Loops(of) = form(op) else { unreachable!("a loop over elements, or a view: {op:?}") };
        match of {
            Loops::Products(SumOfProducts::Matmul) => products::matmul(self, item, block),
            Loops::Products(SumOfProducts::Conv2d) => convolution::conv2d(self, item, block),
            Loops::Products(SumOfProducts::Conv2dDx) => convolution::conv2d_dx(self, item, block),
            Loops::Products(SumOfProducts::Conv2dDk) => convolution::conv2d_dk(self, item, block),
            Loops::Sum(axis) => reductions::sum(self, item, axis, None, block),
            Loops::Mean(axis) => reductions::mean(self, item, axis, block),
            Loops::Max(axis) => reductions::max(self, item, axis, block),
            Loops::MaxMask(axis) => reductions::max_mask(self, item, axis, block),
            Loops::Argmax => reductions::argmax(self, item, block),
            Loops::Softmax => reductions::softmax(self, item, block),
            Loops::SumDown => reductions::sum_down(self, item, block),
            Loops::Chain => structure::chain(self, item, block),
            Loops::Reshape(_) => structure::reshape(self, item, block),
            Loops::Pad { lo } => structure::pad(self, item, lo, block),
            Loops::Onehot(n) => structure::onehot(self, item, n, block),
            Loops::Row => rows::row(self, item, false, block),
            Loops::Place(n) => rows::place_row(self, item, n, false, block),
            Loops::Fold { axis, stride } => structure::fold(self, item, axis, stride, block),
            Loops::Each(each) => each::each(self, item, each, block),
            Loops::Call => unreachable!("a call is an action of its own"),
        }
    }

    /// The array of a tensor result.
    pub fn array(&self, item: &Item<'_>) -> Place {
        match self.homes.home(item.statement.var) {
            Home::Array(place) => place.clone(),
            home => unreachable!("a tensor is in an array, not in {home:?}"),
        }
    }

    /// The element of a result at an index; a scalar has one.
    pub fn result(&self, item: &Item<'_>, at: Expr) -> Expr {
        match self.homes.home(item.statement.var) {
            Home::Array(place) => place.index(at).load(),
            Home::Scalar(name) | Home::Loop(name) => name.into(),
        }
    }

    /// Sets an element of a result.
    pub fn set(&self, item: &Item<'_>, at: Expr, value: Expr, block: &mut Block) {
        block.set(&self.result(item, at), value, Comment::new());
    }
}

/// The expression of one element of a result, from those of its operands.
pub(super) fn expression(item: &Item<'_>, mut reads: Vec<Expr>) -> Expr {
    let operand = item.reads.first().map_or(item.statement.ty.scalar, |view| view.scalar);
    let elements = Elements { operand, site: item.statement.site };
    match &item.statement.right {
        Right::Copy(_) => reads.swap_remove(0),
        Right::Choice(..) => chosen(&item.statement.ty, reads),
        Right::Apply(op, _) if matches!(form(op), Form::Choice) => chosen(&item.statement.ty, reads),
        Right::Accumulate(..) => unreachable!("products have loops of their own"),
        Right::Apply(op, _) if is_moving(op) => reads.swap_remove(0),
        Right::Apply(op, _) => elements.expression(op, reads),
    }
}
