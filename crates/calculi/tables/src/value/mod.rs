//! Finite values, the semantic domain (section 2; section 2 of the paper, and the figures of sections 5 and
//! 6).
//!
//! A value is an integer, a table, and in the larger languages a thunk, an address, a pair or `wrong`. Values
//! are interned, so comparing two values, and looking one up, takes constant time even for large tables.
//! Tables are sets of entries; they are sorted in the canonical order, and their size is stored.
//!
//! * [`order`]: the canonical order, ⊑ and ⊔.
//! * [`print`](mod@print) and [`parse`](mod@parse): their text.
//! * [`universe`]: all values up to a size.

pub mod order;
pub mod parse;
pub mod print;
pub mod universe;

use rustc_hash::FxHashMap;

use crate::integer::Int;

eddy_index::id! {
    /// A value; equal values are equal numbers.
    pub struct Value, "memory ends before 2^32 values";
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    Int(Int),
    /// `@a`.
    Address(u64),
    /// `(v, w)`.
    Pair(Value, Value),
    /// `{v1 -> v1', …}`, without repetition and in the canonical order.
    Table(Box<[Entry]>),
    /// `thunk(none)`.
    ThunkNone,
    /// `thunk(some(v))`.
    ThunkSome(Value),
    /// A run-time type error.
    Wrong,
}

eddy_index::id! {
    /// A finite map from addresses to values; equal stores are equal numbers.
    pub struct Store, "memory ends before 2^32 stores";
}

impl Store {
    /// The store without addresses, which is the only one in `.lam` and `.sysf`.
    pub const EMPTY: Store = Store(0);
}

/// One side of an entry: a value and, in `.ref`, a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Side {
    pub value: Value,
    pub store: Store,
}

impl From<Value> for Side {
    fn from(value: Value) -> Self {
        Side { value, store: Store::EMPTY }
    }
}

/// An input and an output of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    pub input: Side,
    pub output: Side,
}

impl Entry {
    /// `v -> w`.
    pub fn new(input: impl Into<Side>, output: impl Into<Side>) -> Self {
        Entry { input: input.into(), output: output.into() }
    }
}

/// All values of one session.
#[derive(Clone, Debug)]
pub struct Values {
    kinds: Vec<ValueKind>,
    sizes: Vec<u64>,
    /// For each value, whether it contains a table with two entries or more.
    choices: Vec<bool>,
    numbers: FxHashMap<ValueKind, Value>,
    stores: Vec<Box<[(u64, Value)]>>,
    store_numbers: FxHashMap<Box<[(u64, Value)]>, Store>,
}

impl Default for Values {
    fn default() -> Self {
        let mut values = Values {
            kinds: Vec::new(),
            sizes: Vec::new(),
            choices: Vec::new(),
            numbers: FxHashMap::default(),
            stores: Vec::new(),
            store_numbers: FxHashMap::default(),
        };
        assert_eq!(values.store(Vec::new()), Store::EMPTY);
        values
    }
}

impl Values {
    pub fn int(&mut self, int: impl Into<Int>) -> Value {
        self.make(ValueKind::Int(int.into()))
    }

    /// `@a`.
    pub fn address(&mut self, address: u64) -> Value {
        self.make(ValueKind::Address(address))
    }

    /// `(v, w)`.
    pub fn pair(&mut self, first: Value, second: Value) -> Value {
        self.make(ValueKind::Pair(first, second))
    }

    /// `thunk(none)`.
    pub fn thunk_none(&mut self) -> Value {
        self.make(ValueKind::ThunkNone)
    }

    /// `thunk(some(v))`.
    pub fn thunk_some(&mut self, content: Value) -> Value {
        self.make(ValueKind::ThunkSome(content))
    }

    /// `wrong`.
    pub fn wrong(&mut self) -> Value {
        self.make(ValueKind::Wrong)
    }

    /// The table with these entries.
    pub fn table(&mut self, mut entries: Vec<Entry>) -> Value {
        entries.sort_unstable_by(|a, b| self.compare_entries(*a, *b));
        entries.dedup();
        self.make(ValueKind::Table(entries.into()))
    }

    /// The store with these addresses, which are distinct.
    pub fn store(&mut self, mut cells: Vec<(u64, Value)>) -> Store {
        cells.sort_unstable_by_key(|(address, _)| *address);
        let cells: Box<[_]> = cells.into();
        if let Some(store) = self.store_numbers.get(&cells) {
            return *store;
        }
        let store = Store::new(self.stores.len());
        self.stores.push(cells.clone());
        self.store_numbers.insert(cells, store);
        store
    }

    pub fn kind(&self, value: Value) -> &ValueKind {
        &self.kinds[value.index()]
    }

    /// The cells of a store, by ascending address.
    pub fn cells(&self, store: Store) -> &[(u64, Value)] {
        &self.stores[store.index()]
    }

    /// The entries of a table; empty for other values.
    pub fn entries(&self, value: Value) -> &[Entry] {
        match self.kind(value) {
            ValueKind::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The size of a value (section 2).
    pub fn size(&self, value: Value) -> u64 {
        self.sizes[value.index()]
    }

    /// Whether a value contains a table with two entries or more: only those make a run branch.
    pub fn has_choices(&self, value: Value) -> bool {
        self.choices[value.index()]
    }

    /// The direct parts of a value: contents, components, and both sides of all entries with their stores.
    pub fn parts(&self, value: Value) -> Vec<Value> {
        match self.kind(value) {
            ValueKind::Int(_) | ValueKind::Address(_) | ValueKind::ThunkNone | ValueKind::Wrong => Vec::new(),
            ValueKind::ThunkSome(content) => vec![*content],
            ValueKind::Pair(first, second) => vec![*first, *second],
            ValueKind::Table(entries) => entries
                .iter()
                .flat_map(|entry| self.parts_of_side(entry.input).chain(self.parts_of_side(entry.output)))
                .collect(),
        }
    }

    fn parts_of_side(&self, side: Side) -> impl Iterator<Item = Value> {
        std::iter::once(side.value).chain(self.cells(side.store).iter().map(|(_, value)| *value))
    }

    fn size_of_side(&self, side: Side) -> u64 {
        let cells = self.cells(side.store).iter().map(|(_, value)| self.size(*value).saturating_add(1));
        cells.fold(self.size(side.value), u64::saturating_add)
    }

    /// The contribution of an entry to the size of a table.
    pub fn size_of_entry(&self, entry: Entry) -> u64 {
        self.size_of_side(entry.input).saturating_add(self.size_of_side(entry.output))
    }

    fn make(&mut self, kind: ValueKind) -> Value {
        if let Some(value) = self.numbers.get(&kind) {
            return *value;
        }
        let size = match &kind {
            ValueKind::Int(_) | ValueKind::Address(_) | ValueKind::ThunkNone | ValueKind::Wrong => 1,
            ValueKind::ThunkSome(content) => self.size(*content).saturating_add(1),
            ValueKind::Pair(first, second) => {
                self.size(*first).saturating_add(self.size(*second)).saturating_add(1)
            }
            ValueKind::Table(entries) => {
                entries.iter().map(|entry| self.size_of_entry(*entry)).fold(1, u64::saturating_add)
            }
        };
        let value = Value::new(self.kinds.len());
        let is_choice = matches!(&kind, ValueKind::Table(entries) if entries.len() > 1);
        self.numbers.insert(kind.clone(), value);
        self.kinds.push(kind);
        self.sizes.push(size);
        let has_choices = is_choice || self.parts(value).into_iter().any(|part| self.has_choices(part));
        self.choices.push(has_choices);
        value
    }
}
