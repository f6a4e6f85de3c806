//! The forward pass: a copy of the lets of a term, with new names.

use super::Reverse;
use crate::syntax::{Term, TermId, Test, VarId};

enum Task {
    Copy(TermId),
    /// The definition of a variable is copied.
    Bind(VarId),
    /// The operands of a term are copied.
    Join(TermId, Term),
    /// A branch follows, with its own lets.
    OpenBranch,
    CloseBranch,
}

impl Reverse<'_> {
    /// Binds copies of all variables that `term` binds, in the order of evaluation, and returns a copy of the
    /// remaining tail, which is not evaluated. The lets of a branch stay in the branch.
    pub(super) fn forward(&mut self, term: TermId) -> TermId {
        let mut done: Vec<TermId> = Vec::new();
        let mut tasks = vec![Task::Copy(term)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Copy(id) => self.copy(id, &mut done, &mut tasks),
                Task::Bind(var) => {
                    let bound = done.pop().expect("the definition is copied");
                    self.rename(var, bound);
                }
                Task::Join(id, term) => self.join(id, term, &mut done),
                Task::OpenBranch => self.blocks.push(Vec::new()),
                Task::CloseBranch => {
                    let result = done.pop().expect("the branch is copied");
                    let branch = self.close_block(result);
                    done.push(branch);
                }
            }
        }
        done.pop().expect("one term is copied")
    }

    fn copy(&mut self, id: TermId, done: &mut Vec<TermId>, tasks: &mut Vec<Task>) {
        match self.terms.term(id) {
            Term::Var(var) => match self.renamed.get(&var) {
                Some(copy) => done.push(self.terms.variable(*copy)),
                None => done.push(id),
            },
            Term::Real(_) | Term::Unit => done.push(id),
            Term::Let { var, bound, body } => {
                tasks.extend([Task::Copy(body), Task::Bind(var), Task::Copy(bound)]);
            }
            term @ (Term::Add(left, right) | Term::Pair(left, right)) => {
                tasks.extend([Task::Join(id, term), Task::Copy(right), Task::Copy(left)]);
            }
            term @ (Term::Op(_, operand)
            | Term::Fst(operand)
            | Term::Snd(operand)
            | Term::Call { argument: operand, .. }) => {
                tasks.extend([Task::Join(id, term), Task::Copy(operand)]);
            }
            term @ Term::If { test, yes, no } => {
                tasks.push(Task::Join(id, term));
                for branch in [no, yes] {
                    tasks.extend([Task::CloseBranch, Task::Copy(branch), Task::OpenBranch]);
                }
                if let Test::Pred(_, operand) = test {
                    tasks.push(Task::Copy(operand));
                }
            }
            Term::Letrec { .. } | Term::Rd { .. } => unreachable!("definitions and derivatives are gone"),
        }
    }

    fn join(&mut self, id: TermId, term: Term, done: &mut Vec<TermId>) {
        let mut pop = || done.pop().expect("the operands are copied");
        let last = pop();
        let copy = match term {
            Term::Add(..) => Term::Add(pop(), last),
            Term::Pair(..) => Term::Pair(pop(), last),
            Term::Op(op, _) => Term::Op(op, last),
            Term::Fst(_) => Term::Fst(last),
            Term::Snd(_) => Term::Snd(last),
            Term::Call { function, .. } => Term::Call { function, argument: last },
            Term::If { test, .. } => {
                let yes = pop();
                let test = match test {
                    Test::Pred(pred, _) => Test::Pred(pred, pop()),
                    Test::Constant(known) => Test::Constant(known),
                };
                Term::If { test, yes, no: last }
            }
            _ => unreachable!("only these have operands"),
        };
        let copy = self.terms.push(copy);
        if let Term::Call { .. } = term
            && (self.repeating || self.functions.is_repeated(id))
        {
            self.functions.mark_repeated(copy);
        }
        done.push(copy);
    }
}
