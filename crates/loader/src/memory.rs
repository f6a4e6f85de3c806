//! Bytes at an address that any struct of C may have.
//!
//! A `Vec<u8>` may begin anywhere; vector instructions on a state want the beginning of a cache line.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Zeroed bytes that begin at a multiple of [`Memory::ALIGNMENT`].
#[derive(Clone)]
pub struct Memory {
    lines: Vec<Line>,
    bytes: usize,
}

/// A cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; Memory::ALIGNMENT]);

impl Memory {
    /// A cache line, and the widest vector.
    pub const ALIGNMENT: usize = 64;

    /// So many zeros.
    pub fn zeroed(bytes: usize) -> Memory {
        Memory { lines: vec![Line([0; Memory::ALIGNMENT]); bytes.div_ceil(Memory::ALIGNMENT)], bytes }
    }
}

impl Deref for Memory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `lines` holds at least `bytes` bytes in a row, since a `Line` is an array of bytes without padding (`repr(C)`, and
        // its size is its alignment); all are initialised. They are borrowed as long as `self` is.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.bytes) }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; and `self` is borrowed mutably, so nobody else sees these bytes. Any byte may be written to them.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.bytes) }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({} bytes)", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_aligned_and_as_long_as_asked() {
        for bytes in [0, 1, 63, 64, 65, 1000] {
            let mut memory = Memory::zeroed(bytes);
            assert_eq!(memory.len(), bytes);
            assert_eq!(memory.as_ptr().addr() % Memory::ALIGNMENT, 0);
            assert!(memory.iter().all(|byte| *byte == 0));
            memory.fill(7);
            assert_eq!(memory.clone().to_vec(), vec![7; bytes]);
        }
    }
}
