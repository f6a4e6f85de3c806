//! The start of an operand.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Confidence, Span};

use super::frame::Frame;
use super::recover::shortened;
use super::{Grammar, Parser, State, Tightness};
use crate::tree::{ExprId, ExprKind, Ident, Number, Polarity, UnaryOp};

impl Parser<'_> {
    pub(super) fn operand(&mut self) -> State {
        let token = self.token();
        let start = token.span;
        let TokenKind::Symbol(symbol) = token.kind else {
            return match token.kind {
                TokenKind::Number => self.number(),
                TokenKind::Name => self.name(),
                _ => self.complain_about_missing_operand(),
            };
        };
        if self.is_misused_as_name(symbol) {
            return self.atom(ExprKind::Error, start);
        }
        match symbol {
            "true" | "false" => self.atom(ExprKind::Bool(symbol == "true"), start),
            "(" => {
                self.advance();
                if self.grammar == Grammar::Functions && self.eat(")") {
                    return self.unit(start);
                }
                self.wait(Frame::Paren { open: start, base: self.items.len() })
            }
            "[" if self.grammar != Grammar::Sizes && self.has_binders(self.at) => self.comprehension(),
            "{" if self.grammar == Grammar::Functions => self.record(),
            "{" if self.begins_record() => {
                self.bare_record();
                self.record()
            }
            "\\" if self.grammar != Grammar::Sizes => self.lambda(),
            "[" => {
                self.advance();
                let base = self.items.len();
                if self.eat("]") {
                    self.finish_list(start, base)
                } else {
                    self.wait(Frame::List { open: start, base })
                }
            }
            "-" => self.prefix(UnaryOp::Negate),
            "not" | "!" | "~" => self.prefix(UnaryOp::Not),
            "post" => self.prefix(UnaryOp::Post),
            "merge" => {
                self.bare_argument();
                self.advance();
                self.wait(Frame::Merge { at: start, base: self.items.len() })
            }
            "if" => {
                self.bare_if();
                self.advance();
                self.wait(Frame::IfCondition { at: start })
            }
            "when" => self.sampled_argument(),
            _ => self.complain_about_missing_operand(),
        }
    }

    /// Pushes a frame; then expects an operand.
    pub(super) fn wait(&mut self, frame: Frame) -> State {
        self.frames.push(frame);
        State::Operand
    }

    /// Reads the last token of an atom.
    fn atom(&mut self, kind: ExprKind, start: Span) -> State {
        self.advance();
        State::Have(self.push(kind, start, start), Tightness::Postfix)
    }

    fn prefix(&mut self, op: UnaryOp) -> State {
        self.bare_argument();
        if self.sees("!") || self.sees("~") {
            self.complain_about_exclamation_mark();
        }
        let at = self.advance().span;
        self.wait(Frame::Unary { op, at })
    }

    fn number(&mut self) -> State {
        let span = self.token().span;
        let is_negated = matches!(self.frames.last(), Some(Frame::Unary { op: UnaryOp::Negate, .. }));
        let value = self.number_value(span, is_negated && self.is_magnitude_of_smallest(span));
        let Some(value) = value else { return self.atom(ExprKind::Error, span) };
        let text = self.intern(span);
        self.atom(ExprKind::Number(Number { value, text }), span)
    }

    fn name(&mut self) -> State {
        if self.grammar == Grammar::Functions
            && let Some(state) = self.form_of_word()
        {
            return state;
        }
        if self.begins_named_argument() {
            return self.named_argument();
        }
        if self.begins_equation() {
            return self.complain_about_missing_operand();
        }
        if self.grammar == Grammar::Streams
            && let Some(state) = self.copies_of_word()
        {
            return state;
        }
        if self.begins_match() {
            return self.match_form();
        }
        if self.grammar == Grammar::Streams && self.sees_word("last") && self.peek(1) == TokenKind::Name {
            return self.last();
        }
        if self.begins_reset() {
            return self.reset();
        }
        let span = self.token().span;
        if self.file.slice(span) == "_" {
            self.complain_and_guess("an expression")
                .help("`_` discards a value on the left side of `=`; it has none to read");
            return self.atom(ExprKind::Error, span);
        }
        let name = self.intern(span);
        self.advance();
        if self.sees("(") && self.is_glued() {
            return self.arguments(Ident { name, span });
        }
        State::Have(self.push(ExprKind::Variable(name), span, span), Tightness::Postfix)
    }

    /// Whether the name here is that of an argument, `k = e`.
    fn begins_named_argument(&self) -> bool {
        let is_argument = matches!(self.frames.last(), Some(Frame::Arguments { .. }));
        let is_written_with_colon = || self.grammar == Grammar::Streams && !self.begins_equation();
        is_argument
            && match self.peek(1) {
                TokenKind::Symbol("=") => true,
                TokenKind::Symbol(":" | ":=") => is_written_with_colon(),
                _ => false,
            }
    }

    /// `k = e` among the arguments of a call.
    fn named_argument(&mut self) -> State {
        let ident = self.ident_here();
        if !self.sees("=") {
            let span = self.token().span;
            self.complain_and_guess("`=`").edit("an argument is named with `=`", span, "=", Confidence::Safe);
        }
        self.advance();
        self.wait(Frame::Named { ident })
    }

    /// The arguments of a call; its name was just read.
    pub(super) fn arguments(&mut self, callee: Ident) -> State {
        let open = self.advance().span;
        let base = self.items.len();
        if self.eat(")") {
            return self.finish_call(callee, base);
        }
        self.wait(Frame::Arguments { callee, open, base })
    }

    pub(super) fn finish_call(&mut self, callee: Ident, base: usize) -> State {
        let items = self.program.exprs.list(self.items.drain(base..));
        State::Have(
            self.push(ExprKind::Call(callee.name, items), callee.span, callee.span),
            Tightness::Postfix,
        )
    }

    pub(super) fn finish_list(&mut self, open: Span, base: usize) -> State {
        let items = self.program.exprs.list(self.items.drain(base..));
        State::Have(self.push(ExprKind::List(items), open, open), Tightness::Postfix)
    }

    /// Whether this reserved word is used as a name here, as it was earlier in the file. A word that can
    /// start an operand, such as `not`, is not a name if an operand follows.
    fn is_misused_as_name(&self, word: &'static str) -> bool {
        if !self.misused.contains(word) {
            return false;
        }
        let starts_operand = matches!(word, "if" | "merge" | "not" | "post");
        !starts_operand || !self.starts_operand(1)
    }

    /// Whether an operand can start with the token `ahead` places ahead.
    pub(super) fn starts_operand(&self, ahead: usize) -> bool {
        match self.peek(ahead) {
            TokenKind::Name | TokenKind::Number => true,
            TokenKind::Symbol(symbol) => {
                matches!(symbol, "(" | "[" | "-" | "not" | "post" | "merge" | "if" | "true" | "false")
            }
            TokenKind::String | TokenKind::End => false,
        }
    }

    /// Reports a token that cannot start an operand.
    pub(super) fn complain_about_missing_operand(&mut self) -> State {
        if self.has_guessed {
            return State::Failed;
        }
        let expected = self.expected_operand();
        let help = self.help_for_operand();
        let complaint = self.complain(expected);
        if let Some(help) = help {
            complaint.help(help);
        }
        State::Failed
    }

    fn expected_operand(&self) -> &'static str {
        match self.frames.last() {
            Some(Frame::When { .. }) => "a condition after `when`",
            Some(Frame::Every { .. }) => "a condition after `every`",
            Some(Frame::Merge { base, .. }) => match self.items.len() - base {
                0 => "the condition of `merge`",
                1 => "the second argument of `merge`",
                _ => "the third argument of `merge`",
            },
            Some(Frame::IfCondition { .. }) => "a condition after `if`",
            _ => "an expression",
        }
    }

    /// Reports the arguments in `merge c -1 x` and `y when not not c`, which must be in parentheses; they are
    /// then parsed as if they were.
    fn bare_argument(&mut self) {
        let Some(Frame::Merge { .. } | Frame::When { .. } | Frame::Every { .. }) = self.frames.last() else {
            return;
        };
        let expected = self.expected_operand();
        let text = self.text();
        let shown = match text {
            "-" if self.peek(1) == TokenKind::Number => {
                format!("(-{})", self.file.slice(self.tokens[self.at + 1].span))
            }
            "-" => "(-…)".to_string(),
            _ => format!("({text} …)"),
        };
        self.complain_and_guess(expected).help(format!("put it in parentheses: `{shown}`"));
    }

    /// Likewise for `merge c {x = 1.0} …`.
    fn bare_record(&mut self) {
        if let Some(Frame::Merge { .. }) = self.frames.last() {
            let expected = self.expected_operand();
            self.complain_and_guess(expected).help("a record stands in parentheses here: `({x = …})`");
        }
    }

    /// Likewise for `1 + if …`.
    fn bare_if(&mut self) {
        if self.frames.last().is_none_or(Frame::takes_expression) {
            return;
        }
        let expected = match self.expected_operand() {
            "an expression" => "an operand",
            other => other,
        };
        self.complain_and_guess(expected)
            .help("an `if` inside a larger expression stands in parentheses: `(if … then … else …)`");
    }

    /// Likewise for `merge c x when c …`: the sampling belongs to the argument before it.
    fn sampled_argument(&mut self) -> State {
        match self.frames.last() {
            Some(Frame::Merge { base, .. }) if self.items.len() > *base => {}
            _ => return self.complain_about_missing_operand(),
        }
        let expected = self.expected_operand();
        let value = self.items.pop().expect("the argument before `when`");
        let argument = shortened(self.file.slice(self.exprs().span(value)));
        let help = format!("put the sampled argument in parentheses: `({argument} when …)`");
        self.complain_and_guess(expected).help(help);
        self.when(value)
    }

    /// Reads `when` or `when not` after a value.
    pub(super) fn when(&mut self, value: ExprId) -> State {
        let at = self.advance().span;
        let polarity = if self.eat("not") { Polarity::OnNot } else { Polarity::On };
        self.wait(Frame::When { polarity, at, value })
    }
}
