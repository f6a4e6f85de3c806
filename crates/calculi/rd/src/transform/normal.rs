//! A-normal form: every operand is a value, every intermediate result has a name; derivatives are replaced.
//!
//! ```text
//! f(x * 2) + 1   ↦   let a = mul(⟨x,2⟩) in let b = f(a) in b + 1
//! ```
//!
//! Without names, `Rev` would compute an operand again at each enclosing level. Definitions of functions
//! disappear: a function is found through its calls. The order of evaluation does not change.

use super::Functions;
use crate::reverse::{Goal, TooLarge, reverse_term};
use crate::syntax::{Term, TermId, Terms, Test, VarId};

/// Brings a term into A-normal form and replaces its derivatives, innermost first.
pub(super) fn normalise(
    terms: &mut Terms,
    functions: &mut Functions,
    term: TermId,
) -> Result<TermId, TooLarge> {
    let mut normaliser = Normaliser { terms, functions, blocks: Vec::new(), done: Vec::new() };
    normaliser.blocks.push(Vec::new());
    let mut tasks = vec![Task::Close, Task::Visit(term, Form::Tail)];
    while let Some(task) = tasks.pop() {
        normaliser.step(task, &mut tasks)?;
    }
    Ok(normaliser.done.pop().expect("one term is left"))
}

/// The required form: a value, or any term that can end a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Value,
    Tail,
}

enum Task {
    Visit(TermId, Form),
    /// The operands are values: rebuild the term.
    Join(Term, Form),
    Bind(VarId),
    /// A block starts: a branch, or the body of a derivative.
    Open,
    /// A block ends with the last result.
    Close,
    /// Point, cotangent and body are done.
    Differentiate(VarId, Form),
}

struct Normaliser<'a> {
    terms: &'a mut Terms,
    functions: &'a mut Functions,
    /// The lets of the blocks that are open.
    blocks: Vec<Vec<(VarId, TermId)>>,
    done: Vec<TermId>,
}

impl Normaliser<'_> {
    fn step(&mut self, task: Task, tasks: &mut Vec<Task>) -> Result<(), TooLarge> {
        match task {
            Task::Visit(id, form) => self.visit(id, form, tasks),
            Task::Join(term, form) => self.join(term, form),
            Task::Bind(var) => {
                let bound = self.pop();
                self.write(var, bound);
            }
            Task::Open => self.blocks.push(Vec::new()),
            Task::Close => {
                let result = self.pop();
                let lets = self.blocks.pop().expect("the block was opened");
                let block = self.terms.bind_all(&lets, result);
                self.done.push(block);
            }
            Task::Differentiate(var, form) => {
                let cotangent = self.pop();
                let body = self.pop();
                let point = self.pop();
                let goal = Goal { var, point, cotangent, body };
                let max_bytes = self.functions.max_bytes;
                let reversed = reverse_term(self.terms, self.functions, goal, max_bytes)?;
                self.splice(reversed, form);
            }
        }
        Ok(())
    }

    fn visit(&mut self, id: TermId, form: Form, tasks: &mut Vec<Task>) {
        use Task::{Join, Visit};
        let value = |id: TermId| Visit(id, Form::Value);
        match self.terms.term(id) {
            Term::Var(_) | Term::Real(_) | Term::Unit => self.done.push(id),
            term @ (Term::Add(left, right) | Term::Pair(left, right)) => {
                tasks.extend([Join(term, form), value(right), value(left)]);
            }
            term @ (Term::Op(_, operand)
            | Term::Fst(operand)
            | Term::Snd(operand)
            | Term::Call { argument: operand, .. }) => tasks.extend([Join(term, form), value(operand)]),
            Term::Let { var, bound, body } => {
                tasks.extend([Visit(body, form), Task::Bind(var), Visit(bound, Form::Tail)]);
            }
            Term::Letrec { body, .. } => tasks.push(Visit(body, form)),
            Term::If { test: Test::Constant(known), yes, no } => {
                tasks.push(Visit(if known { yes } else { no }, form));
            }
            term @ Term::If { test: Test::Pred(_, operand), yes, no } => {
                tasks.push(Join(term, form));
                for branch in [no, yes] {
                    tasks.extend([Task::Close, Visit(branch, Form::Tail), Task::Open]);
                }
                tasks.push(value(operand));
            }
            Term::Rd { cotangent, point, var, body } => tasks.extend([
                Task::Differentiate(var, form),
                // The body is normalised before the cotangent, which does not change the order of evaluation:
                // the block of the body is differentiated here, not evaluated.
                value(cotangent),
                Task::Close,
                Visit(body, Form::Tail),
                Task::Open,
                value(point),
            ]),
        }
    }

    fn join(&mut self, term: Term, form: Form) {
        let last = self.pop();
        let term = match term {
            Term::Add(..) => Term::Add(self.pop(), last),
            Term::Pair(..) => Term::Pair(self.pop(), last),
            Term::Op(op, _) => Term::Op(op, last),
            Term::Fst(_) => Term::Fst(last),
            Term::Snd(_) => Term::Snd(last),
            Term::Call { function, .. } => Term::Call { function, argument: last },
            Term::If { test: Test::Pred(pred, _), .. } => {
                let yes = self.pop();
                Term::If { test: Test::Pred(pred, self.pop()), yes, no: last }
            }
            _ => unreachable!("only these have operands"),
        };
        let is_value = matches!(term, Term::Pair(..));
        let id = self.terms.push(term);
        if is_value || form == Form::Tail {
            self.done.push(id);
        } else {
            self.name(id);
        }
    }

    /// The chain of lets of a derivative continues the current block.
    fn splice(&mut self, mut chain: TermId, form: Form) {
        while let Term::Let { var, bound, body } = self.terms.term(chain) {
            self.write(var, bound);
            chain = body;
        }
        let is_value =
            matches!(self.terms.term(chain), Term::Var(_) | Term::Real(_) | Term::Unit | Term::Pair(..));
        if is_value || form == Form::Tail {
            self.done.push(chain);
        } else {
            self.name(chain);
        }
    }

    fn name(&mut self, bound: TermId) {
        let var = self.terms.fresh_named("a", self.terms.ty(bound));
        self.write(var, bound);
        let value = self.terms.variable(var);
        self.done.push(value);
    }

    fn write(&mut self, var: VarId, bound: TermId) {
        self.blocks.last_mut().expect("a block is open").push((var, bound));
    }

    fn pop(&mut self) -> TermId {
        self.done.pop().expect("the parts are done")
    }
}
