//! The walk over the tree: the order of visiting, binding and finishing.

use eddy_syntax::{Diagnostics, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::errors::{self, Situation};
use super::scope::{Meaning, Scope};
use crate::names::Name;
use crate::parse::Parsed;
use crate::surface::{
    self, Abstraction, Annotation, ExprId, ExprKind, Exprs, Item, Pattern, Recursion, Sort,
};
use crate::syntax::{FnId, Program, Term, TermId, Terms, Test, VarId};
use crate::types::{Type, Types};

/// Pending work, innermost last.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    Visit(ExprId),
    /// The children are done.
    Finish(ExprId),
    /// Between the bound term of a `let` and its body.
    BindPattern(ExprId),
    /// Between the value of a `const` and its body.
    BindConstant(ExprId),
    /// Before the body of a function.
    EnterFunction(ExprId),
    /// Between the body of a function and the rest.
    LeaveFunction(ExprId),
    /// Between the point of a derivative and its body.
    BindPoint(ExprId),
    /// After the body of a derivative.
    UnbindPoint(ExprId),
}

/// The result of a visit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Done {
    Term(TermId),
    /// A condition; `negated` swaps the branches that it chooses between.
    Condition {
        test: Test,
        negated: bool,
    },
}

/// An open binder.
#[derive(Debug)]
pub(super) enum Open {
    /// The lets of a pattern, to be put around the body, and the names that they bind.
    Lets(Vec<(VarId, TermId)>, Vec<Name>),
    /// A function whose body is not done, the lets of its parameters, and the names that they bind.
    Function(FnId, Vec<(VarId, TermId)>, Vec<Name>),
    /// The variable of a derivative.
    Point(VarId),
}

pub(super) struct Elaborator {
    pub exprs: Exprs,
    pub terms: Terms,
    pub scope: Scope,
    pub clarke: bool,
    pub tasks: Vec<Task>,
    pub done: Vec<Done>,
    pub open: Vec<Open>,
    /// The non-recursive functions whose bodies enclose the current place: name and the span of `let`.
    pub defining: Vec<(Name, Span)>,
    /// Names with an unreadable definition: their uses are not reported.
    pub poisoned: FxHashSet<Name>,
    pub diagnostics: Diagnostics,
}

pub(super) fn elaborate(parsed: Parsed) -> (Program, Diagnostics) {
    let Parsed { program, names, types, poisoned, mut diagnostics, .. } = parsed;
    let surface::Program { directives, term, exprs } = program;
    let mut clarke = false;
    for directive in directives {
        match names.text(directive.name) {
            "clarke" => clarke = true,
            other => diagnostics.push(errors::unknown_directive(other, directive.span)),
        }
    }
    let mut elaborator = Elaborator {
        exprs,
        terms: Terms::new(types, names),
        scope: Scope::default(),
        clarke,
        tasks: vec![Task::Visit(term)],
        done: Vec::new(),
        open: Vec::new(),
        defining: Vec::new(),
        poisoned,
        diagnostics,
    };
    elaborator.run();
    let main = elaborator.pop_term();
    (Program { terms: elaborator.terms, main, clarke }, elaborator.diagnostics)
}

