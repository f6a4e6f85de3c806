//! Divide (section 5): a body is cut into a let series of elementary terms, each with at most one operation.
//!
//! ```text
//! pow2(mult(g(⟨x,y⟩)))   becomes   let z1 = ⟨x,y⟩; z2 = g(z1); z3 = mult(z2); z4 = pow2(z3) in z4
//! ```
//!
//! Parts are named from left to right, innermost first. Atoms, that is variables and chains of projections on
//! them, are not named again; a literal tuple is one constant; `let`s of the body become `let`s of the
//! series. The bodies of λ, dual maps and pullbacks are not cut until a rule inspects them. One walk, linear
//! in the size of the body.

use rustc_hash::FxHashMap;

use super::literal;
use crate::syntax::{Hint, Term, TermId, Terms, VarId};
use crate::types::Type;

/// The form of the body of a pullback, which selects the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// A body that must be cut into a series.
    Whole,
    /// `let x = E in x`, rule 7.
    Last {
        /// `E`.
        bound: TermId,
    },
    /// `let x = E in L`, rule 8.
    Series {
        /// `E`.
        bound: TermId,
        /// `L`, in which `x` is index 0 and `y` index 1.
        rest: TermId,
    },
    /// `E`.
    Elementary,
    /// `⟨y,E⟩`.
    Extended {
        /// `E`.
        elementary: TermId,
    },
}

/// Classifies a body with its variable `y` as index 0.
pub fn classify(terms: &Terms, body: TermId) -> Body {
    if let Term::Apply(function, bound) = terms.term(body)
        && let Term::Lambda(_, rest) = terms.term(function)
        && is_elementary(terms, bound)
        && (terms.term(rest) == Term::Bound(0) || is_series(terms, rest))
    {
        return if terms.term(rest) == Term::Bound(0) {
            Body::Last { bound }
        } else {
            Body::Series { bound, rest }
        };
    }
    if let Term::Pair(first, second) = terms.term(body)
        && terms.term(first) == Term::Bound(0)
        && is_elementary(terms, second)
    {
        return Body::Extended { elementary: second };
    }
    if is_elementary(terms, body) { Body::Elementary } else { Body::Whole }
}

/// Whether a term is a let series: `L ::= let z=E in L | let z=E in z`.
fn is_series(terms: &Terms, mut id: TermId) -> bool {
    while let Term::Apply(function, bound) = terms.term(id)
        && let Term::Lambda(_, rest) = terms.term(function)
        && is_elementary(terms, bound)
    {
        if terms.term(rest) == Term::Bound(0) {
            return true;
        }
        id = rest;
    }
    false
}

/// ```text
/// E ::= 0 | z1+z2 | z | λx.L | z1 z2 | π_i z | ⟨z1,z2⟩ | r | f(z) | J f·z | (λx.L)^*·z | (Ω λx.L)·z | r*
/// ```
/// and the extensions.
pub fn is_elementary(terms: &Terms, id: TermId) -> bool {
    let atom = |id| is_atom(terms, id);
    match terms.term(id) {
        Term::Lambda(..) => true,
        _ if atom(id) || literal::is_literal(terms, id) => true,
        Term::Prim(_, a) | Term::PrimJacobian(_, a) | Term::Flat(a) | Term::Sharp(a) => atom(a),
        Term::Dual(_, _, a) | Term::Pullback(_, _, a) => atom(a),
        Term::Apply(a, b)
        | Term::Pair(a, b)
        | Term::Add(a, b)
        | Term::Jacobian(a, b)
        | Term::Contract(a, b) => atom(a) && atom(b),
        _ => false,
    }
}

/// Whether the last term of the let series of a body is a constant, so that rule 9 applies to it and the
/// 1-form is not evaluated. The other engines, which make no let series, use this: a 1-form may fail, and all
/// engines must agree on whether it does.
pub fn ends_in_constant(terms: &Terms, mut body: TermId) -> bool {
    while let Term::Apply(function, bound) = terms.term(body)
        && let Term::Lambda(_, rest) = terms.term(function)
    {
        body = if terms.term(rest) == Term::Bound(0) { bound } else { rest };
    }
    let is_closed_function = matches!(terms.term(body), Term::Lambda(..)) && terms.loose(body) == 0;
    is_closed_function || literal::is_literal(terms, body)
}

/// A variable, or a chain of projections on one.
pub fn is_atom(terms: &Terms, mut id: TermId) -> bool {
    loop {
        match terms.term(id) {
            Term::Bound(_) | Term::Free(_) => return true,
            Term::Project(_, of) => id = of,
            _ => return false,
        }
    }
}

enum Task {
    Visit(TermId),
    Make(TermId),
    /// The value of a `let` is known; its body follows.
    Enter(TermId),
    Leave,
}

struct Divider<'a> {
    terms: &'a mut Terms,
    /// The atoms of bound variables, the innermost last.
    scope: Vec<TermId>,
    done: Vec<TermId>,
    series: Vec<(VarId, TermId)>,
    /// The atoms of visited terms, by the number of variables in scope: a shared term is named once. The
    /// first table is for terms without bound variables, which mean the same everywhere.
    named: Vec<FxHashMap<TermId, TermId>>,
}

