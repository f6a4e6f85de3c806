//! From the tree to the gaps between its tokens.
//!
//! First every token gets what its kind wants around it: words and `=` want blanks, a comma one behind it. Then each form, visited from a work list, parents
//! first, says where lines may break: it knows its own tokens from those of its parts. Chains (`let`s, arguments, operators of one level) are planned in one go,
//! because their lines break together.

use eddy_syntax::Span;
use eddy_syntax::format::{Gap, INDENT, Joint};
use eddy_syntax::lex::{Token, TokenKind};

use crate::parse::Parsed;
use crate::surface::{
    BinaryOp, Binder, Declaration, DeclarationKind, ExprId, ExprKind, Former, Tree, WrittenId,
};

/// The gap before each token of a program without mistakes.
pub(super) fn plan(parsed: &Parsed) -> Vec<Gap> {
    let program = &parsed.program;
    let gaps = vec![Gap::default(); parsed.tokens.len()];
    let mut planner = Planner { tokens: &parsed.tokens, tree: &program.tree, gaps, work: Vec::new() };
    planner.words();
    for declaration in &program.declarations {
        planner.declaration(declaration);
    }
    if let Some(main) = program.main {
        planner.join(planner.range(main).first, Joint::Line);
        planner.visit(main, Place::Top);
    }
    while let Some((expr, place)) = planner.work.pop() {
        planner.expr(expr, place);
    }
    planner.join(0, Joint::Edge);
    planner.join(parsed.tokens.len() - 1, Joint::Edge);
    planner.gaps
}

/// Where a form stands, which decides how a chain of `let`s breaks.
#[derive(Clone, Copy)]
enum Place {
    /// At the top of the main expression: each `let` has a line.
    Top,
    /// Directly after a line break of the form around it: the chain breaks exactly when that form does.
    Joined,
    /// Anywhere else: the chain is a group, indented by so much.
    Group(u8),
}

/// The tokens of a form, the last one included.
#[derive(Clone, Copy)]
struct Range {
    first: usize,
    last: usize,
}

struct Planner<'a> {
    tokens: &'a [Token],
    tree: &'a Tree,
    gaps: Vec<Gap>,
    work: Vec<(ExprId, Place)>,
}

