//! Numerals, depths and probabilities.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use eddy_syntax::Diagnostic;
use eddy_syntax::lex::{Token, TokenKind};

use super::{Parser, State};
use crate::codes;
use crate::surface::ExprKind;
use crate::types::MAX_DEPTH;

/// The maximal exponent of a probability; larger ones are not meaningful and slow to compute.
const MAX_EXPONENT: i64 = 1000;

impl Parser<'_> {
    /// A numeral as a term.
    pub(super) fn numeral(&mut self) -> State {
        let start = self.cursor.token().span;
        match self.natural("a natural number") {
            Some(n) => State::Have(self.push(ExprKind::Number(n), start)),
            None => {
                // Accepted as a number after the error.
                self.cursor.advance();
                State::Have(self.push(ExprKind::Error, start))
            }
        }
    }

    /// A numeral without point or exponent.
    pub(super) fn natural(&mut self, what: &str) -> Option<u64> {
        let token = self.cursor.token();
        let text = self.cursor.slice(token.span);
        if token.kind != TokenKind::Number || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.syntax_error(what);
            return None;
        }
        let Ok(n) = text.parse::<u64>() else {
            self.out_of_range(token, "a numeral is at most 2^64 - 1");
            return None;
        };
        self.cursor.advance();
        Some(n)
    }

    /// A natural number that counts levels.
    pub(super) fn small(&mut self, what: &str) -> Option<u32> {
        let token = self.cursor.token();
        let n = self.natural(what)?;
        let small = u32::try_from(n).ok().filter(|n| *n <= MAX_DEPTH);
        if small.is_none() {
            self.out_of_range(token, &format!("a depth is at most {MAX_DEPTH}"));
        }
        small
    }

    /// `[ "^" INT ]`, by default 0.
    pub(super) fn depth(&mut self) -> Option<u32> {
        if self.cursor.eat("^") { self.small("a depth") } else { Some(0) }
    }

    fn out_of_range(&mut self, token: Token, why: &str) {
        self.cursor.forgive();
        let diagnostic = Diagnostic::error(codes::SYNTAX, token.span, format!("numeral out of range: {why}"));
        self.cursor.diagnostics.push(diagnostic.label("too large"));
    }

    /// `NUMBER [ "/" INT ]`, exactly. A number that is not a probability is reported and read as 1.
    pub(super) fn probability(&mut self) -> Option<RBig> {
        let first = self.cursor.token();
        if first.kind != TokenKind::Number {
            self.syntax_error("a probability");
            self.cursor.help("a probability is a number from 0 to 1, such as `1/3` or `0.25`");
            return None;
        }
        self.cursor.advance();
        let numerator = decimal(self.cursor.slice(first.span));
        let mut denominator = UBig::ONE;
        let mut span = first.span;
        if self.cursor.eat("/") {
            let token = self.cursor.token();
            let text = self.cursor.slice(token.span);
            if token.kind != TokenKind::Number || !text.bytes().all(|byte| byte.is_ascii_digit()) {
                self.syntax_error("a natural number");
                return None;
            }
            self.cursor.advance();
            denominator = text.parse().expect("digits are a natural number");
            span = span.to(token.span);
        }
        let problem = match numerator {
            None => "its exponent is too large",
            Some(_) if denominator == UBig::ZERO => "its denominator is zero",
            Some(numerator) => {
                let probability = numerator / RBig::from(denominator);
                if probability <= RBig::ONE {
                    return Some(probability);
                }
                "it is above 1"
            }
        };
        let title = format!("`{}` is not a probability: {problem}", self.cursor.slice(span));
        let diagnostic = Diagnostic::error(codes::PROBABILITY, span, title)
            .label("expected a number from 0 to 1")
            .help("a coin shows 0 with this probability, for instance `coin(1/3)`");
        self.cursor.diagnostics.push(diagnostic);
        Some(RBig::ONE)
    }
}

/// A decimal literal as an exact rational; `None` if its exponent is too large.
fn decimal(text: &str) -> Option<RBig> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: UBig = format!("{whole}{fraction}").parse().expect("the lexer found digits");
    let exponent: i64 = exponent.parse().ok()?;
    let scale = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    if exponent.abs() > MAX_EXPONENT {
        return None;
    }
    let power = UBig::from(10_u8).pow(usize::try_from(scale.unsigned_abs()).ok()?);
    Some(if scale < 0 { RBig::from_parts(IBig::from(digits), power) } else { RBig::from(digits * power) })
}
