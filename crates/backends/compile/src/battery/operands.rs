//! Operands of cases: their types, and numbers that are easy to distinguish.

use eddy_tensor::{Data, Scalar, Shape, Value};

/// The type of an operand and its range of values.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub shape: Vec<usize>,
    pub values: Values,
}

/// The range of values of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// Numbers of both signs; some are zero, and some are equal.
    Numbers,
    Positive,
    /// Integers of both signs.
    Integers,
    /// Nonzero integers.
    Divisors,
    /// Integers from 0 up to, but excluding, this size.
    Below(usize),
    Truths,
}

impl Values {
    pub fn scalar(self) -> Scalar {
        match self {
            Values::Numbers | Values::Positive => Scalar::Num,
            Values::Integers | Values::Divisors | Values::Below(_) => Scalar::Int,
            Values::Truths => Scalar::Bool,
        }
    }
}

/// A pseudo-random generator, the same on every machine.
pub(super) struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`, by the generator `xorshift64*`.
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n
    }

    fn integer(&mut self, from: i64, n: u64) -> i64 {
        from + self.below(n).cast_signed()
    }

    /// A multiple of 1/64 between -4 and 4, exact in both precisions; one in eight is zero, of either sign.
    #[allow(clippy::cast_precision_loss)] // it is small
    fn number(&mut self) -> f64 {
        match self.below(16) {
            0 => 0.0,
            1 => -0.0,
            _ => self.integer(-256, 512) as f64 / 64.0,
        }
    }

    #[allow(clippy::cast_precision_loss)] // it is small
    pub fn value(&mut self, wanted: &Wanted) -> Value {
        let n: usize = wanted.shape.iter().product();
        let data = match wanted.values {
            Values::Numbers => Data::Num((0..n).map(|_| self.number()).collect()),
            Values::Positive => Data::Num((0..n).map(|_| self.integer(1, 256) as f64 / 64.0).collect()),
            Values::Integers => Data::Int((0..n).map(|_| self.integer(-40, 81)).collect()),
            Values::Divisors => {
                Data::Int((0..n).map(|_| self.integer(1, 9) * (1 - 2 * self.integer(0, 2))).collect())
            }
            Values::Below(size) => Data::Int((0..n).map(|_| self.integer(0, size as u64)).collect()),
            Values::Truths => Data::Bool((0..n).map(|_| self.below(2) == 1).collect()),
        };
        Value::new(Shape::new(&wanted.shape), data).expect("as many elements as the shape has")
    }
}
