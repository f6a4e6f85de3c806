//! Text that a parser skips after an error, until a symbol that an open form expects.
//!
//! Brackets and words that open and close within the skipped text belong to each other, so they close no form
//! outside of it: after the error in `( 1 + + [ ) ] )`, the first `)` is inside of `[`, and the second one
//! ends the parenthesis. An `if` is closed by `then` and then by `else`.
//!
//! ```
//! use eddy_syntax::skipped::Skipped;
//! let mut skipped = Skipped::new(|symbol| (symbol == "[").then_some("]"));
//! let outside: Vec<bool> = ["[", ")", "]", ")"].map(|symbol| skipped.is_outside(symbol)).to_vec();
//! assert_eq!(outside, [false, false, false, true]);
//! ```

/// The open brackets of skipped text.
pub struct Skipped {
    closer_of: fn(&str) -> Option<&'static str>,
    /// The symbols that close what the skipped text opened, innermost last.
    inside: Vec<&'static str>,
    unexpected: Vec<&'static str>,
}

impl Skipped {
    /// No text yet; `closer_of` returns the symbol that closes an opening one.
    pub fn new(closer_of: fn(&str) -> Option<&'static str>) -> Skipped {
        Skipped { closer_of, inside: Vec::new(), unexpected: Vec::new() }
    }

    /// Skips a symbol; returns whether an open form may expect it: it is outside of all brackets that the
    /// skipped text opened, and was not [found unexpected](Self::set_unexpected).
    pub fn is_outside(&mut self, symbol: &'static str) -> bool {
        if self.inside.last() == Some(&symbol) {
            self.inside.pop();
            if symbol == "then" {
                self.inside.push("else");
            }
            return false;
        }
        if let Some(closer) = (self.closer_of)(symbol) {
            self.inside.push(closer);
            return false;
        }
        self.inside.is_empty() && self.may_be_expected(symbol)
    }

    /// Whether the symbol was not [found unexpected](Self::set_unexpected).
    pub fn may_be_expected(&self, symbol: &'static str) -> bool {
        !self.unexpected.contains(&symbol)
    }

    /// No open form expects this symbol. That stays true, since no form changes while text is skipped; so the
    /// search for such a form takes place once per symbol.
    pub fn set_unexpected(&mut self, symbol: &'static str) {
        self.unexpected.push(symbol);
    }
}
