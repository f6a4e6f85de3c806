//! The evaluator of 𝓛: closures, environments and a stack of frames.
//!
//! `D^k` of a closure `(λy.b, ρ)` at `a` along `v1 … vk` is the value of `∂…∂b` where `y` is `a` and the
//! directions are the `v_i`. Zero is one value of every type, a sum of functions is a value of its own.
//! Nothing is freed until the run ends.

use rustc_hash::FxHashMap;

use super::derivative::derive;
use super::term::{Form, LTerm, LTerms, LVar};
use crate::outcome::{Answer, Counters, Leaf, Limits, Stop};
use crate::primitive::calculus::{Arithmetic, Binary, Reals};
use crate::primitive::{PrimId, Undefined};
use crate::syntax::Path;
use crate::types::{Shape, Type, Types};

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LValue {
    Real(f64),
    /// `0` of any type.
    Zero,
    Pair(u32),
    Closure(u32),
    /// A sum of functions, by its number.
    Sum(u32),
}

/// An environment: the index of its innermost binding, or `None`.
type Env = Option<u32>;

enum Frame {
    Right(Pairing, LTerm, Env),
    Left(Pairing, LValue),
    Argument(LTerm, Env),
    Function(LValue),
    Body(LVar, LTerm, Env),
    Project(Path),
    Prim(PrimId),
    /// The function, point and directions of a derivative: the known and the pending ones.
    Derive(LTerm, Env, Vec<LValue>),
    /// The other summand of a function that is applied.
    OtherCall(LValue, LValue),
    /// The other summand of a function that is differentiated.
    OtherDerivative(LValue, LValue, Vec<LValue>),
    Plus(LValue),
}

/// The variable of a direction, and the derivative along all directions so far; `None` if it is zero.
type Derivative = (LVar, Option<LTerm>);

/// The form of two operands.
#[derive(Clone, Copy)]
enum Pairing {
    Pair,
    Sum,
}

enum Control {
    Eval(LTerm, Env),
    Return(LValue),
    Apply(LValue, LValue),
    Derive(LValue, LValue, Vec<LValue>),
}

pub struct Machine {
    terms: LTerms,
    frames: Vec<Frame>,
    pairs: Vec<(LValue, LValue)>,
    sums: Vec<(LValue, LValue)>,
    closures: Vec<(LVar, LTerm, Env)>,
    bindings: Vec<(LVar, LValue, Env)>,
    /// The derivatives of bodies: for each, the variables of the directions and the term; `None` if it is
    /// zero.
    derivatives: FxHashMap<(LTerm, LVar), Vec<Derivative>>,
    limits: Limits,
    steps: u64,
}

fn number(length: usize) -> u32 {
    u32::try_from(length).expect("the memory limit ends a run before 2^32 values")
}

impl Machine {
    /// A machine with these terms.
    pub fn new(terms: LTerms, limits: Limits) -> Self {
        Machine {
            terms,
            frames: Vec::new(),
            pairs: Vec::new(),
            sums: Vec::new(),
            closures: Vec::new(),
            bindings: Vec::new(),
            derivatives: FxHashMap::default(),
            limits,
            steps: 0,
        }
    }

    pub fn counters(&self) -> Counters {
        Counters { steps: self.steps, bytes: self.bytes(), ..Counters::default() }
    }

    fn bytes(&self) -> u64 {
        let pairs = (self.pairs.capacity() + self.sums.capacity()) * size_of::<(LValue, LValue)>();
        let closures = self.closures.capacity() * size_of::<(LVar, LTerm, Env)>();
        let bindings = self.bindings.capacity() * size_of::<(LVar, LValue, Env)>();
        (pairs + closures + bindings + self.terms.bytes() + self.frames.capacity() * size_of::<Frame>())
            as u64
    }

