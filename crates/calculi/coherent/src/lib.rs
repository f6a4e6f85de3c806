//! `coherent`: a deterministic differential PCF, after Ehrhard, *A Coherent Differential PCF*.
//!
//! `D M` differentiates a function of any type, not only of reals: `D A` is the type of *summable pairs* of
//! `A`, and `D f` maps `(x, u)` to `(f x, f'(x)·u)`. Operationally the derivative is the part that uses the
//! second component exactly once, so differentiation counts linear uses.
//!
//! ```
//! use eddy_coherent::requests::Run;
//! use eddy_syntax::SourceFile;
//!
//! let file = SourceFile::new("once.cd", "D (\\x:nat. succ x) (inj1 4)");
//! let answer = Run::default().answer(&file).expect("the program is well typed");
//! assert_eq!(answer.to_string(), "0: none\n1: 5");
//! ```
//!
//! Modules, in the order in which a program passes through them. Section numbers in comments are those of the
//! language's specification, figure and theorem numbers those of the paper; `docs/papers.md` maps them to the
//! code.
//!
//! * Text to terms: [`parse`] makes the [`surface`] tree, [`typing`] checks it and removes [`sugar`], which
//!   gives the core terms of [`syntax`], with [`types`] and [`names`].
//! * The meaning of a term: [`differential`] is ∂, [`substitute`] is substitution. [`krivine`] has the two
//!   machines of the paper, on [`word`]s; [`rewrite`] is the rewriting system, [`relation`] the intersection
//!   types. The last two are for the laws and for `eddy ask`.
//! * The fast machine: [`environment`]. [`engine`] selects one of all three, [`outcome`] has the results.
//! * Terms to text: [`print`](mod@print), [`trace`](mod@trace) for `eddy trace`, [`format`](mod@format) for
//!   `eddy fmt`.
//! * [`requests`]: the requests about a program, and their answers; [`codes`] lists the diagnostics.
//!
//! Nothing here reads files, prints, or recurses natively over a program.

pub mod parse;
pub mod surface;
pub mod typing;

pub mod sugar;
pub mod syntax;
pub mod types;

pub mod differential;
pub mod krivine;
pub mod substitute;
pub mod word;

pub mod relation;
pub mod rewrite;

pub mod engine;
pub mod environment;
pub mod outcome;

pub mod format;
pub mod print;
pub mod trace;

pub mod codes;
pub mod requests;

pub use eddy_syntax::names;
