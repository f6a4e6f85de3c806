//! Plans the gaps between tokens: functions, constants, types, evaluations.

use eddy_syntax::Span;
use eddy_syntax::format::{CONTINUED, INDENT, Joint};

use super::plan::{Planner, Range};
use crate::tree::{
    Constant, Definition, Eval, ExprId, ExprKind, ExprList, Form, Function, Ident, Param, PatternId,
    PatternKind, TypeDef, TypeId, TypeKind,
};

impl Planner<'_> {
    pub fn function(&mut self, function: &Function) {
        let Range { first, .. } = self.tokens_of(function.span);
        self.join(first + 1, Joint::Blank);
        for size in function.sizes.iter().skip(1) {
            self.join(self.tokens_of(size.span).first, Joint::Blank);
        }
        self.params(self.tokens_of(function.params_span), &function.params);
        if let Some(result) = function.result {
            let range = self.tokens_of(self.program.written.type_span(result));
            self.join(range.first - 1, Joint::Space);
            self.join(range.first, Joint::Blank);
            self.group_with_joint(Range { first: range.first - 1, last: range.last }, CONTINUED);
            self.ty(result);
        }
        self.defined(function.at, function.body);
    }

    pub fn constant(&mut self, constant: &Constant) {
        let Range { first, .. } = self.tokens_of(constant.span);
        self.join(first + 1, Joint::Blank);
        self.annotation(constant.annotation);
        self.defined(constant.at, constant.value);
    }

    pub fn eval(&mut self, eval: &Eval) {
        self.join(self.range(eval.value).first, Joint::Blank);
        self.right_operand(eval.value);
    }

    pub fn type_definition(&mut self, definition: &TypeDef) {
        let Range { first, .. } = self.tokens_of(definition.span);
        self.join(first + 1, Joint::Blank);
        for size in definition.sizes.iter().skip(1) {
            self.join(self.tokens_of(size.span).first, Joint::Blank);
        }
        let equals = self.tokens_of(definition.at).first;
        self.join(equals, Joint::Blank);
        self.join(equals + 1, Joint::Blank);
        match &definition.definition {
            Definition::Alias(ty) => self.ty(*ty),
            Definition::Enumeration(enumerators, span) => {
                let braces = self.tokens_of(*span);
                self.join(braces.first, Joint::Blank);
                self.braces(braces);
                for enumerator in &enumerators[1..] {
                    self.join(self.tokens_of(enumerator.span).first, Joint::Item);
                }
            }
        }
    }

    /// `= e`: the right side moves to the next line if it does not fit on this one, unless it can be broken
    /// inside.
    fn defined(&mut self, at: Span, value: ExprId) {
        self.join(self.tokens_of(at).first, Joint::Blank);
        self.below(value);
        let exprs = &self.program.exprs;
        let may_hang = match exprs.kind(value) {
            ExprKind::Call(..) | ExprKind::List(_) | ExprKind::Tuple(_) | ExprKind::Group(_) => true,
            ExprKind::Form(form, _) => matches!(
                exprs.form(form),
                Form::Comprehension(_)
                    | Form::Reduction { .. }
                    | Form::Record(_)
                    | Form::Match(_)
                    | Form::Merge(_)
            ),
            _ => false,
        };
        if may_hang {
            self.right_sides.push(self.range(value));
        }
    }

    /// `(x: num, y)` with its parentheses.
    pub(super) fn params(&mut self, range: Range, params: &[Param]) {
        let [_, others @ ..] = params else { return };
        self.brackets(range);
        for param in others {
            self.join(self.tokens_of(param.ident.span).first, Joint::Item);
        }
        for param in params {
            self.annotation(param.annotation);
        }
    }

    /// `: T`.
    pub(super) fn annotation(&mut self, annotation: Option<TypeId>) {
        if let Some(ty) = annotation {
            self.join(self.tokens_of(self.program.written.type_span(ty)).first, Joint::Blank);
            self.ty(ty);
        }
    }

    /// A written type. Its sizes are planned as expressions; everything else stays on one line, except for
    /// records.
    pub(super) fn ty(&mut self, ty: TypeId) {
        let mut work = vec![ty];
        while let Some(ty) = work.pop() {
            let range = self.tokens_of(self.program.written.type_span(ty));
            match self.program.written.ty(ty).clone() {
                TypeKind::Error => {}
                TypeKind::Scalar(_, sizes) => {
                    if let Some(sizes) = sizes {
                        self.join(range.first + 1, Joint::Blank);
                        self.sizes(sizes);
                    }
                }
                TypeKind::Named(_, sizes) => sizes.into_iter().for_each(|sizes| self.sizes(sizes)),
                TypeKind::Tuple(parts) => {
                    self.blank_before_others(&parts);
                    work.extend(parts);
                }
                TypeKind::Function(params, result) => {
                    self.blank_before_others(&params);
                    let first = self.tokens_of(self.program.written.type_span(result)).first;
                    self.join(first - 1, Joint::Blank);
                    self.join(first, Joint::Blank);
                    work.extend(params);
                    work.push(result);
                }
                TypeKind::Record(fields) => {
                    self.braces(range);
                    for (ident, _) in &fields[1..] {
                        self.join(self.tokens_of(ident.span).first, Joint::Item);
                    }
                    for (_, ty) in fields {
                        self.join(self.tokens_of(self.program.written.type_span(ty)).first, Joint::Blank);
                        work.push(ty);
                    }
                }
            }
        }
    }

    fn sizes(&mut self, sizes: ExprList) {
        self.items(self.program.exprs.items(sizes));
    }

    fn blank_before_others(&mut self, types: &[TypeId]) {
        for ty in types.iter().skip(1) {
            self.join(self.tokens_of(self.program.written.type_span(*ty)).first, Joint::Blank);
        }
    }

    /// `{ … }`: with blanks inside, or a line for each item.
    pub(super) fn braces(&mut self, Range { first, last }: Range) {
        self.join(first + 1, Joint::Space);
        self.join(last, Joint::CloseBrace);
        self.group_with_joint(Range { first: first + 1, last }, INDENT);
    }

    /// A pattern stays on one line.
    pub(super) fn pattern(&mut self, pattern: PatternId) {
        let mut work = vec![pattern];
        while let Some(pattern) = work.pop() {
            match self.program.written.pattern(pattern).clone() {
                PatternKind::Name(_) | PatternKind::Discard => {}
                PatternKind::Tuple(parts) => {
                    for part in parts.iter().skip(1) {
                        let span = self.program.written.pattern_span(*part);
                        self.join(self.tokens_of(span).first, Joint::Blank);
                    }
                    work.extend(parts);
                }
                PatternKind::Record(fields) => self.record_pattern(&fields, &mut work),
            }
        }
    }

    fn record_pattern(&mut self, fields: &[(Ident, Option<PatternId>)], work: &mut Vec<PatternId>) {
        for (position, (ident, pattern)) in fields.iter().enumerate() {
            let first = self.tokens_of(ident.span).first;
            if position > 0 {
                self.join(first, Joint::Blank);
            }
            if let Some(pattern) = pattern {
                self.join(first + 1, Joint::Blank);
                self.join(first + 2, Joint::Blank);
                work.push(*pattern);
            }
        }
    }
}
