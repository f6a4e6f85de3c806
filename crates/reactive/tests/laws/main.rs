//! The theorems of the paper as properties of the implementation (section 12), tried on generated programs.
//!
//! Each test is named after its property. A law is tried on programs that [`generate`] makes out of random numbers, and on
//! traces that respect their clocks; the numbers are the same on every run. A failing law shows the smallest program that breaks
//! it, with a test bench: the text can be pasted into a file. `EDDY_CASES=10` tries ten times as many programs, and
//! `-- --nocapture` shows on how many a law had something to say.
//!
//! * [`generate`]: well-typed, well-clocked programs; [`trace`](trace): inputs for them; [`case`](case): both together.
//! * [`harness`](harness): how a law is tried; [`engines`](engines): the cells of a case; [`compare`](compare): when cells are
//!   the same; [`naive`](naive): the operational rules without a schedule.
//! * the laws: [`semantics`](semantics) (P1, P8), [`order`](order) (P2, P3), [`horizon`](horizon) (P4, P5),
//!   [`knowledge`](knowledge) (P6), [`delays`](delays) (P7), [`instances`](instances) (P12), [`lists`](lists) (P15),
//!   [`streaming`](streaming), [`text`](text), [`refusals`](refusals), and what the programs are like, [`distribution`](distribution).

mod generate;

mod case;
mod compare;
mod engines;
mod harness;
mod naive;
mod trace;

mod delays;
mod distribution;
mod horizon;
mod instances;
mod knowledge;
mod lists;
mod order;
mod refusals;
mod semantics;
mod streaming;
mod text;
