//! Generated programs with traces, run by either semantics, to test laws on.
//!
//! * [`generate`]: well-typed, well-clocked programs; [`trace`]: inputs for them; [`case`]: both together.
//! * [`harness`]: how a law is tested; [`engines`]: the cells of a case; [`compare`]: comparison of cells.
//! * [`agreement`]: the two semantics agree; [`round_trip`]: flow text reads back.

#![allow(dead_code, unused_imports)] // not every target uses all of it

pub mod generate;

/// Functions as text, shared with the laws of functions.
#[path = "../functions_laws/generate.rs"]
pub mod functions;

pub mod agreement;
pub mod case;
pub mod compare;
pub mod engines;
pub mod harness;
pub mod round_trip;
pub mod trace;
