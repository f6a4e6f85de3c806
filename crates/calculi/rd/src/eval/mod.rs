//! The reference engine: ordinary and symbolic evaluation (section 6, Figures 2 to 5 and 8), rule by rule.
//!
//! This module decides three judgements: `φ|ρ ⊢ M ⇒ V` gives a closed value, `φ|ρ ⊢ B ⇒ b` gives a
//! truth value, and `φ|ρ ⊢ M ⇝ C` gives a *trace*: a term without conditionals, calls and derivatives, with
//! the operations of `M` as written. The first two and the third share their contexts and differ in their
//! redexes:
//!
//! * [`ordinary`]: the redexes of Figure 2.
//! * [`symbolic`]: the redexes of Figure 4.
//! * [`context`]: evaluation contexts, the layers of the machine's stack.
//! * [`traces`]: `C ⇒ V` for traces.
//! * [`environment`]: `ρ`, `φ` and closures.
//!
//! The machine *descends* into a term, pushing the layer of context that it enters, until it has a value;
//! then the innermost layer *takes* the value, and either descends into its next part or has become a redex.
//! All pending layers are on an explicit stack, so only memory bounds the depth of a recursion.
//!
//! A symbolic derivation builds its trace in a [`Block`]: the lets so far. The context rule
//!
//! ```text
//! R ⇝ C,  C ⇒ V,  φ|ρ[V/x] ⊢ E[x] ⇝ D     gives     E[R] ⇝ let x:T_V = C in D      (E not [], x fresh)
//! ```
//!
//! appends a let to the block. A redex in a trivial context (`E = []`) ends its block instead and is not
//! evaluated, so the last operation of a trace stays unevaluated.

pub mod context;
pub mod environment;
mod ordinary;
mod symbolic;
pub mod traces;

use rustc_hash::FxHashMap;

use crate::operation::{Pred, Undefined};
use crate::outcome::{Counters, Limits, Outcome, Stop, Ties};
use crate::reverse::literal::reverse_literally;
use crate::reverse::{Goal, TooLarge, reverse_trace};
use crate::syntax::{FnId, Program, Term, TermId, Terms, Test, VarId};
use crate::value::Value;
use context::Layer;
use environment::{Activation, Closures, Operand};

/// The judgement that a rule belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// `⇒`.
    Ordinary,
    /// `⇝`.
    Symbolic,
}

/// A derivative that ordinary evaluation has completed.
#[derive(Debug)]
pub struct Derivative<'a> {
    /// The terms, with the trace and its derivative in them.
    pub terms: &'a Terms,
    /// The values of the variables that are free in the trace.
    pub env: &'a FxHashMap<VarId, Value>,
    /// The variable `x` of the trace.
    pub var: VarId,
    /// The closed point `V`.
    pub point: &'a Value,
    /// The closed cotangent `W`.
    pub cotangent: &'a Value,
    /// `C`.
    pub trace: TermId,
    /// `W.R_V(x:T. C)`.
    pub reverse: TermId,
}

