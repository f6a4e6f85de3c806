//! Parsing of types: `R^2 -> (R * R)^*`.

use eddy_syntax::Span;
use eddy_syntax::lex::TokenKind;

use super::Parser;
use crate::surface::{Written, WrittenId};

/// The start of an unfinished type, whose last part is read next.
enum Waiting {
    Open(Span),
    Omega(Span),
    Product(WrittenId),
    Arrow(WrittenId),
}

impl Parser<'_> {
    /// `type ::= prodty [ "->" type ]`; the starts of unfinished types wait on a stack.
    pub(super) fn written(&mut self) -> Option<WrittenId> {
        let mut waiting: Vec<Waiting> = Vec::new();
        loop {
            let start = self.cursor.token().span;
            let mut ty = match self.cursor.token().kind {
                TokenKind::Symbol("(") => {
                    self.cursor.advance();
                    waiting.push(Waiting::Open(start));
                    continue;
                }
                TokenKind::Symbol("Omega") => {
                    self.cursor.advance();
                    waiting.push(Waiting::Omega(start));
                    continue;
                }
                TokenKind::Symbol("R") => {
                    self.cursor.advance();
                    self.tree().push_written(Written::Real, start)
                }
                TokenKind::Name => {
                    self.cursor.advance();
                    let name = self.names.intern(self.cursor.slice(start));
                    self.tree().push_written(Written::Name(name), start)
                }
                _ => {
                    self.syntax_error("a type");
                    self.cursor.help("types are `R`, products `R * R` or `R^2`, functions `R -> R`, duals `R^*` and `Omega R`");
                    return None;
                }
            };
            // Closes complete types; continues where another type begins.
            loop {
                ty = self.type_suffixes(ty)?;
                ty = self.close_tight(ty, &mut waiting);
                if self.cursor.eat("*") {
                    waiting.push(Waiting::Product(ty));
                    break;
                }
                if self.cursor.eat("->") {
                    waiting.push(Waiting::Arrow(ty));
                    break;
                }
                ty = self.close_arrows(ty, &mut waiting);
                let Some(Waiting::Open(open)) = waiting.pop() else { return Some(ty) };
                if !self.expect(")") {
                    return None;
                }
                ty = self.join_types(Written::Group(ty), open);
            }
        }
    }

    /// `{ "^" nat | "^*" }`.
    fn type_suffixes(&mut self, mut ty: WrittenId) -> Option<WrittenId> {
        loop {
            let start = self.tree().written_span(ty);
            if self.cursor.eat("^*") {
                ty = self.join_types(Written::Dual(ty), start);
            } else if self.cursor.eat("^") {
                let n = self.exponent(1)?;
                ty = self.join_types(Written::Power(ty, n), start);
            } else {
                return Some(ty);
            }
        }
    }

    /// `Omega t` and `t * u` are complete when `u` is.
    fn close_tight(&mut self, mut ty: WrittenId, waiting: &mut Vec<Waiting>) -> WrittenId {
        loop {
            ty = match waiting.pop() {
                Some(Waiting::Omega(start)) => self.join_types(Written::Omega(ty), start),
                Some(Waiting::Product(left)) => {
                    let start = self.tree().written_span(left);
                    self.join_types(Written::Product(left, ty), start)
                }
                other => {
                    waiting.extend(other);
                    return ty;
                }
            };
        }
    }

    fn close_arrows(&mut self, mut ty: WrittenId, waiting: &mut Vec<Waiting>) -> WrittenId {
        loop {
            match waiting.pop() {
                Some(Waiting::Arrow(left)) => {
                    let start = self.tree().written_span(left);
                    ty = self.join_types(Written::Arrow(left, ty), start);
                }
                other => {
                    waiting.extend(other);
                    return ty;
                }
            }
        }
    }

    fn join_types(&mut self, written: Written, start: Span) -> WrittenId {
        let span = start.to(self.cursor.previous());
        self.tree().push_written(written, span)
    }
}
