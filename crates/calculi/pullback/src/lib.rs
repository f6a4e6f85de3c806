//! `pullback`: a higher-order differentiable language, after Mak and Ong, *A Differential-form Pullback
//! Programming Language for Higher-order Reverse-mode Automatic Differentiation*.
//!
//! `(Ω λx.P) · ω` is the pullback of the 1-form `ω` along `λx.P`. Applied to a point it is a covector on the
//! domain of `λx.P`: reverse mode, at every type. The function may take and return functions.
//!
//! ```
//! use eddy_pullback::requests::Run;
//! use eddy_syntax::SourceFile;
//!
//! let file = SourceFile::new("square.pb", "((Ω λx:R. x * x) · Ω [1]) 3");
//! let answer = Run::default().answer(&file).expect("the program is well typed");
//! assert_eq!(answer.to_string(), "[6]^*");
//! ```
//!
//! Modules, in the order in which a program passes through them. Section, rule and figure numbers in comments
//! are those of the language's specification and of the paper; `docs/papers.md` maps each figure to its code.
//!
//! * Text to terms: [`parse`] makes the [`surface`] tree, [`typing`] infers types, checks linearity and
//!   removes sugar, which gives the kernel terms of [`syntax`], with [`types`], [`names`], [`primitive`]s and
//!   [`substitute`].
//! * The meaning of a program: [`eval`] is the reference engine, rule by rule. [`translate`] evaluates the
//!   translation into the differential λ-calculus, an independent witness.
//! * The fast engine: [`fast`]. [`engine`] selects one of all engines, [`outcome`] has the results.
//! * Terms to text: [`print`](mod@print), [`trace`](mod@trace) for `eddy trace`, [`format`](mod@format) for
//!   `eddy fmt`.
//! * [`requests`]: the requests about a program, and their answers; [`codes`] lists the diagnostics.
//!
//! No function here reads files, prints, or recurses natively over a program.

pub mod parse;
pub mod surface;
pub mod typing;

pub mod primitive;
pub mod substitute;
pub mod syntax;
pub mod types;

pub mod eval;
pub mod translate;

pub mod engine;
pub mod fast;
pub mod outcome;

pub mod format;
pub mod print;
pub mod trace;

pub mod codes;
pub mod requests;

pub use eddy_syntax::names;
