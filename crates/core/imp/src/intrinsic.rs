//! The functions on elements that every backend provides.

use crate::types::Type;
use Type::{Bool, Int, Num, Size};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    Exp,
    /// The natural logarithm.
    Log,
    Tanh,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    Sin,
    Cos,
    /// The logarithm of the gamma function.
    Lgamma,
    /// The derivative of `Lgamma`.
    Digamma,
    Pow,
    Sqrt,
    Abs,
    /// `max(x, 0)`.
    Relu,
    /// The larger of two numbers; NaN if one is NaN.
    Maximum,
    /// The smaller of two numbers; NaN if one is NaN.
    Minimum,
    /// `x * y + z`, rounded once.
    Fma,
    /// Whether the first number replaces the second as a maximum: it is larger, or NaN.
    Exceeds,
    /// A selection between two numbers, both of which are computed.
    Choose,
    /// Truncates a number to an integer.
    ToInt,
    IntAdd,
    IntSub,
    IntMul,
    IntNeg,
    IntAbs,
    /// The integer quotient with a non-negative remainder.
    IntDiv,
    /// The non-negative integer remainder.
    IntMod,
    IntExceeds,
    /// A selection between two integers, both of which are computed.
    ChooseInt,
    /// A selection between two truth values, both of which are computed.
    ChooseBool,
    /// An integer as an index below a size; fails if it is out of range.
    Index,
}

impl Intrinsic {
    pub const ALL: [Intrinsic; 29] = [
        Intrinsic::Exp,
        Intrinsic::Log,
        Intrinsic::Tanh,
        Intrinsic::Sigmoid,
        Intrinsic::Sin,
        Intrinsic::Cos,
        Intrinsic::Lgamma,
        Intrinsic::Digamma,
        Intrinsic::Pow,
        Intrinsic::Sqrt,
        Intrinsic::Abs,
        Intrinsic::Relu,
        Intrinsic::Maximum,
        Intrinsic::Minimum,
        Intrinsic::Fma,
        Intrinsic::Exceeds,
        Intrinsic::Choose,
        Intrinsic::ToInt,
        Intrinsic::IntAdd,
        Intrinsic::IntSub,
        Intrinsic::IntMul,
        Intrinsic::IntNeg,
        Intrinsic::IntAbs,
        Intrinsic::IntDiv,
        Intrinsic::IntMod,
        Intrinsic::IntExceeds,
        Intrinsic::ChooseInt,
        Intrinsic::ChooseBool,
        Intrinsic::Index,
    ];

    /// The name in the text of programs; in C it has the prefix `eddy_`.
    pub fn name(self) -> &'static str {
        match self {
            Intrinsic::Exp => "exp",
            Intrinsic::Log => "log",
            Intrinsic::Tanh => "tanh",
            Intrinsic::Sigmoid => "sigmoid",
            Intrinsic::Sin => "sin",
            Intrinsic::Cos => "cos",
            Intrinsic::Lgamma => "lgamma",
            Intrinsic::Digamma => "digamma",
            Intrinsic::Pow => "pow",
            Intrinsic::Sqrt => "sqrt",
            Intrinsic::Abs => "abs",
            Intrinsic::Relu => "relu",
            Intrinsic::Maximum => "maximum",
            Intrinsic::Minimum => "minimum",
            Intrinsic::Fma => "fma",
            Intrinsic::Exceeds => "exceeds",
            Intrinsic::Choose => "choose",
            Intrinsic::ToInt => "to_int",
            Intrinsic::IntAdd => "int_add",
            Intrinsic::IntSub => "int_sub",
            Intrinsic::IntMul => "int_mul",
            Intrinsic::IntNeg => "int_neg",
            Intrinsic::IntAbs => "int_abs",
            Intrinsic::IntDiv => "int_div",
            Intrinsic::IntMod => "int_mod",
            Intrinsic::IntExceeds => "int_exceeds",
            Intrinsic::ChooseInt => "choose_int",
            Intrinsic::ChooseBool => "choose_bool",
            Intrinsic::Index => "index",
        }
    }

    /// The types of its arguments, and of its result.
    pub fn signature(self) -> (&'static [Type], Type) {
        match self {
            Intrinsic::Exp
            | Intrinsic::Log
            | Intrinsic::Tanh
            | Intrinsic::Sigmoid
            | Intrinsic::Sin
            | Intrinsic::Cos
            | Intrinsic::Lgamma
            | Intrinsic::Digamma
            | Intrinsic::Sqrt
            | Intrinsic::Abs
            | Intrinsic::Relu => (&[Num], Num),
            Intrinsic::Pow | Intrinsic::Maximum | Intrinsic::Minimum => (&[Num, Num], Num),
            Intrinsic::Fma => (&[Num, Num, Num], Num),
            Intrinsic::Exceeds => (&[Num, Num], Bool),
            Intrinsic::Choose => (&[Bool, Num, Num], Num),
            Intrinsic::ToInt => (&[Num], Int),
            Intrinsic::IntAdd
            | Intrinsic::IntSub
            | Intrinsic::IntMul
            | Intrinsic::IntDiv
            | Intrinsic::IntMod => (&[Int, Int], Int),
            Intrinsic::IntNeg | Intrinsic::IntAbs => (&[Int], Int),
            Intrinsic::IntExceeds => (&[Int, Int], Bool),
            Intrinsic::ChooseInt => (&[Bool, Int, Int], Int),
            Intrinsic::ChooseBool => (&[Bool, Bool, Bool], Bool),
            Intrinsic::Index => (&[Int, Size], Size),
        }
    }

    /// Whether it fails for some arguments.
    pub fn can_fail(self) -> bool {
        match self {
            Intrinsic::ToInt
            | Intrinsic::IntAdd
            | Intrinsic::IntSub
            | Intrinsic::IntMul
            | Intrinsic::IntNeg
            | Intrinsic::IntAbs
            | Intrinsic::IntDiv
            | Intrinsic::IntMod
            | Intrinsic::Index => true,
            Intrinsic::Exp
            | Intrinsic::Log
            | Intrinsic::Tanh
            | Intrinsic::Sigmoid
            | Intrinsic::Sin
            | Intrinsic::Cos
            | Intrinsic::Lgamma
            | Intrinsic::Digamma
            | Intrinsic::Pow
            | Intrinsic::Sqrt
            | Intrinsic::Abs
            | Intrinsic::Relu
            | Intrinsic::Maximum
            | Intrinsic::Minimum
            | Intrinsic::Fma
            | Intrinsic::Exceeds
            | Intrinsic::Choose
            | Intrinsic::IntExceeds
            | Intrinsic::ChooseInt
            | Intrinsic::ChooseBool => false,
        }
    }

    /// Whether there is a version for each precision.
    pub fn is_of_numbers(self) -> bool {
        self.signature().0.contains(&Num)
    }

    /// The cost, in terms of a product.
    pub fn cost(self) -> usize {
        match self {
            Intrinsic::Exp
            | Intrinsic::Log
            | Intrinsic::Tanh
            | Intrinsic::Sigmoid
            | Intrinsic::Sin
            | Intrinsic::Cos
            | Intrinsic::Lgamma
            | Intrinsic::Digamma
            | Intrinsic::Pow
            | Intrinsic::Sqrt => 16,
            _ => 1,
        }
    }
}
