//! Syntax errors: saying what was expected, and finding a place to go on.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Diagnostic, Help};

use super::{Frame, Parser, State, Tightness};
use crate::codes;
use crate::surface::{Ident, Item, Pattern};

impl Parser<'_> {
    /// Reports that something else was expected here. A second complaint about the same token is dropped, and so is one that
    /// follows from what the lexer could not read.
    pub(super) fn syntax_error(&mut self, expected: &str) {
        if self.last_syntax_error.replace(self.at) == Some(self.at) || self.follows_unreadable() {
            return;
        }
        let token = self.token();
        let found = match token.kind {
            TokenKind::End => "the end of the file".to_string(),
            _ => format!("`{}`", self.file.slice(token.span)),
        };
        let title = format!("syntax error: expected {expected}, found {found}");
        let mut diagnostic =
            Diagnostic::error(codes::SYNTAX, token.span, title).label(format!("expected {expected}"));
        if let Some((span, text)) = self.innermost_opening() {
            diagnostic = diagnostic.cause(span, text);
        }
        self.diagnostics.push(diagnostic);
    }

    /// Adds a hint to the syntax error at the current token, unless that was dropped.
    pub(super) fn help(&mut self, text: &str) {
        let span = self.token().span;
        if let Some(last) = self.diagnostics.last_mut().filter(|last| last.primary.span == span) {
            last.help = Some(Help { text: text.to_string(), edit: None });
        }
    }

    /// Whether something that the lexer could not read, and reported, stands right before the next token.
    pub(super) fn follows_unreadable(&self) -> bool {
        let before = self.at.checked_sub(1).map_or(0, |last| self.tokens[last].span.end);
        let next = self.unreadable.partition_point(|start| *start < before);
        self.unreadable.get(next).is_some_and(|start| *start <= self.token().span.start)
    }

    /// Reports what was expected in the place of an operand, and recovers.
    pub(super) fn fail(&mut self, expected: &str) -> State {
        self.syntax_error(expected);
        self.recover()
    }

    /// Nothing that can follow the operand follows it: says what the innermost open form waits for.
    pub(super) fn unexpected_after(&mut self) -> State {
        let waits = match self.frames.last() {
            Some(Frame::Top) => "an operator or the end of the program",
            Some(Frame::Paren { .. } | Frame::Arguments { .. }) => "`,` or `)`",
            Some(Frame::Angle { .. }) => "`,` or `>`",
            Some(Frame::LetBound { .. } | Frame::FunctionBody { .. } | Frame::ConstValue { .. }) => "`in`",
            Some(Frame::IfCondition { .. }) => "`then`",
            Some(Frame::IfThen { .. }) => "`else`",
            Some(Frame::Point { .. }) => "`]`",
            _ => "`)`",
        };
        self.syntax_error(waits);
        // `f 3`: two operands in a row, the first of them a name.
        let previous = self.tokens[self.at.saturating_sub(1)];
        let starts_operand = matches!(self.token().kind, TokenKind::Name | TokenKind::Number);
        if previous.kind == TokenKind::Name && starts_operand {
            let name = self.file.slice(previous.span);
            self.help(&format!("the arguments of a function stand in parentheses: `{name}(…)`"));
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

    /// Skips to the next token that an open form waits for, closes the forms inside that one, and goes on as if
    /// its part had been read. Words and brackets that open and close within what is skipped are not
    /// counted.
    pub(super) fn recover(&mut self) -> State {
        let mut inside: Vec<&'static str> = Vec::new();
        // No form changes before this is done, so what none waits for now none waits for later.
        let mut unwanted: Vec<&'static str> = Vec::new();
        loop {
            let token = self.token();
            match token.kind {
                TokenKind::End => return self.give_up(),
                TokenKind::Symbol(symbol) => {
                    if inside.last() == Some(&symbol) {
                        inside.pop();
                        if symbol == "then" {
                            inside.push("else");
                        }
                    } else if let Some(closer) = closer_of(symbol) {
                        inside.push(closer);
                    } else if inside.is_empty() && !unwanted.contains(&symbol) {
                        if self.close_up_to(symbol) {
                            self.last_syntax_error = Some(self.at);
                            return State::Have(self.error_node(), Tightness::Loose);
                        }
                        unwanted.push(symbol);
                    }
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// As [`Parser::recover`], when the head of a definition, which starts at this token, could not be read: its `in` belongs
    /// to it, and the names in it are no mistakes later on.
    pub(super) fn recover_definition(&mut self, head_at: usize) -> State {
        for token in &self.tokens[head_at..] {
            match token.kind {
                TokenKind::Name => {
                    let name = self.names.intern(self.file.slice(token.span));
                    self.poisoned.insert(name);
                }
                // The head ends here, or another begins.
                TokenKind::Symbol("=" | "in" | "let" | "letrec" | "const") | TokenKind::End => break,
                _ => {}
            }
        }
        let start = self.previous();
        let ident = Ident { name: self.names.intern("_"), span: start };
        let pattern = Pattern::Name(Item { ident, annotation: None });
        self.frames.push(Frame::LetBound { start, pattern });
        self.recover()
    }

    /// Drops the frames above the innermost one that waits for `symbol`; says whether there is one.
    fn close_up_to(&mut self, symbol: &'static str) -> bool {
        let waiting = self.frames.iter().rposition(|frame| closers(frame).contains(&symbol));
        if let Some(index) = waiting {
            self.frames.truncate(index + 1);
        }
        waiting.is_some()
    }

    fn give_up(&mut self) -> State {
        self.frames.truncate(1);
        self.last_syntax_error = Some(self.at);
        State::Have(self.error_node(), Tightness::Loose)
    }
}

/// What a form waits for.
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

/// What closes a form that this word or bracket opens.
fn closer_of(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "(" => ")",
        "[" => "]",
        "let" | "letrec" | "const" => "in",
        "if" => "then",
        _ => return None,
    })
}
