//! Properties of operations that compilers need besides values and derivatives: one row per operation.
//!
//! The `match` has no `_` arm, so a new operation does not compile before it has a row. The laws in
//! `tests/laws/facts.rs` check the rows against the operations.

#![deny(clippy::wildcard_enum_match_arm)]

use crate::op::Op;
use crate::value::Scalar;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub family: Family,
    pub cost: Cost,
    pub failure: FailureCondition,
    pub zeros: Zeros,
}

/// The kind of loop that computes an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Each element of the result is an element of the operand, at an offset plus strides: needs no loop.
    View,
    /// Each element of the result depends on one element of each operand, found by strides.
    Elementwise,
    /// The result is one of two operands.
    Choice,
    /// Elements of operands and constants are copied to new memory.
    Placement,
    /// Each element of the result depends on many elements of one operand.
    Reduction,
    /// Sums of products of matrices or vectors.
    Product,
    /// Sums of products of an image and a kernel, or their cotangents.
    Convolution,
    /// Code of the program, which may have loops of any kind.
    Call,
}

/// The cost of one element of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// No cost: a constant, or an element of the operand in the same order in memory.
    Free,
    /// About one instruction.
    Arithmetic,
    /// Ten instructions or more: elementary functions and divisions.
    Function,
    /// Memory traffic: the result is a part of its operands, larger than they are, or in a different order.
    Memory,
    /// A sum or reduction of many terms.
    Terms,
}

/// When an operation fails with an [`EvalError`](crate::EvalError).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureCondition {
    Never,
    /// On overflow, if the result consists of integers.
    OnIntegers,
    /// For some operands, such as zero divisors.
    OnSome,
}

/// Whether the result is all `+0` (not `-0`) if all `num` operands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zeros {
    /// Yes: the operation only adds or moves elements.
    Kept,
    /// Not always, or no pass needs to know.
    NotKept,
}

const fn row(family: Family, cost: Cost, failure: FailureCondition, zeros: Zeros) -> Facts {
    Facts { family, cost, failure, zeros }
}

