//! Arithmetic that keeps what rounding would lose: sums, products and quotients as pairs.
//!
//! There is no fused multiplication here, since a machine without one would give other bits or be slow. Instead of it, a product
//! is exact when both factors have at most half of the digits; [`upper_half`] cuts a number down to that with
//! one operation on its bits. What is cut off is as small as the square root of the rounding unit u, so plain arithmetic is good
//! enough for it: the errors that it makes are below u².

use super::Num;
use super::constants::UPPER_HALF;
use super::primitives::{Pair, from_bits, pair, to_bits};

/// The first half of the digits, the others zero.
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

/// `x / y`, where `hi` has half of the digits and `lo` is about √u `hi`. The error is a few u² of the quotient.
///
/// The first half of the quotient is guessed, and its product with the first half of `y` is exact; so is the subtraction, since
/// both sides agree in half of their digits. What remains is divided with plain arithmetic.
#[inline(always)]
pub fn quotient(x: Pair, y: Pair) -> Pair {
    let inverse = 1.0 / y.hi;
    let guess = upper_half(x.hi * inverse);
    let y_upper = upper_half(y.hi);
    let y_rest = (y.hi - y_upper) + y.lo;
    let x_rest = ((x.hi - guess * y_upper) - guess * y_rest) + x.lo;
    pair(guess, x_rest * inverse)
}
