//! `rd`: a first-order differentiable language, after Abadi and Plotkin, *A Simple Differentiable Programming
//! Language*.
//!
//! `W.rd_V(x:T. N)` is the reverse derivative of `N` at `V`, applied to the cotangent `W`. It is a term like
//! any other: it may occur in recursive functions, under conditionals, and inside another derivative.
//!
//! ```
//! use eddy_rd::requests::Run;
//! use eddy_syntax::SourceFile;
//!
//! let file = SourceFile::new("cube.rd", "grad[2](x. x * x * x)");
//! let report = Run::default().answer(&file).expect("the program is well typed");
//! assert_eq!(report.to_string(), "12");
//! ```
//!
//! Modules, in the order in which a program passes through them. Section and figure numbers in comments are
//! those of the language's specification and of the paper; `docs/papers.md` maps each figure to its code.
//!
//! * Text to terms: [`parse`] makes the [`surface`] tree, [`typing`] checks it and removes [`sugar`], which
//!   gives the core terms of [`syntax`], with [`types`], [`names`] and the table of [`operation`]s.
//! * The meaning of a program: [`eval`] is the reference engine, rule by rule; it differentiates traces with
//!   [`reverse`], and [`template`] defines `op_r`. [`denote`] is the denotational semantics, an independent
//!   witness for the laws.
//! * Fast engines: [`tape`] (the default) and [`transform`]. [`engine`] selects one of all engines,
//!   [`outcome`] has the results, which contain [`value`]s. [`clarke`] computes one-sided derivatives at
//!   kinks.
//! * Terms to text: [`print`](mod@print), [`trace`](mod@trace) for `eddy trace`, [`format`](mod@format) for
//!   `eddy fmt`.
//! * [`requests`]: the requests about a program, and their answers; [`codes`] lists the diagnostics.
//!
//! No function here reads files or prints. Only [`denote`] recurses natively over a program; `eddy compare`
//! uses it for programs with little nesting.

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
pub mod requests;

pub use eddy_syntax::names;
