//! What laws are tried on: generated programs with traces, run by either semantics.
//!
//! * [`generate`]: well-typed, well-clocked programs; [`trace`]: inputs for them; [`case`]: both together.
//! * [`harness`]: how a law is tried; [`engines`]: the cells of a case; [`compare`]: when cells are the same.
//! * [`agreement`]: the two semantics agree; [`round_trip`]: flow text reads back.

#![allow(dead_code)] // not every target uses all of it

pub mod generate;

pub mod agreement;
pub mod case;
pub mod compare;
pub mod engines;
pub mod harness;
pub mod round_trip;
pub mod trace;
