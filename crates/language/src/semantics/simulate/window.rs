//! The open cycles: their cells, and the equations that are scheduled in each.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use crate::flow::VarId;
use crate::semantics::Cell;

/// The search of a delay at one cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    /// The cycle whose search stopped at this one.
    pub waiter: Option<u64>,
    /// What the waiter saw here: the knowledge about the delay's result and its operand.
    pub seen: (Knowledge, Knowledge),
    /// The last cycle that the search from this cycle has passed; initially this cycle.
    pub at: u64,
}

/// How much is known about a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Knowledge {
    Nothing,
    Status,
    All,
}

pub(super) const NOTHING: (Knowledge, Knowledge) = (Knowledge::Nothing, Knowledge::Nothing);

impl Knowledge {
    pub fn of(cell: &Cell) -> Knowledge {
        match cell {
            Cell::Unknown => Knowledge::Nothing,
            Cell::Present => Knowledge::Status,
            Cell::Absent | Cell::Value(_) | Cell::Error => Knowledge::All,
        }
    }
}

struct Row {
    cells: Vec<Cell>,
    searches: Vec<Search>,
    /// The scheduled equations, one bit per equation.
    scheduled: Vec<u64>,
    /// The first word of `scheduled` that may be nonzero.
    first_word: usize,
    n_scheduled: usize,
    /// The number of cells of needed streams that are not final.
    n_open: usize,
    has_error: bool,
}

/// The open cycles, oldest first.
pub(super) struct Window {
    rows: VecDeque<Row>,
    first: u64,
    /// All cycles with scheduled equations; may also contain duplicates and cycles without any.
    queue: BinaryHeap<Reverse<u64>>,
    /// Cycles with a contradiction; searching all rows at each cycle would take quadratic time.
    cycles_with_error: BTreeSet<u64>,
    /// Released rows, for reuse.
    spare: Vec<Row>,
    /// For each stream, whether a cycle stays open until its cell of the stream is final.
    is_needed: Vec<bool>,
    n_needed: usize,
    n_words: usize,
    n_delays: usize,
    /// The number of changes of cells.
    pub n_changes: u64,
}

impl Window {
    pub fn new(n_vars: usize, n_equations: usize, n_delays: usize) -> Self {
        Window {
            rows: VecDeque::new(),
            first: 0,
            queue: BinaryHeap::new(),
            cycles_with_error: BTreeSet::new(),
            spare: Vec::new(),
            is_needed: vec![true; n_vars],
            n_needed: n_vars,
            n_words: n_equations.div_ceil(64),
            n_delays,
            n_changes: 0,
        }
    }

    /// Restricts the streams that keep a cycle open; call it before the first cycle.
    pub fn need(&mut self, is_needed: Vec<bool>) {
        self.n_needed = is_needed.iter().filter(|is_needed| **is_needed).count();
        self.is_needed = is_needed;
    }

    pub fn is_needed(&self, var: VarId) -> bool {
        self.is_needed[var.index()]
    }

    /// The oldest open cycle.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The cycle after the newest one.
    pub fn end(&self) -> u64 {
        self.first + self.rows.len() as u64
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Opens a cycle in which all cells are unknown.
    pub fn open(&mut self) -> u64 {
        let cycle = self.end();
        let mut row = self.spare.pop().unwrap_or_else(|| Row {
            cells: vec![Cell::Unknown; self.is_needed.len()],
            searches: vec![Search { waiter: None, seen: NOTHING, at: 0 }; self.n_delays],
            scheduled: vec![0; self.n_words],
            first_word: self.n_words,
            n_scheduled: 0,
            n_open: self.n_needed,
            has_error: false,
        });
        row.cells.fill(Cell::Unknown);
        row.searches.fill(Search { waiter: None, seen: NOTHING, at: cycle });
        row.n_open = self.n_needed;
        row.has_error = false;
        self.rows.push_back(row);
        cycle
    }

    /// Releases the oldest cycle.
    pub fn release(&mut self) {
        let row = self.rows.pop_front().expect("a cycle is open");
        debug_assert_eq!(row.n_scheduled, 0, "a complete cycle has no scheduled equations");
        if row.has_error {
            self.cycles_with_error.remove(&self.first);
        }
        self.first += 1;
        self.spare.push(row);
    }

    #[inline]
    fn row(&self, cycle: u64) -> &Row {
        &self.rows[usize::try_from(cycle - self.first).expect("a window fits in memory")]
    }

    #[inline]
    fn row_mut(&mut self, cycle: u64) -> &mut Row {
        &mut self.rows[usize::try_from(cycle - self.first).expect("a window fits in memory")]
    }

    #[inline]
    pub fn cell(&self, cycle: u64, var: VarId) -> &Cell {
        &self.row(cycle).cells[var.index()]
    }

    /// Joins something into a cell; returns whether it changed.
    #[inline]
    pub fn join(&mut self, cycle: u64, var: VarId, cell: &Cell) -> bool {
        let row = &mut self.rows[usize::try_from(cycle - self.first).expect("a window fits in memory")];
        let into = &mut row.cells[var.index()];
        let was_final = into.is_final();
        if !into.join(cell) {
            return false;
        }
        if !was_final && into.is_final() && self.is_needed[var.index()] {
            row.n_open -= 1;
        }
        if *into == Cell::Error && !row.has_error {
            row.has_error = true;
            self.cycles_with_error.insert(cycle);
        }
        self.n_changes += 1;
        true
    }

    pub fn is_complete(&self, cycle: u64) -> bool {
        self.row(cycle).n_open == 0
    }

    pub fn has_error(&self, cycle: u64) -> bool {
        self.row(cycle).has_error
    }

    /// The lowest cycle with a contradiction.
    pub fn first_cycle_with_error(&self) -> Option<u64> {
        self.cycles_with_error.first().copied()
    }

    pub fn search(&mut self, cycle: u64, delay: usize) -> &mut Search {
        &mut self.row_mut(cycle).searches[delay]
    }

    /// Schedules an equation at a cycle.
    #[inline]
    pub fn schedule(&mut self, cycle: u64, equation: u32) {
        let row = self.row_mut(cycle);
        let (word, bit) = (equation as usize / 64, 1 << (equation % 64));
        if row.scheduled[word] & bit != 0 {
            return;
        }
        row.scheduled[word] |= bit;
        row.first_word = row.first_word.min(word);
        row.n_scheduled += 1;
        if row.n_scheduled == 1 {
            self.queue.push(Reverse(cycle));
        }
    }

    /// Removes and returns the first scheduled equation of the lowest cycle.
    pub fn next(&mut self) -> Option<(u64, usize)> {
        loop {
            let Reverse(cycle) = *self.queue.peek()?;
            let row = self.row_mut(cycle);
            if row.n_scheduled == 0 {
                self.queue.pop();
                continue;
            }
            while row.scheduled[row.first_word] == 0 {
                row.first_word += 1;
            }
            let bit = row.scheduled[row.first_word].trailing_zeros();
            row.scheduled[row.first_word] &= !(1 << bit);
            row.n_scheduled -= 1;
            return Some((cycle, row.first_word * 64 + bit as usize));
        }
    }
}
