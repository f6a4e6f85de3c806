//! Differentiating terms: `W.R_V(x:T. C)` for traces (section 7, Figure 6), `Rev(Δ; w; N)` for whole terms
//! (section 13).
//!
//! [`reverse`] is `R*`, a variant of `R` of linear size: it differentiates with respect to all variables of
//! the trace at once. [`literal`] is `R` as the paper prints it, which doubles at every `let`. Both add the
//! same numbers in the same order, so their results are equal bit for bit. [`reverse_term`] is `Rev`: the
//! same clauses, and two more for conditionals and calls.
//!
//! The result is a chain of lets: first the point and the lets of the term (*forward*), then one cotangent
//! after the other, from the last definition to the first (*backward*). The cotangent of a variable that has
//! none so far is zero, which needs no term.
//!
//! ```text
//! trace    let y = x * x in y + y                     at x = 3, cotangent 1
//! reverse  let x = 3 in let y = x * x in              forward; the tail of the trace is not needed
//!          let ȳ = 1 + 1 in                           backward: R(y + y), two uses of y
//!          let r = ȳ.mul_r(x, x) in                   R(x * x) with the cotangent ȳ
//!          let a = fst r in let b = snd r in a + b
//! ```

mod forward;
pub mod literal;
mod template_terms;

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::operation::Op;
use crate::syntax::{FnId, Term, TermId, Terms, Test, VarId};
use crate::types::Type;

pub use template_terms::expand_reverse;

/// `W.R*_V(x:T. C)`: the trace term for the cotangent of `x`.
///
/// `point` and `cotangent` are values, possibly open; all binders of `trace` are distinct.
pub fn reverse(terms: &mut Terms, var: VarId, point: TermId, cotangent: TermId, trace: TermId) -> TermId {
    let goal = Goal { var, point, cotangent, body: trace };
    reverse_trace(terms, goal, usize::MAX).expect("there is no bound")
}

/// Like [`reverse`], but fails if the table of terms would take more than `max_bytes`.
pub fn reverse_trace(terms: &mut Terms, goal: Goal, max_bytes: usize) -> Result<TermId, TooLarge> {
    reverse_term(terms, &mut NoFunctions, goal, max_bytes)
}

/// `let x:T = V in Rev(x:T; W; N)`, for a term `N` in A-normal form and without derivatives. Fails if the
/// table of terms would take more than `max_bytes`.
pub fn reverse_term(
    terms: &mut Terms,
    functions: &mut dyn ReverseFunctions,
    goal: Goal,
    max_bytes: usize,
) -> Result<TermId, TooLarge> {
    let mut builder = Reverse {
        terms,
        functions,
        max_bytes,
        blocks: vec![Vec::new()],
        renamed: FxHashMap::default(),
        repeating: false,
        branches: Vec::new(),
    };
    builder.rename(goal.var, goal.point);
    builder.forward(goal.body);
    let mut cotangents = builder.backward(goal.body, goal.cotangent)?;
    let result = builder.take(&mut cotangents, goal.var);
    Ok(builder.close_block(result))
}

/// The derivative `W.rd_V(x:T. N)` to compute.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// `x`.
    pub var: VarId,
    /// `V`.
    pub point: TermId,
    /// `W`.
    pub cotangent: TermId,
    /// `N`.
    pub body: TermId,
}

/// The derivative exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Gives `Rev` the reverse of a function, and marks calls that repeat earlier ones.
pub trait ReverseFunctions {
    /// `f_r : T × U → T`.
    fn reverse_of(&mut self, terms: &mut Terms, function: FnId) -> FnId;
    /// Marks a call as a repetition of an earlier one, which costs no fuel.
    fn mark_repeated(&mut self, call: TermId);
    /// Whether a call is marked as repeated.
    fn is_repeated(&self, call: TermId) -> bool;
}

/// Traces call no functions.
struct NoFunctions;

impl ReverseFunctions for NoFunctions {
    fn reverse_of(&mut self, _: &mut Terms, _: FnId) -> FnId {
        unreachable!("traces have no calls")
    }

