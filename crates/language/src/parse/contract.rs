//! `assert e "message";`, `assume e "message";` and `probe x, y;` in nodes and states.

use eddy_syntax::lex::TokenKind;

use super::Parser;
use super::recover::Place;
use crate::tree::{Contract, Probe};

impl Parser<'_> {
    /// Whether a contract begins here, and not the equation of a stream with this name.
    pub(super) fn begins_contract(&self) -> bool {
        (self.sees_word("assert") || self.sees_word("assume")) && !self.is_equation_ahead()
    }

    /// Whether a probe begins here.
    pub(super) fn begins_probe(&self) -> bool {
        self.sees_word("probe") && !self.is_equation_ahead()
    }

    fn is_equation_ahead(&self) -> bool {
        matches!(self.peek(1), TokenKind::Symbol("=" | ":" | "," | ":=" | "=="))
    }

    /// A contract; `number` counts those before it.
    pub(super) fn contract(&mut self, number: usize) -> Contract {
        let word = self.advance().span;
        let is_assumption = self.file.slice(word) == "assume";
        let stream = self.names.intern(&format!("{}:{}", self.file.slice(word), number + 1));
        let Some(condition) = self.expression() else {
            let condition = self.error_expr();
            self.skip(Place::Node);
            let text = String::new();
            return Contract { is_assumption, condition, stream, text, word, span: self.since(word) };
        };
        let mut text = self.file.slice(self.exprs().span(condition)).to_string();
        if self.token().kind == TokenKind::String {
            let message = self.text();
            if message.len() < 2 || !message.ends_with('"') {
                self.complain("a message with `\"` at its end");
            }
            self.advance();
            text = message.trim_matches('"').to_string();
            self.end_of_item();
        } else {
            self.end_of_line(Some(condition), Place::Node);
        }
        Contract { is_assumption, condition, stream, text, word, span: self.since(word) }
    }

    fn end_of_item(&mut self) {
        if !self.eat(";") {
            self.complain("`;`");
            self.skip(Place::Node);
        }
    }

    pub(super) fn probe(&mut self) -> Option<Probe> {
        let word = self.advance().span;
        let mut idents = Vec::new();
        loop {
            let Some(ident) = self.ident("the name of a stream") else {
                self.skip(Place::Node);
                return None;
            };
            idents.push(ident);
            if !self.eat(",") {
                break;
            }
        }
        self.end_of_item();
        Some(Probe { idents, span: self.since(word) })
    }
}
