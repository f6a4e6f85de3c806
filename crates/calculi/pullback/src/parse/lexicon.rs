//! The words and symbols of `.pb` files (section 3).

use eddy_syntax::lex::Lexicon;

/// Reserved words, symbols and their Unicode spellings. `^*` is one symbol.
pub const LEXICON: Lexicon = Lexicon {
    reserved: &[
        "J", "Omega", "R", "assume", "at", "def", "dmap", "flat", "fst", "grad", "in", "jac", "jacobian",
        "let", "pi1", "pi2", "prim", "pull", "sharp", "snd", "type", "vjp", "with", "zero",
    ],
    symbols: &[
        "(", ")", "[", "]", "<", ">", "+", "-", "*", "/", "^", "^*", "@", ".", ",", ":", ";", "=", "\\", "->",
    ],
    twins: &[
        ("λ", "\\"),
        ("Ω", "Omega"),
        ("·", "."),
        ("⟨", "<"),
        ("⟩", ">"),
        ("→", "->"),
        ("⇒", "->"),
        ("=>", "->"),
        ("×", "*"),
        ("π1", "pi1"),
        ("π2", "pi2"),
        ("♯", "sharp"),
        ("♭", "flat"),
        ("ℝ", "R"),
        ("𝟎", "zero"),
    ],
};
