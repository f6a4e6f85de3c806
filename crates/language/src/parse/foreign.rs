//! Syntax of other languages, and the messages that give Eddy's form.
//!
//! Eddy's ancestors (Lustre, Scade, Lucid) have `pre`, `->`, `let … tel`, `returns`; C and Python have `&&`,
//! `%`, `^`. None of these words is reserved: `pre` is a valid name of a stream, so a word is explained only
//! where a name makes no sense. [`super::foreign_operands`] covers expressions, [`super::foreign_statements`]
//! the places of equations and declarations.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Confidence, suggest};

use super::Parser;
use crate::tree::Scalar;

/// Eddy's operator for a symbol of other languages.
pub(super) fn operator(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "=" => "==",
        "&&" | "&" => "and",
        "||" | "|" => "or",
        "<>" | "!==" | "~=" | "/=" => "!=",
        "===" => "==",
        "%" => "mod",
        _ => return None,
    })
}

/// Eddy's type for a word of other languages, or for a common slip.
pub(super) fn scalar(word: &str) -> Option<Scalar> {
    match word {
        "real" | "float" | "double" | "f32" | "f64" | "float32" | "float64" | "number" => Some(Scalar::Num),
        "num" => Some(Scalar::Num),
        "int" => Some(Scalar::Int),
        "bool" => Some(Scalar::Bool),
        "integer" | "i32" | "i64" | "int32" | "int64" | "nat" => Some(Scalar::Int),
        "boolean" | "clock" => Some(Scalar::Bool),
        _ => {
            let word = suggest::nearest(word, Scalar::ALL.map(Scalar::word))?;
            Scalar::ALL.into_iter().find(|scalar| scalar.word() == word)
        }
    }
}

/// Whether a word is a prefix operator of Lustre.
pub(super) fn is_prefix_of_lustre(word: &str) -> bool {
    matches!(word, "pre" | "last" | "current")
}

impl Parser<'_> {
    /// Reports the next token if it is an operator of another language; it is then parsed as Eddy's operator.
    pub(super) fn complain_about_foreign_operator(&mut self) {
        let token = self.token();
        let TokenKind::Symbol(symbol) = token.kind else { return };
        let Some(meant) = operator(symbol) else { return };
        let (help, confidence) = match symbol {
            "=" => ("compare with `==`".to_string(), Confidence::Maybe),
            _ => (format!("write `{meant}`"), Confidence::Safe),
        };
        self.complain_and_guess(&format!("`{meant}`")).edit(help, token.span, meant, confidence);
    }

    /// Reports `!x` and `~x`.
    pub(super) fn complain_about_exclamation_mark(&mut self) {
        let span = self.token().span;
        self.complain_and_guess("`not`").edit("write `not`", span, "not ", Confidence::Safe);
    }

    /// Reports a word that is not a type; returns the type that was probably intended.
    pub(super) fn foreign_scalar(&mut self) -> Option<Scalar> {
        let token = self.token();
        let meant = if token.kind == TokenKind::Name { scalar(self.text()) } else { None };
        let complaint = self.complain("`num`, `int` or `bool`");
        if let Some(meant) = meant {
            let word = meant.word();
            complaint.edit(format!("the type is called `{word}`"), token.span, word, Confidence::Maybe);
        } else {
            complaint.help("types are `num`, `int` and `bool`, with a shape after them: `num [3]`");
        }
        if token.kind == TokenKind::Name {
            self.advance();
        }
        meant
    }

    /// Reads `returns` in place of `->`.
    pub(super) fn eats_returns(&mut self) -> bool {
        let span = self.token().span;
        if !self.sees_word("returns") {
            return false;
        }
        self.complain("`->`").edit("write `->`", span, "->", Confidence::Safe);
        self.advance();
        true
    }

    /// Reads `var x:int; let … tel` around the equations of Lustre, or `where` before those of Lucid, and
    /// reports these words unless `returns` was already reported (`is_known`).
    pub(super) fn eats_lustre_block(&mut self, is_known: bool) -> bool {
        if self.token().kind != TokenKind::Name {
            return false;
        }
        let next = self.peek(1);
        let (word, help) = match self.text() {
            "let" if matches!(next, TokenKind::Name | TokenKind::Symbol("(")) => {
                ("let", "the equations of a node follow its head, without `let` and `tel`")
            }
            "where" if next == TokenKind::Name => {
                ("where", "the equations of a node follow its head, without `where`")
            }
            "tel" if !matches!(next, TokenKind::Symbol("=" | ":=" | "==" | "," | ":" | "when")) => {
                ("tel", "a node ends where the next declaration starts, without `tel`")
            }
            "var" if next == TokenKind::Name => {
                ("var", "locals need no declaration; a type may be in their equation: `x:num = …;`")
            }
            _ => return false,
        };
        if self.explained.insert(word) && !is_known {
            self.complain("an equation").help(help);
            // The `tel` of a reported `let` is not reported again.
            self.explained.insert("tel");
        }
        self.advance();
        if word == "var" {
            self.skip_declarations();
        } else if word == "tel" && !self.eat(";") {
            self.eat(".");
        }
        true
    }

    /// Skips `x, y:int; z:bool;` after `var`.
    fn skip_declarations(&mut self) {
        loop {
            let is_end =
                |kind: &TokenKind| matches!(kind, TokenKind::Symbol(";" | "=" | "node") | TokenKind::End);
            let rest = self.tokens[self.at..].iter().map(|token| token.kind);
            let length = rest.take_while(|kind| !is_end(kind)).count();
            let is_declaration = self.peek(length) == TokenKind::Symbol(";");
            let names_something = self.token().kind == TokenKind::Name
                && matches!(self.peek(1), TokenKind::Symbol(":" | "," | ";"));
            if !is_declaration || !names_something {
                return;
            }
            self.at += length + 1;
        }
    }
}