    fn mark_repeated(&mut self, _: TermId) {}

    fn is_repeated(&self, _: TermId) -> bool {
        false
    }
}

/// The cotangents found so far, by variable of the term; an absent one is zero.
type Cotangents = BTreeMap<VarId, TermId>;

struct Reverse<'a> {
    terms: &'a mut Terms,
    functions: &'a mut dyn ReverseFunctions,
    max_bytes: usize,
    /// The lets of the result and of its unfinished branches, in order.
    blocks: Vec<Vec<(VarId, TermId)>>,
    /// The differentiated variables, and their copies in the result.
    renamed: FxHashMap<VarId, VarId>,
    /// Whether the current output repeats an earlier computation.
    repeating: bool,
    branches: Vec<TermId>,
}

enum Task {
    /// Differentiate a term with this cotangent.
    Visit(TermId, TermId),
    /// The rest of a `let` is done: differentiate the definition with the cotangent of the variable.
    Definition(VarId, TermId),
    /// Add two results.
    Merge,
    /// Sets whether the following output repeats an earlier computation.
    Repeating(bool),
    /// Write a branch in a block of its own.
    Branch(TermId, TermId),
    /// A branch is done: it ends in the cotangents of these variables.
    EndBranch(Vec<VarId>),
    /// Both branches are done.
    EndIf(Test, Vec<VarId>),
}

