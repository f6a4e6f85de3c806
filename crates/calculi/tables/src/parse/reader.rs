//! A stream of tokens and its errors: the input of the parsers of programs, values and intersection types.

use std::ops::{Deref, DerefMut};

use eddy_syntax::cursor::Cursor;
use eddy_syntax::lex::{Token, TokenKind};
use eddy_syntax::{Diagnostic, SourceFile, Span};

use crate::codes;
use crate::integer::Int;

/// A cursor that reads integers and names, and reports errors of these languages.
pub struct Reader<'a>(pub Cursor<'a>);

impl<'a> Deref for Reader<'a> {
    type Target = Cursor<'a>;

    fn deref(&self) -> &Cursor<'a> {
        &self.0
    }
}

impl DerefMut for Reader<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'a> Reader<'a> {
    pub fn new(file: &'a SourceFile, tokens: &'a [Token]) -> Self {
        Reader(Cursor::new(file, tokens, &[]))
    }

    /// Reads this token, or reports that it is missing.
    pub fn expect(&mut self, symbol: &'static str) -> bool {
        let seen = self.eat(symbol);
        if !seen {
            self.syntax_error(&format!("`{symbol}`"));
        }
        seen
    }

    /// The place of a name that can be bound; otherwise reports an error.
    pub fn name(&mut self, what: &str) -> Option<Span> {
        let token = self.token();
        if token.kind == TokenKind::Name {
            self.advance();
            return Some(token.span);
        }
        self.syntax_error(what);
        if self.sees_word() {
            let text = self.slice(token.span);
            self.help(&format!("`{text}` is reserved; choose another name, for instance `{text}'`"));
        }
        None
    }

    /// Whether a literal comes next: a number, or a minus directly in front of one.
    pub fn sees_literal(&self) -> bool {
        let (token, next) = (self.token(), self.ahead(1));
        token.kind == TokenKind::Number
            || token.kind == TokenKind::Symbol("-")
                && next.kind == TokenKind::Number
                && next.span.start == token.span.end
    }

    /// The next literal.
    pub fn literal(&mut self) -> Option<Int> {
        let is_negative = self.eat("-");
        let digits = self.digits()?;
        Some(if is_negative { -digits } else { digits })
    }

    /// A number, which must be an integer.
    pub fn digits(&mut self) -> Option<Int> {
        let token = self.token();
        let text = self.slice(token.span);
        if let Ok(number) = text.parse::<Int>() {
            self.advance();
            return Some(number);
        }
        self.report(Diagnostic::error(
            codes::SYNTAX,
            token.span,
            format!("parse error: `{text}` is not an integer"),
        ));
        self.help("numbers are integers, written with digits");
        self.advance();
        None
    }

    /// Reports that something else was expected here.
    pub fn syntax_error(&mut self, expected: &str) {
        let token = self.token();
        let found = match token.kind {
            TokenKind::End => "the end of the text".to_string(),
            _ => format!("`{}`", self.slice(token.span)),
        };
        let title = format!("parse error: expected {expected}, found {found}");
        let diagnostic = Diagnostic::error(codes::SYNTAX, token.span, title);
        self.report(diagnostic.label(format!("expected {expected}")));
    }
}
