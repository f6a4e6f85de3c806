//! The kernels as witnesses (functions.md, L16): a program of a kernel and its translation to functions have
//! the same value, on programs that the kernels' own generators make.
//!
//! * [`harness`]: runs translations, and compares two values.
//! * [`rd`], [`pullback`], [`coherent`], [`lam`]: the laws of each kernel. [`text`]: translations, written
//!   out.

#![allow(dead_code, unused_imports)] // these tests use only parts of the generators

#[path = "../../../calculi/coherent/tests/laws/generate/mod.rs"]
mod generate_coherent;
#[path = "../../../calculi/tables/tests/laws/generate/simple.rs"]
mod generate_lam;
#[path = "../../../calculi/pullback/tests/laws/generate.rs"]
mod generate_pullback;
#[path = "../../../calculi/rd/tests/laws/generate/mod.rs"]
mod generate_rd;

mod harness;

mod coherent;
mod extremes;
mod lam;
mod pullback;
mod rd;
mod text;
