//! From the tree to the gaps between its tokens.
//!
//! Every form knows its own tokens from those of its parts: `in` is the token after the bound term, a bracket the one around its
//! content. So a form sets the gaps at its own tokens and leaves those inside its parts to the parts. Gaps that no form sets are
//! tight.
//!
//! Forms are visited from a work list, parents first. Chains (`let`, `else if`, abstractions) are planned in one go, because their
//! lines break together.

use eddy_syntax::Span;
use eddy_syntax::format::{Gap, INDENT, Joint};
use eddy_syntax::lex::{Token, TokenKind};

use crate::parse::Parsed;
use crate::surface::{Annotation, Binders, ExprId, ExprKind, Exprs};

/// The gap before each token of a program without mistakes.
pub(super) fn plan(parsed: &Parsed) -> Vec<Gap> {
    let program = &parsed.program;
    let gaps = vec![Gap::default(); parsed.tokens.len()];
    let mut planner = Planner { tokens: &parsed.tokens, exprs: &program.exprs, gaps, work: Vec::new() };
    for pragma in &program.pragmas {
        let Range { first, last } = planner.tokens_of(pragma.span);
        planner.join(first + 1, Joint::Blank);
        planner.join(first + 2, Joint::Blank);
        planner.join(last + 1, Joint::Line);
    }
    for definition in &program.definitions {
        planner.definition(definition);
    }
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
    /// `def x : A = M;`.
    fn definition(&mut self, definition: &crate::surface::Definition) {
        let name = self.tokens_of(definition.ident.span).first;
        self.join(name, Joint::Blank);
        if let Some(annotation) = &definition.annotation {
            self.join(name + 1, Joint::Blank);
            self.join(name + 2, Joint::Blank);
            self.annotation(annotation);
        }
        self.join(self.range(definition.term).first - 1, Joint::Blank);
        self.below(definition.term);
        self.join(self.tokens_of(definition.span).last + 1, Joint::Line);
    }

    fn expr(&mut self, expr: ExprId, place: Place) {
        let exprs = self.exprs;
        match exprs.kind(expr) {
            ExprKind::Error | ExprKind::Name(_) | ExprKind::Number(_) | ExprKind::Coin(_) => {}
            ExprKind::Group(inner) => self.brackets_of(*inner),
            ExprKind::Apply(function, arguments) => self.application(*function, arguments),
            ExprKind::Prefix(_, part) => {
                self.join(self.range(*part).first, Joint::Blank);
                self.visit(*part, Place::Group(INDENT));
            }
            ExprKind::Lambda(groups, body) => self.abstractions(groups, *body),
            ExprKind::Let(..) => self.bindings(expr, place),
            ExprKind::If(..) => self.conditional(expr, place),
            ExprKind::Choice(_, first, second) => {
                let open = self.range(expr).first + 1;
                self.brackets(Range { first: open, last: self.range(expr).last });
                for part in [*first, *second] {
                    self.join(self.range(part).first, Joint::Item);
                    self.operand(part);
                }
            }
            ExprKind::Omega(annotation) => self.annotation(annotation),
            ExprKind::Linear(function, argument) => {
                self.brackets_of(*function);
                self.join(self.range(*argument).first, Joint::Blank);
                self.visit(*argument, Place::Group(INDENT));
            }
            ExprKind::Switch(first, second, test) => {
                self.brackets_around(Range {
                    first: self.range(*first).first,
                    last: self.range(*second).last,
                });
                self.join(self.range(*second).first, Joint::Item);
                self.operand(*first);
                self.operand(*second);
                self.visit(*test, Place::Group(INDENT));
            }
        }
    }

    /// `M N1 … Nk`.
    fn application(&mut self, function: ExprId, arguments: &[ExprId]) {
        self.operand(function);
        let is_lambda = |expr: &ExprId| matches!(self.exprs.kind(*expr), ExprKind::Lambda(..));
        let (trailing, others) = match arguments.split_last() {
            Some((last, others)) if is_lambda(last) => (Some(*last), others),
            _ => (None, arguments),
        };
        if let (Some(first), Some(last)) = (others.first(), others.last()) {
            for argument in others {
                self.join(self.range(*argument).first, Joint::Space);
                self.operand(*argument);
            }
            self.group_with_joint(Range { first: self.range(*first).first, last: self.range(*last).last });
        }
        if let Some(lambda) = trailing {
            self.join(self.range(lambda).first, Joint::Blank);
            self.operand(lambda);
        }
    }

    /// `\x:A. \y:B. M`.
    fn abstractions(&mut self, groups: &[Binders], body: ExprId) {
        self.binders(groups);
        let mut rest = body;
        while let ExprKind::Lambda(groups, body) = self.exprs.kind(rest) {
            self.join(self.range(rest).first, Joint::Blank);
            self.binders(groups);
            rest = *body;
        }
        self.below(rest);
    }

    /// `(x y:A)(z:B)`.
    fn binders(&mut self, groups: &[Binders]) {
        for group in groups {
            for ident in &group.idents[1..] {
                self.join(self.tokens_of(ident.span).first, Joint::Blank);
            }
            self.annotation(&group.annotation);
        }
    }

    /// `let x = M in let y = N in P`.
    fn bindings(&mut self, chain: ExprId, place: Place) {
        if let Place::Group(indent) = place {
            self.group(self.range(chain), indent);
        }
        let mut rest = chain;
        while let ExprKind::Let(_, ident, bound, body) = self.exprs.kind(rest) {
            let Range { first, last } = self.range(*bound);
            self.join(self.tokens_of(ident.span).first, Joint::Blank);
            self.join(first - 1, Joint::Blank);
            self.below(*bound);
            self.join(last + 1, Joint::Blank);
            self.join(last + 2, Joint::Item);
            rest = *body;
        }
        self.operand(rest);
    }

    /// `if M then P else if N then Q else R`.
    fn conditional(&mut self, chain: ExprId, place: Place) {
        let indent = if let Place::Group(indent) = place { indent } else { 0 };
        self.group(self.range(chain), indent);
        let mut rest = chain;
        while let ExprKind::If(_, condition, yes, no) = self.exprs.kind(rest) {
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

    /// `(nat -> nat) -> D^2 nat`: lines may break before the arrows outside of parentheses.
    fn annotation(&mut self, annotation: &Annotation) {
        let range = self.tokens_of(annotation.span);
        let (mut depth, mut first_arrow) = (0_usize, None);
        for at in range.first..=range.last {
            match self.tokens[at].kind {
                TokenKind::Symbol("(") => depth += 1,
                TokenKind::Symbol(")") => depth -= 1,
                TokenKind::Symbol("->" | "=>") => {
                    self.join(at, if depth == 0 { Joint::Space } else { Joint::Blank });
                    self.join(at + 1, Joint::Blank);
                    if depth == 0 {
                        first_arrow.get_or_insert(at);
                    }
                }
                // Behind `D` or the number of `D^2`.
                TokenKind::Symbol("D") if self.tokens[at + 1].kind != TokenKind::Symbol("^") => {
                    self.join(at + 1, Joint::Blank);
                }
                TokenKind::Number => self.join(at + 1, Joint::Blank),
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
            self.brackets_around(self.range(inner));
        }
        self.visit(inner, Place::Joined);
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
