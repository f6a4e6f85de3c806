//! The language of `.eddy` files, after Potop-Butucaru, Cohen, Plotkin and Pompougnac, *Bidirectional Reactive
//! Programming for Machine Learning*.
//!
//! A program is a set of nodes, and a node is a set of equations between streams: `fby` reads the past, `post` the
//! future, `when` and `merge` say when a stream is there.
//!
//! ```
//! use eddy_reactive::{resolve, runs};
//! use eddy_syntax::{SourceFile, Sources};
//!
//! let text = "node counter()->(o) o = 0 fby u; u = o + 1;  run counter for 3 {}";
//! let mut sources = Sources::alone(SourceFile::new("counter.eddy", text));
//! let program = resolve::resolve(&mut sources).expect("the program is right");
//! let run = program.modules[1].tree.runs().next().expect("one test bench");
//! assert_eq!(runs::execute(&program, run, &runs::Wishes::default()).expect("it runs").0, "{\"o\":0}\n{\"o\":1}\n{\"o\":2}\n");
//! ```
//!
//! Modules, in the order in which a program meets them. Numbers of sections in comments are those of the language's
//! specification; `docs/papers.md` maps the paper's figures and definitions to code.
//!
//! * Text to tree: [`parse`] makes the [`tree`], with [`names`]; [`format`](mod@format) is the way back.
//! * Tree to program: [`resolve`](mod@resolve) finds out what each name stands for, which gives a [`program`].
//! * Program to equations: [`elaborate`](mod@elaborate) inlines and flattens, with [`static_value`]s; the result
//!   is a [`draft`], and with types [`flow`]. [`extent`] finds what would be too large.
//! * Checks: [`infer`](mod@infer) finds types and shapes, [`clocks`] when streams are there, [`causality`](mod@causality) how far
//!   they look ahead; [`prepare`](mod@prepare) is all of them in order, with differentiation between types and clocks (`eddy-autodiff`; [`custom`] is what
//!   that asks for), and batching after it (`eddy-batch`). [`check`] and [`memory`] say what was found, [`generic`] of nodes whose sizes are open.
//! * Training code: [`printed`] writes it down as source, which `eddy diff` prints.
//! * Meaning: a [`cell`] is what is known of a stream at a cycle; [`denote`], [`simulate`] and [`kahn`] fill cells in three ways.
//! * Use: [`engine`] runs programs, compiled or simulated, [`disagreement`] tells where the two differ; [`runs`] are test benches in files, [`stream`] reads data, [`training`] learns from them, [`lock_step`] puts several streams together, [`gradcheck`] compares derivatives with finite differences, [`parameters`] are what was learnt, [`planning`] says how a node will run, [`building`] writes it in C, [`checkpoints`] says if it cannot keep less, [`chronogram`] draws, [`errors`] words what goes wrong then.
//! * [`command_line`] reads what is said about inputs there; [`language`] plugs all of it into the command line, [`codes`] lists its diagnostics.
//!
//! Nothing here prints or recurses natively over a program; files are touched only where [`engine`] has a program compiled.

pub mod parse;
pub mod tree;

pub mod format;

pub mod program;
pub mod resolve;

pub mod draft;
pub mod elaborate;
pub mod extent;
pub mod limits;
pub mod static_value;

pub mod causality;
pub mod check;
pub mod clocks;
pub mod generic;
pub mod infer;
pub mod memory;
pub mod prepare;

pub mod custom;
pub mod printed;

pub mod cell;
pub mod denote;
pub mod kahn;
pub mod simulate;

pub mod building;
pub mod checkpoints;
pub mod chronogram;
pub mod command_line;
pub mod disagreement;
pub mod engine;
pub mod errors;
pub mod gradcheck;
pub mod lock_step;
pub mod parameters;
pub mod planning;
pub mod runs;
pub mod stream;
pub mod training;

pub mod codes;
pub mod language;

pub use eddy_flow as flow;
pub use eddy_syntax::names;
pub use language::Reactive;
