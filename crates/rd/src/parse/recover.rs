//! Syntax errors: saying what was expected, and finding a place to go on.

use eddy_syntax::Diagnostic;
use eddy_syntax::lex::TokenKind;

use super::{Frame, Parser, State, Tightness};
use crate::codes;
use crate::surface::{ExprId, ExprKind};

impl Parser<'_> {
    /// Reports that something else was expected here; a second complaint about the same token is dropped.
    pub(super) fn syntax_error(&mut self, expected: &str) {
        if self.last_syntax_error.replace(self.at) == Some(self.at) {
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

    /// Reports what was expected in the place of an operand, and recovers.
    pub(super) fn fail(&mut self, expected: &str) -> State {
        self.syntax_error(expected);
        self.recover()
    }

    /// Nothing that can follow the operand follows it: says what the innermost open form waits for.
    pub(super) fn unexpected_after(&mut self, expr: ExprId) -> State {
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
        let follows_directly = matches!(self.token().kind, TokenKind::Name | TokenKind::Number);
        if let (true, ExprKind::Name(name)) = (follows_directly, self.exprs.kind(expr))
            && let Some(last) = self.diagnostics.last_mut()
        {
            let name = self.names.text(*name);
            let text = format!("the arguments of a function stand in parentheses: `{name}(…)`");
            last.help = Some(eddy_syntax::Help { text, edit: None });
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
                    } else if inside.is_empty() && self.close_up_to(symbol) {
                        self.last_syntax_error = Some(self.at);
                        return State::Have(self.error_node(), Tightness::Loose);
                    }
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// As [`Parser::recover`], when the head of a definition could not be read: its `in` belongs to it.
    pub(super) fn recover_definition(&mut self) -> State {
        let start = self.previous();
        let ident = crate::surface::Ident { name: self.names.intern("_"), span: start };
        let item = crate::surface::Item { ident, annotation: None };
        let pattern = crate::surface::Pattern::Name(item);
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
