//! Functions of the program: one call computes all results of one application, for each stream of a batch.
//!
//! An operand is passed in place if its elements lie in order, all at the same distance; otherwise it is
//! copied first. A scalar result is returned in an array of one element.

use std::sync::Arc;

use eddy_body::Applied;
use eddy_imp::stmt::Comment;
use eddy_imp::{Application, Argument, Block, Expr, Place, Stmt};
use eddy_tensor::{Op, Scalar};

use super::Right;
use super::schedule::Item;
use super::write::Writer;
use crate::nest::{Nest, index, loops};
use crate::precision::element_type;
use crate::view::{Root, View, row_major};

/// The field of the state that functions use as memory.
pub(crate) const ARENA: &str = "arena";

/// The code of the function that a statement applies, if it applies one.
pub(super) fn applied(right: &Right) -> Option<Arc<Applied>> {
    match right {
        Right::Apply(op, _) => Applied::of(op),
        Right::Choice(..) | Right::Copy(_) | Right::Accumulate(..) => None,
    }
}

/// Whether a statement applies a function.
pub(super) fn is_call(right: &Right) -> bool {
    matches!(right, Right::Apply(op, _) if matches!(op.applied(), Op::Call(_)))
}

/// Whether two statements are results of one call.
pub(super) fn are_together(one: &Item<'_>, other: &Item<'_>) -> bool {
    let (Some(first), Some(second)) = (applied(&one.statement.right), applied(&other.statement.right)) else {
        return false;
    };
    first.is_same_call(&second) && one.reads == other.reads && wide(one) == wide(other)
}

/// For each operand whether it has an axis for the streams of a batch; `None` if there is no batch.
fn wide(item: &Item<'_>) -> Option<Vec<bool>> {
    match &item.statement.right {
        Right::Apply(Op::Each(each), _) => Some(each.is_wide().to_vec()),
        _ => None,
    }
}

/// How an operand is passed to a function.
pub(super) struct Given {
    /// The operand of the first stream.
    view: View,
    /// The distance between streams; 0 if they share the operand.
    stream: usize,
    /// The distance of adjacent elements; `None` if they are copied to elements side by side.
    step: Option<usize>,
}

impl Given {
    fn new(view: &View, is_wide: bool) -> Given {
        let (view, stream) = if is_wide {
            let (slice, _, stride) = view.slice();
            (slice, stride)
        } else {
            (view.clone(), 0)
        };
        let step = match view.root {
            Root::One(_) | Root::Nothing if !view.shape.is_scalar() => None,
            _ => even_step(&view),
        };
        Given { view, stream, step }
    }

    /// The size of the copy, if the function gets one.
    fn copied(&self) -> Option<usize> {
        self.step.is_none().then(|| self.view.shape.iter().product())
    }
}

/// The distance of adjacent elements, if it is the same for all.
fn even_step(view: &View) -> Option<usize> {
    let axes = || (0..view.shape.len()).filter(|axis| view.shape[*axis] != 1);
    let own = row_major(&view.shape);
    let Some(last) = axes().next_back() else { return Some(1) };
    let step = (view.strides[last] / own[last]).max(1);
    axes().all(|axis| view.strides[axis] == step * own[axis]).then_some(step)
}

/// How each operand is passed to the function of a call.
pub(super) fn given(item: &Item<'_>) -> Vec<Given> {
    let wide = wide(item);
    let is_wide = |at: usize| wide.as_ref().is_some_and(|wide| wide[at]);
    item.reads.iter().enumerate().map(|(at, view)| Given::new(view, is_wide(at))).collect()
}

/// The operands that are copied: their positions, kinds and sizes.
pub(super) fn copies(item: &Item<'_>) -> Vec<(usize, Scalar, usize)> {
    let given = given(item);
    let copied = given.iter().enumerate();
    copied.filter_map(|(at, given)| Some((at, given.view.scalar, given.copied()?))).collect()
}

/// The distances of the elements of operands and results.
pub(super) fn steps(items: &[Item<'_>]) -> (Vec<usize>, Vec<usize>) {
    let operands = given(&items[0]).iter().map(|given| given.step.unwrap_or(1)).collect();
    (operands, items.iter().map(|item| streams(item).unwrap_or(1)).collect())
}

/// The number of streams of a batch.
fn streams(item: &Item<'_>) -> Option<usize> {
    wide(item)?;
    item.statement.ty.shape.last().copied()
}

/// Writes a call with several results.
pub(super) fn call(writer: &Writer<'_>, items: &[Item<'_>], block: &mut Block) {
    let n_streams = streams(&items[0]);
    loops(n_streams.as_slice(), STREAM, block, |block| {
        block.scope(|block| one(writer, items, n_streams.is_some(), block));
    });
}

/// The number of the index of streams: no tensor has this many axes.
const STREAM: usize = 99;

/// A call for one stream.
fn one(writer: &Writer<'_>, items: &[Item<'_>], is_batch: bool, block: &mut Block) {
    let first = &items[0];
    let stream = |at: Expr, distance: usize| match distance {
        0 => at,
        1 => at + index(STREAM),
        _ => at + Expr::from(distance) * index(STREAM),
    };
    let mut operands: Vec<Argument> = Vec::new();
    for (at, given) in given(first).into_iter().enumerate() {
        let Given { view, stream: distance, step } = &given;
        if view.shape.is_scalar() {
            let element = stream(view.offset.into(), *distance);
            operands.push(Argument::Value(writer.homes.element(view, element)));
            continue;
        }
        if step.is_some() {
            let memory = writer.homes.memory(view).expect("it lies in memory");
            operands.push(memory.index(stream(view.offset.into(), *distance)).into());
            continue;
        }
        let copy = writer.homes.copy(first.statement.var, at).expect("it has memory for copies");
        let nest = Nest::new(
            &view.shape,
            &[view, &View { strides: row_major(&view.shape), offset: 0, ..view.clone() }],
        );
        nest.write(block, |block| {
            let element = writer.homes.element(view, stream(nest.place(0), *distance));
            block.store(copy.index(nest.place(1)), element);
        });
        operands.push(copy.index(0).into());
    }
    let mut results: Vec<Place> = Vec::new();
    let mut scalars = Vec::new();
    for (number, item) in items.iter().enumerate() {
        if item.statement.ty.shape.is_scalar() {
            let name = format!("found{number}");
            block.push(Stmt::Array(name.as_str().into(), element_type(item.statement.ty.scalar), vec![1]));
            let place = Place::local(name).index(0);
            scalars.push((item, place.clone()));
            results.push(place);
        } else {
            let at = if is_batch { index(STREAM) } else { 0.into() };
            results.push(writer.array(item).index(at));
        }
    }
    let function = writer.homes.function(first.statement.var).expect("a call has a function").clone();
    let memory = Place::state(ARENA);
    let site = first.statement.site;
    block.push(Stmt::Apply(Box::new(Application { function, operands, results, memory, site })));
    for (item, place) in scalars {
        block.set(&writer.result(item, 0.into()), place.load(), Comment::new());
    }
}
