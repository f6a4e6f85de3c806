//! Plans the gaps between tokens: expressions.
//!
//! Every form distinguishes its own tokens from those of its parts: an operator is the token before its right
//! operand, a bracket the one around its items. So a form sets the gaps at its own tokens and leaves those
//! inside its parts to the parts. Gaps that no form sets are tight.
//!
//! Forms are visited from a work list, parents first. Chains (`else if`, operators of one level) are planned
//! at once, because their lines break together.

use eddy_syntax::format::{Gap, INDENT, Joint};
use eddy_syntax::lex::{Token, TokenKind};
use eddy_syntax::{SourceFile, Span};

use super::fit;
use crate::parse::Parsed;
use crate::tree::{BinaryOp, ExprId, ExprKind, Program, Run};

/// The gap before each token of a program without errors.
pub(super) fn plan(file: &SourceFile, parsed: &Parsed) -> Vec<Gap> {
    let mut planner = Planner {
        tokens: &parsed.tokens,
        program: &parsed.program,
        gaps: vec![Gap::default(); parsed.tokens.len()],
        work: Vec::new(),
        right_sides: Vec::new(),
        runs: Vec::new(),
    };
    planner.file();
    while let Some((expr, indent)) = planner.work.pop() {
        planner.expr(expr, indent);
    }
    let Planner { right_sides, runs, mut gaps, .. } = planner;
    fit::fit(file, parsed, &right_sides, &runs, &mut gaps);
    gaps
}

/// The tokens of a form, the last one included.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub first: usize,
    pub last: usize,
}

pub(super) struct Planner<'a> {
    pub tokens: &'a [Token],
    pub program: &'a Program,
    pub gaps: Vec<Gap>,
    /// The work list of expressions, each with the indentation of its group, if it needs one.
    work: Vec<(ExprId, u8)>,
    /// The right sides that may start on the line of their `=` when they do not fit on a line.
    pub right_sides: Vec<Range>,
    /// The runs, whose layout depends on the widths of their cells.
    pub runs: Vec<&'a Run>,
}

