//! The polynomials of `f64`: minimax for the weighted error stated with each; coefficients are rounded from
//! the first on.
//!
//! Even and odd terms are summed in parallel, which halves the latency of a single result.

use super::Num;

/// `(exp(r) - 1 - r - r²/2) / r³` for |r| ≤ (ln 2)/2. Error, times r³: 2^-63.8.
#[inline(always)]
pub fn exp_tail(r: Num) -> Num {
    let z = r * r;
    let a = 0.16666666666666685 + r * 0.04166666666666666;
    let b = 0.00833333333331578 + r * 0.0013888888888892812;
    let c = 0.00019841269899330613 + r * 2.4801587304251217e-5;
    let d = 2.7557232062489322e-6 + r * 2.7557293831268723e-7;
    let e = 2.511296734221698e-8 + r * 2.0907984417210766e-9;
    a + z * (b + z * (c + z * (d + z * e)))
}

/// `(2 atanh(s)/s - 2 - ⅔z) / z²` with s² = z ≤ 0.0295. Error, times z²: 2^-72.4.
#[inline(always)]
pub fn log_tail(z: Num) -> Num {
    let y = z * z;
    let a = 0.3999999999999998 + z * 0.2857142857144384;
    let b = 0.22222222217789805 + z * 0.1818181884397532;
    let c = 0.15384558430367143 + z * 0.13336264406107398;
    let d = 0.11675783019149392 + z * 0.11981730990481906;
    a + y * (b + y * (c + y * d))
}

/// `(sin(r)/r - 1) / z` with r² = z ≤ π²/16. Error, times z: 2^-58.0.
#[inline(always)]
pub fn sin_tail(z: Num) -> Num {
    let y = z * z;
    let a = -0.16666666666666632 + z * 0.008333333333322474;
    let b = -0.0001984126982983745 + z * 2.755731369799887e-6;
    let c = -2.5050758595703263e-8 + z * 1.5896802609153382e-10;
    a + y * (b + y * c)
}

/// `(cos(r) - 1 + z/2) / z²` with r² = z ≤ π²/16. Error, times z²: 2^-64.1.
#[inline(always)]
pub fn cos_tail(z: Num) -> Num {
    let y = z * z;
    let a = 0.0416666666666666 + z * -0.0013888888888874459;
    let b = 2.4801587289655057e-5 + z * -2.7557314394669653e-7;
    let c = 2.087572823648599e-9 + z * -1.135987217251799e-11;
    a + y * (b + y * c)
}
