//! Core terms (section 1): without names, sugar and places.
//!
//! Variables are de Bruijn indices, so terms that differ only in the names of bound variables are equal; and
//! terms are hash-consed, so equal terms have equal numbers. Both make the copies that the machines create
//! cheap: substituting, differentiating and comparing visit shared parts only once.
//!
//! Children come before parents in the table, which makes walks without recursion easy.

use dashu_ratio::RBig;
use rustc_hash::FxHashMap;

use crate::names::{Name, Names};
use crate::types::{Type, Types};

eddy_index::id! {
    pub struct TermId, "the memory limit is below 2^32 terms";
    pub struct ProbId, "fewer probabilities than source bytes";
}

/// A component of a summable pair: 0 is the function itself, 1 its derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bit {
    /// The first component.
    Zero,
    /// The second.
    One,
}

impl Bit {
    /// Both, in order.
    pub const BOTH: [Bit; 2] = [Bit::Zero, Bit::One];

    /// `0` or `1`.
    pub fn digit(self) -> char {
        match self {
            Bit::Zero => '0',
            Bit::One => '1',
        }
    }
}

/// The operators that act on one term at a depth, and which ∂ moves one level down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    Succ,
    /// The predecessor; that of 0 is 0.
    Pred,
    /// A component, π.
    Pi(Bit),
    /// A pair whose other component is 0, ι.
    Inj(Bit),
    /// `((a,b),(c,_)) ↦ (a, b+c)`, θ.
    Theta,
    /// The cyclic permutation of l+2 levels, c.
    Flip(u32),
}

/// A term; `M + N` and `0` occur only in the rewriting system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// A variable: the number of binders between it and its own.
    Var(u32),
    /// `\x:A. M`.
    Lambda(Type, TermId),
    /// `M N`.
    Apply(TermId, TermId),
    /// `fix M`.
    Fix(TermId),
    Num(u64),
    /// `op^d M`.
    Op(Op, u32, TermId),
    /// `if^d(M, P, Q)`: P where M is zero.
    If(u32, TermId, TermId, TermId),
    /// `let^d(x, M, P)`.
    Let(u32, TermId, TermId),
    /// `D M`.
    Derive(TermId),
    /// `coin(p)`.
    Coin(ProbId),
    /// `tick M`.
    Tick(TermId),
    /// `0` of a type.
    Zero(Type),
    /// `M + N`.
    Sum(TermId, TermId),
}

/// A part of a term, and the number of binders of the term around it.
pub type Part = (TermId, u32);

impl Term {
    /// Its parts, in the order of writing.
    pub fn parts(self) -> impl DoubleEndedIterator<Item = Part> {
        let parts: [Option<Part>; 3] = match self {
            Term::Var(_) | Term::Num(_) | Term::Coin(_) | Term::Zero(_) => [None; 3],
            Term::Lambda(_, body) => [Some((body, 1)), None, None],
            Term::Apply(m, n) | Term::Sum(m, n) => [Some((m, 0)), Some((n, 0)), None],
            Term::Fix(m) | Term::Op(_, _, m) | Term::Derive(m) | Term::Tick(m) => [Some((m, 0)), None, None],
            Term::If(_, m, p, q) => [Some((m, 0)), Some((p, 0)), Some((q, 0))],
            Term::Let(_, m, p) => [Some((m, 0)), Some((p, 1)), None],
        };
        parts.into_iter().flatten()
    }

    /// The same form with other parts, in the same order.
    #[must_use]
    pub fn with_parts(self, mut parts: impl Iterator<Item = TermId>) -> Term {
        let mut next = || parts.next().expect("a term has as many parts as it had");
        match self {
            Term::Var(_) | Term::Num(_) | Term::Coin(_) | Term::Zero(_) => self,
            Term::Lambda(ty, _) => Term::Lambda(ty, next()),
            Term::Apply(..) => Term::Apply(next(), next()),
            Term::Sum(..) => Term::Sum(next(), next()),
            Term::Fix(_) => Term::Fix(next()),
            Term::Op(op, depth, _) => Term::Op(op, depth, next()),
            Term::Derive(_) => Term::Derive(next()),
            Term::Tick(_) => Term::Tick(next()),
            Term::If(depth, ..) => Term::If(depth, next(), next(), next()),
            Term::Let(depth, ..) => Term::Let(depth, next(), next()),
        }
    }
}

/// Below this number of terms nothing is collected; any number of this size works.
const MANY: usize = 1 << 18;

/// All terms of one program and of its runs.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    terms: Vec<Term>,
    /// One more than the largest free index of each term; 0 for closed terms.
    scopes: Vec<u32>,
    places: FxHashMap<Term, TermId>,
    /// The source names of the variables of binders.
    binder_names: FxHashMap<TermId, Name>,
    /// The differentials that were taken, by term and variable; see [`differential`](crate::differential).
    pub(crate) differentials: FxHashMap<(TermId, u32), TermId>,
    /// The number of terms at which dead ones are collected.
    many: usize,
    probabilities: Vec<RBig>,
    places_of_probabilities: FxHashMap<RBig, ProbId>,
    pub names: Names,
    pub types: Types,
}

impl Terms {
    pub fn new(names: Names, types: Types) -> Self {
        Terms { names, types, ..Terms::default() }
    }

