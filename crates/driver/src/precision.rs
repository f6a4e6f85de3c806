//! Numbers that are finite in double precision and infinite in single precision.
//!
//! A literal or a datum beyond the range of doubles is refused, because an infinity in its place would be
//! silently wrong. With single precision the same holds for the smaller range of its numbers.

use eddy_flow::{Constant, Flow, Kind};
use eddy_language::codes;
use eddy_syntax::Diagnostic;
use eddy_tensor::Value;

/// Errors for the constants of a program that single precision cannot represent.
pub(crate) fn check_single(flow: &Flow) -> Result<(), Vec<Diagnostic>> {
    let too_large = flow.equations.iter().filter_map(|equation| {
        let Kind::Const(constant) = &equation.kind else { return None };
        let number = match constant {
            Constant::Num(number) => is_too_large(*number).then_some(*number)?,
            Constant::Value(value) => too_large_for_single(value)?,
            _ => return None,
        };
        let title = format!("number out of range: {number:e} is infinite in single precision");
        let reason = format!("a `num` is a 32-bit floating-point number here, up to {:e}", f32::MAX);
        let diagnostic = Diagnostic::error(codes::OUT_OF_RANGE, equation.span, title);
        Some(diagnostic.reason(reason).help("leave out `--f32`"))
    });
    let too_large: Vec<_> = too_large.collect();
    if too_large.is_empty() { Ok(()) } else { Err(too_large) }
}

/// The first finite number of a value that single precision cannot represent.
pub(crate) fn too_large_for_single(value: &Value) -> Option<f64> {
    let number = |element: Value| if let Value::Num(number) = element { Some(number) } else { None };
    value.elements().filter_map(number).find(|number| is_too_large(*number))
}

#[allow(clippy::cast_possible_truncation)] // the question is whether rounding makes it infinite
fn is_too_large(number: f64) -> bool {
    number.is_finite() && (number as f32).is_infinite()
}
