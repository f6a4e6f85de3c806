//! One branch of a run on the mixed machine: the equations of section 6, with closures for tables.
//!
//! A branch ends in a result, in failure, or at a limit. It pauses where the search has to decide whether an
//! entry of a table may be used.

use std::rc::Rc;

use super::mixed::{Cell, EnvId, Heap, KontId, Mixed, NIL};
use super::search::Machine;
use crate::dialect::Dialect;
use crate::integer::{Int, NoResult, Op};
use crate::surface::Prefix;
use crate::syntax::{Term, TermId};
use crate::value::{Value, ValueKind};

/// A continuation: what to do with the next value.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    /// `_ e2`.
    Function { argument: TermId, env: EnvId },
    /// `w1 _`.
    Argument { function: Mixed },
    /// `_ o e2`.
    Left { op: Op, right: TermId, env: EnvId },
    /// `w1 o _`.
    Right { op: Op, left: Mixed },
    /// `if _ then a else b`.
    Condition { yes: TermId, no: TermId, env: EnvId },
    /// `_ [A]`.
    Force,
    /// `(_, e2)`.
    First { second: TermId, env: EnvId },
    /// `(w1, _)`.
    Second { first: Mixed },
    /// `ref _`, `fst _`, `snd _` or `!_`.
    Prefix(Prefix),
    /// `_ := e2`.
    Target { value: TermId, env: EnvId },
    /// `w1 := _`.
    Store { target: Mixed },
    /// Wraps the value as the content of a thunk.
    Wrap,
}

impl Frame {
    pub(super) fn value(&self) -> Option<&Mixed> {
        match self {
            Frame::Argument { function: value }
            | Frame::Right { left: value, .. }
            | Frame::Second { first: value }
            | Frame::Store { target: value } => Some(value),
            Frame::Function { .. }
            | Frame::Left { .. }
            | Frame::Condition { .. }
            | Frame::Force
            | Frame::First { .. }
            | Frame::Prefix(_)
            | Frame::Target { .. }
            | Frame::Wrap => None,
        }
    }
}

/// The next action of a branch.
#[derive(Clone, Debug)]
pub(crate) enum Control {
    Evaluate(TermId, EnvId),
    /// Give a value to the innermost frame.
    Return(Mixed),
    /// Look an argument up in a table, from this entry on.
    Lookup {
        table: Value,
        from: usize,
        argument: Mixed,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) control: Control,
    pub(super) kont: KontId,
    pub(super) heap: Rc<Heap>,
    /// The remaining number of applications.
    pub(super) fuel: u64,
    /// The lookups so far.
    pub(super) choices: u32,
}

/// Why a branch stops.
pub(super) enum Stop {
    Result(Mixed),
    /// It has no result.
    RunError,
    /// A limit was reached.
    Cut,
    /// Asks whether this entry of a table may be used for this argument.
    Lookup {
        table: Value,
        from: usize,
        argument: Mixed,
    },
}

/// The result of a step.
type Step = Result<Control, Stop>;

