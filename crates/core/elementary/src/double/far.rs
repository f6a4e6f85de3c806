//! The angle of a large number, after Payne and Hanek: an integer product with the relevant bits of 2/π.
//!
//! Let x = M 2^e with an integer M of 53 bits. We need the integer part of x (2/π) modulo 4, and the
//! fraction. Bits of 2/π whose product with x is a multiple of 4 are irrelevant. The next 224 bits suffice: M
//! shifts out 53, 2 are the integer part, up to 61 may be zeros (no `f64` is nearer to a multiple of π/2),
//! and more than 100 remain for the fraction. Words have 32 bits, so that products of words fit into 64 bits
//! with room for carries.

use super::constants::{MANTISSA, MANTISSA_BITS};
use super::pairs::{exact_sum, product};
use super::primitives::{Angle, Pair, angle, pair, to_bits};
use super::{Bits, Num, as_num, digits};

const WORD: Bits = 0xFFFFFFFF;
const ONE_OVER_2_30: Num = 9.313225746154785e-10;
const ONE_OVER_2_62: Num = 2.168404344971009e-19;
const ONE_OVER_2_94: Num = 5.048709793414476e-29;
const ONE_OVER_2_126: Num = 1.1754943508222875e-38;
const PI_2_HI: Num = 1.5707963267948966;
const PI_2_LO: Num = 6.123233995736766e-17;

/// The angle of a finite number from 2^9 on.
#[inline(never)]
pub fn far_angle(x: Num) -> Angle {
    let mantissa: Bits = (to_bits(x) & MANTISSA) | (MANTISSA + 1);
    let m_hi: Bits = mantissa >> 32;
    let m_lo: Bits = mantissa & WORD;
    // e + 62 = exponent field - 1023 - 52 + 62, plus 64 - 2 for the zeros in front: the first relevant bit.
    let first: Bits = (to_bits(x) >> MANTISSA_BITS) - 1013;
    let shift: Bits = first & 31;
    let place: Bits = first >> 5;
    let a: Bits = window(place, shift);
    let b: Bits = window(place + 1, shift);
    let c: Bits = window(place + 2, shift);
    let d: Bits = window(place + 3, shift);
    let e: Bits = window(place + 4, shift);
    let f: Bits = window(place + 5, shift);
    let g: Bits = window(place + 6, shift);
    // The product modulo 2^224, from its last word on. Each sum fits into 64 bits, because its terms are
    // split.
    let p: Bits = ((m_lo * g) >> 32) + ((m_hi * g) & WORD) + ((m_lo * f) & WORD);
    let q: Bits =
        (p >> 32) + ((m_lo * f) >> 32) + ((m_hi * g) >> 32) + ((m_hi * f) & WORD) + ((m_lo * e) & WORD);
    let r: Bits =
        (q >> 32) + ((m_lo * e) >> 32) + ((m_hi * f) >> 32) + ((m_hi * e) & WORD) + ((m_lo * d) & WORD);
    let s: Bits =
        (r >> 32) + ((m_lo * d) >> 32) + ((m_hi * e) >> 32) + ((m_hi * d) & WORD) + ((m_lo * c) & WORD);
    let t: Bits =
        (s >> 32) + ((m_lo * c) >> 32) + ((m_hi * d) >> 32) + ((m_hi * c) & WORD) + ((m_lo * b) & WORD);
    let v: Bits =
        (t >> 32) + ((m_lo * b) >> 32) + ((m_hi * c) >> 32) + ((m_hi * b) & WORD) + ((m_lo * a) & WORD);
    let top: Bits = v & WORD;
    // Two bits for the quarter turns, rounded; the rest is between -1/2 and 1/2.
    let quarters: Bits = (top + 0x20000000) >> 30;
    let rest = as_num(top) - as_num(quarters << 30);
    let first_sum: Pair = exact_sum(rest * ONE_OVER_2_30, as_num(t & WORD) * ONE_OVER_2_62);
    let second_sum: Pair = exact_sum(first_sum.hi, as_num(s & WORD) * ONE_OVER_2_94);
    let last_sum: Pair = exact_sum(second_sum.hi, as_num(r & WORD) * ONE_OVER_2_126);
    let fraction: Pair = pair(last_sum.hi, last_sum.lo + (second_sum.lo + first_sum.lo));
    let turned: Pair = product(fraction, pair(PI_2_HI, PI_2_LO));
    let sum: Pair = exact_sum(turned.hi, turned.lo);
    angle(quarters, sum.hi, sum.lo)
}

/// 32 bits of 2/π, starting `place` words and `shift` bits from the start.
#[inline(always)]
pub fn window(place: Bits, shift: Bits) -> Bits {
    ((((digits(place) << 32) | digits(place + 1)) << shift) >> 32) & WORD
}
