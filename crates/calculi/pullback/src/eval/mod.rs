//! The reference engine: the reduction relation of section 6, one named rule per arm.
//!
//! A state is a term. The machine holds it as a *focus* and the evaluation context around it, a stack of
//! [`Frame`]s. So the position of the machine is the decomposition of the state into context and redex, and
//! the machine finds the next redex from there, not from the root.
//!
//! * [`divide`]: let series (rule A).
//! * [`conquer`]: pullbacks of let series and of elementary terms (rules 7 to 21, C1); [`conclude`]: those
//!   with a premise.
//! * [`combine`]: the call-by-value core (rules 1 to 6, sums, contractions) and C2. [`transpose`] is rule 5.
//! * [`literal`]: tuples of numerals; [`tower`]: derivatives of derivatives of primitives.
//!
//! A rule with a premise needs the value of the premise for a fresh 1-form ω, and then instantiates it: the
//! same machine evaluates the premise `((Ω λy.L)·ω) V →* (λv.S)^*·(ω W)` under a [`Frame::Premise`], so
//! premises nest without recursion.
//!
//! Decision: if the premise of rule 19b has computed the value `W` of the call, the conclusion uses `W`
//! instead of the call, so that the call is evaluated once ("evaluate `ω(E[V/y])`'s argument once").

pub mod combine;
pub mod conclude;
pub mod conquer;
pub mod decompose;
pub mod divide;
pub mod literal;
pub mod tower;
pub mod transpose;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::outcome::{Answer, Counters, Leaf, Limits, Outcome, Stop};
use crate::syntax::{Hint, Path, Program, Term, TermId, Terms, VarId};
use crate::types::{Shape, Type};
use conclude::Premise;

/// Receives the steps of a run.
pub trait Observer {
    /// One step was made.
    fn step(&mut self, _terms: &mut Terms, _step: &Step) {}
    /// Whether to build the whole state after each step, which is slow.
    fn needs_states(&self) -> bool {
        false
    }
    /// The whole state after a step.
    fn state(&mut self, _terms: &mut Terms, _state: TermId) {}
    /// The memory of the observer, which counts towards the limit of the run.
    fn bytes(&self) -> u64 {
        0
    }
}

/// Ignores all events.
pub struct Unobserved;

impl Observer for Unobserved {}

/// One step: its rule, its nesting in premises, and its detail.
#[derive(Clone, Debug)]
pub struct Step {
    /// The name of the rule, such as `20a/15`.
    pub rule: String,
    /// The number of open premises.
    pub premises: usize,
    pub detail: Detail,
}

/// The detail of a step for traces.
#[derive(Clone, Copy, Debug)]
pub enum Detail {
    /// A term: the let series of rule A, the covector of rule 5, the forward value of a pullback step.
    Term(TermId),
    /// `f(argument) -> value` of rule 3.
    Value(TermId, TermId),
    /// The terms before and after.
    Rewrite(TermId, TermId),
    /// The forward value of a pullback step.
    Forward(TermId),
}

/// One layer of an evaluation context (section 6.1); `C` is its hole.
#[derive(Clone, Debug)]
pub enum Frame {
    /// `C + t`.
    AddLeft(TermId),
    /// `V + C`.
    AddRight(TermId),
    /// `C t`.
    Function(TermId),
    /// `V C`.
    Argument(TermId),
    /// `π C`.
    Project(Path),
    /// `⟨C, t⟩`.
    PairLeft(TermId),
    /// `⟨V, C⟩`.
    PairRight(TermId),
    /// `f(C)`.
    Prim(crate::primitive::PrimId),
    /// `J f · C`.
    PrimJacobian(crate::primitive::PrimId),
    /// `(λx.s)^* · C`.
    DualOperand(Hint, Type, TermId),
    /// `(λx.C)^* · V`; the variable is free in the hole.
    DualBody(Hint, VarId, TermId),
    /// `(Ω λy.E) · C`.
    Form(Hint, Type, TermId),
    /// `J C · t`.
    JacobianFunction(TermId),
    /// `J V · C`.
    JacobianDirection(TermId),
    /// `C @ t`.
    ContractLeft(TermId),
    /// `V @ C`.
    ContractRight(TermId),
    /// `flat C`.
    Flat,
    /// `sharp C`.
    Sharp,
    /// The premise of a rule.
    Premise(Box<Premise>),
    /// Not a context: marks the term that is being evaluated, which may have other occurrences.
    Shared(TermId),
}

/// The state of the machine: a term to evaluate, or a value for the innermost frame.
#[derive(Clone, Copy, Debug)]
enum Control {
    Eval(TermId),
    Return(TermId),
}

