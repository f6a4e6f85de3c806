//! Parsing of tokens after an atom, an operand, a block or an expression.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Diagnostic, Span};

use super::{Frame, Parser, State};
use crate::codes;
use crate::dialect::Dialect;
use crate::integer::{Level, Op};
use crate::surface::{Argument, ExprId, ExprKind};

impl Parser<'_> {
    /// Closes the operators in front of an atom; then an argument follows, or the operand ends.
    pub(super) fn after_atom(&mut self, expr: ExprId) -> State {
        let (function, mut arguments) = match self.frames.pop() {
            Some(Frame::Prefix { start, prefix }) => {
                return State::HaveAtom(self.push(ExprKind::Prefix(prefix, expr), start));
            }
            Some(Frame::Words { function: None, arguments }) => (expr, arguments),
            Some(Frame::Words { function: Some(function), mut arguments }) => {
                arguments.push(Argument::Term(expr));
                (function, arguments)
            }
            _ => unreachable!("only an operator or an application expects an atom"),
        };
        while self.dialect == Dialect::SystemF && self.reader.sees("[") {
            let open = self.reader.advance().span;
            let argument = self.annotation().filter(|_| self.reader.expect("]"));
            let Some(annotation) = argument else {
                self.frames.push(Frame::Words { function: Some(function), arguments });
                return self.recover();
            };
            arguments.push(Argument::Type(annotation, open.to(self.reader.previous())));
        }
        let goes_on = match self.reader.token().kind {
            TokenKind::Name | TokenKind::Number | TokenKind::Symbol("(") => true,
            TokenKind::Symbol("!" | "⟨") => self.dialect == Dialect::References,
            _ => false,
        };
        if goes_on {
            self.frames.push(Frame::Words { function: Some(function), arguments });
            return State::Atom;
        }
        if arguments.is_empty() {
            return State::HaveOperand(function);
        }
        let span = self.exprs.span(function).to(self.reader.previous());
        State::HaveOperand(self.exprs.push(ExprKind::Apply(function, arguments), span))
    }

    /// An operator follows, or the operands end. An operator on the left that binds at least as tightly as
    /// the next one first takes this operand as its right side.
    pub(super) fn after_operand(&mut self, mut expr: ExprId) -> State {
        let next = match self.reader.token().kind {
            TokenKind::Symbol(symbol) => Op::of_symbol(symbol),
            _ => None,
        };
        while let Some(Frame::Binary { op, left }) = self.frames.last() {
            let (op, left) = (*op, *left);
            if next.is_some_and(|next| next.level() > op.level()) {
                break;
            }
            if next.is_some() && op.level() == Level::Comparison {
                return self.no_chain();
            }
            self.frames.pop();
            let span = self.exprs.span(left).to(self.exprs.span(expr));
            expr = self.exprs.push(ExprKind::Binary(op, left, expr), span);
        }
        if let Some(op) = next {
            self.reader.advance();
            self.frames.push(Frame::Binary { op, left: expr });
            return State::Operand;
        }
        if self.dialect == Dialect::References && self.reader.eat(":=") {
            self.frames.push(Frame::Assign { target: expr });
            return State::Block;
        }
        State::HaveBlock(expr)
    }

    fn no_chain(&mut self) -> State {
        let span = self.reader.token().span;
        let title = "parse error: comparisons do not chain";
        let diagnostic = Diagnostic::error(codes::SYNTAX, span, title)
            .label("a second comparison")
            .help("put one of the comparisons in parentheses");
        self.reader.report(diagnostic);
        self.recover()
    }

    /// Closes the forms that end with a block; then `;` follows, or the expression ends.
    pub(super) fn after_block(&mut self, expr: ExprId) -> State {
        match self.frames.pop() {
            Some(Frame::Assign { target }) => {
                let span = self.exprs.span(target).to(self.exprs.span(expr));
                State::HaveBlock(self.exprs.push(ExprKind::Assign(target, expr), span))
            }
            Some(Frame::IfElse { start, condition, yes }) => {
                State::HaveBlock(self.push(ExprKind::If(condition, yes, expr), start))
            }
            Some(frame) => {
                self.frames.push(frame);
                if self.dialect == Dialect::References && self.reader.eat(";") {
                    self.frames.push(Frame::Sequence { first: expr });
                    return State::Block;
                }
                State::HaveExpr(expr)
            }
            None => unreachable!("the frame of the program is still there"),
        }
    }

    /// Gives an expression to the form that expects it.
    pub(super) fn after_expr(&mut self, expr: ExprId) -> State {
        let frame = self.frames.pop().expect("the frame of the program is still there");
        match frame {
            Frame::Main => {
                if self.reader.token().kind == TokenKind::End {
                    return State::Done(expr);
                }
                self.unexpected(Frame::Main)
            }
            Frame::Bracket { open, close, items } => self.in_bracket(expr, open, close, items),
            Frame::Sequence { first } => {
                let span = self.exprs.span(first).to(self.exprs.span(expr));
                State::HaveExpr(self.exprs.push(ExprKind::Sequence(first, expr), span))
            }
            Frame::Lambda { start, binders } => {
                State::HaveBlock(self.push(ExprKind::Lambda(binders, expr), start))
            }
            Frame::TypeLambda { start, idents } => {
                self.type_names.truncate(self.type_names.len() - idents.len());
                State::HaveBlock(self.push(ExprKind::TypeLambda(idents, expr), start))
            }
            Frame::Fix { start, ident, annotation } => {
                State::HaveBlock(self.push(ExprKind::Fix(ident, annotation, expr), start))
            }
            Frame::LetBound { start, ident, params } => {
                if !self.reader.eat("in") {
                    return self.unexpected(Frame::LetBound { start, ident, params });
                }
                self.want(Frame::LetBody { start, ident, params, bound: expr })
            }
            Frame::LetBody { start, ident, params, bound } => {
                State::HaveBlock(self.push(ExprKind::Let(ident, params, bound, expr), start))
            }
            Frame::IfCondition { start } => {
                if !self.reader.eat("then") {
                    return self.unexpected(Frame::IfCondition { start });
                }
                self.want(Frame::IfThen { start, condition: expr })
            }
            Frame::IfThen { start, condition } => {
                if !self.reader.eat("else") {
                    return self.unexpected(Frame::IfThen { start, condition });
                }
                self.want(Frame::IfElse { start, condition, yes: expr })
            }
            Frame::Words { .. }
            | Frame::Prefix { .. }
            | Frame::Binary { .. }
            | Frame::Assign { .. }
            | Frame::IfElse { .. } => unreachable!("these forms do not expect a whole expression"),
        }
    }

    /// `(e)`, or one part of `(e1, …, en)`.
    fn in_bracket(&mut self, expr: ExprId, open: Span, close: &'static str, mut items: Vec<ExprId>) -> State {
        if self.reader.sees(",") && self.dialect == Dialect::References {
            self.reader.advance();
            items.push(expr);
            return self.want(Frame::Bracket { open, close, items });
        }
        if !self.reader.sees(close) {
            return self.unexpected(Frame::Bracket { open, close, items });
        }
        if close == "⟩" && items.is_empty() {
            self.reader.syntax_error("`,`");
            self.reader.help("a pair has two parts");
        }
        self.reader.advance();
        if items.is_empty() {
            return State::HaveAtom(self.push(ExprKind::Group(expr), open));
        }
        items.push(expr);
        State::HaveAtom(self.push(ExprKind::Tuple(items), open))
    }

    fn want(&mut self, frame: Frame) -> State {
        self.frames.push(frame);
        State::Block
    }

    fn unexpected(&mut self, frame: Frame) -> State {
        self.frames.push(frame);
        self.unexpected_after()
    }
}
