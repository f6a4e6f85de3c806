//! The functions that saturate, `tanh` and `sigmoid`: quotients of sums with an exponential.
//!
//! Both divide pairs that come from the exponential as a pair, so that there is a single rounding at the end.
//! This keeps the relative error small where `tanh` or `sigmoid` is near 0.

use super::Num;
use super::constants::{EXP_LOWEST, LOG2_E, NEGLIGIBLE, TANH_ONE};
use super::exp::exp_rest;
use super::numbers::{
    absolute, at_least, at_most, flipped_by_sign_of, nearest, power_of_two, scaled, unless_nan,
};
use super::pairs::{exact_sum, ordered_sum, quotient};
use super::primitives::{Pair, pair, select};

/// The hyperbolic tangent: `(e - 1) / (e + 1)` with e = exp(2 |x|), and the sign of x.
///
/// With exp(2 |x|) = 2^k (1 + p), the numerator E is (2^k - 1) + 2^k p. The first term is exact, and 0 if k =
/// 0: near 0 the relative error of E is that of p, about u/2, and it decreases as k grows. The denominator is
/// E + 2. From `TANH_ONE` on, the result is 1.
#[inline(always)]
pub fn tanh(x: Num) -> Num {
    let y = 2.0 * at_most(absolute(x), TANH_ONE);
    let k = nearest(y * LOG2_E);
    let p: Pair = exp_rest(y, 0.0, k);
    let power = power_of_two(k);
    let e: Pair = ordered_sum(power - 1.0, power * p.hi);
    let e_lo = e.lo + power * p.lo;
    let below: Pair = exact_sum(e.hi, 2.0);
    let ratio: Pair = quotient(pair(e.hi, e_lo), pair(below.hi, below.lo + e_lo));
    unless_nan(x, flipped_by_sign_of(x, ratio.hi + ratio.lo))
}

/// The logistic function: `1 / (1 + e)` if x is positive, else `e / (1 + e)`, with e = exp(-|x|).
///
/// With e = 2^k m the second quotient is 2^k (m / (1 + e)), so that small results are scaled last and rounded
/// once. In the denominator a very small e is negligible, so its exponent is bounded.
#[inline(always)]
pub fn sigmoid(x: Num) -> Num {
    let y = at_least(-absolute(x), EXP_LOWEST);
    let k = nearest(y * LOG2_E);
    let p: Pair = exp_rest(y, 0.0, k);
    let m: Pair = ordered_sum(1.0, p.hi);
    let m_lo = m.lo + p.lo;
    let power = power_of_two(at_least(k, NEGLIGIBLE));
    let below: Pair = ordered_sum(1.0, power * m.hi);
    let above: Pair = pair(select(x < 0.0, m.hi, 1.0), select(x < 0.0, m_lo, 0.0));
    let ratio: Pair = quotient(above, pair(below.hi, below.lo + power * m_lo));
    unless_nan(x, scaled(ratio.hi + ratio.lo, select(x < 0.0, k, 0.0)))
}
