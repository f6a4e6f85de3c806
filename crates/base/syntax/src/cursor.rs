//! The position of a parser in its tokens, and the errors that it has found.

use crate::lex::{LexError, Token, TokenKind};
use crate::{Code, Diagnostic, Diagnostics, Help, Label, SourceFile, Span};

/// The tokens of one text, and the position of its parser.
pub struct Cursor<'a> {
    /// The text.
    pub file: &'a SourceFile,
    /// Its tokens; the last one is [`TokenKind::End`].
    pub tokens: &'a [Token],
    /// The index of the next token.
    pub at: usize,
    /// The errors so far.
    pub diagnostics: Diagnostics,
    /// Positions of text that the lexer could not read, in order.
    unreadable: Vec<u32>,
    /// The token of the last reported error: one place is not reported twice.
    last_error: Option<usize>,
}

impl<'a> Cursor<'a> {
    /// At the first token. No error is reported next to text that the lexer could not read, since that is
    /// reported already.
    pub fn new(file: &'a SourceFile, tokens: &'a [Token], unreadable: &[LexError]) -> Self {
        let unreadable = unreadable.iter().map(|error| error.span().start).collect();
        Cursor { file, tokens, at: 0, diagnostics: Diagnostics::default(), unreadable, last_error: None }
    }

    /// The next token.
    pub fn token(&self) -> Token {
        self.tokens[self.at]
    }

    /// The token `n` places ahead.
    pub fn ahead(&self, n: usize) -> Token {
        self.tokens[(self.at + n).min(self.tokens.len() - 1)]
    }

    /// Whether the next token is this symbol.
    pub fn sees(&self, symbol: &'static str) -> bool {
        self.token().kind == TokenKind::Symbol(symbol)
    }

    /// The span of the token just read.
    pub fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// The span from `start` to the token just read.
    pub fn since(&self, start: Span) -> Span {
        if start.start < self.previous().end { start.to(self.previous()) } else { start }
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &'a str {
        self.file.slice(span)
    }

    /// Takes the next token.
    pub fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Takes this symbol if it is the next token.
    pub fn eat(&mut self, symbol: &'static str) -> bool {
        let seen = self.sees(symbol);
        if seen {
            self.advance();
        }
        seen
    }

    /// Whether the next token is a word of the language.
    pub fn sees_word(&self) -> bool {
        matches!(self.token().kind, TokenKind::Symbol(word) if word.starts_with(|c: char| c.is_ascii_alphabetic()))
    }

    /// Reports that something else was expected here; the message begins with `kind`.
    pub fn expected(&mut self, code: Code, kind: &str, expected: &str, cause: Option<(Span, &str)>) {
        let token = self.token();
        let found = match token.kind {
            TokenKind::End => "the end of the file".to_string(),
            _ => format!("`{}`", self.slice(token.span)),
        };
        let title = format!("{kind}: expected {expected}, found {found}");
        let mut diagnostic = Diagnostic::error(code, token.span, title).label(format!("expected {expected}"));
        if let Some((span, text)) = cause {
            diagnostic = diagnostic.cause(span, text);
        }
        self.report(diagnostic);
    }

    /// Adds an error at the next token. A second error at the same token is dropped, and so is one that
    /// follows from text that the lexer could not read.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if self.last_error.replace(self.at) != Some(self.at) && !self.follows_unreadable() {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Marks this place as reported, so that no error is added here.
    pub fn forgive(&mut self) {
        self.last_error = Some(self.at);
    }

    /// Forgets that this place was reported, because a new construct begins.
    pub fn forget(&mut self) {
        self.last_error = None;
    }

    /// Whether text that the lexer could not read, and reported, is right before the next token.
    pub fn follows_unreadable(&self) -> bool {
        let before = self.at.checked_sub(1).map_or(0, |last| self.tokens[last].span.end);
        let next = self.unreadable.partition_point(|start| *start < before);
        self.unreadable.get(next).is_some_and(|start| *start <= self.token().span.start)
    }

    /// Adds a hint to the error at the next token, unless that was dropped.
    pub fn help(&mut self, text: &str) {
        if let Some(last) = self.report_here() {
            last.help = Some(Help { text: text.to_string(), edit: None });
        }
    }

    /// Adds a cause to the error at the next token, unless that was dropped.
    pub fn cause(&mut self, span: Span, text: &str) {
        if let Some(last) = self.report_here() {
            last.causes.push(Label { span, text: text.to_string() });
        }
    }

    fn report_here(&mut self) -> Option<&mut Diagnostic> {
        let span = self.token().span;
        self.diagnostics.last_mut().filter(|last| last.primary.span == span)
    }
}
