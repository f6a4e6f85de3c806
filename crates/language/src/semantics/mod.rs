//! The semantics of programs: three ways to compute the cells of all streams.
//!
//! * [`Cell`]: the content of a stream at a cycle.
//! * [`denote`]: the least fixpoint of the equations, for all cycles at once.
//! * [`simulate`]: the operational semantics, cycle by cycle and in bounded memory;
//!   `eddy run --engine simulate`.
//! * [`kahn`]: the same equations on lists, without absence.
//! * [`errors`]: the diagnostics of programs that fail while they run.

mod cell;
pub mod denote;
pub mod errors;
pub mod kahn;
pub mod simulate;

pub use cell::Cell;
