//! The second half of P8 (Lemma 5.1): if `P → P'`, the translations of both have the same normal form in the
//! differential λ-calculus.
//!
//! Normal forms are found by evaluation on variables. An application, projection or derivative of a variable
//! cannot be evaluated and is kept as data, a *neutral* term. So functions are compared as functions, under
//! their binders, and not by trying them on arguments. The rules are those of section 7: `(λx.s)T → s[T/x]`
//! is a call, `D(λx.s)·t → λx.∂s/∂x·t` is the crate's own `∂`, and `(D^k x)(a; v1 … vk)` of a variable is
//! neutral.
//!
//! A normal form is a sum of simple terms, each with its coefficient: sums are moved out of λ, pairs, heads
//! and directions, but not out of arguments, and products of numbers are multiplied out. So terms are
//! compared up to α, associativity and commutativity of `+`, and the arithmetic of polynomials. Variables are
//! named by the number of enclosing binders.

use std::collections::BTreeMap;
use std::rc::Rc;

use eddy_pullback::eval::{self, Observer};
use eddy_pullback::outcome::Outcome;
use eddy_pullback::primitive::PrimId;
use eddy_pullback::primitive::calculus::{Arithmetic, Binary, Unary};
use eddy_pullback::print::show;
use eddy_pullback::syntax::{Path, TermId, Terms};
use eddy_pullback::translate::derivative::derive;
use eddy_pullback::translate::term::{Form, LTerm, LTerms, LVar};
use eddy_pullback::translate::translation::translate;
use eddy_pullback::types::{Shape, Type, Types};

use crate::generate::{DEPTH, PRIMS, Ty};
use crate::harness::{LIMITS, TOO_LONG, Verdict, accepted, law};

/// A polynomial in variables: an index into the table of nodes.
type Number = u32;

#[derive(Clone)]
enum Node {
    Constant(f64),
    Add(Number, Number),
    Mul(Number, Number),
    Neutral(Neutral),
}

/// A variable and its uses, in order.
#[derive(Clone)]
struct Neutral {
    head: u32,
    spine: Vec<Rc<Use>>,
}

enum Use {
    First,
    Second,
    /// `D^k(…; a; v1 … vk)`; with no directions it is a call.
    Apply(Normal, Vec<Normal>),
}

/// A value in η-long form.
enum Normal {
    Number(Number),
    Pair(Box<Normal>, Box<Normal>),
    Lambda(u32, Box<Normal>),
    Zero,
}

#[derive(Clone)]
enum Value {
    Number(Number),
    Zero,
    Pair(Rc<(Value, Value)>),
    Closure(LVar, LTerm, Env),
    Neutral(Neutral, Type),
    Sum(Rc<(Value, Value)>),
}

type Env = Option<Rc<Binding>>;

struct Binding {
    var: LVar,
    value: Value,
    outer: Env,
}

#[allow(clippy::unnecessary_wraps, reason = "an environment that is not empty")]
fn bind(var: LVar, value: Value, outer: &Env) -> Env {
    Some(Rc::new(Binding { var, value, outer: outer.clone() }))
}

/// The maximal number of steps.
const MAX_STEPS: usize = 200_000;

/// A result, or the reason for giving up.
type Found<T> = Result<T, &'static str>;

struct Evaluator<'a> {
    types: &'a Types,
    terms: LTerms,
    nodes: Vec<Node>,
    n_vars: u32,
    n_steps: usize,
}

