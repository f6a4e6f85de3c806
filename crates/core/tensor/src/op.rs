//! The operation table: one row per operation.
//!
//! A row has the variant of [`Op`] with its static arguments, the syntax of the operation, the entry that
//! defines its typing, shapes, value and derivatives, and a description for users. The macro derives from the
//! rows the type [`Op`], its methods, and the functions that a program can call
//! ([`builtin`](mod@crate::builtin)). [`facts`](crate::facts) has further properties for compilers: kind of
//! loop, cost, failure. [`Each`] is not a row: it applies a row to slices of its operands.
//! Nor is [`Call`], which applies a function of the program.
//!
//! In this workspace, a `match` on [`Op`] that covers every operation has no `_` arm, and those files deny
//! `clippy::wildcard_enum_match_arm`. So a new row does not compile until every such question has an answer.

#![deny(clippy::wildcard_enum_match_arm)]

use crate::algebra::{Algebra, Site};
use crate::builtin::{Row, Static, StaticArgument};
use crate::call::Call;
use crate::each::Each;
use crate::operation::{EvalError, Operation};
use crate::ops::arithmetic::{Add, Binary, Div, IntDiv, IntMod, Maximum, Minimum, Mul, Pow, Sub};
use crate::ops::conversions::{Copy, Like, Onehot, StopGradient, ToInt, ToNum};
use crate::ops::convolution::{Conv2d, Conv2dDk, Conv2dDx};
use crate::ops::functions::{
    Abs, Cos, Digamma, Exp, Lgamma, Log, Neg, Relu, Sigmoid, Sin, Sqrt, Tanh, Unary,
};
use crate::ops::linear::{Matmul, Outer};
use crate::ops::logic::{Compare, Connective, Eq, Ge, Gt, If, Le, Lt, Ne, Not, Where};
use crate::ops::reductions::{Argmax, Max, MaxMask, Mean, Softmax, Sum};
use crate::ops::rows::{Place, Row as RowAt};
use crate::ops::stretching::{Broadcast, Reduce, Spread, SumTo};
use crate::ops::structure::{Concat, Index, Pad, Reshape, Slice, Stack, Transpose};
use crate::ops::windows::{Fold, Unfold};
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::shape_rule::ShapeRule;
use crate::signature::{Arity, Signature};
use crate::spelling::Spelling;
use crate::value::Value;