impl Machine<'_> {
    /// Runs a branch until it stops. At each decision, the other branches are queued.
    pub(super) fn run(&mut self, branch: &mut Branch) -> Stop {
        let mut control = std::mem::replace(&mut branch.control, Control::Return(Mixed::Int(Int::ZERO)));
        loop {
            let step = match control {
                Control::Evaluate(term, env) => Ok(self.enter(branch, term, env)),
                Control::Return(value) if branch.kont == NIL => return Stop::Result(value),
                Control::Return(value) => {
                    let (frame, rest) = self.arena.pop_kont(branch.kont);
                    branch.kont = rest;
                    self.resume(branch, frame, value)
                }
                Control::Lookup { table, from, argument } => Err(Stop::Lookup { table, from, argument }),
            };
            control = match step {
                Ok(control) => control,
                Err(stop) => return stop,
            };
        }
    }

    fn enter(&mut self, branch: &mut Branch, term: TermId, env: EnvId) -> Control {
        let frame = match self.terms.term(term) {
            // E[n]ρ = {n}
            Term::Int(int) => return Control::Return(self.memory.copied(Mixed::Int(int.clone()))),
            // E[x]ρ = { v | v ⊑ ρ(x) }
            Term::Variable(name) => {
                let value = self.arena.lookup(*name, env).1.clone();
                return Control::Return(self.memory.copied(value));
            }
            // E[λx.e]ρ = { t | ∀(v↦v')∈t. v' ∈ E[e]ρ(x:=v) }
            Term::Lambda(..) => return Control::Return(Mixed::Closure(term, env)),
            // E[fix f. λx.e]ρ = ⋃_k I_k: these are tables of the recursive closure.
            Term::Fix(name, body) => {
                let closure = Mixed::Closure(*body, self.arena.next());
                self.arena.add(Cell::Binding(*name, closure.clone(), env));
                return Control::Return(closure);
            }
            // E[Λ.e]ρ = {thunk(none)} ∪ { thunk(some v) | v∈E[e]ρ }
            Term::TypeLambda(body) => {
                let body = *body;
                return self.thunk(branch, term, body, env);
            }
            Term::Address(address) => return Control::Return(Mixed::Address(*address)),
            Term::Apply(_, argument, _) => Frame::Function { argument: *argument, env },
            Term::Op(op, _, right) => Frame::Left { op: *op, right: *right, env },
            Term::If(_, yes, no) => Frame::Condition { yes: *yes, no: *no, env },
            Term::TypeApply(_) => Frame::Force,
            Term::Pair(_, second) => Frame::First { second: *second, env },
            Term::Prefix(prefix, _) => Frame::Prefix(*prefix),
            Term::Assign(_, value) => Frame::Target { value: *value, env },
        };
        let first = self.terms.term(term).parts().next().expect("a form with a frame has a part");
        branch.kont = self.arena.push_kont(frame, branch.kont);
        Control::Evaluate(first, env)
    }

    /// Chooses the content of a thunk, once, when the thunk is made. If its body has no choices, the body is
    /// evaluated when the thunk is forced.
    fn thunk(&mut self, branch: &mut Branch, term: TermId, body: TermId, env: EnvId) -> Control {
        if !self.reaches_choices(term, env) {
            return Control::Return(Mixed::Delayed(term, env));
        }
        let kont = self.arena.push_kont(Frame::Wrap, branch.kont);
        self.queue_branch(Branch { control: Control::Evaluate(body, env), kont, ..branch.clone() });
        let none = self.values.thunk_none();
        Control::Return(Mixed::Finite(none))
    }

    fn resume(&mut self, branch: &mut Branch, frame: Frame, value: Mixed) -> Step {
        if let Mixed::Finite(finite) = value
            && *self.values.kind(finite) == ValueKind::Wrong
            && !matches!(frame, Frame::Wrap)
        {
            // If a subterm is wrong the form is wrong, and later subterms are not evaluated.
            return Ok(Control::Return(value));
        }
        match frame {
            Frame::Function { argument, env } => {
                branch.kont = self.arena.push_kont(Frame::Argument { function: value }, branch.kont);
                Ok(Control::Evaluate(argument, env))
            }
            Frame::Argument { function } => self.apply(branch, function, value),
            Frame::Left { op, right, env } => {
                branch.kont = self.arena.push_kont(Frame::Right { op, left: value }, branch.kont);
                Ok(Control::Evaluate(right, env))
            }
            // E[e1 o e2]ρ = { n1 o n2 | ni ∈ E[ei]ρ, defined }
            Frame::Right { op, left } => match (&left, &value) {
                (Mixed::Int(a), Mixed::Int(b)) => match op.apply(a, b) {
                    Ok(int) => Ok(Control::Return(self.memory.copied(Mixed::Int(int)))),
                    Err(NoResult::Zero) => Err(Stop::RunError),
                    Err(NoResult::TooLarge) => Err(Stop::Cut),
                },
                _ => self.run_time_type_error(),
            },
            // E[if c then a else b]ρ: n≠0 and v∈E[a]ρ, or n=0 and v∈E[b]ρ
            Frame::Condition { yes, no, env } => match value {
                Mixed::Int(int) => Ok(Control::Evaluate(if int == Int::ZERO { no } else { yes }, env)),
                _ => self.run_time_type_error(),
            },
            Frame::Force => self.force(branch, value),
            Frame::First { second, env } => {
                branch.kont = self.arena.push_kont(Frame::Second { first: value }, branch.kont);
                Ok(Control::Evaluate(second, env))
            }
            Frame::Second { first } => {
                Ok(Control::Return(Mixed::Pair(self.arena.add(Cell::Pair(first, value)))))
            }
            Frame::Prefix(prefix) => self.prefix(branch, prefix, value),
            Frame::Target { value: right, env } => {
                branch.kont = self.arena.push_kont(Frame::Store { target: value }, branch.kont);
                Ok(Control::Evaluate(right, env))
            }
            // `e1 := e2` overwrites or adds, returns the address; wrong on a non-address.
            Frame::Store { target } => match target {
                Mixed::Address(address) => {
                    Rc::make_mut(&mut branch.heap).set(address, value);
                    Ok(Control::Return(target))
                }
                _ => self.run_time_type_error(),
            },
            Frame::Wrap => Ok(Control::Return(Mixed::Thunk(self.arena.add(Cell::Content(value))))),
        }
    }

    /// `E[e1 e2]ρ = { v | ∃ t∈E[e1]ρ, v2∈E[e2]ρ, (v3↦v3')∈t.  v3 ⊑ v2  and  v ⊑ v3' }`.
    fn apply(&mut self, branch: &mut Branch, function: Mixed, argument: Mixed) -> Step {
        match function {
            Mixed::Closure(lambda, env) => {
                self.spend(branch)?;
                let (body, env) = self.bind(lambda, argument, env);
                Ok(Control::Evaluate(body, env))
            }
            Mixed::Finite(table) if matches!(self.values.kind(table), ValueKind::Table(_)) => {
                Ok(Control::Lookup { table, from: 0, argument })
            }
            _ => self.run_time_type_error(),
        }
    }

    /// The body of a λ, and its environment with an argument.
    pub(crate) fn bind(&mut self, lambda: TermId, argument: Mixed, env: EnvId) -> (TermId, EnvId) {
        let Term::Lambda(name, body) = self.terms.term(lambda) else {
            unreachable!("the term of a closure is a λ")
        };
        (*body, self.arena.add(Cell::Binding(*name, argument, env)))
    }

    /// `E[e[A]]ρ`: thunk(none) ↦ nothing; thunk(some v) ↦ every value ⊑ v; non-thunk ↦ wrong.
    fn force(&mut self, branch: &mut Branch, value: Mixed) -> Step {
        match value {
            Mixed::Delayed(thunk, env) => {
                self.spend(branch)?;
                let Term::TypeLambda(body) = self.terms.term(thunk) else {
                    unreachable!("the term of a thunk is a Λ")
                };
                Ok(Control::Evaluate(*body, env))
            }
            Mixed::Thunk(cell) => match self.arena.cell(cell) {
                Cell::Content(content) => Ok(Control::Return(content.clone())),
                Cell::Binding(..) | Cell::Pair(..) => unreachable!("a thunk has a content"),
            },
            Mixed::Finite(finite) => match *self.values.kind(finite) {
                ValueKind::ThunkNone => Err(Stop::RunError),
                ValueKind::ThunkSome(content) => Ok(Control::Return(Mixed::of(content, self.values))),
                _ => self.run_time_type_error(),
            },
            _ => self.run_time_type_error(),
        }
    }

    fn prefix(&mut self, branch: &mut Branch, prefix: Prefix, value: Mixed) -> Step {
        match prefix {
            Prefix::Ref => {
                let heap = Rc::make_mut(&mut branch.heap);
                let mut candidates = heap.candidates(&self.addresses).into_iter();
                let first = candidates.next().expect("some address is free");
                for address in candidates.rev() {
                    let mut other = branch.clone();
                    Rc::make_mut(&mut other.heap).set(address, value.clone());
                    other.control = Control::Return(Mixed::Address(address));
                    self.queue_branch(other);
                }
                Rc::make_mut(&mut branch.heap).set(first, value);
                Ok(Control::Return(Mixed::Address(first)))
            }
            // `!e` gives every value below the stored one; nothing if the address is absent; wrong on a
            // non-address.
            Prefix::Read => match value {
                Mixed::Address(address) => match branch.heap.get(address) {
                    Some(stored) => Ok(Control::Return(self.memory.copied(stored.clone()))),
                    None => Err(Stop::RunError),
                },
                _ => self.run_time_type_error(),
            },
            Prefix::First | Prefix::Second => {
                let is_first = prefix == Prefix::First;
                match value {
                    Mixed::Pair(cell) => match self.arena.cell(cell) {
                        Cell::Pair(first, second) => {
                            let part = if is_first { first } else { second }.clone();
                            Ok(Control::Return(self.memory.copied(part)))
                        }
                        Cell::Binding(..) | Cell::Content(_) => unreachable!("a pair has two parts"),
                    },
                    Mixed::Finite(finite) => match self.values.kind(finite) {
                        ValueKind::Pair(first, second) => {
                            let part = if is_first { *first } else { *second };
                            Ok(Control::Return(Mixed::of(part, self.values)))
                        }
                        _ => self.run_time_type_error(),
                    },
                    _ => self.run_time_type_error(),
                }
            }
        }
    }

    /// A run-time type error: nothing in `.lam`, `wrong` in the typed languages.
    fn run_time_type_error(&mut self) -> Step {
        if self.dialect == Dialect::Lambda {
            return Err(Stop::RunError);
        }
        let wrong = self.values.wrong();
        Ok(Control::Return(Mixed::Finite(wrong)))
    }

    fn spend(&mut self, branch: &mut Branch) -> Result<(), Stop> {
        if branch.fuel == 0 || self.is_exhausted(branch) {
            return Err(Stop::Cut);
        }
        branch.fuel -= 1;
        self.count();
        Ok(())
    }
}
