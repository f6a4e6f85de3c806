//! `rd`: a first-order differentiable language, after Abadi and Plotkin, *A Simple Differentiable Programming Language*.
//!
//! `W.rd_V(x:T. N)` is the reverse derivative of `N` at `V`, applied to the cotangent `W`. It is a term like any other: it
//! may stand in recursive functions, under conditionals, and inside another derivative.
//!
//! ```
//! use eddy_rd::engine::{Engine, run};
//! use eddy_rd::outcome::Limits;
//! use eddy_rd::typing::check;
//! use eddy_syntax::SourceFile;
//!
//! let file = SourceFile::new("cube.rd", "grad[2](x. x * x * x)");
//! let program = check(&file).expect("the program is well typed");
//! assert_eq!(run(&program, Engine::Tape, Limits::default()).line(), "12");
//! ```
//!
//! Modules, in the order in which a program meets them. Numbers of sections and figures in comments are those of the
//! language's specification and of the paper; `docs/papers.md` goes the other way, from each figure to its code.
//!
//! * Text to terms: [`parse`] makes the [`surface`] tree, [`typing`] checks it and removes [`sugar`], which gives
//!   the core terms of [`syntax`], with [`types`], [`names`] and the table of [`operation`]s.
//! * What a program means: [`eval`] is the reference engine, rule by rule; it differentiates traces with
//!   [`reverse`], and `op_r` is what [`template`] says. [`denote`] is the denotational semantics, an independent witness
//!   for the laws.
//! * Fast engines: [`tape`] (the default) and [`transform`]. [`engine`] is the door to all of them, [`outcome`] what
//!   comes out, [`value`] what that is made of. [`clarke`] asks for one-sided derivatives at kinks.
//! * Terms to text: [`print`](mod@print), [`trace`](mod@trace) for `eddy trace`, [`format`](mod@format) for `eddy fmt`.
//! * [`language`] plugs all of it into the command line, [`codes`] lists its diagnostics.
//!
//! Nothing here reads files, prints, or recurses natively over a program; [`denote`], which no command reaches, is the one
//! exception to the last.

pub mod parse;
pub mod surface;
pub mod typing;

pub mod operation;
pub mod sugar;
pub mod syntax;
pub mod types;
pub mod value;

pub mod denote;
pub mod eval;
pub mod reverse;
pub mod template;

pub mod clarke;
pub mod engine;
pub mod outcome;
pub mod tape;
pub mod transform;

pub mod format;
pub mod print;
pub mod trace;

pub mod codes;
pub mod language;

pub use eddy_syntax::names;
pub use language::Rd;
