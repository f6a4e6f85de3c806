//! Linearity of dual maps (section 4.2).
//!
//! `L(X, t)` says that `t` is linear as one function of all the variables in `X` together. A body `let z = s
//! in t` is linear if `s` is linear in `X` and `t` in `X` and `z` *jointly*: `v x` is linear in `v` and in
//! `x`, but not in both. The clauses are checked with a work list; the first one that fails is reported.
//!
//! Decision: a `let`-bound `zero` counts as linear in everything, as `zero` itself does ("known soft spot" of
//! the specification).

use rustc_hash::FxHashMap;

use crate::primitive::PrimId;
use crate::syntax::{Term, TermId, Terms};

/// Why a term is not linear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A numeral other than 0 is constant.
    Numeral,
    /// A term without the linear variables is constant.
    Constant,
    /// The argument of a primitive.
    Primitive(PrimId),
    /// The argument of a function that is not a λ.
    Argument,
    /// Both sides of a bilinear form.
    BothSides,
    PullbackBody,
}

/// A term that is not linear, and the responsible part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLinear {
    pub part: TermId,
    /// A free occurrence of a linear variable in it, if there is one.
    pub occurrence: Option<TermId>,
    pub reason: Reason,
}

/// Whether index 0 is linear in `body`.
pub fn check(terms: &Terms, body: TermId) -> Result<(), NotLinear> {
    let mut checker = Checker { terms, flags: Vec::new(), mentions: FxHashMap::default() };
    let mut work = vec![Obligation { term: body, depth: 1, flag: Flag::Linear }];
    while let Some(obligation) = work.pop() {
        checker.enter(&obligation);
        checker.step(obligation.term, obligation.depth, &mut work)?;
    }
    Ok(())
}

/// The role of an enclosing binder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
    /// Not in `X`.
    Other,
    /// In `X`.
    Linear,
    /// Bound to zero.
    Zero,
}

/// `L(X, term)` under `depth` binders; the innermost has this flag.
struct Obligation {
    term: TermId,
    depth: usize,
    flag: Flag,
}

struct Checker<'a> {
    terms: &'a Terms,
    /// The flags of enclosing binders by level, the outermost first. Checking a part overwrites only levels
    /// above the level of the part, and parts are checked last in, first out, so the levels below always
    /// belong to the binders of the part.
    flags: Vec<Flag>,
    /// The occurrence that [`Checker::mention`] finds in a term, for terms whose binders are all in `flags`.
    mentions: FxHashMap<TermId, Option<TermId>>,
}

