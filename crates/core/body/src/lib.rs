//! `body`: pure functions, as typed, structured statements.
//!
//! A body computes tensors with recursion, loops that depend on data, and indices that are known only when it
//! runs. The front end makes bodies out of `fn`; the interpreter and compilers start from the *final* module,
//! in which all derivatives are calls of bodies. All passes that may change rounding run before that, from
//! bodies to bodies.
//!
//! ```
//! use eddy_body::{Limits, Program, expand, parse, verify};
//!
//! // fn f(x: num) -> num = loop y = x while y < 100.0 do y * x;
//! let module = parse("
//! body f(x: num) -> (num) {
//!   c = const 100.0 ()
//!   y, n = while (y0 = x) {
//!     t = lt(y0, c)
//!     yield t
//!   } {
//!     y1 = mul(y0, x)
//!     yield y1
//!   }
//!   yield y
//! }
//! body gradient(x: num) -> (num) {
//!   one = const 1.0 ()
//!   y, dx = adj f(x, one)
//!   yield dx
//! }
//! ")?;
//! verify(&module)?;
//!
//! // The mark `adj f` becomes a call of a new body: the loop collects its states, and a second loop reads
//! // them backwards.
//! let module = expand(&module, 4)?;
//! let adjoint = module.find("adj_f").expect("it was added");
//! assert_eq!(module.show(module.body(adjoint)), "\
//! body adj_f(x: num, dy: num) -> (num, num) {
//!   c = const 100.0 ()
//!   y, y0s, n = while (y0 = x) collect (y0) {
//!     t = lt(y0, c)
//!     yield t
//!   } {
//!     y1 = mul(y0, x)
//!     yield y1
//!   }
//!   c_13 = const 0.0 ()
//!   dy0_15, dx_14 = for j < n (dy0 = dy) acc (dx = c_13) {
//!     i_18 = reverse_index(n, j)
//!     y0_19 = index y0s [i_18]
//!     t_20 = mul(dy0, x)
//!     t_21 = mul(dy0, y0_19)
//!     add dx [] t_21
//!     yield t_20
//!   }
//!   t_22 = add(dx_14, dy0_15)
//!   yield y t_22
//! }
//! ");
//!
//! let program = Program::new(&module)?;
//! let gradient = module.find("gradient").expect("it is there");
//! assert_eq!(program.run(gradient, &[5.0.into()], &Limits::default())?, [75.0.into()]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Modules, in the order in which they build on each other:
//!
//! * [`ir`]: modules, bodies, statements, types; how reductions are expressed. [`operation`]: what statements
//!   apply to operands.
//! * [`print`](mod@print), [`parse`](mod@parse): the text. [`verify`](mod@verify): the invariants of modules,
//!   and the types of names.
//! * [`build`], [`edit`], [`own`](mod@own): for passes that write bodies: statements with types, unique
//!   names, copies.
//! * [`interpret`]: the reference engine, with limits and precise errors.
//! * [`expand`](mod@expand): derivatives on demand, by [`derive`](mod@derive).
//! * [`applied`]: a body as an operation of streams.
//! * [`optimise`](mod@optimise): passes for speed.
//! * [`tape`](mod@tape): how much memory a derivative takes.
//! * [`clean`](mod@clean), [`uses`](mod@uses): dead code, the order of statements, free names.
//!
//! # Invariants
//!
//! * Nothing here reads files, prints, or keeps state.
//! * Operations are rows of the tensor table, so that bodies compute the bits of nodes, and each derivative
//!   of an operation is the one of the table.
//! * The program's recursion uses no native stack. Regions nest at most [`parse::MAX_DEPTH`] deep, so that
//!   passes may recurse over them.
//! * The order of statements that can fail is kept by every pass, also where a value and its adjoint become
//!   one statement: a derivative fails where and how the value fails.
//!
//! # How to add a construct
//!
//! [`ir::Kind`], then the matches that Rust reports as incomplete: `print`, `parse::statement`, `verify`,
//! `edit` (renaming), `uses`, `clean`, `own`, `interpret::code` and `machine`, `derive::activity`,
//! `derive::forward`, `derive::reverse`; and the generators of `tests/text.rs` and
//! `tests/derivatives/generate.rs`, which try all laws on it.

pub mod ir;
pub mod operation;

pub mod parse;
mod print;
pub mod verify;

pub mod build;
pub mod edit;
pub mod optimise;
pub mod own;

pub mod interpret;

pub mod applied;
mod clean;
mod derive;
pub mod expand;
pub mod tape;
pub mod uses;

pub use applied::Applied;
pub use build::Builder;
pub use expand::{Checkpoints, expand, expand_with};
pub use interpret::{Failure, Limits, Program, RunError};
pub use ir::*;
pub use operation::{Operation, Sized};
pub use parse::parse;
pub use verify::{verify, verify_final};
