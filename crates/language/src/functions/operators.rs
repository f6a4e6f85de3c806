//! One-line descriptions of derivative operators, and of functions that are not in the operation table.

use super::derivatives::Operator;
use crate::tree::Reduction;

/// The name and the description of a derivative operator.
pub fn derivative(name: &str) -> Option<(&'static str, &'static str)> {
    let operator = Operator::named(name)?;
    let doc = match operator {
        Operator::Grad => "the gradient of a function whose result is a single num, at a point",
        Operator::ValueAndGrad => "the value of a function and its gradient, at a point",
        Operator::Vjp => "the value, and the transposed Jacobian applied to a direction of the result",
        Operator::Jvp => "the value, and the Jacobian applied to a direction of the point",
        Operator::Jacobian => "all partial derivatives of a function, at a point",
        Operator::JacobianForward => "all partial derivatives, by the forward mode",
        Operator::JacobianReverse => "all partial derivatives, by the reverse mode",
        Operator::Hessian => "all second derivatives of a function whose result is a single num",
    };
    Some((operator.name(), doc))
}

/// The description of a function that functions can call but nodes cannot.
pub fn own(name: &str) -> &'static str {
    match name {
        "len" => "the size of the first axis",
        "shape" => "the sizes of a tensor, as a vector",
        "scatter" => "rows of zeros, to which other rows are added by their indices",
        "min" => "the least element of a tensor, or along an axis",
        "prod" => "the product of the elements of a tensor, or along an axis",
        "any" => "whether one element of a tensor is true",
        "all" => "whether all elements of a tensor are true",
        _ => "the index of the first least element of a tensor",
    }
}

/// A reduction over ranges.
pub fn reduction(kind: Reduction) -> &'static str {
    match kind {
        Reduction::Mean => "the mean of the copies; only in nodes",
        Reduction::Concat => "the copies, one after the other; only in nodes",
        Reduction::Sum => "the sum over ranges",
        Reduction::Prod => "the product over ranges",
        Reduction::Max => "the greatest term, the first of several",
        Reduction::Min => "the least term, the first of several",
        Reduction::Argmax => "the index of the first greatest term",
        Reduction::Argmin => "the index of the first least term",
        Reduction::Any => "whether one term is true; stops at it",
        Reduction::All => "whether all terms are true; stops at the first that is not",
    }
}
