//! From the tree to the gaps between its tokens.
//!
//! Every form knows its own tokens from those of its parts: `in` is the token after the bound term, an
//! operator the one before its right operand, a bracket the one around its items. So a form sets the gaps at
//! its own tokens and leaves those inside its parts to the parts. Gaps that no form sets are tight.
//!
//! Forms are visited from a work list, parents first. Chains (definitions, `else if`, operators of one level)
//! are planned in one go, because their lines break together.

use eddy_syntax::Span;
use eddy_syntax::format::{Gap, INDENT, Joint};
use eddy_syntax::lex::{Token, TokenKind};

use crate::parse::Parsed;
use crate::surface::{Abstraction, Annotation, BinaryOp, ExprId, ExprKind, Exprs, Head, Item, Pattern};

/// The gap before each token of a program without mistakes.
pub(super) fn plan(parsed: &Parsed) -> Vec<Gap> {
    let program = &parsed.program;
    let gaps = vec![Gap::default(); parsed.tokens.len()];
    let mut planner = Planner { tokens: &parsed.tokens, exprs: &program.exprs, gaps, work: Vec::new() };
    for directive in &program.directives {
        let name = planner.tokens_of(directive.span).first;
        planner.join(name, Joint::Blank);
        planner.join(name + 1, Joint::Line);
    }
    planner.visit(program.term, Place::Top);
    while let Some((expr, place)) = planner.work.pop() {
        planner.expr(expr, place);
    }
    planner.join(0, Joint::Edge);
    planner.join(parsed.tokens.len() - 1, Joint::Edge);
    planner.gaps
}

/// Where a form stands, which decides how a chain of definitions breaks.
#[derive(Clone, Copy)]
enum Place {
    /// At the top of the file: each definition has a line.
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
    exprs: &'a Exprs,
    gaps: Vec<Gap>,
    work: Vec<(ExprId, Place)>,
}

