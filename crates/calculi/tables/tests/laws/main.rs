//! The theorems of the paper as properties of the implementation (section 11), tried on generated programs.
//!
//! Each test is named after its number in the specification. A law is tried on programs that [`generate`]
//! makes from random numbers, which are the same on every run. A failing law shows the smallest program that
//! breaks it. `EDDY_CASES=10` tries ten times as many programs, and `-- --nocapture` shows how many samples
//! were not vacuous.
//!
//! * [`operational`]: the declarative semantics against the runners, and the runners against each other.
//! * [`order`]: ⊑, ⊔, and that meanings respect them.
//! * [`views`]: derivations, the literal equations, and intersection types; [`equations`]: those of System F;
//!   [`typing`]: the type system.
//! * [`contexts`]: meanings are a congruence. [`optimiser`]: optimised programs keep meanings and results.
//!   [`enumeration`]: `enum` lists the values of `ask`.
//! * [`realisers`]: meanings, tested only by running programs. [`membership`]: what types mean, and the
//!   lemmas of type soundness.
//! * [`systemf`]: type soundness. [`references`]: the heap. [`text`]: printing, parsing and formatting.

mod generate;
mod harness;

mod contexts;
mod enumeration;
mod equations;
mod membership;
mod operational;
mod optimiser;
mod order;
mod realisers;
mod references;
mod systemf;
mod text;
mod typing;
mod views;
