//! The rules that share the letters of levels between the parts of a term, and the free-variable rule.
//!
//! Invariant: the variable of each level occurs in the current term. If it occurs in one part of the term,
//! that part gets the letter; if it occurs in several parts, the letter is split.

use super::cells::EmptyLeaf;
use super::code::{Binder, BlockId, Make, NodeId};
use super::machine::{Frame, Machine};
use crate::word::Letter;

impl Machine<'_> {
    /// `(ε u1…un, ⟨\y.M | ρ | X⟩, D(u)·s) → (ε u1…un u, ⟨\y.M | ρ | X y⟩, s)`, and the free-variable rule for
    /// y.
    pub(super) fn differentiate(
        &mut self,
        binder: Binder,
        body: NodeId,
        letter: Letter,
    ) -> Result<(), EmptyLeaf> {
        if self.code.occurs(binder, body) {
            self.word.push(letter);
            self.levels.push(binder);
            return Ok(());
        }
        self.cells.clear(letter)
    }

    /// `(ε u⃗, ⟨M N | ρ | X⟩, s) → (ε a⃗, ⟨M | ρ | X_M⟩, D(b)…·arg(⟨N | ρ | X_N⟩)·s)`, the first D on top.
    pub(super) fn apply_with_levels(&mut self, function: NodeId, argument: NodeId, make: Make) {
        let (letters, levels) = self.share(&[function], &[argument]);
        let value = self.make(argument, make, &levels);
        self.push_argument(value, &letters);
    }

    /// The same with `N := fix M`. M and `fix M` contain the same variables.
    pub(super) fn fix_with_levels(&mut self, block: BlockId) {
        let node = self.node;
        let (letters, levels) = self.share(&[node], &[node]);
        let value = self.closure(block, &levels);
        self.push_argument(value, &letters);
    }

    /// `(ε η u⃗, ⟨if^d(M,P,Q) | ρ | X⟩, s) → (η a⃗, ⟨M | ρ | X_M⟩, if(ε b⃗,P,Q,ρ,X_PQ)·s)` with `|η| = d`,
    /// and likewise for `let`. Saves the data of the frame, and returns the numbers of its letters and
    /// levels.
    pub(super) fn save_with_levels(
        &mut self,
        depth: u32,
        condition: NodeId,
        branches: &[NodeId],
        block: BlockId,
    ) -> (u32, u32) {
        self.save_values(block);
        let (letters, levels) = self.share(&[condition], branches);
        // Now the word is ε η a⃗.
        let n_outer = self.word.len() - self.levels.len() - depth as usize;
        self.saved_letters.extend(self.word.drain(..n_outer));
        self.saved_letters.extend(&letters);
        self.saved_levels.extend(&levels);
        (small(n_outer + letters.len()), small(levels.len()))
    }

    /// Clears and removes the levels whose variable does not occur in the current term.
    pub(super) fn drop_unused_levels(&mut self) -> Result<(), EmptyLeaf> {
        if self.levels.is_empty() {
            return Ok(());
        }
        let (code, node) = (self.code, self.node);
        let letters = self.word.split_off(self.word.len() - self.levels.len());
        let levels = std::mem::take(&mut self.levels);
        for (letter, binder) in letters.into_iter().zip(levels) {
            if code.occurs(binder, node) {
                self.word.push(letter);
                self.levels.push(binder);
            } else {
                self.cells.clear(letter)?;
            }
        }
        Ok(())
    }

    /// Divides the letters of all levels between two groups of parts. The letters of the first group stay in
    /// the word, and their levels in the state; the letters and levels of the second group are returned. If a
    /// variable occurs in both groups, the letter of its level is split.
    fn share(&mut self, first: &[NodeId], second: &[NodeId]) -> (Vec<Letter>, Vec<Binder>) {
        let code = self.code;
        let occurs = |binder: Binder, parts: &[NodeId]| parts.iter().any(|part| code.occurs(binder, *part));
        let letters = self.word.split_off(self.word.len() - self.levels.len());
        let levels = std::mem::take(&mut self.levels);
        let (mut their_letters, mut their_levels) = (Vec::new(), Vec::new());
        for (letter, binder) in letters.into_iter().zip(levels) {
            let (ours, theirs) = match (occurs(binder, first), occurs(binder, second)) {
                (true, true) => {
                    let (a, b) = self.cells.split(letter);
                    (Some(a), Some(b))
                }
                (true, false) => (Some(letter), None),
                (false, true) => (None, Some(letter)),
                (false, false) => unreachable!("the variable of a level occurs in the term"),
            };
            if let Some(letter) = ours {
                self.word.push(letter);
                self.levels.push(binder);
            }
            if let Some(letter) = theirs {
                their_letters.push(letter);
                their_levels.push(binder);
            }
        }
        (their_letters, their_levels)
    }

    fn push_argument(&mut self, value: super::heap::Value, letters: &[Letter]) {
        self.frames.push(Frame::Arg(value));
        self.frames.extend(letters.iter().rev().map(|letter| Frame::Derive(*letter)));
    }
}

fn small(n: usize) -> u32 {
    u32::try_from(n).expect("a word is shorter than 2^32")
}
