//! Laws of functions (functions.md, section 11) on generated programs.

mod generate;
mod harness;

mod calculus;
mod rewriting;
