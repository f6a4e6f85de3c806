//! The operations on arrays that every backend provides.

use crate::expr::Expr;
use crate::place::Place;

/// An operation on arrays. Sums run from left to right, with fused multiply-add, as in all of Eddy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// `c = a · b`. Arguments: rows, inner size, columns; a, its row and term strides; b, its term stride; c,
    /// its row stride.
    Matmul,
    /// `c = d + a · b`. Arguments: as `matmul`, then d and its row stride.
    MatmulPlus,
    /// `c[i] = Σⱼ x[i, j]`. Arguments: rows, terms; x, its row and term strides; c.
    RowSums,
    /// Copies a matrix to row-major order. Arguments: rows, columns; b, its row and column strides; c.
    Pack,
    /// `c += Σₜ x[t] ⊗ y[t]`. Arguments: rows, columns, terms; x, its term stride; y, its term stride; c.
    OuterSums,
    /// Sums of products for each stream of a batch. Arguments: streams, rows, columns, three numbers of
    /// terms; a, its row, term and stream strides; b, its column, term and stream strides; c, its row and
    /// column strides.
    EachSums,
}

/// How a kernel uses an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A number of rows, columns or terms.
    Size,
    /// A distance between elements, which may be negative.
    Stride,
    /// An array that it reads.
    Reads,
    /// An array that it overwrites.
    Writes,
    /// An array that it adds to.
    Updates,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// A size or a stride.
    Value(Expr),
    /// An array, starting with an element.
    Array(Place),
    /// The state, for a procedure with this parameter.
    State,
    /// The input of the cycle.
    In,
    /// The outputs, starting with this one.
    Out(Expr),
    /// The struct that the pieces of a procedure share.
    Shared,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KernelCall {
    pub kernel: Kernel,
    /// Whether it is large enough to be shared by threads.
    pub is_large: bool,
    pub arguments: Vec<Argument>,
}

impl Kernel {
    pub const ALL: [Kernel; 6] = [
        Kernel::Matmul,
        Kernel::MatmulPlus,
        Kernel::RowSums,
        Kernel::Pack,
        Kernel::OuterSums,
        Kernel::EachSums,
    ];

    /// The name in the text of programs; in C it has the prefix `eddy_` or `eddy_large_`.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Matmul => "matmul",
            Kernel::MatmulPlus => "matmul_plus",
            Kernel::RowSums => "row_sums",
            Kernel::Pack => "pack",
            Kernel::OuterSums => "outer_sums",
            Kernel::EachSums => "each_sums",
        }
    }

    /// How it uses each argument.
    pub fn roles(self) -> &'static [Role] {
        use Role::{Reads, Size, Stride, Updates, Writes};
        match self {
            Kernel::Matmul => &[Size, Size, Size, Reads, Stride, Stride, Reads, Stride, Writes, Stride],
            Kernel::MatmulPlus => {
                &[Size, Size, Size, Reads, Stride, Stride, Reads, Stride, Writes, Stride, Reads, Stride]
            }
            Kernel::RowSums => &[Size, Size, Reads, Stride, Stride, Writes],
            Kernel::Pack => &[Size, Size, Reads, Stride, Stride, Writes],
            Kernel::OuterSums => &[Size, Size, Size, Reads, Stride, Reads, Stride, Updates],
            Kernel::EachSums => &[
                Size, Size, Size, Size, Size, Size, Reads, Stride, Stride, Stride, Stride, Stride, Reads,
                Stride, Stride, Stride, Stride, Stride, Writes, Stride, Stride,
            ],
        }
    }

    /// Whether threads can share it.
    pub fn can_be_large(self) -> bool {
        matches!(self, Kernel::Matmul | Kernel::MatmulPlus | Kernel::OuterSums)
    }
}

impl KernelCall {
    /// The arguments with their roles.
    pub fn with_roles(&self) -> impl Iterator<Item = (Role, &Argument)> {
        self.kernel.roles().iter().copied().zip(&self.arguments)
    }
}
