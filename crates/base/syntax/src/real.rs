//! How a real number prints in the kernels: the shortest text that reads back as the same number.

use std::fmt;

/// A finite real, printed as specified: positional for `1e-4 ≤ |x| < 1e16`, otherwise with an exponent; no
/// trailing `.0`; negative zero prints `0`.
///
/// ```
/// use eddy_syntax::real::Real;
/// let show = |x: f64| Real(x).to_string();
/// assert_eq!(show(2.0), "2");
/// assert_eq!(show(-0.0), "0");
/// assert_eq!(show(1.0 / 3.0), "0.3333333333333333");
/// assert_eq!(show(1e16), "1e16");
/// assert_eq!(show(1.5e-7), "1.5e-7");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Real(pub f64);

impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0.0 {
            return f.write_str("0");
        }
        let shortest = format!("{:?}", self.0);
        f.write_str(shortest.strip_suffix(".0").unwrap_or(&shortest))
    }
}
