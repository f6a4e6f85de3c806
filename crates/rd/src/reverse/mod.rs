//! Differentiating a trace: `W.R_V(x:T. C)` (section 7, Figure 6).
//!
//! [`reverse`] is `R*`, the same thing in linear size: it differentiates with respect to all variables of the
//! trace at once. [`literal`] is `R` as the paper prints it, which doubles at every `let`. Both add the same
//! numbers in the same order, so their results are equal bit for bit.
//!
//! The result of `R*` is a chain of lets: first the point and the lets of the trace (*forward*), then one
//! cotangent after the other, from the last definition to the first (*backward*). A variable without a cotangent
//! stands for zero and costs nothing.
//!
//! ```text
//! trace    let y = x * x in y + y                     at x = 3, cotangent 1
//! reverse  let x = 3 in let y = x * x in              forward; the tail of the trace is not needed
//!          let ȳ = 1 + 1 in                           backward: R(y + y), two uses of y
//!          let r = ȳ.mul_r(x, x) in                   R(x * x) with the cotangent ȳ
//!          let a = fst r in let b = snd r in a + b
//! ```

pub mod literal;
mod template_terms;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::operation::Op;
use crate::syntax::{Term, TermId, Terms, VarId};
use crate::types::Type;

pub use template_terms::expand_reverse;

/// `W.R*_V(x:T. C)`: the trace term for the cotangent of `x`.
///
/// `point` and `cotangent` are values, possibly open; all binders of `trace` are distinct.
pub fn reverse(terms: &mut Terms, var: VarId, point: TermId, cotangent: TermId, trace: TermId) -> TermId {
    let mut builder = Reverse { terms, lets: Vec::new(), renamed: FxHashMap::default() };
    builder.rename(var, point);
    builder.forward(trace);
    let mut cotangents = builder.backward(trace, cotangent);
    let result = cotangents.remove(&var).unwrap_or_else(|| {
        let ty = builder.terms.var(var).ty;
        builder.terms.zero(ty)
    });
    let lets = builder.lets;
    terms.bind_all(&lets, result)
}

/// The cotangents found so far, by variable of the trace; an absent one is zero.
type Cotangents = BTreeMap<VarId, TermId>;

struct Reverse<'a> {
    terms: &'a mut Terms,
    /// The lets of the result, in order.
    lets: Vec<(VarId, TermId)>,
    /// The variables of the trace that are differentiated, and their copies in the result.
    renamed: FxHashMap<VarId, VarId>,
}

