//! Cells (section 7), with counters instead of searches through the state.
//!
//! A cell stores the number of its remaining occurrences, and whether it was written. So "set every other
//! occurrence to 0" sets one flag, "does the cell still occur" compares one number with 0, and both take
//! constant time. A cell without occurrences is reused.

use crate::syntax::Bit;
use crate::word::Letter;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Cell {
    occurrences: u32,
    /// The occurrence with the value 1 was consumed; all remaining ones are 0.
    is_written: bool,
}

/// The cells of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Cells {
    cells: Vec<Cell>,
    unused: Vec<u32>,
    pub made: u64,
}

/// The leaf is provably empty.
#[derive(Debug)]
pub(super) struct EmptyLeaf;

impl Cells {
    /// `u ⇒ (a,b)`: splits a letter into two occurrences.
    pub fn split(&mut self, letter: Letter) -> (Letter, Letter) {
        let copy = match self.read(letter) {
            Letter::Zero => Letter::Zero,
            Letter::One => Letter::Cell(self.fresh()),
            Letter::Cell(name) => {
                self.cells[name as usize].occurrences += 1;
                Letter::Cell(name)
            }
        };
        (copy, copy)
    }

    /// An injection consumes a letter.
    pub fn inject(&mut self, letter: Letter, bit: Bit) -> Result<(), EmptyLeaf> {
        match (self.read(letter), bit) {
            (Letter::Zero, Bit::Zero) | (Letter::One, Bit::One) => Ok(()),
            (Letter::Zero, Bit::One) | (Letter::One, Bit::Zero) => Err(EmptyLeaf),
            (Letter::Cell(name), bit) => {
                let cell = &mut self.cells[name as usize];
                cell.occurrences -= 1;
                cell.is_written = bit == Bit::One;
                let is_gone = cell.occurrences == 0;
                if is_gone {
                    self.unused.push(name);
                }
                // If a cell was never written, its last occurrence is the 1.
                if is_gone && bit == Bit::Zero { Err(EmptyLeaf) } else { Ok(()) }
            }
        }
    }

    /// Clears a letter, which must be 0, and consumes it. A cell can be 0 as long as another occurrence
    /// remains. Several letters can be cleared one by one: if they are all remaining occurrences of a cell,
    /// clearing the last one fails.
    pub fn clear(&mut self, letter: Letter) -> Result<(), EmptyLeaf> {
        self.inject(letter, Bit::Zero)
    }

    /// The current value of a letter; an occurrence of a written cell becomes a plain 0.
    fn read(&mut self, letter: Letter) -> Letter {
        let Letter::Cell(name) = letter else { return letter };
        let cell = &mut self.cells[name as usize];
        if !cell.is_written {
            return letter;
        }
        cell.occurrences -= 1;
        if cell.occurrences == 0 {
            self.unused.push(name);
        }
        Letter::Zero
    }

    /// A new cell with two occurrences.
    fn fresh(&mut self) -> u32 {
        self.made += 1;
        let cell = Cell { occurrences: 2, is_written: false };
        if let Some(name) = self.unused.pop() {
            self.cells[name as usize] = cell;
            return name;
        }
        self.cells.push(cell);
        u32::try_from(self.cells.len() - 1).expect("fewer cells than bytes of memory")
    }

    /// Renames the cells in the order in which these letters, which are all letters of the state, mention
    /// them; letters of written cells become 0.
    pub fn rename<'a>(&mut self, letters: impl Iterator<Item = &'a mut Letter>) {
        let mut names = vec![None; self.cells.len()];
        let mut cells = Vec::new();
        for letter in letters {
            let Letter::Cell(old) = *letter else { continue };
            let cell = self.cells[old as usize];
            if cell.is_written {
                *letter = Letter::Zero;
                continue;
            }
            let name = *names[old as usize].get_or_insert_with(|| {
                cells.push(cell);
                u32::try_from(cells.len() - 1).expect("fewer cells than before")
            });
            *letter = Letter::Cell(name);
        }
        *self = Cells { cells, unused: Vec::new(), made: self.made };
    }

    /// The approximate size in bytes.
    pub fn bytes(&self) -> usize {
        self.cells.len() * size_of::<Cell>() + self.unused.len() * size_of::<u32>()
    }
}
