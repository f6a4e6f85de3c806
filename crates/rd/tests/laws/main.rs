//! The theorems of the paper as properties of the implementation (section 11), tried on generated programs.
//!
//! Each test is named after its theorem. A law is tried on programs that [`generate`] makes out of random numbers; the
//! numbers are the same on every run. A failing law shows the smallest program that breaks it. `EDDY_CASES=10` tries
//! ten times as many programs, and `-- --nocapture` shows on how many a law had something to say.
//!
//! * [`generate`]: well-typed programs.
//! * [`harness`](harness): how a law is tried; [`compare`](compare): when two outcomes are the same;
//!   [`observe`](observe): the traces and derivatives that a run of the reference engine makes.
//! * the laws, in the order of the paper: [`decomposition`](decomposition), [`evaluation`](evaluation),
//!   [`differentiation`](differentiation), [`denotation`](denotation), [`calculus`](calculus), [`engines`](engines),
//!   [`kinks`](kinks), [`text`](text).

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
