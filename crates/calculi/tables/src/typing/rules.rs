//! The rules that can fail: the requirements of each form on its parts.

use eddy_syntax::Span;

use super::errors::{self, Mismatch};
use super::{Checker, Typed, prefix_name};
use crate::integer::Op;
use crate::surface::{Annotation, Argument, ExprId, Ident, Prefix};
use crate::syntax::{Term, Written};
use crate::types::{Type, TypeKind};

/// The maximal size of a type: types double with each type application.
const MAX_TYPE_SIZE: u64 = 1 << 20;

impl Checker<'_> {
    /// Γ⊢e1:int  Γ⊢e2:int ⟹ Γ⊢e1 o e2:int.
    pub(super) fn binary(&mut self, op: Op, sides: [ExprId; 2], span: Span) {
        let (b, a) = (self.result(), self.result());
        for (side, found) in sides.into_iter().zip([a, b]) {
            self.require_type(Type::INT, found, side, &format!("`{}`", op.symbol()), span);
        }
        let ty = self.int();
        self.push_result(Term::Op(op, a.term, b.term), span, ty);
    }

    /// Γ⊢c:int  Γ⊢a:A  Γ⊢b:A ⟹ Γ⊢if c then a else b : A.
    pub(super) fn conditional(&mut self, condition: ExprId, branches: [ExprId; 2], span: Span) {
        let (no, yes, test) = (self.result(), self.result(), self.result());
        self.require_type(Type::INT, test, condition, "the condition of an `if`", span);
        if !self.agree(yes.ty, no.ty) {
            let places = branches.map(|branch| self.exprs.span(branch));
            let diagnostic = errors::branches(&self.types, [yes.ty, no.ty], places, span);
            self.diagnostics.push(diagnostic);
        }
        let ty = if yes.ty == Type::UNKNOWN { no.ty } else { yes.ty };
        self.push_result(Term::If(test.term, yes.term, no.term), span, ty);
    }

    /// `(e1, …, en)` is `(e1, (…, en))`.
    pub(super) fn tuple(&mut self, n_items: usize, span: Span) {
        let mut whole = self.result();
        for _ in 1..n_items {
            let first = self.result();
            let term = self.terms.push(Term::Pair(first.term, whole.term), span);
            whole = Typed { term, ty: self.types.make(TypeKind::Product(first.ty, whole.ty)) };
        }
        self.results.push(whole);
    }

    /// `Γ⊢e:A→B  Γ⊢e':A ⟹ Γ⊢e e':B`, and `Γ⊢e:∀.A ⟹ Γ⊢e[B] : [0↦B]A`.
    pub(super) fn application(&mut self, function: ExprId, arguments: &[Argument]) {
        let is_term = |argument: &&Argument| matches!(argument, Argument::Term(_));
        let n_terms = arguments.iter().filter(is_term).count();
        let mut terms = self.results.split_off(self.results.len() - n_terms).into_iter();
        let mut whole = self.result();
        let start = self.exprs.span(function);
        for argument in arguments {
            whole = match argument {
                Argument::Term(expr) => {
                    let argument = terms.next().expect("each term left a result");
                    let place = self.exprs.span(*expr);
                    self.apply(whole, argument, start.to(place), place)
                }
                Argument::Type(annotation, brackets) => {
                    self.instantiate(whole, *annotation, start.to(*brackets))
                }
            };
        }
        self.results.push(whole);
    }

    fn apply(&mut self, function: Typed, argument: Typed, span: Span, place: Span) -> Typed {
        let callee = Span::new(span.start, self.terms.span(function.term).end.max(span.start));
        let ty = match self.types.kind(function.ty) {
            TypeKind::Unknown => Type::UNKNOWN,
            TypeKind::Arrow(from, to) => {
                if !self.agree(from, argument.ty) {
                    let diagnostic = errors::argument(&self.types, [from, argument.ty], place, callee);
                    self.diagnostics.push(diagnostic);
                }
                to
            }
            _ => {
                self.diagnostics.push(errors::not_a_function(&self.types, function.ty, callee, place));
                Type::UNKNOWN
            }
        };
        let term = self.terms.push(Term::Apply(function.term, argument.term, Written::Plainly), span);
        Typed { term, ty }
    }

    fn instantiate(&mut self, function: Typed, annotation: Annotation, span: Span) -> Typed {
        let mut ty = match self.types.kind(function.ty) {
            TypeKind::Unknown => Type::UNKNOWN,
            TypeKind::Forall(body) => self.types.substitute(body, 0, annotation.ty),
            _ => {
                let callee = self.terms.span(function.term);
                let diagnostic = errors::not_polymorphic(&self.types, function.ty, callee, annotation.span);
                self.diagnostics.push(diagnostic);
                Type::UNKNOWN
            }
        };
        if self.types.size(ty) > MAX_TYPE_SIZE {
            self.diagnostics.push(errors::too_large(span, MAX_TYPE_SIZE));
            ty = Type::UNKNOWN;
        }
        let term = self.terms.push(Term::TypeApply(function.term), span);
        Typed { term, ty }
    }

    /// `πi`; e:A ⟹ ref e:ref A; e:ref A ⟹ !e:A.
    pub(super) fn prefix(&mut self, prefix: Prefix, part: ExprId, span: Span) {
        let Typed { term, ty: found } = self.result();
        let ty = match (prefix, self.types.kind(found)) {
            (_, TypeKind::Unknown) => Type::UNKNOWN,
            (Prefix::Ref, _) => self.types.make(TypeKind::Ref(found)),
            (Prefix::First, TypeKind::Product(first, _)) => first,
            (Prefix::Second, TypeKind::Product(_, second)) => second,
            (Prefix::Read, TypeKind::Ref(stored)) => stored,
            _ => {
                let what = if prefix == Prefix::Read { "a reference" } else { "a pair" };
                let mismatch = Mismatch { expected: what.into(), found, of: prefix_name(prefix) };
                let part = self.exprs.span(part);
                self.diagnostics.push(errors::mismatch(&self.types, &mismatch, part, span));
                Type::UNKNOWN
            }
        };
        self.push_result(Term::Prefix(prefix, term), span, ty);
    }

    /// e1:ref A, e2:A ⟹ e1:=e2 : ref A.
    pub(super) fn assignment(&mut self, target: ExprId, value: ExprId, span: Span) {
        let (b, a) = (self.result(), self.result());
        match self.types.kind(a.ty) {
            TypeKind::Unknown => {}
            TypeKind::Ref(stored) => self.require_type(stored, b, value, "the right side of `:=`", span),
            _ => {
                let of = "the left side of `:=`".to_string();
                let mismatch = Mismatch { expected: "a reference".into(), found: a.ty, of };
                let part = self.exprs.span(target);
                self.diagnostics.push(errors::mismatch(&self.types, &mismatch, part, span));
            }
        }
        self.push_result(Term::Assign(a.term, b.term), span, a.ty);
    }

    /// Γ,f:A→B ⊢ λx:A.e : A→B ⟹ Γ⊢fix f:A→B. λx:A.e : A→B. The body is a λ: see R11 of section 13.
    pub(super) fn fix(&mut self, ident: Ident, annotation: Annotation, body: ExprId, span: Span) {
        let found = self.result();
        self.scope.unbind(ident.name);
        let place = self.exprs.span(body);
        if !matches!(self.types.kind(annotation.ty), TypeKind::Arrow(..) | TypeKind::Unknown) {
            self.diagnostics.push(errors::fix_of_no_function(&self.types, annotation));
        } else if !self.is_lambda(body) {
            self.diagnostics.push(errors::fix_of_no_lambda(place));
        } else if !self.agree(annotation.ty, found.ty) {
            let diagnostic = errors::fix(&self.types, [annotation.ty, found.ty], place, annotation.span);
            self.diagnostics.push(diagnostic);
        }
        self.push_result(Term::Fix(ident.name, found.term), span, annotation.ty);
    }

    fn require_type(&mut self, expected: Type, found: Typed, part: ExprId, of: &str, form: Span) {
        if !self.agree(expected, found.ty) {
            let expected = format!("`{}`", self.types.show_briefly(expected));
            let mismatch = Mismatch { expected, found: found.ty, of: of.to_string() };
            let part = self.exprs.span(part);
            self.diagnostics.push(errors::mismatch(&self.types, &mismatch, part, form));
        }
    }

    /// Whether two types are equal, where an unknown type equals all.
    fn agree(&self, a: Type, b: Type) -> bool {
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            if a == b {
                continue;
            }
            match (self.types.kind(a), self.types.kind(b)) {
                (TypeKind::Unknown, _) | (_, TypeKind::Unknown) => {}
                (TypeKind::Arrow(a1, a2), TypeKind::Arrow(b1, b2))
                | (TypeKind::Product(a1, a2), TypeKind::Product(b1, b2)) => {
                    work.extend([(a1, b1), (a2, b2)]);
                }
                (TypeKind::Forall(a), TypeKind::Forall(b)) | (TypeKind::Ref(a), TypeKind::Ref(b)) => {
                    work.push((a, b));
                }
                _ => return false,
            }
        }
        true
    }
}
