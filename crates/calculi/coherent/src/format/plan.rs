//! From the tree to the gaps between its tokens: each form decides the gaps at its own tokens.

use eddy_syntax::Span;
use eddy_syntax::format::{Forms, Gap, Joint, Place, Planner, Range};
use eddy_syntax::lex::TokenKind;

use crate::parse::Parsed;
use crate::surface::{Annotation, Binders, ExprId, ExprKind, Exprs};

/// The gap before each token of a program without errors.
pub(super) fn plan(parsed: &Parsed) -> Vec<Gap> {
    let program = &parsed.program;
    let exprs = &program.exprs;
    let mut style = Style { exprs, plan: Planner::new(&parsed.tokens, exprs) };
    for pragma in &program.pragmas {
        let Range { first, last } = style.plan.tokens_of(pragma.span);
        style.plan.join(first + 1, Joint::Blank);
        style.plan.join(first + 2, Joint::Blank);
        style.plan.join(last + 1, Joint::Line);
    }
    for definition in &program.definitions {
        style.definition(definition);
    }
    style.plan.operand(program.main);
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
    /// `def x : A = M;`.
    fn definition(&mut self, definition: &crate::surface::Definition) {
        let name = self.plan.tokens_of(definition.ident.span).first;
        self.plan.join(name, Joint::Blank);
        if let Some(annotation) = &definition.annotation {
            self.plan.join(name + 1, Joint::Blank);
            self.plan.join(name + 2, Joint::Blank);
            self.annotation(annotation);
        }
        self.plan.join(self.plan.range(definition.term).first - 1, Joint::Blank);
        self.plan.below(definition.term);
        self.plan.join(self.plan.tokens_of(definition.span).last + 1, Joint::Line);
    }

    fn expr(&mut self, expr: ExprId, place: Place) {
        let exprs = self.exprs;
        match exprs.kind(expr) {
            ExprKind::Error | ExprKind::Name(_) | ExprKind::Number(_) | ExprKind::Coin(_) => {}
            ExprKind::Group(inner) => self.brackets_of(*inner),
            ExprKind::Apply(function, arguments) => self.application(*function, arguments),
            ExprKind::Prefix(_, part) => {
                self.plan.join(self.plan.range(*part).first, Joint::Blank);
                self.plan.right_operand(*part);
            }
            ExprKind::Lambda(groups, body) => self.abstractions(groups, *body),
            ExprKind::Let(..) => self.bindings(expr, place),
            ExprKind::If(..) => self.plan.conditional(expr, place, |expr| match exprs.kind(expr) {
                ExprKind::If(_, condition, yes, no) => Some((*condition, *yes, *no)),
                _ => None,
            }),
            ExprKind::Choice(_, first, second) => {
                let open = self.plan.range(expr).first + 1;
                self.plan.brackets(Range { first: open, last: self.plan.range(expr).last });
                for part in [*first, *second] {
                    self.plan.join(self.plan.range(part).first, Joint::Item);
                    self.plan.operand(part);
                }
            }
            ExprKind::Omega(annotation) => self.annotation(annotation),
            ExprKind::Linear(function, argument) => {
                self.brackets_of(*function);
                self.plan.join(self.plan.range(*argument).first, Joint::Blank);
                self.plan.right_operand(*argument);
            }
            ExprKind::Switch(first, second, test) => {
                self.plan.brackets_around(Range {
                    first: self.plan.range(*first).first,
                    last: self.plan.range(*second).last,
                });
                self.plan.join(self.plan.range(*second).first, Joint::Item);
                self.plan.operand(*first);
                self.plan.operand(*second);
                self.plan.right_operand(*test);
            }
        }
    }

    /// `M N1 … Nk`.
    fn application(&mut self, function: ExprId, arguments: &[ExprId]) {
        self.plan.operand(function);
        let is_lambda = |expr: &ExprId| matches!(self.exprs.kind(*expr), ExprKind::Lambda(..));
        let (trailing, others) = match arguments.split_last() {
            Some((last, others)) if is_lambda(last) => (Some(*last), others),
            _ => (None, arguments),
        };
        if let (Some(first), Some(last)) = (others.first(), others.last()) {
            for argument in others {
                self.plan.join(self.plan.range(*argument).first, Joint::Space);
                self.plan.operand(*argument);
            }
            self.plan.group_with_joint(Range {
                first: self.plan.range(*first).first,
                last: self.plan.range(*last).last,
            });
        }
        if let Some(lambda) = trailing {
            self.plan.join(self.plan.range(lambda).first, Joint::Blank);
            self.plan.operand(lambda);
        }
    }

    /// `\x:A. \y:B. M`.
    fn abstractions(&mut self, groups: &[Binders], body: ExprId) {
        self.binders(groups);
        let mut rest = body;
        while let ExprKind::Lambda(groups, body) = self.exprs.kind(rest) {
            self.plan.join(self.plan.range(rest).first, Joint::Blank);
            self.binders(groups);
            rest = *body;
        }
        self.plan.below(rest);
    }

    /// `(x y:A)(z:B)`.
    fn binders(&mut self, groups: &[Binders]) {
        for group in groups {
            for ident in &group.idents[1..] {
                self.plan.join(self.plan.tokens_of(ident.span).first, Joint::Blank);
            }
            self.annotation(&group.annotation);
        }
    }

    /// `let x = M in let y = N in P`.
    fn bindings(&mut self, chain: ExprId, place: Place) {
        self.plan.chain(chain, place);
        let mut rest = chain;
        while let ExprKind::Let(_, ident, bound, body) = self.exprs.kind(rest) {
            let Range { first, last } = self.plan.range(*bound);
            self.plan.join(self.plan.tokens_of(ident.span).first, Joint::Blank);
            self.plan.join(first - 1, Joint::Blank);
            self.plan.below(*bound);
            self.plan.join(last + 1, Joint::Blank);
            self.plan.join(last + 2, Joint::Item);
            rest = *body;
        }
        self.plan.operand(rest);
    }

    /// `(nat -> nat) -> D^2 nat`.
    fn annotation(&mut self, annotation: &Annotation) {
        let range = self.plan.tokens_of(annotation.span);
        for at in range.first..=range.last {
            match self.plan.tokens[at].kind {
                // After `D` or the number of `D^2`.
                TokenKind::Symbol("D") if self.plan.tokens[at + 1].kind != TokenKind::Symbol("^") => {
                    self.plan.join(at + 1, Joint::Blank);
                }
                TokenKind::Number => self.plan.join(at + 1, Joint::Blank),
                _ => {}
            }
        }
        self.plan.lines_before(range, &["->", "=>"]);
    }

    /// One term in brackets.
    fn brackets_of(&mut self, inner: ExprId) {
        let exprs = self.exprs;
        self.plan.items(&[inner], |inner| matches!(exprs.kind(inner), ExprKind::Group(_)));
    }
}
