//! The theorems of the paper as properties of the implementation (section 13), tried on generated programs.
//!
//! Each test is named after its theorem or its number in the specification. A law is tried on programs that
//! [`generate`] makes from random numbers, which are the same on every run. A failing law shows the smallest
//! program that breaks it. `EDDY_CASES=10` tries ten times as many programs, and `-- --nocapture` shows how
//! many samples were not vacuous.
//!
//! * [`machines`]: the two machines of the paper, against their types and against each other.
//! * [`lemmas`]: statements that the theorems rest on.
//! * [`environment`]: the environment machine against the det machine.
//! * [`relation`]: the intersection types against the machine.
//! * [`rewriting`]: the differential and the rewriting system; [`rules`]: each of its rules; [`simulation`]:
//!   machine steps as rewriting.
//! * [`probability`]: coins and ticks.
//! * [`trees`]: the monad of summable pairs, symmetry, and linear application.
//! * [`text`]: printing, parsing and formatting.

mod generate;
mod harness;

mod environment;
mod lemmas;
mod machines;
mod probability;
mod relation;
mod rewriting;
mod rules;
mod simulation;
mod text;
mod trees;
