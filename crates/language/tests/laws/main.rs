//! The theorems of the paper as properties of the implementation (section 12), tested on generated programs.
//!
//! Each test is named after its property. A law is tested on programs that [`generated`] makes from random
//! numbers, and on traces that respect their clocks; the numbers are the same on every run. A failing law
//! shows the smallest counterexample with a test bench, which can be pasted into a file. `EDDY_CASES=10`
//! tests ten times as many programs, and `-- --nocapture` shows to how many programs each law applied.
//!
//! * [`generated`]: programs, traces for them, and how a law is tested; [`naive`](naive): the operational
//!   rules without a schedule.
//! * The laws: [`semantics`](semantics) (P1, P8), [`order`](order) (P2, P3), [`horizon`](horizon) (P4, P5),
//!   [`knowledge`](knowledge) (P6), [`delays`](delays) (P7), [`instances`](instances) (P12), [`lists`](lists)
//!   (P15), [`printed`](printed) (P19), [`deadlocks`](deadlocks), [`streaming`](streaming), [`text`](text),
//!   [`shapes`](shapes), [`refusals`](refusals), and the [`distribution`](distribution) of the programs.
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
