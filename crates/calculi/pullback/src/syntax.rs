//! Kernel terms (section 2): without sugar and with types.
//!
//! ```text
//! t ::= x | λx.t | t t | ⟨t,t⟩ | π1 t | π2 t | r | f(t) | J f·t | (λx.t)^*·t | (Ω λx.t)·t | r^* | 0 | t + t
//!     | J t·t | t @ t | flat t | sharp t
//! ```
//!
//! Terms live in one growing table, [`Terms`], and refer to each other by number, children before parents;
//! each has its type. They are *locally nameless*: a bound variable is the number of binders between it and
//! its own binder, a free variable is a [`VarId`]. So no substitution can capture a variable, terms that are
//! equal up to the names of bound variables are equal trees, and parts without loose indices are shared,
//! never copied. Three forms bind: `λx`, `(λx.·)^*` and `Ω λx.·`.
//!
//! A chain of projections down a left-nested tuple is one node: [`Path`] `{ lefts: 3, right: true }` is `π2
//! π1 π1 π1`, so that the variables of a pattern `<x1, …, xn>` cost one node each and not n.
//!
//! [`build`] has a function for each form, which finds its type.

mod build;

use std::hash::{Hash, Hasher};

use eddy_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::names::{Name, Names};
use crate::primitive::{PrimId, Primitives};
use crate::surface::Side;
use crate::types::{Shape, Type, Types};

eddy_index::id! {
    pub struct TermId, "the limits end a run before 2^32 terms";
    /// A free variable.
    pub struct VarId, "the limits end a run before 2^32 terms";
}

/// `π1` `lefts` times, then `π2` if `right`; never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    /// The number of `π1`.
    pub lefts: u32,
    /// Whether `π2` follows.
    pub right: bool,
}

impl Path {
    /// `π1` or `π2`.
    pub fn step(side: Side) -> Path {
        match side {
            Side::First => Path { lefts: 1, right: false },
            Side::Second => Path { lefts: 0, right: true },
        }
    }
}

/// The preferred printed name of a binder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hint(pub Name);

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Term {
    /// A bound variable: the number of binders between it and its own binder.
    Bound(u32),
    Free(VarId),
    /// `λx.t`.
    Lambda(Hint, TermId),
    /// `s t`; `(λx.t) s` is `let x = s in t`.
    Apply(TermId, TermId),
    /// `⟨s,t⟩`.
    Pair(TermId, TermId),
    /// A chain of projections.
    Project(Path, TermId),
    /// `r`.
    Real(f64),
    /// `f(t)`.
    Prim(PrimId, TermId),
    /// `J f·t`.
    PrimJacobian(PrimId, TermId),
    /// `(λx.s)^*·t`: body and operand.
    Dual(Hint, TermId, TermId),
    /// `(Ω λx.p)·w`: body and 1-form.
    Pullback(Hint, TermId, TermId),
    /// `0` at the type of the term.
    Zero,
    /// `s + t`.
    Add(TermId, TermId),
    /// `J s·t`, `s` any function.
    Jacobian(TermId, TermId),
    /// `s @ t`.
    Contract(TermId, TermId),
    /// `flat t`; of a literal it is `r^*`.
    Flat(TermId),
    /// `sharp t`.
    Sharp(TermId),
}

impl Term {
    /// The parts, each with the number of binders that this form puts around it.
    pub fn children(self) -> impl DoubleEndedIterator<Item = (TermId, u32)> {
        let [first, second] = match self {
            Term::Bound(_) | Term::Free(_) | Term::Real(_) | Term::Zero => [None, None],
            Term::Lambda(_, body) => [Some((body, 1)), None],
            Term::Project(_, of)
            | Term::Prim(_, of)
            | Term::PrimJacobian(_, of)
            | Term::Flat(of)
            | Term::Sharp(of) => [Some((of, 0)), None],
            Term::Apply(left, right)
            | Term::Pair(left, right)
            | Term::Add(left, right)
            | Term::Jacobian(left, right)
            | Term::Contract(left, right) => [Some((left, 0)), Some((right, 0))],
            Term::Dual(_, body, operand) | Term::Pullback(_, body, operand) => {
                [Some((body, 1)), Some((operand, 0))]
            }
        };
        first.into_iter().chain(second)
    }

