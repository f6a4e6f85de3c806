//! Numbers as text: they parse back to the same number, and have an exponent exactly where ECMAScript gives
//! them one.

use eddy_tensor::Value;
use eddy_tensor::text::{Json, Number};

use crate::cases::Choices;
use crate::harness::law_of;

/// Arbitrary bits, so numbers of all magnitudes.
fn bits(c: &mut Choices<'_>) -> u64 {
    (0..4).fold(0, |bits, _| bits << 16 | u64::try_from(c.below(1 << 16)).expect("16 bits"))
}

#[test]
fn numbers_read_back() {
    let sample = |c: &mut Choices<'_>| {
        let any = f64::from_bits(bits(c));
        // Most numbers in programs are short decimals, so a quarter of the samples are.
        if c.below(4) == 0 { (any % 1e4 * 1e3).round() / 1e3 } else { any }
    };
    law_of("numbers_read_back", 5000, sample, |x| {
        let text = Number(*x).to_string();
        let is_same = match text.parse::<f64>() {
            // The sign of zero and the payload of NaN are not printed.
            Ok(read) => read == *x || read.is_nan() && x.is_nan(),
            Err(_) => false,
        };
        let size = x.abs();
        let needs_exponent = size != 0.0 && size.is_finite() && !(1e-6..1e21).contains(&size);
        let is_quoted = Json(&Value::Num(*x)).to_string().starts_with('"');
        let is_right = is_same && text.contains('e') == needs_exponent && is_quoted != x.is_finite();
        if is_right { Ok(()) } else { Err(format!("{x:e} prints as {text}")) }
    });
}

#[test]
fn single_precision_reads_back() {
    let sample = |c: &mut Choices<'_>| f32::from_bits(u32::try_from(bits(c) >> 32).expect("32 bits"));
    law_of("single_precision_reads_back", 5000, sample, |x| {
        let text = Value::Num32(*x).to_string();
        let read: f32 = text.parse().map_err(|_| format!("{text} is not a number"))?;
        let is_same = read == *x || read.is_nan() && x.is_nan();
        if is_same { Ok(()) } else { Err(format!("{x:e} prints as {text}")) }
    });
}
