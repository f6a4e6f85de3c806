//! Single precision, against the functions of the standard library in double precision: their errors are below 2⁻²⁸ units here.

use eddy_elementary::single;

use crate::random::Random;
use crate::{Worst, factor};

/// One number in so many; not a divisor of a power of two.
const STRIDE: u32 = 40_009;

/// A row of the table.
struct Row {
    name: &'static str,
    function: fn(f32) -> f32,
    truth: fn(f64) -> f64,
    /// The number that is nearer to zero, and the other one.
    range: (f32, f32),
    allowed: f64,
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { name: "exp", function: single::exp, truth: f64::exp, range: (0.0, 88.72283), allowed: 1.0 },
    Row { name: "exp", function: single::exp, truth: f64::exp, range: (-0.0, -87.33), allowed: 1.0 },
    Row { name: "exp", function: single::exp, truth: f64::exp, range: (-87.33, -105.0), allowed: 1.0 },
    Row { name: "log", function: single::log, truth: f64::ln, range: (1e-45, 1.2e-38), allowed: 1.0 },
    Row { name: "log", function: single::log, truth: f64::ln, range: (1.2e-38, f32::MAX), allowed: 1.0 },
    Row { name: "tanh", function: single::tanh, truth: f64::tanh, range: (0.0, f32::MAX), allowed: 1.0 },
    Row { name: "tanh", function: single::tanh, truth: f64::tanh, range: (-0.0, -f32::MAX), allowed: 1.0 },
    Row { name: "sigmoid", function: single::sigmoid, truth: sigmoid, range: (0.0, f32::MAX), allowed: 1.0 },
    Row { name: "sigmoid", function: single::sigmoid, truth: sigmoid, range: (-0.0, -87.33), allowed: 1.0 },
    Row { name: "sigmoid", function: single::sigmoid, truth: sigmoid, range: (-87.33, -105.0), allowed: 1.0 },
    Row { name: "sin", function: single::sin, truth: f64::sin, range: (0.0, 1024.0), allowed: 1.0 },
    Row { name: "sin", function: single::sin, truth: f64::sin, range: (-0.0, -1024.0), allowed: 1.0 },
    Row { name: "sin", function: single::sin, truth: f64::sin, range: (1024.0, f32::MAX), allowed: 1.0 },
    Row { name: "cos", function: single::cos, truth: f64::cos, range: (0.0, 1024.0), allowed: 1.0 },
    Row { name: "cos", function: single::cos, truth: f64::cos, range: (1024.0, f32::MAX), allowed: 1.0 },
];

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The distance in units in the last place of a `float` at the true value.
fn error(result: f32, truth: f64) -> f64 {
    let exponent = (i32::try_from(truth.to_bits() >> 52 & 0x7FF).expect("eleven bits") - 1023).max(-126);
    (f64::from(result) - truth).abs() * f64::from(23 - exponent).exp2()
}

fn worst_in(row: &Row, first: u32, stride: u32) -> Worst {
    let mut worst = Worst::default();
    let (from, to) = (row.range.0.to_bits(), row.range.1.to_bits());
    for bits in (from + first..=to).step_by(stride as usize) {
        let x = f32::from_bits(bits);
        worst.see(error((row.function)(x), (row.truth)(f64::from(x))), &[f64::from(x)]);
    }
    worst
}

#[test]
fn some_numbers() {
    for row in ROWS {
        let worst = worst_in(row, 0, (STRIDE / factor()).max(1));
        worst.check(&format!("single {} from {:?}", row.name, row.range), row.allowed);
    }
}

#[test]
#[ignore = "all floats take minutes in a release build"]
fn all_numbers() {
    const THREADS: u32 = 2;
    for row in ROWS {
        let mut worst = Worst::default();
        std::thread::scope(|scope| {
            let parts = [0, 1].map(|first| scope.spawn(move || worst_in(row, first, THREADS)));
            for part in parts {
                let part = part.join().expect("no panic");
                worst.see(part.error, &part.operands);
            }
        });
        worst.check(&format!("single {} from {:?}, all", row.name, row.range), row.allowed);
    }
}

#[test]
#[allow(clippy::cast_possible_truncation)] // a float is what we want
fn powers() {
    let (mut random, mut worst) = (Random(4), Worst::default());
    for _ in 0..20_000 * factor() {
        let x = random.between(1e-45, f64::from(f32::MAX)) as f32;
        let log = random.between(1e-3, 88.7) * if random.flip() { 1.0 } else { -1.17 };
        let y = (log / f64::from(x).ln()) as f32;
        let truth = f64::from(x).powf(f64::from(y));
        if truth < f64::from(f32::MAX) {
            worst.see(error(single::pow(x, y), truth), &[f64::from(x), f64::from(y)]);
        }
    }
    worst.check("single pow", 1.0);
}