impl Planner<'_> {
    fn expr(&mut self, expr: ExprId, indent: u8) {
        match self.program.exprs.kind(expr) {
            ExprKind::Error | ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Variable(_) => {}
            ExprKind::Call(_, items) | ExprKind::Tuple(items) => {
                self.items(self.program.exprs.items(items));
            }
            ExprKind::List(items) => self.list(self.program.exprs.items(items)),
            ExprKind::Group(inner) => self.items(&[inner]),
            ExprKind::Named(_, value) => self.named(self.range(expr).first, value),
            ExprKind::Index(value, index) => {
                self.operand(value);
                self.items(&[index]);
            }
            ExprKind::Unary(_, inner) => {
                let first = self.range(inner).first;
                let is_minus = self.tokens[first - 1].kind == TokenKind::Symbol("-");
                self.join(first, if is_minus { Joint::Tight } else { Joint::Blank });
                self.right_operand(inner);
            }
            ExprKind::Binary(..) => self.operators(expr),
            ExprKind::When(..) => self.samplings(expr),
            ExprKind::Fby(..) => self.delays(expr),
            ExprKind::If(..) => self.conditional(expr, indent),
            ExprKind::Form(form, parts) => self.form(expr, form, parts, indent),
            ExprKind::Merge(condition, yes, no) => {
                self.group(self.range(expr), indent + INDENT);
                self.join(self.range(condition).first, Joint::Blank);
                self.join(self.range(yes).first, Joint::Space);
                self.join(self.range(no).first, Joint::Space);
                for argument in [condition, yes, no] {
                    self.operand(argument);
                }
            }
        }
    }

    /// `if b then x else if c then y else z`.
    fn conditional(&mut self, chain: ExprId, indent: u8) {
        self.group(self.range(chain), indent);
        let mut rest = chain;
        while let ExprKind::If(condition, yes, no) = self.program.exprs.kind(rest) {
            // A condition over several lines is indented more than the branch below it.
            let range = self.range(condition);
            self.join(range.first, Joint::Blank);
            self.group_with_joint(range, INDENT);
            self.operand(condition);
            self.join(range.last + 1, Joint::Blank);
            self.below(yes);
            self.join(self.range(yes).last + 1, Joint::Space);
            self.join(self.range(no).first, Joint::Blank);
            rest = no;
        }
        self.below(rest);
    }

    /// The contents of brackets: `(x, y)`, the arguments of a call, an index.
    pub fn items(&mut self, items: &[ExprId]) {
        let [first, others @ ..] = items else { return };
        let last = others.last().unwrap_or(first);
        let is_bracket = |expr| matches!(expr, ExprKind::Group(_) | ExprKind::Tuple(_) | ExprKind::List(_));
        if others.is_empty() && is_bracket(self.program.exprs.kind(*first)) {
            // Brackets whose only item has brackets too break lines together with the inner brackets.
            return self.operand(*first);
        }
        self.brackets_around(Range { first: self.range(*first).first, last: self.range(*last).last });
        for item in others {
            self.join(self.range(*item).first, Joint::Item);
        }
        for item in items {
            self.operand(*item);
        }
    }

    /// `k = e`, an argument or the default of an input.
    pub fn named(&mut self, name: usize, value: ExprId) {
        let equals = self.range(value).first - 1;
        debug_assert!(equals > name);
        self.join(equals, Joint::Blank);
        self.join(equals + 1, Joint::Blank);
        self.right_operand(value);
    }

    /// `[x, y]`; names and numbers fill lines, other items have a line each.
    fn list(&mut self, items: &[ExprId]) {
        let is_word = |item: &ExprId| {
            let kind = self.program.exprs.kind(*item);
            let inner =
                if let ExprKind::Unary(_, inner) = kind { self.program.exprs.kind(inner) } else { kind };
            matches!(inner, ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Variable(_))
        };
        let are_words = items.iter().all(is_word);
        self.items(items);
        if are_words {
            for item in items.iter().skip(1) {
                self.fill(self.range(*item));
            }
        }
    }

    /// An item after a comma that moves to the next line only if it does not fit on this one.
    pub fn fill(&mut self, Range { first, last }: Range) {
        let has_comma = self.tokens[last + 1].kind == TokenKind::Symbol(",");
        self.join(first, Joint::Space);
        self.group_with_joint(Range { first, last: last + usize::from(has_comma) }, 0);
    }

    /// Operators of one level, which are a left spine in the tree.
    fn operators(&mut self, expr: ExprId) {
        let Range { last, .. } = self.range(expr);
        let level = |kind| if let ExprKind::Binary(op, ..) = kind { Some(level(op)) } else { None };
        let its_level = level(self.program.exprs.kind(expr));
        let (mut left, mut first) = (expr, last);
        while let ExprKind::Binary(_, its_left, right) = self.program.exprs.kind(left)
            && level(self.program.exprs.kind(left)) == its_level
        {
            first = self.operator_before(right);
            left = its_left;
        }
        self.group_with_joint(Range { first, last }, INDENT);
        self.operand(left);
    }

    /// `x when c when not d`, a left spine.
    fn samplings(&mut self, expr: ExprId) {
        let Range { last, .. } = self.range(expr);
        let (mut value, mut first) = (expr, last);
        while let ExprKind::When(_, its_value, condition) = self.program.exprs.kind(value) {
            first = self.operator_before(condition);
            value = its_value;
        }
        self.group_with_joint(Range { first, last }, INDENT);
        self.operand(value);
    }

    /// `x fby y fby back z`, a right spine.
    fn delays(&mut self, expr: ExprId) {
        let ExprKind::Fby(_, start, _) = self.program.exprs.kind(expr) else { return };
        let first = self.range(start).last + 1;
        self.group_with_joint(Range { first, last: self.range(expr).last }, INDENT);
        let mut rest = expr;
        while let ExprKind::Fby(_, value, next) = self.program.exprs.kind(rest) {
            self.join(self.range(value).last + 1, Joint::Space);
            self.join(self.range(value).last + 2, Joint::Blank);
            self.join(self.range(next).first, Joint::Blank);
            self.work.push((value, if rest == expr { 0 } else { INDENT }));
            rest = next;
        }
        self.right_operand(rest);
    }

    /// Plans a right operand and its operator, of one word or two (`when not`); returns the first token.
    pub(super) fn operator_before(&mut self, right: ExprId) -> usize {
        let operand = self.range(right).first;
        let is_when_not = self.tokens[operand - 1].kind == TokenKind::Symbol("not");
        let first = operand - 1 - usize::from(is_when_not);
        self.join(operand - 1, Joint::Blank);
        self.join(first, Joint::Space);
        self.join(operand, Joint::Blank);
        self.right_operand(right);
        first
    }

    /// A part that moves to the next line, indented, if it does not fit on this one.
    pub fn below(&mut self, part: ExprId) {
        let range = self.range(part);
        self.join(range.first, Joint::Space);
        self.group_with_joint(range, INDENT);
        self.operand(part);
    }

    pub fn operand(&mut self, expr: ExprId) {
        self.work.push((expr, 0));
    }

    /// An operand after its operator: if it has several lines, they are indented more than the operator.
    pub(super) fn right_operand(&mut self, expr: ExprId) {
        self.work.push((expr, INDENT));
    }

    pub(super) fn brackets_around(&mut self, content: Range) {
        self.brackets(Range { first: content.first - 1, last: content.last + 1 });
    }

    pub fn brackets(&mut self, Range { first, last }: Range) {
        self.join(first + 1, Joint::Open);
        self.join(last, Joint::Close);
        self.group_with_joint(Range { first: first + 1, last }, INDENT);
    }

    /// Makes a group of these tokens, without the joint before the first token.
    pub fn group(&mut self, Range { first, last }: Range, indent: u8) {
        self.gaps[first].inner_group = Some(indent);
        self.gaps[last + 1].ends += 1;
    }

    /// Makes a group of these tokens, with the joint before the first token.
    pub fn group_with_joint(&mut self, Range { first, last }: Range, indent: u8) {
        self.gaps[first].group = Some(indent);
        self.gaps[last + 1].ends += 1;
    }

    pub fn join(&mut self, token: usize, joint: Joint) {
        self.gaps[token].joint = joint;
    }

    pub fn range(&self, expr: ExprId) -> Range {
        self.tokens_of(self.program.exprs.span(expr))
    }

    pub fn tokens_of(&self, span: Span) -> Range {
        tokens_of(self.tokens, span)
    }
}

/// The tokens of a span.
pub(super) fn tokens_of(tokens: &[Token], span: Span) -> Range {
    let starting_before = |offset| tokens.partition_point(|token| token.span.start < offset);
    Range { first: starting_before(span.start), last: starting_before(span.end) - 1 }
}

/// Operators of one level form one chain.
fn level(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 0,
        BinaryOp::And => 1,
        BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::Equal
        | BinaryOp::NotEqual => 2,
        BinaryOp::Add | BinaryOp::Sub => 3,
        BinaryOp::Mul | BinaryOp::Divide | BinaryOp::IntDivide | BinaryOp::Mod => 4,
    }
}
