//! Contracts: conditions that hold at every cycle where they are present.
//!
//! A contract is an equation like all others, `1 div (if e then 1 else 0)`, which has no value where `e` is
//! false. So every engine stops there, and a pass that keeps failing operations keeps contracts. No equation
//! reads it.

use eddy_syntax::Span;

use crate::VarId;

/// `assert e "message";` or `assume e "message";` in an instance.
#[derive(Clone, Debug)]
pub struct Contract {
    /// The stream that has no value where the condition is false.
    pub var: VarId,
    /// The condition.
    pub condition: VarId,
    /// Whether it speaks of the streams that a caller gives: `assume`.
    pub is_assumption: bool,
    /// What does not hold.
    pub message: Box<str>,
    /// The word `assert` or `assume`.
    pub span: Span,
}
