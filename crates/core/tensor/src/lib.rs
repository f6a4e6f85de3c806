//! Tensors, and the operations of the reactive language on them.
//!
//! ```
//! use eddy_tensor::{Data, Op, Shape, Value};
//!
//! let x = Value::new(Shape::new(&[2]), Data::Num(vec![1.0, 2.0])).unwrap();
//! let y = Op::Mul.eval(&[&x, &Value::Num(10.0)]).unwrap();
//! assert_eq!(y.to_string(), "[10,20]");
//!
//! // Shape errors are found before anything is computed.
//! let error = Op::Add.shape(&[&Shape::new(&[3]), &Shape::new(&[2])]).unwrap_err();
//! assert_eq!(error.to_string(), "shapes [3] and [2] do not broadcast");
//! ```
//!
//! Modules, in the order in which they build on each other:
//!
//! * Data: [`shape`] and [`value`]; values with axes are in [`tensor`]. [`text`] prints them. [`element`]
//!   abstracts over the types of elements.
//! * The definition of an operation: [`operation`], with its typing in [`signature`], its shapes in
//!   [`shape_rule`] and [`shape_error`], and [`algebra`], in which derivatives are written.
//! * The operations: [`op`] is the table, [`ops`] has the entries, [`facts`] answers further questions of
//!   compilers. They compute with the loops of [`kernel`], which broadcast along a [`walk`], and with those
//!   of [`products`], in the widest vectors of the [`processor`]. [`each`] applies an operation to each of
//!   the [`slices`] of its operands.
//! * Functions that a program can call: [`builtin`](mod@builtin), and the initialisers of [`init`].
//!
//! # Invariants
//!
//! * Nothing here reads files, prints, or keeps state. The same operands give the same bits on every machine
//!   and in compiled C: elementary functions come from `eddy-elementary`, everything else is defined by IEEE
//!   754.
//! * A scalar is never behind a pointer, and arithmetic on scalars never allocates.
//! * One entry defines an operation completely; all engines use the same table.
//! * Derivatives are written with operations of the table, so each can be differentiated again. They read
//!   only the operands that their formula names.
//! * Sums run from left to right and start from their first term, in every precision. In sums of products,
//!   each term after the first is added with one rounding (`fma`).
//!
//! # How to add an operation
//!
//! 1. Write its entry in the file of its family under `ops/`: a type that implements
//!    [`operation::Operation`], or one of the shorter traits that the family has for functions of elements
//!    ([`ops::functions::Function`], [`ops::arithmetic::Arithmetic`], [`ops::logic::Comparison`]). Put its
//!    tests beside it.
//! 2. Add a row to the table in [`op`]. If it is a `Call`, programs can call it from now on.
//! 3. Rust now refuses to compile until every other question is answered: its row in [`facts`] (family of
//!    loops, cost, failure), its rule for batches (`batch::operations`, and `batch::sums` for gradients), how
//!    C computes it (`compile::operation`), and its test cases: `cases` and `reference` in `tests/laws`, and
//!    `compile::battery::cases`.
//! 4. All laws now run on these cases: they compare its value with its definition, its derivatives with
//!    finite differences and with each other, second derivatives with finite differences, single precision
//!    with double, its batching rule with a loop, and C with its value.
//! 5. Read what `UPDATE_EXPECT=1 cargo test -p eddy-tensor` writes: its signature in [`op`], its formulas in
//!    `tests/laws/formulas.rs`.

// Functions called in vectorised loops must be inlined: see `processor`.
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
pub mod spelling;

pub mod call;
pub mod each;
pub mod facts;
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
pub use builtin::{Builtin, Static, StaticError, StaticKind, builtin, builtins, named};
pub use call::{Call, CallFailure, Callee};
pub use each::Each;
pub use facts::{Cost, Facts, FailureCondition, Family, Zeros};
pub use init::{Initialiser, initialiser};
pub use op::Op;
pub use operation::EvalError;
pub use shape::{MAX_ELEMENTS, Shape};
pub use shape_error::ShapeError;
pub use shape_rule::ShapeRule;
pub use signature::{Arity, Class, Signature, Slot};
pub use spelling::Spelling;
pub use tensor::{Data, DataMut, Tensor};
pub use value::{Scalar, Type, Value};