macro_rules! operations {
    ($(
        $variant:ident $(($($field:ident: $ty:ty),+))?, $spelling:ident $name:literal, $entry:expr, $doc:literal;
    )+) => {
        /// An operation of the reactive language, with its static arguments.
        #[derive(Clone, Debug, PartialEq, std::cmp::Eq, Hash)]
        pub enum Op {
            $(
                #[doc = concat!("`", $name, "`: ", $doc, ".")]
                $variant $(($($ty),+))?,
            )+
            /// An operation of the table, applied to each slice along the last axis of its operands. It has
            /// the name of that operation.
            Each(Each),
            /// A function of the program.
            Call(Call),
        }

        pub(crate) static ROWS: &[Row] = &[
            $(
                Row {
                    // Typing does not depend on static arguments, so arbitrary ones suffice to query it.
                    sample: Op::$variant $(($(<$ty as StaticArgument>::SAMPLE),+))?,
                    statics: &[$($(<$ty as StaticArgument>::KIND),+)?],
                    construct: |_arguments| Ok(Op::$variant $(($(<$ty as StaticArgument>::read(_arguments)?),+))?),
                },
            )+
        ];

        impl Op {
            /// The name in a program: `+`, `div`, `matmul`; `index`, `stack`, `copy` and `if` for operations
            /// with special syntax.
            pub fn name(&self) -> &str {
                match self.applied() {
                    Op::Call(call) => call.callee().name(),
                    op => op.row_name(),
                }
            }

            /// The name of the row; a function of the program has none.
            pub(crate) fn row_name(&self) -> &'static str {
                match self {
                    $(Op::$variant { .. } => $name,)+
                    Op::Each(each) => each.op().row_name(),
                    Op::Call(_) => "a function",
                }
            }

            /// A one-line description for users.
            pub fn doc(&self) -> &'static str {
                match self {
                    $(Op::$variant { .. } => $doc,)+
                    Op::Each(each) => each.op().doc(),
                    Op::Call(_) => "a function of the program",
                }
            }

            /// The syntax; [`Op::Each`] is displayed as a call.
            pub fn spelling(&self) -> Spelling {
                match self {
                    $(Op::$variant { .. } => Spelling::$spelling,)+
                    Op::Each(_) | Op::Call(_) => Spelling::Call,
                }
            }

            /// The static arguments, in the order of a call.
            pub fn statics(&self) -> Vec<Static> {
                match self {
                    $(Op::$variant $(($($field),+))? => present([$($($field.to_static()),+)?]),)+
                    Op::Each(each) => each.op().statics(),
                    Op::Call(_) => Vec::new(),
                }
            }

            pub fn signature(&self) -> Signature {
                match self {
                    $(Op::$variant $(($($field),+))? => $entry.signature(),)+
                    Op::Each(each) => each.signature(),
                    Op::Call(call) => call.signature(),
                }
            }

            pub fn shape_rule(&self) -> ShapeRule {
                match self {
                    $(Op::$variant $(($($field),+))? => $entry.shape_rule(),)+
                    Op::Each(each) => each.shape_rule(),
                    Op::Call(call) => call.shape_rule(),
                }
            }

            pub fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
                match self {
                    $(Op::$variant $(($($field),+))? => $entry.shape(operands),)+
                    Op::Each(each) => each.shape(operands),
                    Op::Call(call) => call.shape(operands),
                }
            }

            /// Evaluates the operation. Panics if the operands violate the typing or shape rules.
            ///
            /// ```
            /// use eddy_tensor::{Op, Value};
            /// let sum = Op::Add.eval(&[&Value::Num(1.5), &Value::Num(2.0)]);
            /// assert_eq!(sum, Ok(Value::Num(3.5)));
            /// let error = Op::IntDiv.eval(&[&Value::Int(1), &Value::Int(0)]).unwrap_err();
            /// assert_eq!(error.to_string(), "division by zero");
            /// ```
            pub fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
                match self {
                    $(Op::$variant $(($($field),+))? => $entry.eval(operands),)+
                    Op::Each(each) => each.eval(operands),
                    Op::Call(call) => call.eval(operands),
                }
            }

            /// Whether derivatives pass through this operand, if it is a `num`.
            pub fn is_differentiable_in(&self, operand: usize) -> bool {
                match self {
                    $(Op::$variant $(($($field),+))? => $entry.is_differentiable_in(operand),)+
                    Op::Each(each) => each.is_differentiable_in(operand),
                    Op::Call(call) => call.is_differentiable_in(operand),
                }
            }

            /// The contribution of the cotangent `g` of the result to that of an operand, in the shape of the
            /// operand; `None` if no cotangent passes.
            pub fn vjp<A: Algebra>(
                &self,
                operand: usize,
                site: &Site<'_, A::Value>,
                g: &A::Value,
                algebra: &mut A,
            ) -> Option<A::Value> {
                self.is_differentiable_in(operand).then(|| match self {
                    $(Op::$variant $(($($field),+))? => $entry.vjp(operand, site, g, algebra),)+
                    Op::Each(each) => each.vjp(operand, site, g, algebra),
                    Op::Call(call) => call.vjp(operand, site, g, algebra),
                })
            }

            /// The contribution of the tangent `t` of an operand to that of the result, in the shape of the
            /// result; `None` if no tangent passes.
            pub fn jvp<A: Algebra>(
                &self,
                operand: usize,
                site: &Site<'_, A::Value>,
                t: &A::Value,
                algebra: &mut A,
            ) -> Option<A::Value> {
                self.is_differentiable_in(operand).then(|| match self {
                    $(Op::$variant $(($($field),+))? => $entry.jvp(operand, site, t, algebra),)+
                    Op::Each(each) => each.jvp(operand, site, t, algebra),
                    Op::Call(call) => call.jvp(operand, site, t, algebra),
                })
            }
        }
    };
}