impl Planner<'_> {
    fn expr(&mut self, expr: ExprId, place: Place) {
        match self.exprs.kind(expr) {
            ExprKind::Let(..) | ExprKind::Function(..) | ExprKind::Const(..) => {
                self.definitions(expr, place);
            }
            ExprKind::If(..) => self.conditional(expr, place),
            ExprKind::Call(_, _, items) | ExprKind::Tuple(items) => self.items(items),
            ExprKind::ReverseCall(cotangent, _, _, items) => {
                self.operand(*cotangent);
                self.items(items);
            }
            ExprKind::Group(inner) => self.items(&[*inner]),
            ExprKind::Binary(BinaryOp::Pow, _, left, right) => {
                self.operand(*left);
                self.right_operand(*right);
            }
            ExprKind::Binary(..) | ExprKind::Compare(..) | ExprKind::And(..) | ExprKind::Or(..) => {
                self.operators(expr);
            }
            ExprKind::Power(base, _) => self.operand(*base),
            ExprKind::Negate(inner) => self.right_operand(*inner),
            ExprKind::Not(inner) => {
                self.join(self.range(*inner).first, Joint::Blank);
                self.right_operand(*inner);
            }
            ExprKind::Derivative(_, cotangent, point, of) => {
                self.operand(*cotangent);
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
        if let Place::Group(indent) = place {
            self.group(self.range(chain), indent);
        }
        let after_in = if let Place::Top = place { Joint::Line } else { Joint::Item };
        let mut rest = chain;
        while let Some((bound, body)) = self.definition_head(rest) {
            let Range { first, last } = self.range(bound);
            // `let <x>=1` has one token for the bracket and the `=`.
            let is_halved = self.tokens[first - 1].kind == TokenKind::Symbol(">=");
            if !is_halved {
                self.join(first - 1, Joint::Blank);
            }
            self.below(bound);
            self.join(last + 1, Joint::Blank);
            self.join(last + 2, after_in);
            rest = body;
        }
        self.operand(rest);
    }

    /// What stands before the `=` of a definition; gives what follows the `=` and the `in`.
    fn definition_head(&mut self, expr: ExprId) -> Option<(ExprId, ExprId)> {
        let exprs = self.exprs;
        let keyword = self.range(expr).first;
        match exprs.kind(expr) {
            ExprKind::Let(pattern, bound, body) => {
                self.join(keyword + 1, Joint::Blank);
                self.pattern(pattern);
                Some((*bound, *body))
            }
            ExprKind::Function(head, body, rest) => {
                self.head(head);
                Some((*body, *rest))
            }
            ExprKind::Const(_, value, body) => {
                self.join(keyword + 1, Joint::Blank);
                Some((*value, *body))
            }
            _ => None,
        }
    }

    fn head(&mut self, head: &Head) {
        self.join(self.tokens_of(head.ident.span).first, Joint::Blank);
        self.binders(self.tokens_of(head.params_span), &head.params);
        self.annotation(&head.result);
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Name(item) => self.binder(item),
            Pattern::Tuple(items, span) => self.binders(self.tokens_of(*span), items),
        }
    }

    fn binders(&mut self, brackets: Range, items: &[Item]) {
        if items.is_empty() {
            return;
        }
        self.brackets(brackets);
        for item in items {
            self.binder(item);
        }
        for item in &items[1..] {
            self.join(self.tokens_of(item.ident.span).first, Joint::Item);
        }
    }

    fn binder(&mut self, item: &Item) {
        if let Some(annotation) = &item.annotation {
            self.annotation(annotation);
        }
    }

    /// `real * (real * real)^2`: lines may break before the products outside of parentheses.
    fn annotation(&mut self, annotation: &Annotation) {
        let range = self.tokens_of(annotation.span);
        let (mut depth, mut first_product) = (0_usize, None);
        for at in range.first..=range.last {
            match self.tokens[at].kind {
                TokenKind::Symbol("(") => depth += 1,
                TokenKind::Symbol(")") => depth -= 1,
                TokenKind::Symbol("*") => {
                    self.join(at, if depth == 0 { Joint::Space } else { Joint::Blank });
                    self.join(at + 1, Joint::Blank);
                    if depth == 0 {
                        first_product.get_or_insert(at);
                    }
                }
                _ => {}
            }
        }
        if let Some(first) = first_product {
            self.group_with_joint(Range { first, last: range.last });
        }
    }

    /// `if B then M else if C then N else L`.
    fn conditional(&mut self, chain: ExprId, place: Place) {
        let indent = if let Place::Group(indent) = place { indent } else { 0 };
        self.group(self.range(chain), indent);
        let mut rest = chain;
        while let ExprKind::If(condition, yes, no) = self.exprs.kind(rest) {
            // A condition over several lines is indented more than the branch below it.
            let range = self.range(*condition);
            self.join(range.first, Joint::Blank);
            self.group_with_joint(range);
            self.operand(*condition);
            self.join(range.last + 1, Joint::Blank);
            self.below(*yes);
            self.join(self.range(*yes).last + 1, Joint::Space);
            self.join(self.range(*no).first, Joint::Blank);
            rest = *no;
        }
        self.below(rest);
    }

    /// `(M, N)`, or the arguments of a call.
    fn items(&mut self, items: &[ExprId]) {
        let [first, others @ ..] = items else { return };
        let last = others.last().unwrap_or(first);
        if others.is_empty() {
            if !matches!(self.exprs.kind(*first), ExprKind::Group(_) | ExprKind::Tuple(_)) {
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

    /// Operators of one level, which a tree holds as its left spine.
    fn operators(&mut self, expr: ExprId) {
        let Range { last, .. } = self.range(expr);
        let level = operator(self.exprs.kind(expr)).map(|(level, ..)| level);
        let (mut left, mut first) = (expr, last);
        while let Some((its_level, its_left, right)) = operator(self.exprs.kind(left))
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

    /// `[L](x:T. N)`.
    fn derivative(&mut self, point: ExprId, of: &Abstraction) {
        self.items(&[point]);
        if let Abstraction::Binder(item, body) = of {
            self.binder(item);
            let range = self.range(*body);
            self.join(range.first, Joint::Space);
            self.join(range.last + 1, Joint::Close);
            self.group_with_joint(Range { first: range.first, last: range.last + 1 });
            self.visit(*body, Place::Joined);
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
        self.brackets(Range { first: content.first - 1, last: content.last + 1 });
    }

    fn brackets(&mut self, Range { first, last }: Range) {
        self.join(first + 1, Joint::Open);
        self.join(last, Joint::Close);
        self.group_with_joint(Range { first: first + 1, last });
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
        self.tokens_of(self.exprs.span(expr))
    }

    fn tokens_of(&self, span: Span) -> Range {
        let starting_before = |offset| self.tokens.partition_point(|token| token.span.start < offset);
        Range { first: starting_before(span.start), last: starting_before(span.end) - 1 }
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
