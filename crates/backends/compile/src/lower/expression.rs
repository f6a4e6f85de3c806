//! Operations on elements, as expressions.

use eddy_imp::{Binary, Expr, Intrinsic, Type};
use eddy_tensor::{Op, Scalar, Type as TensorType};

use crate::operation::{Element, Form, form};

/// The context of an operation on elements.
pub(crate) struct Elements {
    /// The type of the elements of the first operand.
    pub operand: Scalar,
    /// The number of the equation, from 1, which is reported on failure.
    pub site: usize,
}

impl Elements {
    /// The expression of one element.
    #[deny(clippy::wildcard_enum_match_arm)]
    pub fn expression(&self, op: &Op, x: Vec<Expr>) -> Expr {
        let Form::Elements(element) = form(op) else { unreachable!("no operation on elements: {op:?}") };
        let is_int = self.operand == Scalar::Int;
        match element {
            Element::Arithmetic { checked, .. } if is_int => self.checked(checked, x),
            Element::Arithmetic { op, .. } | Element::Infix(op) => infix(op, x),
            // Only NaN differs from itself; for other types a compiler would warn about the comparison.
            Element::Comparison { of_equals, .. } if self.operand != Scalar::Num && x[0] == x[1] => {
                of_equals.into()
            }
            Element::Comparison { op, .. } => infix(op, x),
            Element::CallOrChecked { checked, .. } if is_int => self.checked(checked, x),
            Element::Checked(function) => self.checked(function, x),
            Element::Extremum { compares, .. } if is_int => {
                let [x, y] = operands(x);
                Expr::choice(Expr::binary(compares, y.clone(), x.clone()), y, x)
            }
            Element::Call(function)
            | Element::CallOrChecked { function, .. }
            | Element::Extremum { function, .. } => Expr::Call(function, x),
            Element::Relu if is_int => {
                let [x] = operands(x);
                Expr::choice(x.clone().gt(Expr::Int(0)), x, Expr::Int(0))
            }
            Element::Relu => Expr::Call(Intrinsic::Relu, x),
            Element::Negative if is_int => self.checked(Intrinsic::IntNeg, x),
            Element::Negative => -only(x),
            Element::Not => !only(x),
            Element::ToNum if is_int => only(x).cast(Type::Num),
            Element::ToInt if !is_int => self.checked(Intrinsic::ToInt, x),
            Element::ToNum | Element::ToInt => only(x),
            Element::Zero if is_int => Expr::Int(0),
            Element::One if is_int => Expr::Int(1),
            Element::Zero => Expr::num(0.0),
            Element::One => Expr::num(1.0),
        }
    }

    /// A function that can fail.
    fn checked(&self, function: Intrinsic, arguments: Vec<Expr>) -> Expr {
        Expr::Checked(function, arguments, self.site)
    }
}

fn operands<const N: usize>(x: Vec<Expr>) -> [Expr; N] {
    x.try_into().unwrap_or_else(|x: Vec<Expr>| unreachable!("{N} operands, not {}", x.len()))
}

fn only(x: Vec<Expr>) -> Expr {
    let [x] = operands(x);
    x
}

fn infix(op: Binary, x: Vec<Expr>) -> Expr {
    let [x, y] = operands(x);
    Expr::binary(op, x, y)
}

/// Chooses one of two elements of a result of this type, by a condition.
///
/// Loops over elements contain no choice that computes only one of them: vectorising compilers turn
/// conditional reads into masked loads, and gcc 11 and 12 permute elements in some of them (gcc bug 114375).
/// [`Intrinsic::Choose`] reads both elements and combines their bits. A scalar is not in such a loop: there a
/// branch is faster, and one of the elements may not exist.
pub(crate) fn chosen(ty: &TensorType, x: Vec<Expr>) -> Expr {
    let [condition, yes, no] = operands(x);
    let function = match ty.scalar {
        _ if ty.shape.is_scalar() => return Expr::choice(condition, yes, no),
        Scalar::Num => Intrinsic::Choose,
        Scalar::Int => Intrinsic::ChooseInt,
        Scalar::Bool => Intrinsic::ChooseBool,
    };
    Expr::Call(function, vec![condition, yes, no])
}
