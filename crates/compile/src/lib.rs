//! From plans to C.

pub mod emit;
pub mod layout;
mod lines;
mod lower;
pub mod machine;
mod names;
mod nest;
mod precision;
pub mod runtime;
mod view;

pub use precision::Precision;
