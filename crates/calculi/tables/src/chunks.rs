//! Tables and stacks in chunks: they grow without moving their items, so the counted memory is the used
//! memory.
//!
//! A growing vector is copied: both copies exist for a moment, or longer if the allocator does not return the
//! old one to the system.

use std::ops::{Index, IndexMut};

/// The size of a chunk; the first one starts smaller. All tables have chunks of one size, so that one table
/// can reuse the freed chunks of another.
const CHUNK_BYTES: usize = 1 << 16;

/// A table of numbered items, or a stack.
#[derive(Debug)]
pub(crate) struct Chunks<T> {
    /// All but the last two are full. The last one may be empty: a stack frees it only when the one before is
    /// half empty.
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Chunks { chunks: vec![Vec::new()], len: 0 }
    }
}

impl<T> Chunks<T> {
    /// The number of items in a chunk.
    const ITEMS: usize = CHUNK_BYTES / size_of::<T>();

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The memory in use.
    pub(crate) fn bytes(&self) -> usize {
        let items = if let [first] = self.chunks.as_slice() {
            first.capacity()
        } else {
            self.chunks.len() * Self::ITEMS
        };
        items * size_of::<T>()
    }

    pub(crate) fn push(&mut self, item: T) {
        let at = self.len / Self::ITEMS;
        if at == self.chunks.len() {
            self.chunks.push(Vec::with_capacity(Self::ITEMS));
        }
        self.chunks[at].push(item);
        self.len += 1;
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        let at = self.len / Self::ITEMS;
        let item = self.chunks[at].pop();
        if self.len % Self::ITEMS < Self::ITEMS / 2 {
            self.chunks.truncate(at + 1);
        }
        item
    }

    /// Keeps the first `len` items.
    pub(crate) fn truncate(&mut self, len: usize) {
        if len < self.len {
            self.chunks.truncate(len / Self::ITEMS + 1);
            self.chunks[len / Self::ITEMS].truncate(len % Self::ITEMS);
            self.len = len;
        }
    }

    pub(crate) fn swap(&mut self, a: usize, b: usize) {
        let (chunk_a, chunk_b) = (a / Self::ITEMS, b / Self::ITEMS);
        if chunk_a == chunk_b {
            return self.chunks[chunk_a].swap(a % Self::ITEMS, b % Self::ITEMS);
        }
        let (low, high) = (a.min(b), a.max(b));
        let (before, after) = self.chunks.split_at_mut(high / Self::ITEMS);
        std::mem::swap(&mut before[low / Self::ITEMS][low % Self::ITEMS], &mut after[0][high % Self::ITEMS]);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.chunks.iter_mut().flatten()
    }
}

impl<T> Index<usize> for Chunks<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        &self.chunks[at / Self::ITEMS][at % Self::ITEMS]
    }
}

impl<T> IndexMut<usize> for Chunks<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.chunks[at / Self::ITEMS][at % Self::ITEMS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: usize = Chunks::<usize>::ITEMS;

    /// Behaves like a vector, across the borders of chunks.
    #[test]
    fn a_table_in_chunks_is_a_vector() {
        let (mut chunks, mut vector) = (Chunks::default(), Vec::new());
        for n in 0..3 * CHUNK + 5 {
            chunks.push(n);
            vector.push(n);
        }
        for (a, b) in [(0, 1), (3, 2 * CHUNK + 1), (2 * CHUNK, CHUNK - 1), (7, 7)] {
            chunks.swap(a, b);
            vector.swap(a, b);
        }
        for len in [2 * CHUNK + 1, 2 * CHUNK, 2 * CHUNK - 1, CHUNK] {
            while vector.len() > len {
                assert_eq!(chunks.pop(), vector.pop());
            }
            for n in 0..3 {
                chunks.push(n);
                vector.push(n);
            }
            assert!(chunks.iter().eq(vector.iter()));
            assert!((0..vector.len()).all(|at| chunks[at] == vector[at]));
        }
        for len in [CHUNK, CHUNK - 1, 0] {
            chunks.truncate(len);
            vector.truncate(len);
            assert!(chunks.iter().eq(vector.iter()));
            assert_eq!(chunks.len(), len);
        }
        assert_eq!(chunks.pop(), None);
    }

    /// A stack on the border of two chunks keeps the second one.
    #[test]
    fn a_stack_frees_chunks_late() {
        let mut chunks = Chunks::default();
        (0..=CHUNK).for_each(|n| chunks.push(n));
        let full = chunks.bytes();
        assert_eq!((chunks.pop(), chunks.pop()), (Some(CHUNK), Some(CHUNK - 1)));
        assert_eq!(chunks.bytes(), full);
        (0..CHUNK / 2).for_each(|_| _ = chunks.pop());
        assert!(chunks.bytes() < full);
    }
}