impl Op {
    /// The row of this operation; for [`Op::Each`], that of the operation applied.
    #[rustfmt::skip]
    pub fn facts(&self) -> Facts {
        use Cost::{Arithmetic, Free, Function, Memory, Terms};
        use FailureCondition::{Never, OnIntegers, OnSome};
        use Family::{Call, Choice, Convolution, Elementwise, Placement, Product, Reduction, View};
        use Zeros::{Kept, NotKept};
        match self {
            Op::Copy          => row(View,        Free,       Never,      Kept),
            Op::Add           => row(Elementwise, Arithmetic, OnIntegers, Kept),
            Op::Sub           => row(Elementwise, Arithmetic, OnIntegers, NotKept),
            Op::Mul           => row(Elementwise, Arithmetic, OnIntegers, NotKept),
            Op::Div           => row(Elementwise, Function,   Never,      NotKept),
            Op::Pow           => row(Elementwise, Function,   Never,      NotKept),
            Op::Maximum       => row(Elementwise, Arithmetic, Never,      NotKept),
            Op::Minimum       => row(Elementwise, Arithmetic, Never,      NotKept),
            Op::IntDiv        => row(Elementwise, Arithmetic, OnSome,     NotKept),
            Op::IntMod        => row(Elementwise, Arithmetic, OnSome,     NotKept),

            Op::Lt            => row(Elementwise, Arithmetic, Never,      NotKept),
            Op::Le            => row(Elementwise, Arithmetic, Never,      NotKept),
            Op::Gt            => row(Elementwise, Arithmetic, Never,      NotKept),
            Op::Ge            => row(Elementwise, Arithmetic, Never,      NotKept),
            Op::Eq            => row(Elementwise, Arithmetic, Never,      NotKept),
            Op::Ne            => row(Elementwise, Arithmetic, Never,      NotKept),
            Op::And           => row(Elementwise, Arithmetic, Never,      NotKept),
            Op::Or            => row(Elementwise, Arithmetic, Never,      NotKept),
            Op::Not           => row(Elementwise, Arithmetic, Never,      NotKept),

            Op::Neg           => row(Elementwise, Arithmetic, OnIntegers, NotKept),
            Op::Abs           => row(Elementwise, Arithmetic, OnIntegers, NotKept),
            Op::Relu          => row(Elementwise, Arithmetic, Never,      NotKept),
            Op::Exp           => row(Elementwise, Function,   Never,      NotKept),
            Op::Log           => row(Elementwise, Function,   Never,      NotKept),
            Op::Sqrt          => row(Elementwise, Function,   Never,      NotKept),
            Op::Tanh          => row(Elementwise, Function,   Never,      NotKept),
            Op::Sigmoid       => row(Elementwise, Function,   Never,      NotKept),
            Op::Sin           => row(Elementwise, Function,   Never,      NotKept),
            Op::Cos           => row(Elementwise, Function,   Never,      NotKept),
            Op::Lgamma        => row(Elementwise, Function,   Never,      NotKept),
            Op::Digamma       => row(Elementwise, Function,   Never,      NotKept),

            Op::If            => row(Choice,      Arithmetic, Never,      NotKept),
            Op::Where         => row(Elementwise, Arithmetic, Never,      NotKept),

            Op::Matmul        => row(Product,     Terms,      Never,      NotKept),
            Op::Concat        => row(Placement,   Memory,     Never,      Kept),
            Op::Stack         => row(Placement,   Memory,     Never,      Kept),
            Op::Index(_)      => row(View,        Free,       Never,      Kept),
            Op::Row           => row(Placement,   Memory,     OnSome,     Kept),
            Op::Place(_)      => row(Placement,   Memory,     OnSome,     Kept),
            Op::Reshape(_)    => row(Placement,   Free,       Never,      Kept),
            Op::Transpose     => row(View,        Memory,     Never,      Kept),

            Op::Sum(_)        => row(Reduction,   Terms,      OnIntegers, Kept),
            Op::Mean(_)       => row(Reduction,   Terms,      Never,      NotKept),
            Op::Max(_)        => row(Reduction,   Terms,      Never,      NotKept),
            Op::MaxMask(_)    => row(Reduction,   Terms,      Never,      NotKept),
            Op::Softmax       => row(Reduction,   Terms,      Never,      NotKept),

            Op::Conv2d        => row(Convolution, Terms,      Never,      NotKept),
            Op::Conv2dDx      => row(Convolution, Terms,      Never,      NotKept),
            Op::Conv2dDk      => row(Convolution, Terms,      Never,      NotKept),

            Op::ToNum         => row(Elementwise, Arithmetic, Never,      NotKept),
            Op::ToInt         => row(Elementwise, Arithmetic, OnSome,     NotKept),
            Op::Argmax        => row(Reduction,   Terms,      Never,      NotKept),
            Op::Onehot(_)     => row(Placement,   Memory,     OnSome,     NotKept),
            Op::StopGradient  => row(View,        Free,       Never,      Kept),
            Op::ZerosLike     => row(Elementwise, Free,       Never,      NotKept),
            Op::OnesLike      => row(Elementwise, Free,       Never,      NotKept),

            Op::SumTo         => row(Reduction,   Terms,      OnIntegers, Kept),
            Op::Slice(..)     => row(View,        Memory,     Never,      Kept),
            Op::Pad(..)       => row(Placement,   Memory,     Never,      Kept),
            Op::Spread(..)    => row(View,        Memory,     Never,      Kept),
            Op::Broadcast(_)  => row(View,        Memory,     Never,      Kept),
            Op::Reduce(_)     => row(Reduction,   Terms,      OnIntegers, Kept),
            Op::Outer         => row(Elementwise, Memory,     Never,      NotKept),

            Op::Unfold(..)    => row(View,        Memory,     Never,      Kept),
            Op::Fold(..)      => row(Reduction,   Terms,      OnIntegers, Kept),

            Op::Each(each)    => each.op().facts(),
            Op::Call(_)       => row(Call,        Terms,      OnSome,     NotKept),
        }
    }

    /// Whether it fails for some operands, if the result has elements of type `result`.
    pub fn can_fail(&self, result: Scalar) -> bool {
        match self.facts().failure {
            FailureCondition::Never => false,
            FailureCondition::OnIntegers => result == Scalar::Int,
            FailureCondition::OnSome => true,
        }
    }
}
