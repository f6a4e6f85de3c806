//! The values of the mixed machine, and their storage.
//!
//! Environments, pairs and continuations are cells in tables that only grow along a branch. When a branch is
//! abandoned, the tables are truncated. So the memory in use is that of one branch, without a garbage
//! collector or reference counts. A continuation that no other branch shares is a stack.

use std::collections::BTreeMap;

use crate::chunks::Chunks;
use crate::integer::{Int, extra_bytes};
use crate::names::Name;
use crate::syntax::TermId;
use crate::value::{Store, Value, ValueKind, Values};

use super::machine::Frame;

/// The index of a cell, or [`NIL`].
pub(crate) type EnvId = u32;

/// The empty environment, and the end of a continuation.
pub(crate) const NIL: EnvId = u32::MAX;

/// A run-time value: `w ::= n | t | ⟨λx.e,ϱ⟩ | ⟨Λ.e,ϱ⟩ | thunk(none) | thunk(some w) | wrong | @a | (w,w)`.
#[derive(Clone, Debug)]
pub(crate) enum Mixed {
    Int(Int),
    Address(u64),
    /// Any other finite value.
    Finite(Value),
    /// ⟨λx.e,ϱ⟩.
    Closure(TermId, EnvId),
    /// ⟨Λ.e,ϱ⟩, whose body has no choices.
    Delayed(TermId, EnvId),
    /// `thunk(some w)`.
    Thunk(EnvId),
    /// `(w,w)`.
    Pair(EnvId),
}

impl Mixed {
    /// A finite value as a run-time value.
    pub(crate) fn of(value: Value, values: &Values) -> Mixed {
        match values.kind(value) {
            ValueKind::Int(int) => Mixed::Int(int.clone()),
            ValueKind::Address(address) => Mixed::Address(*address),
            _ => Mixed::Finite(value),
        }
    }

    /// The bytes of a large integer beyond its inline size.
    pub(super) fn extra_bytes(&self) -> usize {
        match self {
            Mixed::Int(int) => extra_bytes(int),
            _ => 0,
        }
    }
}

/// A binding of an environment and the rest of it, the content of a thunk, or a pair.
#[derive(Debug)]
pub(crate) enum Cell {
    Binding(Name, Mixed, EnvId),
    Content(Mixed),
    Pair(Mixed, Mixed),
}

/// The index of a continuation; [`NIL`] is the end of the branch.
pub(super) type KontId = u32;

/// The sizes of all tables at some moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    cells: usize,
    konts: usize,
    choices: usize,
}

/// The tables that grow along a branch.
#[derive(Default)]
pub(super) struct Arena {
    cells: Chunks<Cell>,
    konts: Chunks<(Frame, KontId)>,
    /// Continuations before this one may also belong to queued branches.
    n_shared: usize,
    /// The table entries that lookups used, each with the index of the previous choice.
    choices: Chunks<(u32, u32)>,
}

impl Arena {
    pub(super) fn mark(&self) -> Mark {
        Mark { cells: self.cells.len(), konts: self.konts.len(), choices: self.choices.len() }
    }

