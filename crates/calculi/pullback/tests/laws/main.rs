//! The theorems of the paper as properties of the implementation (section 8), tried on generated programs.
//!
//! Each test is named after its theorem. A law is tried on programs that [`generate`] makes from random
//! numbers, which are the same on every run. A failing law shows the smallest program that breaks it.
//! `EDDY_CASES=10` tries ten times as many programs, and `-- --nocapture` shows how many samples were not
//! vacuous.
//!
//! * [`generate`]: well-typed programs; [`harness`](harness): the runner of laws, and equality of answers.
//! * the laws: [`decomposition`](decomposition) (P1), [`linearity`](linearity) (P2), [`reduction`](reduction)
//!   (P3 to P5, P9), [`differences`](differences) (P6, P7, P11), [`engines`](engines) (P8, P10, P12),
//!   [`normal_forms`](normal_forms) (P8), [`continuations`](continuations) (P10), [`text`](text) (P13),
//!   [`primitives`](primitives) (each operation), [`towers`](towers) (derivatives of any order).

mod generate;
mod harness;

mod continuations;
mod decomposition;
mod differences;
mod engines;
mod linearity;
mod normal_forms;
mod primitives;
mod reduction;
mod text;
mod towers;
