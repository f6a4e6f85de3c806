//! Single precision, compared with the standard library in double precision, whose errors are below 2⁻²⁸
//! units here.

use eddy_elementary::{double, single};

use crate::random::Random;
use crate::{Worst, factor};

/// Tests one number in this many; not a divisor of a power of two.
const STRIDE: u32 = 40_009;

/// A row of the table.
struct Row {
    name: &'static str,
    function: fn(f32) -> f32,
    truth: fn(f64) -> f64,
    /// The number nearer to zero comes first.
    range: (f32, f32),
    allowed: f64,
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { name: "exp", function: single::exp, truth: f64::exp, range: (0.0, 88.72283), allowed: 0.66 },
    Row { name: "exp", function: single::exp, truth: f64::exp, range: (-0.0, -87.33), allowed: 0.66 },
    Row { name: "exp", function: single::exp, truth: f64::exp, range: (-87.33, -105.0), allowed: 0.82 },
    Row { name: "log", function: single::log, truth: f64::ln, range: (1e-45, 1.2e-38), allowed: 0.51 },
    Row { name: "log", function: single::log, truth: f64::ln, range: (1.2e-38, f32::MAX), allowed: 0.51 },
    Row { name: "tanh", function: single::tanh, truth: f64::tanh, range: (0.0, f32::MAX), allowed: 0.82 },
    Row { name: "tanh", function: single::tanh, truth: f64::tanh, range: (-0.0, -f32::MAX), allowed: 0.82 },
    Row { name: "sigmoid", function: single::sigmoid, truth: sigmoid, range: (0.0, f32::MAX), allowed: 0.56 },
    Row { name: "sigmoid", function: single::sigmoid, truth: sigmoid, range: (-0.0, -87.33), allowed: 0.68 },
    Row { name: "sigmoid", function: single::sigmoid, truth: sigmoid, range: (-87.33, -105.0), allowed: 0.82 },
    Row { name: "sin", function: single::sin, truth: f64::sin, range: (0.0, 1024.0), allowed: 0.85 },
    Row { name: "sin", function: single::sin, truth: f64::sin, range: (-0.0, -1024.0), allowed: 0.85 },
    Row { name: "sin", function: single::sin, truth: f64::sin, range: (1024.0, f32::MAX), allowed: 0.88 },
    Row { name: "cos", function: single::cos, truth: f64::cos, range: (0.0, 1024.0), allowed: 0.88 },
    Row { name: "cos", function: single::cos, truth: f64::cos, range: (1024.0, f32::MAX), allowed: 0.88 },
    // Compared with double precision, which is compared with 256 bits.
    Row { name: "lgamma", function: single::lgamma, truth: double::lgamma, range: (1e-45, 0.5), allowed: 0.65 },
    Row { name: "lgamma", function: single::lgamma, truth: double::lgamma, range: (3.0, 4e36), allowed: 0.65 },
    Row { name: "digamma", function: single::digamma, truth: double::digamma, range: (1e-38, 0.5), allowed: 4.0 },
    Row { name: "digamma", function: single::digamma, truth: double::digamma, range: (3.0, f32::MAX), allowed: 4.0 },
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
        worst.record(error((row.function)(x), (row.truth)(f64::from(x))), &[f64::from(x)]);
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

mod all_numbers {
    use super::{ROWS, Worst, worst_in};

    /// Divides the work between two threads.
    #[track_caller]
    fn check(name: &str) {
        for row in ROWS.iter().filter(|row| row.name == name) {
            let mut worst = Worst::default();
            std::thread::scope(|scope| {
                let halves = [0, 1].map(|first| scope.spawn(move || worst_in(row, first, 2)));
                for half in halves {
                    let half = half.join().expect("no panic");
                    worst.record(half.error, &half.operands);
                }
            });
            worst.check(&format!("single {name} from {:?}, all", row.range), row.allowed);
        }
    }

    #[test]
    #[ignore = "all floats take minutes in a release build"]
    fn exp() {
        check("exp");
    }

    #[test]
    #[ignore = "all floats take minutes in a release build"]
    fn log() {
        check("log");
    }

    #[test]
    #[ignore = "all floats take minutes in a release build"]
    fn tanh() {
        check("tanh");
    }

    #[test]
    #[ignore = "all floats take minutes in a release build"]
    fn sigmoid() {
        check("sigmoid");
    }

    #[test]
    #[ignore = "all floats take minutes in a release build"]
    fn sin() {
        check("sin");
    }

    #[test]
    #[ignore = "all floats take minutes in a release build"]
    fn cos() {
        check("cos");
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
            worst.record(error(single::pow(x, y), truth), &[f64::from(x), f64::from(y)]);
        }
    }
    worst.check("single pow", 0.85);
}
