//! Parsing of types: `real * real^2 * (unit * real)`.

use eddy_syntax::Diagnostic;
use eddy_syntax::lex::TokenKind;

use super::Parser;
use crate::codes;
use crate::surface::Annotation;
use crate::types::{Type, Types};

impl Parser<'_> {
    /// `type = tfactor { "*" tfactor }`, products nesting to the left. The factors on the left of each open
    /// parenthesis wait on a stack.
    pub(super) fn annotation(&mut self) -> Option<Annotation> {
        let start = self.cursor.token().span;
        let mut waiting: Vec<Option<Type>> = Vec::new();
        let mut left: Option<Type> = None;
        loop {
            let mut factor = match self.cursor.token().kind {
                TokenKind::Symbol("real") => Type::REAL,
                TokenKind::Symbol("unit") => Type::UNIT,
                TokenKind::Symbol("(") => {
                    self.cursor.advance();
                    waiting.push(left.take());
                    continue;
                }
                _ => {
                    self.syntax_error("a type");
                    self.cursor
                        .help("types are `real`, `unit` and products such as `real * real` or `real^3`");
                    return None;
                }
            };
            self.cursor.advance();
            // Closes all parentheses that end here.
            loop {
                factor = self.exponent(factor)?;
                let product = left.map_or(factor, |left| self.types.product(left, factor));
                if self.cursor.eat("*") {
                    left = Some(product);
                    break;
                }
                let Some(outer) = waiting.pop() else {
                    return Some(Annotation { ty: product, span: start.to(self.cursor.previous()) });
                };
                if !self.expect(")") {
                    return None;
                }
                (left, factor) = (outer, product);
            }
        }
    }

    /// `T^n`, the n-fold product.
    fn exponent(&mut self, factor: Type) -> Option<Type> {
        if !self.cursor.eat("^") {
            return Some(factor);
        }
        let span = self.cursor.token().span;
        let n = self.natural("the number of factors")?;
        if self.types.components(factor).saturating_mul(n) > Types::MAX_COMPONENTS {
            let title =
                format!("numeral out of range: a type has at most {} components", Types::MAX_COMPONENTS);
            self.cursor
                .diagnostics
                .push(Diagnostic::error(codes::OUT_OF_RANGE, span, title).label("too many factors"));
            return Some(Type::UNKNOWN);
        }
        let mut power = if n == 0 { Type::UNIT } else { factor };
        for _ in 1..n {
            power = self.types.product(power, factor);
        }
        Some(power)
    }
}
