//! ϱ ⊢ e ⇓ w, one arm per rule (section 5), with an explicit stack.
//!
//! Calls in tail position push nothing, so loops run in constant space.

use super::heap::{CellId, Collector, Heap, NIL, Value};
use super::{Limits, RunError, Shown, Stuck};
use crate::chunks::Chunks;
use crate::integer::{Int, NoResult, Op};
use crate::surface::Prefix;
use crate::syntax::{Program, Term, TermId, Terms};

/// The counters of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Applications of functions and to types.
    pub applications: u64,
    /// The maximal number of open frames.
    pub deepest: u64,
    /// The number of allocated addresses.
    pub addresses: u64,
}

pub fn run(program: &Program, limits: Limits) -> (Result<Shown, RunError>, Counters) {
    let mut machine = Machine {
        terms: &program.terms,
        limits,
        heap: Heap::default(),
        store: Chunks::default(),
        frames: Chunks::default(),
        due: SMALLEST.min(budget(limits)),
        counters: Counters::default(),
    };
    let outcome = machine.evaluate(program.main).and_then(|value| machine.show(value));
    (outcome, machine.counters)
}

/// A continuation: what to do with the next value.
enum Frame {
    /// `_ e2`.
    Function { argument: TermId, env: CellId, whole: TermId },
    /// `w1 _`.
    Argument { function: Value, whole: TermId },
    /// `_ o e2`.
    Left { op: Op, right: TermId, env: CellId, whole: TermId },
    /// `w1 o _`.
    Right { op: Op, left: Value, whole: TermId },
    /// `if _ then a else b`.
    Condition { yes: TermId, no: TermId, env: CellId, whole: TermId },
    /// `_ [A]`.
    Force { whole: TermId },
    /// `(_, e2)`.
    First { second: TermId, env: CellId },
    /// `(w1, _)`.
    Second { first: Value },
    /// `ref _`, `fst _`, `snd _` or `!_`.
    Prefix { prefix: Prefix, whole: TermId },
    /// `_ := e2`.
    Target { value: TermId, env: CellId, whole: TermId },
    /// `w1 := _`.
    Store { target: Value, whole: TermId },
}

/// The next action of the machine.
enum State {
    Evaluate(TermId, CellId),
    Return(Value),
}

struct Machine<'a> {
    terms: &'a Terms,
    limits: Limits,
    heap: Heap,
    store: Chunks<Value>,
    frames: Chunks<Frame>,
    /// The number of bytes at which to collect next.
    due: usize,
    counters: Counters,
}

/// The minimal size for a collection.
const SMALLEST: usize = 1 << 20;

/// The maximal number of bytes in use.
fn budget(limits: Limits) -> usize {
    usize::try_from(limits.memory).unwrap_or(usize::MAX)
}

