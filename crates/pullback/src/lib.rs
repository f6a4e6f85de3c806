//! `pullback`: a higher-order differentiable language, after Mak and Ong, *A Differential-form Pullback Programming Language for Higher-order Reverse-mode
//! Automatic Differentiation*.
//!
//! `(Ω λx.P) · ω` is the pullback of the 1-form `ω` along `λx.P`. Applied to a point it is a covector on the domain of `λx.P`: reverse mode, at every type. The
//! function may take and return functions.
//!
//! ```
//! use eddy_pullback::engine::{Engine, run};
//! use eddy_pullback::outcome::Limits;
//! use eddy_pullback::typing::check;
//! use eddy_syntax::SourceFile;
//!
//! let file = SourceFile::new("square.pb", "((Ω λx:R. x * x) · Ω [1]) 3");
//! let program = check(&file).expect("the program is well typed");
//! assert_eq!(run(&program, Engine::Fast, Limits::default()).line().as_deref(), Some("[6]^*"));
//! ```
//!
//! Modules, in the order in which a program meets them. Numbers of sections, rules and figures in comments are those of the
//! language's specification and of the paper; `docs/papers.md` goes the other way, from each figure to its code.
//!
//! * Text to terms: [`parse`] makes the [`surface`] tree, [`typing`] infers types, checks linearity and removes sugar, which gives the kernel terms of
//!   [`syntax`], with [`types`], [`names`], [`primitive`]s and [`substitute`].
//! * What a program means: [`eval`] is the reference engine, rule by rule. [`translate`] evaluates the translation into the differential λ-calculus, an
//!   independent witness.
//! * The fast engine: [`fast`]. [`engine`] is the door to all of them, [`outcome`] what comes out.
//! * Terms to text: [`print`](mod@print), [`trace`](mod@trace) for `eddy trace`, [`format`](mod@format) for `eddy fmt`.
//! * [`language`] plugs all of it into the command line, [`codes`] lists its diagnostics.
//!
//! Nothing here reads files, prints, or recurses natively over a program.

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
pub mod language;

pub use eddy_syntax::names;
pub use language::Pullback;
