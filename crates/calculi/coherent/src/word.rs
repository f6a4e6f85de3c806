//! Words: the leaf of a tree of summable pairs that a machine computes.
//!
//! A term of type `D^k A` is a complete binary tree of height k, and a word of k letters is a path through
//! it. **In machine order the last letter is depth 0**, the outermost level; a *path*, as `eddy run` prints
//! it, is the reversed word. A letter is 0, 1 or a *cell* `{n}` (section 7): exactly one of its occurrences
//! is 1 and the others are 0, but it is not known yet which.

use std::fmt;

use crate::syntax::Bit;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Letter {
    /// The first component.
    Zero,
    /// The second.
    One,
    /// Not known yet.
    Cell(u32),
}

impl From<Bit> for Letter {
    fn from(bit: Bit) -> Letter {
        match bit {
            Bit::Zero => Letter::Zero,
            Bit::One => Letter::One,
        }
    }
}

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Letter::Zero => f.write_str("0"),
            Letter::One => f.write_str("1"),
            Letter::Cell(name) => write!(f, "{{{name}}}"),
        }
    }
}

/// A word, in machine order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Word(pub Vec<Letter>);

impl Word {
    /// The word of a path, whose first letter is depth 0.
    pub fn along(path: &[Bit]) -> Word {
        Word(path.iter().rev().map(|bit| Letter::from(*bit)).collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Splits the word as `ε·δ` with `|δ| = depth`: keeps δ and returns ε.
    #[must_use]
    pub fn take_outer(&mut self, depth: u32) -> Word {
        let inner = self.0.split_off(self.outer_len(depth));
        Word(std::mem::replace(&mut self.0, inner))
    }

    /// `ε·δ` becomes `ε·letter·δ`, with `|δ| = depth`.
    pub fn insert(&mut self, depth: u32, letter: Letter) {
        let place = self.outer_len(depth);
        self.0.insert(place, letter);
    }

    /// `ε·letter·δ` becomes `ε·δ`, with `|δ| = depth`.
    pub fn remove(&mut self, depth: u32) -> Letter {
        let place = self.outer_len(depth + 1);
        self.0.remove(place)
    }

    /// `ε a1…ak δ` becomes `ε ak a1…a(k-1) δ`, with `k = levels + 2` and `|δ| = depth`.
    pub fn rotate(&mut self, levels: u32, depth: u32) {
        let (start, end) = (self.outer_len(depth + levels + 2), self.outer_len(depth));
        self.0[start..end].rotate_right(1);
    }

    /// Sets every occurrence of a cell to 0.
    pub fn resolve(&mut self, cell: u32) {
        for letter in &mut self.0 {
            if *letter == Letter::Cell(cell) {
                *letter = Letter::Zero;
            }
        }
    }

    /// The number of letters before the last `depth` ones.
    fn outer_len(&self, depth: u32) -> usize {
        self.0.len().checked_sub(depth as usize).expect("well-typed states have words that are long enough")
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| write!(f, "{letter}"))
    }
}
