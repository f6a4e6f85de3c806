//! Syntax errors: reports what was expected, and finds a token to continue at.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::skipped::Skipped;
use eddy_syntax::{Help, Span};

use super::{Frame, Parser, State};
use crate::codes;

impl Parser<'_> {
    /// Reports that something else was expected here.
    pub(super) fn syntax_error(&mut self, expected: &str) {
        let opening = self.innermost_opening();
        self.cursor.expected(codes::SYNTAX, "syntax error", expected, opening);
    }

    /// As [`Cursor::help`](eddy_syntax::cursor::Cursor::help), when the parser has already advanced.
    pub(super) fn help_at_last(&mut self, text: &str) {
        if let Some(last) = self.cursor.diagnostics.last_mut() {
            last.help = Some(Help { text: text.to_string(), edit: None });
        }
    }

    /// Reports what was expected in the place of an argument, and recovers.
    pub(super) fn fail(&mut self, expected: &str) -> State {
        self.syntax_error(expected);
        self.recover()
    }

    /// Reports a token that cannot follow the term, with what the innermost open form expects.
    pub(super) fn unexpected_after(&mut self) -> State {
        let waits = match self.frames.last() {
            Some(Frame::Main) => "an argument or the end of the program",
            Some(Frame::Definition { .. }) => "an argument or `;`",
            Some(Frame::Angle { .. }) => "`>` or `,`",
            Some(Frame::AngleSecond { .. }) => "`>`",
            Some(Frame::LetBound { .. }) => "`in`",
            Some(Frame::IfCondition { .. }) => "`then`",
            Some(Frame::IfThen { .. }) => "`else`",
            Some(Frame::ChoiceFirst { .. }) => "`,`",
            _ => "`)`",
        };
        self.syntax_error(waits);
        self.recover()
    }

    /// Where the innermost unfinished bracket or keyword was opened, for the message.
    fn innermost_opening(&self) -> Option<(Span, &'static str)> {
        let frame = self.frames.iter().rev().find(|frame| !closers(frame).is_empty())?;
        Some(match frame {
            Frame::Paren { open } => (*open, "this parenthesis is open"),
            Frame::Angle { open } | Frame::AngleSecond { open, .. } => (*open, "this bracket is open"),
            Frame::LetBound { start, .. } => (*start, "this `let` waits for its `in`"),
            Frame::IfCondition { start, .. } => (*start, "this `if` waits for its `then`"),
            Frame::IfThen { start, .. } => (*start, "this `if` waits for its `else`"),
            Frame::ChoiceFirst { start, .. } | Frame::ChoiceSecond { start, .. } => {
                (*start, "in this choice")
            }
            Frame::Definition { start } => (*start, "in this definition"),
            _ => return None,
        })
    }

    /// Skips to the next token that an open form expects, closes the forms inside that form, and continues as
    /// if its part had been read. Words and brackets that open and close within the skipped text are not
    /// counted.
    pub(super) fn recover(&mut self) -> State {
        let mut skipped = Skipped::new(closer_of);
        loop {
            let token = self.cursor.token();
            match token.kind {
                TokenKind::End => return self.give_up(),
                // A term ends with its item.
                TokenKind::Symbol(";" | "def" | "pragma")
                    if matches!(self.frames[0], Frame::Definition { .. }) =>
                {
                    return self.give_up();
                }
                TokenKind::Symbol(symbol) if skipped.is_outside(symbol) => {
                    if self.close_up_to(symbol) {
                        self.cursor.forgive();
                        return State::HaveTerm(self.error_node());
                    }
                    skipped.set_unexpected(symbol);
                }
                _ => {}
            }
            self.cursor.advance();
        }
    }

    /// As [`Parser::recover`], after unreadable variables of a `\`: its body follows the point.
    pub(super) fn recover_to_body(&mut self) -> State {
        let mut ahead = self.cursor.at;
        // Only the following tokens can stand between this `\` and its point.
        while let TokenKind::Name
        | TokenKind::Number
        | TokenKind::Symbol("nat" | "D" | "->" | "=>" | ":" | "^" | "(" | ")") =
            self.cursor.tokens[ahead].kind
        {
            ahead += 1;
        }
        if self.cursor.tokens[ahead].kind == TokenKind::Symbol(".") {
            self.cursor.at = ahead + 1;
            return State::Term;
        }
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
        State::HaveTerm(self.error_node())
    }
}

/// The tokens that can end a form.
fn closers(frame: &Frame) -> &'static [&'static str] {
    match frame {
        Frame::Paren { .. } | Frame::ChoiceSecond { .. } => &[")"],
        Frame::Angle { .. } => &[",", ">"],
        Frame::AngleSecond { .. } => &[">"],
        Frame::ChoiceFirst { .. } => &[","],
        Frame::LetBound { .. } => &["in"],
        Frame::IfCondition { .. } => &["then"],
        Frame::IfThen { .. } => &["else"],
        Frame::Definition { .. } => &[";"],
        _ => &[],
    }
}

/// The token that closes a form opened by this word or bracket.
fn closer_of(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "(" => ")",
        "[" => "]",
        "let" => "in",
        "if" | "ifz" => "then",
        _ => return None,
    })
}