impl Reverse<'_> {
    /// Binds a copy of `var` in the result.
    fn rename(&mut self, var: VarId, bound: TermId) {
        let known = self.terms.var(var);
        let copy = self.terms.fresh(known.name, known.ty);
        self.renamed.insert(var, copy);
        self.lets.push((copy, bound));
    }

    /// Binds a new variable in the result, unless the term is a variable already.
    fn name(&mut self, name: &str, bound: TermId) -> TermId {
        if let Term::Var(_) = self.terms.term(bound) {
            return bound;
        }
        let var = self.terms.fresh_named(name, self.terms.ty(bound));
        self.lets.push((var, bound));
        self.terms.variable(var)
    }

    /// Binds copies of all variables that `trace` binds, in the order of evaluation, and returns a copy of what
    /// is left: the tail, which is not evaluated.
    fn forward(&mut self, trace: TermId) -> TermId {
        enum Task {
            Copy(TermId),
            Bind(VarId),
            Join(Term),
        }
        let mut done: Vec<TermId> = Vec::new();
        let mut tasks = vec![Task::Copy(trace)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Bind(var) => {
                    let bound = done.pop().expect("the definition is copied");
                    self.rename(var, bound);
                }
                Task::Join(term) => {
                    let last = done.pop().expect("the operand is copied");
                    let mut first = || done.pop().expect("the left operand is copied");
                    let copy = match term {
                        Term::Add(..) => Term::Add(first(), last),
                        Term::Pair(..) => Term::Pair(first(), last),
                        Term::Op(op, _) => Term::Op(op, last),
                        Term::Fst(_) => Term::Fst(last),
                        Term::Snd(_) => Term::Snd(last),
                        _ => unreachable!("only these have operands in a trace"),
                    };
                    done.push(self.terms.push(copy));
                }
                Task::Copy(id) => match self.terms.term(id) {
                    Term::Var(var) => match self.renamed.get(&var) {
                        Some(copy) => done.push(self.terms.variable(*copy)),
                        None => done.push(id),
                    },
                    Term::Real(_) | Term::Unit => done.push(id),
                    Term::Let { var, bound, body } => {
                        tasks.extend([Task::Copy(body), Task::Bind(var), Task::Copy(bound)]);
                    }
                    term @ (Term::Add(left, right) | Term::Pair(left, right)) => {
                        tasks.extend([Task::Join(term), Task::Copy(right), Task::Copy(left)]);
                    }
                    term @ (Term::Op(_, operand) | Term::Fst(operand) | Term::Snd(operand)) => {
                        tasks.extend([Task::Join(term), Task::Copy(operand)]);
                    }
                    _ => unreachable!("traces have no control"),
                },
            }
        }
        done.pop().expect("one term is copied")
    }

    /// A copy of a part of the trace whose lets are bound already.
    fn copy(&mut self, part: TermId) -> TermId {
        self.forward(part)
    }

    /// `R*(Δ; W; C)`, with one arm per clause of Figure 6.
    fn backward(&mut self, trace: TermId, cotangent: TermId) -> Cotangents {
        enum Task {
            /// Differentiate a term with this cotangent.
            Visit(TermId, TermId),
            /// The rest of a `let` is done: differentiate the definition with the cotangent of the variable.
            Definition(VarId, TermId),
            /// Add two results.
            Merge,
        }
        let mut done: Vec<Cotangents> = Vec::new();
        let mut tasks = vec![Task::Visit(trace, cotangent)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Merge => {
                    let right = done.pop().expect("both results are done");
                    let left = done.pop().expect("both results are done");
                    let sum = self.add(left, right);
                    done.push(sum);
                }
                // R*(Δ;W; let y:S = D in E) = let y:S = D in let ⟨d̄,ȳ⟩ = R*(Δ,y:S; W; E) in d̄ + R*(Δ; ȳ; D)
                Task::Definition(var, bound) => {
                    let cotangents = done.last_mut().expect("the rest is done");
                    if let Some(cotangent) = cotangents.remove(&var) {
                        let cotangent = self.name("w", cotangent);
                        tasks.extend([Task::Merge, Task::Visit(bound, cotangent)]);
                    }
                }
                Task::Visit(id, w) => match self.terms.term(id) {
                    // R(y) = W if y = x, 0_T otherwise
                    Term::Var(var) if self.renamed.contains_key(&var) => {
                        done.push(Cotangents::from([(var, w)]))
                    }
                    // R(r) = R(*) = 0_T
                    Term::Var(_) | Term::Real(_) | Term::Unit => done.push(Cotangents::new()),
                    // R(D + E) = W.R(D) +_T W.R(E)
                    Term::Add(left, right) => {
                        tasks.extend([Task::Merge, Task::Visit(right, w), Task::Visit(left, w)]);
                    }
                    Term::Let { var, bound, body } => {
                        tasks.extend([Task::Definition(var, bound), Task::Visit(body, w)]);
                    }
                    // R(⟨M,N⟩) = let ⟨y,z⟩ = W in y.R(M) +_T z.R(N)
                    Term::Pair(left, right) => {
                        let (y, z) = self.halves(w);
                        tasks.extend([Task::Merge, Task::Visit(right, z), Task::Visit(left, y)]);
                    }
                    // R(fst(D)) = ⟨W,0_S⟩.R(D)      R(snd(D)) = ⟨0_U,W⟩.R(D)
                    Term::Fst(pair) => {
                        let zero = self.other_zero(pair, |(_, second)| second);
                        let padded = self.terms.pair(w, zero);
                        tasks.push(Task::Visit(pair, padded));
                    }
                    Term::Snd(pair) => {
                        let zero = self.other_zero(pair, |(first, _)| first);
                        let padded = self.terms.pair(zero, w);
                        tasks.push(Task::Visit(pair, padded));
                    }
                    // R(op(D)) = let y:S = W.op_r(D) in y.R(D)
                    Term::Op(Op::Primal(primitive), operand) => {
                        let argument = self.copy(operand);
                        let argument = self.terms.pair(argument, w);
                        let reversed = self.terms.push(Term::Op(Op::Reverse(primitive), argument));
                        let y = self.name("r", reversed);
                        tasks.push(Task::Visit(operand, y));
                    }
                    // op_r is differentiated through the template that defines it.
                    Term::Op(Op::Reverse(primitive), operand) => {
                        let template = expand_reverse(self.terms, primitive, operand);
                        self.forward(template);
                        tasks.push(Task::Visit(template, w));
                    }
                    _ => unreachable!("traces have no control"),
                },
            }
        }
        done.pop().expect("one result is left")
    }

    /// `let ⟨y,z⟩ = W in …`; a pair that is written out is taken apart without a `let`.
    fn halves(&mut self, w: TermId) -> (TermId, TermId) {
        if let Term::Pair(left, right) = self.terms.term(w) {
            return (left, right);
        }
        let w = self.name("w", w);
        let (first, second) = (self.terms.push(Term::Fst(w)), self.terms.push(Term::Snd(w)));
        (self.name("y", first), self.name("z", second))
    }

    fn other_zero(&mut self, pair: TermId, other: fn((Type, Type)) -> Type) -> TermId {
        let factors = self.terms.types.factors(self.terms.ty(pair));
        self.terms.zero(other(factors.expect("a projection has a pair")))
    }

    /// `left +_T right`, variable by variable; iterates over the smaller side, keeps the order of the summands.
    fn add(&mut self, left: Cotangents, right: Cotangents) -> Cotangents {
        let swapped = left.len() < right.len();
        let (mut large, small) = if swapped { (right, left) } else { (left, right) };
        for (var, w) in small {
            match large.remove(&var) {
                None => drop(large.insert(var, w)),
                Some(other) => {
                    let (first, second) = if swapped { (w, other) } else { (other, w) };
                    let sum = self.terms.add_at(self.terms.ty(first), first, second);
                    let sum = self.name("w", sum);
                    large.insert(var, sum);
                }
            }
        }
        large
    }
}
