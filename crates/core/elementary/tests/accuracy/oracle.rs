//! Reference values with 200 bits and more, from a library that shares no code with this crate.

use astro_float_num::{BigFloat, Consts, RoundingMode, Sign};

/// Bits of precision. Sines of large numbers near a multiple of π cancel as many bits as the number has.
const DIGITS: usize = 256;

const ROUNDING: RoundingMode = RoundingMode::ToEven;

/// Evaluates functions; caches their constants.
pub struct Oracle {
    constants: Consts,
    bernoulli: Vec<BigFloat>,
}

impl Oracle {
    pub fn new() -> Oracle {
        Oracle { constants: Consts::new().expect("there is memory"), bernoulli: Vec::new() }
    }

    /// The distance of a result from the true value, in units in the last place of a double at that value.
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
            "lgamma" => self.gamma(operands[0]).0,
            "digamma" => self.gamma(operands[0]).1,
            other => unreachable!("{other} is no function of this crate"),
        }
    }
}

/// How far arguments of gamma functions are raised; then 40 terms of Stirling's series have errors below
/// 2^-256.
const RAISED: u32 = 120;
const N_TERMS: usize = 40;

impl Oracle {
    /// log |Γ(x)| and its derivative: by Stirling's series far from zero, and the recurrence and reflection
    /// to get there.
    fn gamma(&mut self, x: f64) -> (BigFloat, BigFloat) {
        let (p, rm) = (DIGITS, ROUNDING);
        let int = |n: usize| BigFloat::from_u64(n as u64, p);
        if x < 0.0 {
            // ψ(x) = ψ(-x) - 1/x - π cot(πx), and the same for the logarithms.
            let (log, slope) = self.gamma(-x);
            let pi = self.constants.pi(p, rm);
            let rest = big(x - x.round());
            let angle = pi.mul(&rest, p, rm);
            let wave = angle.sin(p, rm, &mut self.constants);
            let cotangent = angle.cos(p, rm, &mut self.constants).div(&wave, p, rm);
            let whole = pi.div(&wave.mul(&big(x), p, rm), p, rm).abs();
            let log = whole.ln(p, rm, &mut self.constants).sub(&log, p, rm);
            let inverse = int(1).div(&big(x), p, rm);
            return (log, slope.sub(&inverse, p, rm).sub(&pi.mul(&cotangent, p, rm), p, rm));
        }
        let (mut y, mut product, mut inverses) = (big(x), int(1), int(0));
        if x < 1e6 {
            for _ in 0..RAISED {
                product = product.mul(&y, p, rm);
                inverses = inverses.add(&int(1).div(&y, p, rm), p, rm);
                y = y.add(&int(1), p, rm);
            }
        }
        let half = big(0.5);
        let log = y.ln(p, rm, &mut self.constants);
        let turn = self.constants.pi(p, rm).mul(&int(2), p, rm).ln(p, rm, &mut self.constants);
        let mut value = y.sub(&half, p, rm).mul(&log, p, rm).sub(&y, p, rm);
        value = value.add(&turn.mul(&half, p, rm), p, rm);
        let mut slope = log.sub(&half.div(&y, p, rm), p, rm);
        let square = y.mul(&y, p, rm);
        let mut power = y.clone();
        if self.bernoulli.is_empty() {
            self.bernoulli = bernoulli(N_TERMS);
        }
        for (at, bernoulli) in self.bernoulli.iter().enumerate() {
            let n = 2 * (at + 1);
            let term = bernoulli.div(&int(n * (n - 1)), p, rm).div(&power, p, rm);
            value = value.add(&term, p, rm);
            slope = slope.sub(&bernoulli.div(&int(n), p, rm).div(&power, p, rm).div(&y, p, rm), p, rm);
            power = power.mul(&square, p, rm);
        }
        (value.sub(&product.ln(p, rm, &mut self.constants), p, rm), slope.sub(&inverses, p, rm))
    }
}

/// The Bernoulli numbers of even index from 2 on.
fn bernoulli(count: usize) -> Vec<BigFloat> {
    let (p, rm) = (2 * DIGITS, ROUNDING);
    let int = |n: usize| BigFloat::from_u64(n as u64, p);
    let mut all = vec![int(1)];
    for m in 1..=2 * count {
        // Σ binomial(m + 1, k) B_k is 0.
        let (mut sum, mut binomial) = (int(0), int(1));
        for (k, known) in all.iter().enumerate() {
            sum = sum.add(&binomial.mul(known, p, rm), p, rm);
            binomial = binomial.mul(&int(m + 1 - k), p, rm).div(&int(k + 1), p, rm);
        }
        all.push(sum.div(&int(m + 1), p, rm).neg());
    }
    (1..=count).map(|at| all[2 * at].clone()).collect()
}

/// The number of bits in the fraction of a double, and the lowest exponent of a normal one.
const N_DIGITS: i32 = 52;
const LOWEST_EXPONENT: i32 = -1022;

/// The library misreads subnormal numbers, so these are scaled first.
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
