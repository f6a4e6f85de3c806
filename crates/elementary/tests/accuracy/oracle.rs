//! What the functions should give, to 200 and more binary digits, by a library that shares nothing with them.

use astro_float_num::{BigFloat, Consts, RoundingMode, Sign};

/// Binary digits. Sines of large numbers near a multiple of π lose as many as the number has.
const DIGITS: usize = 256;

const ROUNDING: RoundingMode = RoundingMode::ToEven;

/// Functions, and what they need to remember.
pub struct Oracle {
    constants: Consts,
}

impl Oracle {
    pub fn new() -> Oracle {
        Oracle { constants: Consts::new().expect("there is memory") }
    }

    /// How far a result is from the function's value, in units in the last place of a double at that value.
    pub fn error(&mut self, function: &str, operands: &[f64], result: f64) -> f64 {
        let value = self.value(function, operands);
        let difference = value.sub(&big(result), DIGITS, ROUNDING);
        if difference.is_zero() {
            return 0.0;
        }
        let exponent = leading(&value).map_or(LOWEST_EXPONENT, |(_, exponent)| exponent - 1);
        let (digits, size) = leading(&difference).expect("not zero");
        digits * f64::from(size - (exponent.max(LOWEST_EXPONENT) - N_DIGITS)).exp2()
    }

    fn value(&mut self, function: &str, operands: &[f64]) -> BigFloat {
        let x = big(operands[0]);
        let (p, rm, constants) = (DIGITS, ROUNDING, &mut self.constants);
        match function {
            "exp" => x.exp(p, rm, constants),
            "log" => x.ln(p, rm, constants),
            "tanh" => x.tanh(p, rm, constants),
            "sigmoid" => {
                let one = big(1.0);
                one.div(&one.add(&x.neg().exp(p, rm, constants), p, rm), p, rm)
            }
            "sin" => x.sin(p, rm, constants),
            "cos" => x.cos(p, rm, constants),
            "pow" => x.pow(&big(operands[1]), p, rm, constants),
            other => unreachable!("{other} is no function of this crate"),
        }
    }
}

/// How many digits a double has behind the point, and the lowest exponent of a normal one.
const N_DIGITS: i32 = 52;
const LOWEST_EXPONENT: i32 = -1022;

/// The library misreads subnormal numbers, so these are lifted first.
fn big(x: f64) -> BigFloat {
    if x == 0.0 || x.abs() >= f64::MIN_POSITIVE {
        return BigFloat::from_f64(x, DIGITS);
    }
    let mut lifted = BigFloat::from_f64(x * 64.0_f64.exp2(), DIGITS);
    let exponent = lifted.exponent().expect("finite");
    lifted.set_exponent(exponent - 64);
    lifted
}

/// |x| as (m, e) with x = m 2^e and m between ½ and 1.
fn leading(x: &BigFloat) -> Option<(f64, i32)> {
    let (words, _, _, exponent, _): (_, _, Sign, _, _) = x.as_raw_parts()?;
    let top = *words.last().filter(|_| !x.is_zero())?;
    #[allow(clippy::cast_precision_loss)] // some sixty digits of an error are enough
    Some((top as f64 / 64.0_f64.exp2(), exponent))
}
