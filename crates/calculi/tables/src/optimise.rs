//! The optimiser of `.lam` (section 8; Figure 7 of the paper): folds constants and inlines functions, to a
//! depth.
//!
//! ```text
//! O[x]k=x  O[n]k=n  O[λx.e]k=λx.O[e]k
//! O[e1 o e2]k  = the folded literal if both sides are literals and the operation is defined; else rebuild
//! O[e1 e2]k    = O[e[v2/x]](k−1) if k≥1, O[e1]k=λx.e and O[e2]k=v2 is a closed syntactic value; else rebuild
//! O[if c a b]k = O of the chosen branch if O[c]k is a literal; else rebuild all three
//! ```
//!
//! Only closed values are inlined, so no variable can be captured; the proof of Lemma 4.1 relies on this.
//! Decision: the paper has no equation for `if`; this one is ours. The result may grow like 2^k, so its size
//! and the number of inlined calls are limited.

use rustc_hash::FxHashMap;

use crate::integer::Int;
use crate::substitute::{rebuild, substitute};
use crate::syntax::{Program, Term, TermId, Terms};

/// The default depth of inlining.
pub const DEFAULT_DEPTH: u32 = 3;

/// The maximal size of a result.
pub const MAX_SIZE: u64 = 1 << 20;

/// The maximal number of inlined calls.
pub const MAX_CALLS: u64 = 1 << 20;

/// The result is too large, or too many calls would be inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Pending work.
enum Task {
    /// Push `O[e]k` on the results.
    Visit(TermId, u32),
    /// The parts are optimised: apply the equation of this term.
    Conclude(TermId, u32),
    /// The condition of an `if` is optimised.
    Choose(TermId, u32),
    /// Memoise the result for this term.
    Memoise(TermId, u32),
}

struct Optimiser<'a> {
    terms: &'a mut Terms,
    work: Vec<Task>,
    results: Vec<TermId>,
    /// Memoised results: terms share their parts.
    known: FxHashMap<(TermId, u32), TermId>,
    n_calls: u64,
}

/// `O[e]k` for the term of a program. The terms of the result are added to the program's table.
pub fn optimise(program: &mut Program, depth: u32) -> Result<TermId, TooLarge> {
    let mut optimiser = Optimiser {
        terms: &mut program.terms,
        work: vec![Task::Visit(program.main, depth)],
        results: Vec::new(),
        known: FxHashMap::default(),
        n_calls: 0,
    };
    while let Some(task) = optimiser.work.pop() {
        match task {
            Task::Visit(e, k) => optimiser.visit(e, k),
            Task::Conclude(e, k) => optimiser.conclude(e, k)?,
            Task::Choose(e, k) => optimiser.choose(e, k),
            Task::Memoise(e, k) => {
                let result = *optimiser.results.last().expect("the result is there");
                optimiser.known.insert((e, k), result);
            }
        }
    }
    Ok(optimiser.results.pop().expect("the program is optimised"))
}

impl Optimiser<'_> {
    fn visit(&mut self, e: TermId, k: u32) {
        if let Some(result) = self.known.get(&(e, k)) {
            return self.results.push(*result);
        }
        self.work.push(Task::Memoise(e, k));
        match self.terms.term(e) {
            Term::Int(_) | Term::Variable(_) => self.results.push(e),
            Term::If(condition, ..) => self.work.extend([Task::Choose(e, k), Task::Visit(*condition, k)]),
            term => {
                let parts: Vec<TermId> = term.parts().collect();
                self.work.push(Task::Conclude(e, k));
                self.work.extend(parts.into_iter().rev().map(|part| Task::Visit(part, k)));
            }
        }
    }

    fn conclude(&mut self, e: TermId, k: u32) -> Result<(), TooLarge> {
        let term = self.terms.term(e).clone();
        let n_parts = term.parts().count();
        let parts = self.results.split_off(self.results.len() - n_parts);
        let result = match term {
            Term::Apply(..) => {
                if let Some(inlined) = self.inline(parts[0], parts[1], k)? {
                    self.work.push(Task::Visit(inlined, k - 1));
                    return Ok(());
                }
                None
            }
            Term::Op(op, ..) => match (self.terms.term(parts[0]), self.terms.term(parts[1])) {
                (Term::Int(a), Term::Int(b)) => op.apply(a, b).ok().map(Term::Int),
                _ => None,
            },
            _ => None,
        };
        let result = result.unwrap_or_else(|| {
            let mut parts = parts.iter();
            rebuild(&term, |_| *parts.next().expect("as many parts as before"))
        });
        let span = self.terms.span(e);
        let result = self.terms.push(result, span);
        self.results.push(result);
        if self.terms.size(result) > MAX_SIZE { Err(TooLarge) } else { Ok(()) }
    }

    /// `e[v/x]`, if the function is `λx.e` and the argument a closed value `v`.
    fn inline(&mut self, function: TermId, argument: TermId, k: u32) -> Result<Option<TermId>, TooLarge> {
        let Term::Lambda(name, body) = *self.terms.term(function) else { return Ok(None) };
        let is_closed_value = self.terms.is_value(argument) && self.terms.free_variables(argument).is_empty();
        if k == 0 || !is_closed_value {
            return Ok(None);
        }
        self.n_calls += 1;
        let inlined = substitute(self.terms, body, name, argument);
        let is_large = self.n_calls > MAX_CALLS || self.terms.size(inlined) > MAX_SIZE;
        if is_large { Err(TooLarge) } else { Ok(Some(inlined)) }
    }

    fn choose(&mut self, e: TermId, k: u32) {
        let Term::If(_, yes, no) = *self.terms.term(e) else { unreachable!("only an `if` chooses") };
        let condition = *self.results.last().expect("the condition is optimised");
        if let Term::Int(int) = self.terms.term(condition) {
            let branch = if *int == Int::ZERO { no } else { yes };
            self.results.pop();
            self.work.push(Task::Visit(branch, k));
        } else {
            self.work.extend([Task::Conclude(e, k), Task::Visit(no, k), Task::Visit(yes, k)]);
        }
    }
}
