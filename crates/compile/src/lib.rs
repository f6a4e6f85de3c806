//! From plans to C.

mod lines;
mod lower;
mod nest;
mod precision;
mod view;

pub use precision::Precision;