operations! {
    Copy,                          Itself "copy",          Copy,                     "the value itself";
    Add,                           Infix  "+",             Binary(Add),              "the sum";
    Sub,                           Infix  "-",             Binary(Sub),              "the difference";
    Mul,                           Infix  "*",             Binary(Mul),              "the product, element by element";
    Div,                           Infix  "/",             Binary(Div),              "the quotient of two numbers";
    Pow,                           Call   "pow",           Binary(Pow),              "the first number to the power of the second";
    Maximum,                       Call   "maximum",       Binary(Maximum),          "the larger of two, element by element";
    Minimum,                       Call   "minimum",       Binary(Minimum),          "the smaller of two, element by element";
    IntDiv,                        Infix  "div",           Binary(IntDiv),           "the integer quotient, with a remainder of at least 0";
    IntMod,                        Infix  "mod",           Binary(IntMod),           "the integer remainder, at least 0";

    Lt,                            Infix  "<",             Compare(Lt),              "whether the first is smaller";
    Le,                            Infix  "<=",            Compare(Le),              "whether the first is smaller or equal";
    Gt,                            Infix  ">",             Compare(Gt),              "whether the first is larger";
    Ge,                            Infix  ">=",            Compare(Ge),              "whether the first is larger or equal";
    Eq,                            Infix  "==",            Compare(Eq),              "whether both are equal, element by element";
    Ne,                            Infix  "!=",            Compare(Ne),              "whether both are different, element by element";
    And,                           Infix  "and",           Connective(|x, y| x & y), "whether both hold";
    Or,                            Infix  "or",            Connective(|x, y| x | y), "whether one of them holds, or both";
    Not,                           Prefix "not",           Not,                      "whether it does not hold";

    Neg,                           Prefix "-",             Unary(Neg),               "the opposite number";
    Abs,                           Call   "abs",           Unary(Abs),               "the number without its sign";
    Relu,                          Call   "relu",          Unary(Relu),              "the number, or 0 if it is negative";
    Exp,                           Call   "exp",           Unary(Exp),               "e to the power of the number";
    Log,                           Call   "log",           Unary(Log),               "the natural logarithm";
    Sqrt,                          Call   "sqrt",          Unary(Sqrt),              "the square root";
    Tanh,                          Call   "tanh",          Unary(Tanh),              "the hyperbolic tangent";
    Sigmoid,                       Call   "sigmoid",       Unary(Sigmoid),           "the logistic function 1 / (1 + exp(-x))";
    Sin,                           Call   "sin",           Unary(Sin),               "the sine of an angle in radians";
    Cos,                           Call   "cos",           Unary(Cos),               "the cosine of an angle in radians";
    Lgamma,                        Function "lgamma",      Unary(Lgamma),            "the logarithm of the gamma function";
    Digamma,                       Function "digamma",     Digamma,                  "the derivative of lgamma";

    If,                            Choice "if",            If,                       "one of two values, chosen by a scalar condition";
    Where,                         Call   "where",         Where,                    "elements of two values, each chosen by a condition";

    Matmul,                        Call   "matmul",        Matmul,                   "the product of matrices or vectors";
    Concat,                        Call   "concat",        Concat,                   "the rows of all operands, one after the other";
    Stack,                         List   "stack",         Stack,                    "a tensor with each operand as a row, written `[a,b,..]`";
    Index(row: usize),             Row    "index",         Index(*row),              "one row of a tensor, written `x[i]`";
    Row,                           Pick   "index",         RowAt,                    "the row of a tensor at an index of the program, written `x[i]`";
    Place(n: usize),               Hidden "place",         Place(*n),                "the operand as a row at an index, among rows of zeros";
    Reshape(shape: Shape),         Call   "reshape",       Reshape(shape),           "the same elements in another shape";
    Transpose,                     Call   "transpose",     Transpose,                "a matrix with rows and columns exchanged";

    Sum(axis: Option<usize>),      Call   "sum",           Sum(*axis),               "the sum of all elements, or along an axis";
    Mean(axis: Option<usize>),     Call   "mean",          Mean(*axis),              "the mean of all elements, or along an axis";
    Max(axis: Option<usize>),      Call   "max",           Max(*axis),               "the largest of all elements, or along an axis";
    MaxMask(axis: Option<usize>),  Call   "max_mask",      MaxMask(*axis),           "1 at the first maximum of all, or along an axis, 0 elsewhere";
    Softmax,                       Call   "softmax",       Softmax,                  "exponentials along the last axis, scaled to sum 1";

    Conv2d,                        Call   "conv2d",        Conv2d,                   "the convolution of an image and a kernel";
    Conv2dDx,                      Call   "conv2d_dx",     Conv2dDx,                 "the cotangent of the image, from kernel and cotangent";
    Conv2dDk,                      Call   "conv2d_dk",     Conv2dDk,                 "the cotangent of the kernel, from image and cotangent";

    ToNum,                         Call   "num",           ToNum,                    "an integer as a number";
    ToInt,                         Call   "int",           ToInt,                    "a number without its fraction, as an integer";
    Argmax,                        Call   "argmax",        Argmax,                   "the position of the first maximum, counted from 0";
    Onehot(n: usize),              Call   "onehot",        Onehot(*n),               "a vector that is 1 at one index and 0 elsewhere";
    StopGradient,                  Call   "stop_gradient", StopGradient,             "the value itself, as a constant to derivatives";
    ZerosLike,                     Call   "zeros_like",    Like::Zeros,              "zeros in the shape of the operand";
    OnesLike,                      Call   "ones_like",     Like::Ones,               "ones in the shape of the operand";

    SumTo,                         Call   "sum_to",        SumTo,                    "the first operand summed down to the shape of the second";
    Slice(lo: usize, hi: usize),   Call   "slice",         Slice(*lo, *hi),          "the rows from one index to another, which is excluded";
    Pad(lo: usize, n: usize),      Call   "pad",           Pad(*lo, *n),             "the operand at a given row among rows of zeros, with a given number of rows";
    Spread(axis: usize, n: usize), Call   "spread",        Spread(*axis, *n),        "a new axis, along which the operand is repeated";
    Broadcast(shape: Shape),       Call   "broadcast",     Broadcast(shape),         "the operand stretched to a shape";
    Reduce(shape: Shape),          Call   "reduce",        Reduce(shape),            "the operand summed down to a shape";
    Outer,                         Call   "outer",         Outer,                    "the matrix of all products of elements of two vectors";

    Unfold(axis: usize, size: usize, stride: usize), Call "unfold", Unfold { axis: *axis, size: *size, stride: *stride },
                                                                                     "an axis cut into windows of a size, their starts a stride apart";
    Fold(axis: usize, stride: usize, n: usize), Call "fold", Fold { axis: *axis, stride: *stride, n: *n },
                                                                                     "windows that start a stride apart, added up to an axis of a size";
}

