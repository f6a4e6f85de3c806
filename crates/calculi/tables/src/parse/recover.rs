//! Syntax errors: reports what was expected, and finds a token to continue at.

use eddy_syntax::Span;
use eddy_syntax::lex::TokenKind;
use eddy_syntax::skipped::Skipped;

use super::{Frame, Parser, State};
use crate::dialect::Dialect;

impl Parser<'_> {
    /// Reports a token that cannot follow the expression, with what the innermost open form expects.
    pub(super) fn unexpected_after(&mut self) -> State {
        let waits = match self.frames.last() {
            Some(Frame::Bracket { close: "⟩", .. }) => "`,` or `⟩`",
            Some(Frame::Bracket { .. }) => "`)`",
            Some(Frame::LetBound { .. }) => "`in`",
            Some(Frame::IfCondition { .. }) => "`then`",
            Some(Frame::IfThen { .. }) => "`else`",
            _ => "an operator, an argument or the end of the program",
        };
        self.reader.syntax_error(waits);
        let help = match self.reader.token().kind {
            TokenKind::Symbol(";" | ":=" | "," | "!" | "⟨") if self.dialect != Dialect::References => {
                "references, pairs and `;` are only in `.ref` files"
            }
            TokenKind::Symbol("[") if self.dialect != Dialect::SystemF => {
                "types are applied only in `.sysf` files"
            }
            TokenKind::Symbol("->") if self.dialect == Dialect::Lambda => "a function is written `\\x. …`",
            TokenKind::Symbol("->") => "a function is written `\\x:int. …`",
            TokenKind::Symbol("in") if self.starts_with_letrec() => self.dialect.recursion(),
            TokenKind::Symbol("ref" | "fst" | "snd" | "\\" | "/\\" | "fix" | "let" | "if") => {
                "put an argument of this form in parentheses"
            }
            _ => "",
        };
        if !help.is_empty() {
            self.reader.help(help);
        }
        if let Some((span, text)) = self.innermost_opening() {
            self.reader.cause(span, text);
        }
        self.recover()
    }

    /// Whether the program starts with `letrec`, which is a name here.
    fn starts_with_letrec(&self) -> bool {
        self.reader.tokens.first().is_some_and(|token| self.reader.slice(token.span) == "letrec")
    }

    /// Where the innermost unfinished bracket or keyword was opened, for the message.
    fn innermost_opening(&self) -> Option<(Span, &'static str)> {
        let frame = self.frames.iter().rev().find(|frame| !closers(frame).is_empty())?;
        Some(match frame {
            Frame::Bracket { open, .. } => (*open, "this bracket is open"),
            Frame::LetBound { start, .. } => (*start, "this `let` waits for its `in`"),
            Frame::IfCondition { start } => (*start, "this `if` waits for its `then`"),
            Frame::IfThen { start, .. } => (*start, "this `if` waits for its `else`"),
            _ => return None,
        })
    }

    /// Skips to the next token that an open form expects, closes the forms inside that form, and continues as
    /// if its part had been read. Words and brackets that open and close within the skipped text are not
    /// counted.
    pub(super) fn recover(&mut self) -> State {
        let mut skipped = Skipped::new(closer_of);
        // Only the dialect with pairs expects a comma.
        if self.dialect != Dialect::References {
            skipped.set_unexpected(",");
        }
        loop {
            match self.reader.token().kind {
                TokenKind::End => {
                    self.drop_frames(1);
                    self.reader.forgive();
                    return State::HaveExpr(self.error_node());
                }
                TokenKind::Symbol(symbol) if skipped.is_outside(symbol) => {
                    if self.close_up_to(symbol) {
                        self.reader.forgive();
                        return State::HaveExpr(self.error_node());
                    }
                    skipped.set_unexpected(symbol);
                }
                _ => {}
            }
            self.reader.advance();
        }
    }

    /// As [`Parser::recover`], after unreadable variables of a λ: its body follows the point.
    pub(super) fn recover_to_body(&mut self) -> State {
        let mut ahead = 0;
        while let TokenKind::Name
        | TokenKind::Number
        | TokenKind::Symbol("int" | "ref" | "->" | ":" | "*" | "(" | ")" | ",") =
            self.reader.ahead(ahead).kind
        {
            ahead += 1;
        }
        if self.reader.ahead(ahead).kind == TokenKind::Symbol(".") {
            for _ in 0..=ahead {
                self.reader.advance();
            }
            return State::Block;
        }
        self.recover()
    }

    /// Drops the frames above the innermost one that expects `symbol`; returns whether there is one.
    fn close_up_to(&mut self, symbol: &'static str) -> bool {
        let waiting = self.frames.iter().rposition(|frame| closers(frame).contains(&symbol));
        if let Some(index) = waiting {
            self.drop_frames(index + 1);
        }
        waiting.is_some()
    }

    /// Keeps the first frames. The type variables of dropped frames leave the scope.
    fn drop_frames(&mut self, keep: usize) {
        for frame in self.frames.drain(keep..) {
            if let Frame::TypeLambda { idents, .. } = frame {
                self.type_names.truncate(self.type_names.len() - idents.len());
            }
        }
    }
}

/// The tokens that can end a form.
fn closers(frame: &Frame) -> &'static [&'static str] {
    match frame {
        Frame::Bracket { close: "⟩", .. } => &[",", "⟩"],
        Frame::Bracket { .. } => &[",", ")"],
        Frame::LetBound { .. } => &["in"],
        Frame::IfCondition { .. } => &["then"],
        Frame::IfThen { .. } => &["else"],
        _ => &[],
    }
}

/// The token that closes a form opened by this word or bracket.
fn closer_of(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "(" => ")",
        "[" => "]",
        "⟨" => "⟩",
        "let" => "in",
        "if" => "then",
        _ => return None,
    })
}
