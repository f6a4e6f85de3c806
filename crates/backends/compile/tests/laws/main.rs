//! The laws of printed plans, without a C compiler: an `imp` program has the meaning of its plan.
//!
//! [`generated`] and [`samples`](samples) are the programs of the laws of planning;
//! [`interpreted`](interpreted) runs them.

#[path = "../../../../language/tests/generated/mod.rs"]
mod generated;
#[path = "../../../../core/plan/tests/laws/samples.rs"]
#[allow(dead_code, reason = "not all laws take the same samples")]
mod samples;

mod functions;
mod interpreted;
