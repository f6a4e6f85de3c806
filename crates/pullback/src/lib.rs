//! pullback

pub mod parse;
pub mod surface;
pub mod typing;

pub mod primitive;
pub mod syntax;
pub mod types;

pub mod substitute;
pub mod eval;
pub mod engine;
pub mod fast;
pub mod translate;
pub mod outcome;
pub mod codes;
pub mod print;
pub mod trace;
pub mod format;
pub mod language;

pub use eddy_syntax::names;
pub use language::Pullback;
