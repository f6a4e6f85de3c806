//! The words and symbols of the three languages, of their values and of intersection types (section 3).

use eddy_syntax::lex::Lexicon;

/// Reserved words, symbols and Unicode spellings.
pub const LEXICON: Lexicon = Lexicon {
    reserved: &[
        "else", "fix", "forall", "fst", "if", "in", "int", "let", "none", "ref", "snd", "some", "then",
        "thunk", "top", "wrong",
    ],
    symbols: &[
        "(", ")", "[", "]", "{", "}", "⟨", "⟩", "\\", "/\\", ".", ",", ":", ":=", ";", "=", "!=", "<", "<=",
        ">", ">=", "+", "-", "*", "/", "%", "->", "!", "@", "&", "∅",
    ],
    twins: &[
        ("λ", "\\"),
        ("Λ", "/\\"),
        ("∀", "forall"),
        ("→", "->"),
        ("↦", "->"),
        ("×", "*"),
        ("≠", "!="),
        ("≤", "<="),
        ("≥", ">="),
        ("π1", "fst"),
        ("π₁", "fst"),
        ("π2", "snd"),
        ("π₂", "snd"),
        ("⊤", "top"),
    ],
};

/// Whether a block, which needs parentheses as an operand, starts with this word or symbol.
pub(super) fn starts_block(symbol: &str) -> bool {
    matches!(symbol, "\\" | "/\\" | "let" | "if" | "fix")
}
