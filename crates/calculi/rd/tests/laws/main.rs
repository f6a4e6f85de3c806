//! The theorems of the paper as properties of the implementation (section 11), tried on generated programs.
//!
//! Each test is named after its theorem. A law is tried on programs that [`generate`] makes from random
//! numbers, which are the same on every run. A failing law shows the smallest program that breaks it.
//! `EDDY_CASES=10` tries ten times as many programs, and `-- --nocapture` shows how many samples were not
//! vacuous.
//!
//! * [`generate`]: well-typed programs.
//! * [`harness`](harness): the runner of laws; [`compare`](compare): equality of outcomes;
//!   [`observe`](observe): the traces and derivatives that a run of the reference engine makes.
//! * the laws, in the order of the paper: [`decomposition`](decomposition), [`evaluation`](evaluation),
//!   [`differentiation`](differentiation), [`denotation`](denotation), [`calculus`](calculus),
//!   [`engines`](engines), [`kinks`](kinks), [`text`](text).

mod generate;

mod alpha;
mod body;
mod compare;
mod harness;
mod observe;

mod calculus;
mod decomposition;
mod denotation;
mod differentiation;
mod distribution;
mod engines;
mod evaluation;
mod kinks;
mod text;
