//! Powers: `x^y = exp(y log |x|)`, with the logarithm and its product with y as pairs.
//!
//! An error ε in y log |x| is a relative error ε in the result, and |y log |x|| is at most 745 for results
//! within the range. So the pair needs about ten bits more than the result; see the error of [`log_pair`].

use super::Num;
use super::constants::{EXP_HIGHEST, EXP_LOWEST, INFINITE, LARGEST_EXPONENT, LOG2_E, QUIET_NAN};
use super::exp::exp_rest;
use super::log::log_pair;
use super::numbers::{absolute, at_least, at_most, flipped_by_sign_of, is_integer, nearest, scaled};
use super::pairs::{ordered_sum, product};
use super::primitives::{Pair, from_bits, is_nan, pair, select};

/// x to the power y, with the special cases of IEEE 754 (and of C99, Annex F).
///
/// * `pow(x, ±0)` and `pow(1, y)` are 1, even if the other operand is NaN; otherwise NaN gives NaN.
/// * The power of a negative number is NaN unless y is an integer, and negative if y is odd. The signs of
///   zeros and infinities follow the same rule, but y need not be an integer.
#[inline(always)]
pub fn pow(x: Num, y: Num) -> Num {
    let base = absolute(x);
    let exponent = absolute(y);
    // Zero and infinity have no logarithm; 2 replaces them.
    let is_edge: bool = (base == 0.0) | (base == from_bits(INFINITE));
    let at_edge = select((base > 1.0) == (y > 0.0), from_bits(INFINITE), 0.0);
    let inside = pow_inside(select(is_edge, 2.0, base), y);
    let size = select(is_edge, at_edge, inside);

    let is_odd: bool = is_integer(exponent) & !is_integer(0.5 * exponent);
    let with_sign = select(is_odd, flipped_by_sign_of(x, size), size);

    let has_none: bool = (x < 0.0) & !is_edge & !is_integer(exponent);
    let is_undefined: bool = is_nan(x) | is_nan(y) | has_none;
    let defined = select(is_undefined, from_bits(QUIET_NAN), with_sign);
    select((x == 1.0) | (y == 0.0), 1.0, defined)
}

/// x to the power y for positive finite x.
///
/// An |y| larger than `LARGEST_EXPONENT` gives the same result, 0, 1 or infinity, even if x is next to 1. The
/// bound keeps infinities out of the pairs.
#[inline(always)]
pub fn pow_inside(x: Num, y: Num) -> Num {
    let exponent = at_most(at_least(y, -LARGEST_EXPONENT), LARGEST_EXPONENT);
    let p: Pair = product(pair(exponent, 0.0), log_pair(x));
    let wide: Pair = ordered_sum(p.hi, p.lo);
    let hi = at_most(at_least(wide.hi, EXP_LOWEST), EXP_HIGHEST);
    let lo = select(hi == wide.hi, wide.lo, 0.0);
    let k = nearest(hi * LOG2_E);
    let rest: Pair = exp_rest(hi, lo, k);
    let sum: Pair = ordered_sum(1.0, rest.hi);
    scaled(sum.hi + (sum.lo + rest.lo), k)
}
