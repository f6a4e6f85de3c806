//! From the tree to the gaps between its tokens: each form decides the gaps at its own tokens.

use eddy_syntax::Span;
use eddy_syntax::format::{Forms, Gap, Joint, Place, Planner, Range};
use eddy_syntax::lex::TokenKind;

use crate::parse::Parsed;
use crate::surface::{Abstraction, Annotation, BinaryOp, ExprId, ExprKind, Exprs, Head, Item, Pattern};

/// The gap before each token of a program without errors.
pub(super) fn plan(parsed: &Parsed) -> Vec<Gap> {
    let program = &parsed.program;
    let exprs = &program.exprs;
    let mut style = Style { exprs, plan: Planner::new(&parsed.tokens, exprs) };
    for directive in &program.directives {
        let name = style.plan.tokens_of(directive.span).first;
        style.plan.join(name, Joint::Blank);
        style.plan.join(name + 1, Joint::Line);
    }
    style.plan.visit(program.term, Place::Top);
    while let Some((expr, place)) = style.plan.next_form() {
        style.expr(expr, place);
    }
    style.plan.finish()
}

struct Style<'a> {
    exprs: &'a Exprs,
    plan: Planner<'a, Exprs>,
}

impl Forms for Exprs {
    type Id = ExprId;

    fn span(&self, expr: ExprId) -> Span {
        Exprs::span(self, expr)
    }
}

impl Style<'_> {
    fn expr(&mut self, expr: ExprId, place: Place) {
        let exprs = self.exprs;
        match exprs.kind(expr) {
            ExprKind::Let(..) | ExprKind::Function(..) | ExprKind::Const(..) => {
                self.definitions(expr, place);
            }
            ExprKind::If(..) => self.plan.conditional(expr, place, |expr| match exprs.kind(expr) {
                ExprKind::If(condition, yes, no) => Some((*condition, *yes, *no)),
                _ => None,
            }),
            ExprKind::Call(_, _, items) | ExprKind::Tuple(items) => self.items(items),
            ExprKind::ReverseCall(cotangent, _, _, items) => {
                self.plan.operand(*cotangent);
                self.items(items);
            }
            ExprKind::Group(inner) => self.items(&[*inner]),
            ExprKind::Binary(BinaryOp::Pow, _, left, right) => {
                self.plan.operand(*left);
                self.plan.right_operand(*right);
            }
            ExprKind::Binary(..) | ExprKind::Compare(..) | ExprKind::And(..) | ExprKind::Or(..) => {
                self.plan.operators(expr, |expr| operator(exprs.kind(expr)));
            }
            ExprKind::Power(base, _) => self.plan.operand(*base),
            ExprKind::Negate(inner) => self.plan.right_operand(*inner),
            ExprKind::Not(inner) => {
                self.plan.join(self.plan.range(*inner).first, Joint::Blank);
                self.plan.right_operand(*inner);
            }
            ExprKind::Derivative(_, cotangent, point, of) => {
                self.plan.operand(*cotangent);
                self.derivative(*point, of);
            }
            ExprKind::Gradient(point, of) => self.derivative(*point, of),
            ExprKind::Zero(annotation) => self.annotation(annotation),
            ExprKind::Error
            | ExprKind::Number(_)
            | ExprKind::Unit
            | ExprKind::Name(_)
            | ExprKind::Truth(_) => {}
        }
    }

    /// `let … = M in let … = N in L`.
    fn definitions(&mut self, chain: ExprId, place: Place) {
        self.plan.chain(chain, place);
        let after_in = if let Place::Top = place { Joint::Line } else { Joint::Item };
        let mut rest = chain;
        while let Some((bound, body)) = self.definition_head(rest) {
            let Range { first, last } = self.plan.range(bound);
            // `let <x>=1` has one token for the bracket and the `=`.
            let is_halved = self.plan.tokens[first - 1].kind == TokenKind::Symbol(">=");
            if !is_halved {
                self.plan.join(first - 1, Joint::Blank);
            }
            self.plan.below(bound);
            self.plan.join(last + 1, Joint::Blank);
            self.plan.join(last + 2, after_in);
            rest = body;
        }
        self.plan.operand(rest);
    }

    /// Plans the part before the `=` of a definition; returns what follows the `=` and the `in`.
    fn definition_head(&mut self, expr: ExprId) -> Option<(ExprId, ExprId)> {
        let exprs = self.exprs;
        let keyword = self.plan.range(expr).first;
        match exprs.kind(expr) {
            ExprKind::Let(pattern, bound, body) => {
                self.plan.join(keyword + 1, Joint::Blank);
                self.pattern(pattern);
                Some((*bound, *body))
            }
            ExprKind::Function(head, body, rest) => {
                self.head(head);
                Some((*body, *rest))
            }
            ExprKind::Const(_, value, body) => {
                self.plan.join(keyword + 1, Joint::Blank);
                Some((*value, *body))
            }
            _ => None,
        }
    }

    fn head(&mut self, head: &Head) {
        self.plan.join(self.plan.tokens_of(head.ident.span).first, Joint::Blank);
        self.binders(self.plan.tokens_of(head.params_span), &head.params);
        self.annotation(&head.result);
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Name(item) => self.binder(item),
            Pattern::Tuple(items, span) => self.binders(self.plan.tokens_of(*span), items),
        }
    }

    fn binders(&mut self, brackets: Range, items: &[Item]) {
        if items.is_empty() {
            return;
        }
        self.plan.brackets(brackets);
        for item in items {
            self.binder(item);
        }
        for item in &items[1..] {
            self.plan.join(self.plan.tokens_of(item.ident.span).first, Joint::Item);
        }
    }

    fn binder(&mut self, item: &Item) {
        if let Some(annotation) = &item.annotation {
            self.annotation(annotation);
        }
    }

    /// `real * (real * real)^2`.
    fn annotation(&mut self, annotation: &Annotation) {
        self.plan.lines_before(self.plan.tokens_of(annotation.span), &["*"]);
    }

    /// `(M, N)`, or the arguments of a call.
    fn items(&mut self, items: &[ExprId]) {
        let exprs = self.exprs;
        self.plan.items(items, |item| matches!(exprs.kind(item), ExprKind::Group(_) | ExprKind::Tuple(_)));
    }

    /// `[L](x:T. N)`.
    fn derivative(&mut self, point: ExprId, of: &Abstraction) {
        self.items(&[point]);
        if let Abstraction::Binder(item, body) = of {
            self.binder(item);
            let range = self.plan.range(*body);
            self.plan.join(range.first, Joint::Space);
            self.plan.join(range.last + 1, Joint::Close);
            self.plan.group_with_joint(Range { first: range.first, last: range.last + 1 });
            self.plan.visit(*body, Place::Joined);
        }
    }
}

/// The level of an operator that lines may break at, and its operands.
fn operator(kind: &ExprKind) -> Option<(u8, ExprId, ExprId)> {
    let (level, left, right) = match kind {
        ExprKind::Or(left, right) => (0, left, right),
        ExprKind::And(left, right) => (1, left, right),
        ExprKind::Compare(_, _, left, right) => (2, left, right),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, _, left, right) => (3, left, right),
        ExprKind::Binary(BinaryOp::Mul | BinaryOp::Div, _, left, right) => (4, left, right),
        _ => return None,
    };
    Some((level, *left, *right))
}
