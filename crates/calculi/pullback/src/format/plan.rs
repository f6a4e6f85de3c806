//! From the tree to the gaps between its tokens.
//!
//! First every token gets the default gaps of its kind: blanks around words and `=`, a blank after a comma.
//! Then each form, visited from a work list, parents first, decides where lines may break between its own
//! tokens and its parts. Chains (`let`s, arguments, operators of one level) are planned together, because
//! their lines break together.

use eddy_syntax::Span;
use eddy_syntax::format::{Forms, Gap, Joint, Place, Planner, Range};
use eddy_syntax::lex::TokenKind;

use crate::parse::Parsed;
use crate::surface::{
    BinaryOp, Binder, Declaration, DeclarationKind, ExprId, ExprKind, Former, Tree, WrittenId,
};

/// The gap before each token of a program without errors.
pub(super) fn plan(parsed: &Parsed) -> Vec<Gap> {
    let program = &parsed.program;
    let tree = &program.tree;
    let mut style = Style { tree, plan: Planner::new(&parsed.tokens, tree) };
    style.words();
    for declaration in &program.declarations {
        style.declaration(declaration);
    }
    if let Some(main) = program.main {
        style.plan.join(style.plan.range(main).first, Joint::Line);
        style.plan.visit(main, Place::Top);
    }
    while let Some((expr, place)) = style.plan.next_form() {
        style.expr(expr, place);
    }
    style.plan.finish()
}

struct Style<'a> {
    tree: &'a Tree,
    plan: Planner<'a, Tree>,
}

impl Forms for Tree {
    type Id = ExprId;

    fn span(&self, expr: ExprId) -> Span {
        Tree::span(self, expr)
    }
}

