//! The language of `.eddy` files, after Potop-Butucaru, Cohen, Plotkin and Pompougnac, *Bidirectional
//! Reactive Programming for Machine Learning*.
//!
//! A program is a set of nodes, and a node is a set of equations between streams: `fby` reads the past,
//! `post` the future; `when` and `merge` determine at which cycles a stream is present.
//!
//! ```
//! use eddy_language::{resolve, runs};
//! use eddy_syntax::{SourceFile, Sources};
//!
//! let text = "node counter()->(o) o = 0 fby u; u = o + 1;  run counter for 3 {}";
//! let mut sources = Sources::alone(SourceFile::new("counter.eddy", text));
//! let program = resolve(&mut sources).accepted().expect("the program is correct");
//! let run = program.modules[1].tree.runs().next().expect("one test bench");
//! let (printed, _) = runs::execute(&program, run, &runs::RunOverrides::default()).expect("it runs");
//! assert_eq!(printed, "{\"o\":0}\n{\"o\":1}\n{\"o\":2}\n");
//! ```
//!
//! Modules, in the order in which they process a program. Section numbers in comments refer to the language's
//! specification; `docs/papers.md` maps the paper's figures and definitions to code.
//!
//! * Text to tree: [`parse`] builds the [`tree`]; [`format`](fn@format) prints it.
//! * Tree to program: [`resolve`](fn@resolve) resolves every name, which gives a [`program`].
//! * Programs of other languages: [`kernels`] translates them to functions.
//! * Program to equations: [`elaborate`](mod@elaborate) inlines and flattens, and evaluates compile-time
//!   constants (`static_value`). The result is a `draft`, and with types a flow (`eddy-flow`). `limits` and
//!   `extent` reject programs that would be too large.
//! * Checks: [`infer`](mod@infer) infers types and shapes, [`clocks`] the cycles at which streams are
//!   present, [`causality`](mod@causality) how far they look ahead. [`prepare`](mod@prepare) runs all of them
//!   in order, with differentiation between types and clocks (`eddy-autodiff`, to which `custom` supplies
//!   derivatives that the user wrote), and batching after it (`eddy-batch`). [`check`] reports the results,
//!   with `memory`, and `generic` for nodes whose sizes are open.
//! * Training code: [`printed`] writes it as source, which `eddy diff` prints.
//! * Editors: [`positions`] maps each place of a program, correct or not, to the name there and its
//!   properties.
//! * Semantics: [`semantics`] computes the cells of streams in three ways.
//! * Use: [`runs`] executes the test benches of a file, [`chronogram`] draws them; [`codes`] lists all
//!   diagnostics.
//!
//! This crate does no input or output, does not read the environment or the time, starts no thread, and does
//! not recurse natively over a program. It builds for `wasm32-unknown-unknown` (`cargo xtask wasm`), and
//! `cargo xtask tidy` rejects calls and dependencies that break this rule. The caller supplies imported files
//! through the reader of [`Sources`](eddy_syntax::Sources).

pub mod parse;
pub mod tree;

mod format;

mod automata;
mod contracts;

pub mod program;
mod resolve;

pub mod functions;
pub mod kernels;

mod draft;
pub mod elaborate;
mod extent;
mod limits;
mod static_value;

pub mod causality;
pub mod check;
pub mod clocks;
mod generic;
pub mod infer;
mod memory;
pub mod prepare;

mod custom;
pub mod printed;

pub mod positions;

pub mod semantics;

pub mod chronogram;
pub mod runs;

pub mod codes;

use eddy_flow as flow;
use eddy_syntax::names;

pub use format::format;
pub use resolve::{Resolved, resolve};
