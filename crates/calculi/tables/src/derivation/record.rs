//! Repeats one branch of a run, and records all its events.
//!
//! The lookups are known, so nothing is searched for. Environments are those of the mixed machine: a binding
//! is a cell, which distinguishes two calls of one function.

use crate::ask::{EnvId, FoundBranch, Machine, Mixed};
use crate::integer::{Int, Op};
use crate::syntax::{Term, TermId};
use crate::value::{Entry, Value};

use super::NodeId;

/// An evaluated term, and how it was evaluated.
pub(super) struct Event {
    pub(super) term: TermId,
    pub(super) result: Mixed,
    pub(super) how: Evaluation,
}

/// How a term was evaluated.
#[derive(Clone, Copy)]
pub(super) enum Evaluation {
    Int,
    /// The variable is bound in this cell.
    Variable(EnvId),
    /// The λ became a closure with this environment.
    Lambda(EnvId),
    Op([NodeId; 2]),
    If([NodeId; 2]),
    /// A closure was called: `parts` are the events of the function and the argument, `cell` binds the
    /// variable.
    Call {
        parts: [NodeId; 2],
        lambda: TermId,
        env: EnvId,
        cell: EnvId,
        body: NodeId,
    },
    /// A table was looked up.
    Lookup {
        parts: [NodeId; 2],
        entry: Entry,
    },
}

/// Pending work.
enum Task {
    Evaluate(TermId, EnvId),
    Op(TermId, Op),
    /// The condition is known: take a branch.
    Choose(TermId, EnvId),
    If(TermId),
    Apply(TermId),
    Return {
        term: TermId,
        parts: [NodeId; 2],
        lambda: TermId,
        env: EnvId,
        cell: EnvId,
    },
}

/// The events so far, and the machine with their cells.
pub(super) struct Recorder<'a> {
    pub(super) machine: Machine<'a>,
    pub(super) events: Vec<Event>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(machine: Machine<'a>) -> Self {
        Recorder { machine, events: Vec::new() }
    }

    /// Runs a term along a branch that has a result.
    pub(super) fn record(&mut self, term: TermId, env: EnvId, found: &FoundBranch) -> NodeId {
        let mut choices = found.choices.iter().copied();
        let (mut work, mut done) = (vec![Task::Evaluate(term, env)], Vec::new());
        while let Some(task) = work.pop() {
            let event = match task {
                Task::Evaluate(term, env) => match self.enter(term, env, &mut work) {
                    Some(event) => event,
                    None => continue,
                },
                Task::Op(term, op) => {
                    let parts = pop_two(&mut done);
                    let [a, b] = parts.map(|part| self.int(part));
                    let result = op.apply(a, b).expect("the branch has a result");
                    Event { term, result: Mixed::Int(result), how: Evaluation::Op(parts) }
                }
                Task::Choose(term, env) => {
                    let Term::If(_, yes, no) = *self.machine.terms().term(term) else {
                        unreachable!("only an `if` chooses")
                    };
                    let condition = *done.last().expect("the condition is known");
                    let branch = if *self.int(condition) == Int::ZERO { no } else { yes };
                    work.extend([Task::If(term), Task::Evaluate(branch, env)]);
                    continue;
                }
                Task::If(term) => {
                    let parts = pop_two(&mut done);
                    Event { term, result: self.events[parts[1]].result.clone(), how: Evaluation::If(parts) }
                }
                Task::Apply(term) => {
                    let parts = pop_two(&mut done);
                    match self.apply(term, parts, &mut choices, &mut work) {
                        Some(event) => event,
                        None => continue,
                    }
                }
                Task::Return { term, parts, lambda, env, cell } => {
                    let body = done.pop().expect("the body has a result");
                    let how = Evaluation::Call { parts, lambda, env, cell, body };
                    Event { term, result: self.events[body].result.clone(), how }
                }
            };
            done.push(self.events.len());
            self.events.push(event);
        }
        done.pop().expect("the term has a result")
    }

    fn enter(&mut self, term: TermId, env: EnvId, work: &mut Vec<Task>) -> Option<Event> {
        let (result, how) = match self.machine.terms().term(term) {
            Term::Int(int) => (Mixed::Int(int.clone()), Evaluation::Int),
            Term::Variable(name) => {
                let (cell, value) = self.machine.lookup(*name, env);
                (value.clone(), Evaluation::Variable(cell))
            }
            Term::Lambda(..) => (Mixed::Closure(term, env), Evaluation::Lambda(env)),
            Term::Op(op, a, b) => {
                work.extend([Task::Op(term, *op), Task::Evaluate(*b, env), Task::Evaluate(*a, env)]);
                return None;
            }
            Term::If(condition, ..) => {
                work.extend([Task::Choose(term, env), Task::Evaluate(*condition, env)]);
                return None;
            }
            Term::Apply(function, argument, _) => {
                let tasks =
                    [Task::Apply(term), Task::Evaluate(*argument, env), Task::Evaluate(*function, env)];
                work.extend(tasks);
                return None;
            }
            _ => unreachable!("derivations are only for .lam"),
        };
        Some(Event { term, result, how })
    }

    fn apply(
        &mut self,
        term: TermId,
        parts: [NodeId; 2],
        choices: &mut impl Iterator<Item = usize>,
        work: &mut Vec<Task>,
    ) -> Option<Event> {
        let [function, argument] = parts.map(|part| self.events[part].result.clone());
        match function {
            Mixed::Closure(lambda, env) => {
                let (body, cell) = self.machine.bind(lambda, argument, env);
                work.extend([Task::Return { term, parts, lambda, env, cell }, Task::Evaluate(body, cell)]);
                None
            }
            Mixed::Finite(table) => {
                let at = choices.next().expect("the search noted each entry that it used");
                let entry = self.machine.values().entries(table)[at];
                let result = Mixed::of(entry.output.value, self.machine.values());
                Some(Event { term, result, how: Evaluation::Lookup { parts, entry } })
            }
            _ => unreachable!("the branch has a result"),
        }
    }

    fn int(&self, event: NodeId) -> &Int {
        match &self.events[event].result {
            Mixed::Int(int) => int,
            _ => unreachable!("the branch has a result"),
        }
    }

    /// The integer result of an event, as a value.
    pub(super) fn int_value(&mut self, event: NodeId) -> Value {
        let int = self.int(event).clone();
        self.machine.values().int(int)
    }
}

fn pop_two(done: &mut Vec<NodeId>) -> [NodeId; 2] {
    let second = done.pop().expect("two parts are known");
    [done.pop().expect("two parts are known"), second]
}
