//! The constants of `f64`: its format, and constants of functions in this precision.

use super::{Bits, Num};

/// The number of bits in the fraction.
pub const MANTISSA_BITS: Bits = 52;
/// The bits of the fraction.
pub const MANTISSA: Bits = 0x000F_FFFF_FFFF_FFFF;
pub const SIGN: Bits = 0x8000_0000_0000_0000;
/// The shift from the second bit of a number of quarter turns to the sign.
pub const QUARTER_TO_SIGN: Bits = 62;
/// All bits but the sign.
pub const MAGNITUDE: Bits = 0x7FFF_FFFF_FFFF_FFFF;
/// Keeps the upper 26 bits of the significand.
pub const UPPER_HALF: Bits = 0xFFFF_FFFF_F800_0000;
pub const EXPONENT_BIAS: Bits = 1023;
pub const EXPONENT_BIAS_AS_NUM: Num = 1023.0;
pub const INFINITE: Bits = 0x7FF0_0000_0000_0000;
/// The NaN that all functions return.
pub const QUIET_NAN: Bits = 0x7FF8_0000_0000_0000;
pub const SMALLEST_NORMAL: Num = 2.2250738585072014e-308;
/// 2⁵⁴: scales any subnormal number to a normal one.
pub const LIFT: Num = 18014398509481984.0;
pub const LIFT_EXPONENT: Num = 54.0;
/// 2⁵²: from here on all numbers are integers, and the last bit has weight 1.
pub const UNIT_STEP: Num = 4503599627370496.0;
pub const UNIT_STEP_BITS: Bits = 0x4330_0000_0000_0000;
/// 1.5 · 2⁵²: the last bit keeps weight 1 when a negative integer is added.
pub const MAGIC: Num = 6755399441055744.0;

pub const LOG2_E: Num = 1.4426950408889634;
/// The first 41 bits of ln 2, so that the product with an exponent is exact.
pub const LN2_HI: Num = 0.693147180559663;
pub const LN2_LO: Num = 2.8235290563031577e-13;
/// At or below this, exp is zero.
pub const EXP_LOWEST: Num = -746.0;
/// At or above this, exp is infinite.
pub const EXP_HIGHEST: Num = 710.0;
/// At or above this, tanh is 1.
pub const TANH_ONE: Num = 20.0;
/// Two to this power is negligible compared with 1.
pub const NEGLIGIBLE: Num = -1000.0;
/// 2⁶⁵: with this exponent, the power of any number but 1 is zero or infinite.
pub const LARGEST_EXPONENT: Num = 36893488147419103232.0;

/// The bits of √½.
pub const SQRT_HALF: Bits = 0x3FE6_A09E_667F_3BCD;
/// The bits of 1 minus the bits of √½.
pub const ONE_LESS_SQRT_HALF: Bits = 0x0009_5F61_9980_C433;
/// The upper half of the bits of ⅔.
pub const TWO_THIRDS_HI: Num = 0.6666666567325592;
pub const TWO_THIRDS_LO: Num = 9.934107462565104e-9;

/// Up to here the product of a number of quarter turns and a part of π/2 is exact.
pub const NEAR: Num = 1048576.0;
pub const TWO_OVER_PI: Num = 0.6366197723675814;
/// π/2 in four parts; the first three have 33 bits.
pub const PI_2_A: Num = 1.5707963267341256;
pub const PI_2_B: Num = 6.077100506303966e-11;
pub const PI_2_C: Num = 2.0222662487111665e-21;
pub const PI_2_D: Num = 8.4784276603689e-32;

/// (log 2π)/2.
pub const HALF_LOG_2PI_HI: Num = 0.9189385332046728;
pub const HALF_LOG_2PI_LO: Num = -3.8782941580672414e-17;
pub const LOG_PI: Num = 1.1447298858494002;
pub const PI: Num = 3.141592653589793;
/// Below this, Γ(x) is 1/x.
pub const NEAR_ZERO: Num = 1e-17;
/// From here on, lgamma is infinite.
pub const LGAMMA_INFINITE: Num = 2.556348163871691e305;

/// The bits of 2/π in words of 32, after two words of zeros.
pub const DIGITS_OF_2_OVER_PI: [Bits; 42] = [
    0, 0, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561,
    0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484,
    0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F,
    0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B,
    0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046, 0xFC7B6BAB, 0xF0CFBC20, 0x9AF4361D,
];