    /// The number of a term, which is added unless it exists.
    pub fn add(&mut self, term: Term) -> TermId {
        if let Some(place) = self.places.get(&term) {
            return *place;
        }
        let place = TermId::new(self.terms.len());
        let scope = match term {
            Term::Var(index) => index + 1,
            _ => term.parts().map(|(part, under)| self.scope(part).saturating_sub(under)).max().unwrap_or(0),
        };
        self.terms.push(term);
        self.scopes.push(scope);
        self.places.insert(term, place);
        place
    }

    /// Adds a binder with the source name of its variable.
    pub fn add_binder(&mut self, term: Term, name: Name) -> TermId {
        let id = self.add(term);
        self.binder_names.entry(id).or_insert(name);
        id
    }

    /// Adds a replacement for another term; if that is a binder, its variable keeps its name.
    pub fn add_like(&mut self, term: Term, old: TermId) -> TermId {
        match self.binder_name(old) {
            Some(name) => self.add_binder(term, name),
            None => self.add(term),
        }
    }

    /// `op^d M`.
    pub fn op(&mut self, op: Op, depth: u32, m: TermId) -> TermId {
        self.add(Term::Op(op, depth, m))
    }

    pub fn get(&self, id: TermId) -> Term {
        self.terms[id.index()]
    }

    /// One more than the largest free index; 0 if the term is closed.
    pub fn scope(&self, id: TermId) -> u32 {
        self.scopes[id.index()]
    }

    /// The source name of the variable of a binder; `None` if the program does not contain it.
    pub fn binder_name(&self, id: TermId) -> Option<Name> {
        self.binder_names.get(&id).copied()
    }

    /// The approximate size of the terms in bytes.
    pub fn bytes(&self) -> u64 {
        // A term, its scope, and its entry in a hash table that is half full.
        const EACH: usize = 3 * size_of::<Term>() + 3 * size_of::<TermId>();
        // An entry in such a table.
        const DIFFERENTIAL: usize = 2 * size_of::<((TermId, u32), TermId)>();
        (self.terms.len() * EACH + self.differentials.len() * DIFFERENTIAL) as u64
    }

    /// Whether dead terms should be collected with [`Terms::keep`].
    #[inline]
    pub fn is_full(&self) -> bool {
        self.terms.len() >= self.many.max(MANY)
    }

    /// Removes all terms but these and their parts, and updates their numbers.
    pub fn keep<'a>(&mut self, roots: impl Iterator<Item = &'a mut TermId>) {
        let roots: Vec<&mut TermId> = roots.collect();
        let mut is_kept = vec![false; self.terms.len()];
        let mut work: Vec<TermId> = roots.iter().map(|root| **root).collect();
        while let Some(id) = work.pop() {
            if !std::mem::replace(&mut is_kept[id.index()], true) {
                work.extend(self.get(id).parts().map(|(part, _)| part));
            }
        }
        let old = std::mem::take(&mut self.terms);
        let mut names = std::mem::take(&mut self.binder_names);
        self.scopes.clear();
        self.places.clear();
        self.differentials = FxHashMap::default();
        // Parts come before the terms around them. Removed terms have no new number, and no live term refers
        // to them.
        let mut moved = Vec::with_capacity(old.len());
        for (place, term) in old.into_iter().enumerate() {
            let before = TermId::new(place);
            if !is_kept[place] {
                moved.push(before);
                continue;
            }
            let parts: Vec<TermId> = term.parts().map(|(part, _)| moved[part.index()]).collect();
            let now = self.add(term.with_parts(parts.into_iter()));
            if let Some(name) = names.remove(&before) {
                self.binder_names.insert(now, name);
            }
            moved.push(now);
        }
        self.many = 2 * self.terms.len();
        for root in roots {
            *root = moved[root.index()];
        }
    }

    pub fn add_probability(&mut self, probability: RBig) -> ProbId {
        let next = ProbId::new(self.probabilities.len());
        let place = *self.places_of_probabilities.entry(probability.clone()).or_insert(next);
        if place == next {
            self.probabilities.push(probability);
        }
        place
    }

    pub fn probability(&self, id: ProbId) -> &RBig {
        &self.probabilities[id.index()]
    }

    /// Whether a part of the term passes the test.
    pub fn any_part(&self, id: TermId, test: impl Fn(Term) -> bool) -> bool {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            if seen.insert(id) {
                let term = self.get(id);
                if test(term) {
                    return true;
                }
                work.extend(term.parts().map(|(part, _)| part));
            }
        }
        false
    }
}

/// A definition of a program.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    pub name: Name,
    /// Its value, a closed term.
    pub term: TermId,
    pub ty: Type,
}

/// A well-typed program.
#[derive(Clone, Debug)]
pub struct Program {
    pub terms: Terms,
    pub definitions: Vec<Definition>,
    /// The final term, with the definitions substituted.
    pub main: TermId,
    pub ty: Type,
    /// `pragma fuel N`.
    pub fuel: Option<u64>,
    /// `pragma coins N`.
    pub coins: Option<u64>,
}

impl Program {
    /// Whether the program contains coins, syntactically, after definitions are expanded.
    pub fn has_coins(&self) -> bool {
        self.terms.any_part(self.main, |term| matches!(term, Term::Coin(_)))
    }

    /// Whether the program counts ticks.
    pub fn has_ticks(&self) -> bool {
        self.terms.any_part(self.main, |term| matches!(term, Term::Tick(_)))
    }
}
