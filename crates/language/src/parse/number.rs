//! The values of numerals.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Diagnostic, Span};

use super::Parser;
use crate::codes;
use crate::tree::NumberValue;

impl Parser<'_> {
    /// The value of a numeral, negated if `is_negative`; `None` if it does not fit 64 bits, which is
    /// reported.
    pub(super) fn number_value(&mut self, span: Span, is_negative: bool) -> Option<NumberValue> {
        let text = self.file.slice(span);
        if !is_integer(text) {
            let value: f64 = text.parse().expect("the lexer reads only numbers that Rust reads");
            if value.is_finite() {
                return Some(NumberValue::Num(if is_negative { -value } else { value }));
            }
            let title = "number out of range: expected a finite number";
            let diagnostic = Diagnostic::error(codes::OUT_OF_RANGE, span, title)
                .label("too large")
                .reason(format!("a `num` is a 64-bit floating-point number, up to {:e}", f64::MAX));
            self.diagnostics.push(diagnostic);
            return None;
        }
        // The smallest integer has no positive counterpart, so the sign is read with the digits.
        let magnitude: Option<i128> = text.parse().ok();
        let value = magnitude.and_then(|n| i64::try_from(if is_negative { -n } else { n }).ok());
        if value.is_none() {
            let title = "number out of range: expected an integer of 64 bits";
            let diagnostic = Diagnostic::error(codes::OUT_OF_RANGE, span, title)
                .label("too large")
                .reason(format!("an integer is at most {}", i64::MAX))
                .help("write a `num` with a point or an exponent, for instance `1e20`");
            self.diagnostics.push(diagnostic);
        }
        value.map(NumberValue::Int)
    }

    /// Whether a numeral fits an integer only if a minus precedes it.
    ///
    /// Decision: in `-9223372036854775808` the numeral alone already has the value of the smallest integer,
    /// and the minus before it changes nothing ([`crate::static_value`]). So the tree has the same form as
    /// for all other numbers.
    pub(super) fn is_magnitude_of_smallest(&self, span: Span) -> bool {
        let text = self.file.slice(span);
        is_integer(text) && text.parse() == Ok(i64::MIN.unsigned_abs())
    }

    /// Reads `INT`. Reports a value that is out of range, and returns the largest value in its place.
    pub(super) fn natural(&mut self, what: &str) -> Option<u64> {
        let token = self.token();
        let text = self.file.slice(token.span);
        if token.kind != TokenKind::Number || !is_integer(text) {
            let help = match text {
                "-" => Some("it cannot be negative"),
                _ if token.kind == TokenKind::Number => Some("it is written with digits only"),
                _ => None,
            };
            let complaint = self.complain(what);
            if let Some(help) = help {
                complaint.help(help);
            }
            return None;
        }
        self.advance();
        let value = text.parse().ok();
        if value.is_none() {
            let title = format!("number out of range: expected {what} below 2^64");
            self.diagnostics
                .push(Diagnostic::error(codes::OUT_OF_RANGE, token.span, title).label("too large"));
        }
        Some(value.unwrap_or(u64::MAX))
    }
}

fn is_integer(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}