impl Style<'_> {
    /// The default gaps of each kind of token.
    fn words(&mut self) {
        for at in 0..self.plan.tokens.len() {
            let TokenKind::Symbol(symbol) = self.plan.tokens[at].kind else { continue };
            let (before, after) = match symbol {
                "=" | "->" | ":" | "in" | "at" | "with" => (true, true),
                "let" | "fst" | "snd" | "pi1" | "pi2" | "sharp" | "flat" | "Omega" | "J" | "jacobian"
                | "grad" | "vjp" | "prim" | "def" | "type" | "assume" | "," => (false, true),
                _ => (false, false),
            };
            if before {
                self.plan.join(at, Joint::Blank);
            }
            if after && at + 1 < self.plan.tokens.len() {
                self.plan.join(at + 1, Joint::Blank);
            }
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let Range { first, .. } = self.plan.tokens_of(declaration.span);
        self.plan.join(first, Joint::Line);
        match &declaration.kind {
            DeclarationKind::Type(written) | DeclarationKind::Assume(written) => self.written(*written),
            DeclarationKind::Prim { body, .. } => self.plan.below(*body),
            DeclarationKind::Def { binders, result, body } => {
                for binder in binders {
                    self.plan.join(self.plan.tokens_of(binder.span).first, Joint::Blank);
                    self.binder(binder);
                }
                if let Some(result) = result {
                    self.written(*result);
                }
                self.plan.below(*body);
            }
        }
    }

    fn binder(&mut self, binder: &Binder) {
        if let Some(written) = binder.written {
            self.written(written);
        }
    }

    /// `R * R -> R`: products stand between blanks.
    fn written(&mut self, written: WrittenId) {
        let Range { first, last } = self.plan.tokens_of(self.tree.written_span(written));
        for at in first..=last {
            if self.plan.tokens[at].kind == TokenKind::Symbol("*") {
                self.plan.join(at, Joint::Blank);
                self.plan.join(at + 1, Joint::Blank);
            }
        }
    }

    fn expr(&mut self, expr: ExprId, place: Place) {
        let tree = self.tree;
        match tree.kind(expr) {
            ExprKind::Error | ExprKind::Number(_) | ExprKind::Name(_) | ExprKind::Zero => {}
            ExprKind::Let(..) => self.lets(expr, place),
            ExprKind::Lambda(binders, body) => self.lambda(expr, binders, *body, place),
            ExprKind::Group(inner) => self.items(&[*inner]),
            ExprKind::Tuple(items) => self.items(items),
            ExprKind::Ascribe(inner, written) => {
                self.plan.operand(*inner);
                self.written(*written);
            }
            ExprKind::Apply(..) => self.arguments(expr),
            ExprKind::Binary(..) | ExprKind::Contract(..) => {
                self.plan.operators(expr, |expr| operator(tree.kind(expr)));
            }
            ExprKind::Negate(inner) => self.plan.right_operand(*inner),
            ExprKind::Power(inner, _)
            | ExprKind::Star(inner)
            | ExprKind::Omega(inner)
            | ExprKind::Jay(inner)
            | ExprKind::Project(_, inner)
            | ExprKind::Sharp(inner)
            | ExprKind::Flat(inner) => self.plan.operand(*inner),
            ExprKind::Former(former, function, operand) => self.former(*former, *function, *operand),
            ExprKind::Derivative(_, function, point) => self.sugar(&[*function, *point]),
            ExprKind::Vjp(function, point, covector) => self.sugar(&[*function, *point, *covector]),
        }
    }

    /// `let p = e in let q = e in e`.
    fn lets(&mut self, chain: ExprId, place: Place) {
        self.plan.chain(chain, place);
        let after_in = if let Place::Top = place { Joint::Line } else { Joint::Item };
        let mut rest = chain;
        while let ExprKind::Let(binder, bound, body) = self.tree.kind(rest) {
            self.binder(binder);
            self.plan.below(*bound);
            self.plan.join(self.plan.range(*body).first, after_in);
            rest = *body;
        }
        self.plan.operand(rest);
    }

    /// `\x:R. e` and `\(x : R) y. e`.
    fn lambda(&mut self, expr: ExprId, binders: &[Binder], body: ExprId, place: Place) {
        self.plan.chain(expr, place);
        for (i, binder) in binders.iter().enumerate() {
            if i > 0 {
                self.plan.join(self.plan.tokens_of(binder.span).first, Joint::Blank);
            }
            self.binder(binder);
        }
        if let [Binder { written: Some(written), span, .. }] = binders {
            let colon = self.plan.tokens_of(self.tree.written_span(*written)).first - 1;
            // The binder of `\(x : R). e` ends with a bracket, that of `\x:R. e` with its type.
            if self.tree.written_span(*written).end == span.end {
                self.plan.join(colon, Joint::Tight);
                self.plan.join(colon + 1, Joint::Tight);
            }
        }
        self.plan.below(body);
    }

    /// The items in brackets.
    fn items(&mut self, items: &[ExprId]) {
        let tree = self.tree;
        self.plan.items(items, |item| matches!(tree.kind(item), ExprKind::Group(_) | ExprKind::Tuple(_)));
    }

    /// `f a b`, a left spine in the tree.
    fn arguments(&mut self, expr: ExprId) {
        let Range { last, .. } = self.plan.range(expr);
        let (mut function, mut first) = (expr, last);
        while let ExprKind::Apply(inner, argument) = self.tree.kind(function) {
            first = self.plan.range(*argument).first;
            self.plan.join(first, Joint::Space);
            self.plan.operand(*argument);
            function = *inner;
        }
        self.plan.group_with_joint(Range { first, last });
        self.plan.operand(function);
    }

    /// `(Ω f) · w` or `pull(f, w)`.
    fn former(&mut self, former: Former, function: ExprId, operand: ExprId) {
        let (at, before) = (self.plan.range(operand), self.plan.range(operand).first - 1);
        if self.plan.tokens[before].kind == TokenKind::Symbol(",") {
            return self.items(&[function, operand]);
        }
        self.plan.join(before, Joint::Space);
        self.plan.join(at.first, Joint::Blank);
        self.plan.group_with_joint(Range { first: before, last: at.last });
        // The parentheses around the λ of a dual map belong to the operator `(λx.s)^*`; other parentheses
        // around the function belong to the function.
        let inner = self.tree.ungroup(function);
        self.plan.operand(if former == Former::DualMap { inner } else { function });
        self.plan.right_operand(operand);
    }

    /// `jacobian f at v`.
    fn sugar(&mut self, parts: &[ExprId]) {
        for part in parts {
            self.plan.operand(*part);
        }
    }
}

/// The level of an operator that lines may break at, and its operands.
fn operator(kind: &ExprKind) -> Option<(u8, ExprId, ExprId)> {
    let (level, left, right) = match kind {
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, _, left, right) => (0, left, right),
        ExprKind::Binary(BinaryOp::Mul | BinaryOp::Div, _, left, right) => (1, left, right),
        ExprKind::Contract(left, right) => (2, left, right),
        _ => return None,
    };
    Some((level, *left, *right))
}
