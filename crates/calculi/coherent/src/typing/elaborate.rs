//! The walk from tree to core terms: types are found, names become indices, sugar is expanded (section 2).
//!
//! A definition is a closed term, so a use of it is that term itself: the table of terms shares it.

use eddy_syntax::{Diagnostic, Diagnostics, Span};
use rustc_hash::FxHashMap;

use super::errors::{self, Place};
use super::rules::{self, RuleMismatch};
use crate::names::Name;
use crate::parse::Parsed;
use crate::sugar;
use crate::surface::{self, Binders, ExprId, ExprKind, Exprs, Limit, Prefix};
use crate::syntax::{Definition, Op, Program, Term, TermId, Terms};
use crate::types::Type;

type Typed = (TermId, Type);

/// Checks a program without syntax errors.
pub(super) fn elaborate(parsed: Parsed) -> Result<Program, Vec<Diagnostic>> {
    let Parsed { program, names, types, .. } = parsed;
    let surface::Program { pragmas, definitions, main, exprs } = program;
    let mut elaborator = Elaborator {
        exprs: &exprs,
        terms: Terms::new(names, types),
        all: definitions.iter().map(|definition| (definition.ident.name, definition.ident.span)).collect(),
        defined: FxHashMap::default(),
        binders: Vec::new(),
        bound: FxHashMap::default(),
        work: Vec::new(),
        done: Vec::new(),
        diagnostics: Diagnostics::default(),
    };
    let mut finished = Vec::new();
    for definition in &definitions {
        let (term, ty) = elaborator.definition(definition);
        let name = definition.ident.name;
        elaborator.defined.insert(name, (term, ty));
        finished.push(Definition { name, term, ty });
    }
    let (main, ty) = elaborator.term(main);
    let Elaborator { terms, diagnostics, .. } = elaborator;
    if !diagnostics.is_empty() {
        return Err(diagnostics.into_sorted());
    }
    let limit = |limit| pragmas.iter().rev().find(|pragma| pragma.limit == limit).map(|pragma| pragma.value);
    let (fuel, coins) = (limit(Limit::Fuel), limit(Limit::Coins));
    Ok(Program { terms, definitions: finished, main, ty, fuel, coins })
}

/// Pending work.
enum Task {
    Visit(ExprId),
    Bind(Name, Type),
    /// The parts are done, and their variables leave the scope.
    Finish(ExprId),
}

struct Elaborator<'a> {
    exprs: &'a Exprs,
    terms: Terms,
    /// All definitions of the program, also those that are not in scope yet.
    all: FxHashMap<Name, Span>,
    /// The definitions in scope.
    defined: FxHashMap<Name, Typed>,
    /// The variables in scope, the innermost last.
    binders: Vec<(Name, Type)>,
    /// For each name the variables in scope that have it, as places in `binders`.
    bound: FxHashMap<Name, Vec<usize>>,
    work: Vec<Task>,
    /// The finished parts that are not used yet.
    done: Vec<Typed>,
    diagnostics: Diagnostics,
}

