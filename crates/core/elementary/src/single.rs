//! The functions of `f32`.
//!
//! The files in `shared` are compiled twice, here and in [`double`](crate::double), with different
//! definitions of [`Num`], constants and polynomials.

/// The type of numbers in this module.
pub type Num = f32;

/// The bits of a number, and small integers.
type Bits = u32;

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

use primitives::Angle;

/// The angle of a large number: computed in `f64`, then rounded. `c/single.h` has the same in C.
#[allow(clippy::cast_possible_truncation)] // a rest is small, and of the quarters the last bits count
fn far_angle(x: Num) -> Angle {
    let wide = crate::double::far_angle(f64::from(x));
    let hi = wide.hi as Num;
    primitives::angle(wide.quarters as Bits, hi, (wide.hi - f64::from(hi)) as Num)
}
