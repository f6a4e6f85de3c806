//! Syntax errors: reports what was expected, and finds a token to continue at.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::skipped::Skipped;

use super::{Frame, Parser, State, Tightness};
use crate::codes;
use crate::surface::{Ident, Item, Pattern};

impl Parser<'_> {
    /// Reports a syntax error at the next token; `expected` says what should be there.
    pub(super) fn syntax_error(&mut self, expected: &str) {
        let opening = self.innermost_opening();
        self.cursor.expected(codes::SYNTAX, "syntax error", expected, opening);
    }

    /// Reports what was expected in the place of an operand, and recovers.
    pub(super) fn fail(&mut self, expected: &str) -> State {
        self.syntax_error(expected);
        self.recover()
    }

    /// Reports a token that cannot follow the operand; names what the innermost open form expects.
    pub(super) fn unexpected_after(&mut self) -> State {
        let expected = match self.frames.last() {
            Some(Frame::Top) => "an operator or the end of the program",
            Some(Frame::Paren { .. } | Frame::Arguments { .. }) => "`,` or `)`",
            Some(Frame::Angle { .. }) => "`,` or `>`",
            Some(Frame::LetBound { .. } | Frame::FunctionBody { .. } | Frame::ConstValue { .. }) => "`in`",
            Some(Frame::IfCondition { .. }) => "`then`",
            Some(Frame::IfThen { .. }) => "`else`",
            Some(Frame::Point { .. }) => "`]`",
            _ => "`)`",
        };
        self.syntax_error(expected);
        // `f 3`: two operands in a row, the first of them a name.
        let previous = self.cursor.tokens[self.cursor.at.saturating_sub(1)];
        let starts_operand = matches!(self.cursor.token().kind, TokenKind::Name | TokenKind::Number);
        if previous.kind == TokenKind::Name && starts_operand {
            let name = self.cursor.slice(previous.span);
            self.cursor.help(&format!("the arguments of a function stand in parentheses: `{name}(…)`"));
        }
        self.recover()
    }

    /// Where the innermost unfinished bracket or keyword was opened, for the message.
    fn innermost_opening(&self) -> Option<(eddy_syntax::Span, &'static str)> {
        let frame = self.frames.iter().rev().find(|frame| !closers(frame).is_empty())?;
        Some(match frame {
            Frame::Paren { open, .. } => (*open, "this parenthesis is open"),
            Frame::Angle { open, .. } => (*open, "this tuple is open"),
            Frame::Arguments { applied, .. } => (applied.callee_span, "in the arguments of this call"),
            Frame::LetBound { start, .. } => (*start, "this `let` waits for its `in`"),
            Frame::FunctionBody { start, .. } => (*start, "this definition waits for its `in`"),
            Frame::ConstValue { start, .. } => (*start, "this `const` waits for its `in`"),
            Frame::IfCondition { start } => (*start, "this `if` waits for its `then`"),
            Frame::IfThen { start, .. } => (*start, "this `if` waits for its `else`"),
            _ => return None,
        })
    }

    /// Skips to the next token that an open form expects, closes the forms inside that form, and continues as
    /// if the expected part had been read. Words and brackets that open and close within the skipped text do
    /// not end the search.
    pub(super) fn recover(&mut self) -> State {
        let mut skipped = Skipped::new(closer_of);
        loop {
            let token = self.cursor.token();
            match token.kind {
                TokenKind::End => return self.give_up(),
                TokenKind::Symbol(symbol) if skipped.is_outside(symbol) => {
                    if self.close_up_to(symbol) {
                        self.cursor.forgive();
                        return State::Have(self.error_node(), Tightness::Loose);
                    }
                    skipped.set_unexpected(symbol);
                }
                _ => {}
            }
            self.cursor.advance();
        }
    }

    /// Like [`Parser::recover`], after an unreadable head of a definition that starts at this token: the next
    /// `in` belongs to the head, and the uses of its names are not reported later.
    pub(super) fn recover_definition(&mut self, head_at: usize) -> State {
        for token in &self.cursor.tokens[head_at..] {
            match token.kind {
                TokenKind::Name => {
                    let name = self.names.intern(self.cursor.slice(token.span));
                    self.poisoned.insert(name);
                }
                // The head ends here, or another head begins.
                TokenKind::Symbol("=" | "in" | "let" | "letrec" | "const") | TokenKind::End => break,
                _ => {}
            }
        }
        let start = self.cursor.previous();
        let ident = Ident { name: self.names.intern("_"), span: start };
        let pattern = Pattern::Name(Item { ident, annotation: None });
        self.frames.push(Frame::LetBound { start, pattern });
        self.recover()
    }

    /// Drops the frames above the innermost one that expects `symbol`; returns whether there is one.
    fn close_up_to(&mut self, symbol: &'static str) -> bool {
        let waiting = self.frames.iter().rposition(|frame| closers(frame).contains(&symbol));
        if let Some(index) = waiting {
            self.frames.truncate(index + 1);
        }
        waiting.is_some()
    }

    fn give_up(&mut self) -> State {
        self.frames.truncate(1);
        self.cursor.forgive();
        State::Have(self.error_node(), Tightness::Loose)
    }
}

/// The tokens that can end a form.
fn closers(frame: &Frame) -> &'static [&'static str] {
    match frame {
        Frame::Paren { .. } | Frame::Arguments { .. } => &[",", ")"],
        Frame::Angle { .. } => &[",", ">"],
        Frame::Body { .. } => &[")"],
        Frame::Point { .. } => &["]"],
        Frame::LetBound { .. } | Frame::FunctionBody { .. } | Frame::ConstValue { .. } => &["in"],
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
        "let" | "letrec" | "const" => "in",
        "if" => "then",
        _ => return None,
    })
}
