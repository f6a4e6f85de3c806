//! The small-step semantics (section 5): evaluation contexts from left to right, β by substitution of a
//! closed value.
//!
//! A configuration is a term and a heap. The term is kept as a *focus* and the context around it, a stack of
//! terms with a hole, so that finding the next redex does not start at the root each time.

use eddy_syntax::Span;

use crate::integer::{Int, NoResult};
use crate::run::{RunError, Stuck};
use crate::substitute::{rebuild, substitute};
use crate::surface::Prefix;
use crate::syntax::{Program, Term, TermId, Terms};

/// A term with a hole for one of its parts.
#[derive(Clone, Debug)]
struct Hole {
    term: TermId,
    /// The index of the part.
    part: usize,
    /// The parts before the hole, which are values.
    values: Vec<TermId>,
}

/// A configuration of a program.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The terms, which grow with each step.
    pub terms: Terms,
    context: Vec<Hole>,
    focus: TermId,
    /// The heap: the values at the addresses 0, 1, 2, …
    pub heap: Vec<TermId>,
}

impl Configuration {
    /// A program before its first step.
    pub fn new(program: &Program) -> Self {
        Configuration {
            terms: program.terms.clone(),
            context: Vec::new(),
            focus: program.main,
            heap: Vec::new(),
        }
    }

    /// The whole term. The call may add terms to the table; the caller can remove them afterwards.
    pub fn whole(&mut self) -> TermId {
        let mut whole = self.focus;
        for hole in self.context.iter().rev() {
            let mut at = 0;
            let term = rebuild(self.terms.term(hole.term), |part| {
                at += 1;
                match at - 1 {
                    i if i == hole.part => whole,
                    i => hole.values.get(i).copied().unwrap_or(part),
                }
            });
            let span = self.terms.span(hole.term);
            whole = self.terms.push(term, span);
        }
        whole
    }

    /// Makes one step; returns whether there was one.
    pub fn step(&mut self) -> Result<bool, RunError> {
        loop {
            if self.terms.is_value(self.focus) {
                let Some(mut hole) = self.context.pop() else { return Ok(false) };
                hole.values.push(self.focus);
                if let Some(next) = self.part_to_evaluate(&hole) {
                    hole.part += 1;
                    self.focus = next;
                    self.context.push(hole);
                    continue;
                }
                if let Term::Pair(..) = self.terms.term(hole.term) {
                    // A pair of values is a value; building it is not a step.
                    let span = self.terms.span(hole.term);
                    self.focus = self.terms.push(Term::Pair(hole.values[0], hole.values[1]), span);
                    continue;
                }
                self.focus = self.contract(hole.term, &hole.values)?;
                return Ok(true);
            }
            if let Term::Fix(name, body) = *self.terms.term(self.focus) {
                // fix f.v → v[fix f.v/f]
                self.focus = substitute(&mut self.terms, body, name, self.focus);
                return Ok(true);
            }
            let first = self.terms.term(self.focus).parts().next();
            let first = first.expect("a term that is no value has parts: programs are closed");
            self.context.push(Hole { term: self.focus, part: 0, values: Vec::new() });
            self.focus = first;
        }
    }

    /// The next part to evaluate: all parts in order, except the branches of an `if`.
    fn part_to_evaluate(&self, hole: &Hole) -> Option<TermId> {
        match self.terms.term(hole.term) {
            Term::If(..) => None,
            term => term.parts().nth(hole.values.len()),
        }
    }

    /// The contractum of a redex, given the values of its parts.
    fn contract(&mut self, redex: TermId, values: &[TermId]) -> Result<TermId, RunError> {
        let span = self.terms.span(redex);
        let stuck = |why| RunError::Stuck(span, why);
        match self.terms.term(redex).clone() {
            // (λx.e) v → e[v/x]
            Term::Apply(..) => match *self.terms.term(values[0]) {
                Term::Lambda(name, body) => Ok(substitute(&mut self.terms, body, name, values[1])),
                _ => Err(stuck(Stuck::NotAFunction)),
            },
            // n1 o n2 → n
            Term::Op(op, ..) => {
                let (Term::Int(a), Term::Int(b)) = (self.terms.term(values[0]), self.terms.term(values[1]))
                else {
                    return Err(stuck(Stuck::NotAnInteger));
                };
                match op.apply(a, b) {
                    Ok(int) => Ok(self.terms.push(Term::Int(int), span)),
                    Err(NoResult::Zero) => Err(stuck(Stuck::Zero)),
                    Err(NoResult::TooLarge) => Err(RunError::TooLarge(span)),
                }
            }
            // if n then a else b → a, or b if n is 0
            Term::If(_, yes, no) => match self.terms.term(values[0]) {
                Term::Int(int) => Ok(if *int == Int::ZERO { no } else { yes }),
                _ => Err(stuck(Stuck::NotACondition)),
            },
            // (Λ.e)[A] → e
            Term::TypeApply(_) => match *self.terms.term(values[0]) {
                Term::TypeLambda(body) => Ok(body),
                _ => Err(stuck(Stuck::IllTyped)),
            },
            Term::Prefix(prefix, _) => {
                self.contract_prefix(prefix, values[0], span).ok_or(stuck(Stuck::IllTyped))
            }
            // @a := v → @a, with v at a
            Term::Assign(..) => match *self.terms.term(values[0]) {
                Term::Address(address) => {
                    let slot = usize::try_from(address).ok().and_then(|at| self.heap.get_mut(at));
                    *slot.ok_or(stuck(Stuck::IllTyped))? = values[1];
                    Ok(values[0])
                }
                _ => Err(stuck(Stuck::IllTyped)),
            },
            Term::Int(_)
            | Term::Variable(_)
            | Term::Lambda(..)
            | Term::TypeLambda(_)
            | Term::Fix(..)
            | Term::Pair(..)
            | Term::Address(_) => unreachable!("these forms are not redexes"),
        }
    }

    fn contract_prefix(&mut self, prefix: Prefix, value: TermId, span: Span) -> Option<TermId> {
        match (prefix, self.terms.term(value)) {
            // ref v → @a, with v at the next address
            (Prefix::Ref, _) => {
                let address = self.heap.len() as u64;
                self.heap.push(value);
                Some(self.terms.push(Term::Address(address), span))
            }
            // !@a → the value at a
            (Prefix::Read, Term::Address(address)) => self.heap.get(usize::try_from(*address).ok()?).copied(),
            // π1 (v, w) → v       π2 (v, w) → w
            (Prefix::First, Term::Pair(first, _)) => Some(*first),
            (Prefix::Second, Term::Pair(_, second)) => Some(*second),
            _ => None,
        }
    }
}
