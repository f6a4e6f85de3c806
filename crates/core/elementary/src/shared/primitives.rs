//! Primitives of the common subset, in Rust; `c/primitives.h` has the same in C.
//!
//! Only these are written twice: selection between two computed numbers, conversion between bits and numbers,
//! wrapping addition of integers, and the two structures that functions return.

use super::{Bits, Num};

/// A number as an unevaluated sum. Unless stated otherwise, `lo` is below the last bit of `hi`.
#[derive(Clone, Copy)]
pub struct Pair {
    pub hi: Num,
    pub lo: Num,
}

#[inline(always)]
pub fn pair(hi: Num, lo: Num) -> Pair {
    Pair { hi, lo }
}

/// An angle as a number of quarter turns, modulo 4, and the small remainder `hi + lo`.
#[derive(Clone, Copy)]
pub struct Angle {
    pub quarters: Bits,
    pub hi: Num,
    pub lo: Num,
}

#[inline(always)]
pub fn angle(quarters: Bits, hi: Num, lo: Num) -> Angle {
    Angle { quarters, hi, lo }
}

#[inline(always)]
pub fn select(condition: bool, yes: Num, no: Num) -> Num {
    if condition { yes } else { no }
}

#[inline(always)]
pub fn is_nan(x: Num) -> bool {
    x.is_nan()
}

#[inline(always)]
pub fn to_bits(x: Num) -> Bits {
    x.to_bits()
}

#[inline(always)]
pub fn from_bits(bits: Bits) -> Num {
    Num::from_bits(bits)
}

#[inline(always)]
pub fn plus(x: Bits, y: Bits) -> Bits {
    x.wrapping_add(y)
}
