//! The scalar types of an operation's operands and result, in a form that unification can use.
//!
//! A signature has at most one type variable, α, which stands for `int` or `num`, or for any type. `+` is
//! `α × α → α, α numeric`: both operands and the result have one type, and it is a numeric one.

use std::fmt;

use crate::value::Scalar;

/// What the scalar type of an operand, or of the result, must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// This type.
    Is(Scalar),
    /// The type α, the same at all places of the signature.
    Alpha,
    /// Any type, without relation to the others.
    Free,
}

/// What α stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `int` or `num`.
    Numeric,
    /// Any type.
    Any,
}

/// The scalar types of operands and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What α stands for, where it occurs.
    pub alpha: Class,
    /// The operands; where there may be more of them, the last one is repeated.
    pub operands: &'static [Slot],
    /// The result.
    pub result: Slot,
    /// How many operands there are.
    pub arity: Arity,
}

/// How many operands an operation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// So many.
    Exactly(usize),
    /// So many or more.
    AtLeast(usize),
}

pub(crate) const BOOL: Slot = Slot::Is(Scalar::Bool);
pub(crate) const INT: Slot = Slot::Is(Scalar::Int);
pub(crate) const NUM: Slot = Slot::Is(Scalar::Num);
pub(crate) const ALPHA: Slot = Slot::Alpha;

impl Signature {
    /// With α any type, if it occurs at all.
    pub(crate) const fn any(operands: &'static [Slot], result: Slot) -> Signature {
        Signature { alpha: Class::Any, operands, result, arity: Arity::Exactly(operands.len()) }
    }

    /// With α a numeric type.
    pub(crate) const fn numeric(operands: &'static [Slot], result: Slot) -> Signature {
        Signature { alpha: Class::Numeric, ..Signature::any(operands, result) }
    }

    /// With the last operand repeated at will.
    pub(crate) const fn repeated(self) -> Signature {
        Signature { arity: Arity::AtLeast(self.operands.len()), ..self }
    }

    /// What operand number `index` must be.
    pub fn operand(&self, index: usize) -> Slot {
        self.operands[index.min(self.operands.len() - 1)]
    }
}

impl Arity {
    /// Whether so many operands are right.
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
