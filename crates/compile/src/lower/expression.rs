//! Operations on elements, as C expressions.

use eddy_tensor::{Op, Scalar, Type};

use crate::precision::Precision;

/// What an operation on elements needs to know.
pub(crate) struct Elements<'a> {
    pub precision: Precision,
    /// The type of the elements of the first operand.
    pub operand: Scalar,
    /// What tells where something went wrong: `&error, 12`.
    pub site: &'a str,
}

/// Whether an operation computes each element of its result from the elements of its operands at the same place.
pub(crate) fn is_elementwise(op: &Op) -> bool {
    matches!(
        op,
        Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Div
            | Op::Pow
            | Op::Maximum
            | Op::Minimum
            | Op::IntDiv
            | Op::IntMod
            | Op::Lt
            | Op::Le
            | Op::Gt
            | Op::Ge
            | Op::Eq
            | Op::Ne
            | Op::And
            | Op::Or
            | Op::Not
            | Op::Neg
            | Op::Abs
            | Op::Relu
            | Op::Exp
            | Op::Log
            | Op::Sqrt
            | Op::Tanh
            | Op::Sigmoid
            | Op::Sin
            | Op::Cos
            | Op::Where
            | Op::ToNum
            | Op::ToInt
            | Op::ZerosLike
            | Op::OnesLike
            | Op::Outer
    )
}

impl Elements<'_> {
    /// The expression of one element.
    pub fn expression(&self, op: &Op, x: &[String]) -> String {
        let is_int = self.operand == Scalar::Int;
        let infix = |symbol: &str| format!("({} {symbol} {})", x[0], x[1]);
        // Only NaN differs from itself; of others a compiler would say that the question makes no sense.
        if self.operand != Scalar::Num && x.len() == 2 && x[0] == x[1] {
            match op {
                Op::Eq | Op::Le | Op::Ge => return format!("((void){}, true)", x[0]),
                Op::Ne | Op::Lt | Op::Gt => return format!("((void){}, false)", x[0]),
                _ => {}
            }
        }
        match op {
            Op::Add if is_int => self.checked("add", x),
            Op::Sub if is_int => self.checked("sub", x),
            Op::Mul if is_int => self.checked("mul", x),
            Op::Neg if is_int => self.checked("neg", x),
            Op::Abs if is_int => self.checked("abs", x),
            Op::IntDiv => self.checked("div", x),
            Op::IntMod => self.checked("mod", x),
            Op::Add => infix("+"),
            Op::Sub => infix("-"),
            Op::Mul | Op::Outer => infix("*"),
            Op::Div => infix("/"),
            Op::Pow => self.call("pow", x),
            Op::Maximum if is_int => format!("({1} > {0} ? {1} : {0})", x[0], x[1]),
            Op::Minimum if is_int => format!("({1} < {0} ? {1} : {0})", x[0], x[1]),
            Op::Relu if is_int => format!("({0} > 0 ? {0} : 0)", x[0]),
            Op::Maximum => self.call("maximum", x),
            Op::Minimum => self.call("minimum", x),
            Op::Relu => self.call("relu", x),
            Op::Abs => self.call("abs", x),
            Op::Sqrt => self.call("sqrt", x),
            Op::Exp => self.call("exp", x),
            Op::Log => self.call("log", x),
            Op::Tanh => self.call("tanh", x),
            Op::Sigmoid => self.call("sigmoid", x),
            Op::Sin => self.call("sin", x),
            Op::Cos => self.call("cos", x),
            Op::Neg => format!("(-{})", x[0]),
            Op::Lt => infix("<"),
            Op::Le => infix("<="),
            Op::Gt => infix(">"),
            Op::Ge => infix(">="),
            Op::Eq => infix("=="),
            Op::Ne => infix("!="),
            Op::And => infix("&"),
            Op::Or => infix("|"),
            Op::Not => format!("(!{})", x[0]),
            // As in double precision, rounded afterwards.
            Op::ToNum if is_int && self.precision == Precision::Single => {
                format!("((float)(double){})", x[0])
            }
            Op::ToNum if is_int => format!("((double){})", x[0]),
            Op::ToNum => x[0].clone(),
            Op::ToInt if is_int => x[0].clone(),
            Op::ToInt => format!("{}({}, {})", self.precision.function("to_int"), x[0], self.site),
            Op::ZerosLike if is_int => "INT64_C(0)".to_string(),
            Op::OnesLike if is_int => "INT64_C(1)".to_string(),
            Op::ZerosLike => self.precision.number(0.0),
            Op::OnesLike => self.precision.number(1.0),
            _ => unreachable!("no operation on elements: {op:?}"),
        }
    }

    fn call(&self, name: &str, arguments: &[String]) -> String {
        format!("{}({})", self.precision.function(name), arguments.join(", "))
    }

    /// Arithmetic of integers, which can fail.
    fn checked(&self, name: &str, arguments: &[String]) -> String {
        format!("eddy_int_{name}({}, {})", arguments.join(", "), self.site)
    }
}

/// One of two elements of a result of this type, by a condition.
///
/// A loop over elements has no `?:`. Of what is read under a condition a compiler that makes vectors makes masked loads, and gcc 11 and 12 lose the order
/// of elements in some of them (its bug 114375). `eddy_choose` reads both elements and puts bits together. A scalar is no such loop: there a branch is
/// faster, and one of the elements may not exist.
pub(crate) fn chosen(precision: Precision, ty: &Type, x: &[String]) -> String {
    let [condition, yes, no] = x else { unreachable!("a choice has three operands") };
    let function = match ty.scalar {
        _ if ty.shape.is_scalar() => return format!("({condition} ? {yes} : {no})"),
        Scalar::Num => precision.function("choose"),
        Scalar::Int => "eddy_choose_int".to_string(),
        Scalar::Bool => "eddy_choose_bool".to_string(),
    };
    format!("{function}({condition}, {yes}, {no})")
}
