//! From the tree to the gaps between its tokens.
//!
//! Every form knows its own tokens from those of its parts: `in` is the token after the bound term, a bracket the one around its
//! content. So a form sets the gaps at its own tokens and leaves those inside its parts to the parts. Gaps that no form sets are
//! tight.
//!
//! Forms are visited from a work list, parents first. Chains (`let`, `;`, `else if`, abstractions, operators of one level) are planned
//! in one go, because their lines break together.

use eddy_syntax::Span;
use eddy_syntax::format::{Gap, INDENT, Joint};
use eddy_syntax::lex::{Token, TokenKind};

use crate::parse::Parsed;
use crate::surface::{Annotation, Argument, Binder, ExprId, ExprKind, Exprs, Prefix};

/// The gap before each token of a program without mistakes.
pub(super) fn plan(parsed: &Parsed) -> Vec<Gap> {
    let program = &parsed.program;
    let gaps = vec![Gap::default(); parsed.tokens.len()];
    let mut planner = Planner { tokens: &parsed.tokens, exprs: &program.exprs, gaps, work: Vec::new() };
    planner.visit(program.main, Place::Group(0));
    while let Some((expr, place)) = planner.work.pop() {
        planner.expr(expr, place);
    }
    planner.join(0, Joint::Edge);
    planner.join(parsed.tokens.len() - 1, Joint::Edge);
    planner.gaps
}

