//! The judgement `Γ ⊢ M : A` on core terms (section 3), with sums.
use crate::syntax::{TermId, Terms};
use crate::types::Type;
/// x
pub fn recheck(_terms: &mut Terms, _m: TermId) -> Option<Type> { None }
/// x
pub fn recheck_open(_terms: &mut Terms, _m: TermId, _scope: &[Type]) -> Option<Type> { None }
