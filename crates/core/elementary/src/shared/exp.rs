//! The exponential: `exp(x) = 2^k exp(r)` with r = x - k ln 2, hence |r| ≤ (ln 2)/2.
//!
//! [`exp_rest`] computes `exp(r) - 1` as a pair; all functions of this crate that need an exponential use it.

use super::Num;
use super::constants::{EXP_HIGHEST, EXP_LOWEST, LN2_HI, LN2_LO, LOG2_E};
use super::numbers::{at_least, at_most, nearest, scaled, unless_nan};
use super::pairs::ordered_sum;
use super::polynomials::exp_tail;
use super::primitives::{Pair, pair};

/// e to the power x.
///
/// The sum of 1 and the pair is rounded once, and the last step is exact unless the result is subnormal.
/// Outside of the bounds the result is infinite or zero; inside, k fits into an exponent, split in two.
#[inline(always)]
pub fn exp(x: Num) -> Num {
    let y = at_most(at_least(x, EXP_LOWEST), EXP_HIGHEST);
    let k = nearest(y * LOG2_E);
    let rest: Pair = exp_rest(y, 0.0, k);
    let sum: Pair = ordered_sum(1.0, rest.hi);
    unless_nan(x, scaled(sum.hi + (sum.lo + rest.lo), k))
}

/// `exp(x + x_lo - k ln 2) - 1` as a pair, for k = nearest(x / ln 2) and a small `x_lo`.
///
/// The product of k and `LN2_HI` is exact, because `LN2_HI` ends in enough zeros, and so is its difference
/// from x. Let r be the remainder and u the rounding unit. exp(r) - 1 = r + q with q = r² (1/2 + r tail(r)),
/// |q| < 0.19 |r|; q is rounded about three times, so the relative error of the pair is below 3 u 0.19, about
/// half of u. The error of the tail, a minimax polynomial, is far below that.
#[inline(always)]
pub fn exp_rest(x: Num, x_lo: Num, k: Num) -> Pair {
    let exact = x - k * LN2_HI;
    let correction = x_lo - k * LN2_LO;
    let r = exact + correction;
    let r_lo = (exact - r) + correction;
    let q = (r * r) * (0.5 + r * exp_tail(r));
    let sum: Pair = ordered_sum(r, q);
    pair(sum.hi, sum.lo + r_lo)
}