    /// The answer of a closed term: covectors on Euclidean types are applied to a basis.
    pub fn run(&mut self, term: LTerm, ty: Type, types: &Types) -> Result<Answer, Stop> {
        let value = self.go(Control::Eval(term, None))?;
        let (mut leaves, mut work) = (Vec::new(), vec![(value, ty)]);
        while let Some((value, at)) = work.pop() {
            match types.shape(at) {
                Shape::Real => leaves.push(Leaf::Real(Self::real(value))),
                Shape::Arrow(..) => leaves.push(Leaf::Function),
                Shape::Product(left, right) => {
                    let (first, second) = self.halves(value);
                    work.extend([(second, right), (first, left)]);
                }
                Shape::Dual(of) if types.is_euclidean(of) => {
                    for leaf in 0..types.components(of) {
                        let basis = self.basis(types, of, leaf);
                        let value = self.go(Control::Apply(value, basis))?;
                        leaves.push(Leaf::Real(Self::real(value)));
                    }
                }
                Shape::Dual(_) => leaves.push(Leaf::Dual),
            }
        }
        Ok(Answer { ty, leaves })
    }

    fn basis(&mut self, types: &Types, ty: Type, leaf: u64) -> LValue {
        let (mut at, mut rest, mut around) = (ty, leaf, Vec::new());
        while let Some((left, right)) = types.factors(at) {
            let n_left = types.components(left);
            let is_left = rest < n_left;
            around.push(is_left);
            (at, rest) = if is_left { (left, rest) } else { (right, rest - n_left) };
        }
        let one = LValue::Real(1.0);
        around.into_iter().rev().fold(one, |value, is_left| {
            if is_left { self.pair(value, LValue::Zero) } else { self.pair(LValue::Zero, value) }
        })
    }

    fn go(&mut self, mut control: Control) -> Result<LValue, Stop> {
        let bottom = self.frames.len();
        loop {
            self.steps += 1;
            if self.steps > self.limits.fuel {
                return Err(Stop::OutOfFuel);
            }
            if self.steps.is_multiple_of(4096) && self.bytes() > self.limits.memory {
                return Err(Stop::OutOfMemory);
            }
            control = match control {
                Control::Eval(term, env) => self.eval(term, env),
                Control::Apply(function, argument) => self.apply(function, argument),
                Control::Derive(function, point, directions) => self.derive(function, point, directions)?,
                Control::Return(value) if self.frames.len() == bottom => return Ok(value),
                Control::Return(value) => self.resume(value)?,
            };
        }
    }

    fn eval(&mut self, term: LTerm, env: Env) -> Control {
        let (frame, next) = match self.terms.form(term) {
            Form::Var(var) => return Control::Return(self.lookup(*var, env)),
            Form::Real(value) => return Control::Return(LValue::Real(*value)),
            Form::Zero => return Control::Return(LValue::Zero),
            Form::Lambda(var, body) => {
                self.closures.push((*var, *body, env));
                return Control::Return(LValue::Closure(number(self.closures.len() - 1)));
            }
            Form::Apply(function, argument) => (Frame::Argument(*argument, env), *function),
            Form::Let(var, bound, body) => (Frame::Body(*var, *body, env), *bound),
            Form::Pair(left, right) => (Frame::Right(Pairing::Pair, *right, env), *left),
            Form::Add(left, right) => (Frame::Right(Pairing::Sum, *right, env), *left),
            Form::Project(path, of) => (Frame::Project(*path), *of),
            Form::Prim(f, of) => (Frame::Prim(*f), *of),
            Form::Derive(function, ..) => (Frame::Derive(term, env, Vec::new()), *function),
        };
        self.frames.push(frame);
        Control::Eval(next, env)
    }

    fn lookup(&self, var: LVar, mut env: Env) -> LValue {
        while let Some(at) = env {
            let (bound, value, parent) = self.bindings[at as usize];
            if bound == var {
                return value;
            }
            env = parent;
        }
        unreachable!("a closed term binds all its variables")
    }

    /// The environment with one more binding.
    #[allow(clippy::unnecessary_wraps, reason = "an environment that is not empty")]
    fn bind(&mut self, var: LVar, value: LValue, env: Env) -> Env {
        self.bindings.push((var, value, env));
        Some(number(self.bindings.len() - 1))
    }

