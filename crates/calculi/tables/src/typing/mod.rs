//! The typing rules (section 4; Figure 8 of the paper), from the surface tree to terms.
//!
//! One walk finds types, removes sugar, and erases types. In `.lam` every type is unknown, and an unknown
//! type agrees with all others, so the same walk only checks that variables are bound.
//!
//! The walk is a work list with a stack of results, so programs may be arbitrarily deep.

mod errors;
mod rules;
mod scope;

use eddy_syntax::{Diagnostic, Diagnostics, SourceFile, Span};
use rustc_hash::FxHashMap;

use crate::dialect::Dialect;
use crate::names::Name;
use crate::parse::{Parsed, parse};
use crate::surface::{Annotation, Argument, Binder, ExprId, ExprKind, Exprs, Ident, Prefix};
use crate::syntax::{Origin, Program, Term, TermId, Terms, Written};
use crate::types::{Type, TypeKind, Types};
use scope::Scope;

/// Parses and checks a program.
pub fn check(file: &SourceFile, dialect: Dialect) -> Result<Program, Vec<Diagnostic>> {
    let Parsed { program, names, types, diagnostics, .. } = parse(file, dialect);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let terms = Terms::new(names);
    let mut checker = Checker {
        exprs: &program.exprs,
        dialect,
        types,
        terms,
        scope: Scope::default(),
        results: Vec::new(),
        work: vec![Task::Visit(program.main)],
        origins: FxHashMap::default(),
        diagnostics: Diagnostics::default(),
    };
    while let Some(task) = checker.work.pop() {
        checker.perform(task);
    }
    let Checker { types, terms, mut results, origins, diagnostics, .. } = checker;
    if !diagnostics.is_empty() {
        return Err(diagnostics.into_sorted());
    }
    let Typed { term: main, ty } = results.pop().expect("the walk ends with the program");
    let ty = dialect.is_typed().then_some(ty);
    Ok(Program { dialect, terms, main, types, ty, origins })
}

/// A term and its type.
#[derive(Clone, Copy)]
struct Typed {
    term: TermId,
    ty: Type,
}

/// Pending work.
enum Task {
    /// Check this expression, and push its term and type on the results.
    Visit(ExprId),
    Bind(Ident, Type),
    /// Put this many type variables in scope.
    EnterTypes(u32),
    /// The bound term of a `let`, or the first of a sequence, is checked: make a function of its parameters,
    /// and bind its name.
    Bound(ExprId),
    /// The parts of this expression are checked: apply its rule.
    Conclude(ExprId),
}

struct Checker<'a> {
    exprs: &'a Exprs,
    dialect: Dialect,
    types: Types,
    terms: Terms,
    scope: Scope,
    results: Vec<Typed>,
    work: Vec<Task>,
    origins: FxHashMap<TermId, Origin>,
    diagnostics: Diagnostics,
}

