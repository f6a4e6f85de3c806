//! Terms: what a program is after its types were checked and erased (section 2).
//!
//! Terms live in a table and refer to each other by number, parts before wholes. Substitution shares what it does not change, so a table
//! holds a directed graph. Variables have names: only closed values are ever substituted, so nothing can be captured.
//!
//! `let x = e in b` is `(λx. b) e`; the application remembers that it was written so, for those who print it.

use eddy_syntax::Span;
use rustc_hash::FxHashMap;

use crate::dialect::Dialect;
use crate::integer::{Int, Op};
use crate::names::{Name, Names};
use crate::surface::Prefix;
use crate::types::{Type, Types};

/// The number of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId(u32);

/// The forms of terms (Figures 1 and 8, and section 6 of the paper).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// An integer.
    Int(Int),
    /// A variable.
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
    /// An address, which only appears while a program runs.
    Address(u64),
}

/// How an application was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Written {
    /// `e1 e2`.
    Plainly,
    /// `let x = e2 in b`, where e1 is `λx. b`.
    AsLet,
}

/// Where a λ of the source comes from, which is how its table is called.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// The λ of a `let`.
    Let,
    /// A function that a `let` gives this name.
    Named(Name),
    /// Any other; where its `λ` stands.
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
    /// For each term, how many forms it is made of when it is written out.
    sizes: Vec<u64>,
    /// For each term, whether it is a syntactic value.
    values: Vec<bool>,
    /// The texts of names.
    pub names: Names,
}

impl Terms {
    /// No terms yet, over these names.
    pub fn new(names: Names) -> Self {
        Terms { names, ..Terms::default() }
    }

    /// Adds a term, whose parts are there already, and where it comes from.
    pub fn push(&mut self, term: Term, span: Span) -> TermId {
        debug_assert!(term.parts().all(|part| (part.0 as usize) < self.terms.len()), "parts come first");
        let id = TermId(u32::try_from(self.terms.len()).expect("memory ends before 2^32 terms"));
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

    /// What a term is.
    pub fn term(&self, id: TermId) -> &Term {
        &self.terms[id.0 as usize]
    }

    /// Where it comes from.
    pub fn span(&self, id: TermId) -> Span {
        self.spans[id.0 as usize]
    }

    /// How many forms a term is made of when it is written out: parts that occur twice count twice.
    pub fn size(&self, id: TermId) -> u64 {
        self.sizes[id.0 as usize]
    }

    /// Whether a term is a syntactic value: an integer, an abstraction, an address, or a pair of values.
    pub fn is_value(&self, id: TermId) -> bool {
        self.values[id.0 as usize]
    }

    /// Forgets the terms that were added since there were `len`.
    pub fn truncate(&mut self, len: usize) {
        self.terms.truncate(len);
        self.spans.truncate(len);
        self.sizes.truncate(len);
        self.values.truncate(len);
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The terms that a term is made of, each once, parts before wholes.
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
        // A binder ends where the work behind it ends: so scopes are counted on the way.
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

/// A program that was checked.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its language.
    pub dialect: Dialect,
    /// Its terms.
    pub terms: Terms,
    /// The whole.
    pub main: TermId,
    /// Its types.
    pub types: Types,
    /// Its type; none in `.lam`.
    pub ty: Option<Type>,
    /// Where the λs of the source come from.
    pub origins: FxHashMap<TermId, Origin>,
}
