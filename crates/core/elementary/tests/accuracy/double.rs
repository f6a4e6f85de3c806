//! Double precision, compared with 256 bits.

use std::f64::consts::FRAC_PI_2;

use eddy_elementary::double;

use crate::oracle::Oracle;
use crate::random::Random;
use crate::{Worst, factor};

const SAMPLES: u32 = 400;

/// Checks the largest error between two numbers of the same sign; the one nearer to zero comes first.
#[track_caller]
fn check(name: &str, function: fn(f64) -> f64, from: f64, to: f64, allowed: f64) {
    let mut random = Random(to.to_bits());
    check_at(&format!("{name} from {from:e} to {to:e}"), name, function, allowed, || {
        random.between(from, to)
    });
}

#[track_caller]
fn check_at(
    title: &str,
    name: &str,
    function: fn(f64) -> f64,
    allowed: f64,
    mut sample: impl FnMut() -> f64,
) {
    let (mut oracle, mut worst) = (Oracle::new(), Worst::default());
    for _ in 0..SAMPLES * factor() {
        let x = sample();
        worst.record(oracle.error(name, &[x], function(x)), &[x]);
    }
    worst.check(title, allowed);
}

#[test]
fn the_exponential() {
    check("exp", double::exp, 1e-20, 1.0, 0.66);
    check("exp", double::exp, -1e-20, -1.0, 0.66);
    check("exp", double::exp, 1.0, 709.782_712_893_384, 0.66);
    check("exp", double::exp, -1.0, -708.39, 0.66);
    check("exp", double::exp, -708.39, -746.0, 0.85);
}

#[test]
fn the_logarithm() {
    check("log", double::log, 5e-324, f64::MIN_POSITIVE, 0.51);
    check("log", double::log, f64::MIN_POSITIVE, 0.5, 0.51);
    check("log", double::log, 0.5, 2.0, 0.51);
    check("log", double::log, 2.0, f64::MAX, 0.51);
}

#[test]
fn the_hyperbolic_tangent() {
    check("tanh", double::tanh, 5e-324, 1e-3, 0.51);
    check("tanh", double::tanh, 1e-3, 1.0, 0.95);
    check("tanh", double::tanh, -1e-3, -1.0, 0.95);
    check("tanh", double::tanh, 1.0, 25.0, 0.52);
}

#[test]
fn the_sigmoid() {
    check("sigmoid", double::sigmoid, 1e-20, 40.0, 0.56);
    check("sigmoid", double::sigmoid, -1e-20, -1.0, 0.60);
    check("sigmoid", double::sigmoid, -1.0, -708.39, 0.66);
    check("sigmoid", double::sigmoid, -708.39, -746.0, 0.85);
}

#[test]
fn the_sine() {
    check("sin", double::sin, 1e-310, 0.8, 0.85);
    check("sin", double::sin, 0.8, 100.0, 0.85);
    check("sin", double::sin, -100.0, -1_048_576.0, 0.85);
    check("sin", double::sin, 1_048_576.0, f64::MAX, 0.85);
    check_at("sin near multiples of π/2", "sin", double::sin, 0.85, near_quarter_turns());
}

#[test]
fn the_cosine() {
    check("cos", double::cos, 1e-310, 0.8, 0.85);
    check("cos", double::cos, 0.8, 100.0, 0.85);
    check("cos", double::cos, -100.0, -1_048_576.0, 0.85);
    check("cos", double::cos, 1_048_576.0, f64::MAX, 0.85);
    check_at("cos near multiples of π/2", "cos", double::cos, 0.85, near_quarter_turns());
}

/// The multiple of π/2 that is nearest to a floating-point number, then other close ones.
#[allow(clippy::cast_precision_loss)] // the nearest number is what we want
fn near_quarter_turns() -> impl FnMut() -> f64 {
    let mut random = Random(2);
    let mut hardest = Some(6_381_956_970_095_103.0 * 797.0_f64.exp2());
    move || {
        let quarters = (random.bits() >> (random.bits() % 60)) as f64;
        hardest.take().unwrap_or(quarters * FRAC_PI_2)
    }
}

#[test]
fn the_logarithm_of_gamma() {
    check("lgamma", double::lgamma, 1e-300, 0.5, 0.6);
    check("lgamma", double::lgamma, 3.0, 10.0, 0.6);
    check("lgamma", double::lgamma, 10.0, 1e6, 0.6);
    check("lgamma", double::lgamma, 1e6, 2.5e305, 0.6);
    // Near its zeros, and where it is reflected, the error is absolute.
    check_absolute("lgamma", double::lgamma, 0.5, 3.0, 0.5, 2e-17);
    check_absolute("lgamma", double::lgamma, -1e-10, -100.5, 4.0, 1e-15);
}

#[test]
fn the_derivative_of_the_logarithm_of_gamma() {
    check("digamma", double::digamma, 1e-300, 0.5, 4.0);
    check("digamma", double::digamma, 3.0, 10.0, 4.0);
    check("digamma", double::digamma, 10.0, 1e300, 1.0);
    check_absolute("digamma", double::digamma, 0.5, 3.0, 0.5, 1e-15);
    check_absolute("digamma", double::digamma, -1e-10, -100.5, 6.0, 2e-15);
}

/// Checks that the error is at most `allowed` units in the last place plus an absolute error.
#[track_caller]
fn check_absolute(name: &str, function: fn(f64) -> f64, from: f64, to: f64, units: f64, beside: f64) {
    let (mut oracle, mut worst, mut random) = (Oracle::new(), Worst::default(), Random(to.to_bits()));
    for _ in 0..SAMPLES * factor() {
        let x = random.between(from, to);
        let result = function(x);
        let unit = result.abs().next_up() - result.abs();
        let allowed = units * unit + beside;
        worst.record(oracle.error(name, &[x], result) * unit / allowed, &[x]);
    }
    worst.check(&format!("{name} from {from:e} to {to:e}, as a part of what is allowed"), 1.0);
}

#[test]
fn powers() {
    check_powers(0.5, 2.0, 0.85);
    check_powers(1e-3, 1e3, 0.85);
    check_powers(5e-324, f64::MAX, 0.85);
}

/// Exponents are chosen such that the results cover the whole range.
#[track_caller]
fn check_powers(from: f64, to: f64, allowed: f64) {
    let (mut oracle, mut random, mut worst) = (Oracle::new(), Random(3), Worst::default());
    for _ in 0..SAMPLES * factor() {
        let x = random.between(from, to);
        let log = random.between(1e-3, 709.0) * if random.flip() { 1.0 } else { -1.05 };
        let y = log / x.ln();
        worst.record(oracle.error("pow", &[x, y], double::pow(x, y)), &[x, y]);
    }
    worst.check(&format!("pow of {from:e} to {to:e}"), allowed);
}
