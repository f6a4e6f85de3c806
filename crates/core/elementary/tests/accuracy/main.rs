//! Measures errors in units in the last place: the table in the crate's documentation.
//!
//! Every row is a function, a range, and the largest error allowed there: slightly more than the largest
//! found in a thousand times as many samples. Double precision is sampled: half of the samples are uniform
//! over the range, half over its floating-point numbers, so that all exponents occur. In single precision a
//! small sample is tested by default, and `--ignored` tests all numbers.
//!
//! ```text
//! EDDY_CASES=100 cargo test --release -p eddy-elementary --test accuracy -- --nocapture
//! cargo test --release -p eddy-elementary --test accuracy -- --nocapture --ignored --test-threads 1
//! ```

#![expect(clippy::disallowed_methods, reason = "EDDY_CASES says how many cases are tried")]

mod double;
mod oracle;
#[path = "../random/mod.rs"]
mod random;
mod single;

/// A factor for the number of samples.
fn factor() -> u32 {
    std::env::var("EDDY_CASES").map_or(1, |cases| cases.parse().expect("EDDY_CASES is a number"))
}

/// The largest error and its operands.
#[derive(Clone, Default)]
struct Worst {
    error: f64,
    operands: Vec<f64>,
}

impl Worst {
    /// NaN counts as an error.
    fn record(&mut self, error: f64, operands: &[f64]) {
        if error > self.error || error.is_nan() {
            *self = Worst { error, operands: operands.to_vec() };
        }
    }

    #[track_caller]
    #[expect(clippy::print_stdout, reason = "the measured table is for people")]
    fn check(&self, name: &str, allowed: f64) {
        let Worst { error, operands } = self;
        println!("{name:<42} {error:.3} at {operands:?}");
        assert!(*error <= allowed, "{name}: {error} units at {operands:?}, where {allowed} are allowed");
    }
}