impl Machine<'_> {
    fn evaluate(&mut self, main: TermId) -> Result<Value, RunError> {
        let mut state = State::Evaluate(main, NIL);
        loop {
            state = match state {
                State::Evaluate(term, env) => self.enter(term, env),
                State::Return(value) => match self.frames.pop() {
                    Some(frame) => self.resume(frame, value)?,
                    None => return Ok(value),
                },
            };
            if self.bytes() > self.due {
                self.collect(&mut state);
                // Stops a little below the limit: with little memory left, collections would dominate the run
                // time.
                let (live, budget) = (self.bytes(), budget(self.limits));
                if live > budget - budget / 16 {
                    return Err(RunError::Memory(self.limits.memory));
                }
                self.due = live.saturating_mul(2).max(SMALLEST).min(budget);
            }
        }
    }

    /// The bytes in use.
    fn bytes(&self) -> usize {
        self.heap.bytes() + self.frames.bytes() + self.store.bytes()
    }

    /// Counts the copied integer of a value.
    fn copy(&mut self, value: Value) -> Value {
        if let Value::Int(int) = &value {
            self.heap.note(int);
        }
        value
    }

    fn enter(&mut self, whole: TermId, env: CellId) -> State {
        let frame = match self.terms.term(whole) {
            // n ⇓ n
            Term::Int(int) => return State::Return(self.copy(Value::Int(int.clone()))),
            // x ⇓ ϱ(x)
            Term::Variable(name) => {
                let value = self.heap.lookup(*name, env).clone();
                return State::Return(self.copy(value));
            }
            // λx.e ⇓ ⟨λx.e,ϱ⟩
            Term::Lambda(..) => return State::Return(Value::Closure(whole, env)),
            // Λ.e ⇓ ⟨Λ.e,ϱ⟩
            Term::TypeLambda(_) => return State::Return(Value::Thunk(whole, env)),
            // fix f. λx.e ⇓ c  where c = ⟨λx.e, ϱ(f:=c)⟩
            Term::Fix(name, body) => return State::Return(self.heap.bind_recursively(*name, *body, env)),
            Term::Address(address) => {
                let address = u32::try_from(*address).expect("programs have no addresses");
                return State::Return(Value::Address(address));
            }
            Term::Apply(_, argument, _) => Frame::Function { argument: *argument, env, whole },
            Term::Op(op, _, right) => Frame::Left { op: *op, right: *right, env, whole },
            Term::If(_, yes, no) => Frame::Condition { yes: *yes, no: *no, env, whole },
            Term::TypeApply(_) => Frame::Force { whole },
            Term::Pair(_, second) => Frame::First { second: *second, env },
            Term::Prefix(prefix, _) => Frame::Prefix { prefix: *prefix, whole },
            Term::Assign(_, value) => Frame::Target { value: *value, env, whole },
        };
        self.frames.push(frame);
        self.counters.deepest = self.counters.deepest.max(self.frames.len() as u64);
        let first = self.terms.term(whole).parts().next().expect("a form with a frame has a part");
        State::Evaluate(first, env)
    }

    fn resume(&mut self, frame: Frame, value: Value) -> Result<State, RunError> {
        match frame {
            Frame::Function { argument, env, whole } => {
                self.frames.push(Frame::Argument { function: value, whole });
                Ok(State::Evaluate(argument, env))
            }
            // e1⇓⟨λx.e,ϱ'⟩, e2⇓w2, ϱ'(x:=w2)⊢e⇓w ⟹ e1 e2⇓w
            Frame::Argument { function: Value::Closure(lambda, env), .. } => {
                self.spend()?;
                let Term::Lambda(name, body) = self.terms.term(lambda) else {
                    unreachable!("the term of a closure is a λ")
                };
                Ok(State::Evaluate(*body, self.heap.bind(*name, value, env)))
            }
            Frame::Argument { whole, .. } => Err(self.stuck(whole, Stuck::NotAFunction)),
            Frame::Left { op, right, env, whole } => {
                self.frames.push(Frame::Right { op, left: value, whole });
                Ok(State::Evaluate(right, env))
            }
            // e1⇓n1, e2⇓n2 ⟹ e1 o e2 ⇓ n1 o n2
            Frame::Right { op, left, whole } => self.compute(op, &left, &value, whole),
            // c⇓n≠0, a⇓w ⟹ if c then a else b⇓w       c⇓0, b⇓w ⟹ …⇓w
            Frame::Condition { yes, no, env, whole } => match value {
                Value::Int(int) => Ok(State::Evaluate(if int == Int::ZERO { no } else { yes }, env)),
                _ => Err(self.stuck(whole, Stuck::NotACondition)),
            },
            // e⇓⟨Λ.e',ϱ'⟩, ϱ'⊢e'⇓w ⟹ e[A]⇓w
            Frame::Force { whole } => match value {
                Value::Thunk(thunk, env) => {
                    self.spend()?;
                    let Term::TypeLambda(body) = self.terms.term(thunk) else {
                        unreachable!("the term of a thunk is a Λ")
                    };
                    Ok(State::Evaluate(*body, env))
                }
                _ => Err(self.stuck(whole, Stuck::IllTyped)),
            },
            Frame::First { second, env } => {
                self.frames.push(Frame::Second { first: value });
                Ok(State::Evaluate(second, env))
            }
            Frame::Second { first } => Ok(State::Return(self.heap.pair(first, value))),
            Frame::Prefix { prefix, whole } => self.prefix(prefix, value, whole),
            Frame::Target { value: right, env, whole } => {
                self.frames.push(Frame::Store { target: value, whole });
                Ok(State::Evaluate(right, env))
            }
            // e1:=e2: write, result the address
            Frame::Store { target, whole } => match target {
                Value::Address(address) => {
                    self.store[address as usize] = value;
                    Ok(State::Return(target))
                }
                _ => Err(self.stuck(whole, Stuck::IllTyped)),
            },
        }
    }

    fn compute(&mut self, op: Op, left: &Value, right: &Value, whole: TermId) -> Result<State, RunError> {
        let (Value::Int(a), Value::Int(b)) = (left, right) else {
            return Err(self.stuck(whole, Stuck::NotAnInteger));
        };
        match op.apply(a, b) {
            Ok(int) => {
                self.heap.note(&int);
                Ok(State::Return(Value::Int(int)))
            }
            Err(NoResult::Zero) => Err(self.stuck(whole, Stuck::Zero)),
            Err(NoResult::TooLarge) => Err(RunError::TooLarge(self.terms.span(whole))),
        }
    }

    fn prefix(&mut self, prefix: Prefix, value: Value, whole: TermId) -> Result<State, RunError> {
        let result = match (prefix, value) {
            (Prefix::Ref, value) => {
                let address = u32::try_from(self.store.len()).expect("memory ends before 2^32 addresses");
                self.store.push(value);
                self.counters.addresses += 1;
                Value::Address(address)
            }
            (Prefix::Read, Value::Address(address)) => self.store[address as usize].clone(),
            (Prefix::First, Value::Pair(pair)) => self.heap.parts(pair).0.clone(),
            (Prefix::Second, Value::Pair(pair)) => self.heap.parts(pair).1.clone(),
            _ => return Err(self.stuck(whole, Stuck::IllTyped)),
        };
        Ok(State::Return(self.copy(result)))
    }

    fn stuck(&self, whole: TermId, why: Stuck) -> RunError {
        RunError::Stuck(self.terms.span(whole), why)
    }

    fn spend(&mut self) -> Result<(), RunError> {
        if self.counters.applications == self.limits.fuel {
            return Err(RunError::Fuel(self.limits.fuel));
        }
        self.counters.applications += 1;
        Ok(())
    }

    fn collect(&mut self, state: &mut State) {
        let (store, frames) = (&mut self.store, &mut self.frames);
        self.heap.collect(|collector| {
            match state {
                State::Evaluate(_, env) => collector.cell(env),
                State::Return(value) => collector.value(value),
            }
            for value in store.iter_mut() {
                collector.value(value);
            }
            for frame in frames.iter_mut() {
                visit(frame, collector);
            }
        });
    }

    /// The text of a value for `run`. Pairs share their parts, so a small value may have a long text.
    fn show(&self, value: Value) -> Result<Shown, RunError> {
        enum Piece {
            Text(&'static str),
            Value(Value),
        }
        let (mut text, mut work) = (String::new(), vec![Piece::Value(value)]);
        while let Some(piece) = work.pop() {
            if (text.len() + self.bytes()) as u64 > self.limits.memory {
                return Err(RunError::Memory(self.limits.memory));
            }
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Value(Value::Int(int)) => text.push_str(&int.to_string()),
                Piece::Value(Value::Closure(..)) => text.push_str("<fun>"),
                Piece::Value(Value::Thunk(..)) => text.push_str("<thunk>"),
                Piece::Value(Value::Address(address)) => {
                    text.push('@');
                    text.push_str(&address.to_string());
                }
                Piece::Value(Value::Pair(pair)) => {
                    let (first, second) = self.heap.parts(pair);
                    text.push('(');
                    let pieces = [
                        Piece::Text(")"),
                        Piece::Value(second.clone()),
                        Piece::Text(", "),
                        Piece::Value(first.clone()),
                    ];
                    work.extend(pieces);
                }
            }
        }
        Ok(Shown(text))
    }
}

/// Visits the cells of a frame.
fn visit(frame: &mut Frame, collector: &mut Collector<'_>) {
    match frame {
        Frame::Function { env, .. }
        | Frame::Left { env, .. }
        | Frame::Condition { env, .. }
        | Frame::First { env, .. }
        | Frame::Target { env, .. } => collector.cell(env),
        Frame::Argument { function: value, .. }
        | Frame::Right { left: value, .. }
        | Frame::Second { first: value }
        | Frame::Store { target: value, .. } => collector.value(value),
        Frame::Force { .. } | Frame::Prefix { .. } => {}
    }
}
