//! `tables`: three functional languages whose functions are finite tables, after Siek, *Declarative semantics
//! for functional languages*.
//!
//! A program has two meanings. First, it runs in the ordinary way, with closures and a heap. Second, it
//! *means* the set of all finite values that it satisfies, where a function satisfies a table if it has all
//! its entries. A program that does not end means the empty set. `eddy ask` answers questions about the
//! second meaning:
//!
//! ```
//! use eddy_syntax::{SourceFile, Sources};
//! use eddy_tables::dialect::Dialect;
//! use eddy_tables::requests::questions::{Ask, Question};
//!
//! let mut sources = Sources::alone(SourceFile::new("f.lam", "\\f. f (f 1)"));
//! let ask = Ask::new(Question::value("{{1 -> 2, 2 -> 3} -> 3}"));
//! assert_eq!(ask.answer(&mut sources, Dialect::Lambda).expect("it is closed").to_string(), "yes");
//! ```
//!
//! Modules, in the order in which a program passes through them. Section numbers in comments are those of the
//! languages' specification, figure and theorem numbers those of the paper; `docs/papers.md` maps them to the
//! code.
//!
//! * Text to terms: [`dialect`] distinguishes the three languages; [`parse`] makes the [`surface`] tree,
//!   [`typing`] checks it and erases [`types`], which gives the terms of [`syntax`], over [`integer`]s and
//!   [`names`].
//! * The ordinary meaning: [`run`] is the big-step semantics, [`step`] the small-step one with
//!   [`substitute`], [`trace`](mod@trace) shows it.
//! * The second meaning: [`value`] has finite values, [`ask`] decides membership, [`derivation`] explains a
//!   yes, [`enumerate`] lists values, [`intersection`] has the equivalent types. [`optimise`] preserves this
//!   meaning, [`intype`] is the meaning of types of System F.
//! * An oracle for other compilers, by the same idea: [`oracle`].
//! * Terms to text: [`print`](mod@print), [`format`](mod@format) for `eddy fmt`.
//! * [`requests`]: the requests about a program, and their answers; [`codes`] lists the diagnostics.
//!
//! Nothing here reads files, prints, or recurses natively over a program.

pub mod dialect;
pub mod parse;
pub mod surface;
pub mod typing;

mod chunks;
pub mod integer;
pub mod syntax;
pub mod types;

pub mod run;
pub mod step;
pub mod substitute;
pub mod trace;

pub mod value;

pub mod ask;
pub mod derivation;
pub mod enumerate;
pub mod intersection;

pub mod intype;
pub mod optimise;

pub mod oracle;

pub mod format;
pub mod print;

pub mod codes;
pub mod requests;

pub use eddy_syntax::names;
