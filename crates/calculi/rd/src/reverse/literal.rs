//! `R` as Figure 6 prints it: one clause per form, differentiating with respect to one variable.
//!
//! The clause for `let` differentiates its body twice, so the result doubles at every `let`; a budget bounds
//! it. The engines use `R*`; `R` is for `eddy trace --literal` and for the law that both agree.

use rustc_hash::FxHashMap;

use super::{Goal, TooLarge, expand_reverse};
use crate::operation::Op;
use crate::syntax::{Term, TermId, Terms, VarId};
use crate::types::Type;

/// Enough for every example of readable size.
pub const DEFAULT_BUDGET: usize = 60_000;

/// `W.R_V(x:T. C)`; fails if the result needs more than `budget` binders.
pub fn reverse_literally(terms: &mut Terms, goal: Goal, budget: usize) -> Result<TermId, TooLarge> {
    let limit = terms.n_vars() + budget;
    let mut machine = Literal { terms, limit, tasks: Vec::new(), done: Vec::new() };
    machine.tasks.push(Task::Visit(goal));
    machine.run()?;
    Ok(machine.done.pop().expect("one result is left"))
}

enum Task {
    Visit(Goal),
    /// `left +_T right` of the last two results.
    Sum(Type),
    /// `let ȳ = …` around the result before the last one; see the clause for `let`.
    BindCotangent(VarId),
    /// Lets around the last result.
    Wrap(Vec<(VarId, TermId)>),
}

struct Literal<'a> {
    terms: &'a mut Terms,
    limit: usize,
    tasks: Vec<Task>,
    done: Vec<TermId>,
}

impl Literal<'_> {
    fn run(&mut self) -> Result<(), TooLarge> {
        while let Some(task) = self.tasks.pop() {
            if self.terms.n_vars() > self.limit {
                return Err(TooLarge);
            }
            match task {
                Task::Visit(goal) => self.visit(goal),
                Task::Sum(ty) => {
                    let right = self.pop();
                    let left = self.pop();
                    let sum = self.terms.add_at(ty, left, right);
                    self.done.push(sum);
                }
                Task::BindCotangent(var) => {
                    let body = self.pop();
                    let bound = self.pop();
                    let term = self.terms.bind(var, bound, body);
                    self.done.push(term);
                }
                Task::Wrap(lets) => {
                    let body = self.pop();
                    let term = self.terms.bind_all(&lets, body);
                    self.done.push(term);
                }
            }
        }
        Ok(())
    }

    fn pop(&mut self) -> TermId {
        self.done.pop().expect("the parts are done")
    }

    fn visit(&mut self, goal: Goal) {
        let Goal { var, point, cotangent: w, body: trace } = goal;
        let ty = self.terms.var(var).ty;
        match self.terms.term(trace) {
            // R(y) = W  if y = x,   0_T otherwise
            Term::Var(y) if y == var => self.done.push(w),
            // R(r) = R(*) = 0_T
            Term::Var(_) | Term::Real(_) | Term::Unit => {
                let zero = self.terms.zero(ty);
                self.done.push(zero);
            }
            // R(D + E) = W.R_V(x:T.D) +_T W.R_V(x:T.E)
            Term::Add(left, right) => self.tasks.extend([
                Task::Sum(ty),
                Task::Visit(Goal { body: right, ..goal }),
                Task::Visit(Goal { body: left, ..goal }),
            ]),
            // R(op(D)) = let x:T = V in let y:S = W.op_r(D) in y.R_V(x:T.D)
            Term::Op(Op::Primal(primitive), operand) => {
                let x = self.copy_of(var);
                let argument = self.copy(operand, &[(var, x)]);
                let argument = self.terms.pair(argument, w);
                let reversed = self.terms.push(Term::Op(Op::Reverse(primitive), argument));
                let y = self.terms.fresh_named("y", self.terms.ty(reversed));
                let cotangent = self.terms.variable(y);
                self.tasks.push(Task::Wrap(vec![(x, point), (y, reversed)]));
                self.tasks.push(Task::Visit(Goal { cotangent, body: operand, ..goal }));
            }
            Term::Op(Op::Reverse(primitive), operand) => {
                let template = expand_reverse(self.terms, primitive, operand);
                self.tasks.push(Task::Visit(Goal { body: template, ..goal }));
            }
            Term::Let { var: y, bound, body } => self.visit_let(goal, y, bound, body),
            // R(⟨M,N⟩) = let ⟨y,z⟩ = W in y.R_V(x:T.M) +_T z.R_V(x:T.N)
            Term::Pair(left, right) => {
                let mut lets = Vec::new();
                let y = self.project(w, Term::Fst, "y", &mut lets);
                let z = self.project(w, Term::Snd, "z", &mut lets);
                self.tasks.extend([
                    Task::Wrap(lets),
                    Task::Sum(ty),
                    Task::Visit(Goal { cotangent: z, body: right, ..goal }),
                    Task::Visit(Goal { cotangent: y, body: left, ..goal }),
                ]);
            }
            // R(fst(D)) = ⟨W,0_S⟩.R_V(x:T.D): the paper's unused `let y = D` is dropped (repair 8)
            Term::Fst(pair) => {
                let (_, second) = self.factors(pair);
                let zero = self.terms.zero(second);
                let cotangent = self.terms.pair(w, zero);
                self.tasks.push(Task::Visit(Goal { cotangent, body: pair, ..goal }));
            }
            // R(snd(D)) = ⟨0_U,W⟩.R_V(x:T.D)
            Term::Snd(pair) => {
                let (first, _) = self.factors(pair);
                let zero = self.terms.zero(first);
                let cotangent = self.terms.pair(zero, w);
                self.tasks.push(Task::Visit(Goal { cotangent, body: pair, ..goal }));
            }
            _ => unreachable!("traces have no control flow"),
        }
    }

    // R(let y:S = D in E) = let x:T = V in let y:S = D in
    //                         W.R_V(x:T.E) +_T (let ȳ:S = W.R_y(y':S. E[y'/y]) in ȳ.R_V(x:T.D))
    fn visit_let(&mut self, goal: Goal, y: VarId, bound: TermId, body: TermId) {
        let Goal { var, point, cotangent: w, .. } = goal;
        let ty = self.terms.var(var).ty;
        let (x_copy, y_copy) = (self.copy_of(var), self.copy_of(y));
        let definition = self.copy(bound, &[(var, x_copy)]);
        let body_at_y = self.copy(body, &[(y, y_copy)]);
        let body_at_x = self.copy(body, &[(var, x_copy)]);
        let y_point = self.terms.variable(y_copy);
        let bar = self.terms.fresh_named("w", self.terms.var(y).ty);
        let bar_term = self.terms.variable(bar);
        self.tasks.extend([
            Task::Wrap(vec![(x_copy, point), (y_copy, definition)]),
            Task::Sum(ty),
            Task::BindCotangent(bar),
            Task::Visit(Goal { var, point, cotangent: bar_term, body: bound }),
            Task::Visit(Goal { var: y, point: y_point, cotangent: w, body: body_at_x }),
            Task::Visit(Goal { var, point, cotangent: w, body: body_at_y }),
        ]);
    }

    fn copy_of(&mut self, var: VarId) -> VarId {
        let known = self.terms.var(var);
        self.terms.fresh(known.name, known.ty)
    }

    fn project(
        &mut self,
        w: TermId,
        half: fn(TermId) -> Term,
        name: &str,
        lets: &mut Vec<(VarId, TermId)>,
    ) -> TermId {
        let half = self.terms.push(half(w));
        let var = self.terms.fresh_named(name, self.terms.ty(half));
        lets.push((var, half));
        self.terms.variable(var)
    }

    fn factors(&self, pair: TermId) -> (Type, Type) {
        self.terms.types.factors(self.terms.ty(pair)).expect("a projection has a pair")
    }

    /// A copy of a trace with fresh binders and the given variables replaced.
    fn copy(&mut self, trace: TermId, replaced: &[(VarId, VarId)]) -> TermId {
        self.terms.copy_trace(trace, replaced.iter().copied().collect())
    }
}

