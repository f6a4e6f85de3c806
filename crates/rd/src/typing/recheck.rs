//! The judgement `Φ|Γ ⊢ M : T` of Figure 1 on core terms.
pub fn recheck() {}
