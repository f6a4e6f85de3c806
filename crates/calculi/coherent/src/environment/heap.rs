//! Values, and the heap of closures.
//!
//! A closure is a header, its captured values, and its levels, in sequence. Allocation appends. When the heap
//! has grown to twice the live size of the last collection, live closures are copied to a new heap (Cheney's
//! algorithm: no recursion, and time in proportion to the live size).

use super::code::{Binder, NodeId};

/// The value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Number(u64),
    /// A closed term without levels.
    Closed(NodeId),
    /// A closure, by the place of its header.
    Closure(u32),
    /// In the heap only: the header of a closure, with the numbers of its values and levels.
    Header {
        start: NodeId,
        n_values: u32,
        n_levels: u32,
    },
    /// In the heap only: a level of a closure.
    Level(Binder),
    /// In the heap only, during a collection: the new place of the closure that started here.
    Moved(u32),
}

/// Smaller heaps are not collected; any value of this size works.
const SMALL: usize = 1 << 16;

/// The closures of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Heap {
    values: Vec<Value>,
    /// The size at which to collect next.
    limit: usize,
    /// The number of live values after the last collection.
    alive: usize,
}

impl Heap {
    pub fn new() -> Heap {
        Heap { values: Vec::new(), limit: SMALL, alive: 0 }
    }

    /// Starts a closure; its values and then its levels are pushed next.
    pub fn begin(&mut self, start: NodeId, n_values: usize, n_levels: usize) -> Value {
        let place = small(self.values.len());
        self.values.push(Value::Header { start, n_values: small(n_values), n_levels: small(n_levels) });
        Value::Closure(place)
    }

    pub fn push(&mut self, value: Value) {
        self.values.push(value);
    }

    /// The start of a closure, its values, and its levels.
    pub fn closure(&self, place: u32) -> (NodeId, &[Value], &[Value]) {
        let place = place as usize;
        let Value::Header { start, n_values, n_levels } = self.values[place] else {
            unreachable!("a closure starts with its header")
        };
        let middle = place + 1 + n_values as usize;
        (start, &self.values[place + 1..middle], &self.values[middle..middle + n_levels as usize])
    }

    /// Whether it is time to collect.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.values.len() > self.limit
    }

    /// The number of values, live and dead, plus the space for copying them.
    pub fn len(&self) -> usize {
        self.values.len() + self.alive
    }

    /// Keeps the closures reachable from the roots, and updates the roots.
    pub fn collect<'a>(&mut self, roots: impl Iterator<Item = &'a mut Value>) {
        let mut new = Vec::with_capacity(self.alive);
        let mut n_roots = 0;
        for root in roots {
            n_roots += 1;
            self.copy(root, &mut new);
        }
        let mut scanned = 0;
        while scanned < new.len() {
            let mut value = new[scanned];
            self.copy(&mut value, &mut new);
            new[scanned] = value;
            scanned += 1;
        }
        self.limit = SMALL.max(2 * new.len() + n_roots);
        self.alive = new.len();
        self.values = new;
    }

    /// Moves the closure that a value refers to, unless it was moved already.
    fn copy(&mut self, value: &mut Value, new: &mut Vec<Value>) {
        let Value::Closure(old) = *value else { return };
        let old = old as usize;
        let place = match self.values[old] {
            Value::Moved(place) => place,
            Value::Header { n_values, n_levels, .. } => {
                let place = small(new.len());
                let end = old + 1 + n_values as usize + n_levels as usize;
                new.extend_from_slice(&self.values[old..end]);
                self.values[old] = Value::Moved(place);
                place
            }
            _ => unreachable!("a closure starts with its header"),
        };
        *value = Value::Closure(place);
    }
}

fn small(n: usize) -> u32 {
    u32::try_from(n).expect("the memory limit is below 2^32 values")
}
