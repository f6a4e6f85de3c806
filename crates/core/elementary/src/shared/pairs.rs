//! Arithmetic on pairs, which keeps the bits that rounding would lose: sums, products and quotients.
//!
//! There is no fused multiply-add here, since machines without one would give different bits or be slow.
//! Instead, a product is exact when both factors have at most half of the bits; [`upper_half`] truncates a
//! number to that with one bit operation. The truncated part is as small as the square root of the rounding
//! unit u, so plain arithmetic suffices for it: its errors are below u².

use super::Num;
use super::constants::UPPER_HALF;
use super::primitives::{Pair, from_bits, pair, to_bits};

/// The upper half of the bits, with the others zero.
#[inline(always)]
pub fn upper_half(x: Num) -> Num {
    from_bits(to_bits(x) & UPPER_HALF)
}

/// `x + y` exactly, if |x| ≥ |y| or x = 0.
#[inline(always)]
pub fn ordered_sum(x: Num, y: Num) -> Pair {
    let sum = x + y;
    pair(sum, (x - sum) + y)
}

/// `x + y` exactly.
#[inline(always)]
pub fn exact_sum(x: Num, y: Num) -> Pair {
    let sum = x + y;
    let y_in_sum = sum - x;
    let x_in_sum = sum - y_in_sum;
    pair(sum, (x - x_in_sum) + (y - y_in_sum))
}

/// `x y`, where `lo` may be as large as √u `hi`. The error is a few u² of the product.
#[inline(always)]
pub fn product(x: Pair, y: Pair) -> Pair {
    let x_upper = upper_half(x.hi);
    let y_upper = upper_half(y.hi);
    let x_rest = (x.hi - x_upper) + x.lo;
    let y_rest = (y.hi - y_upper) + y.lo;
    pair(x_upper * y_upper, x_upper * y_rest + x_rest * (y.hi + y.lo))
}

/// `x / y`, where `hi` has half of the bits and `lo` is about √u `hi`. The error is a few u² of the quotient.
///
/// The upper half of the quotient is estimated, and its product with the upper half of `y` is exact; so is
/// the subtraction, because both sides agree in half of their bits. The remainder is divided with plain
/// arithmetic.
#[inline(always)]
pub fn quotient(x: Pair, y: Pair) -> Pair {
    let inverse = 1.0 / y.hi;
    let guess = upper_half(x.hi * inverse);
    let y_upper = upper_half(y.hi);
    let y_rest = (y.hi - y_upper) + y.lo;
    let x_rest = ((x.hi - guess * y_upper) - guess * y_rest) + x.lo;
    pair(guess, x_rest * inverse)
}
