//! Parsing of tokens after an operand.

use eddy_syntax::Span;
use eddy_syntax::lex::TokenKind;

use super::{Bracket, Frame, Head, Parser, Prefix, State, Sugar, Tightness};
use crate::surface::{BinaryOp, DeclarationKind, ExprId, ExprKind, Former};

/// Precedences, loosest first. The open bodies of `λ` and `let` extend as far right as possible.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    OpenBody,
    Sum,
    Product,
    Negate,
    Contract,
    Dot,
    Sugar,
    Application,
}

impl Parser<'_> {
    pub(super) fn after(&mut self, expr: ExprId, tightness: Tightness) -> State {
        if tightness == Tightness::Post {
            if self.cursor.sees("^") {
                return self.power(expr);
            }
            if self.cursor.sees("^*") {
                let start = self.tree().span(expr);
                self.cursor.advance();
                return State::Have(self.push(ExprKind::Star(expr), start), Tightness::Post);
            }
        }
        let held = self.frames.last().and_then(binding_of_frame);
        if held == Some(Binding::Application) {
            return self.reduce(expr);
        }
        if self.starts_argument() && matches!(tightness, Tightness::Post | Tightness::Application) {
            return self.wait(Frame::Argument { function: expr });
        }
        match (self.operator(), held) {
            // The form on the left binds at least as tightly, so it is complete. `·` associates to the right.
            (Some(binding), Some(held)) if held > binding || (held == binding && binding != Binding::Dot) => {
                self.reduce(expr)
            }
            (Some(_), _) => self.infix(expr),
            (None, Some(_)) => self.reduce(expr),
            (None, None) => self.resume(expr),
        }
    }

    /// The precedence of the next infix operator.
    fn operator(&self) -> Option<Binding> {
        let TokenKind::Symbol(symbol) = self.cursor.token().kind else { return None };
        Some(match symbol {
            "+" | "-" => Binding::Sum,
            "*" | "/" => Binding::Product,
            "@" => Binding::Contract,
            "." => Binding::Dot,
            _ => return None,
        })
    }

    fn infix(&mut self, left: ExprId) -> State {
        let token = self.cursor.advance();
        let at = token.span;
        let op = match token.kind {
            TokenKind::Symbol("+") => BinaryOp::Add,
            TokenKind::Symbol("-") => BinaryOp::Sub,
            TokenKind::Symbol("*") => BinaryOp::Mul,
            TokenKind::Symbol("/") => BinaryOp::Div,
            TokenKind::Symbol("@") => return self.wait(Frame::Contract { left }),
            _ => return self.wait(Frame::Dot { left, at }),
        };
        self.wait(Frame::Binary { op, at, left })
    }

    /// `e ^ k`.
    fn power(&mut self, base: ExprId) -> State {
        let start = self.tree().span(base);
        self.cursor.advance();
        let Some(exponent) = self.exponent(0) else { return self.recover() };
        State::Have(self.push(ExprKind::Power(base, exponent), start), Tightness::Post)
    }

    /// Completes the innermost operator with its last operand.
    fn reduce(&mut self, expr: ExprId) -> State {
        let frame = self.frames.pop().expect("an operator's frame was seen on top");
        let span_of = |parser: &mut Self, id| parser.tree().span(id);
        let (kind, start, tightness) = match frame {
            Frame::Binary { op, at, left } => {
                (ExprKind::Binary(op, at, left, expr), span_of(self, left), Tightness::Loose)
            }
            Frame::Contract { left } => {
                (ExprKind::Contract(left, expr), span_of(self, left), Tightness::Loose)
            }
            Frame::Dot { left, at } => return self.dot(left, at, expr),
            Frame::Negate { minus } => (self.negate(expr), minus, Tightness::Loose),
            Frame::Prefix { start, prefix } => {
                let (kind, tightness) = prefixed(prefix, expr);
                (kind, start, tightness)
            }
            Frame::Argument { function } => {
                let tightness = if self.is_open(expr) { Tightness::Loose } else { Tightness::Application };
                (ExprKind::Apply(function, expr), span_of(self, function), tightness)
            }
            Frame::LambdaBody { start, binders } => {
                (ExprKind::Lambda(binders, expr), start, Tightness::Loose)
            }
            Frame::LetBody { start, binder, bound } => {
                (ExprKind::Let(binder, bound, expr), start, Tightness::Loose)
            }
            frame => return self.reduce_sugar(frame, expr),
        };
        State::Have(self.push(kind, start), tightness)
    }

    /// Whether this is an unparenthesised λ, which extends as far as possible.
    fn is_open(&mut self, expr: ExprId) -> bool {
        matches!(self.tree().kind(expr), ExprKind::Lambda(..))
    }

    fn reduce_sugar(&mut self, frame: Frame, expr: ExprId) -> State {
        let (kind, start) = match frame {
            Frame::SugarFunction { start, sugar } => {
                if !self.cursor.sees("at") {
                    self.frames.push(Frame::SugarFunction { start, sugar });
                    return self.fail("`at`");
                }
                self.cursor.advance();
                return self.wait(Frame::SugarPoint { start, sugar, function: expr });
            }
            Frame::SugarPoint { start, sugar: Sugar::Vjp, function } => {
                if !self.cursor.sees("with") {
                    self.frames.push(Frame::SugarPoint { start, sugar: Sugar::Vjp, function });
                    return self.fail("`with`");
                }
                self.cursor.advance();
                return self.wait(Frame::SugarCovector { start, function, point: expr });
            }
            Frame::SugarPoint { start, sugar: Sugar::Derivative(derivative), function } => {
                (ExprKind::Derivative(derivative, function, expr), start)
            }
            Frame::SugarCovector { start, function, point } => (ExprKind::Vjp(function, point, expr), start),
            _ => unreachable!("only frames with a binding are reduced"),
        };
        State::Have(self.push(kind, start), Tightness::Loose)
    }

    /// The left side of `·` must be an operator, in parentheses or not.
    fn dot(&mut self, left: ExprId, at: Span, right: ExprId) -> State {
        let start = self.tree().span(left);
        let operator = self.tree().ungroup(left);
        let tree = &self.program.tree;
        let (former, function) = match *tree.kind(operator) {
            ExprKind::Omega(inner) => (Former::Pullback, inner),
            ExprKind::Jay(inner) => (Former::Jacobian, inner),
            ExprKind::Star(inner) if tree.is_lambda(inner) => (Former::DualMap, inner),
            ExprKind::Error => (Former::Pullback, operator),
            _ => {
                self.report_no_operator(start, at);
                let error = self.error_node();
                return State::Have(error, Tightness::Loose);
            }
        };
        self.applied_operators.insert(operator);
        State::Have(self.push(ExprKind::Former(former, function, right), start), Tightness::Loose)
    }

    /// A minus directly before a bare numeral is part of the numeral.
    fn negate(&mut self, expr: ExprId) -> ExprKind {
        let (previous, tree) = (self.cursor.previous(), &self.program.tree);
        match tree.kind(expr) {
            ExprKind::Number(value) if tree.span(expr) == previous => ExprKind::Number(-value),
            _ => ExprKind::Negate(expr),
        }
    }

    /// No operator follows: completes a part of the innermost open form, which then expects its next token.
    fn resume(&mut self, expr: ExprId) -> State {
        let frame = self.frames.pop().expect("a declaration's frame is at the bottom");
        match frame {
            Frame::Main if self.ends_main() => {
                self.program.main = Some(expr);
                State::Done
            }
            Frame::Declaration(head) if self.cursor.eat(";") => {
                self.finish_declaration(head, expr);
                State::Done
            }
            Frame::Tuple { open, bracket, items } => self.resume_tuple(expr, open, bracket, items),
            Frame::Former { start, former, first: None } if self.cursor.eat(",") => {
                self.wait(Frame::Former { start, former, first: Some(expr) })
            }
            Frame::Former { start, former, first: Some(first) } if self.cursor.eat(")") => {
                if former == Former::DualMap && !self.tree().is_lambda(first) {
                    self.report_no_lambda(first);
                }
                State::Have(self.push(ExprKind::Former(former, first, expr), start), Tightness::Post)
            }
            Frame::LetBound { start, binder } if self.cursor.eat("in") => {
                self.wait(Frame::LetBody { start, binder, bound: expr })
            }
            frame => {
                self.frames.push(frame);
                self.unexpected_after()
            }
        }
    }

    /// `[";"]` and the end of the file.
    fn ends_main(&mut self) -> bool {
        let semicolon = self.cursor.sees(";");
        let next = self.cursor.tokens.get(self.cursor.at + usize::from(semicolon)).map(|token| token.kind);
        let ends = next == Some(TokenKind::End);
        if ends && semicolon {
            self.cursor.advance();
        }
        ends
    }

    pub(super) fn finish_declaration(&mut self, head: Head, body: ExprId) {
        match head {
            Head::Prim { start, ident, params } => {
                self.declare(ident, DeclarationKind::Prim { params, body }, start);
            }
            Head::Def { start, ident, binders, result } => {
                self.declare(ident, DeclarationKind::Def { binders, result, body }, start);
            }
        }
    }

    fn resume_tuple(&mut self, expr: ExprId, open: Span, bracket: Bracket, mut items: Vec<ExprId>) -> State {
        if self.cursor.eat(",") {
            items.push(expr);
            return self.wait(Frame::Tuple { open, bracket, items });
        }
        if bracket == Bracket::Paren && items.is_empty() && self.cursor.eat(":") {
            let Some(written) = self.written() else {
                self.frames.push(Frame::Tuple { open, bracket, items });
                return self.recover();
            };
            if !self.expect(")") {
                self.frames.push(Frame::Tuple { open, bracket, items });
                return self.recover();
            }
            return State::Have(self.push(ExprKind::Ascribe(expr, written), open), Tightness::Post);
        }
        if !self.cursor.eat(bracket.close()) {
            self.frames.push(Frame::Tuple { open, bracket, items });
            return self.unexpected_after();
        }
        let kind = if items.is_empty() {
            ExprKind::Group(expr)
        } else {
            items.push(expr);
            ExprKind::Tuple(items)
        };
        State::Have(self.push(kind, open), Tightness::Post)
    }
}

