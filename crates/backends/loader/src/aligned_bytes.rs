//! Bytes at an address that is aligned for any C struct.
//!
//! A `Vec<u8>` may begin at any address; vector instructions on a state need it to begin at a cache line.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Zeroed bytes that begin at a multiple of [`AlignedBytes::ALIGNMENT`].
pub struct AlignedBytes {
    /// The requested bytes plus room for `start`. They are `u64` words because the allocator maps zeroed
    /// words lazily, but writes zeros to memory with a stricter alignment.
    words: Vec<u64>,
    /// Offset of the first aligned byte.
    start: usize,
    bytes: usize,
}

impl AlignedBytes {
    /// A cache line, which is also the widest vector.
    pub const ALIGNMENT: usize = 64;

    /// `bytes` zeros. The system maps pages on first access, so room for windows that never start costs
    /// nothing.
    pub fn zeroed(bytes: usize) -> AlignedBytes {
        let words = vec![0_u64; (bytes + AlignedBytes::ALIGNMENT).div_ceil(size_of::<u64>())];
        let start = words.as_ptr().addr().next_multiple_of(AlignedBytes::ALIGNMENT) - words.as_ptr().addr();
        AlignedBytes { words, start, bytes }
    }
}

impl Clone for AlignedBytes {
    fn clone(&self) -> AlignedBytes {
        let mut copy = AlignedBytes::zeroed(self.bytes);
        copy.copy_from_slice(self);
        copy
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let first = self.words.as_ptr().cast::<u8>();
        // SAFETY: `words` holds `ALIGNMENT` bytes more than `bytes`, and `start` is below `ALIGNMENT`: the
        // slice lies inside. All its bytes are initialised, since words have no padding. The slice borrows
        // `self`, and `words` is never reallocated.
        unsafe { std::slice::from_raw_parts(first.wrapping_add(self.start), self.bytes) }
    }
}

impl DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        let first = self.words.as_mut_ptr().cast::<u8>();
        // SAFETY: as in `deref`; and `self` is borrowed mutably, so the slice has no alias. Any byte value
        // may be written to it.
        unsafe { std::slice::from_raw_parts_mut(first.wrapping_add(self.start), self.bytes) }
    }
}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AlignedBytes({} bytes)", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_aligned_and_as_long_as_requested() {
        for bytes in [0, 1, 63, 64, 65, 1000] {
            let mut memory = AlignedBytes::zeroed(bytes);
            assert_eq!(memory.len(), bytes);
            assert_eq!(memory.as_ptr().addr() % AlignedBytes::ALIGNMENT, 0);
            assert!(memory.iter().all(|byte| *byte == 0));
            memory.fill(7);
            assert_eq!(memory.clone().to_vec(), vec![7; bytes]);
        }
    }
}