/// The reference machine.
pub struct Machine<'a> {
    pub terms: Terms,
    frames: Vec<Frame>,
    /// Terms that are known to be values.
    values: FxHashSet<TermId>,
    /// The values of terms that the rules made; see Note \[Sharing\].
    shared: FxHashMap<TermId, TermId>,
    /// The number of terms of the program.
    n_program_terms: usize,
    limits: Limits,
    counters: Counters,
    n_premises: usize,
    /// Whether the completion rule C1 is off, as in the paper.
    pub paper: bool,
    observer: &'a mut dyn Observer,
}

/// Runs a checked program that has a main expression.
pub fn run(program: &Program, limits: Limits, observer: &mut dyn Observer) -> (Outcome, Counters, Terms) {
    run_with(program, limits, false, observer)
}

/// Like [`run`]; with `paper`, terms that are stuck in the paper stay stuck.
pub fn run_with(
    program: &Program,
    limits: Limits,
    paper: bool,
    observer: &mut dyn Observer,
) -> (Outcome, Counters, Terms) {
    let main = program.main.expect("the caller checked that there is a main expression");
    let mut machine = Machine::new(program.terms.clone(), limits, observer);
    machine.paper = paper;
    let outcome = match machine.evaluate(main) {
        Err(stop) => Outcome::Stopped(stop),
        Ok(value) if program.is_open || paper => Outcome::Open(value),
        Ok(value) => Outcome::Value(machine.answer(value)),
    };
    let counters = Counters { bytes: machine.terms.bytes(), ..machine.counters };
    (outcome, counters, machine.terms)
}

impl<'a> Machine<'a> {
    /// A machine with these tables.
    pub fn new(mut terms: Terms, limits: Limits, observer: &'a mut dyn Observer) -> Self {
        terms.share();
        Machine {
            n_program_terms: terms.len(),
            terms,
            frames: Vec::new(),
            values: FxHashSet::default(),
            shared: FxHashMap::default(),
            limits,
            counters: Counters::default(),
            n_premises: 0,
            paper: false,
            observer,
        }
    }

    /// The normal form of a term.
    pub fn evaluate(&mut self, term: TermId) -> Result<TermId, Stop> {
        let mut control = Control::Eval(term);
        loop {
            control = match control {
                Control::Eval(id) if self.values.contains(&id) => Control::Return(id),
                Control::Eval(id) => match self.shared.get(&id) {
                    Some(value) => Control::Return(*value),
                    None => self.focus(id)?,
                },
                Control::Return(value) => {
                    self.values.insert(value);
                    match self.frames.pop() {
                        None => return Ok(value),
                        Some(frame) => self.resume(frame, value)?,
                    }
                }
            };
        }
    }

    /// Focuses on the first part of a term that may not be a value.
    fn focus(&mut self, id: TermId) -> Result<Control, Stop> {
        if id.index() >= self.n_program_terms && !matches!(self.frames.last(), Some(Frame::Shared(_))) {
            self.frames.push(Frame::Shared(id));
        }
        let (frame, next) = match self.terms.term(id) {
            Term::Bound(_) => unreachable!("binders are opened before their bodies are evaluated"),
            Term::Free(_) | Term::Lambda(..) | Term::Real(_) | Term::Zero => return Ok(Control::Return(id)),
            Term::Apply(function, argument) => (Frame::Function(argument), function),
            Term::Pair(left, right) => (Frame::PairLeft(right), left),
            Term::Project(path, of) => (Frame::Project(path), of),
            Term::Prim(f, of) => (Frame::Prim(f), of),
            Term::PrimJacobian(f, of) => (Frame::PrimJacobian(f), of),
            Term::Dual(hint, body, operand) => {
                (Frame::DualOperand(hint, self.terms.param(id), body), operand)
            }
            Term::Pullback(hint, body, form) => return self.pullback(id, hint, body, form),
            Term::Add(left, right) => (Frame::AddLeft(right), left),
            Term::Jacobian(function, direction) => (Frame::JacobianFunction(direction), function),
            Term::Contract(left, right) => (Frame::ContractLeft(right), left),
            Term::Flat(of) => (Frame::Flat, of),
            Term::Sharp(of) => (Frame::Sharp, of),
        };
        self.frames.push(frame);
        Ok(Control::Eval(next))
    }