impl Arithmetic for Evaluator<'_> {
    type Number = Number;
    type Error = &'static str;

    fn constant(&mut self, value: f64) -> Number {
        self.node(Node::Constant(value))
    }

    fn unary(&mut self, op: Unary, a: Number) -> Found<Number> {
        match op {
            Unary::Neg => {
                let minus = self.constant(-1.0);
                self.binary(Binary::Mul, minus, a)
            }
            Unary::Pow(k) => {
                let one = self.constant(1.0);
                (0..k).try_fold(one, |product, _| self.binary(Binary::Mul, product, a))
            }
            _ => Err("not a polynomial"),
        }
    }

    fn binary(&mut self, op: Binary, a: Number, b: Number) -> Found<Number> {
        match op {
            Binary::Add => Ok(self.node(Node::Add(a, b))),
            Binary::Mul => Ok(self.node(Node::Mul(a, b))),
            Binary::Sub => {
                let minus = self.unary(Unary::Neg, b)?;
                Ok(self.node(Node::Add(a, minus)))
            }
            Binary::Div => Err("not a polynomial"),
        }
    }
}

impl Evaluator<'_> {
    fn node(&mut self, node: Node) -> Number {
        self.nodes.push(node);
        Number::try_from(self.nodes.len() - 1).expect("the steps are bounded")
    }

    fn eval(&mut self, term: LTerm, env: &Env) -> Found<Value> {
        self.n_steps += 1;
        if self.n_steps > MAX_STEPS {
            return Err(TOO_LONG);
        }
        match self.terms.form(term).clone() {
            Form::Var(var) => {
                let mut at = env;
                while let Some(binding) = at {
                    if binding.var == var {
                        return Ok(binding.value.clone());
                    }
                    at = &binding.outer;
                }
                Err("a variable without value")
            }
            Form::Lambda(var, body) => Ok(Value::Closure(var, body, env.clone())),
            Form::Apply(s, t) => {
                let (s, t) = (self.eval(s, env)?, self.eval(t, env)?);
                self.derivative(&s, &t, &[])
            }
            Form::Let(var, bound, body) => {
                let bound = self.eval(bound, env)?;
                self.eval(body, &bind(var, bound, env))
            }
            Form::Pair(s, t) => Ok(Value::Pair(Rc::new((self.eval(s, env)?, self.eval(t, env)?)))),
            Form::Project(path, of) => {
                let of = self.eval(of, env)?;
                project(path, of)
            }
            Form::Real(value) => Ok(Value::Number(self.constant(value))),
            Form::Prim(f, of) => {
                let of = self.eval(of, env)?;
                self.prim(f, &of)
            }
            Form::Zero => Ok(Value::Zero),
            Form::Add(s, t) => {
                let (s, t) = (self.eval(s, env)?, self.eval(t, env)?);
                self.add(s, t)
            }
            Form::Derive(s, a, directions) => {
                let (s, a) = (self.eval(s, env)?, self.eval(a, env)?);
                let directions: Vec<Value> =
                    directions.iter().map(|v| self.eval(*v, env)).collect::<Found<_>>()?;
                self.derivative(&s, &a, &directions)
            }
        }
    }

    /// `D^k(s; a; v1 … vk)`.
    fn derivative(&mut self, s: &Value, a: &Value, directions: &[Value]) -> Found<Value> {
        match s {
            Value::Zero => Ok(Value::Zero),
            Value::Sum(parts) => {
                let first = self.derivative(&parts.0, a, directions)?;
                let second = self.derivative(&parts.1, a, directions)?;
                self.add(first, second)
            }
            // D(λx.s)·t → λx.(∂s/∂x·t)
            Value::Closure(var, body, env) => {
                let mut env = bind(*var, a.clone(), env);
                let mut body = *body;
                for direction in directions {
                    let along = self.terms.fresh();
                    let Some(derived) = derive(&mut self.terms, body, *var, along) else {
                        return Ok(Value::Zero);
                    };
                    body = derived;
                    env = bind(along, direction.clone(), &env);
                }
                self.eval(body, &env)
            }
            Value::Neutral(neutral, ty) => {
                let (from, to) = arrow(self.types, *ty);
                let argument = self.quote(a, from)?;
                let directions = directions.iter().map(|v| self.quote(v, from)).collect::<Found<_>>()?;
                self.neutral(neutral, Use::Apply(argument, directions), to)
            }
            Value::Number(_) | Value::Pair(_) => Err("no function"),
        }
    }

    fn add(&mut self, s: Value, t: Value) -> Found<Value> {
        Ok(match (s, t) {
            (Value::Zero, value) | (value, Value::Zero) => value,
            (Value::Number(a), Value::Number(b)) => Value::Number(self.binary(Binary::Add, a, b)?),
            (Value::Pair(a), Value::Pair(b)) => {
                let first = self.add(a.0.clone(), b.0.clone())?;
                let second = self.add(a.1.clone(), b.1.clone())?;
                Value::Pair(Rc::new((first, second)))
            }
            (s, t) => Value::Sum(Rc::new((s, t))),
        })
    }

    fn prim(&mut self, f: PrimId, argument: &Value) -> Found<Value> {
        let mut point = Vec::new();
        self.numbers(f, argument, &mut point)?;
        let primitive = self.terms.primitives.get(f).clone();
        let results = primitive.apply(self, &point)?;
        let mut results = results.into_iter().map(Value::Number);
        let first = results.next().ok_or("a primitive without value")?;
        Ok(results.fold(first, |tuple, item| Value::Pair(Rc::new((tuple, item)))))
    }

    /// The numbers of an argument of a primitive: a left-nested tuple, or for `f'` a pair of arguments of
    /// `f`.
    fn numbers(&mut self, f: PrimId, argument: &Value, out: &mut Vec<Number>) -> Found<()> {
        let primitive = self.terms.primitives.get(f);
        let (n, of) = (primitive.n_params, primitive.derivative_of);
        let halves = |argument: &Value| -> Found<(Value, Value)> {
            let first = project(Path { lefts: 1, right: false }, argument.clone())?;
            Ok((first, project(Path { lefts: 0, right: true }, argument.clone())?))
        };
        if let Some(of) = of {
            let (point, direction) = halves(argument)?;
            self.numbers(of, &point, out)?;
            return self.numbers(of, &direction, out);
        }
        let (mut at, mut items) = (argument.clone(), Vec::new());
        for _ in 1..n {
            let (first, second) = halves(&at)?;
            items.push(second);
            at = first;
        }
        items.push(at);
        for item in items.into_iter().rev() {
            out.push(match item {
                Value::Number(number) => number,
                _ => self.constant(0.0),
            });
        }
        Ok(())
    }

    /// A variable with one more use, at its type.
    fn neutral(&mut self, neutral: &Neutral, used: Use, ty: Type) -> Found<Value> {
        let mut neutral = neutral.clone();
        neutral.spine.push(Rc::new(used));
        self.reflect(neutral, ty)
    }

    fn reflect(&mut self, neutral: Neutral, ty: Type) -> Found<Value> {
        Ok(match self.types.shape(ty) {
            Shape::Real => Value::Number(self.node(Node::Neutral(neutral))),
            Shape::Product(left, right) => {
                let first = self.neutral(&neutral, Use::First, left)?;
                let second = self.neutral(&neutral, Use::Second, right)?;
                Value::Pair(Rc::new((first, second)))
            }
            Shape::Arrow(..) | Shape::Dual(_) => Value::Neutral(neutral, ty),
        })
    }

    /// The η-long form of a value.
    fn quote(&mut self, value: &Value, ty: Type) -> Found<Normal> {
        if let Value::Zero = value {
            return Ok(Normal::Zero);
        }
        Ok(match (self.types.shape(ty), value) {
            (Shape::Real, Value::Number(number)) => Normal::Number(*number),
            (Shape::Product(left, right), Value::Pair(parts)) => {
                let first = self.quote(&parts.0, left)?;
                Normal::Pair(Box::new(first), Box::new(self.quote(&parts.1, right)?))
            }
            (Shape::Arrow(..) | Shape::Dual(_), function) => {
                let (from, to) = arrow(self.types, ty);
                self.n_vars += 1;
                let head = self.n_vars;
                let variable = self.reflect(Neutral { head, spine: Vec::new() }, from)?;
                let body = self.derivative(function, &variable, &[])?;
                Normal::Lambda(head, Box::new(self.quote(&body, to)?))
            }
            _ => return Err("a value of another type"),
        })
    }

    /// The simple terms of a normal form with their coefficients; `binders` are the enclosing variables, the
    /// outermost first.
    fn simple(&self, normal: &Normal, binders: &mut Vec<u32>) -> Found<BTreeMap<String, f64>> {
        let mut sum = BTreeMap::new();
        match normal {
            Normal::Zero => {}
            Normal::Number(number) => {
                for (factors, coefficient) in self.polynomial(*number, binders)? {
                    sum.insert(factors.join("·"), coefficient);
                }
            }
            Normal::Pair(first, second) => {
                for (name, part) in [("1", first), ("2", second)] {
                    let part = self.simple(part, binders)?;
                    sum.extend(part.into_iter().map(|(term, c)| (format!("<{name}:{term}>"), c)));
                }
            }
            Normal::Lambda(var, body) => {
                binders.push(*var);
                let body = self.simple(body, binders);
                binders.pop();
                sum.extend(body?.into_iter().map(|(term, c)| (format!("λ({term})"), c)));
            }
        }
        sum.retain(|_, coefficient| *coefficient != 0.0);
        if sum.values().any(|coefficient| coefficient.abs() > 1e15) {
            return Err("large numbers");
        }
        Ok(sum)
    }

    fn polynomial(&self, number: Number, binders: &mut Vec<u32>) -> Found<BTreeMap<Vec<String>, f64>> {
        let mut sum: BTreeMap<Vec<String>, f64> = BTreeMap::new();
        match &self.nodes[number as usize] {
            Node::Constant(value) => {
                sum.insert(Vec::new(), *value);
            }
            Node::Add(a, b) => {
                for part in [*a, *b] {
                    for (factors, coefficient) in self.polynomial(part, binders)? {
                        *sum.entry(factors).or_default() += coefficient;
                    }
                }
            }
            Node::Mul(a, b) => {
                let (left, right) = (self.polynomial(*a, binders)?, self.polynomial(*b, binders)?);
                if left.len() * right.len() > 1000 {
                    return Err(TOO_LONG);
                }
                for (a, c) in &left {
                    for (b, d) in &right {
                        let mut factors = [&a[..], &b[..]].concat();
                        factors.sort();
                        *sum.entry(factors).or_default() += c * d;
                    }
                }
            }
            Node::Neutral(neutral) => {
                for (atom, coefficient) in self.atoms(neutral, binders)? {
                    *sum.entry(vec![atom]).or_default() += coefficient;
                }
            }
        }
        sum.retain(|_, coefficient| *coefficient != 0.0);
        Ok(sum)
    }

    /// The summands of a neutral term, which is linear in each direction of its derivatives.
    fn atoms(&self, neutral: &Neutral, binders: &mut Vec<u32>) -> Found<Vec<(String, f64)>> {
        let level = binders.iter().position(|var| *var == neutral.head).ok_or("a variable without binder")?;
        let mut atoms = vec![(format!("x{level}"), 1.0)];
        for used in &neutral.spine {
            match &**used {
                Use::First => atoms.iter_mut().for_each(|(atom, _)| atom.push_str(".1")),
                Use::Second => atoms.iter_mut().for_each(|(atom, _)| atom.push_str(".2")),
                Use::Apply(argument, directions) => {
                    let argument = format!("{:?}", self.simple(argument, binders)?);
                    let mut choices: Vec<(Vec<String>, f64)> = vec![(Vec::new(), 1.0)];
                    for direction in directions {
                        let direction = self.simple(direction, binders)?;
                        choices = choices
                            .iter()
                            .flat_map(|(chosen, c)| {
                                direction.iter().map(move |(term, d)| {
                                    let mut chosen = chosen.clone();
                                    chosen.push(term.clone());
                                    chosen.sort();
                                    (chosen, c * d)
                                })
                            })
                            .collect();
                    }
                    atoms = atoms
                        .iter()
                        .flat_map(|(atom, c)| {
                            choices.iter().map({
                                let argument = &argument;
                                move |(chosen, d)| (format!("{atom}({argument};{chosen:?})"), c * d)
                            })
                        })
                        .collect();
                }
            }
        }
        Ok(atoms)
    }
}

