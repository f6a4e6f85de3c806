//! The scalar types of an operation's operands and result, in a form for unification.
//!
//! A signature has at most one type variable, α, which ranges over `int` and `num`, or over all types. `+` is
//! `α × α → α, α numeric`: both operands and the result have the same numeric type.

use std::fmt;

use crate::value::Scalar;

/// The scalar type of an operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Is(Scalar),
    /// The type variable α, the same throughout the signature.
    Alpha,
    /// Any type, unrelated to the others.
    Free,
}

/// The types that α ranges over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `int` or `num`.
    Numeric,
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The range of α; irrelevant if α does not occur.
    pub alpha: Class,
    /// The operands; if more are allowed, the last slot repeats.
    pub operands: &'static [Slot],
    pub result: Slot,
    pub arity: Arity,
}

/// The number of operands of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    Exactly(usize),
    AtLeast(usize),
}

pub(crate) const BOOL: Slot = Slot::Is(Scalar::Bool);
pub(crate) const INT: Slot = Slot::Is(Scalar::Int);
pub(crate) const NUM: Slot = Slot::Is(Scalar::Num);
pub(crate) const ALPHA: Slot = Slot::Alpha;

impl Signature {
    /// A signature in which α, if it occurs, is any type.
    pub(crate) const fn any(operands: &'static [Slot], result: Slot) -> Signature {
        Signature { alpha: Class::Any, operands, result, arity: Arity::Exactly(operands.len()) }
    }

    /// A signature in which α is a numeric type.
    pub(crate) const fn numeric(operands: &'static [Slot], result: Slot) -> Signature {
        Signature { alpha: Class::Numeric, ..Signature::any(operands, result) }
    }

    /// Allows the last operand to be repeated.
    pub(crate) const fn repeated(self) -> Signature {
        Signature { arity: Arity::AtLeast(self.operands.len()), ..self }
    }

    /// The slot of operand number `index`.
    pub fn operand(&self, index: usize) -> Slot {
        self.operands[index.min(self.operands.len() - 1)]
    }
}

impl Arity {
    pub fn accepts(self, n: usize) -> bool {
        match self {
            Arity::Exactly(exactly) => n == exactly,
            Arity::AtLeast(least) => n >= least,
        }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::Is(scalar) => write!(f, "{scalar}"),
            Slot::Alpha => f.write_str("α"),
            Slot::Free => f.write_str("any"),
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, operand) in self.operands.iter().enumerate() {
            let separator = if index == 0 { "" } else { " × " };
            write!(f, "{separator}{operand}")?;
        }
        if let Arity::AtLeast(_) = self.arity {
            f.write_str(" × ..")?;
        }
        write!(f, " → {}", self.result)?;
        let has_alpha = self.operands.contains(&Slot::Alpha);
        if has_alpha && self.alpha == Class::Numeric {
            f.write_str(", α numeric")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_print_as_in_the_specification() {
        assert_eq!(Signature::numeric(&[ALPHA, ALPHA], ALPHA).to_string(), "α × α → α, α numeric");
        assert_eq!(Signature::any(&[BOOL, ALPHA, ALPHA], ALPHA).to_string(), "bool × α × α → α");
        assert_eq!(Signature::any(&[ALPHA], ALPHA).repeated().to_string(), "α × .. → α");
        assert_eq!(Signature::any(&[NUM, Slot::Free], INT).to_string(), "num × any → int");
    }

    #[test]
    fn the_last_operand_is_the_repeated_one() {
        let concat = Signature::any(&[ALPHA], ALPHA).repeated();
        assert_eq!(concat.operand(3), ALPHA);
        assert!(concat.arity.accepts(1) && concat.arity.accepts(5) && !concat.arity.accepts(0));
        let if_then_else = Signature::any(&[BOOL, ALPHA, ALPHA], ALPHA);
        assert_eq!(if_then_else.operand(0), BOOL);
        assert!(if_then_else.arity.accepts(3) && !if_then_else.arity.accepts(2));
    }
}