impl Checker<'_> {
    fn enter(&mut self, obligation: &Obligation) {
        self.flags.truncate(obligation.depth - 1);
        self.flags.push(obligation.flag);
    }

    /// The flag of the variable with this index, under `inner` binders that are not in `flags`.
    fn flag(&self, index: u32, inner: u32) -> Flag {
        let Some(outer) = index.checked_sub(inner) else { return Flag::Other };
        let level = self.flags.len().checked_sub(outer as usize + 1);
        level.map_or(Flag::Other, |level| self.flags[level])
    }

    fn step(&mut self, id: TermId, depth: usize, work: &mut Vec<Obligation>) -> Result<(), NotLinear> {
        let flag = self.flags[depth - 1];
        let same = |term| Obligation { term, depth, flag };
        let under = |term, flag| Obligation { term, depth: depth + 1, flag };
        match self.terms.term(id) {
            // L(X,x) = x∈X   L(X,0) = true   L(X,r) = (r=0)
            Term::Bound(index) if self.flag(index, 0) != Flag::Other => {}
            Term::Bound(_) | Term::Free(_) => return self.fail(id, Reason::Constant),
            Term::Zero | Term::Real(0.0) => {}
            Term::Real(_) => return self.fail(id, Reason::Numeral),
            // L(X,s+t) = L(X,⟨s,t⟩) = L(X,s) ∧ L(X,t)
            Term::Add(left, right) | Term::Pair(left, right) => work.extend([same(right), same(left)]),
            // L(X,λy.s) = L(X\{y},s)
            Term::Lambda(_, body) => work.push(under(body, Flag::Other)),
            Term::Project(_, of) | Term::PrimJacobian(_, of) | Term::Flat(of) | Term::Sharp(of) => {
                work.push(same(of));
            }
            // L(X,f(t)) = false
            Term::Prim(f, _) => return self.fail(id, Reason::Primitive(f)),
            Term::Apply(function, argument) => self.apply(id, [function, argument], depth, work)?,
            Term::Dual(_, body, operand) => match (self.mention(body, 1), self.mention(operand, 0)) {
                (Some(_), Some(_)) => return self.fail(id, Reason::BothSides),
                (Some(_), None) => work.push(under(body, Flag::Other)),
                (None, Some(_)) => work.push(same(operand)),
                (None, None) if self.is_zero(body, 1) || self.is_zero(operand, 0) => {}
                (None, None) => return self.fail(id, Reason::Constant),
            },
            Term::Contract(left, right) | Term::Jacobian(left, right) => {
                match (self.mention(left, 0), self.mention(right, 0)) {
                    (Some(_), Some(_)) => return self.fail(id, Reason::BothSides),
                    (Some(_), None) => work.push(same(left)),
                    (None, Some(_)) => work.push(same(right)),
                    (None, None) if self.is_zero(left, 0) || self.is_zero(right, 0) => {}
                    (None, None) => return self.fail(id, Reason::Constant),
                }
            }
            // L(X,(Ω λy.p)·s) = X∩FV(p)=∅ ∧ L(X,s)
            Term::Pullback(_, body, form) => {
                if self.mention(body, 1).is_some() {
                    return self.fail(id, Reason::PullbackBody);
                }
                work.push(same(form));
            }
        }
        Ok(())
    }

    /// `L(X,s t)`: if `X∩FV(t)=∅` then `L(X,s)`, else `s` is `λz.s'` and `L(X,t)` and `L(X∪{z},s')`.
    fn apply(
        &mut self,
        id: TermId,
        [function, argument]: [TermId; 2],
        depth: usize,
        work: &mut Vec<Obligation>,
    ) -> Result<(), NotLinear> {
        let flag = self.flags[depth - 1];
        let under = |term, flag| Obligation { term, depth: depth + 1, flag };
        match (self.terms.term(function), self.mention(argument, 0)) {
            (Term::Lambda(_, body), None) => {
                let bound = if self.is_zero(argument, 0) { Flag::Zero } else { Flag::Other };
                work.push(under(body, bound));
            }
            (_, None) => work.push(Obligation { term: function, depth, flag }),
            (Term::Lambda(_, body), Some(_)) => {
                work.push(under(body, Flag::Linear));
                work.push(Obligation { term: argument, depth, flag });
            }
            (_, Some(_)) => return self.fail(id, Reason::Argument),
        }
        Ok(())
    }

    fn fail(&mut self, part: TermId, reason: Reason) -> Result<(), NotLinear> {
        let occurrence = self.mention(part, 0);
        let reason = match reason {
            Reason::Primitive(_) if occurrence.is_none() => Reason::Constant,
            reason => reason,
        };
        Err(NotLinear { part, occurrence, reason })
    }

    /// A free occurrence of a variable of `X` in a term under `inner` binders that are not in `flags`.
    fn mention(&mut self, id: TermId, inner: u32) -> Option<TermId> {
        if inner == 0
            && let Some(known) = self.mentions.get(&id)
        {
            return *known;
        }
        let mut work = vec![(id, inner)];
        let mut found = None;
        while let Some((id, inner)) = work.pop() {
            if self.terms.loose(id) <= inner {
                continue;
            }
            if inner == 0
                && let Some(known) = self.mentions.get(&id)
            {
                found = *known;
            } else if let Term::Bound(index) = self.terms.term(id)
                && self.flag(index, inner) == Flag::Linear
            {
                found = Some(id);
            }
            if found.is_some() {
                break;
            }
            let children: Vec<_> = self.terms.term(id).children().collect();
            work.extend(children.into_iter().rev().map(|(child, depth)| (child, inner + depth)));
        }
        if inner == 0 {
            self.mentions.insert(id, found);
        }
        found
    }

    /// Whether a term without variables of `X` is syntactically zero: `L(X,t)` for such a term, under `inner`
    /// binders that are not in `flags`.
    fn is_zero(&self, id: TermId, inner: usize) -> bool {
        enum Task {
            Visit(TermId),
            Both,
            Either,
            /// The bound term is classified as zero or not; the body follows.
            Enter(TermId),
            Leave,
        }
        // Whether each binder that is not in `flags` is bound to zero, the innermost last.
        let mut binders = vec![false; inner];
        let (mut tasks, mut done) = (vec![Task::Visit(id)], Vec::new());
        while let Some(task) = tasks.pop() {
            let id = match task {
                Task::Visit(id) => id,
                Task::Both | Task::Either => {
                    let (right, left) = (done.pop().unwrap_or(false), done.pop().unwrap_or(false));
                    done.push(if let Task::Both = task { left && right } else { left || right });
                    continue;
                }
                Task::Enter(body) => {
                    binders.push(done.pop().unwrap_or(false));
                    tasks.extend([Task::Leave, Task::Visit(body)]);
                    continue;
                }
                Task::Leave => {
                    binders.pop();
                    continue;
                }
            };
            match self.terms.term(id) {
                Term::Zero => done.push(true),
                Term::Real(value) => done.push(value == 0.0),
                Term::Bound(index) => done.push(match binders.iter().rev().nth(index as usize) {
                    Some(is_zero) => *is_zero,
                    None => self.flag(index - size(binders.len()), 0) == Flag::Zero,
                }),
                Term::Free(_) | Term::Prim(..) => done.push(false),
                Term::Lambda(_, body) => {
                    done.push(false);
                    tasks.push(Task::Enter(body));
                }
                Term::Apply(function, argument) => match self.terms.term(function) {
                    Term::Lambda(_, body) => tasks.extend([Task::Enter(body), Task::Visit(argument)]),
                    _ => tasks.push(Task::Visit(function)),
                },
                Term::Project(_, of)
                | Term::PrimJacobian(_, of)
                | Term::Flat(of)
                | Term::Sharp(of)
                | Term::Pullback(_, _, of) => tasks.push(Task::Visit(of)),
                Term::Add(left, right) | Term::Pair(left, right) => {
                    tasks.extend([Task::Both, Task::Visit(left), Task::Visit(right)]);
                }
                Term::Contract(left, right) | Term::Jacobian(left, right) => {
                    tasks.extend([Task::Either, Task::Visit(left), Task::Visit(right)]);
                }
                Term::Dual(_, body, operand) => {
                    done.push(false);
                    tasks.extend([Task::Either, Task::Visit(operand), Task::Enter(body)]);
                }
            }
        }
        done.pop().unwrap_or(false)
    }
}

fn size(length: usize) -> u32 {
    u32::try_from(length).expect("fewer binders than terms")
}
