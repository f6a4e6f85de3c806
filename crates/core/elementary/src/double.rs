//! The functions of `f64`.
//!
//! The files in `shared` are compiled twice, here and in [`single`](crate::single), with different
//! definitions of [`Num`], constants and polynomials.

/// The type of numbers in this module.
pub type Num = f64;

/// The bits of a number, and small integers.
type Bits = u64;

mod constants;
mod polynomials;

#[path = "shared/primitives.rs"]
mod primitives;

#[path = "shared/numbers.rs"]
mod numbers;

#[path = "shared/pairs.rs"]
mod pairs;

#[path = "shared/exp.rs"]
mod exp;

#[path = "shared/sigmoid.rs"]
mod sigmoid;

#[path = "shared/log.rs"]
mod log;

#[path = "shared/pow.rs"]
mod pow;

#[path = "shared/trigonometry.rs"]
mod trigonometry;

#[path = "shared/gamma.rs"]
mod gamma;

pub use exp::exp;
pub use gamma::{digamma, lgamma};
pub use log::log;
pub use pow::pow;
pub use sigmoid::{sigmoid, tanh};
pub use trigonometry::{cos, cos_near, is_near, sin, sin_near};

mod far;

pub(crate) use far::far_angle;

// Primitives of `far`; `c/double.h` has the same in C.

#[inline(always)]
#[allow(clippy::cast_precision_loss)] // it has at most 35 digits
fn as_num(integer: Bits) -> Num {
    integer as Num
}

/// A word of the digits of 2/π.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // it is below 42
fn digits(word: Bits) -> Bits {
    constants::DIGITS_OF_2_OVER_PI[word as usize]
}
