//! What numbers are in C, and how values are written there.

use eddy_tensor::{Scalar, Value};

/// The precision of `num`: a choice of the build, never of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// `double`.
    Double,
    /// `float`.
    Single,
}

impl Precision {
    /// The type of the elements of a value.
    pub fn c_type(self, scalar: Scalar) -> &'static str {
        match (scalar, self) {
            (Scalar::Bool, _) => "bool",
            (Scalar::Int, _) => "int64_t",
            (Scalar::Num, Precision::Double) => "double",
            (Scalar::Num, Precision::Single) => "float",
        }
    }

    /// How many bytes an element takes.
    pub fn bytes(self, scalar: Scalar) -> usize {
        match (scalar, self) {
            (Scalar::Bool, _) => 1,
            (Scalar::Num, Precision::Single) => 4,
            (Scalar::Int, _) | (Scalar::Num, Precision::Double) => 8,
        }
    }

    /// A function of the runtime header, which has one for each precision: `eddy_exp` and `eddy_expf`.
    pub(crate) fn function(self, name: &str) -> String {
        match self {
            Precision::Double => format!("eddy_{name}"),
            Precision::Single => format!("eddy_{name}f"),
        }
    }

    /// A number, exactly.
    pub(crate) fn number(self, x: f64) -> String {
        #[allow(clippy::cast_possible_truncation)] // rounding is what single precision means
        let (text, suffix, is_finite) = match self {
            Precision::Double => (format!("{:?}", x.abs()), "", x.is_finite()),
            Precision::Single => (format!("{:?}", (x as f32).abs()), "f", (x as f32).is_finite()),
        };
        let text = match (is_finite, x.is_nan()) {
            (true, _) => format!("{text}{suffix}"),
            (false, true) => format!("__builtin_nan{suffix}(\"\")"),
            (false, false) => format!("__builtin_inf{suffix}()"),
        };
        if x.is_sign_negative() && !x.is_nan() { format!("(-{text})") } else { text }
    }

    /// The elements of a value, in row-major order.
    pub(crate) fn elements(self, value: &Value) -> Vec<String> {
        value.elements().map(|element| self.element(&element)).collect()
    }

    /// A scalar value.
    pub(crate) fn element(self, scalar: &Value) -> String {
        match scalar {
            Value::Bool(truth) => truth.to_string(),
            Value::Int(i64::MIN) => "(-INT64_C(9223372036854775807) - 1)".to_string(),
            Value::Int(x) if *x < 0 => format!("(-INT64_C({}))", -x),
            Value::Int(x) => format!("INT64_C({x})"),
            Value::Num(x) => self.number(*x),
            Value::Num32(x) => self.number(f64::from(*x)),
            Value::Tensor(_) => unreachable!("an element is a scalar"),
        }
    }
}

/// The one element that a value has everywhere, if it has one.
pub(crate) fn uniform(value: &Value) -> Option<Value> {
    let mut elements = value.elements();
    let first = elements.next()?;
    elements.all(|element| element == first).then_some(first)
}
