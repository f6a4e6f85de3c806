//! The words and symbols of `.cd` files (section 2).

use eddy_syntax::lex::Lexicon;

use crate::surface::Prefix;
use crate::syntax::{Bit, Op};

/// Reserved words, symbols and Unicode spellings.
pub const LEXICON: Lexicon = Lexicon {
    reserved: &[
        "D", "Y", "choice", "coin", "def", "deriv", "else", "fix", "flip", "if", "ifz", "in", "inj0", "inj1",
        "let", "nat", "omega", "pi0", "pi1", "pragma", "pred", "succ", "then", "theta", "tick", "zero",
    ],
    symbols: &["(", ")", "[", "]", "<", ">", "->", "=>", "\\", ".", ",", ":", ";", "=", "^", "/", "+"],
    twins: &[
        ("λ", "\\"),
        ("→", "->"),
        ("⇒", "->"),
        ("⟨", "<"),
        ("⟩", ">"),
        ("ι", "nat"),
        ("ι0", "inj0"),
        ("ι₀", "inj0"),
        ("ι1", "inj1"),
        ("ι₁", "inj1"),
        ("π0", "pi0"),
        ("π₀", "pi0"),
        ("π1", "pi1"),
        ("π₁", "pi1"),
        ("θ", "theta"),
        ("∂", "deriv"),
        ("Ω", "omega"),
    ],
};

/// The operator of a word, before its depth and its index are read.
pub(super) fn prefix(word: &str) -> Option<Prefix> {
    Some(match word {
        "succ" => Prefix::Op(Op::Succ, 0),
        "pred" => Prefix::Op(Op::Pred, 0),
        "pi0" => Prefix::Op(Op::Pi(Bit::Zero), 0),
        "pi1" => Prefix::Op(Op::Pi(Bit::One), 0),
        "inj0" => Prefix::Op(Op::Inj(Bit::Zero), 0),
        "inj1" => Prefix::Op(Op::Inj(Bit::One), 0),
        "theta" => Prefix::Op(Op::Theta, 0),
        "flip" => Prefix::Op(Op::Flip(0), 0),
        "D" => Prefix::Derive(1),
        "fix" | "Y" => Prefix::Fix,
        "deriv" => Prefix::Deriv,
        "tick" => Prefix::Tick,
        _ => return None,
    })
}

/// Whether a term can start with this word or symbol.
pub(super) fn starts_term(symbol: &str) -> bool {
    let others = ["(", "<", "\\", "let", "if", "ifz", "coin", "choice", "omega", "zero"];
    prefix(symbol).is_some() || others.contains(&symbol)
}
