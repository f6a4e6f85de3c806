//! Sine and cosine: |x| = k π/2 + r with |r| ≤ π/4; k mod 4 selects one of ± sin r and ± cos r.
//!
//! The remainder r needs more bits of π/2 than the leading bits of k π/2 cancel. Up to NEAR, subtracting four
//! parts of π/2 in turn achieves this without a branch ([`near_angle`]). Beyond NEAR it takes an integer
//! product with the right bits of 2/π (`far_angle`), which is slow and rarely needed. To let loops vectorise,
//! there are
//!
//! * `sin_near` and `cos_near`, without branches, correct up to NEAR (and meaningless beyond), and
//! * `sin` and `cos`, correct everywhere, with one branch.

use super::constants::{MAGIC, NEAR, PI_2_A, PI_2_B, PI_2_C, PI_2_D, QUARTER_TO_SIGN, TWO_OVER_PI};
use super::far_angle;
use super::numbers::{absolute, flipped_by_sign_of, nearest, unless_nan};
use super::pairs::{exact_sum, ordered_sum};
use super::polynomials::{cos_tail, sin_tail};
use super::primitives::{Angle, Pair, angle, from_bits, plus, select, to_bits};
use super::{Bits, Num};

/// Whether [`sin_near`] and [`cos_near`] are correct at `x`.
#[inline(always)]
pub fn is_near(x: Num) -> bool {
    absolute(x) <= NEAR
}

/// The sine of x; NaN for infinities.
#[inline]
pub fn sin(x: Num) -> Num {
    if is_near(x) { sin_near(x) } else { sin_far(x) }
}

/// The cosine of x; NaN for infinities.
#[inline]
pub fn cos(x: Num) -> Num {
    if is_near(x) { cos_near(x) } else { cos_far(x) }
}

/// The sine of x, if [`is_near`].
#[inline(always)]
pub fn sin_near(x: Num) -> Num {
    let a: Angle = near_angle(absolute(x));
    unless_nan(x, flipped_by_sign_of(x, sin_of(a.quarters, a)))
}

/// The cosine of x, if [`is_near`].
#[inline(always)]
pub fn cos_near(x: Num) -> Num {
    let a: Angle = near_angle(absolute(x));
    unless_nan(x, sin_of(plus(a.quarters, 1), a))
}

/// The sine of x, if not [`is_near`].
#[inline(never)]
pub fn sin_far(x: Num) -> Num {
    let a: Angle = far_angle(absolute(x));
    unless_nan(x - x, flipped_by_sign_of(x, sin_of(a.quarters, a)))
}

/// The cosine of x, if not [`is_near`].
#[inline(never)]
pub fn cos_far(x: Num) -> Num {
    let a: Angle = far_angle(absolute(x));
    unless_nan(x - x, sin_of(plus(a.quarters, 1), a))
}

/// The angle of a number from 0 to NEAR.
///
/// The products with the parts A, B and C of π/2 are exact, because these parts end in zeros; the first
/// difference is exact too, and the others are computed as pairs. No floating-point number in the range is so
/// near to a multiple of π/2 that the bits of A to D run out: the remainder is correct to 2⁻¹⁰ u or better.
#[inline(always)]
pub fn near_angle(x: Num) -> Angle {
    let k = nearest(x * TWO_OVER_PI);
    let without_a = x - k * PI_2_A;
    let without_b: Pair = exact_sum(without_a, -(k * PI_2_B));
    let without_c: Pair = exact_sum(without_b.hi, -(k * PI_2_C));
    let r: Pair = ordered_sum(without_c.hi, (without_b.lo + without_c.lo) - k * PI_2_D);
    angle(to_bits(k + MAGIC), r.hi, r.lo)
}

/// The sine of an angle: `quarters` quarter turns plus the remainder of `rest`.
#[inline(always)]
pub fn sin_of(quarters: Bits, rest: Angle) -> Num {
    let size = select((quarters & 1) == 0, sin_rest(rest.hi, rest.lo), cos_rest(rest.hi, rest.lo));
    from_bits(to_bits(size) ^ ((quarters & 2) << QUARTER_TO_SIGN))
}

/// `sin(r + r_lo)` for |r| ≤ π/4: r plus a correction of at most a tenth of it, hence an error below 0.5 +
/// 0.3 units.
#[inline(always)]
pub fn sin_rest(r: Num, r_lo: Num) -> Num {
    let z = r * r;
    r + (r * (z * sin_tail(z)) + r_lo * (1.0 - 0.5 * z))
}

/// `cos(r + r_lo)` for |r| ≤ π/4: besides the final rounding, the largest error is that of r² / 2, at most a
/// quarter of a unit.
#[inline(always)]
pub fn cos_rest(r: Num, r_lo: Num) -> Num {
    let z = r * r;
    let half = 0.5 * z;
    let top = 1.0 - half;
    top + (((1.0 - top) - half) + ((z * z) * cos_tail(z) - r * r_lo))
}