/// The let series of a body with its variable as index 0.
pub fn normalise(terms: &mut Terms, body: TermId, param: Type) -> TermId {
    let (y, y_term) = terms.fresh_term("y", param);
    let named = vec![FxHashMap::default(); 2];
    let mut divider = Divider { terms, scope: vec![y_term], done: Vec::new(), series: Vec::new(), named };
    let result = divider.visit(body);
    let is_last = divider.series.last().is_some_and(|(z, _)| divider.terms.term(result) == Term::Free(*z));
    if !is_last {
        divider.name(result);
    }
    let series = divider.series;
    let levels: FxHashMap<VarId, u32> =
        std::iter::once(y).chain(series.iter().map(|(z, _)| *z)).zip(0..).collect();
    let (_, last) = series[series.len() - 1];
    let mut term = terms.bound(0, terms.ty(last));
    for (i, (z, bound)) in series.into_iter().enumerate().rev() {
        let depth = u32::try_from(i + 1).expect("fewer names than terms");
        let bound = terms.close(bound, &levels, depth);
        let hint = Hint(terms.var(z).name);
        term = terms.bind(hint, bound, term);
    }
    term
}

impl Divider<'_> {
    fn visit(&mut self, body: TermId) -> TermId {
        let mut tasks = vec![Task::Visit(body)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(id) => self.enter(id, &mut tasks),
                Task::Make(id) => {
                    let term = self.terms.term(id);
                    let made = self.make(id, term);
                    let atom = if is_atom(self.terms, made) { made } else { self.name(made) };
                    let table = self.table(id);
                    self.named[table].insert(id, atom);
                    self.done.push(atom);
                }
                Task::Enter(body) => {
                    let value = self.done.pop().expect("its value was visited");
                    self.scope.push(value);
                    self.named.push(FxHashMap::default());
                    tasks.extend([Task::Leave, Task::Visit(body)]);
                }
                Task::Leave => {
                    self.scope.pop();
                    self.named.pop();
                }
            }
        }
        self.done.pop().expect("a body has a value")
    }

    /// The table of [`Divider::named`] that a term belongs to.
    fn table(&self, id: TermId) -> usize {
        if self.terms.loose(id) == 0 { 0 } else { self.scope.len() }
    }

    fn enter(&mut self, id: TermId, tasks: &mut Vec<Task>) {
        if let Some(atom) = self.named[self.table(id)].get(&id) {
            self.done.push(*atom);
            return;
        }
        let term = self.terms.term(id);
        match term {
            Term::Bound(_) | Term::Free(_) | Term::Lambda(..) => tasks.push(Task::Make(id)),
            _ if literal::is_literal(self.terms, id) => tasks.push(Task::Make(id)),
            Term::Apply(function, bound) if matches!(self.terms.term(function), Term::Lambda(..)) => {
                let Term::Lambda(_, body) = self.terms.term(function) else { return };
                tasks.extend([Task::Enter(body), Task::Visit(bound)]);
            }
            Term::Dual(_, _, operand) | Term::Pullback(_, _, operand) => {
                tasks.extend([Task::Make(id), Task::Visit(operand)]);
            }
            _ => {
                tasks.push(Task::Make(id));
                tasks.extend(term.children().rev().map(|(child, _)| Task::Visit(child)));
            }
        }
    }

    /// The form with its parts replaced by atoms.
    fn make(&mut self, id: TermId, term: Term) -> TermId {
        match term {
            Term::Bound(_) | Term::Free(_) | Term::Lambda(..) => self.terms.instantiate(id, &self.scope),
            _ if literal::is_literal(self.terms, id) => id,
            Term::Dual(hint, body, _) | Term::Pullback(hint, body, _) => {
                let operand = self.done.pop().expect("its operand was visited");
                let body = self.under_binder(body, self.terms.param(id));
                let new = match term {
                    Term::Dual(..) => Term::Dual(hint, body, operand),
                    _ => Term::Pullback(hint, body, operand),
                };
                self.terms.push(new, self.terms.ty(id))
            }
            Term::Project(path, _) => {
                let of = self.done.pop().expect("its operand was visited");
                self.terms.project(path, of)
            }
            _ => {
                let n = term.children().count();
                let mut parts = self.done.split_off(self.done.len() - n).into_iter();
                let new = term.with_children(|| parts.next().expect("as many parts as before"));
                self.terms.push(new, self.terms.ty(id))
            }
        }
    }

    /// The body of a binder with the enclosing variables replaced by atoms.
    fn under_binder(&mut self, body: TermId, param: Type) -> TermId {
        if self.terms.loose(body) <= 1 {
            return body;
        }
        // The binder's own variable is kept: it becomes free and is bound again.
        let (x, x_term) = self.terms.fresh_term("x", param);
        self.scope.push(x_term);
        let open = self.terms.instantiate(body, &self.scope);
        self.scope.pop();
        self.terms.abstract_over(open, &[x])
    }

    fn name(&mut self, elementary: TermId) -> TermId {
        let text = format!("z{}", self.series.len() + 1);
        let (z, term) = self.terms.fresh_term(&text, self.terms.ty(elementary));
        self.series.push((z, elementary));
        term
    }
}
