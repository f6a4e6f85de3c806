//! Terms: programs after type checking and type erasure (section 2).
//!
//! Terms live in a table and refer to each other by number, parts before wholes. Substitution shares
//! unchanged parts, so a table is a directed graph. Variables have names: only closed values are substituted,
//! so nothing can be captured.
//!
//! `let x = e in b` is `(λx. b) e`; the application is marked as a `let` for printing.

use eddy_syntax::Span;
use rustc_hash::FxHashMap;

use crate::dialect::Dialect;
use crate::integer::{Int, Op};
use crate::names::{Name, Names};
use crate::surface::Prefix;
use crate::types::{Type, Types};

eddy_index::id! {
    pub struct TermId, "memory ends before 2^32 terms";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    Int(Int),
    Variable(Name),
    /// `λx. e`.
    Lambda(Name, TermId),
    /// `e1 e2`.
    Apply(TermId, TermId, Written),
    /// `e1 o e2`.
    Op(Op, TermId, TermId),
    /// `if c then a else b`.
    If(TermId, TermId, TermId),
    /// `Λ. e`.
    TypeLambda(TermId),
    /// `e [A]`.
    TypeApply(TermId),
    /// `fix f. e`, where e is a λ.
    Fix(Name, TermId),
    /// `(e1, e2)`.
    Pair(TermId, TermId),
    /// `ref e`, `fst e`, `snd e` or `!e`.
    Prefix(Prefix, TermId),
    /// `e1 := e2`.
    Assign(TermId, TermId),
    /// An address, which exists only at run time.
    Address(u64),
}

/// The source form of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Written {
    /// `e1 e2`.
    Plainly,
    /// `let x = e2 in b`, where e1 is `λx. b`.
    AsLet,
}

/// The origin of a λ in the source, which names its table.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// The λ of a `let`.
    Let,
    /// A function that a `let` gives this name.
    Named(Name),
    /// Any other λ, with the place of its `λ`.
    At(Span),
}

impl Term {
    /// The parts of a term, in the order in which they are evaluated.
    pub fn parts(&self) -> impl Iterator<Item = TermId> + use<> {
        let parts = match *self {
            Term::Int(_) | Term::Variable(_) | Term::Address(_) => [None, None, None],
            Term::Lambda(_, e) | Term::TypeLambda(e) | Term::TypeApply(e) => [Some(e), None, None],
            Term::Fix(_, e) | Term::Prefix(_, e) => [Some(e), None, None],
            Term::Apply(a, b, _) | Term::Op(_, a, b) | Term::Pair(a, b) | Term::Assign(a, b) => {
                [Some(a), Some(b), None]
            }
            Term::If(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        parts.into_iter().flatten()
    }

    /// The variable that it binds in its part.
    pub fn binder(&self) -> Option<Name> {
        match self {
            Term::Lambda(name, _) | Term::Fix(name, _) => Some(*name),
            _ => None,
        }
    }
}

/// The terms of a program.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    terms: Vec<Term>,
    spans: Vec<Span>,
    /// For each term, the number of its forms when written out.
    sizes: Vec<u64>,
    /// For each term, whether it is a syntactic value.
    values: Vec<bool>,
    pub names: Names,
}

impl Terms {
    pub fn new(names: Names) -> Self {
        Terms { names, ..Terms::default() }
    }

    /// Adds a term, whose parts were added before, and its place.
    pub fn push(&mut self, term: Term, span: Span) -> TermId {
        debug_assert!(term.parts().all(|part| (part.index()) < self.terms.len()), "parts come first");
        let id = TermId::new(self.terms.len());
        let sizes = term.parts().map(|part| self.size(part));
        self.sizes.push(sizes.fold(1, u64::saturating_add));
        self.values.push(match &term {
            Term::Int(_) | Term::Lambda(..) | Term::TypeLambda(_) | Term::Address(_) => true,
            Term::Pair(a, b) => self.is_value(*a) && self.is_value(*b),
            _ => false,
        });
        self.terms.push(term);
        self.spans.push(span);
        id
    }

    pub fn term(&self, id: TermId) -> &Term {
        &self.terms[id.index()]
    }

    /// The place of a term in the source.
    pub fn span(&self, id: TermId) -> Span {
        self.spans[id.index()]
    }

    /// The number of forms of a term when written out: parts that occur twice count twice.
    pub fn size(&self, id: TermId) -> u64 {
        self.sizes[id.index()]
    }

    /// Whether a term is a syntactic value: an integer, an abstraction, an address, or a pair of values.
    pub fn is_value(&self, id: TermId) -> bool {
        self.values[id.index()]
    }

    /// Removes all terms after the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.terms.truncate(len);
        self.spans.truncate(len);
        self.sizes.truncate(len);
        self.values.truncate(len);
    }

    pub fn len(&self) -> usize {
        self.terms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The subterms of a term, each once, parts before wholes.
    pub fn inside(&self, root: TermId) -> Vec<TermId> {
        let mut seen: rustc_hash::FxHashSet<TermId> = [root].into_iter().collect();
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            work.extend(self.term(id).parts().filter(|part| seen.insert(*part)));
        }
        let mut all: Vec<TermId> = seen.into_iter().collect();
        // Parts have smaller numbers than wholes.
        all.sort_unstable();
        all
    }

    /// The free variables of a term, each once, in the order of their names' numbers.
    pub fn free_variables(&self, root: TermId) -> Vec<Name> {
        // Counts the enclosing binders of each name during the walk.
        enum Task {
            Enter(TermId),
            Leave(Name),
        }
        let (mut bound, mut free) = (FxHashMap::<Name, usize>::default(), Vec::new());
        let mut work = vec![Task::Enter(root)];
        while let Some(task) = work.pop() {
            match task {
                Task::Leave(name) => *bound.entry(name).or_default() -= 1,
                Task::Enter(id) => {
                    let term = self.term(id);
                    if let Term::Variable(name) = term
                        && bound.get(name).copied().unwrap_or(0) == 0
                    {
                        free.push(*name);
                    }
                    if let Some(name) = term.binder() {
                        *bound.entry(name).or_default() += 1;
                        work.push(Task::Leave(name));
                    }
                    let parts: Vec<_> = term.parts().collect();
                    work.extend(parts.into_iter().rev().map(Task::Enter));
                }
            }
        }
        free.sort_unstable();
        free.dedup();
        free
    }
}

/// A checked program.
#[derive(Clone, Debug)]
pub struct Program {
    pub dialect: Dialect,
    pub terms: Terms,
    pub main: TermId,
    pub types: Types,
    /// Its type; `None` in `.lam`.
    pub ty: Option<Type>,
    /// The origins of the λs of the source.
    pub origins: FxHashMap<TermId, Origin>,
}
