//! The polynomials of `f32`: minimax for the weighted error stated with each; coefficients are rounded from
//! the first on.

use super::Num;

/// `(exp(r) - 1 - r - r²/2) / r³` for |r| ≤ (ln 2)/2. Error, times r³: 2^-33.1.
#[inline(always)]
pub fn exp_tail(r: Num) -> Num {
    let z = r * r;
    let a = 0.16666667 + r * 0.041666463;
    let b = 0.008333203 + r * 0.00139351;
    a + z * (b + z * 0.00019948436)
}

/// `(2 atanh(s)/s - 2 - ⅔z) / z²` with s² = z ≤ 0.0295. Error, times z²: 2^-35.7.
#[inline(always)]
pub fn log_tail(z: Num) -> Num {
    0.40000153 + z * (0.285471 + z * 0.23419274)
}

/// `(sin(r)/r - 1) / z` with r² = z ≤ π²/16. Error, times z: 2^-32.5.
#[inline(always)]
pub fn sin_tail(z: Num) -> Num {
    let a = -0.16666667 + z * 0.00833338;
    let b = -0.00019853505 + z * 2.837389e-6;
    a + (z * z) * b
}

/// `(cos(r) - 1 + z/2) / z²` with r² = z ≤ π²/16. Error, times z²: 2^-33.1.
#[inline(always)]
pub fn cos_tail(z: Num) -> Num {
    0.041666646 + z * (-0.0013887301 + z * 2.443067e-5)
}
