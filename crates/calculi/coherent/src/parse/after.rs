//! Parsing of tokens after an argument or a term.

use eddy_syntax::Span;
use eddy_syntax::lex::TokenKind;

use super::lexicon::starts_term;
use super::{Frame, Parser, State};
use crate::surface::{ExprId, ExprKind};

impl Parser<'_> {
    /// Closes the operators in front of an argument; then another argument follows, or the application ends.
    pub(super) fn after_argument(&mut self, expr: ExprId) -> State {
        match self.frames.pop() {
            Some(Frame::Prefix { start, prefix }) => {
                State::Have(self.push(ExprKind::Prefix(prefix, expr), start))
            }
            Some(Frame::Linear { open, function }) => {
                State::Have(self.push(ExprKind::Linear(function, expr), open))
            }
            Some(Frame::Switch { open, first, second }) => {
                State::Have(self.push(ExprKind::Switch(first, second, expr), open))
            }
            Some(Frame::Words { mut items }) => {
                items.push(expr);
                let goes_on = match self.cursor.token().kind {
                    TokenKind::Name | TokenKind::Number => true,
                    TokenKind::Symbol(symbol) => starts_term(symbol),
                    _ => false,
                };
                if goes_on {
                    self.frames.push(Frame::Words { items });
                    return State::Argument;
                }
                State::HaveTerm(self.apply(items))
            }
            _ => unreachable!("only an operator or an application expects an argument"),
        }
    }

    fn apply(&mut self, mut items: Vec<ExprId>) -> ExprId {
        let function = items[0];
        if items.len() == 1 {
            return function;
        }
        let span = self.exprs.span(function).to(self.exprs.span(items[items.len() - 1]));
        items.remove(0);
        self.exprs.push(ExprKind::Apply(function, items), span)
    }

    /// Gives a term to the form that expects it.
    pub(super) fn after_term(&mut self, expr: ExprId) -> State {
        if self.cursor.sees("+") {
            let plus = self.cursor.advance().span;
            self.no_sums(plus, "`+` is not written in programs");
            self.frames.push(Frame::Summand { left: expr });
            return State::Term;
        }
        let frame = self.frames.pop().expect("the frame of the item is still there");
        match frame {
            Frame::Main => self.end_of_main(expr),
            Frame::Definition { start } => self.end_of_definition(expr, start),
            Frame::Paren { open } => {
                if !self.cursor.sees(")") {
                    return self.unexpected(Frame::Paren { open });
                }
                self.cursor.advance();
                State::Have(self.push(ExprKind::Group(expr), open))
            }
            Frame::Lambda { start, binders } => {
                State::Have(self.push(ExprKind::Lambda(binders, expr), start))
            }
            Frame::LetBound { start, depth, ident } => {
                if !self.cursor.eat("in") {
                    return self.unexpected(Frame::LetBound { start, depth, ident });
                }
                self.want(Frame::LetBody { start, depth, ident, bound: expr })
            }
            Frame::LetBody { start, depth, ident, bound } => {
                State::Have(self.push(ExprKind::Let(depth, ident, bound, expr), start))
            }
            Frame::IfCondition { start, depth } => {
                if !self.cursor.eat("then") {
                    return self.unexpected(Frame::IfCondition { start, depth });
                }
                self.want(Frame::IfThen { start, depth, condition: expr })
            }
            Frame::IfThen { start, depth, condition } => {
                if !self.cursor.eat("else") {
                    return self.unexpected(Frame::IfThen { start, depth, condition });
                }
                self.want(Frame::IfElse { start, depth, condition, yes: expr })
            }
            Frame::IfElse { start, depth, condition, yes } => {
                State::Have(self.push(ExprKind::If(depth, condition, yes, expr), start))
            }
            Frame::ChoiceFirst { start, probability } => {
                if !self.cursor.eat(",") {
                    return self.unexpected(Frame::ChoiceFirst { start, probability });
                }
                self.want(Frame::ChoiceSecond { start, probability, first: expr })
            }
            Frame::ChoiceSecond { start, probability, first } => {
                if !self.cursor.eat(")") {
                    return self.unexpected(Frame::ChoiceSecond { start, probability, first });
                }
                State::Have(self.push(ExprKind::Choice(probability, first, expr), start))
            }
            Frame::Angle { open } => self.after_first(expr, open),
            Frame::AngleSecond { open, first } => {
                if !self.cursor.eat(">") {
                    return self.unexpected(Frame::AngleSecond { open, first });
                }
                if !self.cursor.eat("^") {
                    self.syntax_error("`^`");
                    self.cursor.help("a pair of functions is followed by a test: `<M0, M1>^T`");
                    return self.recover();
                }
                self.frames.push(Frame::Switch { open, first, second: expr });
                State::Argument
            }
            Frame::Summand { left } => State::HaveTerm(left),
            Frame::Words { .. } | Frame::Prefix { .. } | Frame::Linear { .. } | Frame::Switch { .. } => {
                unreachable!("these forms expect an argument, not a term")
            }
        }
    }

    fn want(&mut self, frame: Frame) -> State {
        self.frames.push(frame);
        State::Term
    }

    fn unexpected(&mut self, frame: Frame) -> State {
        self.frames.push(frame);
        self.unexpected_after()
    }

    /// After the first term in angles: `<M> N` or `<M0, M1>^T`.
    fn after_first(&mut self, expr: ExprId, open: Span) -> State {
        if self.cursor.eat(">") {
            self.frames.push(Frame::Linear { open, function: expr });
            State::Argument
        } else if self.cursor.eat(",") {
            self.want(Frame::AngleSecond { open, first: expr })
        } else {
            self.unexpected(Frame::Angle { open })
        }
    }

    fn end_of_main(&mut self, expr: ExprId) -> State {
        if self.cursor.token().kind == TokenKind::End {
            return State::Done(expr);
        }
        self.frames.push(Frame::Main);
        let is_item = matches!(self.cursor.token().kind, TokenKind::Symbol("def" | "pragma" | ";"));
        let state = self.unexpected_after();
        if is_item {
            self.help_at_last("definitions come first and end with `;`, the term of the program is the last");
        }
        state
    }

    fn end_of_definition(&mut self, expr: ExprId, start: Span) -> State {
        if self.cursor.eat(";") {
            return State::Done(expr);
        }
        if matches!(self.cursor.token().kind, TokenKind::Symbol("def" | "pragma") | TokenKind::End) {
            // The semicolon is missing: parsing continues.
            self.frames.push(Frame::Definition { start });
            self.syntax_error("`;`");
            return State::Done(expr);
        }
        self.unexpected(Frame::Definition { start })
    }
}
