//! Integer powers as functions: the power of a number that is not positive is a product.

use std::fmt::Write;

/// `x^k`: `pow(x, k.0)` for x > 0, else a product of k factors, made by squaring, so that derivatives at 0
/// are those of a polynomial.
pub(super) fn power(name: &str, exponent: i64) -> String {
    if exponent == 0 {
        return format!("fn {name}(x: num) -> num = 1.0;\n");
    }
    // `x1` is the square of x, `x2` that of `x1`, and so on; the product contains one of them for each binary
    // digit 1 of k.
    let (mut squares, mut product) = (String::new(), String::new());
    let (mut rest, mut at) = (exponent.unsigned_abs(), 0);
    let square = |at: u32| if at == 0 { "x".to_string() } else { format!("x{at}") };
    while rest > 0 {
        if rest & 1 == 1 {
            let times = if product.is_empty() { "" } else { " * " };
            let _ = write!(product, "{times}{}", square(at));
        }
        rest >>= 1;
        if rest > 0 {
            let _ = write!(squares, "let {} = {1} * {1} in ", square(at + 1), square(at));
        }
        at += 1;
    }
    let reciprocal = if exponent < 0 { format!("1.0 / ({product})") } else { product };
    #[allow(clippy::cast_precision_loss)] // as the kernel does
    let real = exponent as f64;
    format!("fn {name}(x: num) -> num = if x > 0.0 then pow(x, {real:?}) else {squares}{reciprocal};\n")
}
