//! Plans the gaps between tokens: the forms of expressions that only functions have.

use eddy_syntax::format::{INDENT, Joint};

use super::plan::{Planner, Range};
use crate::tree::{Binders, Case, Control, ExprId, ExprKind, ExprList, Form, FormId, Ident, Index};

impl Planner<'_> {
    pub(super) fn form(&mut self, expr: ExprId, form: FormId, parts: ExprList, indent: u8) {
        let parts = self.program.exprs.items(parts).to_vec();
        match self.program.exprs.form(form).clone() {
            Form::Unit => {}
            Form::Let { .. } | Form::LetFunction { .. } => self.lets(expr, indent),
            Form::Lambda { params } => {
                for (position, param) in params.iter().enumerate() {
                    if position > 0 {
                        let span = self.program.written.pattern_span(param.pattern);
                        self.join(self.tokens_of(span).first, Joint::Blank);
                    }
                    self.pattern(param.pattern);
                    self.annotation(param.annotation);
                }
                self.below(parts[0]);
            }
            Form::Loop { state, control, .. } => {
                self.pattern(state);
                self.loop_form(expr, &control, &parts, indent);
            }
            Form::Comprehension(binders) | Form::Reduction { binders, .. } => {
                let (element, bounds) = parts.split_last().expect("a comprehension has an element");
                let first = self.binders(&binders, bounds);
                let last = self.range(*element).last;
                self.brackets_around(Range { first, last });
                self.below(*element);
            }
            Form::Place(indices) => {
                self.operand(parts[0]);
                self.indices(self.range(parts[0]).last + 1, self.range(expr).last, &indices, &parts[1..]);
            }
            Form::Update { .. } => self.updates(expr),
            Form::Record(fields) => self.record(self.range(expr), &fields, &parts),
            Form::RecordUpdate(fields) => {
                self.operand(parts[0]);
                let with = self.range(parts[0]).last + 1;
                self.join(with, Joint::Blank);
                self.record(self.range(expr), &fields, &parts[1..]);
                self.join(with + 1, Joint::Blank);
            }
            Form::Match(cases) | Form::Merge(cases) => self.match_form(expr, &cases, &parts),
            Form::Last(ident) => self.join(self.tokens_of(ident.span).first, Joint::Blank),
            Form::Reset => {
                for part in &parts {
                    self.operand(*part);
                }
                let call = self.range(parts[0]);
                for token in [call.first, call.last + 1, self.range(parts[1]).first] {
                    self.join(token, Joint::Blank);
                }
            }
            Form::WhenIs(constructor) => {
                let name = self.tokens_of(constructor.span).first;
                let when = self.range(parts[0]).last + 1;
                for token in [when, when + 1, name - 1, name] {
                    self.join(token, Joint::Blank);
                }
                self.operand(parts[0]);
                self.operand(parts[1]);
            }
            Form::Field(_) | Form::Component { .. } => self.operand(parts[0]),
        }
    }

    /// `let p = e in let q = e in b`: lines break after every `in` or after none.
    fn lets(&mut self, chain: ExprId, indent: u8) {
        self.group(self.range(chain), indent);
        let mut rest = chain;
        while let ExprKind::Form(form, parts) = self.program.exprs.kind(rest) {
            let (value, body) = match self.program.exprs.form(form).clone() {
                Form::Let { pattern, annotation } => {
                    let first = self.tokens_of(self.program.written.pattern_span(pattern)).first;
                    self.join(first, Joint::Blank);
                    self.pattern(pattern);
                    self.annotation(annotation);
                    self.value_and_body(parts)
                }
                Form::LetFunction { ident, params, result } => {
                    let name = self.tokens_of(ident.span).first;
                    self.join(name, Joint::Blank);
                    for (position, param) in params.iter().enumerate() {
                        if position > 0 {
                            self.join(self.tokens_of(param.ident.span).first, Joint::Blank);
                        }
                        self.annotation(param.annotation);
                    }
                    if let Some(result) = result {
                        let first = self.tokens_of(self.program.written.type_span(result)).first;
                        self.join(first - 1, Joint::Blank);
                        self.join(first, Joint::Blank);
                        self.ty(result);
                    }
                    self.value_and_body(parts)
                }
                _ => break,
            };
            let Range { first, last } = self.range(value);
            self.join(first - 1, Joint::Blank);
            self.below(value);
            self.join(last + 1, Joint::Blank);
            self.join(self.range(body).first, Joint::Space);
            rest = body;
        }
        self.operand(rest);
    }

    fn value_and_body(&self, parts: ExprList) -> (ExprId, ExprId) {
        let &[value, body] = self.program.exprs.items(parts) else { unreachable!("a `let` has two parts") };
        (value, body)
    }

    /// `fold s = e for i < n do e`.
    fn loop_form(&mut self, expr: ExprId, control: &Control, parts: &[ExprId], indent: u8) {
        let [start, middle @ .., body] = parts else { unreachable!("a loop has a start and a body") };
        let all = self.range(expr);
        self.group(all, indent + INDENT);
        self.join(all.first + 1, Joint::Blank);
        let Range { first, last } = self.range(*start);
        self.join(first - 1, Joint::Blank);
        self.join(first, Joint::Blank);
        self.operand(*start);
        // `for` or `while`.
        self.join(last + 1, Joint::Space);
        self.join(last + 2, Joint::Blank);
        match control {
            Control::For(binders) => {
                self.binders(binders, middle);
            }
            Control::While => self.operand(middle[0]),
        }
        let range = self.range(*body);
        self.join(range.first - 1, Joint::Space);
        self.join(range.first, Joint::Blank);
        self.right_operand(*body);
    }

    /// `i < n, lo <= j < m if c`; returns the first token.
    fn binders(&mut self, binders: &Binders, parts: &[ExprId]) -> usize {
        let mut parts = parts.iter();
        let mut first_of_all = None;
        for binder in &binders.binders {
            let name = self.tokens_of(binder.ident.span).first;
            let mut first = name;
            if binder.has_lower {
                let lower = *parts.next().expect("`has_lower` announces a lower bound");
                first = self.range(lower).first;
                self.join(name - 1, Joint::Blank);
                self.join(name, Joint::Blank);
                self.operand(lower);
            }
            let upper = *parts.next().expect("a binder has an upper bound");
            self.join(name + 1, Joint::Blank);
            self.join(self.range(upper).first, Joint::Blank);
            self.operand(upper);
            if first_of_all.is_some() {
                self.join(first, Joint::Blank);
            }
            first_of_all.get_or_insert(first);
        }
        if let Some(filter) = parts.next() {
            let first = self.range(*filter).first;
            self.join(first - 1, Joint::Blank);
            self.join(first, Joint::Blank);
            self.operand(*filter);
        }
        first_of_all.expect("there is a binder")
    }

    /// `[i, lo..hi]`, from bracket to bracket.
    fn indices(&mut self, open: usize, close: usize, indices: &[Index], parts: &[ExprId]) {
        self.brackets(Range { first: open, last: close });
        // `at` is the first token of an index: the token after the bracket, or after a comma between indices.
        let (mut at, mut parts) = (open + 1, parts.iter());
        for (position, index) in indices.iter().enumerate() {
            if position > 0 {
                self.join(at, Joint::Item);
            }
            let n_parts = index.n_parts();
            let of_index: Vec<ExprId> = parts.by_ref().take(n_parts).copied().collect();
            at = match (index, &of_index[..]) {
                (Index::At, [part]) => self.range(*part).last + 1,
                (Index::Range { has_lower, .. }, parts) => {
                    let dots = if *has_lower { self.range(parts[0]).last + 1 } else { at };
                    let has_upper = parts.len() > usize::from(*has_lower);
                    if has_upper { self.range(parts[parts.len() - 1]).last + 1 } else { dots + 2 }
                }
                _ => unreachable!("`Index::At` has one part"),
            };
            // Skips the comma.
            at += 1;
            for part in of_index {
                self.operand(part);
            }
        }
    }

    /// `a with [i] = e with [j] += e`, a left spine.
    fn updates(&mut self, expr: ExprId) {
        let Range { last, .. } = self.range(expr);
        let (mut value, mut first) = (expr, last);
        while let ExprKind::Form(form, parts) = self.program.exprs.kind(value)
            && let Form::Update { indices, .. } = self.program.exprs.form(form).clone()
        {
            let [inner, of_indices @ .., new] = self.program.exprs.items(parts) else {
                unreachable!("an update has an old and a new value")
            };
            let (inner, new, of_indices) = (*inner, *new, of_indices.to_vec());
            first = self.range(inner).last + 1;
            self.join(first, Joint::Space);
            self.join(first + 1, Joint::Blank);
            let equals = self.range(new).first - 1;
            self.indices(first + 1, equals - 1, &indices, &of_indices);
            self.join(equals, Joint::Blank);
            self.join(equals + 1, Joint::Blank);
            self.right_operand(new);
            value = inner;
        }
        self.group_with_joint(Range { first, last }, INDENT);
        self.operand(value);
    }

    /// `{ x = e, y = e }`.
    fn record(&mut self, range: Range, fields: &[Ident], values: &[ExprId]) {
        self.braces(range);
        for (position, (field, value)) in fields.iter().zip(values).enumerate() {
            let name = self.tokens_of(field.span).first;
            if position > 0 {
                self.join(name, Joint::Item);
            }
            self.join(name + 1, Joint::Blank);
            self.below(*value);
        }
    }

    /// `match e { a: e, _: e }`.
    fn match_form(&mut self, expr: ExprId, cases: &[Case], parts: &[ExprId]) {
        let Range { first, last } = self.range(expr);
        self.join(first + 1, Joint::Blank);
        self.operand(parts[0]);
        let brace = self.range(parts[0]).last + 1;
        self.join(brace, Joint::Blank);
        self.braces(Range { first: brace, last });
        for (position, (case, value)) in cases.iter().zip(&parts[1..]).enumerate() {
            let span = match case {
                Case::Enumerator(ident) => ident.span,
                Case::Otherwise(span) => *span,
            };
            if position > 0 {
                self.join(self.tokens_of(span).first, Joint::Item);
            }
            self.below(*value);
        }
    }
}
