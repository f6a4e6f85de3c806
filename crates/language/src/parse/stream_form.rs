//! Forms in nodes: how records, fields and `match` begin; indices, and sampling by constructors.

use eddy_syntax::Span;
use eddy_syntax::lex::TokenKind;

use super::form::{OpenForm, Waits};
use super::frame::Frame;
use super::{Grammar, Parser, State, Tightness};
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

    /// `x[` in a node.
    pub(super) fn index_in_node(&mut self, value: ExprId) -> State {
        let open = self.advance().span;
        if !self.sees_dots() {
            return self.wait(Frame::Index { value, open });
        }
        let place = Box::new(self.place(value, open));
        self.index(place)
    }

    /// After the first of several indices of a node, or the lower bound of a range.
    pub(super) fn further_indices(&mut self, value: ExprId, open: Span, first: ExprId) -> State {
        let place = Box::new(self.place(value, open));
        self.resume_form(place, first)
    }

    /// The branches of `merge s { a: e, b: e }`, whose condition is the last item; the brace is next.
    pub(super) fn branches(&mut self, at: Span, base: usize) -> State {
        self.advance();
        let form = Form::Merge(Vec::new());
        self.alternative(Box::new(OpenForm { form, start: at, at, base, waits: Waits::Alternative }))
    }

    /// Whether `reset` is a keyword here: before a call. As the condition of a `merge` it is the name of a
    /// stream, unless `every` follows the call.
    pub(super) fn begins_reset(&self) -> bool {
        let is_before_call = self.grammar == Grammar::Streams
            && self.sees_word("reset")
            && self.peek(1) == TokenKind::Name
            && self.peek(2) == TokenKind::Symbol("(")
            && self.is_glued_ahead(2);
        is_before_call && {
            let every = self.closing[self.at + 2] as usize + 1;
            let is_in_merge = matches!(self.frames.last(), Some(Frame::Merge { .. }));
            !is_in_merge || self.tokens.get(every).is_some_and(|token| self.file.slice(token.span) == "every")
        }
    }

    /// `reset f(x) every c`.
    pub(super) fn reset(&mut self) -> State {
        let at = self.advance().span;
        let callee = self.ident_here();
        self.frames.push(Frame::Reset { at });
        self.arguments(callee)
    }

    /// `every` after the call of a `reset`.
    pub(super) fn every(&mut self, at: Span, call: ExprId) -> State {
        if !self.eat_word("every") {
            self.complain_after_operand("`every`", call);
            return State::Failed;
        }
        self.frames.pop();
        self.wait(Frame::Every { at, call })
    }

    /// Completes `reset f(x) every c`.
    pub(super) fn finish_reset(&mut self, at: Span, call: ExprId, condition: ExprId) -> State {
        let base = self.items.len();
        self.items.extend([call, condition]);
        let open = OpenForm { form: Form::Reset, start: at, at, base, waits: Waits::Body };
        self.finish_form(open, Tightness::Loose)
    }

    /// `is a` after `x when s`.
    pub(super) fn constructor(&mut self, value: ExprId, condition: ExprId, at: Span) -> State {
        self.advance();
        let ident = self.ident_here();
        let (start, base) = (self.exprs().span(value), self.items.len());
        self.items.extend([value, condition]);
        let form = Form::WhenIs(ident);
        self.finish_form(OpenForm { form, start, at, base, waits: Waits::Body }, Tightness::Sampled)
    }
}