fn prefixed(prefix: Prefix, expr: ExprId) -> (ExprKind, Tightness) {
    match prefix {
        Prefix::Project(side) => (ExprKind::Project(side, expr), Tightness::Application),
        Prefix::Sharp => (ExprKind::Sharp(expr), Tightness::Application),
        Prefix::Flat => (ExprKind::Flat(expr), Tightness::Application),
        Prefix::Omega => (ExprKind::Omega(expr), Tightness::Operator),
        Prefix::Jay => (ExprKind::Jay(expr), Tightness::Operator),
    }
}

/// The precedence of a frame for the operand on its right; `None` for forms that expect a word or a bracket.
fn binding_of_frame(frame: &Frame) -> Option<Binding> {
    Some(match frame {
        Frame::Binary { op: BinaryOp::Add | BinaryOp::Sub, .. } => Binding::Sum,
        Frame::Binary { .. } => Binding::Product,
        Frame::Contract { .. } => Binding::Contract,
        Frame::Dot { .. } => Binding::Dot,
        Frame::Negate { .. } => Binding::Negate,
        Frame::Prefix { .. } | Frame::Argument { .. } => Binding::Application,
        Frame::LambdaBody { .. } | Frame::LetBody { .. } => Binding::OpenBody,
        Frame::SugarFunction { .. } | Frame::SugarPoint { .. } | Frame::SugarCovector { .. } => {
            Binding::Sugar
        }
        _ => return None,
    })
}