impl Planner<'_> {
    /// What each kind of token wants around it.
    fn words(&mut self) {
        for at in 0..self.tokens.len() {
            let TokenKind::Symbol(symbol) = self.tokens[at].kind else { continue };
            let (before, after) = match symbol {
                "=" | "->" | ":" | "in" | "at" | "with" => (true, true),
                "let" | "fst" | "snd" | "pi1" | "pi2" | "sharp" | "flat" | "Omega" | "J" | "jacobian"
                | "grad" | "vjp" | "prim" | "def" | "type" | "assume" | "," => (false, true),
                _ => (false, false),
            };
            if before {
                self.join(at, Joint::Blank);
            }
            if after && at + 1 < self.tokens.len() {
                self.join(at + 1, Joint::Blank);
            }
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let Range { first, .. } = self.tokens_of(declaration.span);
        self.join(first, Joint::Line);
        match &declaration.kind {
            DeclarationKind::Type(written) | DeclarationKind::Assume(written) => self.written(*written),
            DeclarationKind::Prim { body, .. } => self.below(*body),
            DeclarationKind::Def { binders, result, body } => {
                for binder in binders {
                    self.join(self.tokens_of(binder.span).first, Joint::Blank);
                    self.binder(binder);
                }
                if let Some(result) = result {
                    self.written(*result);
                }
                self.below(*body);
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
        let Range { first, last } = self.tokens_of(self.tree.written_span(written));
        for at in first..=last {
            if self.tokens[at].kind == TokenKind::Symbol("*") {
                self.join(at, Joint::Blank);
                self.join(at + 1, Joint::Blank);
            }
        }
    }

    fn expr(&mut self, expr: ExprId, place: Place) {
        match self.tree.kind(expr) {
            ExprKind::Error | ExprKind::Number(_) | ExprKind::Name(_) | ExprKind::Zero => {}
            ExprKind::Let(..) => self.lets(expr, place),
            ExprKind::Lambda(binders, body) => self.lambda(expr, binders, *body, place),
            ExprKind::Group(inner) => self.items(&[*inner]),
            ExprKind::Tuple(items) => self.items(items),
            ExprKind::Ascribe(inner, written) => {
                self.operand(*inner);
                self.written(*written);
            }
            ExprKind::Apply(..) => self.arguments(expr),
            ExprKind::Binary(..) | ExprKind::Contract(..) => self.operators(expr),
            ExprKind::Negate(inner) => self.right_operand(*inner),
            ExprKind::Power(inner, _)
            | ExprKind::Star(inner)
            | ExprKind::Omega(inner)
            | ExprKind::Jay(inner)
            | ExprKind::Project(_, inner)
            | ExprKind::Sharp(inner)
            | ExprKind::Flat(inner) => self.operand(*inner),
            ExprKind::Former(former, function, operand) => self.former(*former, *function, *operand),
            ExprKind::Derivative(_, function, point) => self.sugar(&[*function, *point]),
            ExprKind::Vjp(function, point, covector) => self.sugar(&[*function, *point, *covector]),
        }
    }

    /// `let p = e in let q = e in e`.
    fn lets(&mut self, chain: ExprId, place: Place) {
        if let Place::Group(indent) = place {
            self.group(self.range(chain), indent);
        }
        let after_in = if let Place::Top = place { Joint::Line } else { Joint::Item };
        let mut rest = chain;
        while let ExprKind::Let(binder, bound, body) = self.tree.kind(rest) {
            self.binder(binder);
            self.below(*bound);
            self.join(self.range(*body).first, after_in);
            rest = *body;
        }
        self.operand(rest);
    }

    /// `\x:R. e` and `\(x : R) y. e`.
    fn lambda(&mut self, expr: ExprId, binders: &[Binder], body: ExprId, place: Place) {
        if let Place::Group(indent) = place {
            self.group(self.range(expr), indent);
        }
        for (i, binder) in binders.iter().enumerate() {
            if i > 0 {
                self.join(self.tokens_of(binder.span).first, Joint::Blank);
            }
            self.binder(binder);
        }
        if let [Binder { written: Some(written), span, .. }] = binders {
            let colon = self.tokens_of(self.tree.written_span(*written)).first - 1;
            // The binder of `\(x : R). e` ends with a bracket, that of `\x:R. e` with its type.
            if self.tree.written_span(*written).end == span.end {
                self.join(colon, Joint::Tight);
                self.join(colon + 1, Joint::Tight);
            }
        }
        self.below(body);
    }

    /// What stands in brackets.
    fn items(&mut self, items: &[ExprId]) {
        let [first, others @ ..] = items else { return };
        let last = others.last().unwrap_or(first);
        if others.is_empty() {
            if !matches!(self.tree.kind(*first), ExprKind::Group(_) | ExprKind::Tuple(_)) {
                self.brackets_around(self.range(*first));
            }
            return self.visit(*first, Place::Joined);
        }
        self.brackets_around(Range { first: self.range(*first).first, last: self.range(*last).last });
        for item in others {
            self.join(self.range(*item).first, Joint::Item);
        }
        for item in items {
            self.operand(*item);
        }
    }

    /// `f a b`, which a tree holds as its left spine.
    fn arguments(&mut self, expr: ExprId) {
        let Range { last, .. } = self.range(expr);
        let (mut function, mut first) = (expr, last);
        while let ExprKind::Apply(inner, argument) = self.tree.kind(function) {
            first = self.range(*argument).first;
            self.join(first, Joint::Space);
            self.operand(*argument);
            function = *inner;
        }
        self.group_with_joint(Range { first, last });
        self.operand(function);
    }

    /// Operators of one level, which a tree holds as its left spine.
    fn operators(&mut self, expr: ExprId) {
        let Range { last, .. } = self.range(expr);
        let level = operator(self.tree.kind(expr)).map(|(level, ..)| level);
        let (mut left, mut first) = (expr, last);
        while let Some((its_level, its_left, right)) = operator(self.tree.kind(left))
            && Some(its_level) == level
        {
            let operand = self.range(right).first;
            first = operand - 1;
            self.join(first, Joint::Space);
            self.join(operand, Joint::Blank);
            self.right_operand(right);
            left = its_left;
        }
        self.group_with_joint(Range { first, last });
        self.operand(left);
    }

    /// `(Ω f) · w` or `pull(f, w)`.
    fn former(&mut self, former: Former, function: ExprId, operand: ExprId) {
        let (at, before) = (self.range(operand), self.range(operand).first - 1);
        if self.tokens[before].kind == TokenKind::Symbol(",") {
            return self.items(&[function, operand]);
        }
        self.join(before, Joint::Space);
        self.join(at.first, Joint::Blank);
        self.group_with_joint(Range { first: before, last: at.last });
        // The brackets around the function, if there are any, hold an operator and not the function alone; those of a dual map are its own.
        let inner = self.tree.ungroup(function);
        self.operand(if former == Former::DualMap { inner } else { function });
        self.right_operand(operand);
    }

    /// `jacobian f at v`.
    fn sugar(&mut self, parts: &[ExprId]) {
        for part in parts {
            self.operand(*part);
        }
    }

    /// A part that goes to the next line, indented, if it does not fit on this one.
    fn below(&mut self, part: ExprId) {
        let range = self.range(part);
        self.join(range.first, Joint::Space);
        self.group_with_joint(range);
        self.visit(part, Place::Joined);
    }

    fn operand(&mut self, expr: ExprId) {
        self.visit(expr, Place::Group(0));
    }

    /// An operand behind its operator: if it has several lines, they are indented more than the operator.
    fn right_operand(&mut self, expr: ExprId) {
        self.visit(expr, Place::Group(INDENT));
    }

    fn visit(&mut self, expr: ExprId, place: Place) {
        self.work.push((expr, place));
    }

    fn brackets_around(&mut self, content: Range) {
        self.join(content.first, Joint::Open);
        self.join(content.last + 1, Joint::Close);
        self.group_with_joint(Range { first: content.first, last: content.last + 1 });
    }

    fn group(&mut self, Range { first, last }: Range, indent: u8) {
        self.gaps[first].inner_group = Some(indent);
        self.gaps[last + 1].ends += 1;
    }

    fn group_with_joint(&mut self, Range { first, last }: Range) {
        self.gaps[first].group = Some(INDENT);
        self.gaps[last + 1].ends += 1;
    }

    fn join(&mut self, token: usize, joint: Joint) {
        self.gaps[token].joint = joint;
    }

    fn range(&self, expr: ExprId) -> Range {
        self.tokens_of(self.tree.span(expr))
    }

    fn tokens_of(&self, span: Span) -> Range {
        let starting_before = |offset| self.tokens.partition_point(|token| token.span.start < offset);
        Range { first: starting_before(span.start), last: starting_before(span.end) - 1 }
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
