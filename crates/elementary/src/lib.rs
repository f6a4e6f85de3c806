//! Elementary functions with the same bits in Rust and in C.
mod c;
pub mod double;
pub mod single;
pub use c::{Width, c_source};
