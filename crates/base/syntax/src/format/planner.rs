//! Planning the gaps of a tree, for any language.
//!
//! Every form distinguishes its own tokens from those of its parts: `in` is the token after the bound term,
//! an operator the one before its right operand, a bracket the one around its items. So a form sets the gaps
//! at its own tokens and leaves those inside its parts to the parts. Gaps that no form sets are tight.
//!
//! Forms are visited from a work list, parents first. Chains (definitions, `else if`, operators of one level)
//! are planned at once, because their lines break together.

use super::gap::{Gap, INDENT, Joint};
use crate::Span;
use crate::lex::{Token, TokenKind};

/// The forms of a tree.
pub trait Forms {
    /// The id of a form.
    type Id: Copy;

    /// The span of a form.
    fn span(&self, form: Self::Id) -> Span;
}

/// The tokens of a form, the last one included.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The first one.
    pub first: usize,
    /// The last one.
    pub last: usize,
}

/// The place of a form, which decides how a chain of definitions breaks.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// At the top of the file: each definition has a line.
    Top,
    /// Directly after a line break of the form around it: the chain breaks exactly when that form does.
    Joined,
    /// Anywhere else: the chain is a group with this indentation.
    Group(u8),
}

/// The gaps of a program, and the work list of forms.
pub struct Planner<'a, F: Forms> {
    /// The tokens of the program.
    pub tokens: &'a [Token],
    forms: &'a F,
    gaps: Vec<Gap>,
    work: Vec<(F::Id, Place)>,
}

impl<'a, F: Forms> Planner<'a, F> {
    /// All gaps are tight, and the work list is empty.
    pub fn new(tokens: &'a [Token], forms: &'a F) -> Self {
        Planner { tokens, forms, gaps: vec![Gap::default(); tokens.len()], work: Vec::new() }
    }

    /// The next form to visit.
    pub fn next_form(&mut self) -> Option<(F::Id, Place)> {
        self.work.pop()
    }

    /// The gap before each token.
    pub fn finish(mut self) -> Vec<Gap> {
        self.join(0, Joint::Edge);
        self.join(self.tokens.len() - 1, Joint::Edge);
        self.gaps
    }

    /// Adds a form to the work list.
    pub fn visit(&mut self, form: F::Id, place: Place) {
        self.work.push((form, place));
    }

    /// A part of a form that is a group of its own.
    pub fn operand(&mut self, form: F::Id) {
        self.visit(form, Place::Group(0));
    }

    /// An operand after its operator: if it has several lines, they are indented more than the operator.
    pub fn right_operand(&mut self, form: F::Id) {
        self.visit(form, Place::Group(INDENT));
    }

    /// A part that moves to the next line, indented, if it does not fit on this one.
    pub fn below(&mut self, part: F::Id) {
        let range = self.range(part);
        self.join(range.first, Joint::Space);
        self.group_with_joint(range);
        self.visit(part, Place::Joined);
    }

    /// A chain of definitions breaks with the form around it, or separately.
    pub fn chain(&mut self, chain: F::Id, place: Place) {
        if let Place::Group(indent) = place {
            self.group(self.range(chain), indent);
        }
    }

    /// `if B then M else if C then N else L`; `parts` returns B, M and the rest of a conditional.
    pub fn conditional(
        &mut self,
        chain: F::Id,
        place: Place,
        parts: impl Fn(F::Id) -> Option<(F::Id, F::Id, F::Id)>,
    ) {
        let indent = if let Place::Group(indent) = place { indent } else { 0 };
        self.group(self.range(chain), indent);
        let mut rest = chain;
        while let Some((condition, yes, no)) = parts(rest) {
            // A condition over several lines is indented more than the branch below it.
            let range = self.range(condition);
            self.join(range.first, Joint::Blank);
            self.group_with_joint(range);
            self.operand(condition);
            self.join(range.last + 1, Joint::Blank);
            self.below(yes);
            self.join(self.range(yes).last + 1, Joint::Space);
            self.join(self.range(no).first, Joint::Blank);
            rest = no;
        }
        self.below(rest);
    }

    /// Operators of one level, which are a left spine in the tree; `parts` returns the level of an operator
    /// and its operands.
    pub fn operators<L: PartialEq>(
        &mut self,
        chain: F::Id,
        parts: impl Fn(F::Id) -> Option<(L, F::Id, F::Id)>,
    ) {
        let last = self.range(chain).last;
        let level = parts(chain).map(|(level, ..)| level);
        let (mut left, mut first) = (chain, last);
        while let Some((its_level, its_left, right)) = parts(left)
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

    /// The contents of brackets. A bracket that contains only another bracketed item, by `is_bracketed`,
    /// opens and closes with it.
    pub fn items(&mut self, items: &[F::Id], is_bracketed: impl Fn(F::Id) -> bool) {
        let [first, others @ ..] = items else { return };
        let Some(last) = others.last() else {
            if !is_bracketed(*first) {
                self.brackets_around(self.range(*first));
            }
            return self.visit(*first, Place::Joined);
        };
        self.brackets_around(Range { first: self.range(*first).first, last: self.range(*last).last });
        for item in others {
            self.join(self.range(*item).first, Joint::Item);
        }
        for item in items {
            self.operand(*item);
        }
    }

    /// `real * (real * real)^2`: lines may break before these symbols, outside of parentheses.
    pub fn lines_before(&mut self, range: Range, symbols: &[&str]) {
        let (mut depth, mut first) = (0_usize, None);
        for at in range.first..=range.last {
            let TokenKind::Symbol(symbol) = self.tokens[at].kind else { continue };
            match symbol {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ if symbols.contains(&symbol) => {
                    self.join(at, if depth == 0 { Joint::Space } else { Joint::Blank });
                    self.join(at + 1, Joint::Blank);
                    if depth == 0 {
                        first.get_or_insert(at);
                    }
                }
                _ => {}
            }
        }
        if let Some(first) = first {
            self.group_with_joint(Range { first, last: range.last });
        }
    }

    /// The brackets around some tokens.
    pub fn brackets_around(&mut self, content: Range) {
        self.brackets(Range { first: content.first - 1, last: content.last + 1 });
    }

    /// A pair of brackets, and the tokens between them.
    pub fn brackets(&mut self, Range { first, last }: Range) {
        self.join(first + 1, Joint::Open);
        self.join(last, Joint::Close);
        self.group_with_joint(Range { first: first + 1, last });
    }

    /// Lines of these tokens break together.
    pub fn group(&mut self, Range { first, last }: Range, indent: u8) {
        self.gaps[first].inner_group = Some(indent);
        self.gaps[last + 1].ends += 1;
    }

    /// Likewise, together with the line before the first of them.
    pub fn group_with_joint(&mut self, Range { first, last }: Range) {
        self.gaps[first].group = Some(INDENT);
        self.gaps[last + 1].ends += 1;
    }

    /// How a token is joined to the one before it.
    pub fn join(&mut self, token: usize, joint: Joint) {
        self.gaps[token].joint = joint;
    }

    /// The tokens of a form.
    pub fn range(&self, form: F::Id) -> Range {
        self.tokens_of(self.forms.span(form))
    }

    /// The tokens of a part of the text.
    pub fn tokens_of(&self, span: Span) -> Range {
        let starting_before = |offset| self.tokens.partition_point(|token| token.span.start < offset);
        Range { first: starting_before(span.start), last: starting_before(span.end) - 1 }
    }
}
