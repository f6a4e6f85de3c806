//! The words and symbols of `.rd` files (section 3).

use eddy_syntax::lex::Lexicon;

use crate::operation::Scalar;
use crate::surface::{Callee, Kinked};

/// Reserved words, symbols and Unicode spellings.
pub const LEXICON: Lexicon = Lexicon {
    reserved: &[
        "abs",
        "const",
        "cos",
        "cos_r",
        "div",
        "div_r",
        "dot",
        "dot_r",
        "else",
        "exp",
        "exp_r",
        "false",
        "fd",
        "fst",
        "grad",
        "if",
        "in",
        "let",
        "letrec",
        "log",
        "log_r",
        "max",
        "min",
        "mul",
        "mul_r",
        "neg",
        "neg_r",
        "not",
        "pow",
        "pow_r",
        "powi",
        "powi_r",
        "rd",
        "real",
        "relu",
        "scale",
        "scale_r",
        "sigmoid",
        "sigmoid_r",
        "sin",
        "sin_r",
        "snd",
        "sqrt",
        "sqrt_r",
        "sub",
        "sub_r",
        "tan",
        "tan_r",
        "tanh",
        "tanh_r",
        "then",
        "true",
        "unit",
        "use",
        "zero",
    ],
    symbols: &[
        "(", ")", "[", "]", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "^", ".", ",",
        ":", "=",
    ],
    twins: &[
        ("⟨", "<"),
        ("⟩", ">"),
        ("≤", "<="),
        ("≥", ">="),
        ("≠", "!="),
        ("∧", "&&"),
        ("∨", "||"),
        ("¬", "not"),
        ("·", "*"),
        ("×", "*"),
        ("ℝ", "real"),
    ],
};

/// The callee of a reserved word; the exponent of `powi` follows in the text.
pub fn callee(word: &str) -> Option<Callee> {
    Some(match word {
        "neg" => Callee::Scalar(Scalar::Neg),
        "sub" => Callee::Scalar(Scalar::Sub),
        "mul" => Callee::Scalar(Scalar::Mul),
        "div" => Callee::Scalar(Scalar::Div),
        "exp" => Callee::Scalar(Scalar::Exp),
        "log" => Callee::Scalar(Scalar::Log),
        "sin" => Callee::Scalar(Scalar::Sin),
        "cos" => Callee::Scalar(Scalar::Cos),
        "tan" => Callee::Scalar(Scalar::Tan),
        "tanh" => Callee::Scalar(Scalar::Tanh),
        "sigmoid" => Callee::Scalar(Scalar::Sigmoid),
        "sqrt" => Callee::Scalar(Scalar::Sqrt),
        "pow" => Callee::Scalar(Scalar::Pow),
        "powi" => Callee::Scalar(Scalar::Powi(0)),
        "dot" => Callee::Dot,
        "scale" => Callee::Scale,
        "fst" => Callee::Fst,
        "snd" => Callee::Snd,
        "relu" => Callee::Kinked(Kinked::Relu),
        "abs" => Callee::Kinked(Kinked::Abs),
        "max" => Callee::Kinked(Kinked::Max),
        "min" => Callee::Kinked(Kinked::Min),
        _ => return None,
    })
}

/// The operation whose reverse a word such as `mul_r` names.
pub fn reversed(word: &str) -> Option<Callee> {
    match callee(word.strip_suffix("_r")?)? {
        operation @ (Callee::Scalar(_) | Callee::Dot | Callee::Scale) => Some(operation),
        _ => None,
    }
}
