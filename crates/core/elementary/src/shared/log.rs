//! The natural logarithm: x = 2^k m with m between √½ and √2, `log x = k ln 2 + log m`.
//!
//! With s = (m - 1) / (m + 1), `log m = 2 atanh s = s (2 + ⅔ s² + s⁴ tail(s²))`. Here |s| < 0.172, and s² <
//! 0.0295.

use super::constants::{
    EXPONENT_BIAS_AS_NUM, INFINITE, LIFT, LIFT_EXPONENT, LN2_HI, LN2_LO, MANTISSA, MANTISSA_BITS,
    ONE_LESS_SQRT_HALF, QUIET_NAN, SMALLEST_NORMAL, SQRT_HALF, TWO_THIRDS_HI, TWO_THIRDS_LO, UNIT_STEP,
    UNIT_STEP_BITS,
};
use super::pairs::{ordered_sum, product, quotient};
use super::polynomials::log_tail;
use super::primitives::{Pair, from_bits, pair, plus, select, to_bits};
use super::{Bits, Num};

/// The natural logarithm: negative infinity at zero, NaN for negative numbers.
#[inline(always)]
pub fn log(x: Num) -> Num {
    let y: Pair = log_pair(x);
    let finite = select(x == from_bits(INFINITE), x, y.hi + y.lo);
    let at_zero = select(x == 0.0, -from_bits(INFINITE), from_bits(QUIET_NAN));
    select(x > 0.0, finite, at_zero)
}

/// The natural logarithm of a positive finite number, where `lo` may be as large as √u `hi`.
///
/// m - 1 is exact. The error comes from s⁴ tail(s²), which is at most 0.00018 of the sum and rounded three
/// times: relative to the logarithm it is below 2⁻¹¹ u. The last sum has no cancellation, because |k ln 2| is
/// at least twice |log m| unless k is 0.
#[inline(always)]
pub fn log_pair(x: Num) -> Pair {
    // Scales a subnormal number to a normal one.
    let y = select(x < SMALLEST_NORMAL, x * LIFT, x);
    let lift = select(x < SMALLEST_NORMAL, LIFT_EXPONENT, 0.0);
    // The fields of exponent and fraction, shifted such that the fraction starts at √½.
    let fields: Bits = plus(to_bits(y), ONE_LESS_SQRT_HALF);
    let m = from_bits((fields & MANTISSA) + SQRT_HALF);
    // Places an integer in the last bits of a number whose last bit has weight 1.
    let biased = from_bits((fields >> MANTISSA_BITS) | UNIT_STEP_BITS) - UNIT_STEP;
    let k = (biased - EXPONENT_BIAS_AS_NUM) - lift;
    let f = m - 1.0;
    let s: Pair = quotient(pair(f, 0.0), ordered_sum(2.0, f));
    // The upper half of s has an exact square.
    let square = s.hi * s.hi;
    let square_lo = (s.hi + s.hi + s.lo) * s.lo;
    let z = square + square_lo;
    let third: Pair = product(pair(square, square_lo), pair(TWO_THIRDS_HI, TWO_THIRDS_LO));
    let terms: Pair = ordered_sum(2.0, third.hi);
    let series: Pair = ordered_sum(terms.hi, terms.lo + (third.lo + (z * z) * log_tail(z)));
    let log_m: Pair = product(s, series);
    let sum: Pair = ordered_sum(k * LN2_HI, log_m.hi);
    pair(sum.hi, sum.lo + (log_m.lo + k * LN2_LO))
}
