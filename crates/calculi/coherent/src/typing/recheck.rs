//! The judgement `Γ ⊢ M : A` on core terms (section 3, Figure 2), with sums. The laws apply it to every state
//! and every rewriting.
//!
//! The search for points (`eddy ask`) also uses it, to find the type of a guessed point.

use rustc_hash::FxHashMap;

use super::rules;
use crate::syntax::{Bit, Op, Term, TermId, Terms};
use crate::types::Type;

eddy_index::id! {
    /// The types of the variables in scope, interned.
    pub struct Scope, "fewer scopes than terms";
}

impl Scope {
    pub const EMPTY: Scope = Scope(u32::MAX);
}

/// Finds types, with memoisation.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    /// The outer scope, and the type of the innermost variable.
    scopes: Vec<(Scope, Type)>,
    places: FxHashMap<(Scope, Type), Scope>,
    known: FxHashMap<(TermId, Scope), Option<Type>>,
}

impl Checker {
    /// The scope with one more variable.
    pub fn bind(&mut self, scope: Scope, ty: Type) -> Scope {
        let next = Scope::new(self.scopes.len());
        let place = *self.places.entry((scope, ty)).or_insert(next);
        if place == next {
            self.scopes.push((scope, ty));
        }
        place
    }

    /// The type of a term, if it has one.
    pub fn type_of(&mut self, terms: &mut Terms, m: TermId, scope: Scope) -> Option<Type> {
        let mut work = vec![place(terms, m, scope)];
        while let Some((id, scope)) = work.last().copied() {
            if self.known.contains_key(&(id, scope)) {
                work.pop();
                continue;
            }
            let term = terms.get(id);
            let before = work.len();
            if !matches!(term, Term::Sum(..)) {
                for (part, under) in term.parts() {
                    let inner = match (term, under) {
                        (Term::Lambda(ty, _), _) => self.bind(scope, ty),
                        (_, 0) => scope,
                        _ => self.bind(scope, Type::NAT),
                    };
                    let part = place(terms, part, inner);
                    if !self.known.contains_key(&part) {
                        work.push(part);
                    }
                }
            }
            if work.len() == before {
                let ty = self.rule(terms, term, scope);
                self.known.insert((id, scope), ty);
            }
        }
        self.known[&place(terms, m, scope)]
    }

    /// The type of a term whose parts have theirs.
    fn rule(&mut self, terms: &mut Terms, term: Term, scope: Scope) -> Option<Type> {
        match term {
            Term::Var(index) => self.variable(scope, index),
            Term::Num(_) | Term::Coin(_) => Some(Type::NAT),
            Term::Zero(ty) => Some(ty),
            Term::Lambda(from, body) => {
                let inner = self.bind(scope, from);
                let to = self.part(terms, body, inner)?;
                Some(terms.types.arrow(from, to))
            }
            Term::Apply(m, n) => {
                rules::apply(&terms.types, self.part(terms, m, scope)?, self.part(terms, n, scope)?).ok()
            }
            Term::Fix(m) => rules::fix(&terms.types, self.part(terms, m, scope)?).ok(),
            Term::Derive(m) => {
                let function = self.part(terms, m, scope)?;
                rules::derive(&mut terms.types, function).ok()
            }
            Term::Op(op, depth, m) => rules::op(op, depth, self.part(terms, m, scope)?).ok(),
            Term::Tick(m) => self.part(terms, m, scope),
            Term::If(depth, m, p, q) => {
                rules::ground(depth, self.part(terms, m, scope)?).ok()?;
                let branch =
                    rules::branches(self.part(terms, p, scope)?, self.part(terms, q, scope)?).ok()?;
                rules::under(depth, branch).ok()
            }
            Term::Let(depth, m, p) => {
                rules::ground(depth, self.part(terms, m, scope)?).ok()?;
                let inner = self.bind(scope, Type::NAT);
                rules::under(depth, self.part(terms, p, inner)?).ok()
            }
            Term::Sum(m0, m1) => self.sum(terms, m0, m1, scope),
        }
    }

    fn part(&self, terms: &Terms, m: TermId, scope: Scope) -> Option<Type> {
        self.known[&place(terms, m, scope)]
    }

    fn variable(&self, mut scope: Scope, index: u32) -> Option<Type> {
        for _ in 0..index {
            (scope, _) = *self.scopes.get(scope.index())?;
        }
        self.scopes.get(scope.index()).map(|(_, ty)| *ty)
    }

    /// `Γ ⊢ M0 + M1 : A`, which is *not* "both have type A". This recurses as deep as sums are nested in
    /// contexts; only the laws make sums.
    fn sum(&mut self, terms: &mut Terms, m0: TermId, m1: TermId, scope: Scope) -> Option<Type> {
        let (zero, one) = (Op::Pi(Bit::Zero), Op::Pi(Bit::One));
        if let (Term::Op(op0, d0, n0), Term::Op(op1, d1, n1)) = (terms.get(m0), terms.get(m1))
            && d0 == d1
        {
            // (proj2)   N : D^(d+1) B
            //           ─────────────────────────────
            //           pi_0^d N + pi_1^d N : D^d B
            if (op0, op1) == (zero, one) && n0 == n1 {
                let ty = self.type_of(terms, n0, scope);
                if let Some(ty) = ty.and_then(|ty| rules::op(zero, d0, ty).ok()) {
                    return Some(ty);
                }
            }
            // (projd)   N0 + N1 : D^(d+1) B
            //           ─────────────────────────────
            //           pi_1^d N0 + pi_0^d N1 : D^d B
            if (op0, op1) == (one, zero) {
                let sum = terms.add(Term::Sum(n0, n1));
                let ty = self.type_of(terms, sum, scope);
                if let Some(ty) = ty.and_then(|ty| rules::op(zero, d0, ty).ok()) {
                    return Some(ty);
                }
            }
        }
        // (lin)     L[N0 + N1] : A
        //           ──────────────────
        //           L[N0] + L[N1] : A
        let (n0, n1) = crate::rewrite::linear::common_context(terms, m0, m1)?;
        let sum = terms.add(Term::Sum(n0, n1));
        let whole = crate::rewrite::linear::plug(terms, m0, sum);
        self.type_of(terms, whole, scope)
    }
}

/// A term and the scope that its type depends on: the type of a closed term is the same in all scopes, and
/// found once.
fn place(terms: &Terms, m: TermId, scope: Scope) -> (TermId, Scope) {
    (m, if terms.scope(m) == 0 { Scope::EMPTY } else { scope })
}

/// The type of a closed term.
pub fn recheck(terms: &mut Terms, m: TermId) -> Option<Type> {
    recheck_open(terms, m, &[])
}

/// The type of a term whose free variables have these types, the innermost last.
pub fn recheck_open(terms: &mut Terms, m: TermId, variables: &[Type]) -> Option<Type> {
    let mut checker = Checker::default();
    let scope = variables.iter().fold(Scope::EMPTY, |scope, ty| checker.bind(scope, *ty));
    checker.type_of(terms, m, scope)
}
