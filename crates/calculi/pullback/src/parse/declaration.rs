//! Declarations before the main expression, and the end of the file.

use eddy_syntax::Span;
use eddy_syntax::lex::TokenKind;

use super::{Frame, Head, Parser};
use crate::surface::{Declaration, DeclarationKind, Ident};

impl Parser<'_> {
    /// `program ::= { decl } [ expr [";"] ]`.
    pub(super) fn file(&mut self) {
        loop {
            match self.cursor.token().kind {
                TokenKind::End => return,
                TokenKind::Symbol("prim" | "type" | "assume" | "def") => self.declaration(),
                // An empty declaration is accepted.
                TokenKind::Symbol(";") if self.cursor.follows_unreadable() => {
                    self.cursor.advance();
                }
                _ if self.program.main.is_none() => self.expression(Frame::Main),
                _ => {
                    self.syntax_error("the end of the file");
                    self.cursor.help("declarations end with `;`, and one main expression follows them");
                    return;
                }
            }
        }
    }

    fn declaration(&mut self) {
        let keyword = self.cursor.advance();
        let start = keyword.span;
        let head_at = self.cursor.at;
        let read = match keyword.kind {
            TokenKind::Symbol("prim") => self.prim(start),
            TokenKind::Symbol("def") => self.def(start),
            kind => self.type_or_assume(start, kind == TokenKind::Symbol("type")),
        };
        if read.is_none() {
            self.skip_declaration(head_at);
        }
    }

    fn prim(&mut self, start: Span) -> Option<()> {
        let ident = self.ident("the name of a primitive")?;
        if !self.expect("(") {
            self.cursor.help("the parameters of a primitive stand in parentheses: `prim f(x, y) = x * y;`");
            return None;
        }
        let mut params = vec![self.ident("a parameter")?];
        while self.cursor.eat(",") {
            params.push(self.ident("a parameter")?);
        }
        if !self.expect(")") || !self.expect("=") {
            return None;
        }
        self.expression(Frame::Declaration(Head::Prim { start, ident, params }));
        Some(())
    }

    fn def(&mut self, start: Span) -> Option<()> {
        let ident = self.ident("the name of a definition")?;
        let mut binders = Vec::new();
        while !self.cursor.sees("=") && !self.cursor.sees(":") {
            if !self.starts_binder() {
                self.syntax_error("a parameter, `:` or `=`");
                return None;
            }
            binders.push(self.binder()?);
        }
        let result = if self.cursor.eat(":") { Some(self.written()?) } else { None };
        if !self.expect("=") {
            return None;
        }
        self.expression(Frame::Declaration(Head::Def { start, ident, binders, result }));
        Some(())
    }

    fn starts_binder(&self) -> bool {
        matches!(self.cursor.token().kind, TokenKind::Name | TokenKind::Symbol("(" | "<" | "["))
    }

    fn type_or_assume(&mut self, start: Span, is_type: bool) -> Option<()> {
        let what = if is_type { "the name of a type" } else { "the name of a free variable" };
        let ident = self.ident(what)?;
        if !self.expect(if is_type { "=" } else { ":" }) {
            return None;
        }
        let written = self.written()?;
        if !self.expect(";") {
            return None;
        }
        let kind = if is_type { DeclarationKind::Type(written) } else { DeclarationKind::Assume(written) };
        self.declare(ident, kind, start);
        Some(())
    }

    pub(super) fn declare(&mut self, ident: Ident, kind: DeclarationKind, start: Span) {
        let span = start.to(self.cursor.previous());
        self.program.declarations.push(Declaration { ident, kind, span });
    }
}
