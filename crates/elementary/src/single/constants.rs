//! The constants of `f32`: the format, and what the functions need in this precision.

use super::{Bits, Num};

/// How many digits a number has behind its point.
pub const MANTISSA_BITS: Bits = 23;
/// The field of these digits.
pub const MANTISSA: Bits = 0x007F_FFFF;
pub const SIGN: Bits = 0x8000_0000;
/// From the second bit of a count of quarter turns to the sign.
pub const QUARTER_TO_SIGN: Bits = 30;
/// All but the sign.
pub const MAGNITUDE: Bits = 0x7FFF_FFFF;
/// All but the lower digits: 12 remain.
pub const UPPER_HALF: Bits = 0xFFFF_F000;
pub const EXPONENT_BIAS: Bits = 127;
pub const EXPONENT_BIAS_AS_NUM: Num = 127.0;
pub const INFINITE: Bits = 0x7F80_0000;
/// The NaN that all functions return.
pub const QUIET_NAN: Bits = 0x7FC0_0000;
pub const SMALLEST_NORMAL: Num = 1.1754944e-38;
/// 2²⁵, which lifts any subnormal number to the normal ones.
pub const LIFT: Num = 33554432.0;
pub const LIFT_EXPONENT: Num = 25.0;
/// 2²³: from here on all numbers are integers, and the last digit counts ones.
pub const UNIT_STEP: Num = 8388608.0;
pub const UNIT_STEP_BITS: Bits = 0x4B00_0000;
/// 1.5 of that: the last digit still counts ones if a negative integer is added.
pub const MAGIC: Num = 12582912.0;

pub const LOG2_E: Num = 1.442695;
/// The first 15 digits of ln 2: a product with an exponent is exact.
pub const LN2_HI: Num = 0.69314575;
pub const LN2_LO: Num = 1.4286068e-6;
/// From here on exp is zero.
pub const EXP_LOWEST: Num = -104.5;
/// From here on exp is infinite.
pub const EXP_HIGHEST: Num = 89.0;
/// From here on tanh is 1.
pub const TANH_ONE: Num = 10.0;
/// Beside 1, two to this power is nothing.
pub const NEGLIGIBLE: Num = -120.0;
/// 2³³: any number but 1 has a power of zero or infinity with this exponent.
pub const LARGEST_EXPONENT: Num = 8589934592.0;

/// √½.
pub const SQRT_HALF: Bits = 0x3F35_04F3;
/// The bits of 1 less those of √½.
pub const ONE_LESS_SQRT_HALF: Bits = 0x004A_FB0D;
/// The first half of the digits of ⅔.
pub const TWO_THIRDS_HI: Num = 0.6665039;
pub const TWO_THIRDS_LO: Num = 0.00016276042;

/// Up to here a number of quarter turns times a part of π/2 is exact.
pub const NEAR: Num = 1024.0;
pub const TWO_OVER_PI: Num = 0.63661977;
/// π/2 in four parts, the first three of 14 digits.
pub const PI_2_A: Num = 1.5706787;
pub const PI_2_B: Num = 0.000117614865;
pub const PI_2_C: Num = 9.920313e-10;
pub const PI_2_D: Num = 6.223372e-14;
