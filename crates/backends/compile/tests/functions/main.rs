//! Compiled functions against the interpreter: the same bits and the same failures (law L1).
//!
//! The generated modules are those of the laws of `eddy-body`. Many are joined to one C file, since starting
//! a compiler is slow.

mod free;
#[allow(dead_code, reason = "shared with the laws of bodies")]
#[path = "../../../../core/body/tests/derivatives/generate.rs"]
mod generate;
#[allow(dead_code, reason = "shared with the laws of bodies")]
#[path = "../../../../core/body/tests/derivatives/harness.rs"]
mod harness;
mod joined;
mod laws;
mod operations;
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "it calls the C compiler")]
mod package;
mod small;