    fn resume(&mut self, value: LValue) -> Result<Control, Stop> {
        let frame = self.frames.pop().expect("the caller found a frame");
        Ok(match frame {
            Frame::Right(pairing, right, env) => {
                self.frames.push(Frame::Left(pairing, value));
                Control::Eval(right, env)
            }
            Frame::Left(Pairing::Pair, left) => Control::Return(self.pair(left, value)),
            Frame::Left(Pairing::Sum, left) | Frame::Plus(left) => Control::Return(self.add(left, value)?),
            Frame::Argument(argument, env) => {
                self.frames.push(Frame::Function(value));
                Control::Eval(argument, env)
            }
            Frame::Function(function) => Control::Apply(function, value),
            Frame::Body(var, body, env) => Control::Eval(body, self.bind(var, value, env)),
            Frame::Project(path) => Control::Return(self.project(path, value)),
            Frame::Prim(f) => Control::Return(self.prim(f, value)?),
            Frame::Derive(term, env, mut known) => {
                known.push(value);
                let Form::Derive(_, point, directions) = self.terms.form(term) else {
                    unreachable!("this frame belongs to a derivative")
                };
                let mut parts = [*point].into_iter().chain(directions.iter().copied());
                match parts.nth(known.len() - 1) {
                    Some(next) => {
                        self.frames.push(Frame::Derive(term, env, known));
                        Control::Eval(next, env)
                    }
                    None => Control::Derive(known[0], known[1], known[2..].to_vec()),
                }
            }
            Frame::OtherCall(function, argument) => {
                self.frames.push(Frame::Plus(value));
                Control::Apply(function, argument)
            }
            Frame::OtherDerivative(function, point, directions) => {
                self.frames.push(Frame::Plus(value));
                Control::Derive(function, point, directions)
            }
        })
    }

    fn apply(&mut self, function: LValue, argument: LValue) -> Control {
        match function {
            LValue::Zero => Control::Return(LValue::Zero),
            LValue::Closure(id) => {
                let (var, body, env) = self.closures[id as usize];
                Control::Eval(body, self.bind(var, argument, env))
            }
            LValue::Sum(id) => {
                let (first, second) = self.sums[id as usize];
                self.frames.push(Frame::OtherCall(second, argument));
                Control::Apply(first, argument)
            }
            LValue::Real(_) | LValue::Pair(_) => unreachable!("{function:?} is no function"),
        }
    }

    /// `D^k(function; point; directions)`.
    fn derive(&mut self, function: LValue, point: LValue, directions: Vec<LValue>) -> Result<Control, Stop> {
        if directions.iter().any(|direction| self.is_zero(*direction)) {
            return Ok(Control::Return(LValue::Zero));
        }
        Ok(match function {
            LValue::Zero => Control::Return(LValue::Zero),
            LValue::Closure(id) => {
                let (var, body, env) = self.closures[id as usize];
                let Some((vars, term)) = self.derivative(body, var, directions.len()) else {
                    return Ok(Control::Return(LValue::Zero));
                };
                let mut env = self.bind(var, point, env);
                for (var, direction) in vars.into_iter().zip(directions) {
                    env = self.bind(var, direction, env);
                }
                Control::Eval(term, env)
            }
            LValue::Sum(id) => {
                let (first, second) = self.sums[id as usize];
                self.frames.push(Frame::OtherDerivative(second, point, directions.clone()));
                Control::Derive(first, point, directions)
            }
            LValue::Real(_) | LValue::Pair(_) => unreachable!("{function:?} is no function"),
        })
    }

    /// Whether a direction is 0, or a tuple of zeros: a derivative along it is 0 (C2), also where there is no
    /// derivative.
    fn is_zero(&self, direction: LValue) -> bool {
        let mut work = vec![direction];
        while let Some(value) = work.pop() {
            match value {
                LValue::Zero | LValue::Real(0.0) => {}
                LValue::Pair(id) => {
                    let (left, right) = self.pairs[id as usize];
                    work.extend([left, right]);
                }
                LValue::Real(_) | LValue::Closure(_) | LValue::Sum(_) => return false,
            }
        }
        true
    }

    /// The k-th derivative of a body, with the variables of its directions.
    fn derivative(&mut self, body: LTerm, var: LVar, k: usize) -> Option<(Vec<LVar>, LTerm)> {
        let mut known = self.derivatives.remove(&(body, var)).unwrap_or_default();
        while known.len() < k {
            let before = known.last().map_or(Some(body), |(_, term)| *term);
            let direction = self.terms.fresh();
            let term = before.and_then(|before| derive(&mut self.terms, before, var, direction));
            known.push((direction, term));
        }
        let found = known[k - 1].1.map(|term| (known[..k].iter().map(|(var, _)| *var).collect(), term));
        self.derivatives.insert((body, var), known);
        found
    }

