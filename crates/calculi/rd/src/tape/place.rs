//! Places of values: slots of a frame, and ranges of the pool.
//!
//! Slots are allocated upwards in a frame and freed where a branch ends, so a call can place its frame right
//! above the live slots, and its arguments where they were computed.

use super::code::{Instr, List, Operand, Slot, Tail};
use super::compile::{Compiler, Leaves};
use super::link::n_leaves;
use crate::types::Type;

impl Compiler<'_> {
    /// The first slot of a value in consecutive slots; `None` if its slots are not consecutive.
    pub(super) fn consecutive(&self, leaves: Leaves) -> Option<Slot> {
        let slots = || (0..leaves.len).map(|i| self.leaf(leaves, i).as_slot());
        let first = slots().next().unwrap_or(Some(self.top))?;
        slots().zip(first..).all(|(slot, expected)| slot == Some(expected)).then_some(first)
    }

    /// Puts a value into consecutive slots anywhere.
    pub(super) fn anywhere(&mut self, leaves: Leaves) -> Slot {
        self.consecutive(leaves).unwrap_or_else(|| self.at_top(leaves))
    }

    /// Puts a value into consecutive slots at the end of the frame. A value that already ends the frame and
    /// starts at or above `mark` stays in place: slots from `mark` on hold no other live value.
    pub(super) fn gather(&mut self, leaves: Leaves, mark: Slot) -> Slot {
        match self.consecutive(leaves) {
            Some(first) if first >= mark && first + leaves.len == self.top => first,
            _ => self.at_top(leaves),
        }
    }

    pub(super) fn at_top(&mut self, leaves: Leaves) -> Slot {
        let first = self.top;
        self.gather_at(leaves, first);
        first
    }

    /// Puts the reals of a value into consecutive slots from `first` on. If a copy could overwrite a real
    /// that is still to be copied, all reals are first copied to free slots.
    pub(super) fn gather_at(&mut self, leaves: Leaves, first: Slot) {
        let in_place = (0..leaves.len).all(|i| self.leaf(leaves, i) == Operand::slot(first + i));
        if in_place {
            self.top = self.top.max(first + leaves.len);
            self.max_top = self.max_top.max(self.top);
            return;
        }
        let free = self.top.max(first + leaves.len);
        self.top = free;
        let overlaps = (0..leaves.len).any(|i| {
            self.leaf(leaves, i).as_slot().is_some_and(|slot| (first..first + leaves.len).contains(&slot))
        });
        let target = if overlaps { self.reserve(leaves.len) } else { first };
        for i in 0..leaves.len {
            let operand = self.leaf(leaves, i);
            self.emit(Instr::Copy(target + i, operand), Tail::No);
        }
        if overlaps {
            for i in 0..leaves.len {
                self.emit(Instr::Copy(first + i, Operand::slot(target + i)), Tail::No);
            }
        }
        self.max_top = self.max_top.max(self.top);
    }

    pub(super) fn n_leaves(&self, ty: Type) -> u32 {
        n_leaves(self.terms, ty)
    }

    pub(super) fn slot(&mut self) -> Slot {
        self.reserve(1)
    }

    /// Frees the slots of operands after their last use.
    pub(super) fn free(&mut self, operands: &[Operand]) {
        for operand in operands.iter().rev() {
            if self.top > self.pinned && operand.as_slot() == Some(self.top - 1) {
                self.top -= 1;
            }
        }
    }

    pub(super) fn reserve(&mut self, n: u32) -> Slot {
        let first = self.top;
        self.top += n;
        self.max_top = self.max_top.max(self.top);
        first
    }

    pub(super) fn slots(&mut self, n: u32) -> Leaves {
        let first = self.reserve(n);
        self.push_slots(first, n);
        self.pop()
    }

    pub(super) fn push_slots(&mut self, first: Slot, n: u32) {
        let start = self.pool_end();
        self.pool.extend((first..first + n).map(Operand::slot));
        self.done.push(Leaves { start, len: n });
    }

    pub(super) fn pool_end(&self) -> u32 {
        u32::try_from(self.pool.len()).expect("fewer operands than 2^32")
    }

    pub(super) fn list(&mut self, operands: &[Operand]) -> Leaves {
        let start = self.pool_end();
        self.pool.extend_from_slice(operands);
        Leaves { start, len: u32::try_from(operands.len()).expect("few operands") }
    }

    pub(super) fn leaf(&self, leaves: Leaves, i: u32) -> Operand {
        self.pool[(leaves.start + i) as usize]
    }

    pub(super) fn pop(&mut self) -> Leaves {
        self.done.pop().expect("the operand is compiled")
    }

    /// The concatenation of the last `n` values.
    pub(super) fn concat(&mut self, n: usize) -> Leaves {
        let parts: Vec<Leaves> = self.done.drain(self.done.len() - n..).collect();
        self.join(parts)
    }

    /// The concatenation of values.
    pub(super) fn join(&mut self, parts: impl IntoIterator<Item = Leaves>) -> Leaves {
        let parts: Vec<Leaves> = parts.into_iter().filter(|part| part.len > 0).collect();
        let Some(first) = parts.first() else { return Leaves { start: 0, len: 0 } };
        let len = parts.iter().map(|part| part.len).sum();
        if parts.windows(2).all(|pair| pair[0].start + pair[0].len == pair[1].start) {
            return Leaves { start: first.start, len };
        }
        let start = self.pool_end();
        for part in parts {
            self.pool.extend_from_within(part.start as usize..(part.start + part.len) as usize);
        }
        Leaves { start, len }
    }

    pub(super) fn code_list(&mut self, leaves: Leaves) -> List {
        let start = u32::try_from(self.linker.code.lists.len()).expect("fewer operands than 2^32");
        let range = leaves.start as usize..(leaves.start + leaves.len) as usize;
        self.linker.code.lists.extend_from_slice(&self.pool[range]);
        List { start, len: leaves.len }
    }

    pub(super) fn constant_operand(&mut self, value: f64) -> Operand {
        let constants = &mut self.linker.code.constants;
        *self.linker.constants.entry(value.to_bits()).or_insert_with(|| {
            constants.push(value);
            Operand::constant(constants.len() - 1)
        })
    }
}
