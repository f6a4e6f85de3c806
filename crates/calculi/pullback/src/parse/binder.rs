//! Patterns and binders.

use eddy_syntax::Span;

use super::{Bracket, Parser};
use crate::surface::{Binder, Pattern, PatternId};
use eddy_syntax::lex::TokenKind;

impl Parser<'_> {
    /// `pat` or `(pat : type)`.
    pub(super) fn binder(&mut self) -> Option<Binder> {
        let start = self.cursor.token().span;
        if !self.cursor.sees("(") {
            let pattern = self.pattern()?;
            return Some(Binder { pattern, written: None, span: start.to(self.cursor.previous()) });
        }
        self.cursor.advance();
        let first = self.pattern()?;
        if self.cursor.eat(":") {
            let written = self.written()?;
            if !self.expect(")") {
                return None;
            }
            return Some(Binder {
                pattern: first,
                written: Some(written),
                span: start.to(self.cursor.previous()),
            });
        }
        let open = Open { bracket: Bracket::Paren, start, items: vec![first] };
        let pattern = self.pattern_in(vec![open])?;
        Some(Binder { pattern, written: None, span: start.to(self.cursor.previous()) })
    }

    /// `id` or a tuple of patterns in brackets.
    fn pattern(&mut self) -> Option<PatternId> {
        self.pattern_in(Vec::new())
    }

    /// Continues inside open brackets.
    fn pattern_in(&mut self, mut open: Vec<Open>) -> Option<PatternId> {
        loop {
            // After the first item of a bracket, a comma or the closing bracket comes next.
            let has_items = open.last().is_some_and(|innermost| !innermost.items.is_empty());
            if has_items && !self.cursor.eat(",") {
                let Open { bracket, start, items } = open.pop().expect("a bracket with items is open");
                if !self.expect(bracket.close()) {
                    return None;
                }
                let pattern = self.close_pattern(start, items);
                match open.last_mut() {
                    None => return Some(pattern),
                    Some(outer) => outer.items.push(pattern),
                }
                continue;
            }
            let token = self.cursor.token();
            if let TokenKind::Symbol(symbol) = token.kind
                && let Some(bracket) = Bracket::of(symbol)
            {
                self.cursor.advance();
                open.push(Open { bracket, start: token.span, items: Vec::new() });
                continue;
            }
            let ident = self.ident("a name or a pattern")?;
            let pattern = self.tree().push_pattern(Pattern::Name(ident.name), ident.span);
            match open.last_mut() {
                None => return Some(pattern),
                Some(outer) => outer.items.push(pattern),
            }
        }
    }

    fn close_pattern(&mut self, start: Span, items: Vec<PatternId>) -> PatternId {
        match items[..] {
            [only] => only,
            _ => {
                let span = start.to(self.cursor.previous());
                self.tree().push_pattern(Pattern::Tuple(items), span)
            }
        }
    }
}

/// An open bracket and its items so far.
struct Open {
    bracket: Bracket,
    start: Span,
    items: Vec<PatternId>,
}
