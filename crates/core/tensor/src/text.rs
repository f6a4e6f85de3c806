//! Values as text.
//!
//! A number prints as in ECMAScript's `Number::toString`: the shortest digits that parse back to the same
//! number, positional from 1e-6 up to 1e21, with an exponent outside of this range; negative zero prints `0`.
//! A tensor prints as nested lists without blanks.
//!
//! * [`Number`]: one number.
//! * [`Json`]: a value as JSON, with NaN and the infinities as the strings `"nan"`, `"inf"`, `"-inf"`.
//! * [`Canonical`]: the same without quotes, for chronograms; also the `Display` of a [`Value`].

use std::fmt::{self, Display, Formatter};

use crate::tensor::Tensor;
use crate::value::Value;

/// A number as ECMAScript prints it, or `nan`, `inf`, `-inf`.
///
/// ```
/// use eddy_tensor::text::Number;
/// let show = |x: f64| Number(x).to_string();
/// assert_eq!(show(2.0), "2");
/// assert_eq!(show(-0.0), "0");
/// assert_eq!(show(1.0 / 3.0), "0.3333333333333333");
/// assert_eq!(show(1e21), "1e+21");
/// assert_eq!(show(1.5e-7), "1.5e-7");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

/// A value as compact JSON.
///
/// ```
/// use eddy_tensor::{Data, Shape, Value, text::Json};
/// let row = Value::new(Shape::new(&[2]), Data::Num(vec![0.5, f64::NAN])).unwrap();
/// assert_eq!(Json(&row).to_string(), r#"[0.5,"nan"]"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Json<'a>(pub &'a Value);

/// A value as in chronograms.
#[derive(Clone, Copy, Debug)]
pub struct Canonical<'a>(pub &'a Value);

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // The exponent form has the shortest digits, in the precision of its argument.
        write_number(f, &format!("{:e}", self.0))
    }
}

impl Display for Json<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_value(f, self.0, "\"")
    }
}

impl Display for Canonical<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_value(f, self.0, "")
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Canonical(self).fmt(f)
    }
}

/// `quote` surrounds NaN and infinities.
fn write_value(f: &mut Formatter<'_>, value: &Value, quote: &str) -> fmt::Result {
    match value {
        Value::Tensor(tensor) => write_tensor(f, tensor, quote),
        scalar => write_scalar(f, scalar, quote),
    }
}

/// Brackets are found by counting rather than recursion, so that the number of axes is not limited by the
/// stack.
fn write_tensor(f: &mut Formatter<'_>, tensor: &Tensor, quote: &str) -> fmt::Result {
    let shape = tensor.shape();
    // Below an empty axis there are no elements: the empty list repeats.
    let depth = shape.iter().position(|size| *size == 0).unwrap_or(shape.len());
    let sizes = &shape[..depth];
    let n: usize = sizes.iter().product();
    for index in 0..n {
        f.write_str(if index == 0 { "" } else { "," })?;
        write_brackets(f, "[", sizes, index)?;
        if depth < shape.len() {
            f.write_str("[]")?;
        } else {
            write_scalar(f, &tensor.data().get(index), quote)?;
        }
        write_brackets(f, "]", sizes, index + 1)?;
    }
    Ok(())
}

/// Writes a bracket for each list that begins, or ends, before the element with this index.
fn write_brackets(f: &mut Formatter<'_>, bracket: &str, sizes: &[usize], index: usize) -> fmt::Result {
    let mut n_inner = 1;
    for size in sizes.iter().rev() {
        n_inner *= size;
        if !index.is_multiple_of(n_inner) {
            break;
        }
        f.write_str(bracket)?;
    }
    Ok(())
}

fn write_scalar(f: &mut Formatter<'_>, scalar: &Value, quote: &str) -> fmt::Result {
    let (text, is_finite) = match scalar {
        Value::Bool(truth) => return write!(f, "{truth}"),
        Value::Int(integer) => return write!(f, "{integer}"),
        Value::Num(number) => (format!("{number:e}"), number.is_finite()),
        Value::Num32(number) => (format!("{number:e}"), number.is_finite()),
        Value::Tensor(_) => unreachable!("an element is a scalar"),
    };
    let quote = if is_finite { "" } else { quote };
    f.write_str(quote)?;
    write_number(f, &text)?;
    f.write_str(quote)
}

