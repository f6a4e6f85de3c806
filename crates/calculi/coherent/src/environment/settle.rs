//! A canonical form of states that wait for a coin: states that behave alike become equal.
//!
//! Such states can still differ in the garbage of their heaps, in the addresses of closures and in the names
//! of cells. Copying the heap drops garbage and orders closures as they are reached from the roots, and cells
//! are renamed in the order of occurrence. Counters are reset; the caller has read them before.

use std::hash::{Hash, Hasher};

use dashu_ratio::RBig;

use super::code::Form;
use super::machine::{Frame, Machine};
use crate::word::Letter;

impl Machine<'_> {
    /// The probability that the pending coin shows 0.
    pub fn coin(&self) -> &RBig {
        match self.code.form(self.node) {
            Form::Coin(probability) => &self.code.probabilities[probability as usize],
            form => unreachable!("the machine waits for a coin, not at {form:?}"),
        }
    }

    /// Brings a state that waits for a coin into canonical form.
    pub fn settle(&mut self) {
        // At a coin there are neither variables nor levels: the frame below it restores the values.
        debug_assert!(self.word.is_empty() && self.levels.is_empty(), "a coin is a number");
        self.captured.clear();
        self.locals.clear();
        self.collect();
        let letters = self.frames.iter_mut().filter_map(letter_of).chain(&mut self.saved_letters);
        self.cells.rename(letters);
        self.reset_counters();
    }

    /// The data that determine the future of the state.
    fn rows(&self) -> impl Eq + Hash {
        let saved = (&self.saved_values, &self.saved_letters, &self.saved_levels);
        (self.node, &self.frames, saved, &self.heap, &self.cells)
    }
}

fn letter_of(frame: &mut Frame) -> Option<&mut Letter> {
    match frame {
        Frame::Derive(letter) => Some(letter),
        _ => None,
    }
}

/// Compares settled states.
impl PartialEq for Machine<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.rows() == other.rows()
    }
}

impl Eq for Machine<'_> {}

impl Hash for Machine<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.rows().hash(hasher);
    }
}