    fn pair(&mut self, left: LValue, right: LValue) -> LValue {
        self.pairs.push((left, right));
        LValue::Pair(number(self.pairs.len() - 1))
    }

    fn halves(&self, value: LValue) -> (LValue, LValue) {
        match value {
            LValue::Pair(id) => self.pairs[id as usize],
            LValue::Zero => (LValue::Zero, LValue::Zero),
            other => unreachable!("{other:?} is no pair"),
        }
    }

    fn real(value: LValue) -> f64 {
        match value {
            LValue::Real(value) => value,
            LValue::Zero => 0.0,
            other => unreachable!("{other:?} is no number"),
        }
    }

    fn project(&self, path: Path, mut value: LValue) -> LValue {
        for _ in 0..path.lefts {
            value = self.halves(value).0;
        }
        if path.right { self.halves(value).1 } else { value }
    }

    /// The sum of two values of one type.
    fn add(&mut self, left: LValue, right: LValue) -> Result<LValue, Stop> {
        enum Task {
            Add(LValue, LValue),
            Join,
        }
        let (mut tasks, mut done) = (vec![Task::Add(left, right)], Vec::new());
        while let Some(task) = tasks.pop() {
            let sum = match task {
                Task::Add(LValue::Zero, value) | Task::Add(value, LValue::Zero) => value,
                Task::Add(LValue::Real(a), LValue::Real(b)) => {
                    LValue::Real(Reals.binary(Binary::Add, a, b)?)
                }
                Task::Add(LValue::Pair(a), LValue::Pair(b)) => {
                    let ((a1, a2), (b1, b2)) = (self.pairs[a as usize], self.pairs[b as usize]);
                    tasks.extend([Task::Join, Task::Add(a2, b2), Task::Add(a1, b1)]);
                    continue;
                }
                Task::Add(a, b) => {
                    self.sums.push((a, b));
                    LValue::Sum(number(self.sums.len() - 1))
                }
                Task::Join => {
                    let second = done.pop().expect("both halves are added");
                    let first = done.pop().expect("both halves are added");
                    self.pair(first, second)
                }
            };
            done.push(sum);
        }
        Ok(done.pop().expect("one sum is made"))
    }

    fn prim(&mut self, f: PrimId, argument: LValue) -> Result<LValue, Undefined> {
        let point = self.leaves(f, argument);
        let primitives = &self.terms.primitives;
        let result = match primitives.get(f).derivative_of {
            None => primitives.get(f).apply(&mut Reals, &point)?,
            // f'(⟨a,u⟩) = J(f)(a)(u); zero components of u are skipped
            Some(of) => {
                let (point, direction) = point.split_at(point.len() / 2);
                let direction: Vec<Option<f64>> =
                    direction.iter().map(|u| (*u != 0.0).then_some(*u)).collect();
                let tangent = primitives.get(of).tangent(&mut Reals, point, &direction)?;
                tangent.into_iter().map(Option::unwrap_or_default).collect()
            }
        };
        let mut tuple = LValue::Real(result[0]);
        for value in &result[1..] {
            tuple = self.pair(tuple, LValue::Real(*value));
        }
        Ok(tuple)
    }

    /// The numbers of an argument of a primitive: a left-nested tuple, or for `f'` a pair of arguments of
    /// `f`.
    fn leaves(&self, f: PrimId, argument: LValue) -> Vec<f64> {
        let (mut leaves, mut work) = (Vec::new(), vec![(f, argument)]);
        while let Some((f, argument)) = work.pop() {
            let primitive = self.terms.primitives.get(f);
            if let Some(of) = primitive.derivative_of {
                let (point, direction) = self.halves(argument);
                work.extend([(of, direction), (of, point)]);
                continue;
            }
            let mut at = argument;
            let mut reversed = Vec::with_capacity(primitive.n_params);
            for _ in 1..primitive.n_params {
                let (left, right) = self.halves(at);
                reversed.push(Self::real(right));
                at = left;
            }
            reversed.push(Self::real(at));
            leaves.extend(reversed.into_iter().rev());
        }
        leaves
    }
}
