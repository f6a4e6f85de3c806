//! Decides which statements of a group share a loop.
//!
//! A statement that is ready starts a loop, and all statements of the same shape that are ready then join it,
//! including those that read the results of the loop at the same index. Sums of results are computed in the
//! loop too, unless they sum its innermost axis. A statement is examined only when one of its operands is
//! computed, so the total time is proportional to the number of operands.

use std::collections::BTreeSet;

use eddy_flow::VarId;
use eddy_tensor::Shape;
use rustc_hash::FxHashMap;

use super::Statement;
use super::calls::{are_together, is_call};
use super::schedule::{Action, ActionKind, Item, is_map, summed_along};

/// The largest number of statements in a loop. Compilers take long for more and run out of registers; a
/// smaller limit would change the loops of typical programs. Code outside of loops is cut later (`pieces`).
const MOST_IN_A_LOOP: usize = 100;

/// Puts the statements of a group into loops.
pub(super) fn fuse<'a>(items: Vec<Item<'a>>, group: usize, actions: &mut Vec<Action<'a>>) {
    let mut fusion = Fusion::new(items);
    while let Some(first) = fusion.ready.first().copied() {
        let kind = if is_map(fusion.statements[first]) {
            let shape = fusion.statements[first].ty.shape.clone();
            let mut together = fusion.joined(&shape);
            together.extend(fusion.sums(&together, &shape));
            ActionKind::Map(shape, fusion.take(&together))
        } else if is_call(&fusion.statements[first].right) {
            let together = fusion.results_of(first);
            ActionKind::Call(fusion.take(&together))
        } else {
            ActionKind::Other(fusion.take(&[first]).remove(0))
        };
        actions.push(Action { group, kind });
    }
    assert!(fusion.items.iter().all(Option::is_none), "statements are in an order in which they can run");
}

/// The statements of a group, by index.
struct Fusion<'a> {
    statements: Vec<&'a Statement>,
    /// Those that are not placed yet.
    items: Vec<Option<Item<'a>>>,
    /// For each stream of the group the statements that read it, and as which operand.
    readers: FxHashMap<VarId, Vec<(usize, usize)>>,
    /// For each statement the number of operands that are not computed yet.
    n_waiting: Vec<usize>,
    /// The statements that can run.
    ready: BTreeSet<usize>,
    /// Those of them that are loops over elements.
    ready_loops: FxHashMap<Shape, BTreeSet<usize>>,
}

impl<'a> Fusion<'a> {
    fn new(items: Vec<Item<'a>>) -> Fusion<'a> {
        let statements: Vec<&Statement> = items.iter().map(|item| item.statement).collect();
        let mut readers: FxHashMap<VarId, Vec<(usize, usize)>> =
            statements.iter().map(|statement| (statement.var, Vec::new())).collect();
        let mut n_waiting = vec![0; items.len()];
        for (number, item) in items.iter().enumerate() {
            for (operand, view) in item.reads.iter().enumerate() {
                if let Some(readers) = view.var().and_then(|var| readers.get_mut(&var)) {
                    readers.push((number, operand));
                    n_waiting[number] += 1;
                }
            }
        }
        let (ready, ready_loops) = (BTreeSet::new(), FxHashMap::default());
        let items: Vec<Option<Item<'a>>> = items.into_iter().map(Some).collect();
        let mut fusion = Fusion { statements, items, readers, n_waiting, ready, ready_loops };
        for number in 0..fusion.items.len() {
            fusion.look_at(number);
        }
        fusion
    }

    /// Marks a statement as ready, if it is.
    fn look_at(&mut self, number: usize) {
        if self.n_waiting[number] > 0 {
            return;
        }
        let statement = self.statements[number];
        self.ready.insert(number);
        if is_map(statement) {
            self.ready_loops.entry(statement.ty.shape.clone()).or_default().insert(number);
        }
    }

    /// The statements that a loop over a shape computes, in order.
    fn joined(&self, shape: &Shape) -> Vec<usize> {
        let mut candidates = self.ready_loops.get(shape).cloned().unwrap_or_default();
        // For each statement the number of operands that the loop computes at the same index.
        let mut n_inside: FxHashMap<usize, usize> = FxHashMap::default();
        let mut joined = Vec::new();
        while let Some(next) =
            candidates.pop_first().filter(|_| shape.is_scalar() || joined.len() < MOST_IN_A_LOOP)
        {
            joined.push(next);
            for reader in self.readers_of_all(next, shape) {
                let n = n_inside.entry(reader).or_default();
                *n += 1;
                let statement = self.statements[reader];
                if *n == self.n_waiting[reader] && is_map(statement) && statement.ty.shape == *shape {
                    candidates.insert(reader);
                }
            }
        }
        joined
    }

    /// The statements that are results of the same call. They have the same operands, so all are ready.
    fn results_of(&self, first: usize) -> Vec<usize> {
        let item = |number: usize| self.items[number].as_ref().expect("what is ready is not placed yet");
        let others = self.ready.iter().copied().filter(|number| *number != first);
        let others = others.filter(|number| are_together(item(first), item(*number)));
        [first].into_iter().chain(others).collect()
    }

    /// The sums that the loop can compute too.
    fn sums(&self, joined: &[usize], shape: &Shape) -> BTreeSet<usize> {
        let readers = joined.iter().flat_map(|number| self.readers_of_all(*number, shape));
        let is_sum =
            |number: &usize| self.items[*number].as_ref().is_some_and(|item| summed_along(item).is_some());
        readers.filter(is_sum).collect()
    }

    /// The statements that read a result at the index at which a loop over a shape computes it, once for each
    /// operand.
    fn readers_of_all(&self, number: usize, shape: &Shape) -> impl Iterator<Item = usize> {
        let var = self.statements[number].var;
        let readers = self.readers[&var].iter();
        let reads_all = move |(reader, operand): &&(usize, usize)| {
            self.items[*reader].as_ref().is_some_and(|item| item.reads[*operand].is_all_of(var, shape))
        };
        readers.filter(reads_all).map(|(reader, _)| *reader)
    }

    /// Removes statements; their readers may become ready.
    fn take(&mut self, numbers: &[usize]) -> Vec<Item<'a>> {
        let mut taken = Vec::new();
        for number in numbers {
            taken.extend(self.items[*number].take());
            self.ready.remove(number);
            if let Some(ready) = self.ready_loops.get_mut(&self.statements[*number].ty.shape) {
                ready.remove(number);
            }
        }
        for number in numbers {
            for (reader, _) in self.readers.remove(&self.statements[*number].var).unwrap_or_default() {
                self.n_waiting[reader] -= 1;
                if self.items[reader].is_some() {
                    self.look_at(reader);
                }
            }
        }
        taken
    }
}
