//! The logarithm of the gamma function, and its derivative, by Stirling's series.
//!
//! The series needs an argument of at least 10. A smaller one is raised by ten steps of Γ(x + 1) = x Γ(x). A
//! negative one is reflected: Γ(x) Γ(-x) = -π / (x sin πx).
//!
//! `lgamma` of positive numbers is computed in pairs up to the last sum, since its terms cancel near the
//! zeros 1 and 2.

use super::Num;
use super::constants::{
    HALF_LOG_2PI_HI, HALF_LOG_2PI_LO, INFINITE, LGAMMA_INFINITE, LOG_PI, NEAR_ZERO, PI, QUIET_NAN, UNIT_STEP,
};
use super::log::{log, log_pair};
use super::numbers::{absolute, at_least, at_most, is_integer, nearest, unless_nan};
use super::pairs::{exact_sum, product};
use super::primitives::{Pair, from_bits, pair, select};
use super::trigonometry::{cos_near, sin_near};

/// log |Γ(x)|: infinite at 0, -1, -2, … and at both infinities.
#[inline(always)]
pub fn lgamma(x: Num) -> Num {
    let a = absolute(x);
    let above: Pair = lgamma_above(at_most(at_least(a, NEAR_ZERO), LGAMMA_INFINITE));
    let positive = above.hi + above.lo;
    let wave = absolute(sin_near(PI * fraction(a)));
    let reflected = (LOG_PI - (log(a) + log(wave))) - positive;
    let inside = select(x < 0.0, select(is_integer(a), from_bits(INFINITE), reflected), positive);
    let far = select(a >= LGAMMA_INFINITE, from_bits(INFINITE), inside);
    let near = select(a < NEAR_ZERO, -log(a), far);
    unless_nan(x, select((x == 1.0) | (x == 2.0), 0.0, near))
}

/// The derivative of [`lgamma`]: NaN at -1, -2, …, infinite at 0 with the sign of -x.
#[inline(always)]
pub fn digamma(x: Num) -> Num {
    let a = absolute(x);
    let positive = digamma_above(at_least(a, NEAR_ZERO));
    let angle = PI * fraction(a);
    let cotangent = cos_near(angle) / sin_near(angle);
    let reflected = (positive + 1.0 / a) + PI * cotangent;
    let inside = select(x < 0.0, select(is_integer(a), from_bits(QUIET_NAN), reflected), positive);
    unless_nan(x, select(a < NEAR_ZERO, -(1.0 / x), inside))
}

/// The distance of a non-negative number from the nearest integer, with its sign.
#[inline(always)]
pub fn fraction(a: Num) -> Num {
    let b = at_most(a, UNIT_STEP);
    b - nearest(b)
}

/// log Γ(x) for positive x.
#[inline(always)]
pub fn lgamma_above(x: Num) -> Pair {
    let is_low: bool = x < 10.0;
    let y: Pair = exact_sum(x, select(is_low, 10.0, 0.0));
    let series: Pair = stirling(y);
    let low = at_most(x, 10.0);
    let steps: Pair = log_of_pair(ten_factors(low));
    let sum: Pair = exact_sum(series.hi, select(is_low, -steps.hi, 0.0));
    pair(sum.hi, sum.lo + (series.lo - select(is_low, steps.lo, 0.0)))
}

/// The natural logarithm of a positive pair.
#[inline(always)]
pub fn log_of_pair(x: Pair) -> Pair {
    let y: Pair = log_pair(x.hi);
    pair(y.hi, y.lo + x.lo / x.hi)
}

/// x (x + 1) … (x + 9).
#[inline(always)]
pub fn ten_factors(x: Num) -> Pair {
    let a: Pair = product(pair(x, 0.0), exact_sum(x, 1.0));
    let b: Pair = product(exact_sum(x, 2.0), exact_sum(x, 3.0));
    let c: Pair = product(exact_sum(x, 4.0), exact_sum(x, 5.0));
    let d: Pair = product(exact_sum(x, 6.0), exact_sum(x, 7.0));
    let e: Pair = product(exact_sum(x, 8.0), exact_sum(x, 9.0));
    let all: Pair = product(product(product(a, b), product(c, d)), e);
    exact_sum(all.hi, all.lo)
}

/// log Γ(y) for y of at least 10: `(y - ½) log y - y + ½ log 2π + 1/(12 y) - …`. The first term left out is
/// below 2⁻⁶².
#[inline(always)]
pub fn stirling(y: Pair) -> Pair {
    let half: Pair = exact_sum(y.hi, -0.5);
    let power: Pair = product(pair(half.hi, half.lo + y.lo), log_of_pair(y));
    let less: Pair = exact_sum(power.hi, -y.hi);
    let more: Pair = exact_sum(less.hi, HALF_LOG_2PI_HI);
    let v = 1.0 / y.hi;
    let z = v * v;
    let a = -0.002777777777777778 + z * (0.0007936507936507937 + z * -0.0005952380952380953);
    let b = 0.0008417508417508417 + z * (-0.0019175269175269176 + z * 0.00641025641025641);
    let c = -0.029550653594771242 + z * 0.17964437236883057;
    let z3 = z * z * z;
    let tail = v * (0.08333333333333333 + z * (a + z3 * (b + z3 * c)));
    pair(more.hi, more.lo + ((power.lo + (less.lo - y.lo)) + (HALF_LOG_2PI_LO + tail)))
}

/// The derivative of log Γ for positive x.
#[inline(always)]
pub fn digamma_above(x: Num) -> Num {
    let is_low: bool = x < 10.0;
    let y = x + select(is_low, 10.0, 0.0);
    let v = 1.0 / y;
    let z = v * v;
    let a = 0.08333333333333333 + z * (-0.008333333333333333 + z * 0.003968253968253968);
    let b = -0.004166666666666667 + z * (0.007575757575757576 + z * -0.021092796092796094);
    let c = 0.08333333333333333 + z * -0.4432598039215686;
    let z3 = z * z * z;
    let series = 0.5 * v + z * (a + z3 * (b + z3 * c));
    let low = at_most(x, 10.0);
    let ends = (1.0 / (low + 9.0) + 1.0 / (low + 8.0)) + (1.0 / (low + 7.0) + 1.0 / (low + 6.0));
    let inner = (1.0 / (low + 5.0) + 1.0 / (low + 4.0)) + (1.0 / (low + 3.0) + 1.0 / (low + 2.0));
    let steps = (ends + inner) + (1.0 / (low + 1.0) + 1.0 / low);
    let logarithm: Pair = log_pair(at_most(y, LGAMMA_INFINITE));
    let large = select(x >= LGAMMA_INFINITE, log(x), logarithm.hi + (logarithm.lo - series));
    select(is_low, logarithm.hi - (steps - (logarithm.lo - series)), large)
}
