//! The words and symbols of `.eddy` files (section 1).
//!
//! Words that only mean something in their place (`run`, `train`, `import`, `num`, `chrono`, …) are ordinary
//! names here: the paper calls streams `end` and `do`, and a node `train`.

use eddy_syntax::lex::{Lexicon, QUOTE};

/// Reserved words, symbols and Unicode twins.
///
/// The symbols of the last line belong to other languages. They are read here so that the parser can say what
/// Eddy writes instead; no program without mistakes has two tokens in a row that one of them could swallow.
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
