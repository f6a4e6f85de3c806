//! The third view (section 7): translation into a differential λ-calculus 𝓛, and its evaluator.
//!
//! In 𝓛 a covector is a function, `(σ*)_t = σ_t → R`, and the only derivative is forward: `D^k(s; a; v1 …
//! vk)`, the k-th derivative of the function `s` at `a` along `v1 … vk`. A pullback is translated to its
//! meaning, `λx v. ω(f x)(D(f; x; v))`. This engine shares only the list of scalar operations and their
//! tangents with the others; it has no tape, no let series and no transposition, so it is an independent
//! reference for both.
//!
//! * [`term`]: the terms of 𝓛. [`translation`]: from kernel terms.
//! * [`derivative`]: the syntactic derivative `∂` of a term in a variable.
//! * [`machine`]: closures and a stack of frames.

pub mod derivative;
pub mod machine;
pub mod term;
pub mod translation;

use crate::outcome::{Counters, Limits, Outcome};
use crate::syntax::Program;
use crate::types::Types;

/// Runs a program by its translation. An open program is not evaluated: its outcome is its main expression.
pub fn run(program: &Program, limits: Limits) -> (Outcome, Counters, Types) {
    let main = program.main.expect("the caller checked that there is a main expression");
    let types = program.terms.types.clone();
    if program.is_open {
        return (Outcome::Open(main), Counters::default(), types);
    }
    let (terms, term) = translation::translate(&program.terms, main);
    let mut machine = machine::Machine::new(terms, limits);
    let outcome = match machine.run(term, program.terms.ty(main), &types) {
        Ok(answer) => Outcome::Value(answer),
        Err(stop) => Outcome::Stopped(stop),
    };
    (outcome, machine.counters(), types)
}
