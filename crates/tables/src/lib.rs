//! `tables`: three functional languages whose functions are finite tables, after Siek, *Declarative semantics for functional languages*.
//!
//! A program has two meanings. It runs, in the ordinary way, with closures and a heap. And it *means* the set of all finite values that it satisfies, where
//! a function satisfies a table if it has all its entries. A program that does not end means the empty set. The second meaning is what `eddy ask` answers
//! questions about:
//!
//! ```
//! use eddy_syntax::SourceFile;
//! use eddy_tables::ask::{Answer, Limits, ask};
//! use eddy_tables::dialect::Dialect;
//! use eddy_tables::value::{Values, parse::parse};
//! use eddy_tables::typing::check;
//!
//! let program = check(&SourceFile::new("f.lam", "\\f. f (f 1)"), Dialect::Lambda).expect("it is closed");
//! let mut values = Values::default();
//! let goal = SourceFile::new("goal", "{{1 -> 2, 2 -> 3} -> 3}");
//! let goal = parse(&goal, Dialect::Lambda, &mut values).expect("it is a value");
//! assert_eq!(ask(&program, goal, &mut values, Limits::default()).0, Answer::Yes);
//! ```
//!
//! Modules, in the order in which a program meets them. Numbers of sections in comments are those of the languages'
//! specification, numbers of figures and theorems those of the paper; `docs/papers.md` goes the other way.
//!
//! * Text to terms: [`dialect`] tells the three languages apart; [`parse`] makes the [`surface`] tree, [`typing`] checks it and erases [`types`], which
//!   gives the terms of [`syntax`], over [`integer`]s and [`names`].
//! * The ordinary meaning: [`run`] is the big-step semantics, [`step`] the small-step one with [`substitute`], [`trace`](mod@trace) shows it.
//! * The second meaning: [`value`] has finite values, [`ask`] decides membership, [`derivation`] explains a yes, [`enumerate`] lists, [`intersection`] is the same as
//!   types. [`optimise`] keeps it, [`intype`] is what types of System F mean.
//! * A yardstick for other compilers, by the same idea: [`oracle`].
//! * Terms to text: [`print`](mod@print), [`format`](mod@format) for `eddy fmt`.
//! * [`language`] plugs all of it into the command line, [`codes`] lists its diagnostics.
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
pub mod language;

pub use eddy_syntax::names;
pub use language::{LAM, REF, SYSF, Tables};
