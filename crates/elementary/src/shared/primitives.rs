//! What the common text takes for granted, in Rust. `c/primitives.h` is the same in C.
//!
//! This is all that is written twice: choosing between two numbers that are both computed already, reading bits as a number
//! and back, a sum of integers that wraps around, and the two structures that functions return.

use super::{Bits, Num};

/// A number as an unevaluated sum. In most places `lo` is below the last digit of `hi`; those that need less say so.
#[derive(Clone, Copy)]
pub struct Pair {
    pub hi: Num,
    pub lo: Num,
}

#[inline(always)]
pub fn pair(hi: Num, lo: Num) -> Pair {
    Pair { hi, lo }
}

/// An angle as a number of quarter turns, of which only the last two bits count, and the small rest `hi + lo`.
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
