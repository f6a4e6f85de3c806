//! Records, fields and `match` in nodes: how they begin.

use eddy_syntax::lex::TokenKind;

use super::{Grammar, Parser, State};
use crate::tree::{ExprId, Form};

impl Parser<'_> {
    /// Whether `match` is a keyword here and not the name of a stream: a keyword is followed by a name, by a
    /// number, or by a blank and a bracket.
    pub(super) fn begins_match(&self) -> bool {
        self.grammar == Grammar::Streams
            && self.sees_word("match")
            && match self.peek(1) {
                TokenKind::Name | TokenKind::Number => true,
                TokenKind::Symbol("(" | "[") => !self.is_glued_ahead(1),
                _ => false,
            }
    }

    /// Whether a brace in a node contains a record: `{x = e}` or `{r with x = e}`.
    pub(super) fn begins_record(&self) -> bool {
        if self.grammar != Grammar::Streams {
            return false;
        }
        let begins_field = |at: usize| {
            let kind = |at: usize| self.tokens.get(at).map_or(TokenKind::End, |token| token.kind);
            kind(at) == TokenKind::Name && kind(at + 1) == TokenKind::Symbol("=")
        };
        let close = self.closing[self.at] as usize;
        let mut at = self.at + 1;
        if begins_field(at) {
            return true;
        }
        while at < close {
            let token = self.tokens[at];
            if token.kind == TokenKind::Name && self.file.slice(token.span) == "with" && begins_field(at + 1)
            {
                return true;
            }
            if matches!(token.kind, TokenKind::Symbol(";" | ":")) {
                return false;
            }
            at = self.next_outside(at);
        }
        false
    }

    /// Reads `r.x` in a node; `None` for `x.f(…)`, a call in other languages, and for `5.e`, a malformed
    /// number.
    pub(super) fn field_of_stream(&mut self, value: ExprId) -> Option<State> {
        let is_field = self.sees(".")
            && self.is_glued()
            && self.peek(1) == TokenKind::Name
            && self.is_glued_ahead(1)
            && !(self.peek(2) == TokenKind::Symbol("(") && self.is_glued_ahead(2))
            && self.previous().kind != TokenKind::Number;
        if !is_field {
            return None;
        }
        let at = self.advance().span;
        let ident = self.ident_here();
        Some(self.finish_postfix(Form::Field(ident), value, at))
    }
}
