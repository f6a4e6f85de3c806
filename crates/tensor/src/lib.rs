//! Tensors, and the operations of the reactive language on them.
//!
//! ```
//! use eddy_tensor::{Data, Op, Shape, Value};
//!
//! let x = Value::new(Shape::new(&[2]), Data::Num(vec![1.0, 2.0])).unwrap();
//! let y = Op::Mul.eval(&[&x, &Value::Num(10.0)]).unwrap();
//! assert_eq!(y.to_string(), "[10,20]");
//!
//! // What is wrong is known before anything is computed.
//! let error = Op::Add.shape(&[&Shape::new(&[3]), &Shape::new(&[2])]).unwrap_err();
//! assert_eq!(error.to_string(), "shapes [3] and [2] do not broadcast");
//! ```
//!
//! Modules, in the order in which they build on each other:
//!
//! * What there is: [`shape`] and [`value`], whose larger ones are in [`tensor`]; [`text`] prints them. [`element`] is
//!   what they are made of.
//! * What an operation is: [`operation`], with its typing in [`signature`], its shapes in [`shape_rule`] and
//!   [`shape_error`], and [`algebra`] to write derivatives in.
//! * The operations: [`op`] is the table, the entries are in [`ops`]. They compute with the loops of [`kernel`], which
//!   broadcast along a [`walk`], and with those of [`products`], in vectors as wide as the [`processor`] has them.
//!   [`each`] applies one of them to each of the [`slices`] of its operands.
//! * What a program can call: [`builtin`](mod@builtin) functions, and the initialisers of [`init`].
//!
//! # Invariants
//!
//! * Nothing here reads files, prints, or keeps state. The same operands give the same bits, always, on every machine and in compiled C:
//!   elementary functions are those of `eddy-elementary`, everything else is defined by IEEE 754.
//! * A scalar is never behind a pointer, and arithmetic on scalars never allocates.
//! * Everything about an operation is said in one entry; all engines ask the same table.
//! * Derivatives are written with operations of the table, so each can be differentiated again. They read only
//!   the operands that their formula names.
//! * Sums go from left to right and start from their first term, in every precision. In sums of products, a term after the first is added with one
//!   rounding (`fma`).
//!
//! # How to add an operation
//!
//! 1. Write its entry in the file of its family under `ops/`: a type that implements [`operation::Operation`], or one of the
//!    shorter traits that the family has for functions of elements ([`ops::functions::Function`],
//!    [`ops::arithmetic::Arithmetic`], [`ops::logic::Comparison`]). Put its tests beside it.
//! 2. Add a row to the table in [`op`]. If it is a `Call`, programs can call it from now on.
//! 3. The compiler asks for a case in `tests/laws/cases.rs`. With that, all laws are tried on it: its derivatives against
//!    differences, each other, and their own derivatives, and single precision against double.
//! 4. Read what `UPDATE_EXPECT=1 cargo test -p eddy-tensor` writes: its signature in [`op`], its formulas in
//!    `tests/laws/formulas.rs`.

// What a loop calls has to become part of it: see `processor`.
#![allow(clippy::inline_always)]

pub mod shape;
pub mod shape_error;
pub mod tensor;
pub mod value;

mod element;
pub mod text;

pub mod algebra;
pub mod operation;
pub mod shape_rule;
pub mod signature;

pub mod each;
pub mod op;
mod ops;
pub mod slices;

mod kernel;
mod processor;
mod products;
mod walk;

pub mod builtin;
pub mod init;

#[cfg(test)]
mod testing;

pub use algebra::{Algebra, Site};
pub use builtin::{Builtin, Static, StaticError, StaticKind, builtin, builtins};
pub use each::Each;
pub use init::{Initialiser, initialiser};
pub use op::Op;
pub use operation::EvalError;
pub use shape::{MAX_ELEMENTS, Shape};
pub use shape_error::ShapeError;
pub use shape_rule::ShapeRule;
pub use signature::{Arity, Class, Signature, Slot};
pub use tensor::{Data, Tensor};
pub use value::{Scalar, Type, Value};