/// Where a form stands, which decides how a chain of `let` breaks.
#[derive(Clone, Copy)]
enum Place {
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
        let exprs = self.exprs;
        match exprs.kind(expr) {
            ExprKind::Error | ExprKind::Name(_) | ExprKind::Int(_) => {}
            ExprKind::Group(inner) => self.brackets_of(*inner),
            ExprKind::Tuple(items) => self.tuple(expr, items),
            ExprKind::Apply(function, arguments) => self.application(*function, arguments),
            ExprKind::Prefix(prefix, part) => {
                if *prefix != Prefix::Read {
                    self.join(self.range(*part).first, Joint::Blank);
                }
                self.visit(*part, Place::Group(INDENT));
            }
            ExprKind::Binary(..) => self.operators(expr),
            ExprKind::Lambda(..) | ExprKind::TypeLambda(..) | ExprKind::Fix(..) => self.abstractions(expr),
            ExprKind::Let(..) | ExprKind::Sequence(..) => self.bindings(expr, place),
            ExprKind::If(..) => self.conditional(expr, place),
            ExprKind::Assign(target, value) => {
                self.operand(*target);
                self.join(self.range(*value).first - 1, Joint::Blank);
                self.below(*value);
            }
        }
    }

    /// `(e1, …, en)`.
    fn tuple(&mut self, expr: ExprId, items: &[ExprId]) {
        self.brackets(self.range(expr));
        for item in &items[1..] {
            self.join(self.range(*item).first, Joint::Item);
        }
        for item in items {
            self.operand(*item);
        }
    }

    /// `e a1 … an`.
    fn application(&mut self, function: ExprId, arguments: &[Argument]) {
        self.operand(function);
        let mut group: Option<Range> = None;
        for argument in arguments {
            match argument {
                Argument::Term(term) => {
                    let range = self.range(*term);
                    self.join(range.first, Joint::Space);
                    self.operand(*term);
                    let first = group.map_or(range.first, |group| group.first);
                    group = Some(Range { first, last: range.last });
                }
                Argument::Type(annotation, brackets) => {
                    self.annotation(annotation);
                    let last = self.tokens_of(*brackets).last;
                    group = group.map(|group| Range { last, ..group });
                }
            }
        }
        if let Some(range) = group {
            self.group_with_joint(range);
        }
    }

    /// `a + b - c`: operators of one level break together, each in front of its right operand.
    fn operators(&mut self, chain: ExprId) {
        let ExprKind::Binary(op, ..) = self.exprs.kind(chain) else { unreachable!("a chain of operators") };
        let (level, last) = (op.level(), self.range(chain).last);
        let mut rest = chain;
        loop {
            match self.exprs.kind(rest) {
                ExprKind::Binary(op, left, right) if op.level() == level => {
                    let first = self.range(*right).first;
                    self.join(first - 1, Joint::Space);
                    self.join(first, Joint::Blank);
                    self.operand(*right);
                    if !matches!(self.exprs.kind(*left), ExprKind::Binary(op, ..) if op.level() == level) {
                        self.group_with_joint(Range { first: first - 1, last });
                    }
                    rest = *left;
                }
                _ => return self.operand(rest),
            }
        }
    }

    /// `\x. /\a. fix f : A. e`.
    fn abstractions(&mut self, chain: ExprId) {
        let mut rest = chain;
        loop {
            if rest.ne(&chain) {
                self.join(self.range(rest).first, Joint::Blank);
            }
            rest = match self.exprs.kind(rest) {
                ExprKind::Lambda(binders, body) => {
                    self.binders(binders, Joint::Tight);
                    *body
                }
                ExprKind::TypeLambda(idents, body) => {
                    for ident in &idents[1..] {
                        self.join(self.tokens_of(ident.span).first, Joint::Blank);
                    }
                    *body
                }
                ExprKind::Fix(ident, annotation, body) => {
                    let name = self.tokens_of(ident.span).first;
                    for at in name..name + 3 {
                        self.join(at, Joint::Blank);
                    }
                    self.annotation(annotation);
                    *body
                }
                _ => break,
            };
        }
        self.below(rest);
    }

    /// `x y`, `x:A` or `(x : A)(y : B)`.
    fn binders(&mut self, binders: &[Binder], first: Joint) {
        for (i, binder) in binders.iter().enumerate() {
            let name = self.tokens_of(binder.ident.span).first;
            let is_bracketed = self.tokens[name - 1].kind == TokenKind::Symbol("(");
            let joint = if i == 0 { first } else { Joint::Blank };
            if joint != Joint::Tight && (i == 0 || !is_bracketed || first == Joint::Blank) {
                self.join(if is_bracketed { name - 1 } else { name }, joint);
            }
            if let Some(annotation) = &binder.annotation {
                self.annotation(annotation);
            }
        }
    }

    /// `let x = a in b; c`.
    fn bindings(&mut self, chain: ExprId, place: Place) {
        if let Place::Group(indent) = place {
            self.group(self.range(chain), indent);
        }
        let mut rest = chain;
        loop {
            match self.exprs.kind(rest) {
                ExprKind::Let(ident, params, bound, body) => {
                    let Range { first, last } = self.range(*bound);
                    self.join(self.tokens_of(ident.span).first, Joint::Blank);
                    self.binders(params, Joint::Blank);
                    self.join(first - 1, Joint::Blank);
                    self.below(*bound);
                    self.join(last + 1, Joint::Blank);
                    self.join(last + 2, Joint::Item);
                    rest = *body;
                }
                ExprKind::Sequence(first, second) => {
                    self.operand(*first);
                    self.join(self.range(*first).last + 2, Joint::Item);
                    rest = *second;
                }
                _ => return self.operand(rest),
            }
        }
    }

    /// `if c then a else if d then b else e`.
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

    /// `(a -> b) -> forall c. ref c`: lines may break before the arrows outside of parentheses.
    fn annotation(&mut self, annotation: &Annotation) {
        let range = self.tokens_of(annotation.span);
        let (mut depth, mut first_arrow, mut quantifies) = (0_usize, None, false);
        for at in range.first..=range.last {
            match self.tokens[at].kind {
                TokenKind::Symbol("(") => depth += 1,
                TokenKind::Symbol(")") => depth -= 1,
                TokenKind::Symbol("->") => {
                    self.join(at, if depth == 0 { Joint::Space } else { Joint::Blank });
                    self.join(at + 1, Joint::Blank);
                    if depth == 0 {
                        first_arrow.get_or_insert(at);
                    }
                }
                TokenKind::Symbol("*") => {
                    self.join(at, Joint::Blank);
                    self.join(at + 1, Joint::Blank);
                }
                TokenKind::Symbol("ref") => self.join(at + 1, Joint::Blank),
                TokenKind::Symbol("forall") => quantifies = true,
                TokenKind::Symbol(".") => {
                    quantifies = false;
                    self.join(at + 1, Joint::Blank);
                }
                TokenKind::Name if quantifies => self.join(at, Joint::Blank),
                _ => {}
            }
        }
        if let Some(first) = first_arrow {
            self.group_with_joint(Range { first, last: range.last });
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

    fn visit(&mut self, expr: ExprId, place: Place) {
        self.work.push((expr, place));
    }

    /// One term in brackets. A bracket that holds nothing but another opens and closes with it.
    fn brackets_of(&mut self, inner: ExprId) {
        if !matches!(self.exprs.kind(inner), ExprKind::Group(_)) {
            let Range { first, last } = self.range(inner);
            self.brackets(Range { first: first - 1, last: last + 1 });
        }
        self.visit(inner, Place::Joined);
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
