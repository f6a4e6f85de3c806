//! The words and symbols of `.eddy` files (section 1).
//!
//! Words that have a meaning only in their place (`run`, `train`, `import`, `num`, `chrono`, …) are ordinary
//! names here: the paper calls streams `end` and `do`, and a node `train`.

use eddy_syntax::lex::{Lexicon, QUOTE};

/// Reserved words, symbols and Unicode twins.
///
/// The symbols of the last line belong to other languages. They are tokens so that the parser can suggest
/// Eddy's form; no valid program contains the characters of such a symbol as two adjacent tokens.
pub const LEXICON: Lexicon = Lexicon {
    reserved: &[
        "and", "back", "div", "else", "false", "fby", "if", "merge", "mod", "node", "not", "or", "post",
        "then", "true", "when",
    ],
    symbols: &[
        "(", ")", "[", "]", "{", "}", "<", ">", "<=", ">=", "==", "!=", "+", "-", "*", "/", "->", ",", ":",
        ";", "=", ".", "?", "⊥", "#", QUOTE, //
        ":=", "&&", "||", "!", "<>", "%", "^", "**", "//", "/*", "===", "!==", "~=", "/=", "=>", "+=", "-=",
        "*=", "++", "<<", ">>", "::", "|>", "&", "|", "~", "@", "\\",
    ],
    twins: &[
        ("→", "->"),
        ("≠", "!="),
        ("≤", "<="),
        ("≥", ">="),
        ("∧", "and"),
        ("∨", "or"),
        ("¬", "not"),
        ("×", "*"),
        ("□", "."),
        ("λ", "\\"),
    ],
};