/// Lays out a number in Rust's exponent form: `-1.25e-7`, `1e0`, `NaN`, `inf`.
fn write_number(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return if text == "NaN" { f.write_str("nan") } else { write!(f, "{sign}{text}") };
    };
    if mantissa == "0" {
        return f.write_str("0");
    }
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().expect("Rust prints an exponent as an integer");
    f.write_str(sign)?;
    write_digits(f, &digits, exponent)
}

/// Writes the decimal number `d.ddd · 10^exponent`, by the cases of ECMAScript's `Number::toString`.
fn write_digits(f: &mut Formatter<'_>, digits: &str, exponent: i32) -> fmt::Result {
    let n_digits = digits.len();
    match usize::try_from(exponent) {
        Ok(exponent) if exponent < 21 => {
            let n_integer = exponent + 1;
            if n_digits <= n_integer {
                return write!(f, "{digits}{}", "0".repeat(n_integer - n_digits));
            }
            write!(f, "{}.{}", &digits[..n_integer], &digits[n_integer..])
        }
        Err(_) if exponent >= -6 => {
            let n_zeros = usize::try_from(-1 - exponent).expect("the exponent is negative");
            write!(f, "0.{}{digits}", "0".repeat(n_zeros))
        }
        _ => {
            let point = if n_digits > 1 { "." } else { "" };
            write!(f, "{}{point}{}e{exponent:+}", &digits[..1], &digits[1..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{value, zeros};

    #[track_caller]
    fn check(number: f64, expected: &str) {
        assert_eq!(Number(number).to_string(), expected);
    }

    #[test]
    fn numbers_as_in_ecmascript() {
        check(0.0, "0");
        check(-0.0, "0");
        check(1.0, "1");
        check(-1.5, "-1.5");
        check(0.1 + 0.2, "0.30000000000000004");
        check(100.0, "100");
        check(123_456_789.125, "123456789.125");
        check(1e20, "100000000000000000000");
        check(123_456_789_012_345_680_000.0, "123456789012345680000");
        check(1e21, "1e+21");
        check(-1.25e300, "-1.25e+300");
        check(0.000_001, "0.000001");
        check(0.000_001_25, "0.00000125");
        check(0.000_000_1, "1e-7");
        check(1.25e-7, "1.25e-7");
        check(5e-324, "5e-324");
        check(f64::MAX, "1.7976931348623157e+308");
        check(f64::NAN, "nan");
        check(f64::INFINITY, "inf");
        check(f64::NEG_INFINITY, "-inf");
    }

    #[test]
    fn tensors_are_nested_lists() {
        assert_eq!(value("[[1,2],[3,4],[5,6]]").to_string(), "[[1,2],[3,4],[5,6]]");
        assert_eq!(value("[[[true]],[[false]]]").to_string(), "[[[true]],[[false]]]");
        assert_eq!(value("-7").to_string(), "-7");
    }

    #[test]
    fn empty_axes_are_empty_lists() {
        let empty = |sizes: &[usize]| zeros(sizes).to_string();
        assert_eq!(empty(&[0]), "[]");
        assert_eq!(empty(&[0, 2]), "[]");
        assert_eq!(empty(&[2, 0]), "[[],[]]");
        assert_eq!(empty(&[1, 2, 0, 3]), "[[[],[]]]");
    }

    #[test]
    fn only_json_quotes_nan_and_infinities() {
        let x = value("[[1.5,nan],[inf,-inf]]");
        assert_eq!(Json(&x).to_string(), r#"[[1.5,"nan"],["inf","-inf"]]"#);
        assert_eq!(Canonical(&x).to_string(), "[[1.5,nan],[inf,-inf]]");
        assert_eq!(Json(&Value::Num(f64::NAN)).to_string(), r#""nan""#);
        assert_eq!(Json(&Value::Bool(true)).to_string(), "true");
    }

    #[test]
    fn single_precision_has_its_own_shortest_digits() {
        assert_eq!(value("[0.1,1e-7]").to_num32().to_string(), "[0.1,1e-7]");
        assert_eq!(value("0.1").to_num32().to_num64().to_string(), "0.10000000149011612");
    }

    #[test]
    fn deep_lists_do_not_need_a_deep_stack() {
        let deep = zeros(&vec![1; 100_000]);
        assert_eq!(deep.to_string().len(), 200_001);
    }
}
