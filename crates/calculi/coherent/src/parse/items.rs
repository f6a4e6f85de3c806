//! Pragmas and definitions, which precede the term of a program.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::{Frame, Parser};
use crate::codes;
use crate::names::Name;
use crate::surface::{Definition, Limit, Pragma};

impl Parser<'_> {
    /// `{ pragma | def }`.
    pub(super) fn items(&mut self) -> (Vec<Pragma>, Vec<Definition>) {
        let (mut pragmas, mut definitions) = (Vec::new(), Vec::new());
        let mut defined: FxHashMap<Name, Span> = FxHashMap::default();
        loop {
            if self.cursor.sees("pragma") {
                match self.pragma() {
                    Some(pragma) => pragmas.push(pragma),
                    None => self.skip_item(),
                }
            } else if self.cursor.sees("def") {
                let Some(definition) = self.definition() else {
                    self.skip_item();
                    continue;
                };
                let ident = definition.ident;
                if let Some(first) = defined.insert(ident.name, ident.span) {
                    let title = format!("`{}` is defined twice", self.names.text(ident.name));
                    let diagnostic = Diagnostic::error(codes::SYNTAX, ident.span, title)
                        .label("defined again here")
                        .cause(first, "first defined here")
                        .help("give one of them another name");
                    self.cursor.diagnostics.push(diagnostic);
                }
                definitions.push(definition);
            } else {
                return (pragmas, definitions);
            }
        }
    }

    /// `pragma fuel N;`.
    fn pragma(&mut self) -> Option<Pragma> {
        let start = self.cursor.advance().span;
        let token = self.cursor.token();
        let limit = match (token.kind, self.cursor.slice(token.span)) {
            (TokenKind::Name, "fuel") => Limit::Fuel,
            (TokenKind::Name, "coins") => Limit::Coins,
            _ => {
                self.syntax_error("`fuel` or `coins`");
                return None;
            }
        };
        self.cursor.advance();
        let value = self.natural("how much")?;
        self.expect(";").then(|| Pragma { limit, value, span: start.to(self.cursor.previous()) })
    }

    /// `def x : A = M;`.
    fn definition(&mut self) -> Option<Definition> {
        let start = self.cursor.advance().span;
        let ident = self.ident("the name of a definition")?;
        let annotation = if self.cursor.eat(":") { Some(self.annotation()?) } else { None };
        if !self.expect("=") {
            return None;
        }
        let term = self.term(Frame::Definition { start });
        Some(Definition { ident, annotation, term, span: start.to(self.cursor.previous()) })
    }

    /// Skips an unreadable item up to and including its semicolon.
    fn skip_item(&mut self) {
        while !matches!(self.cursor.token().kind, TokenKind::End | TokenKind::Symbol(";" | "def" | "pragma"))
        {
            self.cursor.advance();
        }
        self.cursor.eat(";");
        self.cursor.forget();
    }
}
