//! `imp`: the steps of a program as typed loops over buffers.
//!
//! A plan says which equations run in which loop over time. `imp` says how: procedures made of declarations,
//! assignments, conditions, loops and kernel calls, over the fields of a state. It is the only input of a
//! backend for loops. Properties of a statement (what it reads and writes, whether it can fail, whether it is
//! large) are computed from the tree, never from printed text.
//!
//! ```
//! use eddy_imp::{Program, parse, verify};
//!
//! let text = "\
//! program twice f64
//! state {
//!   sum: num [4]
//! }
//! in {
//!   x: num [4]
//! }
//! out {
//!   y: num [4]
//! }
//! procedure step(self, in, out) -> status {
//!   for i0: size = 0 while (i0 < 4) by 1 {
//!     let e: num = (self.sum[i0] + in.x[i0]);
//!     self.sum[i0] = e;
//!     out.y[i0] = e;
//!   }
//!   return 1;
//! }
//! ";
//! let program: Program = parse(text)?;
//! verify(&program)?;
//! assert_eq!(program.to_string(), text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`expr`]: expressions, and [`operators`] that make them; [`place`]: memory that they read; [`stmt`]:
//!   statements; [`program`]: procedures, structs and tables.
//! * [`application`]: functions of the program, which a backend provides.
//! * [`intrinsic`], [`kernel`]: the functions on elements and on arrays that every backend provides.
//! * [`layout`]: the offsets of fields in structs.
//! * [`print`](mod@print), [`parse`](mod@parse): the text form; [`verify`](mod@verify): the invariants.
//! * [`effects`]: what code reads, writes and declares, and whether it can fail.
//! * [`rewrite`]: changes all places that code mentions.
//! * [`interpret`](mod@interpret): runs a program, one statement at a time; the reference for backends.

pub mod application;
pub mod effects;
pub mod expr;
pub mod interpret;
pub mod intrinsic;
pub mod kernel;
pub mod layout;
mod name;
mod operators;
pub mod parse;
pub mod place;
mod print;
pub mod program;
pub mod rewrite;
pub mod stmt;
mod types;
pub mod verify;

pub use application::{Application, Function, Tensor};
pub use expr::{Binary, Expr, Number, Unary};
pub use intrinsic::Intrinsic;
pub use kernel::{Argument, Kernel, KernelCall};
pub use layout::{Field, Struct};
pub use name::Name;
pub use parse::parse;
pub use place::{Base, Place};
pub use program::{Linkage, Parameter, Procedure, Program, Table};
pub use stmt::{Block, Loop, Stmt};
pub use types::{Precision, Type};
pub use verify::verify;