    /// Gives a value to the innermost context: focuses on its next part, or contracts the redex.
    fn resume(&mut self, frame: Frame, value: TermId) -> Result<Control, Stop> {
        let (frame, next) = match frame {
            Frame::AddLeft(right) => (Frame::AddRight(value), right),
            Frame::AddRight(left) => return self.add(left, value),
            Frame::Function(argument) => (Frame::Argument(value), argument),
            Frame::Argument(function) => return self.apply(function, value),
            Frame::Project(path) => return self.project(path, value),
            Frame::PairLeft(right) => (Frame::PairRight(value), right),
            Frame::PairRight(left) => return Ok(Control::Return(self.terms.pair(left, value))),
            Frame::Prim(f) => return self.prim(f, value),
            Frame::PrimJacobian(f) => return Ok(Control::Return(self.terms.prim_jacobian(f, value))),
            Frame::DualOperand(hint, param, body) => return self.dual_operand(hint, param, body, value),
            Frame::DualBody(hint, var, operand) => return self.dual_body(hint, var, value, operand),
            Frame::Form(hint, param, body) => {
                return Ok(Control::Return(self.terms.pullback(hint, param, body, value)));
            }
            Frame::JacobianFunction(direction) => (Frame::JacobianDirection(value), direction),
            Frame::JacobianDirection(function) => return self.jacobian(function, value),
            Frame::ContractLeft(right) => (Frame::ContractRight(value), right),
            Frame::ContractRight(left) => return self.contract(left, value),
            Frame::Flat => return Ok(Control::Return(self.terms.flat(value))),
            Frame::Sharp => return self.sharp(value),
            Frame::Premise(premise) => return self.conclude(*premise, value),
            Frame::Shared(id) => {
                self.shared.insert(id, value);
                return Ok(Control::Return(value));
            }
        };
        self.frames.push(frame);
        Ok(Control::Eval(next))
    }

    /// Records one step, and checks fuel and memory.
    fn step(&mut self, rule: &str, detail: Detail) -> Result<(), Stop> {
        self.counters.steps += 1;
        if self.counters.steps > self.limits.fuel {
            return Err(Stop::OutOfFuel);
        }
        if self.terms.bytes() + self.observer.bytes() > self.limits.memory {
            return Err(Stop::OutOfMemory);
        }
        let step = Step { rule: rule.to_string(), premises: self.n_premises, detail };
        self.observer.step(&mut self.terms, &step);
        Ok(())
    }

    /// One step to a term that is evaluated further.
    fn contract_to(&mut self, rule: &str, detail: Detail, term: TermId) -> Result<Control, Stop> {
        self.step(rule, detail)?;
        if self.n_premises == 0 && self.observer.needs_states() {
            let state = decompose::plug(&mut self.terms, &self.frames, term);
            self.observer.state(&mut self.terms, state);
        }
        Ok(Control::Eval(term))
    }

    /// One step, shown as before and after.
    fn rewrite(&mut self, rule: &str, before: TermId, after: TermId) -> Result<Control, Stop> {
        self.contract_to(rule, Detail::Rewrite(before, after), after)
    }

    /// The answer of a closed normal form.
    fn answer(&self, value: TermId) -> Answer {
        let types = &self.terms.types;
        let ty = self.terms.ty(value);
        let (mut leaves, mut work) = (Vec::new(), vec![(value, ty)]);
        while let Some((id, ty)) = work.pop() {
            match (types.shape(ty), self.terms.term(id)) {
                (Shape::Real, Term::Real(value)) => leaves.push(Leaf::Real(value)),
                (Shape::Real, Term::Zero) => leaves.push(Leaf::Real(0.0)),
                (Shape::Product(..), Term::Pair(left, right)) => {
                    work.extend([(right, self.terms.ty(right)), (left, self.terms.ty(left))]);
                }
                (Shape::Product(left, right), Term::Zero) => work.extend([(id, right), (id, left)]),
                (Shape::Arrow(..), _) => leaves.push(Leaf::Function),
                (Shape::Dual(of), Term::Flat(vector)) => work.push((vector, of)),
                (Shape::Dual(of), Term::Zero) if types.is_euclidean(of) => work.push((id, of)),
                (Shape::Dual(of), _) if !types.is_euclidean(of) => leaves.push(Leaf::Dual),
                (shape, term) => unreachable!("a closed normal form of shape {shape:?} is not {term:?}"),
            }
        }
        Answer { ty, leaves }
    }
}

// Note [Sharing]
//
// Rule 6 replaces the variable of one dual map by the body of another. The variable may occur many times: the
// environment tuples of rule 8 repeat it at least twice for each `let`. Terms are graphs, so this copies
// nothing; but evaluating a graph like a tree evaluates a part once per path to it, which is exponential in
// the length of a let series. So equal terms are shared ([`Terms::share`]), and the value of a term that the
// rules made is memoised. A term of the program itself is evaluated each time the machine reaches it, as in
// the rules, and traces show each evaluation.
