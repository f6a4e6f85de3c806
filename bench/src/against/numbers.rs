//! The input numbers: the same in Rust, C and Python, so that all sides compute the same thing.
//!
//! Number `i` of the sequence `seed` is splitmix64 of a counter, scaled to a number between -scale and scale.
//! `bench/README.md` has the formula and the first values.

use eddy_tensor::{Data, Shape, Value};

/// Number `i` of the sequence `seed`, between `-scale` and `scale`.
pub fn number(seed: u64, i: u64, scale: f64) -> f64 {
    let mut z = (seed << 32).wrapping_add((i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    ((z >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0) * 2.0 - 1.0) * scale
}

/// A tensor of the first numbers of a sequence, in row-major order.
pub fn numbers(seed: u64, shape: &[usize], scale: f64) -> Value {
    tensor(shape, |i| number(seed, i as u64, scale))
}

/// A tensor whose elements are functions of their positions.
pub fn tensor(shape: &[usize], element: impl FnMut(usize) -> f64) -> Value {
    let n = shape.iter().product();
    Value::new(Shape::new(shape), Data::Num((0..n).map(element).collect()))
        .expect("the shape has as many elements")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_numbers_are_as_documented() {
        assert_eq!([number(1, 0, 1.0), number(1, 1, 1.0), number(2, 0, 1.0), number(3, 1000, 0.1)], FIRST);
    }

    #[test]
    fn the_document_shows_the_first_numbers() {
        let document = include_str!("../../README.md");
        for number in FIRST {
            assert!(document.contains(&number.to_string()), "{number} is not in bench/README.md");
        }
    }

    const FIRST: [f64; 4] =
        [0.532_603_514_678_172, -0.565_021_531_031_854_9, 0.810_130_455_756_37, 0.045_398_274_810_103_036];
}
