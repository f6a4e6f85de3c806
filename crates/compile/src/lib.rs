//! From plans to C, and from C to shared objects.
//!
//! All of it is a function from values to values, except [`build`]: there the C compiler is called and files are kept.

mod battery;
pub mod build;
pub mod emit;
pub mod layout;
mod lines;
mod lower;
pub mod machine;
mod names;
mod nest;
pub mod package;
mod pieces;
mod precision;
pub mod runtime;
mod view;

pub use precision::Precision;