impl Checker<'_> {
    fn perform(&mut self, task: Task) {
        match task {
            Task::Visit(expr) => self.visit(expr),
            Task::Bind(ident, ty) => self.scope.bind(ident, ty),
            Task::EnterTypes(times) => self.scope.type_depth += times,
            Task::Bound(expr) => self.bound(expr),
            Task::Conclude(expr) => self.conclude(expr),
        }
    }

    /// Schedules the parts of an expression, with the scope of each.
    fn visit(&mut self, expr: ExprId) {
        let span = self.exprs.span(expr);
        match self.exprs.kind(expr) {
            ExprKind::Error => unreachable!("a program with errors is not checked"),
            ExprKind::Int(int) => {
                let ty = self.int();
                self.push_result(Term::Int(int.clone()), span, ty);
            }
            ExprKind::Name(name) => {
                let ty = match self.scope.lookup(*name, &mut self.types) {
                    Some(ty) => ty,
                    None => self.unbound(*name, span),
                };
                self.push_result(Term::Variable(*name), span, ty);
            }
            ExprKind::Group(inner) => self.work.push(Task::Visit(*inner)),
            ExprKind::Tuple(items) => self.visit_all(expr, items.iter().copied()),
            ExprKind::Apply(function, arguments) => {
                let terms = arguments.iter().filter_map(|argument| match argument {
                    Argument::Term(term) => Some(*term),
                    Argument::Type(..) => None,
                });
                self.visit_all(expr, std::iter::once(*function).chain(terms));
            }
            ExprKind::Prefix(_, part) => self.visit_all(expr, [*part]),
            ExprKind::Binary(_, a, b) | ExprKind::Assign(a, b) => self.visit_all(expr, [*a, *b]),
            ExprKind::If(condition, yes, no) => self.visit_all(expr, [*condition, *yes, *no]),
            ExprKind::Lambda(binders, body) => {
                self.work.extend([Task::Conclude(expr), Task::Visit(*body)]);
                self.bind_all(binders);
            }
            ExprKind::TypeLambda(idents, body) => {
                let times = u32::try_from(idents.len()).expect("fewer variables than source bytes");
                let tasks = [Task::Conclude(expr), Task::Visit(*body), Task::EnterTypes(times)];
                self.work.extend(tasks);
            }
            ExprKind::Fix(ident, annotation, body) => {
                let tasks = [Task::Conclude(expr), Task::Visit(*body), Task::Bind(*ident, annotation.ty)];
                self.work.extend(tasks);
            }
            ExprKind::Let(_, params, bound, body) => {
                self.visit_binding(expr, *bound, *body);
                self.bind_all(params);
            }
            ExprKind::Sequence(first, rest) => self.visit_binding(expr, *first, *rest),
        }
    }

    fn visit_all<T: IntoIterator<Item = ExprId>>(&mut self, expr: ExprId, parts: T) {
        self.work.push(Task::Conclude(expr));
        let start = self.work.len();
        self.work.extend(parts.into_iter().map(Task::Visit));
        self.work[start..].reverse();
    }

    fn visit_binding(&mut self, expr: ExprId, bound: ExprId, body: ExprId) {
        let tasks = [Task::Conclude(expr), Task::Visit(body), Task::Bound(expr), Task::Visit(bound)];
        self.work.extend(tasks);
    }

    fn bind_all(&mut self, binders: &[Binder]) {
        let bind = |binder: &Binder| Task::Bind(binder.ident, binder_type(binder));
        self.work.extend(binders.iter().rev().map(bind));
    }

    fn bound(&mut self, expr: ExprId) {
        let mut value = self.result();
        let ExprKind::Let(ident, params, bound, _) = self.exprs.kind(expr) else {
            // `a; b` is `let _ = a in b`.
            let name = self.terms.names.intern("_");
            self.results.push(value);
            self.scope.bind(Ident { name, span: self.exprs.span(expr) }, value.ty);
            return;
        };
        if let Some(first) = params.first() {
            value = self.abstractions(params, value, first.ident.span);
        }
        if let Term::Lambda(..) = self.terms.term(value.term)
            && (!params.is_empty() || self.is_lambda(*bound))
        {
            self.origins.insert(value.term, Origin::Named(ident.name));
        }
        self.results.push(value);
        self.scope.bind(*ident, value.ty);
    }

    /// Concludes an expression from the results of its parts.
    fn conclude(&mut self, expr: ExprId) {
        let (exprs, span) = (self.exprs, self.exprs.span(expr));
        match exprs.kind(expr) {
            ExprKind::Tuple(items) => self.tuple(items.len(), span),
            ExprKind::Apply(function, arguments) => self.application(*function, arguments),
            ExprKind::Prefix(prefix, part) => self.prefix(*prefix, *part, span),
            ExprKind::Binary(op, a, b) => self.binary(*op, [*a, *b], span),
            ExprKind::Assign(target, value) => self.assignment(*target, *value, span),
            ExprKind::If(condition, yes, no) => self.conditional(*condition, [*yes, *no], span),
            ExprKind::Lambda(binders, _) => {
                let body = self.result();
                let whole = self.abstractions(binders, body, span);
                self.results.push(whole);
            }
            ExprKind::TypeLambda(idents, _) => self.type_abstractions(idents.len(), span),
            ExprKind::Fix(ident, annotation, body) => self.fix(*ident, *annotation, *body, span),
            ExprKind::Let(ident, ..) => self.bind_in(ident.name, span),
            ExprKind::Sequence(..) => {
                let name = self.terms.names.intern("_");
                self.bind_in(name, span);
            }
            ExprKind::Error | ExprKind::Int(_) | ExprKind::Name(_) | ExprKind::Group(_) => {
                unreachable!("these have no rule of their own")
            }
        }
    }

    /// `let x = e in b`, which is `(λx. b) e`.
    fn bind_in(&mut self, name: Name, span: Span) {
        let (body, bound) = (self.result(), self.result());
        self.scope.unbind(name);
        let function = self.terms.push(Term::Lambda(name, body.term), span);
        self.origins.insert(function, Origin::Let);
        self.push_result(Term::Apply(function, bound.term, Written::AsLet), span, body.ty);
    }

    /// `λx y. e`; all λs have the place of the first.
    fn abstractions(&mut self, binders: &[Binder], body: Typed, span: Span) -> Typed {
        let mut whole = body;
        for binder in binders.iter().rev() {
            self.scope.unbind(binder.ident.name);
            let term = self.terms.push(Term::Lambda(binder.ident.name, whole.term), span);
            self.origins.insert(term, Origin::At(span));
            let ty = if self.dialect.is_typed() {
                self.types.arrow(binder_type(binder), whole.ty)
            } else {
                Type::UNKNOWN
            };
            whole = Typed { term, ty };
        }
        whole
    }

    fn type_abstractions(&mut self, times: usize, span: Span) {
        let mut whole = self.result();
        for _ in 0..times {
            let term = self.terms.push(Term::TypeLambda(whole.term), span);
            whole = Typed { term, ty: self.types.make(TypeKind::Forall(whole.ty)) };
        }
        self.scope.type_depth -= u32::try_from(times).expect("as many as were entered");
        self.results.push(whole);
    }

    /// Whether an expression is a λ, possibly in parentheses.
    fn is_lambda(&self, mut expr: ExprId) -> bool {
        while let ExprKind::Group(inner) = self.exprs.kind(expr) {
            expr = *inner;
        }
        matches!(self.exprs.kind(expr), ExprKind::Lambda(..))
    }

    fn int(&self) -> Type {
        if self.dialect.is_typed() { Type::INT } else { Type::UNKNOWN }
    }

    fn push_result(&mut self, term: Term, span: Span, ty: Type) {
        let term = self.terms.push(term, span);
        self.results.push(Typed { term, ty });
    }

    fn result(&mut self) -> Typed {
        self.results.pop().expect("each part left a result")
    }
}

fn binder_type(binder: &Binder) -> Type {
    binder.annotation.map_or(Type::UNKNOWN, |Annotation { ty, .. }| ty)
}

/// The name of a prefix operator in messages.
fn prefix_name(prefix: Prefix) -> String {
    format!("`{}`", prefix.symbol())
}
