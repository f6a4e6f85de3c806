//! Properties of one number, and operations on its sign, exponent and integer part.

use super::Num;
use super::constants::{EXPONENT_BIAS, MAGIC, MAGNITUDE, MANTISSA_BITS, QUIET_NAN, SIGN, UNIT_STEP};
use super::primitives::{from_bits, is_nan, plus, select, to_bits};

/// The nearest integer, for numbers much smaller than [`MAGIC`]: adding it rounds the fraction away.
#[inline(always)]
pub fn nearest(x: Num) -> Num {
    (x + MAGIC) - MAGIC
}

/// Whether a non-negative number is an integer; from `UNIT_STEP` on all are.
#[inline(always)]
pub fn is_integer(x: Num) -> bool {
    (x >= UNIT_STEP) | ((x + UNIT_STEP) - UNIT_STEP == x)
}

#[inline(always)]
pub fn absolute(x: Num) -> Num {
    from_bits(to_bits(x) & MAGNITUDE)
}

/// `y`, or `-y` if `x` is negative.
#[inline(always)]
pub fn flipped_by_sign_of(x: Num, y: Num) -> Num {
    from_bits(to_bits(y) ^ (to_bits(x) & SIGN))
}

/// `min(x, highest)`; NaN stays NaN.
#[inline(always)]
pub fn at_most(x: Num, highest: Num) -> Num {
    select(x > highest, highest, x)
}

/// `max(x, lowest)`; NaN stays NaN.
#[inline(always)]
pub fn at_least(x: Num, lowest: Num) -> Num {
    select(x < lowest, lowest, x)
}

/// 2 to the power k, for an integer k in the exponent range of normal numbers.
///
/// The last bits of k + MAGIC are k in two's complement; they are shifted to the exponent.
#[inline(always)]
pub fn power_of_two(k: Num) -> Num {
    from_bits(plus(to_bits(k + MAGIC), EXPONENT_BIAS) << MANTISSA_BITS)
}

/// `x 2^k` for k between twice the lowest and twice the highest exponent; rounded at most once.
#[inline(always)]
pub fn scaled(x: Num, k: Num) -> Num {
    let half = nearest(0.5 * k);
    (x * power_of_two(half)) * power_of_two(k - half)
}

/// `y`, or the canonical NaN if `x` is NaN.
#[inline(always)]
pub fn unless_nan(x: Num, y: Num) -> Num {
    select(is_nan(x), from_bits(QUIET_NAN), y)
}