impl Op {
    /// As the end of a [`Op::Slice`], the number of rows of its operand, before shapes are known.
    pub const LAST_ROW: usize = usize::MAX;

    /// Every operation of the table once, with arbitrary static arguments: for documents and tests.
    pub fn all() -> impl Iterator<Item = &'static Op> {
        ROWS.iter().map(|row| &row.sample)
    }

    /// The operation of the table that is applied to the operands or, for [`Op::Each`], to each slice of
    /// them.
    pub fn applied(&self) -> &Op {
        if let Op::Each(each) = self { each.op() } else { self }
    }

    pub fn arity(&self) -> Arity {
        self.signature().arity
    }
}

/// The static arguments that are present; an axis may be missing.
fn present<const N: usize>(statics: [Option<Static>; N]) -> Vec<Static> {
    statics.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn all_signatures() {
        let lines: Vec<String> = Op::all()
            .map(|op| format!("{:<13} {:<24} {:?}\n", op.name(), op.signature().to_string(), op.shape_rule()))
            .collect();
        expect![[r"
            copy          α → α                    Equal
            +             α × α → α, α numeric     Broadcast
            -             α × α → α, α numeric     Broadcast
            *             α × α → α, α numeric     Broadcast
            /             num × num → num          Broadcast
            pow           num × num → num          Broadcast
            maximum       α × α → α, α numeric     Broadcast
            minimum       α × α → α, α numeric     Broadcast
            div           int × int → int          Broadcast
            mod           int × int → int          Broadcast
            <             α × α → bool, α numeric  Broadcast
            <=            α × α → bool, α numeric  Broadcast
            >             α × α → bool, α numeric  Broadcast
            >=            α × α → bool, α numeric  Broadcast
            ==            α × α → bool             Broadcast
            !=            α × α → bool             Broadcast
            and           bool × bool → bool       Broadcast
            or            bool × bool → bool       Broadcast
            not           bool → bool              Equal
            -             α → α, α numeric         Equal
            abs           α → α, α numeric         Equal
            relu          α → α, α numeric         Equal
            exp           num → num                Equal
            log           num → num                Equal
            sqrt          num → num                Equal
            tanh          num → num                Equal
            sigmoid       num → num                Equal
            sin           num → num                Equal
            cos           num → num                Equal
            lgamma        num → num                Equal
            digamma       num → num                Equal
            if            bool × α × α → α         If
            where         bool × α × α → α         Broadcast
            matmul        num × num → num          Function
            concat        α × .. → α               Function
            stack         α × .. → α               Stack
            index         α → α                    Function
            index         α × int → α              Function
            place         int × num → num          Function
            reshape       α → α                    Fixed([])
            transpose     α → α                    Function
            sum           α → α, α numeric         Fixed([])
            mean          num → num                Fixed([])
            max           α → α, α numeric         Fixed([])
            max_mask      num → num                Equal
            softmax       num → num                Equal
            conv2d        num × num → num          Function
            conv2d_dx     num × num → num          Function
            conv2d_dk     num × num → num          Function
            num           α → num, α numeric       Equal
            int           α → int, α numeric       Equal
            argmax        α → int, α numeric       Fixed([])
            onehot        int → num                Fixed([0])
            stop_gradient α → α                    Equal
            zeros_like    α → α, α numeric         Equal
            ones_like     α → α, α numeric         Equal
            sum_to        α × any → α, α numeric   Like(1)
            slice         α → α                    Function
            pad           num → num                Function
            spread        num → num                Function
            broadcast     num → num                Fixed([])
            reduce        num → num                Fixed([])
            outer         num × num → num          Function
            unfold        num → num                Function
            fold          num → num                Function
        "]]
        .assert_eq(&lines.concat());
    }

    #[test]
    fn every_row_has_a_line_for_users() {
        for op in Op::all() {
            let doc = op.doc();
            assert!(doc.len() > 5 && !doc.ends_with('.'), "{}: {doc}", op.name());
        }
    }

    #[test]
    fn static_arguments_come_in_the_order_of_a_call() {
        assert_eq!(Op::Slice(1, 3).statics(), [Static::Int(1), Static::Int(3)]);
        assert_eq!(Op::Reshape(Shape::new(&[2, 3])).statics(), [Static::List(vec![2, 3])]);
        assert_eq!(Op::Sum(Some(1)).statics(), [Static::Int(1)]);
        assert_eq!(Op::Sum(None).statics(), []);
        assert_eq!(Op::Add.statics(), []);
    }
}
