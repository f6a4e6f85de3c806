//! Parses the text after an operand.

use eddy_syntax::Span;
use eddy_syntax::lex::TokenKind;

use super::foreign::is_prefix_of_lustre;
use super::frame::{Binding, Frame, Operator};
use super::{Grammar, Parser, State, Tightness};
use crate::tree::{Direction, ExprId, ExprKind, Ident, Polarity};

impl Parser<'_> {
    pub(super) fn after(&mut self, expr: ExprId, tightness: Tightness) -> State {
        if let Some(Frame::Reset { at }) = self.frames.last() {
            return self.every(*at, expr);
        }
        if self.grammar == Grammar::Functions
            && tightness == Tightness::Postfix
            && let Some(state) = self.postfix_form(expr)
        {
            return state;
        }
        if self.grammar == Grammar::Streams
            && tightness == Tightness::Postfix
            && let Some(state) = self.field_of_stream(expr)
        {
            return state;
        }
        if tightness == Tightness::Postfix && self.sees("[") && self.is_glued() {
            return self.index_in_node(expr);
        }
        if let Some(Frame::Merge { at, base }) = self.frames.last() {
            return self.merge_argument(*at, *base, expr);
        }
        if let Some(state) = self.call_or_index_after_blank(expr, tightness) {
            return state;
        }
        if let Some(Frame::When { polarity, at, value }) = self.frames.last() {
            if *polarity == Polarity::On && self.sees_word("is") && self.peek(1) == TokenKind::Name {
                let (at, value) = (*at, *value);
                self.frames.pop();
                return self.constructor(value, expr, at);
            }
            return self.reduce(expr);
        }
        if let Some(Frame::Every { at, call }) = self.frames.last() {
            let (at, call) = (*at, *call);
            self.frames.pop();
            return self.finish_reset(at, call, expr);
        }
        if self.sees("when") {
            if tightness == Tightness::Loose {
                self.complain_about_when(expr);
            }
            return self.when(expr);
        }
        let loosest = self.frames.last().map_or(Binding::Expr, Frame::loosest);
        let operator = self.operator().filter(|operator| operator.binding() >= loosest);
        let held = self.frames.last().and_then(Frame::binding);
        match (operator, held) {
            (None, None) => self.resume(expr),
            (None, Some(_)) => self.reduce(expr),
            (Some(operator), held) => {
                let binding = operator.binding();
                let associates = !matches!(binding, Binding::Compare | Binding::Expr);
                // The operator on the left binds at least as tightly: this operand completes it.
                if held.is_some_and(|held| held > binding || (held == binding && associates)) {
                    return self.reduce(expr);
                }
                if binding == Binding::Compare && held == Some(binding) {
                    self.complain_about_chained_comparison();
                    return self.reduce(expr);
                }
                self.infix(operator, expr)
            }
        }
    }

    /// The infix operator at the next token; for a symbol of another language, Eddy's operator.
    fn operator(&self) -> Option<Operator> {
        if self.grammar == Grammar::Functions
            && self.sees_word("with")
            && self.peek(1) == TokenKind::Symbol("[")
        {
            return Some(Operator::With);
        }
        let TokenKind::Symbol(symbol) = self.token().kind else { return None };
        if self.grammar != Grammar::Streams && matches!(symbol, "=" | ":") {
            // In functions these symbols belong to the enclosing form: a field, an update, an alternative.
            return None;
        }
        let meant = super::foreign::operator(symbol).unwrap_or(symbol);
        Operator::from_symbol(meant)
    }

    /// Reads an operator; then expects its right operand.
    fn infix(&mut self, operator: Operator, left: ExprId) -> State {
        if let Operator::With = operator {
            return self.update(left);
        }
        self.complain_about_foreign_operator();
        let at = self.advance().span;
        match operator {
            Operator::With => unreachable!("an update was read above"),
            Operator::Binary(op) => self.wait(Frame::Binary { op, at, left }),
            Operator::Fby => {
                let direction = if self.eat("back") { Direction::Back } else { Direction::Forward };
                self.wait(Frame::Fby { direction, at, first: left })
            }
        }
    }

    fn merge_argument(&mut self, at: Span, base: usize, argument: ExprId) -> State {
        self.items.push(argument);
        let is_first = self.items.len() == base + 1;
        if is_first && self.sees("{") && !self.begins_record() {
            self.frames.pop();
            return self.branches(at, base);
        }
        let &[condition, yes, no] = &self.items[base..] else { return State::Operand };
        self.items.truncate(base);
        self.frames.pop();
        State::Have(self.push(ExprKind::Merge(condition, yes, no), at, at), Tightness::Loose)
    }

    /// Completes the innermost operator: `expr` is its last operand.
    fn reduce(&mut self, expr: ExprId) -> State {
        let frame = self.frames.pop().expect("an operator's frame was seen on top");
        let is_sampling = matches!(frame, Frame::When { .. });
        let start_of = |expr: ExprId| self.program.exprs.span(expr);
        let (kind, start, at) = match frame {
            Frame::Unary { op, at } => (ExprKind::Unary(op, expr), at, at),
            Frame::Binary { op, at, left } => (ExprKind::Binary(op, left, expr), start_of(left), at),
            Frame::Fby { direction, at, first } => {
                (ExprKind::Fby(direction, first, expr), start_of(first), at)
            }
            Frame::When { polarity, at, value } => {
                (ExprKind::When(polarity, value, expr), start_of(value), at)
            }
            Frame::IfElse { at, condition, yes } => (ExprKind::If(condition, yes, expr), at, at),
            Frame::Form(open) => return self.resume_form(open, expr),
            _ => unreachable!("only operators are reduced"),
        };
        let tightness = if is_sampling { Tightness::Sampled } else { Tightness::Loose };
        State::Have(self.push(kind, start, at), tightness)
    }

    /// Adds `expr`, which no operator follows, to the innermost open form, and reads the token that the form
    /// expects next.
    fn resume(&mut self, expr: ExprId) -> State {
        let Some(frame) = self.frames.pop() else { return State::Done(expr) };
        match frame {
            Frame::Paren { .. } | Frame::List { .. } | Frame::Arguments { .. } if self.eat(",") => {
                self.items.push(expr);
                self.wait(frame)
            }
            Frame::Paren { open, base } if self.eat(")") => {
                if self.items.len() == base {
                    let at = self.exprs().at(expr);
                    return State::Have(self.push(ExprKind::Group(expr), open, at), Tightness::Postfix);
                }
                self.items.push(expr);
                let items = self.program.exprs.list(self.items.drain(base..));
                State::Have(self.push(ExprKind::Tuple(items), open, open), Tightness::Postfix)
            }
            Frame::List { open, base } if self.eat("]") => {
                self.items.push(expr);
                self.finish_list(open, base)
            }
            Frame::Arguments { callee, base, .. } if self.eat(")") => {
                self.items.push(expr);
                self.finish_call(callee, base)
            }
            Frame::Named { ident } => {
                let named = self.push(ExprKind::Named(ident.name, expr), ident.span, ident.span);
                State::Have(named, Tightness::Loose)
            }
            Frame::Index { value, open } if self.eat("]") => {
                let start = self.exprs().span(value);
                State::Have(self.push(ExprKind::Index(value, expr), start, open), Tightness::Postfix)
            }
            // After a blank, which was reported, a `,` need not belong to the index.
            Frame::Index { value, open }
                if self.exprs().span(value).end == open.start && (self.sees(",") || self.sees_dots()) =>
            {
                self.further_indices(value, open, expr)
            }
            Frame::IfCondition { at } if self.eat("then") => self.wait(Frame::IfThen { at, condition: expr }),
            Frame::IfThen { at, condition } if self.eat("else") => {
                self.wait(Frame::IfElse { at, condition, yes: expr })
            }
            Frame::Form(open) => self.resume_form(open, expr),
            frame => {
                let expected = frame.waits_for().unwrap_or("an operator");
                self.frames.push(frame);
                self.complain_after_operand(expected, expr);
                State::Failed
            }
        }
    }

    /// Reports `f (x)` and `x [0]`, and parses them as if the blank were not there. A bracket at the start of
    /// a line more probably starts another equation.
    fn call_or_index_after_blank(&mut self, expr: ExprId, tightness: Tightness) -> Option<State> {
        let is_bracket = tightness == Tightness::Postfix && (self.sees("(") || self.sees("["));
        if !is_bracket || self.starts_line() {
            return None;
        }
        // `merge c -x (y)`: the minus was reported, and the parenthesis is the next argument.
        let outside_minus = self.innermost().find(|frame| !matches!(frame, Frame::Unary { .. }));
        if let Some(Frame::Merge { .. }) = outside_minus {
            return None;
        }
        match self.exprs().kind(expr) {
            ExprKind::Variable(name) if self.sees("(") => {
                if is_prefix_of_lustre(self.names.text(name)) {
                    return None;
                }
                let span = self.exprs().span(expr);
                self.complain_about_blank(span, "a call is written without a blank");
                Some(self.arguments(Ident { name, span }))
            }
            ExprKind::Number(_) | ExprKind::Bool(_) => None,
            _ if self.sees("[") => {
                let span = self.exprs().span(expr);
                self.complain_about_blank(span, "an index is written without a blank");
                let open = self.advance().span;
                Some(self.wait(Frame::Index { value: expr, open }))
            }
            _ => None,
        }
    }
}