impl Elaborator<'_> {
    fn definition(&mut self, definition: &surface::Definition) -> Typed {
        let (term, ty) = self.term(definition.term);
        let Some(annotation) = definition.annotation else { return (term, ty) };
        if !rules::agree(annotation.ty, ty) {
            let places = [definition.span, self.exprs.span(definition.term), annotation.span];
            self.diagnostics.push(errors::declared(&self.terms.types, places, annotation.ty, ty));
        }
        (term, annotation.ty)
    }

    fn term(&mut self, expr: ExprId) -> Typed {
        self.work.push(Task::Visit(expr));
        while let Some(task) = self.work.pop() {
            match task {
                Task::Visit(expr) => self.visit(expr),
                Task::Bind(name, ty) => {
                    self.bound.entry(name).or_default().push(self.binders.len());
                    self.binders.push((name, ty));
                }
                Task::Finish(expr) => self.finish(expr),
            }
        }
        self.pop()
    }

    fn visit(&mut self, expr: ExprId) {
        let exprs = self.exprs;
        match exprs.kind(expr) {
            ExprKind::Error => self.push_unknown(),
            ExprKind::Name(name) => self.name(*name, expr),
            ExprKind::Number(n) => {
                let term = self.terms.add(Term::Num(*n));
                self.done.push((term, Type::NAT));
            }
            ExprKind::Coin(probability) => {
                let probability = self.terms.add_probability(probability.clone());
                let term = self.terms.add(Term::Coin(probability));
                self.done.push((term, Type::NAT));
            }
            ExprKind::Omega(annotation) => {
                let term = sugar::omega(&mut self.terms, annotation.ty);
                self.done.push((term, annotation.ty));
            }
            ExprKind::Group(inner) => self.work.push(Task::Visit(*inner)),
            ExprKind::Apply(function, arguments) => {
                self.work.push(Task::Finish(expr));
                self.work.extend(arguments.iter().rev().map(|argument| Task::Visit(*argument)));
                self.work.push(Task::Visit(*function));
            }
            ExprKind::Prefix(_, part) => self.work.extend([Task::Finish(expr), Task::Visit(*part)]),
            ExprKind::Lambda(groups, body) => {
                self.work.extend([Task::Finish(expr), Task::Visit(*body)]);
                let variables = |group: &Binders| {
                    let ty = group.annotation.ty;
                    group.idents.iter().map(move |ident| (ident.name, ty)).collect::<Vec<_>>()
                };
                for (name, ty) in groups.iter().flat_map(variables).rev().collect::<Vec<_>>() {
                    self.work.push(Task::Bind(name, ty));
                }
            }
            ExprKind::Let(_, ident, bound, body) => self.work.extend([
                Task::Finish(expr),
                Task::Visit(*body),
                Task::Bind(ident.name, Type::NAT),
                Task::Visit(*bound),
            ]),
            ExprKind::If(_, condition, yes, no) => self.work.extend([
                Task::Finish(expr),
                Task::Visit(*no),
                Task::Visit(*yes),
                Task::Visit(*condition),
            ]),
            ExprKind::Choice(_, first, second) | ExprKind::Linear(first, second) => {
                self.work.extend([Task::Finish(expr), Task::Visit(*second), Task::Visit(*first)]);
            }
            ExprKind::Switch(first, second, test) => {
                // The parts are under the two variables of the expansion, which have no source name.
                let anonymous = self.terms.names.intern("");
                self.work.extend([
                    Task::Finish(expr),
                    Task::Visit(*test),
                    Task::Visit(*second),
                    Task::Visit(*first),
                    Task::Bind(anonymous, Type::NAT),
                    Task::Bind(anonymous, Type::NAT),
                ]);
            }
        }
    }

    fn finish(&mut self, expr: ExprId) {
        let exprs = self.exprs;
        match exprs.kind(expr) {
            ExprKind::Apply(function, arguments) => self.application(*function, arguments),
            ExprKind::Prefix(prefix, part) => self.prefix(*prefix, expr, *part),
            ExprKind::Lambda(groups, _) => {
                for group in groups.iter().rev() {
                    for ident in group.idents.iter().rev() {
                        self.abstraction(ident.name, group.annotation.ty);
                    }
                }
            }
            ExprKind::Let(depth, ident, bound, body) => {
                let (body_term, body_ty) = self.pop();
                self.unbind();
                let (bound_term, bound_ty) = self.pop();
                let name = named("let", *depth);
                let (form, part) = (exprs.span(expr), exprs.span(*bound));
                let place = Place { form, part, other: None, name: &name };
                let premise = rules::ground(*depth, bound_ty);
                let ty = match self.accept(premise, place) {
                    Type::UNKNOWN => Type::UNKNOWN,
                    _ => {
                        let place = Place { part: exprs.span(*body), ..place };
                        self.accept(rules::under(*depth, body_ty), place)
                    }
                };
                let term = self.terms.add_binder(Term::Let(*depth, bound_term, body_term), ident.name);
                self.done.push((term, ty));
            }
            ExprKind::If(depth, condition, yes, no) => {
                let (no_term, no_ty) = self.pop();
                let (yes_term, yes_ty) = self.pop();
                let (condition_term, condition_ty) = self.pop();
                let name = named("if", *depth);
                let place =
                    Place { form: exprs.span(expr), part: exprs.span(*condition), other: None, name: &name };
                self.accept(rules::ground(*depth, condition_ty), place);
                let ty = self.branches(expr, *yes, *no, (yes_ty, no_ty), *depth);
                let term = self.terms.add(Term::If(*depth, condition_term, yes_term, no_term));
                self.done.push((term, ty));
            }
            ExprKind::Choice(probability, first, second) => {
                let (second_term, second_ty) = self.pop();
                let (first_term, first_ty) = self.pop();
                let ty = self.branches(expr, *first, *second, (first_ty, second_ty), 0);
                let probability = self.terms.add_probability(probability.clone());
                let coin = self.terms.add(Term::Coin(probability));
                let term = self.terms.add(Term::If(0, coin, first_term, second_term));
                self.done.push((term, ty));
            }
            ExprKind::Linear(function, argument) => self.linear(expr, *function, *argument),
            ExprKind::Switch(first, second, test) => self.switch(expr, *first, *second, *test),
            _ => unreachable!("forms without parts are finished when they are visited"),
        }
    }

    fn application(&mut self, function: ExprId, arguments: &[ExprId]) {
        let parts = self.done.split_off(self.done.len() - arguments.len());
        let (mut term, mut ty) = self.pop();
        let start = self.exprs.span(function);
        for ((argument, expr), before) in parts.into_iter().zip(arguments).zip(0..) {
            let end = if before == 0 { start } else { self.exprs.span(arguments[before - 1]) };
            let (so_far, part) = (start.to(end), self.exprs.span(*expr));
            let result = rules::apply(&self.terms.types, ty, argument.1);
            let place = match result {
                Err(RuleMismatch::NotAFunction(_)) => {
                    Place { form: so_far.to(part), part: so_far, other: Some(part), name: "an application" }
                }
                _ => Place { form: so_far.to(part), part, other: Some(so_far), name: "an application" },
            };
            ty = self.accept(result, place);
            term = self.terms.add(Term::Apply(term, argument.0));
        }
        self.done.push((term, ty));
    }

    fn prefix(&mut self, prefix: Prefix, expr: ExprId, part: ExprId) {
        let (mut term, mut ty) = self.pop();
        let (form, part) = (self.exprs.span(expr), self.exprs.span(part));
        let place = |name| Place { form, part, other: None, name };
        match prefix {
            Prefix::Op(op, depth) => {
                let name = errors::name_of(op, depth);
                ty = self.accept(rules::op(op, depth, ty), place(&name));
                term = self.terms.op(op, depth, term);
            }
            Prefix::Fix => {
                ty = self.accept(rules::fix(&self.terms.types, ty), place("`fix`"));
                term = self.terms.add(Term::Fix(term));
            }
            Prefix::Tick => term = self.terms.add(Term::Tick(term)),
            Prefix::Derive(times) => {
                for _ in 0..times {
                    let derived = rules::derive(&mut self.terms.types, ty);
                    ty = self.accept(derived, place("`D`"));
                    term = self.terms.add(Term::Derive(term));
                }
            }
            Prefix::Deriv => {
                let derived = rules::derive(&mut self.terms.types, ty);
                let pair = self.accept(derived, place("`deriv`"));
                let one = Op::Pi(crate::syntax::Bit::One);
                ty = self.accept(rules::op(one, 0, pair), place("`deriv`"));
                term = sugar::deriv(&mut self.terms, term);
            }
        }
        self.done.push((term, ty));
    }

    /// `<M> N`, whose N has the type that M takes.
    fn linear(&mut self, expr: ExprId, function: ExprId, argument: ExprId) {
        let (argument_term, argument_ty) = self.pop();
        let (function_term, function_ty) = self.pop();
        let (part, other) = (self.exprs.span(argument), self.exprs.span(function));
        let result = rules::apply(&self.terms.types, function_ty, argument_ty);
        let form = self.exprs.span(expr);
        let place = match result {
            Err(RuleMismatch::NotAFunction(_)) => {
                Place { form, part: other, other: None, name: "a linear application" }
            }
            _ => Place { form, part, other: Some(other), name: "a linear application" },
        };
        let ty = self.accept(result, place);
        let term = sugar::linear(&mut self.terms, function_term, argument_term);
        self.done.push((term, ty));
    }

    /// `<M0, M1>^T`: M0 and M1 go from `nat` to one type, T from `nat` to `nat`.
    fn switch(&mut self, expr: ExprId, first: ExprId, second: ExprId, test: ExprId) {
        let (test_term, test_ty) = self.pop();
        let (second_term, second_ty) = self.pop();
        let (first_term, first_ty) = self.pop();
        self.unbind();
        self.unbind();
        let form = self.exprs.span(expr);
        let mut results = [Type::UNKNOWN; 3];
        for (result, (ty, part)) in
            results.iter_mut().zip([(first_ty, first), (second_ty, second), (test_ty, test)])
        {
            let place = Place { form, part: self.exprs.span(part), other: None, name: "`<M0, M1>^T`" };
            let applied = rules::apply(&self.terms.types, ty, Type::NAT);
            *result = self.accept(applied, place);
        }
        let [yes, no, condition] = results;
        let place =
            Place { form, part: self.exprs.span(test), other: None, name: "the test of `<M0, M1>^T`" };
        self.accept(rules::ground(0, condition), place);
        let branch = self.branches(expr, first, second, (yes, no), 0);
        let pair = branch.checked_deeper(1).unwrap_or(Type::UNKNOWN);
        let ty = self.terms.types.arrow(Type::NAT, pair);
        let term = sugar::switch(&mut self.terms, first_term, second_term, test_term);
        self.done.push((term, ty));
    }

    fn branches(&mut self, expr: ExprId, yes: ExprId, no: ExprId, types: (Type, Type), depth: u32) -> Type {
        let place = Place {
            form: self.exprs.span(expr),
            part: self.exprs.span(no),
            other: Some(self.exprs.span(yes)),
            name: "this form",
        };
        let branch = self.accept(rules::branches(types.0, types.1), place);
        self.accept(rules::under(depth, branch), place)
    }

    fn abstraction(&mut self, name: Name, ty: Type) {
        let (body, body_ty) = self.pop();
        self.unbind();
        let arrow = self.terms.types.arrow(ty, body_ty);
        let term = self.terms.add_binder(Term::Lambda(ty, body), name);
        self.done.push((term, arrow));
    }

    fn name(&mut self, name: Name, expr: ExprId) {
        if let Some(place) = self.bound.get(&name).and_then(|places| places.last()) {
            let index =
                u32::try_from(self.binders.len() - 1 - place).expect("fewer binders than source bytes");
            let ty = self.binders[*place].1;
            let term = self.terms.add(Term::Var(index));
            return self.done.push((term, ty));
        }
        if let Some(typed) = self.defined.get(&name) {
            return self.done.push(*typed);
        }
        let names = &self.terms.names;
        let anonymous = |name: &Name| names.text(*name).is_empty();
        let binders = self.binders.iter().map(|(name, _)| *name).filter(|name| !anonymous(name));
        let visible = binders.chain(self.defined.keys().copied());
        let text = names.text(name);
        // Suggestions are slow to find and not needed for discarded messages.
        let visible = visible.take(if self.diagnostics.is_full() { 0 } else { 10_000 });
        let found = errors::unbound(
            text,
            self.exprs.span(expr),
            visible.map(|name| names.text(name)),
            self.all.get(&name).copied(),
        );
        self.diagnostics.push(found);
        self.push_unknown();
    }

    fn unbind(&mut self) {
        let (name, _) = self.binders.pop().expect("the variable was bound");
        self.bound.get_mut(&name).and_then(Vec::pop).expect("the variable was bound");
    }

    fn accept(&mut self, result: Result<Type, RuleMismatch>, place: Place<'_>) -> Type {
        result.unwrap_or_else(|mismatch| {
            self.diagnostics.push(errors::rule_mismatch(&self.terms.types, mismatch, place));
            Type::UNKNOWN
        })
    }

    fn push_unknown(&mut self) {
        let term = self.terms.add(Term::Num(0));
        self.done.push((term, Type::UNKNOWN));
    }

    fn pop(&mut self) -> Typed {
        self.done.pop().expect("the parts of a form are done before it")
    }
}

fn named(word: &str, depth: u32) -> String {
    if depth == 0 { format!("`{word}`") } else { format!("`{word}^{depth}`") }
}
