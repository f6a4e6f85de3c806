//! Parsing of tokens after an operand.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Diagnostic, Span};

use super::{Applied, Derivative, Frame, Operator, Parser, State, Tightness, lexicon};
use crate::codes;
use crate::operation::Pred;
use crate::surface::{Abstraction, BinaryOp, ExprId, ExprKind, Mode, Sort};

/// Precedences of operators, loosest first. The open bodies of `let`, `if` and the like are between
/// comparisons and sums: they extend as far right as a term does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Not,
    Compare,
    OpenBody,
    Sum,
    Product,
    Negate,
    Power,
}

impl Parser<'_> {
    pub(super) fn after(&mut self, expr: ExprId, tightness: Tightness) -> State {
        match (self.cursor.token().kind, tightness) {
            (TokenKind::Symbol("."), Tightness::Atom) => return self.suffix(expr),
            (TokenKind::Symbol("^"), Tightness::Atom) => return self.power(expr),
            (TokenKind::Symbol("." | "^"), Tightness::Power) => return self.power_does_not_associate(),
            _ => {}
        }
        let operator = self.operator();
        let held = self.frames.last().and_then(binding_of_frame);
        match (operator, held) {
            // The form on the left binds at least as tightly, so it is complete.
            (Some((_, binding)), Some(held))
                if held > binding || (held == binding && binding != Binding::Compare) =>
            {
                self.reduce(expr)
            }
            (Some((_, Binding::Compare)), Some(Binding::Compare)) => self.comparison_does_not_associate(),
            (Some((op, _)), _) => {
                let at = self.cursor.advance().span;
                self.wait(Frame::Binary { op, at, left: expr })
            }
            (None, Some(_)) => self.reduce(expr),
            (None, None) => self.resume(expr),
        }
    }

    /// The infix operator of the next token.
    fn operator(&self) -> Option<(Operator, Binding)> {
        let TokenKind::Symbol(symbol) = self.cursor.token().kind else { return None };
        if symbol == ">" && self.closes_angle() {
            return None;
        }
        if let Some(pred) = Pred::from_symbol(symbol) {
            return Some((Operator::Compare(pred), Binding::Compare));
        }
        Some(match symbol {
            "+" => (Operator::Term(BinaryOp::Add), Binding::Sum),
            "-" => (Operator::Term(BinaryOp::Sub), Binding::Sum),
            "*" => (Operator::Term(BinaryOp::Mul), Binding::Product),
            "/" => (Operator::Term(BinaryOp::Div), Binding::Product),
            "&&" => (Operator::And, Binding::And),
            "||" => (Operator::Or, Binding::Or),
            _ => return None,
        })
    }

    fn closes_angle(&self) -> bool {
        let innermost = self.frames.iter().rev().find(|frame| binding_of_frame(frame).is_none());
        matches!(innermost, Some(Frame::Angle { .. }))
    }

    /// `.rd[L](…)`, `.fd[L](…)` or `.op_r(…)`.
    fn suffix(&mut self, expr: ExprId) -> State {
        self.cursor.advance();
        let start = self.exprs.span(expr);
        let token = self.cursor.token();
        let TokenKind::Symbol(word) = token.kind else {
            return self.fail("`rd`, `fd` or a reverse operation such as `mul_r`");
        };
        let expr = self.need_term(expr);
        if let Some(callee) = lexicon::reversed(word) {
            self.cursor.advance();
            let Some(callee) = self.exponent_of_powi(callee) else { return self.recover() };
            return self.arguments(Applied { start, callee, callee_span: token.span, cotangent: Some(expr) });
        }
        let mode = match word {
            "rd" => Mode::Reverse,
            "fd" => Mode::Forward,
            _ => return self.fail("`rd`, `fd` or a reverse operation such as `mul_r`"),
        };
        self.cursor.advance();
        if !self.expect("[") {
            return self.recover();
        }
        self.wait(Frame::Point { start, kind: Derivative::Of(mode, expr) })
    }

    /// `^ k` with an integer literal is `powi`; any other exponent is a unary term and makes it `pow`.
    fn power(&mut self, base: ExprId) -> State {
        let caret = self.cursor.advance().span;
        let sign = usize::from(self.cursor.sees("-"));
        let is_integer = self.cursor.tokens.get(self.cursor.at + sign).is_some_and(|token| {
            token.kind == TokenKind::Number
                && self.cursor.slice(token.span).bytes().all(|byte| byte.is_ascii_digit())
        });
        if !is_integer {
            return self.wait(Frame::Binary { op: Operator::Term(BinaryOp::Pow), at: caret, left: base });
        }
        let Some(exponent) = self.integer("an exponent") else { return self.recover() };
        let base = self.need_term(base);
        let start = self.exprs.span(base);
        State::Have(self.push(ExprKind::Power(base, exponent), start), Tightness::Power)
    }

    fn power_does_not_associate(&mut self) -> State {
        let what = if self.cursor.sees("^") {
            "`^` does not associate"
        } else {
            "a suffix does not apply to a power"
        };
        self.syntax_error("an operator or the end of the term");
        self.cursor.help(&format!("{what}: write parentheses to say which is meant"));
        self.recover()
    }

    fn comparison_does_not_associate(&mut self) -> State {
        self.syntax_error("`&&`, `||` or the end of the condition");
        self.cursor.help("comparisons do not chain: write `a < b && b < c`");
        self.recover()
    }

    /// Completes the innermost operator with its last operand.
    fn reduce(&mut self, expr: ExprId) -> State {
        let frame = self.frames.pop().expect("an operator's frame was seen on top");
        let (kind, start) = match frame {
            Frame::Binary { op, at, left } => (self.binary(op, at, left, expr), self.exprs.span(left)),
            Frame::Negate { minus } => (self.negate(expr), minus),
            Frame::Not { at } => (ExprKind::Not(self.require_sort(expr, Sort::Condition)), at),
            Frame::LetBody { start, pattern, bound } => {
                (ExprKind::Let(pattern, bound, self.need_term(expr)), start)
            }
            Frame::FunctionRest { start, head, body } => {
                (ExprKind::Function(head, body, self.need_term(expr)), start)
            }
            Frame::ConstBody { start, ident, value } => {
                (ExprKind::Const(ident, value, self.need_term(expr)), start)
            }
            Frame::IfElse { start, condition, yes } => {
                (ExprKind::If(condition, yes, self.need_term(expr)), start)
            }
            _ => unreachable!("only frames with a binding are reduced"),
        };
        State::Have(self.push(kind, start), Tightness::Loose)
    }

    fn binary(&mut self, op: Operator, at: Span, left: ExprId, right: ExprId) -> ExprKind {
        match op {
            Operator::Term(op) => ExprKind::Binary(op, at, self.need_term(left), self.need_term(right)),
            Operator::Compare(pred) => {
                ExprKind::Compare(pred, at, self.need_term(left), self.need_term(right))
            }
            Operator::And => ExprKind::And(
                self.require_sort(left, Sort::Condition),
                self.require_sort(right, Sort::Condition),
            ),
            Operator::Or => ExprKind::Or(
                self.require_sort(left, Sort::Condition),
                self.require_sort(right, Sort::Condition),
            ),
        }
    }

    /// A minus directly before a bare numeral is part of the numeral.
    fn negate(&mut self, expr: ExprId) -> ExprKind {
        match self.exprs.kind(expr) {
            ExprKind::Number(value) if self.exprs.span(expr) == self.cursor.previous() => {
                ExprKind::Number(-value)
            }
            _ => ExprKind::Negate(self.need_term(expr)),
        }
    }

    /// No operator follows: completes a part of the innermost open form, which then expects its next token.
    fn resume(&mut self, expr: ExprId) -> State {
        let frame = self.frames.pop().expect("the program's frame is at the bottom");
        match frame {
            Frame::Top if self.cursor.token().kind == TokenKind::End => State::Done(self.need_term(expr)),
            Frame::Paren { open, items } => self.resume_paren(expr, open, items),
            Frame::Angle { open, items } => self.resume_angle(expr, open, items),
            Frame::Arguments { applied, mut items } if self.cursor.sees(",") || self.cursor.sees(")") => {
                items.push(self.need_term(expr));
                let more = self.cursor.advance().kind == TokenKind::Symbol(",");
                if more {
                    self.wait(Frame::Arguments { applied, items })
                } else {
                    self.finish_call(applied, items)
                }
            }
            Frame::LetBound { start, pattern } if self.cursor.eat("in") => {
                let bound = self.need_term(expr);
                self.wait(Frame::LetBody { start, pattern, bound })
            }
            Frame::FunctionBody { start, head } if self.cursor.eat("in") => {
                let body = self.need_term(expr);
                self.wait(Frame::FunctionRest { start, head, body })
            }
            Frame::ConstValue { start, ident } if self.cursor.eat("in") => {
                let value = self.need_term(expr);
                self.wait(Frame::ConstBody { start, ident, value })
            }
            Frame::IfCondition { start } if self.cursor.eat("then") => {
                let condition = self.require_sort(expr, Sort::Condition);
                self.wait(Frame::IfThen { start, condition })
            }
            Frame::IfThen { start, condition } if self.cursor.eat("else") => {
                let yes = self.need_term(expr);
                self.wait(Frame::IfElse { start, condition, yes })
            }
            Frame::Point { start, kind } if self.cursor.eat("]") => self.abstraction(start, kind, expr),
            Frame::Body { start, kind, point, item } if self.cursor.eat(")") => {
                let body = self.need_term(expr);
                self.finish_derivative(start, kind, point, Abstraction::Binder(item, body))
            }
            frame => {
                self.frames.push(frame);
                self.unexpected_after()
            }
        }
    }

    fn resume_paren(&mut self, expr: ExprId, open: Span, mut items: Vec<ExprId>) -> State {
        if self.cursor.eat(",") {
            items.push(self.need_term(expr));
            return self.wait(Frame::Paren { open, items });
        }
        if !self.cursor.eat(")") {
            self.frames.push(Frame::Paren { open, items });
            return self.unexpected_after();
        }
        // A condition may stand in parentheses; the use of the group checks its sort.
        let kind = if items.is_empty() {
            ExprKind::Group(expr)
        } else {
            items.push(self.need_term(expr));
            ExprKind::Tuple(items)
        };
        State::Have(self.push(kind, open), Tightness::Atom)
    }

    fn resume_angle(&mut self, expr: ExprId, open: Span, mut items: Vec<ExprId>) -> State {
        if !self.cursor.sees(",") && !self.cursor.sees(">") {
            self.frames.push(Frame::Angle { open, items });
            return self.unexpected_after();
        }
        items.push(self.need_term(expr));
        if self.cursor.advance().kind == TokenKind::Symbol(",") {
            return self.wait(Frame::Angle { open, items });
        }
        State::Have(self.push(ExprKind::Tuple(items), open), Tightness::Atom)
    }

    pub(super) fn need_term(&mut self, expr: ExprId) -> ExprId {
        self.require_sort(expr, Sort::Term)
    }

    /// The expression if it has the required sort; otherwise reports the error here, once.
    fn require_sort(&mut self, expr: ExprId, sort: Sort) -> ExprId {
        if self.exprs.sort(expr) == sort || self.exprs.is_error(expr) {
            return expr;
        }
        let span = self.exprs.span(expr);
        let diagnostic = match sort {
            Sort::Term => Diagnostic::error(codes::BOOLEAN, span, "boolean used as a term")
                .label("a condition stands here")
                .reason("truth values are not numbers: conditions occur only after `if`")
                .help("choose between two numbers: `if … then 1 else 0`"),
            Sort::Condition => Diagnostic::error(codes::BOOLEAN, span, "term used as a boolean")
                .label("expected a comparison such as `x < 1`")
                .reason("numbers are not truth values"),
        };
        self.cursor.diagnostics.push(diagnostic);
        self.exprs.push(ExprKind::Error, span)
    }
}

/// The precedence of a frame for the operand on its right; `None` for forms that expect a word or a bracket.
fn binding_of_frame(frame: &Frame) -> Option<Binding> {
    Some(match frame {
        Frame::Binary { op, .. } => match op {
            Operator::Term(BinaryOp::Add | BinaryOp::Sub) => Binding::Sum,
            Operator::Term(BinaryOp::Mul | BinaryOp::Div) => Binding::Product,
            Operator::Term(BinaryOp::Pow) => Binding::Power,
            Operator::Compare(_) => Binding::Compare,
            Operator::And => Binding::And,
            Operator::Or => Binding::Or,
        },
        Frame::Negate { .. } => Binding::Negate,
        Frame::Not { .. } => Binding::Not,
        Frame::LetBody { .. }
        | Frame::FunctionRest { .. }
        | Frame::ConstBody { .. }
        | Frame::IfElse { .. } => Binding::OpenBody,
        _ => return None,
    })
}
