//! Integers of arbitrary size, and their operations (section 2).

use dashu_int::ops::BitTest;

pub use dashu_int::IBig as Int;

/// The maximal size of an integer: some five million digits.
pub const MAX_BITS: usize = 1 << 24;

/// Why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoResult {
    /// A division by zero, which has empty meaning.
    Zero,
    /// An integer of more than [`MAX_BITS`] bits.
    TooLarge,
}

/// The bytes of an integer beyond its inline size: none if it is small. Its digits have an eighth of spare
/// capacity.
pub fn extra_bytes(int: &Int) -> usize {
    const INLINE_BITS: usize = 128;
    const ALLOCATION_BYTES: usize = 32;
    let bits = int.bit_len();
    if bits <= INLINE_BITS { 0 } else { bits / 8 + bits / 64 + ALLOCATION_BYTES }
}

/// A binary operation. Comparisons give 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`: floor division.
    Divide,
    /// `%`: its remainder, with the sign of the divisor.
    Remainder,
    /// `=`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
}

/// The precedence of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Comparisons, which do not chain.
    Comparison,
    /// `+` and `-`.
    Sum,
    /// `*`, `/` and `%`.
    Product,
}

impl Op {
    pub const ALL: [Op; 11] = [
        Op::Add,
        Op::Subtract,
        Op::Multiply,
        Op::Divide,
        Op::Remainder,
        Op::Equal,
        Op::NotEqual,
        Op::Less,
        Op::LessEqual,
        Op::Greater,
        Op::GreaterEqual,
    ];

    /// Its spelling in source text.
    pub fn symbol(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Subtract => "-",
            Op::Multiply => "*",
            Op::Divide => "/",
            Op::Remainder => "%",
            Op::Equal => "=",
            Op::NotEqual => "!=",
            Op::Less => "<",
            Op::LessEqual => "<=",
            Op::Greater => ">",
            Op::GreaterEqual => ">=",
        }
    }

    /// The operation with this symbol.
    pub fn of_symbol(symbol: &str) -> Option<Op> {
        Op::ALL.into_iter().find(|op| op.symbol() == symbol)
    }

    pub fn level(self) -> Level {
        match self {
            Op::Multiply | Op::Divide | Op::Remainder => Level::Product,
            Op::Add | Op::Subtract => Level::Sum,
            _ => Level::Comparison,
        }
    }

    /// Its result.
    ///
    /// ```
    /// use eddy_tables::integer::{NoResult, Op};
    /// assert_eq!(Op::Divide.apply(&(-7).into(), &2.into()), Ok((-4).into()));
    /// assert_eq!(Op::Remainder.apply(&7.into(), &(-3).into()), Ok((-2).into()));
    /// assert_eq!(Op::Divide.apply(&1.into(), &0.into()), Err(NoResult::Zero));
    /// ```
    pub fn apply(self, a: &Int, b: &Int) -> Result<Int, NoResult> {
        let truth = |holds: bool| Ok(Int::from(u8::from(holds)));
        let fits = |bits: usize| if bits <= MAX_BITS { Ok(()) } else { Err(NoResult::TooLarge) };
        match self {
            Op::Add => fits(a.bit_len().max(b.bit_len()) + 1).map(|()| a + b),
            Op::Subtract => fits(a.bit_len().max(b.bit_len()) + 1).map(|()| a - b),
            Op::Multiply => fits(a.bit_len() + b.bit_len()).map(|()| a * b),
            Op::Divide => floor_division(a, b).map(|(quotient, _)| quotient),
            Op::Remainder => floor_division(a, b).map(|(_, remainder)| remainder),
            Op::Equal => truth(a == b),
            Op::NotEqual => truth(a != b),
            Op::Less => truth(a < b),
            Op::LessEqual => truth(a <= b),
            Op::Greater => truth(a > b),
            Op::GreaterEqual => truth(a >= b),
        }
    }
}

/// The quotient, rounded down, and the remainder.
fn floor_division(a: &Int, b: &Int) -> Result<(Int, Int), NoResult> {
    if *b == Int::ZERO {
        return Err(NoResult::Zero);
    }
    let (quotient, remainder) = (a / b, a % b);
    // The machine's division rounds towards zero: subtracts one if the signs differ.
    let is_above = remainder != Int::ZERO && (remainder < Int::ZERO) != (*b < Int::ZERO);
    Ok(if is_above { (quotient - Int::ONE, remainder + b) } else { (quotient, remainder) })
}