/// Receives the events of an evaluation.
pub trait Observer {
    /// A rule was applied; `detail` computes the text of its redex on demand.
    fn rule(&mut self, _judgement: Judgement, _name: &'static str, _detail: &mut dyn FnMut() -> String) {}
    /// Ordinary evaluation met a derivative, traced it and differentiated the trace; the value is reported
    /// next.
    fn derivative(&mut self, _derivative: &Derivative<'_>) {}
    /// The value of the last reported derivative.
    fn value(&mut self, _value: &Value) {}
    /// The maximal size of `R` as printed in the paper; `None` uses `R*`.
    fn literal_budget(&self) -> Option<usize> {
        None
    }
    /// The derivative of Figure 6 exceeds the budget and was replaced by the one of linear size.
    fn literal_is_too_large(&mut self) {}
}

/// Ignores all events.
pub struct Unobserved;
impl Observer for Unobserved {}

/// Runs a program by the reference rules.
pub fn run(
    program: &Program,
    limits: Limits,
    ties: &mut Ties,
    options: RunOptions<'_>,
) -> (Outcome, Counters) {
    let mut machine = Machine::new(program.terms.clone(), limits, std::mem::take(ties), options);
    let outcome = match machine.evaluate(program.main) {
        Ok(value) => Outcome::Value(value),
        Err(stop) => stop.into(),
    };
    *ties = machine.ties;
    machine.counters.calls = limits.fuel - machine.fuel;
    (outcome, machine.counters)
}

/// Options of a run.
pub struct RunOptions<'a> {
    pub observer: &'a mut dyn Observer,
    /// Under `use clarke`: the variable of the main derivative, and the slot for the value of its body.
    pub main: Option<(VarId, &'a mut Option<Value>)>,
}

/// The next action of the machine.
enum Control {
    /// Evaluate a term.
    Descend(TermId),
    /// Hand a value to the innermost layer.
    Value(Operand),
}

/// A continuation: what to do with the next value.
enum Frame {
    Layer(Layer<Operand>),
    /// The end of a call in ordinary evaluation: returns to the caller's activation.
    Return {
        caller: usize,
    },
}

/// The unfinished trace of a symbolic derivation.
struct Block {
    lets: Vec<(VarId, TermId)>,
    /// Frames below this index belong to the surrounding derivation.
    base: usize,
    /// The activation to restore when the block ends.
    activation: usize,
    purpose: Purpose,
}

/// What the trace of a block is for.
enum Purpose {
    /// A redex inside a context: it becomes a let of the surrounding block.
    Subterm,
    /// The body of a derivative, which will be differentiated.
    Derivative { var: VarId, point: Operand, cotangent: Operand, mark: crate::syntax::Mark },
}

pub struct Machine<'a> {
    terms: Terms,
    fuel: u64,
    limits: Limits,
    ties: Ties,
    options: RunOptions<'a>,
    frames: Vec<Frame>,
    blocks: Vec<Block>,
    activations: Vec<Activation>,
    closures: Closures,
    trace_env: FxHashMap<VarId, Value>,
    counters: Counters,
}

impl<'a> Machine<'a> {
    pub fn new(terms: Terms, limits: Limits, ties: Ties, options: RunOptions<'a>) -> Self {
        Machine {
            terms,
            fuel: limits.fuel,
            limits,
            ties,
            options,
            frames: Vec::new(),
            blocks: Vec::new(),
            activations: vec![Activation::default()],
            closures: Closures::default(),
            trace_env: FxHashMap::default(),
            counters: Counters::default(),
        }
    }

    /// `φ|ρ ⊢ M ⇒ V`, from empty environments.
    pub fn evaluate(&mut self, term: TermId) -> Result<Value, Stop> {
        let mut control = Control::Descend(term);
        loop {
            control = match control {
                Control::Descend(term) => self.descend(term),
                Control::Value(operand) => match self.blocks.last() {
                    // V ⇝ V: a value in a trivial context is its own trace.
                    Some(block) if block.base == self.frames.len() => {
                        let tail = operand.open.expect("symbolic operands have an open form");
                        self.finish_block(tail)?
                    }
                    _ => match self.frames.pop() {
                        Some(Frame::Layer(layer)) => self.take(layer, operand)?,
                        Some(Frame::Return { caller }) => {
                            self.activations.truncate(caller + 1);
                            Control::Value(operand)
                        }
                        None => return Ok(operand.closed),
                    },
                },
            };
        }
    }

    fn is_symbolic(&self) -> bool {
        !self.blocks.is_empty()
    }

    fn activation(&mut self) -> &mut Activation {
        self.activations.last_mut().expect("the program's activation is at the bottom")
    }

    fn enter(&mut self, layer: Layer<Operand>, term: TermId) -> Control {
        self.frames.push(Frame::Layer(layer));
        Control::Descend(term)
    }

