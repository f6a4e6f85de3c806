//! The constants of `f32`: its format, and constants of functions in this precision.

use super::{Bits, Num};

/// The number of bits in the fraction.
pub const MANTISSA_BITS: Bits = 23;
/// The bits of the fraction.
pub const MANTISSA: Bits = 0x007F_FFFF;
pub const SIGN: Bits = 0x8000_0000;
/// The shift from the second bit of a number of quarter turns to the sign.
pub const QUARTER_TO_SIGN: Bits = 30;
/// All bits but the sign.
pub const MAGNITUDE: Bits = 0x7FFF_FFFF;
/// Keeps the upper 12 bits of the significand.
pub const UPPER_HALF: Bits = 0xFFFF_F000;
pub const EXPONENT_BIAS: Bits = 127;
pub const EXPONENT_BIAS_AS_NUM: Num = 127.0;
pub const INFINITE: Bits = 0x7F80_0000;
/// The NaN that all functions return.
pub const QUIET_NAN: Bits = 0x7FC0_0000;
pub const SMALLEST_NORMAL: Num = 1.1754944e-38;
/// 2²⁵: scales any subnormal number to a normal one.
pub const LIFT: Num = 33554432.0;
pub const LIFT_EXPONENT: Num = 25.0;
/// 2²³: from here on all numbers are integers, and the last bit has weight 1.
pub const UNIT_STEP: Num = 8388608.0;
pub const UNIT_STEP_BITS: Bits = 0x4B00_0000;
/// 1.5 · 2²³: the last bit keeps weight 1 when a negative integer is added.
pub const MAGIC: Num = 12582912.0;

pub const LOG2_E: Num = 1.442695;
/// The first 15 bits of ln 2, so that the product with an exponent is exact.
pub const LN2_HI: Num = 0.69314575;
pub const LN2_LO: Num = 1.4286068e-6;
/// At or below this, exp is zero.
pub const EXP_LOWEST: Num = -104.5;
/// At or above this, exp is infinite.
pub const EXP_HIGHEST: Num = 89.0;
/// At or above this, tanh is 1.
pub const TANH_ONE: Num = 10.0;
/// Two to this power is negligible compared with 1.
pub const NEGLIGIBLE: Num = -120.0;
/// 2³³: with this exponent, the power of any number but 1 is zero or infinite.
pub const LARGEST_EXPONENT: Num = 8589934592.0;

/// The bits of √½.
pub const SQRT_HALF: Bits = 0x3F35_04F3;
/// The bits of 1 minus the bits of √½.
pub const ONE_LESS_SQRT_HALF: Bits = 0x004A_FB0D;
/// The upper half of the bits of ⅔.
pub const TWO_THIRDS_HI: Num = 0.6665039;
pub const TWO_THIRDS_LO: Num = 0.00016276042;

/// Up to here the product of a number of quarter turns and a part of π/2 is exact.
pub const NEAR: Num = 1024.0;
pub const TWO_OVER_PI: Num = 0.63661977;
/// π/2 in four parts; the first three have 14 bits.
pub const PI_2_A: Num = 1.5706787;
pub const PI_2_B: Num = 0.000117614865;
pub const PI_2_C: Num = 9.920313e-10;
pub const PI_2_D: Num = 6.223372e-14;

/// (log 2π)/2.
pub const HALF_LOG_2PI_HI: Num = 0.9189385;
pub const HALF_LOG_2PI_LO: Num = 1.5634177e-8;
pub const LOG_PI: Num = 1.1447299;
pub const PI: Num = 3.1415927;
/// Below this, Γ(x) is 1/x.
pub const NEAR_ZERO: Num = 1e-9;
/// From here on, lgamma is infinite.
pub const LGAMMA_INFINITE: Num = 4.085003e36;
