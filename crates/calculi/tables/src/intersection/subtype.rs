//! Subtyping by the rules of Figure 5, for the laws: they must agree with the order of values (Proposition
//! 2.4).
//!
//! ```text
//! A <: A      A <: B, B <: C ⟹ A <: C      A ≈ A', B ≈ B' ⟹ A→B <: A'→B'
//! H <: F, H <: G ⟹ H <: F∧G      F∧G <: F      F∧G <: G      A→B <: ⊤
//! ```
//!
//! Transitivity needs no search: the rules for ∧ on the left are applied only below those on the right, and ⊤
//! is the empty intersection, so `F <: G` holds if each arrow of G has an equivalent arrow in F. The
//! recursion is as deep as the types, which the laws keep small.

use super::{Form, Intersection, Intersections};

impl Intersections {
    /// Whether `A <: B` has a derivation.
    pub fn derives_subtype(&self, a: Intersection, b: Intersection) -> bool {
        match (self.form(a), self.form(b)) {
            (Form::Int(a), Form::Int(b)) => a == b,
            (Form::Int(_), _) | (_, Form::Int(_)) => false,
            // H <: F, H <: G ⟹ H <: F∧G
            (_, Form::And(f, g)) => self.derives_subtype(a, *f) && self.derives_subtype(a, *g),
            // A→B <: ⊤ and ⊤ <: ⊤; an intersection is below its parts, and those are below ⊤.
            (_, Form::Top) => true,
            // F∧G <: F and F∧G <: G
            (Form::And(f, g), Form::Arrow(..)) => self.derives_subtype(*f, b) || self.derives_subtype(*g, b),
            // A ≈ A', B ≈ B' ⟹ A→B <: A'→B'
            (Form::Arrow(from, to), Form::Arrow(other_from, other_to)) => {
                self.are_equivalent(*from, *other_from) && self.are_equivalent(*to, *other_to)
            }
            (Form::Top, Form::Arrow(..)) => false,
        }
    }

    /// A ≈ B: A <: B and B <: A.
    pub fn are_equivalent(&self, a: Intersection, b: Intersection) -> bool {
        self.derives_subtype(a, b) && self.derives_subtype(b, a)
    }
}
