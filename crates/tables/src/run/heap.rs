//! Environments and pairs, which closures share, and the collector that gives back what nobody reaches.
//!
//! Everything is a cell in a table and refers to others by number, so that a recursive closure is a cell that holds itself, and nothing is
//! dropped cell by cell. When the table has doubled since the last time, the cells that the machine reaches are copied to a new one.

use crate::integer::{Int, extra_bytes};
use crate::names::Name;
use crate::syntax::TermId;

/// The number of a cell; [`NIL`] is none.
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
    cells: Vec<Cell>,
    /// What large integers take, as far as it is known.
    extra: usize,
    /// At so many bytes the next collection is due.
    due: usize,
}

/// Collections below this size are not worth their while.
const SMALLEST: usize = 1 << 20;

impl Heap {
    pub(super) fn bytes(&self) -> usize {
        self.cells.len() * size_of::<Cell>() + self.extra
    }

    pub(super) fn is_due(&self) -> bool {
        self.bytes() > self.due.max(SMALLEST)
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
            Cell::Binding(..) => unreachable!("a pair is a pair"),
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

    /// Keeps what `roots` visits, and tells it the new numbers.
    pub(super) fn collect(&mut self, roots: impl FnOnce(&mut Copier<'_>)) {
        let mut old: Vec<Option<Cell>> = std::mem::take(&mut self.cells).into_iter().map(Some).collect();
        let mut moved = vec![NIL; old.len()];
        let mut copier = Copier { old: &mut old, moved: &mut moved, new: Vec::new(), extra: 0 };
        roots(&mut copier);
        let mut scanned = 0;
        while scanned < copier.new.len() {
            let nothing = Cell::Pair(Value::Address(0), Value::Address(0));
            let mut cell = std::mem::replace(&mut copier.new[scanned], nothing);
            match &mut cell {
                Cell::Binding(_, value, rest) => {
                    copier.value(value);
                    copier.cell(rest);
                }
                Cell::Pair(first, second) => {
                    copier.value(first);
                    copier.value(second);
                }
            }
            copier.new[scanned] = cell;
            scanned += 1;
        }
        let Copier { new, extra, .. } = copier;
        self.cells = new;
        self.extra = extra;
        self.due = 2 * self.bytes();
    }
}

/// A collection in progress.
pub(super) struct Copier<'a> {
    old: &'a mut [Option<Cell>],
    /// For each old cell, its new number, or [`NIL`] if it was not reached yet.
    moved: &'a mut [CellId],
    new: Vec<Cell>,
    extra: usize,
}

impl Copier<'_> {
    /// Keeps what a value reaches.
    pub(super) fn value(&mut self, value: &mut Value) {
        match value {
            Value::Int(int) => self.extra += extra_bytes(int),
            Value::Closure(_, cell) | Value::Thunk(_, cell) | Value::Pair(cell) => self.cell(cell),
            Value::Address(_) => {}
        }
    }

    /// Keeps a cell.
    pub(super) fn cell(&mut self, cell: &mut CellId) {
        if *cell == NIL {
            return;
        }
        let place = *cell as usize;
        if self.moved[place] == NIL {
            self.moved[place] = u32::try_from(self.new.len()).expect("no more cells than before");
            self.new.push(self.old[place].take().expect("a cell moves once"));
        }
        *cell = self.moved[place];
    }
}
