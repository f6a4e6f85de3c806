//! The theorems of the paper as properties of the implementation (section 12), tried on generated programs.
//!
//! Each test is named after its property. A law is tried on programs that [`generated`] makes out of random numbers, and on
//! traces that respect their clocks; the numbers are the same on every run. A failing law shows the smallest program that breaks
//! it, with a test bench: the text can be pasted into a file. `EDDY_CASES=10` tries ten times as many programs, and
//! `-- --nocapture` shows on how many a law had something to say.
//!
//! * [`generated`]: programs, traces for them, and how a law is tried; [`naive`](naive): the operational rules without a
//!   schedule.
//! * the laws: [`semantics`](semantics) (P1, P8), [`order`](order) (P2, P3), [`horizon`](horizon) (P4, P5),
//!   [`knowledge`](knowledge) (P6), [`delays`](delays) (P7), [`instances`](instances) (P12), [`lists`](lists) (P15),
//!   [`printed`](printed) (P19), [`deadlocks`](deadlocks), [`streaming`](streaming), [`text`](text), [`shapes`](shapes), [`refusals`](refusals), and what the programs are like,
//!   [`distribution`](distribution).
//!
//! The laws of derivatives are in `tests/derivatives`.

#[path = "../generated/mod.rs"]
mod generated;

mod naive;

mod deadlocks;
mod delays;
mod distribution;
mod horizon;
mod instances;
mod knowledge;
mod lists;
mod order;
mod printed;
mod refusals;
mod semantics;
mod shapes;
mod streaming;
mod text;