    /// Enters one layer of context. Values, constant conditions and definitions need no layer.
    fn descend(&mut self, id: TermId) -> Control {
        match self.terms.term(id) {
            // V ⇒ ρ(V)
            Term::Var(var) => Control::Value(self.lookup(var, id)),
            Term::Real(value) => Control::Value(self.literal(Value::Real(value), id)),
            Term::Unit => Control::Value(self.literal(Value::Unit, id)),
            Term::Add(left, right) => self.enter(Layer::AddLeft(right), left),
            Term::Op(op, operand) => self.enter(Layer::Op(op), operand),
            Term::Let { var, bound, body } => self.enter(Layer::Let(var, body), bound),
            Term::Pair(left, right) => self.enter(Layer::PairLeft(right), left),
            Term::Fst(pair) => self.enter(Layer::Fst, pair),
            Term::Snd(pair) => self.enter(Layer::Snd, pair),
            Term::If { test: Test::Constant(known), yes, no } => self.branch(known, yes, no),
            Term::If { test: Test::Pred(pred, operand), yes, no } => {
                self.enter(Layer::IfPred(pred, yes, no), operand)
            }
            Term::Letrec { function, body } => self.define(function, body),
            Term::Call { function, argument } => self.enter(Layer::Call(function), argument),
            Term::Rd { cotangent, point, var, body } => {
                self.enter(Layer::RdPoint { cotangent, var, body }, point)
            }
        }
    }

    /// Gives the innermost layer its value: continues with its next part, or with a redex.
    fn take(&mut self, layer: Layer<Operand>, operand: Operand) -> Result<Control, Stop> {
        match layer {
            Layer::AddLeft(right) => Ok(self.enter(Layer::AddRight(operand), right)),
            Layer::PairLeft(right) => Ok(self.enter(Layer::PairRight(operand), right)),
            Layer::RdPoint { cotangent, var, body } => {
                Ok(self.enter(Layer::RdCotangent { point: operand, var, body }, cotangent))
            }
            Layer::PairRight(left) => Ok(Control::Value(self.pair(left, operand))),
            // Rb ⇒ b, E[b] ⇒ W   gives   E[Rb] ⇒ W
            Layer::IfPred(pred, yes, no) => {
                let chosen = self.decide(pred, &operand.closed)?;
                Ok(self.branch(chosen, yes, no))
            }
            Layer::Let(var, body) => Ok(self.bind(var, operand, body)),
            Layer::Call(function) => self.call(function, operand),
            Layer::RdCotangent { point, var, body } => Ok(self.differentiate(point, operand, var, body)),
            Layer::AddRight(_) | Layer::Op(_) | Layer::Fst | Layer::Snd => {
                if self.is_symbolic() {
                    self.symbolic(layer, &operand)
                } else {
                    self.ordinary(layer, &operand)
                }
            }
        }
    }

    fn lookup(&mut self, var: VarId, id: TermId) -> Operand {
        let mut operand = self.activation().rho[&var].clone();
        // A variable from outside the derivative stays in the trace; its value is recorded.
        if self.is_symbolic() && operand.open.is_none() {
            operand.open = Some(id);
            self.trace_env.entry(var).or_insert_with(|| operand.closed.clone());
        }
        operand
    }

    fn literal(&self, closed: Value, id: TermId) -> Operand {
        Operand { closed, open: self.is_symbolic().then_some(id) }
    }

    fn pair(&mut self, left: Operand, right: Operand) -> Operand {
        let open = left.open.zip(right.open).map(|(left, right)| self.terms.pair(left, right));
        Operand { closed: Value::pair(left.closed, right.closed), open }
    }

    // V ⇒ V', bev(pred,V') = b   gives   pred(V) ⇒ b
    fn decide(&mut self, pred: Pred, argument: &Value) -> Result<bool, Undefined> {
        let (x, y) = argument.two_reals();
        let chosen = self.ties.decide(pred, x, y)?;
        self.rule("Pred", &mut || format!("{} {argument} ⇒ {chosen}", pred.name()));
        Ok(chosen)
    }

    // M ⇒ V   gives   if true then M else N ⇒ V      (false: N), and the same for ⇝
    fn branch(&mut self, chosen: bool, yes: TermId, no: TermId) -> Control {
        self.rule(if chosen { "IfTrue" } else { "IfFalse" }, &mut String::new);
        self.open_block_unless_trivial();
        Control::Descend(if chosen { yes } else { no })
    }

    // φ[clo_φ(f(x:T):U.M)/f] | ρ ⊢ N ⇒ V   gives   letrec f(x:T):U = M in N ⇒ V, and the same for ⇝
    fn define(&mut self, function: FnId, body: TermId) -> Control {
        let name = self.terms.function_name(function).to_string();
        self.rule("Letrec", &mut || name.clone());
        self.open_block_unless_trivial();
        let limit = self.terms.function(function).limit;
        let phi = self.activation().phi;
        self.activation().phi = Some(self.closures.define(phi, function, limit));
        Control::Descend(body)
    }