fn project(path: Path, mut value: Value) -> Found<Value> {
    for is_right in std::iter::repeat_n(false, path.lefts as usize).chain(path.right.then_some(true)) {
        value = match value {
            Value::Zero => Value::Zero,
            Value::Pair(parts) => (if is_right { &parts.1 } else { &parts.0 }).clone(),
            _ => return Err("no pair"),
        };
    }
    Ok(value)
}

/// The argument and the result of a function; a covector is a function to `R`.
fn arrow(types: &Types, ty: Type) -> (Type, Type) {
    match types.shape(ty) {
        Shape::Dual(of) => (of, Type::REAL),
        _ => types.function(ty),
    }
}

/// The normal form of the translation of a closed term.
fn normal_form(terms: &Terms, term: TermId) -> Found<BTreeMap<String, f64>> {
    let (translated, main) = translate(terms, term);
    let mut evaluator =
        Evaluator { types: &terms.types, terms: translated, nodes: Vec::new(), n_vars: 0, n_steps: 0 };
    let value = evaluator.eval(main, &None)?;
    let normal = evaluator.quote(&value, terms.ty(term))?;
    evaluator.simple(&normal, &mut Vec::new())
}

/// The maximal number of states of a trace to check.
const MAX_STATES: usize = 25;

#[derive(Default)]
struct States {
    n_states: usize,
    before: Option<BTreeMap<String, f64>>,
    skipped: Option<&'static str>,
    problem: Option<String>,
}