impl Elaborator {
    fn run(&mut self) {
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Visit(id) => self.visit(id),
                Task::Finish(id) => self.finish(id),
                Task::BindPattern(id) => self.bind_pattern(id),
                Task::BindConstant(id) => self.bind_constant(id),
                Task::EnterFunction(id) => self.enter_function(id),
                Task::LeaveFunction(id) => self.leave_function(id),
                Task::BindPoint(id) => self.bind_point(id),
                Task::UnbindPoint(id) => self.unbind_point(id),
            }
        }
    }

    /// Schedules the parts of a node, in the order in which they are evaluated.
    fn visit(&mut self, id: ExprId) {
        use Task::{Finish, Visit};
        let mut schedule: Vec<Task> = Vec::new();
        match self.exprs.kind(id) {
            ExprKind::Group(inner) => schedule.push(Visit(*inner)),
            ExprKind::Tuple(items) | ExprKind::Call(_, _, items) => {
                schedule.extend(items.iter().map(|item| Visit(*item)));
                schedule.push(Finish(id));
            }
            ExprKind::ReverseCall(cotangent, _, _, items) => {
                schedule.extend(items.iter().map(|item| Visit(*item)));
                schedule.extend([Visit(*cotangent), Finish(id)]);
            }
            ExprKind::Binary(_, _, left, right)
            | ExprKind::Compare(_, _, left, right)
            | ExprKind::And(left, right)
            | ExprKind::Or(left, right) => schedule.extend([Visit(*left), Visit(*right), Finish(id)]),
            ExprKind::Power(inner, _) | ExprKind::Negate(inner) | ExprKind::Not(inner) => {
                schedule.extend([Visit(*inner), Finish(id)]);
            }
            ExprKind::If(condition, yes, no) => {
                schedule.extend([Visit(*condition), Visit(*yes), Visit(*no), Finish(id)]);
            }
            ExprKind::Let(_, bound, body) => {
                schedule.extend([Visit(*bound), Task::BindPattern(id), Visit(*body), Finish(id)]);
            }
            ExprKind::Const(_, value, body) => {
                schedule.extend([Visit(*value), Task::BindConstant(id), Visit(*body), Finish(id)]);
            }
            ExprKind::Function(_, body, rest) => {
                let (enter, leave) = (Task::EnterFunction(id), Task::LeaveFunction(id));
                schedule.extend([enter, Visit(*body), leave, Visit(*rest), Finish(id)]);
            }
            ExprKind::Gradient(point, of) => {
                schedule.extend([Visit(*point), Task::BindPoint(id)]);
                schedule.extend(of.body().map(Visit));
                schedule.extend([Task::UnbindPoint(id), Finish(id)]);
            }
            ExprKind::Derivative(_, cotangent, point, of) => {
                schedule.extend([Visit(*point), Task::BindPoint(id)]);
                schedule.extend(of.body().map(Visit));
                schedule.extend([Task::UnbindPoint(id), Visit(*cotangent), Finish(id)]);
            }
            _ => return self.finish(id),
        }
        self.tasks.extend(schedule.into_iter().rev());
    }

    pub fn pop_term(&mut self) -> TermId {
        match self.done.pop() {
            Some(Done::Term(term)) => term,
            _ => unreachable!("the parser puts terms where the grammar requires terms"),
        }
    }

    pub fn pop_condition(&mut self) -> (Test, bool) {
        match self.done.pop() {
            Some(Done::Condition { test, negated }) => (test, negated),
            // An unreadable condition.
            Some(Done::Term(_)) => (Test::Constant(true), false),
            None => unreachable!("the condition was visited"),
        }
    }

    /// The terms of the last `n` visits, in order.
    pub fn pop_terms(&mut self, n: usize) -> Vec<TermId> {
        let mut terms: Vec<TermId> = (0..n).map(|_| self.pop_term()).collect();
        terms.reverse();
        terms
    }

    /// Reports a term whose type is not the expected one; returns whether the types agree.
    pub fn expect(&mut self, id: ExprId, found: Type, expected: Type, situation: Situation<'_>) -> bool {
        self.expect_at(self.exprs.span(id), found, expected, situation)
    }

    pub fn expect_at(&mut self, span: Span, found: Type, expected: Type, situation: Situation<'_>) -> bool {
        let agrees = found == expected || found == Type::UNKNOWN || expected == Type::UNKNOWN;
        if !agrees {
            let diagnostic = errors::mismatch(&self.terms.types, span, expected, found, situation);
            self.diagnostics.push(diagnostic);
        }
        agrees
    }

    fn bind_variable(&mut self, item: &Item, ty: Type) -> VarId {
        let var = self.terms.fresh(item.ident.name, ty);
        let meaning = Meaning::Variable(var, self.scope.function_depth);
        self.scope.bind(item.ident.name, meaning, item.ident.span);
        var
    }

    fn bind_pattern(&mut self, id: ExprId) {
        let bound = self.pop_term();
        let ExprKind::Let(pattern, bound_id, _) = self.exprs.kind(id).clone() else {
            unreachable!("only a `let` binds a pattern")
        };
        let found = self.terms.ty(bound);
        let lets = match &pattern {
            Pattern::Name(item) => {
                let ty = self.annotated(item.annotation, bound_id, found, Situation::Annotated);
                vec![(self.bind_variable(item, ty), bound)]
            }
            Pattern::Tuple(items, span) => self.bind_tuple(items, *span, self.exprs.span(bound_id), bound),
        };
        let names = match pattern {
            Pattern::Name(item) => vec![item.ident.name],
            Pattern::Tuple(items, _) => items.iter().map(|item| item.ident.name).collect(),
        };
        self.open.push(Open::Lets(lets, names));
    }

    fn annotated(
        &mut self,
        annotation: Option<Annotation>,
        id: ExprId,
        found: Type,
        situation: fn(Span) -> Situation<'static>,
    ) -> Type {
        let Some(annotation) = annotation else { return found };
        self.expect(id, found, annotation.ty, situation(annotation.span));
        annotation.ty
    }

    /// `let (x0,…,xn) = M in N` as single lets: `z = M`, `z' = fst z`, …, `x0 = fst z'`, `x1 = snd z'`, …
    pub fn bind_tuple(
        &mut self,
        items: &[Item],
        pattern: Span,
        bound_span: Span,
        bound: TermId,
    ) -> Vec<(VarId, TermId)> {
        self.report_duplicates(items);
        let found = self.terms.ty(bound);
        if items.is_empty() {
            self.expect_at(bound_span, found, Type::UNIT, Situation::Annotated(pattern));
            return vec![(self.terms.fresh_named("u", Type::UNIT), bound)];
        }
        let component_types = self.component_types(items.len(), found).unwrap_or_else(|| {
            if found != Type::UNKNOWN {
                let types = &self.terms.types;
                let diagnostic = errors::too_few_components(types, bound_span, pattern, items.len(), found);
                self.diagnostics.push(diagnostic);
            }
            vec![Type::UNKNOWN; items.len()]
        });
        // The prefixes z, fst z, fst (fst z), … and then the components from the first to the last.
        let mut lets = Vec::new();
        let mut whole = bound;
        let mut prefixes = Vec::new();
        for _ in 1..items.len() {
            let z = self.terms.fresh_named("z", self.terms.ty(whole));
            lets.push((z, whole));
            prefixes.push(z);
            let z = self.terms.variable(z);
            whole = self.terms.push(Term::Fst(z));
        }
        for (i, (item, found)) in items.iter().zip(component_types).enumerate() {
            let component = if i == 0 {
                whole
            } else {
                let z = self.terms.variable(prefixes[items.len() - 1 - i]);
                self.terms.push(Term::Snd(z))
            };
            let ty = item.annotation.map_or(found, |annotation| {
                self.expect_at(item.ident.span, found, annotation.ty, Situation::Component(annotation.span));
                annotation.ty
            });
            lets.push((self.bind_variable(item, ty), component));
        }
        lets
    }

    /// The types of the components of a left-nested tuple of `n`.
    fn component_types(&self, n: usize, ty: Type) -> Option<Vec<Type>> {
        let mut components = Vec::with_capacity(n);
        let mut prefix = ty;
        for _ in 1..n {
            let (rest, last) = self.terms.types.factors(prefix)?;
            components.push(last);
            prefix = rest;
        }
        components.push(prefix);
        components.reverse();
        Some(components)
    }

    fn report_duplicates(&mut self, items: &[Item]) {
        let mut first = FxHashMap::default();
        for item in items {
            if let Some(span) = first.insert(item.ident.name, item.ident.span) {
                let text = self.terms.names.text(item.ident.name);
                self.diagnostics.push(errors::duplicate(text, item.ident.span, span));
            }
        }
    }

    fn bind_constant(&mut self, id: ExprId) {
        let value = self.pop_term();
        let ExprKind::Const(ident, value_id, _) = *self.exprs.kind(id) else {
            unreachable!("only a `const` binds a constant")
        };
        let value = if self.is_constant(value_id) {
            value
        } else {
            self.diagnostics.push(errors::not_a_constant(self.exprs.span(value_id)));
            self.terms.poison()
        };
        self.scope.bind(ident.name, Meaning::Constant(value), ident.span);
    }

    /// `constant = ["-"] number | "*" | "(" [ constant { "," constant } ] ")"`. Unreadable parts were
    /// reported before.
    fn is_constant(&self, id: ExprId) -> bool {
        let mut todo = vec![id];
        while let Some(id) = todo.pop() {
            match self.exprs.kind(id) {
                ExprKind::Number(_) | ExprKind::Unit | ExprKind::Error => {}
                ExprKind::Group(inner) => todo.push(*inner),
                // A minus before a valid numeral is part of the number, so only an unreadable operand
                // remains.
                ExprKind::Negate(operand) if matches!(self.exprs.kind(*operand), ExprKind::Error) => {}
                ExprKind::Tuple(items) => todo.extend(items),
                _ => return false,
            }
        }
        true
    }

    fn enter_function(&mut self, id: ExprId) {
        let ExprKind::Function(head, _, _) = self.exprs.kind(id).clone() else {
            unreachable!("only a definition enters a function")
        };
        let mut param_ty = None;
        for item in &head.params {
            let ty = item.annotation.expect("the parser asks for the types of parameters").ty;
            param_ty = Some(param_ty.map_or(ty, |product| self.terms.types.product(product, ty)));
        }
        let param_ty = param_ty.unwrap_or(Type::UNIT);
        if self.terms.types.components(param_ty) > Types::MAX_COMPONENTS {
            self.diagnostics.push(errors::too_large(head.params_span));
        }
        self.scope.function_depth += 1;
        let (param, lets) = if let [item] = head.params.as_slice() {
            (self.bind_variable(item, param_ty), Vec::new())
        } else {
            let param = self.terms.fresh_named("p", param_ty);
            let bound = self.terms.variable(param);
            let lets = if head.params.is_empty() {
                Vec::new()
            } else {
                self.bind_tuple(&head.params, head.params_span, head.params_span, bound)
            };
            (param, lets)
        };
        let limit = match head.recursion {
            Recursion::Limited(limit) => Some(limit),
            _ => None,
        };
        let function = self.terms.declare(head.ident.name, param, head.result.ty, limit);
        if head.recursion == Recursion::None {
            let start = self.exprs.span(id).start;
            let word = u32::try_from("let".len()).expect("three letters");
            self.defining.push((head.ident.name, Span::new(start, start + word)));
        } else {
            self.scope.bind_function(head.ident.name, function, head.ident.span);
        }
        let names = head.params.iter().map(|item| item.ident.name).collect();
        self.open.push(Open::Function(function, lets, names));
    }

    fn leave_function(&mut self, id: ExprId) {
        let body = self.pop_term();
        let ExprKind::Function(head, body_id, _) = self.exprs.kind(id).clone() else {
            unreachable!("only a definition leaves a function")
        };
        let Some(Open::Function(function, lets, names)) = self.open.pop() else {
            unreachable!("the function was entered")
        };
        self.expect(body_id, self.terms.ty(body), head.result.ty, Situation::Result(head.result.span));
        for name in names {
            self.scope.unbind(name);
        }
        self.scope.function_depth -= 1;
        let body = self.terms.bind_all(&lets, body);
        self.terms.define(function, body);
        if head.recursion == Recursion::None {
            self.defining.pop();
            self.scope.bind_function(head.ident.name, function, head.ident.span);
        }
    }

    fn bind_point(&mut self, id: ExprId) {
        let (ExprKind::Gradient(point, of) | ExprKind::Derivative(_, _, point, of)) = *self.exprs.kind(id)
        else {
            unreachable!("only a derivative binds its point")
        };
        let Some(Done::Term(term)) = self.done.last().copied() else { unreachable!("the point was visited") };
        let found = self.terms.ty(term);
        let var = match of {
            Abstraction::Binder(item, _) => {
                let ty = self.annotated(item.annotation, point, found, Situation::Point);
                self.bind_variable(&item, ty)
            }
            Abstraction::Function(ident) => {
                let var = self.terms.fresh_named("x", found);
                let argument = self.terms.variable(var);
                let body = self.call_function(ident, argument, self.exprs.span(point));
                self.done.push(Done::Term(body));
                var
            }
        };
        self.open.push(Open::Point(var));
    }

    fn unbind_point(&mut self, id: ExprId) {
        let (ExprKind::Gradient(_, of) | ExprKind::Derivative(_, _, _, of)) = self.exprs.kind(id) else {
            unreachable!("only a derivative unbinds its point")
        };
        if let Abstraction::Binder(item, _) = of {
            self.scope.unbind(item.ident.name);
        }
        debug_assert_eq!(of.body().map_or(Sort::Term, |body| self.exprs.sort(body)), Sort::Term);
    }
}
