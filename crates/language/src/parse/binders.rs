//! Decides whether a bracket contains binders: `[i < n: e]` or a list, `sum(i < n: e)` or a call.
//!
//! The grammar tries binders first, up to the `:`. Doing so with the parser would parse nested brackets twice
//! at each level, so this looks at the tokens: the first binder has the form `i <` or `… <= i <`, and a `:`
//! follows outside of inner brackets. Inner brackets are skipped in one step, so that all brackets together
//! take one pass.

use eddy_syntax::lex::{Token, TokenKind};

use super::Parser;

/// For each opening bracket the index of its closing bracket, or of the end of the text if it has none; zero
/// for other tokens.
pub(super) fn matching(tokens: &[Token]) -> Vec<u32> {
    let mut closing = vec![0; tokens.len()];
    let mut open = Vec::new();
    let end = index(tokens.len() - 1);
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Symbol("(" | "[" | "{") => open.push(at),
            TokenKind::Symbol(")" | "]" | "}") => {
                if let Some(opening) = open.pop() {
                    closing[opening] = index(at);
                }
            }
            _ => {}
        }
    }
    for opening in open {
        closing[opening] = end;
    }
    closing
}

fn index(at: usize) -> u32 {
    u32::try_from(at).expect("a source file is at most 64 MiB")
}

impl Parser<'_> {
    /// Whether the bracket at this token contains binders and a `:`.
    pub(super) fn has_binders(&self, open: usize) -> bool {
        let close = self.closing[open] as usize;
        let Some(rest) = self.after_first_binder(open + 1, close) else { return false };
        let mut at = rest;
        while at < close {
            match self.tokens[at].kind {
                TokenKind::Symbol(":") => return true,
                // The `:` of a written type belongs to a `let` or a lambda.
                TokenKind::Symbol("\\") => at = self.find(at, close, "."),
                TokenKind::Name if self.file.slice(self.tokens[at].span) == "let" => {
                    at = self.find(at, close, "=");
                }
                _ => {}
            }
            at = self.next_outside(at);
        }
        false
    }

    /// The position after the `<` of the first binder, if there is one.
    fn after_first_binder(&self, first: usize, close: usize) -> Option<usize> {
        let kind = |at: usize| self.tokens.get(at).map_or(TokenKind::End, |token| token.kind);
        let is_index = |at: usize| kind(at) == TokenKind::Name && kind(at + 1) == TokenKind::Symbol("<");
        if is_index(first) {
            return Some(first + 2);
        }
        let mut at = first;
        while at < close {
            match kind(at) {
                TokenKind::Symbol("<=") => return is_index(at + 1).then_some(at + 3),
                // None of these occurs in a bound outside of brackets.
                TokenKind::Symbol("," | ":" | "if" | "<" | "=" | "\\") => return None,
                _ => at = self.next_outside(at),
            }
        }
        None
    }

    /// The position of a symbol outside of inner brackets, or `close`.
    fn find(&self, from: usize, close: usize, symbol: &'static str) -> usize {
        let mut at = from;
        while at < close && self.tokens[at].kind != TokenKind::Symbol(symbol) {
            at = self.next_outside(at);
        }
        at
    }

    /// The next token; if a bracket opens here, the token after it.
    pub(super) fn next_outside(&self, at: usize) -> usize {
        1 + at.max(self.closing.get(at).map_or(0, |closing| *closing as usize))
    }
}
