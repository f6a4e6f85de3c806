//! Parsing between `let` and `=`, and of other small pieces without terms.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Diagnostic, Span};

use super::Parser;
use crate::codes;
use crate::surface::{Head, Ident, Item, Pattern, Recursion};

/// The largest integer literal: a float does not represent every integer above 2^53.
const MAX_INTEGER: u64 = 1 << 53;

pub(super) enum Definition {
    Value(Pattern),
    Function(Box<Head>),
}

impl Parser<'_> {
    /// Parses a `let` from the token after `let` up to its `=`, inclusive.
    pub(super) fn let_head(&mut self) -> Option<Definition> {
        if self.cursor.sees("(") || self.cursor.sees("<") {
            let (pattern, end) = self.pattern()?;
            // The lexer reads `>=` in `let <x>=1`; the parser splits it into `>` and `=`.
            let halved = self.cursor.sees(">=") && self.cursor.token().span.start < end.end;
            let seen = if halved { self.cursor.eat(">=") } else { self.expect("=") };
            return seen.then_some(Definition::Value(pattern));
        }
        let ident = self.ident("a name or a pattern")?;
        if self.cursor.sees("(") {
            return self.function_head(ident, Recursion::None);
        }
        let annotation = if self.cursor.eat(":") { Some(self.annotation()?) } else { None };
        let pattern = Pattern::Name(Item { ident, annotation });
        self.expect("=").then_some(Definition::Value(pattern))
    }

    /// Parses a `letrec` from the token after `letrec` up to its `=`, inclusive.
    pub(super) fn letrec_head(&mut self) -> Option<Definition> {
        let recursion = if self.cursor.eat("[") { self.recursion_limit()? } else { Recursion::Unlimited };
        let ident = self.ident("the name of a function")?;
        self.function_head(ident, recursion)
    }

    fn recursion_limit(&mut self) -> Option<Recursion> {
        let span = self.cursor.token().span;
        let n = self.natural("the limit of the recursion")?;
        let limit = u32::try_from(n).unwrap_or_else(|_| {
            let title = "numeral out of range: a limit is below 2^32";
            self.cursor.diagnostics.push(Diagnostic::error(codes::OUT_OF_RANGE, span, title));
            0
        });
        self.expect("]").then_some(Recursion::Limited(limit))
    }

    fn function_head(&mut self, ident: Ident, recursion: Recursion) -> Option<Definition> {
        let open = self.cursor.token().span;
        if !self.expect("(") {
            return None;
        }
        let mut params = Vec::new();
        if !self.cursor.sees(")") {
            loop {
                let ident = self.ident("a parameter")?;
                if !self.expect(":") {
                    self.cursor.help("each parameter has its type: `f(x:real, y:real):real`");
                    return None;
                }
                let annotation = Some(self.annotation()?);
                params.push(Item { ident, annotation });
                if !self.cursor.eat(",") {
                    break;
                }
            }
        }
        if !self.expect(")") {
            return None;
        }
        let params_span = open.to(self.cursor.previous());
        if !self.expect(":") {
            self.cursor.help("a function states the type of its result: `f(x:real):real = …`");
            return None;
        }
        let result = self.annotation()?;
        let head = Head { recursion, ident, params, params_span, result };
        self.expect("=").then(|| Definition::Function(Box::new(head)))
    }

    /// A tuple pattern and its span.
    fn pattern(&mut self) -> Option<(Pattern, Span)> {
        let open = self.cursor.advance();
        let close = if open.kind == TokenKind::Symbol("(") { ")" } else { ">" };
        let mut items = Vec::new();
        if !self.cursor.sees(close) {
            loop {
                let ident = self.ident("a name")?;
                let annotation = if self.cursor.eat(":") { Some(self.annotation()?) } else { None };
                items.push(Item { ident, annotation });
                if !self.cursor.eat(",") {
                    break;
                }
            }
        }
        let end = if close == ">" && self.cursor.sees(">=") {
            Span::new(self.cursor.token().span.start, self.cursor.token().span.start + 1)
        } else if self.expect(close) {
            self.cursor.previous()
        } else {
            return None;
        };
        let span = open.span.to(end);
        Some((Pattern::Tuple(items, span), span))
    }

    /// A numeral without point or exponent.
    pub(super) fn natural(&mut self, what: &str) -> Option<u64> {
        let token = self.cursor.token();
        let text = self.cursor.slice(token.span);
        if token.kind != TokenKind::Number || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.syntax_error(what);
            return None;
        }
        self.cursor.advance();
        match text.parse::<u64>() {
            Ok(n) if n <= MAX_INTEGER => Some(n),
            _ => {
                let title = "numeral out of range: an integer here is at most 2^53";
                self.cursor.diagnostics.push(Diagnostic::error(codes::OUT_OF_RANGE, token.span, title));
                Some(0)
            }
        }
    }

    /// `["-"] nat`.
    pub(super) fn integer(&mut self, what: &str) -> Option<i64> {
        let negative = self.cursor.eat("-");
        let magnitude = i64::try_from(self.natural(what)?).expect("at most 2^53");
        Some(if negative { -magnitude } else { magnitude })
    }
}