    // V ⇒ V', φ|ρ[V'/x] ⊢ N ⇒ W   gives   let x:T = V in N ⇒ W
    // V ⇒ V', φ|ρ[V'/x] ⊢ N ⇝ C   gives   let x:T = V in N ⇝ let x:T = V in C
    fn bind(&mut self, var: VarId, operand: Operand, body: TermId) -> Control {
        let name = self.terms.names.text(self.terms.var(var).name).to_string();
        self.rule("Let", &mut || format!("{name} = {}", operand.closed));
        self.open_block_unless_trivial();
        let operand = self.name_in_trace(var, operand);
        self.activation().rho.insert(var, operand);
        Control::Descend(body)
    }

    // V ⇒ V', φ'[φ(f)/f] | {x↦V'} ⊢ M ⇒ W   gives   f(V) ⇒ W            where φ(f) = clo_φ'(f(x:T):U.M)
    // V ⇒ V', φ'[φ(f)/f] | {x↦V'} ⊢ M ⇝ C   gives   f(V) ⇝ let x:T = V in C
    fn call(&mut self, function: FnId, operand: Operand) -> Result<Control, Stop> {
        let name = self.terms.function_name(function).to_string();
        self.rule("Call", &mut || format!("{name}({})", operand.closed));
        let phi = self.activation().phi;
        let phi = self.closures.call(phi, function).map_err(|_| Undefined::LetrecLimit(name))?;
        self.spend()?;
        self.open_block_unless_trivial();
        let param = self.terms.function(function).param;
        let operand = self.name_in_trace(param, operand);
        let callee = Activation { rho: FxHashMap::from_iter([(param, operand)]), phi: Some(phi) };
        self.enter_activation(callee);
        Ok(Control::Descend(self.terms.body(function)))
    }

    /// Makes `callee` the current activation. In a trivial context the callee replaces the caller, which has
    /// nothing left to do, unless an open block restores the caller's activation when the block ends.
    fn enter_activation(&mut self, callee: Activation) {
        let current = self.activations.len() - 1;
        let needed = match self.blocks.last() {
            Some(block) => block.activation == current,
            None => {
                if let Some(Frame::Return { caller }) = self.frames.last() {
                    *caller == current
                } else {
                    self.frames.push(Frame::Return { caller: current });
                    true
                }
            }
        };
        if !needed {
            self.activations.pop();
        }
        self.activations.push(callee);
    }

    fn spend(&mut self) -> Result<(), Stop> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Stop::Diverged)?;
        self.check_memory()
    }

    fn check_memory(&mut self) -> Result<(), Stop> {
        let bytes = self.terms.bytes()
            + self.closures.bytes()
            + self.frames.capacity() * size_of::<Frame>()
            + self.trace_env.capacity() * (size_of::<VarId>() + 2 * size_of::<Value>())
            // 192: approximate size of an activation with one variable.
            + self.activations.len() * 192;
        self.counters.bytes = self.counters.bytes.max(bytes as u64);
        if bytes as u64 > self.limits.memory { Err(Stop::OutOfMemory) } else { Ok(()) }
    }

    fn rule(&mut self, name: &'static str, detail: &mut dyn FnMut() -> String) {
        let judgement = if self.blocks.is_empty() { Judgement::Ordinary } else { Judgement::Symbolic };
        self.options.observer.rule(judgement, name, detail);
    }

    /// `W.R_V(x:T. C)`, by `R*`, or by Figure 6 if the observer sets a budget and the result fits.
    fn reverse(&mut self, goal: Goal) -> Result<TermId, Stop> {
        self.check_memory()?;
        if let Some(budget) = self.options.observer.literal_budget() {
            match reverse_literally(&mut self.terms, goal, budget) {
                Ok(reversed) => return Ok(reversed),
                Err(TooLarge) => self.options.observer.literal_is_too_large(),
            }
        }
        // Differentiating and then evaluating a trace takes about twice the memory of its terms.
        let max_bytes = usize::try_from(self.limits.memory / 3).unwrap_or(usize::MAX);
        reverse_trace(&mut self.terms, goal, max_bytes).map_err(|TooLarge| Stop::OutOfMemory)
    }
}