    pub(super) fn cut(&mut self, mark: Mark) {
        self.cells.truncate(mark.cells);
        self.konts.truncate(mark.konts);
        self.choices.truncate(mark.choices);
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.cells.bytes() + self.konts.bytes() + self.choices.bytes()) as u64
    }

    /// The bytes of large integers in all cells and continuations.
    pub(super) fn extra_bytes(&self) -> usize {
        let cells = self.cells.iter().map(|cell| match cell {
            Cell::Binding(_, value, _) | Cell::Content(value) => value.extra_bytes(),
            Cell::Pair(first, second) => first.extra_bytes() + second.extra_bytes(),
        });
        let frames = self.konts.iter().map(|(frame, _)| frame.value().map_or(0, Mixed::extra_bytes));
        cells.chain(frames).sum()
    }

    pub(super) fn add(&mut self, cell: Cell) -> EnvId {
        let id = self.next();
        self.cells.push(cell);
        id
    }

    /// The index of the next cell, which a recursive closure needs in advance.
    pub(super) fn next(&self) -> EnvId {
        u32::try_from(self.cells.len()).expect("memory ends before 2^32 cells")
    }

    pub(super) fn cell(&self, id: EnvId) -> &Cell {
        &self.cells[id as usize]
    }

    pub(super) fn lookup(&self, name: Name, mut environment: EnvId) -> (EnvId, &Mixed) {
        loop {
            assert_ne!(environment, NIL, "programs are closed");
            match self.cell(environment) {
                Cell::Binding(bound, value, _) if *bound == name => return (environment, value),
                Cell::Binding(_, _, rest) => environment = *rest,
                Cell::Content(_) | Cell::Pair(..) => unreachable!("an environment is made of bindings"),
            }
        }
    }

    pub(super) fn push_kont(&mut self, frame: Frame, rest: KontId) -> KontId {
        let id = u32::try_from(self.konts.len()).expect("memory ends before 2^32 frames");
        self.konts.push((frame, rest));
        id
    }

    /// Pops a frame of a continuation, and returns the rest. Frees the frame if no other branch needs it and
    /// it is the last one.
    pub(super) fn pop_kont(&mut self, id: KontId) -> (Frame, KontId) {
        let place = id as usize;
        if place >= self.n_shared && place + 1 == self.konts.len() {
            return self.konts.pop().expect("it is the last one");
        }
        self.konts[place].clone()
    }

    /// From now on continuations up to this mark are kept; with `None`, any may be freed.
    pub(super) fn share_konts(&mut self, until: Option<Mark>) {
        self.n_shared = until.map_or(0, |mark| mark.konts);
    }

    pub(super) fn push_choice(&mut self, entry: usize, before: u32) -> u32 {
        let id = u32::try_from(self.choices.len()).expect("memory ends before 2^32 choices");
        self.choices.push((u32::try_from(entry).expect("fewer entries than bytes"), before));
        id
    }

    /// The table entries used up to a choice, the first one first.
    pub(super) fn choices(&self, mut last: u32) -> Vec<usize> {
        let mut all = Vec::new();
        while last != NIL {
            let (entry, before) = self.choices[last as usize];
            all.push(entry as usize);
            last = before;
        }
        all.reverse();
        all
    }
}

/// The heap of a branch. Branches share it until one of them writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heap {
    cells: BTreeMap<u64, Mixed>,
    /// No address below this one is free, except addresses of the goal.
    lowest: u64,
}

impl Heap {
    /// The heap with exactly the cells of this store.
    pub(super) fn of(store: Store, values: &Values) -> Heap {
        let cells = values.cells(store).iter().map(|(address, value)| (*address, Mixed::of(*value, values)));
        Heap { cells: cells.collect(), lowest: 0 }
    }

    pub(super) fn get(&self, address: u64) -> Option<&Mixed> {
        self.cells.get(&address)
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The size without large integers. The nodes of a B-tree that grows at its end are about half full, and
    /// a seventh of them have children.
    pub(super) fn bytes(&self) -> usize {
        self.cells.len() * (2 * size_of::<u64>() + 2 * size_of::<Mixed>() + 16)
    }

    /// The bytes of its large integers.
    pub(super) fn extra_bytes(&self) -> usize {
        self.cells.values().map(Mixed::extra_bytes).sum()
    }

    pub(super) fn set(&mut self, address: u64, value: Mixed) {
        self.cells.insert(address, value);
    }

    pub(super) fn remove(&mut self, address: u64) {
        self.cells.remove(&address);
        self.lowest = self.lowest.min(address);
    }

    /// The addresses that `ref` may use: every free address of the goal, then the least other one.
    pub(super) fn candidates(&mut self, of_goal: &[u64]) -> Vec<u64> {
        let mut all: Vec<u64> =
            of_goal.iter().copied().filter(|address| self.get(*address).is_none()).collect();
        let is_taken = |heap: &Heap, address: u64| {
            heap.get(address).is_some() || of_goal.binary_search(&address).is_ok()
        };
        while is_taken(self, self.lowest) {
            self.lowest += 1;
        }
        all.push(self.lowest);
        all
    }
}
