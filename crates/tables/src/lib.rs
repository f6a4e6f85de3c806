//! `tables`: three functional languages whose functions are finite tables.
pub mod dialect;
pub mod parse;
pub mod surface;
pub mod typing;
pub mod integer;
pub mod syntax;
pub mod types;

pub mod value;


pub mod ask;
pub mod derivation;
pub mod enumerate;
pub mod intersection;
pub mod intype;
pub mod optimise;

pub mod run;
pub mod step;
pub mod substitute;
pub mod trace;

pub mod format;
pub mod print;

pub mod codes;
pub mod language;

pub use eddy_syntax::names;
pub use language::{LAM, REF, SYSF, Tables};
