//! Parsing of types: `(nat -> nat) -> D^2 nat`.

use eddy_syntax::Diagnostic;
use eddy_syntax::lex::TokenKind;

use super::Parser;
use crate::codes;
use crate::surface::Annotation;
use crate::types::{MAX_DEPTH, Type};

/// An unfinished type around the current one.
enum Waiting {
    /// `D^n`, for an atom.
    Deeper(u32),
    /// `(`, for a type and `)`.
    Paren,
    /// `A ->`, for a type.
    Arrow(Type),
}

impl Parser<'_> {
    /// `type = atype [ "->" type ]`, `atype = "nat" | "D" [ "^" INT ] atype | "(" type ")"`.
    pub(super) fn annotation(&mut self) -> Option<Annotation> {
        let start = self.cursor.token().span;
        let mut waiting = Vec::new();
        loop {
            let mut ty = match self.cursor.token().kind {
                TokenKind::Symbol("nat") => Type::NAT,
                TokenKind::Symbol("D") => {
                    self.cursor.advance();
                    let times = if self.cursor.eat("^") { self.small("how many times")? } else { 1 };
                    waiting.push(Waiting::Deeper(times));
                    continue;
                }
                TokenKind::Symbol("(") => {
                    self.cursor.advance();
                    waiting.push(Waiting::Paren);
                    continue;
                }
                _ => {
                    self.syntax_error("a type");
                    self.cursor.help("types are `nat`, `D nat` and functions such as `nat -> D^2 nat`");
                    return None;
                }
            };
            self.cursor.advance();
            // Closes the open forms around an atom, and the parentheses that follow.
            loop {
                while let Some(Waiting::Deeper(times)) = waiting.last() {
                    ty = self.deeper(ty, *times)?;
                    waiting.pop();
                }
                if self.cursor.eat("->") || self.cursor.eat("=>") {
                    waiting.push(Waiting::Arrow(ty));
                    break;
                }
                while let Some(Waiting::Arrow(from)) = waiting.last() {
                    ty = self.types.arrow(*from, ty);
                    waiting.pop();
                }
                if waiting.pop().is_none() {
                    return Some(Annotation { ty, span: start.to(self.cursor.previous()) });
                }
                // A parenthesis: its type is an atom for the enclosing form.
                if !self.expect(")") {
                    return None;
                }
            }
        }
    }

    fn deeper(&mut self, ty: Type, times: u32) -> Option<Type> {
        let deeper = ty.checked_deeper(times);
        if deeper.is_none() {
            let title = format!("numeral out of range: a type is at most {MAX_DEPTH} deep");
            self.cursor.diagnostics.push(Diagnostic::error(codes::SYNTAX, self.cursor.previous(), title));
            self.cursor.forgive();
        }
        deeper
    }
}
