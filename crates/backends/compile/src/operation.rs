//! How loops compute each operation: the column of `imp` in the table of operations.
//!
//! The `match` has no `_` arm, so a new operation does not compile before loops can compute it. A [`Form`]
//! carries everything that the writers need: they match on forms, not on operations.

#![deny(clippy::wildcard_enum_match_arm)]

use eddy_imp::{Binary, Intrinsic};
use eddy_tensor::{Each, Op, Shape};

/// The form of an operation's code.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form<'a> {
    /// No code: the result is read in the memory of the operand.
    View(Movement<'a>),
    /// An expression of one element, in a loop over all.
    Elements(Element),
    /// A choice of one of two elements, in a loop over all.
    Choice,
    /// Its own loops.
    Loops(Loops<'a>),
}

/// How the indices of a view derive from those of the operand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Movement<'a> {
    Same,
    Row(usize),
    Rows { lo: usize, hi: usize },
    Transposed,
    Repeated { axis: usize, n: usize },
    Stretched(&'a Shape),
    Windows { axis: usize, size: usize, stride: usize },
}

/// The expression of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Element {
    /// `x + y`; for integers, a function that reports overflow.
    Arithmetic {
        op: Binary,
        checked: Intrinsic,
    },
    /// `x / y`.
    Infix(Binary),
    /// `x < y`, and whether it holds for equal operands.
    Comparison {
        op: Binary,
        of_equals: bool,
    },
    Call(Intrinsic),
    /// A function of integers that can fail.
    Checked(Intrinsic),
    /// A function of numbers, and one of integers that can fail.
    CallOrChecked {
        function: Intrinsic,
        checked: Intrinsic,
    },
    /// A function of numbers; for integers, the second operand if it compares so with the first, else the
    /// first.
    Extremum {
        function: Intrinsic,
        compares: Binary,
    },
    Relu,
    Negative,
    Not,
    ToNum,
    ToInt,
    Zero,
    One,
}

/// The loops of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Loops<'a> {
    Products(SumOfProducts),
    Sum(Option<usize>),
    Mean(Option<usize>),
    Max(Option<usize>),
    MaxMask(Option<usize>),
    Argmax,
    Softmax,
    SumDown,
    /// The concatenation of all operands.
    Chain,
    /// A copy in row-major order, unless the operand is in that order.
    Reshape(&'a Shape),
    Pad {
        lo: usize,
    },
    Onehot(usize),
    /// A row at an index that is an operand.
    Row,
    /// The operand as a row at an index, among this many rows.
    Place(usize),
    Fold {
        axis: usize,
        stride: usize,
    },
    /// An operation on each stream of a batch.
    Each(&'a Each),
    /// A call of a function.
    Call,
}

/// Operations with two factors whose results are sums of products.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SumOfProducts {
    Matmul,
    Conv2d,
    Conv2dDx,
    Conv2dDk,
}