impl States {
    fn check_state(&mut self, terms: &Terms, state: TermId) {
        self.n_states += 1;
        match (normal_form(terms, state), &self.before) {
            (Err(skipped @ (TOO_LONG | "large numbers")), _) => self.skipped = Some(skipped),
            (Err(problem), _) => self.problem = Some(format!("{problem}: {}", show(terms, state))),
            (Ok(form), Some(before)) if form != *before => {
                self.problem = Some(format!("{before:?} became {form:?} at {}", show(terms, state)));
            }
            (Ok(form), _) => self.before = Some(form),
        }
    }
}

impl Observer for States {
    fn needs_states(&self) -> bool {
        self.n_states < MAX_STATES && self.problem.is_none() && self.skipped.is_none()
    }

    fn state(&mut self, terms: &mut Terms, state: TermId) {
        self.check_state(terms, state);
    }
}

#[test]
fn both_sides_of_a_step_have_the_same_normal_form_lemma_5_1() {
    law(
        "steps keep normal forms",
        150,
        |generator| {
            let ty = generator.choices.among(&Ty::ALL);
            format!("{PRIMS}{}", generator.term(ty, DEPTH))
        },
        |source| {
            let program = accepted(source)?;
            let main = program.main.ok_or("a generated program has a main expression")?;
            let mut states = States::default();
            states.check_state(&program.terms, main);
            let (outcome, ..) = eval::run(&program, LIMITS, &mut states);
            match (states.problem, states.skipped, outcome) {
                (Some(problem), ..) => Err(problem),
                (None, Some(skipped), _) => Ok(Verdict::Vacuous(skipped)),
                (None, None, Outcome::Stopped(_)) => Ok(Verdict::Vacuous(TOO_LONG)),
                (None, None, _) => Ok(Verdict::Holds),
            }
        },
    );
}