    /// Whether no rule reduces a term of this form, for any parts.
    fn is_introduction(self) -> bool {
        matches!(
            self,
            Term::Real(_)
                | Term::Zero
                | Term::Lambda(..)
                | Term::Pair(..)
                | Term::PrimJacobian(..)
                | Term::Flat(_)
        )
    }

    /// The same form with other parts, in the order of [`Term::children`].
    #[must_use]
    pub fn with_children(self, mut next: impl FnMut() -> TermId) -> Term {
        match self {
            Term::Bound(_) | Term::Free(_) | Term::Real(_) | Term::Zero => self,
            Term::Lambda(hint, _) => Term::Lambda(hint, next()),
            Term::Project(path, _) => Term::Project(path, next()),
            Term::Prim(f, _) => Term::Prim(f, next()),
            Term::PrimJacobian(f, _) => Term::PrimJacobian(f, next()),
            Term::Flat(_) => Term::Flat(next()),
            Term::Sharp(_) => Term::Sharp(next()),
            Term::Apply(..) => Term::Apply(next(), next()),
            Term::Pair(..) => Term::Pair(next(), next()),
            Term::Add(..) => Term::Add(next(), next()),
            Term::Jacobian(..) => Term::Jacobian(next(), next()),
            Term::Contract(..) => Term::Contract(next(), next()),
            Term::Dual(hint, ..) => Term::Dual(hint, next(), next()),
            Term::Pullback(hint, ..) => Term::Pullback(hint, next(), next()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Var {
    pub name: Name,
    pub ty: Type,
}

#[derive(Clone, Debug, Default)]
pub struct Terms {
    pub types: Types,
    pub names: Names,
    pub primitives: Primitives,
    terms: Vec<Term>,
    term_types: Vec<Type>,
    /// One more than the largest index that refers outside the term; 0 if there is none.
    loose: Vec<u32>,
    /// Whether a free variable is in the term.
    open: Vec<bool>,
    vars: Vec<Var>,
    /// The table of equal terms, after [`Terms::share`] was called.
    shared: Option<FxHashMap<Key, TermId>>,
}

/// A key for finding equal terms. Numerals are equal if their bits are equal: `0` is not `-0`.
#[derive(Clone, Copy, Debug)]
struct Key(Term, Type);

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        let is_equal = match (self.0, other.0) {
            (Term::Real(a), Term::Real(b)) => a.to_bits() == b.to_bits(),
            (a, b) => a == b,
        };
        is_equal && self.1 == other.1
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(&self.0).hash(state);
        match self.0 {
            Term::Bound(index) => index.hash(state),
            Term::Free(var) => var.hash(state),
            Term::Real(value) => value.to_bits().hash(state),
            Term::Project(path, _) => path.hash(state),
            Term::Prim(f, _) | Term::PrimJacobian(f, _) => f.hash(state),
            _ => {}
        }
        for (child, _) in self.0.children() {
            child.hash(state);
        }
    }
}

/// A checked program.
#[derive(Clone, Debug)]
pub struct Program {
    pub terms: Terms,
    /// Its main expression, with all definitions as `let`s around it; `None` if there is none.
    pub main: Option<TermId>,
    /// The definitions as `let`s around the main expression, or around 0 if there is none.
    pub definitions: TermId,
    /// Whether it has free variables.
    pub is_open: bool,
    /// The sources of the terms of the main expression and its definitions.
    pub origins: Vec<Span>,
}

impl Terms {
    pub fn term(&self, id: TermId) -> Term {
        self.terms[id.index()]
    }

    pub fn ty(&self, id: TermId) -> Type {
        self.term_types[id.index()]
    }

    /// One more than the largest index that refers outside the term.
    pub fn loose(&self, id: TermId) -> u32 {
        self.loose[id.index()]
    }

    /// Whether a free variable is in the term.
    pub fn is_open(&self, id: TermId) -> bool {
        self.open[id.index()]
    }

    /// The approximate size of the tables in bytes.
    pub fn bytes(&self) -> u64 {
        let each = size_of::<Term>() + size_of::<Type>() + size_of::<u32>() + size_of::<bool>();
        let shared = self.shared.as_ref().map_or(0, |shared| shared.capacity() * size_of::<(Key, TermId)>());
        (self.terms.capacity() * each + shared) as u64
    }

    /// From now on, equal terms get the same number, so that parts that a substitution separated are shared
    /// again. Closed terms that can be reduced are not shared: each occurrence has its own steps.
    pub fn share(&mut self) {
        self.shared = Some(FxHashMap::default());
    }

    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// The term with this number, if there is one.
    pub fn nth(&self, index: usize) -> Option<(TermId, Term)> {
        let term = *self.terms.get(index)?;
        Some((TermId::new(index), term))
    }

    /// How many free variables there are.
    pub fn n_vars(&self) -> usize {
        self.vars.len()
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub fn var(&self, id: VarId) -> Var {
        self.vars[id.index()]
    }

    pub fn fresh(&mut self, name: Name, ty: Type) -> VarId {
        self.vars.push(Var { name, ty });
        VarId::new(self.vars.len() - 1)
    }

    pub fn fresh_term(&mut self, name: &str, ty: Type) -> (VarId, TermId) {
        let name = self.names.intern(name);
        let var = self.fresh(name, ty);
        (var, self.push(Term::Free(var), ty))
    }

    pub fn hint(&mut self, name: &str) -> Hint {
        Hint(self.names.intern(name))
    }

    pub fn push(&mut self, term: Term, ty: Type) -> TermId {
        let loose = match term {
            Term::Bound(index) => index + 1,
            _ => {
                let leaves = |(child, depth): (TermId, u32)| self.loose(child).saturating_sub(depth);
                term.children().map(leaves).max().unwrap_or(0)
            }
        };
        let open = match term {
            Term::Free(_) => true,
            _ => term.children().any(|(child, _)| self.open[child.index()]),
        };
        let new = TermId::new(self.terms.len());
        if (open || loose > 0 || term.is_introduction())
            && let Some(shared) = &mut self.shared
        {
            let known = *shared.entry(Key(term, ty)).or_insert(new);
            if known != new {
                return known;
            }
        }
        self.terms.push(term);
        self.term_types.push(ty);
        self.loose.push(loose);
        self.open.push(open);
        new
    }

    /// The type of the variable of `λx.t`, `(λx.s)^*·t` or `(Ω λx.p)·w`.
    pub fn param(&self, id: TermId) -> Type {
        match self.types.shape(self.ty(id)) {
            Shape::Arrow(from, _) => from,
            Shape::Dual(of) => of,
            other => unreachable!("{other:?} is no type of a binder"),
        }
    }

    /// Sets the type of a free variable.
    pub fn set_type(&mut self, var: VarId, ty: Type) {
        self.vars[var.index()].ty = ty;
    }

    /// Whether the bound variable with this index occurs in the term.
    pub fn mentions(&self, id: TermId, index: u32) -> bool {
        let mut work = vec![(id, index)];
        let mut seen = FxHashSet::default();
        while let Some((id, index)) = work.pop() {
            if self.loose(id) <= index || !seen.insert((id, index)) {
                continue;
            }
            match self.term(id) {
                Term::Bound(found) if found == index => return true,
                term => work.extend(term.children().map(|(child, depth)| (child, index + depth))),
            }
        }
        false
    }
}