impl Terms {
    /// A copy of a trace in which every binder is new and the given variables are replaced.
    pub fn copy_trace(&mut self, trace: TermId, mut replaced: FxHashMap<VarId, VarId>) -> TermId {
        enum Task {
            Copy(TermId),
            Rename(VarId),
            Join(Term),
        }
        let mut done: Vec<TermId> = Vec::new();
        let mut tasks = vec![Task::Copy(trace)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Rename(var) => {
                    let known = self.var(var);
                    replaced.insert(var, self.fresh(known.name, known.ty));
                }
                Task::Join(term) => {
                    let last = done.pop().expect("the operand is copied");
                    let mut first = || done.pop().expect("the left operand is copied");
                    let copy = match term {
                        Term::Add(..) => Term::Add(first(), last),
                        Term::Pair(..) => Term::Pair(first(), last),
                        Term::Let { var, .. } => {
                            Term::Let { var: replaced[&var], bound: first(), body: last }
                        }
                        Term::Op(op, _) => Term::Op(op, last),
                        Term::Fst(_) => Term::Fst(last),
                        Term::Snd(_) => Term::Snd(last),
                        _ => unreachable!("only these have operands in a trace"),
                    };
                    done.push(self.push(copy));
                }
                Task::Copy(id) => match self.term(id) {
                    Term::Var(var) => match replaced.get(&var).copied() {
                        Some(copy) => done.push(self.variable(copy)),
                        None => done.push(id),
                    },
                    Term::Real(_) | Term::Unit => done.push(id),
                    term @ Term::Let { var, bound, body } => tasks.extend([
                        Task::Join(term),
                        Task::Copy(body),
                        Task::Rename(var),
                        Task::Copy(bound),
                    ]),
                    term @ (Term::Add(left, right) | Term::Pair(left, right)) => {
                        tasks.extend([Task::Join(term), Task::Copy(right), Task::Copy(left)]);
                    }
                    term @ (Term::Op(_, operand) | Term::Fst(operand) | Term::Snd(operand)) => {
                        tasks.extend([Task::Join(term), Task::Copy(operand)]);
                    }
                    _ => unreachable!("traces have no control flow"),
                },
            }
        }
        done.pop().expect("one term is copied")
    }
}
