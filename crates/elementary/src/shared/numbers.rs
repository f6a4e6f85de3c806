//! Questions about one number and operations on its parts: sign, exponent, integer part.

use super::Num;
use super::constants::{EXPONENT_BIAS, MAGIC, MAGNITUDE, MANTISSA_BITS, QUIET_NAN, SIGN, UNIT_STEP};
use super::primitives::{from_bits, is_nan, plus, select, to_bits};

/// The nearest integer, for numbers that are much smaller than [`MAGIC`]: adding it leaves no place for a fraction.
#[inline(always)]
pub fn nearest(x: Num) -> Num {
    (x + MAGIC) - MAGIC
}

/// Whether a number that is not negative is an integer; from `UNIT_STEP` on all are.
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

/// `x`, at most `highest`. NaN stays.
#[inline(always)]
pub fn at_most(x: Num, highest: Num) -> Num {
    select(x > highest, highest, x)
}

/// `x`, at least `lowest`. NaN stays.
#[inline(always)]
pub fn at_least(x: Num, lowest: Num) -> Num {
    select(x < lowest, lowest, x)
}

/// 2 to the power k, an integer in the range of the exponents of normal numbers.
///
/// The last digits of k + MAGIC are k in two's complement; they are moved to where the exponent is.
#[inline(always)]
pub fn power_of_two(k: Num) -> Num {
    from_bits(plus(to_bits(k + MAGIC), EXPONENT_BIAS) << MANTISSA_BITS)
}

/// `x 2^k` for k between the double of the lowest and of the highest exponent; rounded once, if at all.
#[inline(always)]
pub fn scaled(x: Num, k: Num) -> Num {
    let half = nearest(0.5 * k);
    (x * power_of_two(half)) * power_of_two(k - half)
}

/// `y`, and the one NaN where `x` is any.
#[inline(always)]
pub fn unless_nan(x: Num, y: Num) -> Num {
    select(is_nan(x), from_bits(QUIET_NAN), y)
}
