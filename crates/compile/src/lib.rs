//! From plans to C.

mod lines;
mod lower;
mod nest;
mod precision;
pub mod runtime;
mod view;

pub use precision::Precision;