impl Reverse<'_> {
    /// Binds a variable in the result.
    fn write(&mut self, var: VarId, bound: TermId) {
        self.blocks.last_mut().expect("the result's block is at the bottom").push((var, bound));
    }

    /// Binds a copy of `var` in the result.
    fn rename(&mut self, var: VarId, bound: TermId) {
        let known = self.terms.var(var);
        let copy = self.terms.fresh(known.name, known.ty);
        self.renamed.insert(var, copy);
        self.write(copy, bound);
    }

    /// Binds a new variable to the term in the result; a term that is a variable already needs none.
    fn name(&mut self, name: &str, bound: TermId) -> TermId {
        if let Term::Var(_) = self.terms.term(bound) {
            return bound;
        }
        let var = self.terms.fresh_named(name, self.terms.ty(bound));
        self.write(var, bound);
        self.terms.variable(var)
    }

    fn close_block(&mut self, result: TermId) -> TermId {
        let lets = self.blocks.pop().expect("the block was opened");
        self.terms.bind_all(&lets, result)
    }

    /// `Rev(Δ; W; N)`, with one arm per clause of Figure 6 and section 13.
    fn backward(&mut self, term: TermId, cotangent: TermId) -> Result<Cotangents, TooLarge> {
        let mut done: Vec<Cotangents> = Vec::new();
        let mut tasks = vec![Task::Visit(term, cotangent)];
        while let Some(task) = tasks.pop() {
            if self.terms.bytes() > self.max_bytes {
                return Err(TooLarge);
            }
            match task {
                Task::Visit(id, w) => self.visit(id, w, &mut done, &mut tasks),
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
                        let visit = Task::Visit(bound, cotangent);
                        // The forward pass has computed the definition, so this visit repeats its calls.
                        tasks.extend([Task::Merge, Task::Repeating(self.repeating), visit]);
                        self.repeating = true;
                    }
                }
                Task::Repeating(repeating) => self.repeating = repeating,
                Task::Branch(branch, w) => {
                    self.blocks.push(Vec::new());
                    self.forward(branch);
                    tasks.push(Task::Visit(branch, w));
                }
                Task::EndBranch(wanted) => {
                    let mut cotangents = done.pop().expect("the branch is done");
                    let parts: Vec<TermId> =
                        wanted.iter().map(|var| self.take(&mut cotangents, *var)).collect();
                    let result = self.terms.tuple(&parts);
                    let branch = self.close_block(result);
                    self.branches.push(branch);
                }
                Task::EndIf(test, wanted) => {
                    let cotangents = self.join_branches(test, &wanted);
                    done.push(cotangents);
                }
            }
        }
        Ok(done.pop().expect("one result is left"))
    }

    fn visit(&mut self, id: TermId, w: TermId, done: &mut Vec<Cotangents>, tasks: &mut Vec<Task>) {
        match self.terms.term(id) {
            // R(y) = W if y = x, 0_T otherwise
            Term::Var(var) if self.renamed.contains_key(&var) => done.push(Cotangents::from([(var, w)])),
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
                let argument = self.forward(operand);
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
            // Rev(Δ;w; if B then M else N) = if B then Rev(Δ;w;M) else Rev(Δ;w;N)
            Term::If { test, yes, no } => {
                let test = self.copy_test(test);
                let wanted = self.differentiated_in(&[yes, no]);
                tasks.extend([
                    Task::EndIf(test, wanted.clone()),
                    Task::EndBranch(wanted.clone()),
                    Task::Branch(no, w),
                    Task::EndBranch(wanted),
                    Task::Branch(yes, w),
                ]);
            }
            // Rev(Δ;w; f(M)) = let s = M in let s̄ = f_r(⟨s,w⟩) in Rev(Δ; s̄; M)
            Term::Call { function, argument } => {
                let reversed = self.functions.reverse_of(self.terms, function);
                let point = self.forward(argument);
                let point = self.terms.pair(point, w);
                let call = self.terms.push(Term::Call { function: reversed, argument: point });
                if self.repeating || self.functions.is_repeated(id) {
                    self.functions.mark_repeated(call);
                }
                let s = self.name("s", call);
                tasks.push(Task::Visit(argument, s));
            }
            Term::Letrec { .. } | Term::Rd { .. } => unreachable!("definitions and derivatives are gone"),
        }
    }

    fn copy_test(&mut self, test: Test) -> Test {
        match test {
            Test::Pred(pred, operand) => Test::Pred(pred, self.forward(operand)),
            Test::Constant(known) => Test::Constant(known),
        }
    }

    /// `let c = if B then … else … in`, split into the cotangents at the ends of its branches.
    fn join_branches(&mut self, test: Test, wanted: &[VarId]) -> Cotangents {
        let no = self.branches.pop().expect("both branches are written");
        let yes = self.branches.pop().expect("both branches are written");
        let conditional = self.terms.push(Term::If { test, yes, no });
        let mut rest = self.name("c", conditional);
        let mut cotangents = Cotangents::new();
        for (i, var) in wanted.iter().enumerate().rev() {
            if i == 0 {
                cotangents.insert(*var, rest);
                break;
            }
            let (first, second) = self.halves(rest);
            cotangents.insert(*var, second);
            rest = first;
        }
        cotangents
    }

    fn take(&mut self, cotangents: &mut Cotangents, var: VarId) -> TermId {
        cotangents.remove(&var).unwrap_or_else(|| {
            let ty = self.terms.var(var).ty;
            self.terms.zero(ty)
        })
    }

    /// The differentiated variables that occur free in these terms, in order.
    fn differentiated_in(&self, terms: &[TermId]) -> Vec<VarId> {
        let mut bound = FxHashSet::default();
        let mut found = FxHashSet::default();
        let mut todo = terms.to_vec();
        while let Some(id) = todo.pop() {
            match self.terms.term(id) {
                Term::Var(var) => drop(found.insert(var)),
                Term::Let { var, .. } => drop(bound.insert(var)),
                _ => {}
            }
            self.terms.push_children(id, &mut todo);
        }
        let is_wanted = |var: &VarId| self.renamed.contains_key(var) && !bound.contains(var);
        let mut wanted: Vec<VarId> = found.into_iter().filter(is_wanted).collect();
        wanted.sort_unstable();
        wanted
    }

    /// `let ⟨y,z⟩ = W in …`; a literal pair needs no `let`.
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

    /// `left +_T right`, variable by variable; iterates over the smaller side, keeps the order of the
    /// summands.
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
