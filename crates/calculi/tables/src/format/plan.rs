//! From the tree to the gaps between its tokens: each form decides the gaps at its own tokens.

use eddy_syntax::Span;
use eddy_syntax::format::{Forms, Gap, Joint, Place, Planner, Range};
use eddy_syntax::lex::TokenKind;

use crate::parse::Parsed;
use crate::surface::{Annotation, Argument, Binder, ExprId, ExprKind, Exprs, Prefix};

/// The gap before each token of a program without errors.
pub(super) fn plan(parsed: &Parsed) -> Vec<Gap> {
    let program = &parsed.program;
    let exprs = &program.exprs;
    let mut style = Style { exprs, plan: Planner::new(&parsed.tokens, exprs) };
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
    fn expr(&mut self, expr: ExprId, place: Place) {
        let exprs = self.exprs;
        match exprs.kind(expr) {
            ExprKind::Error | ExprKind::Name(_) | ExprKind::Int(_) => {}
            ExprKind::Group(inner) => self.brackets_of(*inner),
            ExprKind::Tuple(items) => self.tuple(expr, items),
            ExprKind::Apply(function, arguments) => self.application(*function, arguments),
            ExprKind::Prefix(prefix, part) => {
                if *prefix != Prefix::Read {
                    self.plan.join(self.plan.range(*part).first, Joint::Blank);
                }
                self.plan.right_operand(*part);
            }
            ExprKind::Binary(..) => self.plan.operators(expr, |expr| match exprs.kind(expr) {
                ExprKind::Binary(op, left, right) => Some((op.level(), *left, *right)),
                _ => None,
            }),
            ExprKind::Lambda(..) | ExprKind::TypeLambda(..) | ExprKind::Fix(..) => self.abstractions(expr),
            ExprKind::Let(..) | ExprKind::Sequence(..) => self.bindings(expr, place),
            ExprKind::If(..) => self.plan.conditional(expr, place, |expr| match exprs.kind(expr) {
                ExprKind::If(condition, yes, no) => Some((*condition, *yes, *no)),
                _ => None,
            }),
            ExprKind::Assign(target, value) => {
                self.plan.operand(*target);
                self.plan.join(self.plan.range(*value).first - 1, Joint::Blank);
                self.plan.below(*value);
            }
        }
    }

    /// `(e1, …, en)`.
    fn tuple(&mut self, expr: ExprId, items: &[ExprId]) {
        self.plan.brackets(self.plan.range(expr));
        for item in &items[1..] {
            self.plan.join(self.plan.range(*item).first, Joint::Item);
        }
        for item in items {
            self.plan.operand(*item);
        }
    }

    /// `e a1 … an`.
    fn application(&mut self, function: ExprId, arguments: &[Argument]) {
        self.plan.operand(function);
        let mut group: Option<Range> = None;
        for argument in arguments {
            match argument {
                Argument::Term(term) => {
                    let range = self.plan.range(*term);
                    self.plan.join(range.first, Joint::Space);
                    self.plan.operand(*term);
                    let first = group.map_or(range.first, |group| group.first);
                    group = Some(Range { first, last: range.last });
                }
                Argument::Type(annotation, brackets) => {
                    self.annotation(annotation);
                    let last = self.plan.tokens_of(*brackets).last;
                    group = group.map(|group| Range { last, ..group });
                }
            }
        }
        if let Some(range) = group {
            self.plan.group_with_joint(range);
        }
    }

    /// `\x. /\a. fix f : A. e`.
    fn abstractions(&mut self, chain: ExprId) {
        let mut rest = chain;
        loop {
            if rest.ne(&chain) {
                self.plan.join(self.plan.range(rest).first, Joint::Blank);
            }
            rest = match self.exprs.kind(rest) {
                ExprKind::Lambda(binders, body) => {
                    self.binders(binders, Joint::Tight);
                    *body
                }
                ExprKind::TypeLambda(idents, body) => {
                    for ident in &idents[1..] {
                        self.plan.join(self.plan.tokens_of(ident.span).first, Joint::Blank);
                    }
                    *body
                }
                ExprKind::Fix(ident, annotation, body) => {
                    let name = self.plan.tokens_of(ident.span).first;
                    for at in name..name + 3 {
                        self.plan.join(at, Joint::Blank);
                    }
                    self.annotation(annotation);
                    *body
                }
                _ => break,
            };
        }
        self.plan.below(rest);
    }

    /// `x y`, `x:A` or `(x : A)(y : B)`.
    fn binders(&mut self, binders: &[Binder], first: Joint) {
        for (i, binder) in binders.iter().enumerate() {
            let name = self.plan.tokens_of(binder.ident.span).first;
            let is_bracketed = self.plan.tokens[name - 1].kind == TokenKind::Symbol("(");
            let joint = if i == 0 { first } else { Joint::Blank };
            if joint != Joint::Tight && (i == 0 || !is_bracketed || first == Joint::Blank) {
                self.plan.join(if is_bracketed { name - 1 } else { name }, joint);
            }
            if let Some(annotation) = &binder.annotation {
                self.annotation(annotation);
            }
        }
    }

    /// `let x = a in b; c`.
    fn bindings(&mut self, chain: ExprId, place: Place) {
        self.plan.chain(chain, place);
        let mut rest = chain;
        loop {
            match self.exprs.kind(rest) {
                ExprKind::Let(ident, params, bound, body) => {
                    let Range { first, last } = self.plan.range(*bound);
                    self.plan.join(self.plan.tokens_of(ident.span).first, Joint::Blank);
                    self.binders(params, Joint::Blank);
                    self.plan.join(first - 1, Joint::Blank);
                    self.plan.below(*bound);
                    self.plan.join(last + 1, Joint::Blank);
                    self.plan.join(last + 2, Joint::Item);
                    rest = *body;
                }
                ExprKind::Sequence(first, second) => {
                    self.plan.operand(*first);
                    self.plan.join(self.plan.range(*first).last + 2, Joint::Item);
                    rest = *second;
                }
                _ => return self.plan.operand(rest),
            }
        }
    }

    /// `(a -> b) -> forall c. ref c`.
    fn annotation(&mut self, annotation: &Annotation) {
        let range = self.plan.tokens_of(annotation.span);
        let mut quantifies = false;
        for at in range.first..=range.last {
            match self.plan.tokens[at].kind {
                TokenKind::Symbol("*") => {
                    self.plan.join(at, Joint::Blank);
                    self.plan.join(at + 1, Joint::Blank);
                }
                TokenKind::Symbol("ref") => self.plan.join(at + 1, Joint::Blank),
                TokenKind::Symbol("forall") => quantifies = true,
                TokenKind::Symbol(".") => {
                    quantifies = false;
                    self.plan.join(at + 1, Joint::Blank);
                }
                TokenKind::Name if quantifies => self.plan.join(at, Joint::Blank),
                _ => {}
            }
        }
        self.plan.lines_before(range, &["->"]);
    }

    /// One term in brackets.
    fn brackets_of(&mut self, inner: ExprId) {
        let exprs = self.exprs;
        self.plan.items(&[inner], |inner| matches!(exprs.kind(inner), ExprKind::Group(_)));
    }
}
