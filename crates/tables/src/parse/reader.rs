//! A stream of tokens and the mistakes that are found in it: what programs, values and intersection types are read from.

use eddy_syntax::lex::{Token, TokenKind};
use eddy_syntax::{Diagnostic, Diagnostics, Help, SourceFile, Span};

use crate::codes;
use crate::integer::Int;

/// The tokens of one text, and where the reader stands.
pub struct Reader<'a> {
    file: &'a SourceFile,
    tokens: &'a [Token],
    at: usize,
    /// The token at which the last syntax error was reported: the same place is not reported twice.
    last_error: Option<usize>,
    /// The mistakes so far.
    pub diagnostics: Diagnostics,
}

impl<'a> Reader<'a> {
    /// At the first token.
    pub fn new(file: &'a SourceFile, tokens: &'a [Token]) -> Self {
        Reader { file, tokens, at: 0, last_error: None, diagnostics: Diagnostics::default() }
    }

    /// The next token.
    pub fn token(&self) -> Token {
        self.tokens[self.at]
    }

    /// The token `n` places further.
    pub fn ahead(&self, n: usize) -> Token {
        self.tokens[(self.at + n).min(self.tokens.len() - 1)]
    }

    /// Whether the next token is this one.
    pub fn sees(&self, symbol: &'static str) -> bool {
        self.token().kind == TokenKind::Symbol(symbol)
    }

    /// The span of the token just read.
    pub fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &'a str {
        self.file.slice(span)
    }

    /// Reads a token.
    pub fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Reads this token if it is the next one.
    pub fn eat(&mut self, symbol: &'static str) -> bool {
        let seen = self.sees(symbol);
        if seen {
            self.advance();
        }
        seen
    }

    /// Reads this token, or reports that it is missing.
    pub fn expect(&mut self, symbol: &'static str) -> bool {
        let seen = self.eat(symbol);
        if !seen {
            self.syntax_error(&format!("`{symbol}`"));
        }
        seen
    }

    /// The place of a name that is free, or a report.
    pub fn name(&mut self, what: &str) -> Option<Span> {
        let token = self.token();
        if token.kind == TokenKind::Name {
            self.advance();
            return Some(token.span);
        }
        self.syntax_error(what);
        let is_word = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic());
        if matches!(token.kind, TokenKind::Symbol(word) if is_word(word)) {
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

    /// The literal that comes next.
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
            format!("parse error: `{text}` is no integer"),
        ));
        self.help("there are only integers, written with digits");
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

    /// Adds a mistake at the next token. A second complaint about the same token is dropped.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if self.last_error.replace(self.at) != Some(self.at) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// What is wrong here was said already.
    pub fn forgive(&mut self) {
        self.last_error = Some(self.at);
    }

    /// Adds a hint to the report about the next token, unless that was dropped.
    pub fn help(&mut self, text: &str) {
        let span = self.token().span;
        if let Some(last) = self.diagnostics.last_mut().filter(|last| last.primary.span == span) {
            last.help = Some(Help { text: text.to_string(), edit: None });
        }
    }

    /// Adds a cause to the report about the next token, unless that was dropped.
    pub fn cause(&mut self, span: Span, text: &str) {
        let at = self.token().span;
        if let Some(last) = self.diagnostics.last_mut().filter(|last| last.primary.span == at) {
            last.causes.push(eddy_syntax::Label { span, text: text.to_string() });
        }
    }
}
