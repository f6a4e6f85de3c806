//! Translates plans to `imp`, `imp` to C, and C to shared objects.
//!
//! All of it is pure except [`build`], which calls the C compiler and caches files.

mod battery;
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it calls the C compiler and keeps files"
)]
pub mod build;
mod c;
pub mod emit;
pub mod functions;
pub mod layout;
mod lower;
pub mod machine;
mod names;
mod nest;
mod operation;
pub mod package;
mod passes;
mod precision;
pub mod runtime;
mod view;

pub use precision::Precision;
