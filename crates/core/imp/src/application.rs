//! Functions of the program that imp does not define, and their applications.
//!
//! ```text
//! function f0(num, num [3]) -> (num [2], bool)
//!
//! apply f0(x, &self.k_w) -> (&self.w3[0], &found0) in self.arena @4;
//! ```
//!
//! A function reads its operands and overwrites its results, which do not overlap the operands. It may use
//! the memory that it is given. If it fails, or if an operation has failed before, its results are zeros;
//! the failure is that of the equation.

use crate::kernel::Argument;
use crate::name::Name;
use crate::place::Place;
use crate::types::Type;

/// A function that a backend provides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    pub name: Name,
    pub operands: Vec<Tensor>,
    pub results: Vec<Tensor>,
}

/// An operand or a result of a function: a scalar, or the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    pub ty: Type,
    /// The number of elements; `None` for a scalar.
    pub size: Option<usize>,
    /// The distance of adjacent elements in memory.
    pub step: usize,
}

/// A function applied to values and arrays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Application {
    pub function: Name,
    /// Values for scalars; the first element for tensors.
    pub operands: Vec<Argument>,
    /// The first element of each result, also for scalars.
    pub results: Vec<Place>,
    /// The array that the function may use.
    pub memory: Place,
    /// The number of the equation that fails, from 1.
    pub site: usize,
}
