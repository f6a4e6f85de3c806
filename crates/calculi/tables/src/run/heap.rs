//! Environments and pairs, which closures share, and their garbage collector.
//!
//! Environments and pairs are cells in a table and refer to each other by index. So the environment of a
//! recursive closure can contain the closure itself, and dropping the heap does not recurse. A collection
//! marks the reachable cells and compacts them within their table: it needs [`COLLECTOR_BYTES`] for each
//! cell, and no second table.
//!
//! Each copy of an integer counts as memory.

use crate::chunks::Chunks;
use crate::integer::{Int, extra_bytes};
use crate::names::Name;
use crate::syntax::TermId;

/// The index of a cell, or [`NIL`].
pub(super) type CellId = u32;

/// The empty environment.
pub(super) const NIL: CellId = u32::MAX;

/// The values of the machine.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Int(Int),
    /// ⟨λx.e,ϱ⟩: the λ and its environment.
    Closure(TermId, CellId),
    /// ⟨Λ.e,ϱ⟩.
    Thunk(TermId, CellId),
    Address(u32),
    Pair(CellId),
}

/// A binding of an environment and the rest of it, or a pair.
#[derive(Debug)]
enum Cell {
    Binding(Name, Value, CellId),
    Pair(Value, Value),
}

/// All cells.
#[derive(Default)]
pub(super) struct Heap {
    cells: Chunks<Cell>,
    /// The bytes of large integers: freed copies count until the next collection.
    extra: usize,
}

/// Bytes that a collection needs for each cell: its new number, and a place in the work list.
const COLLECTOR_BYTES: usize = 2 * size_of::<CellId>();

impl Heap {
    /// The bytes of the cells and the integers, and those that a collection would need.
    pub(super) fn bytes(&self) -> usize {
        self.cells.bytes() + self.cells.len() * COLLECTOR_BYTES + self.extra
    }

    pub(super) fn bind(&mut self, name: Name, value: Value, rest: CellId) -> CellId {
        self.add(Cell::Binding(name, value, rest))
    }

    pub(super) fn pair(&mut self, first: Value, second: Value) -> Value {
        Value::Pair(self.add(Cell::Pair(first, second)))
    }

    /// ϱ(f:=c), where c = ⟨λx.e, ϱ(f:=c)⟩.
    pub(super) fn bind_recursively(&mut self, name: Name, lambda: TermId, rest: CellId) -> Value {
        let closure = Value::Closure(lambda, self.next());
        self.bind(name, closure.clone(), rest);
        closure
    }

    pub(super) fn parts(&self, pair: CellId) -> (&Value, &Value) {
        match &self.cells[pair as usize] {
            Cell::Pair(first, second) => (first, second),
            Cell::Binding(..) => unreachable!("the cell of a pair is a pair"),
        }
    }

    pub(super) fn lookup(&self, name: Name, mut environment: CellId) -> &Value {
        loop {
            assert_ne!(environment, NIL, "programs are closed");
            match &self.cells[environment as usize] {
                Cell::Binding(bound, value, _) if *bound == name => return value,
                Cell::Binding(_, _, rest) => environment = *rest,
                Cell::Pair(..) => unreachable!("an environment is made of bindings"),
            }
        }
    }

    pub(super) fn note(&mut self, int: &Int) {
        self.extra += extra_bytes(int);
    }

    fn next(&self) -> CellId {
        u32::try_from(self.cells.len()).expect("memory ends before 2^32 cells")
    }

    fn add(&mut self, cell: Cell) -> CellId {
        let id = self.next();
        self.cells.push(cell);
        id
    }

    /// Keeps the cells that `roots` reaches, and updates their numbers. `roots` is called twice: to mark, and
    /// to move.
    pub(super) fn collect(&mut self, mut roots: impl FnMut(&mut Collector<'_>)) {
        let mut places = Chunks::default();
        (0..self.cells.len()).for_each(|_| places.push(NIL));
        let mut collector = Collector::Mark { places: &mut places, work: Chunks::default(), extra: 0 };
        roots(&mut collector);
        while let Some(cell) = collector.next() {
            self.cells[cell as usize].visit(&mut collector);
        }
        if let Collector::Mark { extra, .. } = collector {
            self.extra = extra;
        }
        let mut n_kept = 0;
        for (old, place) in places.iter_mut().enumerate().filter(|(_, place)| **place != NIL) {
            *place = n_kept;
            self.cells.swap(old, n_kept as usize);
            n_kept += 1;
        }
        self.cells.truncate(n_kept as usize);
        let mut collector = Collector::Move { places: &places };
        roots(&mut collector);
        for cell in self.cells.iter_mut() {
            cell.visit(&mut collector);
        }
    }
}

impl Cell {
    fn visit(&mut self, collector: &mut Collector<'_>) {
        match self {
            Cell::Binding(_, value, rest) => {
                collector.value(value);
                collector.cell(rest);
            }
            Cell::Pair(first, second) => {
                collector.value(first);
                collector.value(second);
            }
        }
    }
}

/// A collection in progress. Each cell has its new number, or [`NIL`] if it was not reached.
pub(super) enum Collector<'a> {
    /// Marks cells, and counts their integers.
    Mark { places: &'a mut Chunks<CellId>, work: Chunks<CellId>, extra: usize },
    /// All reachable cells have their new numbers.
    Move { places: &'a Chunks<CellId> },
}

impl Collector<'_> {
    /// Visits the cells of a value.
    pub(super) fn value(&mut self, value: &mut Value) {
        match value {
            Value::Int(int) => {
                if let Collector::Mark { extra, .. } = self {
                    *extra += extra_bytes(int);
                }
            }
            Value::Closure(_, cell) | Value::Thunk(_, cell) | Value::Pair(cell) => self.cell(cell),
            Value::Address(_) => {}
        }
    }

    /// Visits a cell.
    pub(super) fn cell(&mut self, cell: &mut CellId) {
        if *cell == NIL {
            return;
        }
        let place = *cell as usize;
        match self {
            Collector::Mark { places, work, .. } if places[place] == NIL => {
                places[place] = 0;
                work.push(*cell);
            }
            Collector::Mark { .. } => {}
            Collector::Move { places } => *cell = places[place],
        }
    }

    /// A reachable cell whose parts were not visited yet.
    fn next(&mut self) -> Option<CellId> {
        match self {
            Collector::Mark { work, .. } => work.pop(),
            Collector::Move { .. } => None,
        }
    }
}
