//! Syntax errors: reports what was expected, and finds a token to continue at.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::skipped::Skipped;
use eddy_syntax::{Diagnostic, Span};

use super::{Frame, Head, Parser, State, Tightness};
use crate::codes;
use crate::surface::{Binder, ExprId, Pattern};

impl Parser<'_> {
    /// Reports a syntax error at the next token; `expected` says what should be there.
    pub(super) fn syntax_error(&mut self, expected: &str) {
        let opening = self.innermost_opening();
        self.cursor.expected(codes::SYNTAX, "parse error", expected, opening);
    }

    /// Reports what was expected in the place of an operand, and recovers.
    pub(super) fn fail(&mut self, expected: &str) -> State {
        self.syntax_error(expected);
        self.recover()
    }

    pub(super) fn report_no_operator(&mut self, left: Span, dot: Span) {
        let title = "parse error: the left side of `·` is not an operator";
        let diagnostic = Diagnostic::error(codes::SYNTAX, left, title)
            .label("expected `Ω f`, `J f` or `(λx.s)^*`")
            .cause(dot, "this `·`")
            .help("a product of numbers is written `*` or `×`");
        self.cursor.diagnostics.push(diagnostic);
    }

    pub(super) fn report_no_lambda(&mut self, first: ExprId) {
        let span = self.program.tree.span(first);
        let title = "parse error: a dual map needs a λ whose variable is linear";
        let diagnostic = Diagnostic::error(codes::SYNTAX, span, title)
            .label("expected `λx.s`")
            .help("write the function out: `dmap(λx. f x, t)`");
        self.cursor.diagnostics.push(diagnostic);
    }

    /// Reports a token that cannot follow the operand; names what the innermost open form expects.
    pub(super) fn unexpected_after(&mut self) -> State {
        let expected = match self.frames.last() {
            Some(Frame::Main) => "an operator, an argument or the end of the program",
            Some(Frame::Declaration(_)) => "an operator, an argument or `;`",
            Some(Frame::Tuple { bracket, .. }) => match bracket.close() {
                ")" => "`,` or `)`",
                ">" => "`,` or `>`",
                _ => "`,` or `]`",
            },
            Some(Frame::Former { first: None, .. }) => "`,`",
            Some(Frame::LetBound { .. }) => "`in`",
            _ => "`)`",
        };
        self.syntax_error(expected);
        if self.cursor.sees("let")
            || self.cursor.sees("jacobian")
            || self.cursor.sees("grad")
            || self.cursor.sees("vjp")
        {
            self.cursor.help("this form can be an argument only in parentheses");
        }
        self.recover()
    }

    /// Where the innermost unfinished bracket or keyword was opened, for the message.
    fn innermost_opening(&self) -> Option<(Span, &'static str)> {
        let frame = self.frames.iter().rev().find(|frame| !closers(frame).is_empty())?;
        Some(match frame {
            Frame::Tuple { open, .. } => (*open, "this bracket is open"),
            Frame::Former { start, .. } => (*start, "in the operands of this form"),
            Frame::LetBound { start, .. } => (*start, "this `let` waits for its `in`"),
            Frame::SugarFunction { start, .. } => (*start, "this waits for its `at`"),
            Frame::SugarPoint { start, .. } => (*start, "this waits for its `with`"),
            Frame::Declaration(Head::Def { start, .. } | Head::Prim { start, .. }) => {
                (*start, "this declaration waits for its `;`")
            }
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
                // A declaration begins, so the declaration before it is unfinished.
                TokenKind::Symbol("def" | "prim" | "assume" | "type") => return self.give_up(),
                // A `;` ends a declaration even inside skipped brackets.
                TokenKind::Symbol(symbol)
                    if skipped.is_outside(symbol) || symbol == ";" && skipped.may_be_expected(symbol) =>
                {
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

    /// Like [`Parser::recover`], after an unreadable head of a `let` that starts at this token: the next `in`
    /// belongs to the head, and the uses of its names are not reported later.
    pub(super) fn recover_let(&mut self, start: Span, head_at: usize) -> State {
        self.poison_names(head_at);
        let name = self.names.intern("_");
        let span = self.cursor.previous();
        let pattern = self.tree().push_pattern(Pattern::Name(name), span);
        self.frames.push(Frame::LetBound { start, binder: Binder { pattern, written: None, span } });
        self.recover()
    }

    /// Skips a declaration with an unreadable head that starts at this token.
    pub(super) fn skip_declaration(&mut self, head_at: usize) {
        self.poison_names(head_at);
        loop {
            match self.cursor.token().kind {
                TokenKind::End | TokenKind::Symbol("def" | "prim" | "assume" | "type") => return,
                TokenKind::Symbol(";") => {
                    self.cursor.advance();
                    return;
                }
                _ => {
                    self.cursor.advance();
                }
            }
        }
    }

    /// Marks the names of an unreadable head, so that their uses are not reported.
    fn poison_names(&mut self, head_at: usize) {
        for token in &self.cursor.tokens[head_at..] {
            match token.kind {
                TokenKind::Name => {
                    let name = self.names.intern(self.cursor.slice(token.span));
                    self.poisoned.insert(name);
                }
                TokenKind::Symbol("=" | "in" | ";" | "let") | TokenKind::End => break,
                _ => {}
            }
        }
    }

    /// Drops the frames above the innermost one that expects `symbol`; returns whether there is one.
    fn close_up_to(&mut self, symbol: &'static str) -> bool {
        let waiting = self.frames.iter().rposition(|frame| closers(frame).contains(&symbol));
        if let Some(index) = waiting {
            self.frames.truncate(index + 1);
        }
        waiting.is_some()
    }

    /// Ends the declaration or the program here.
    fn give_up(&mut self) -> State {
        self.cursor.forgive();
        let error = self.error_node();
        let bottom = self.frames.drain(..).next();
        match bottom {
            Some(Frame::Declaration(head)) => self.finish_declaration(head, error),
            _ => self.program.main = Some(error),
        }
        State::Done
    }
}

/// The tokens that can end a form.
fn closers(frame: &Frame) -> &'static [&'static str] {
    match frame {
        Frame::Declaration(_) => &[";"],
        Frame::Tuple { bracket, .. } => match bracket.close() {
            ")" => &[",", ")"],
            ">" => &[",", ">"],
            _ => &[",", "]"],
        },
        Frame::Former { first: None, .. } => &[","],
        Frame::Former { .. } => &[")"],
        Frame::LetBound { .. } => &["in"],
        Frame::SugarFunction { .. } => &["at"],
        Frame::SugarPoint { sugar: super::Sugar::Vjp, .. } => &["with"],
        _ => &[],
    }
}

/// The token that closes a form opened by this word or bracket.
fn closer_of(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "(" => ")",
        "[" => "]",
        "<" => ">",
        "let" => "in",
        _ => return None,
    })
}