#[rustfmt::skip]
pub(crate) fn form(op: &Op) -> Form<'_> {
    use Element::{
        Arithmetic, Call, CallOrChecked, Checked, Comparison, Extremum, Infix, Negative, Not, One, Relu, ToInt, ToNum,
        Zero,
    };
    use Form::{Choice, Elements, View};
    use Movement::{Repeated, Row, Rows, Same, Stretched, Transposed, Windows};
    use SumOfProducts::{Conv2d, Conv2dDk, Conv2dDx, Matmul};
    match op {
        Op::Copy | Op::StopGradient => View(Same),
        Op::Index(row)              => View(Row(*row)),
        Op::Slice(lo, hi)           => View(Rows { lo: *lo, hi: *hi }),
        Op::Transpose               => View(Transposed),
        Op::Spread(axis, n)         => View(Repeated { axis: *axis, n: *n }),
        Op::Broadcast(shape)        => View(Stretched(shape)),
        Op::Unfold(axis, size, stride) => View(Windows { axis: *axis, size: *size, stride: *stride }),

        Op::Add       => Elements(Arithmetic { op: Binary::Add, checked: Intrinsic::IntAdd }),
        Op::Sub       => Elements(Arithmetic { op: Binary::Sub, checked: Intrinsic::IntSub }),
        Op::Mul       => Elements(Arithmetic { op: Binary::Mul, checked: Intrinsic::IntMul }),
        Op::Outer     => Elements(Infix(Binary::Mul)),
        Op::Div       => Elements(Infix(Binary::Div)),
        Op::And       => Elements(Infix(Binary::And)),
        Op::Or        => Elements(Infix(Binary::Or)),
        Op::Lt        => Elements(Comparison { op: Binary::Lt, of_equals: false }),
        Op::Le        => Elements(Comparison { op: Binary::Le, of_equals: true }),
        Op::Gt        => Elements(Comparison { op: Binary::Gt, of_equals: false }),
        Op::Ge        => Elements(Comparison { op: Binary::Ge, of_equals: true }),
        Op::Eq        => Elements(Comparison { op: Binary::Eq, of_equals: true }),
        Op::Ne        => Elements(Comparison { op: Binary::Ne, of_equals: false }),
        Op::Pow       => Elements(Call(Intrinsic::Pow)),
        Op::Sqrt      => Elements(Call(Intrinsic::Sqrt)),
        Op::Exp       => Elements(Call(Intrinsic::Exp)),
        Op::Log       => Elements(Call(Intrinsic::Log)),
        Op::Tanh      => Elements(Call(Intrinsic::Tanh)),
        Op::Sigmoid   => Elements(Call(Intrinsic::Sigmoid)),
        Op::Sin       => Elements(Call(Intrinsic::Sin)),
        Op::Cos       => Elements(Call(Intrinsic::Cos)),
        Op::Lgamma    => Elements(Call(Intrinsic::Lgamma)),
        Op::Digamma   => Elements(Call(Intrinsic::Digamma)),
        Op::IntDiv    => Elements(Checked(Intrinsic::IntDiv)),
        Op::IntMod    => Elements(Checked(Intrinsic::IntMod)),
        Op::Abs       => Elements(CallOrChecked { function: Intrinsic::Abs, checked: Intrinsic::IntAbs }),
        Op::Maximum   => Elements(Extremum { function: Intrinsic::Maximum, compares: Binary::Gt }),
        Op::Minimum   => Elements(Extremum { function: Intrinsic::Minimum, compares: Binary::Lt }),
        Op::Relu      => Elements(Relu),
        Op::Neg       => Elements(Negative),
        Op::Not       => Elements(Not),
        Op::ToNum     => Elements(ToNum),
        Op::ToInt     => Elements(ToInt),
        Op::ZerosLike => Elements(Zero),
        Op::OnesLike  => Elements(One),
        Op::If | Op::Where => Choice,

        Op::Matmul    => Form::Loops(Loops::Products(Matmul)),
        Op::Conv2d    => Form::Loops(Loops::Products(Conv2d)),
        Op::Conv2dDx  => Form::Loops(Loops::Products(Conv2dDx)),
        Op::Conv2dDk  => Form::Loops(Loops::Products(Conv2dDk)),
        Op::Sum(axis) => Form::Loops(Loops::Sum(*axis)),
        Op::Mean(axis) => Form::Loops(Loops::Mean(*axis)),
        Op::Max(axis) => Form::Loops(Loops::Max(*axis)),
        Op::MaxMask(axis) => Form::Loops(Loops::MaxMask(*axis)),
        Op::Argmax    => Form::Loops(Loops::Argmax),
        Op::Softmax   => Form::Loops(Loops::Softmax),
        Op::SumTo | Op::Reduce(_) => Form::Loops(Loops::SumDown),
        Op::Concat | Op::Stack => Form::Loops(Loops::Chain),
        Op::Reshape(shape) => Form::Loops(Loops::Reshape(shape)),
        Op::Pad(lo, _) => Form::Loops(Loops::Pad { lo: *lo }),
        Op::Onehot(n) => Form::Loops(Loops::Onehot(*n)),
        Op::Row       => Form::Loops(Loops::Row),
        Op::Place(n)  => Form::Loops(Loops::Place(*n)),
        Op::Fold(axis, stride, _) => Form::Loops(Loops::Fold { axis: *axis, stride: *stride }),
        Op::Each(each) => Form::Loops(Loops::Each(each)),
        Op::Call(_)   => Form::Loops(Loops::Call),
    }
}

/// Whether an operation computes each element of its result from the elements of its operands at the same
/// index.
pub(crate) fn is_elementwise(op: &Op) -> bool {
    matches!(form(op), Form::Elements(_) | Form::Choice)
}

/// Whether an operation only moves elements, so that its result can always be read through a view.
pub(crate) fn is_moving(op: &Op) -> bool {
    matches!(form(op.applied()), Form::View(_))
}
