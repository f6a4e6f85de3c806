//! The denotational semantics (section 8) as a second evaluator, without traces and without reverse mode.
//!
//! A program denotes a smooth partial function, and `rd` is its true derivative. The laws compare the other
//! engines with this one, so it shares neither their rules nor their derivatives: it evaluates terms
//! directly, and differentiates *forwards*, by dual numbers `p + t·ε`, with its own slopes for each
//! operation.
//!
//! ```text
//! 1.rd[3](x. x * x)      x = 3 + 1·ε      x * x = 9 + 6·ε      the answer is 1 * 6
//! ```
//!
//! Derivatives nest, so the parts of a dual number may be dual numbers, and each derivative has its own `ε`:
//! a *tag*, larger than all before. An operation works at the largest tag among its arguments; arguments
//! without that tag are constants. Without the comparison of tags, the derivative of `x * 1.rd[1](y. x + y)`
//! at 1, which is 1, would be 2: the perturbation of `x` would be confused with that of `y`.
//!
//! The Jacobian of a body is computed one column at a time, so the body runs once per real of the point. Each
//! call is counted once nevertheless, and evaluation follows the order of the reference engine. Outcomes are
//! therefore identical, except for overflow: this evaluator may compute a slope that overflows and that no
//! other engine computes, and vice versa.
//!
//! Decision: this evaluator recurses natively, which keeps it close to the equations. The laws run it on a
//! thread with a large stack; `eddy compare` is the only command that uses it, and only for programs with
//! little nesting.

mod number;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::operation::{Op, Primitive, Scalar, Undefined};
use crate::outcome::{Outcome, Stop};
use crate::syntax::{FnId, Term, TermId, Terms, Test, VarId};
use crate::value::Value;
use number::{Arithmetic, Number};

/// The denotation of a term.
#[derive(Clone, Debug)]
pub struct Denotation {
    pub outcome: Outcome,
    /// The number of calls, each counted once.
    pub calls: u64,
    /// Whether every intermediate number was a binary fraction with few digits. Then nothing was rounded, and
    /// an engine that adds and multiplies in another order gets the same numbers, bit for bit.
    pub is_exact: bool,
}

/// `⟦M⟧γ` with no functions in scope: the denotation of a term for these values of its free variables.
pub fn denote(terms: &Terms, gamma: &[(VarId, Value)], term: TermId, fuel: u64) -> Denotation {
    let mut evaluator = Evaluator::new(terms, fuel);
    let mut gamma = gamma.iter().map(|(var, value)| (*var, Point::of(value))).collect();
    let outcome = evaluator.eval(term, &mut gamma, &Phi::default());
    evaluator.finish(outcome.map(|point| point.floats()), fuel)
}

/// `J·v`, with `J` the Jacobian at `point` of `x ↦ ⟦N⟧γ[x]`: forward mode, by one run with dual numbers.
pub fn push_forward(
    terms: &Terms,
    gamma: &[(VarId, Value)],
    var: VarId,
    (point, tangent): (&Value, &Value),
    body: TermId,
    fuel: u64,
) -> Denotation {
    let mut evaluator = Evaluator::new(terms, fuel);
    let tag = evaluator.fresh_tag();
    let mut tangents = tangent.leaves().into_iter();
    let seeded = Point::of(point).map_leaves(&mut |leaf| {
        let tangent = tangents.next().expect("the tangent has the type of the point");
        Number::dual(tag, leaf.clone(), Number::Float(tangent))
    });
    let mut gamma: Gamma = gamma.iter().map(|(var, value)| (*var, Point::of(value))).collect();
    gamma.insert(var, seeded);
    let outcome = evaluator.eval(body, &mut gamma, &Phi::default());
    let slope_of = |leaf: &Number| leaf.parts(tag).1.unwrap_or(Number::Float(0.0));
    let tangent = outcome.map(|point| point.map_leaves(&mut |leaf| slope_of(leaf)).floats());
    evaluator.finish(tangent, fuel)
}

/// An element of `⟦T⟧`.
#[derive(Clone, Debug)]
enum Point {
    Real(Number),
    Unit,
    Pair(Rc<(Point, Point)>),
}

impl Point {
    fn of(value: &Value) -> Point {
        match value {
            Value::Real(value) => Point::Real(Number::Float(*value)),
            Value::Unit => Point::Unit,
            Value::Pair(_) => {
                let (first, second) = value.halves();
                Point::pair(Point::of(first), Point::of(second))
            }
        }
    }

    fn floats(&self) -> Value {
        match self {
            Point::Real(number) => Value::Real(number.float()),
            Point::Unit => Value::Unit,
            Point::Pair(pair) => Value::pair(pair.0.floats(), pair.1.floats()),
        }
    }

    fn pair(first: Point, second: Point) -> Point {
        Point::Pair(Rc::new((first, second)))
    }

    fn number(&self) -> &Number {
        match self {
            Point::Real(number) => number,
            _ => unreachable!("a checked program has a real here"),
        }
    }

    fn halves(&self) -> (&Point, &Point) {
        match self {
            Point::Pair(pair) => (&pair.0, &pair.1),
            _ => unreachable!("a checked program has a pair here"),
        }
    }

    /// The numbers of the point, from left to right.
    fn leaves(&self) -> Vec<Number> {
        let mut leaves = Vec::new();
        self.map_leaves(&mut |leaf| {
            leaves.push(leaf.clone());
            leaf.clone()
        });
        leaves
    }

    /// The point with each number replaced, from left to right.
    fn map_leaves(&self, replace: &mut dyn FnMut(&Number) -> Number) -> Point {
        match self {
            Point::Real(number) => Point::Real(replace(number)),
            Point::Unit => Point::Unit,
            Point::Pair(pair) => {
                let first = pair.0.map_leaves(replace);
                Point::pair(first, pair.1.map_leaves(replace))
            }
        }
    }
}

type Gamma = FxHashMap<VarId, Point>;

/// `φ`: the denotations of the functions in scope, the innermost first. A function is `μα. λa.
/// ⟦M⟧(φ'[α/f]){x↦a}`, with `φ'` the rest of the chain, or for `letrec_n` the n-th iterate from ⊥.
#[derive(Clone, Debug, Default)]
struct Phi(Option<Rc<Link>>);

#[derive(Debug)]
struct Link {
    function: FnId,
    iterate: Option<u32>,
    rest: Phi,
}

impl Phi {
    fn with(&self, function: FnId, iterate: Option<u32>) -> Phi {
        Phi(Some(Rc::new(Link { function, iterate, rest: self.clone() })))
    }

    /// The denotation of `f`, with the rest of the chain.
    fn find(&self, function: FnId) -> &Link {
        let mut phi = self;
        loop {
            let link = phi.0.as_ref().expect("a checked program calls functions in scope");
            if link.function == function {
                return link;
            }
            phi = &link.rest;
        }
    }
}

struct Evaluator<'a> {
    terms: &'a Terms,
    fuel: u64,
    last_tag: u64,
    arithmetic: Arithmetic,
}

impl<'a> Evaluator<'a> {
    fn new(terms: &'a Terms, fuel: u64) -> Self {
        Evaluator { terms, fuel, last_tag: 0, arithmetic: Arithmetic { is_exact: true } }
    }

    fn finish(self, outcome: Result<Value, Stop>, fuel: u64) -> Denotation {
        let outcome = outcome.map_or_else(Outcome::from, Outcome::Value);
        Denotation { outcome, calls: fuel - self.fuel, is_exact: self.arithmetic.is_exact }
    }

    fn fresh_tag(&mut self) -> u64 {
        self.last_tag += 1;
        self.last_tag
    }

    /// `⟦M⟧φγ`. Binders are unique, so only the next run of the same body overwrites entries of `γ`.
    fn eval(&mut self, term: TermId, gamma: &mut Gamma, phi: &Phi) -> Result<Point, Stop> {
        Ok(match self.terms.term(term) {
            // ⟦x⟧ = γ(x)   ⟦r⟧ = r
            Term::Var(var) => gamma[&var].clone(),
            Term::Real(value) => Point::Real(Number::Float(value)),
            Term::Unit => Point::Unit,
            Term::Add(left, right) => {
                let left = self.eval(left, gamma, phi)?;
                let right = self.eval(right, gamma, phi)?;
                Point::Real(self.arithmetic.binary(Scalar::Add, left.number(), right.number())?)
            }
            Term::Op(op, operand) => {
                let argument = self.eval(operand, gamma, phi)?;
                match op {
                    Op::Primal(primitive) => self.apply(primitive, &argument)?,
                    Op::Reverse(primitive) => self.apply_reverse(primitive, &argument)?,
                }
            }
            Term::Pair(left, right) => {
                let left = self.eval(left, gamma, phi)?;
                Point::pair(left, self.eval(right, gamma, phi)?)
            }
            Term::Fst(pair) => self.eval(pair, gamma, phi)?.halves().0.clone(),
            Term::Snd(pair) => self.eval(pair, gamma, phi)?.halves().1.clone(),
            // ⟦let x=M in N⟧γ = ⟦N⟧(γ[⟦M⟧γ/x])
            Term::Let { var, bound, body } => {
                let bound = self.eval(bound, gamma, phi)?;
                gamma.insert(var, bound);
                self.eval(body, gamma, phi)?
            }
            // ⟦if B …⟧ = the branch chosen by ⟦B⟧, undefined if ⟦B⟧ is
            Term::If { test, yes, no } => {
                let chosen = self.decide(test, gamma, phi)?;
                self.eval(if chosen { yes } else { no }, gamma, phi)?
            }
            // ⟦letrec f(x)=M in N⟧φ = ⟦N⟧(φ[μα. λa. ⟦M⟧(φ[α/f]){x↦a} / f])
            Term::Letrec { function, body } => {
                let phi = phi.with(function, self.terms.function(function).limit);
                self.eval(body, gamma, &phi)?
            }
            // ⟦f(M)⟧φ = φ(f)(⟦M⟧φ)
            Term::Call { function, argument } => {
                let argument = self.eval(argument, gamma, phi)?;
                self.call(function, argument, phi)?
            }
            Term::Rd { cotangent, point, var, body } => {
                let point = self.eval(point, gamma, phi)?;
                let cotangent = self.eval(cotangent, gamma, phi)?;
                self.transposed_jacobian(&point, &cotangent, |evaluator, a| {
                    gamma.insert(var, a);
                    evaluator.eval(body, gamma, phi)
                })?
            }
        })
    }

    fn decide(&mut self, test: Test, gamma: &mut Gamma, phi: &Phi) -> Result<bool, Stop> {
        let (pred, operand) = match test {
            Test::Constant(known) => return Ok(known),
            Test::Pred(pred, operand) => (pred, operand),
        };
        let argument = self.eval(operand, gamma, phi)?;
        let (x, y) = argument.halves();
        Ok(pred.eval(x.number().float(), y.number().float())?)
    }

    fn call(&mut self, function: FnId, argument: Point, phi: &Phi) -> Result<Point, Stop> {
        let link = phi.find(function);
        let iterate = match link.iterate {
            None => None,
            Some(0) => {
                let name = self.terms.function_name(function).to_string();
                return Err(Undefined::LetrecLimit(name).into());
            }
            Some(n) => Some(n - 1),
        };
        self.fuel = self.fuel.checked_sub(1).ok_or(Stop::Diverged)?;
        let phi = link.rest.with(function, iterate);
        let mut gamma = Gamma::from_iter([(self.terms.function(function).param, argument)]);
        self.eval(self.terms.body(function), &mut gamma, &phi)
    }

    /// `⟦M.rd_L(x:T.N)⟧φγ = Jᵗ·⟦M⟧φγ`, with `J` the Jacobian at `⟦L⟧φγ` of `a ↦ ⟦N⟧φ(γ[a/x])`. The
    /// body runs once per real of the point, with the tangent `1·ε` on this real, and each run gives one row
    /// of `Jᵗ`.
    ///
    /// For a point without reals the body still runs once, because it may be undefined.
    fn transposed_jacobian(
        &mut self,
        point: &Point,
        cotangent: &Point,
        mut body: impl FnMut(&mut Self, Point) -> Result<Point, Stop>,
    ) -> Result<Point, Stop> {
        let cotangents = cotangent.leaves();
        let n_leaves = point.leaves().len();
        let fuel = self.fuel;
        let mut rows = Vec::new();
        for row in 0..n_leaves.max(1) {
            // The runs make the same calls, which are counted once.
            self.fuel = fuel;
            let tag = self.fresh_tag();
            let mut leaf = 0;
            let seeded = point.map_leaves(&mut |number| {
                leaf += 1;
                if leaf == row + 1 {
                    Number::dual(tag, number.clone(), Number::Float(1.0))
                } else {
                    number.clone()
                }
            });
            let outputs = body(self, seeded)?.leaves();
            let mut sum = None;
            for (output, w) in outputs.iter().zip(&cotangents) {
                let Some(slope) = output.parts(tag).1 else { continue };
                let product = self.arithmetic.binary(Scalar::Mul, w, &slope)?;
                sum = Some(self.arithmetic.add(sum, Some(product))?.expect("the second summand is present"));
            }
            rows.push(sum.unwrap_or(Number::Float(0.0)));
        }
        let mut rows = rows.into_iter();
        Ok(point.map_leaves(&mut |_| rows.next().expect("one row per real")))
    }

    /// `⟦op⟧`, at numbers of every tag.
    fn apply(&mut self, primitive: Primitive, argument: &Point) -> Result<Point, Undefined> {
        Ok(match primitive {
            Primitive::Scalar(op) if op.is_binary() => {
                let (x, y) = argument.halves();
                Point::Real(self.arithmetic.binary(op, x.number(), y.number())?)
            }
            Primitive::Scalar(op) => Point::Real(self.arithmetic.unary(op, argument.number())?),
            Primitive::Dot(_) => {
                let (a, b) = argument.halves();
                let mut sum = None;
                for (x, y) in a.leaves().iter().zip(&b.leaves()) {
                    let product = self.arithmetic.binary(Scalar::Mul, x, y)?;
                    sum = self.arithmetic.add(sum, Some(product))?;
                }
                Point::Real(sum.unwrap_or(Number::Float(0.0)))
            }
            Primitive::Scale(_) => {
                let (factor, vector) = argument.halves();
                let scaled: Result<Vec<Number>, Undefined> = vector
                    .leaves()
                    .iter()
                    .map(|x| self.arithmetic.binary(Scalar::Mul, factor.number(), x))
                    .collect();
                let mut scaled = scaled?.into_iter();
                vector.map_leaves(&mut |_| scaled.next().expect("one product per real"))
            }
        })
    }

    /// `⟦op_r⟧⟨x,w⟩` is the reverse derivative of `⟦op⟧` at `x` applied to `w`.
    fn apply_reverse(&mut self, primitive: Primitive, argument: &Point) -> Result<Point, Stop> {
        let (point, cotangent) = argument.halves();
        self.transposed_jacobian(point, cotangent, |evaluator, a| Ok(evaluator.apply(primitive, &a)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eddy_syntax::SourceFile;

    fn check(source: &str, expected: &str) {
        let program =
            crate::typing::check(&SourceFile::new("test.rd", source)).expect("the program is accepted");
        let denotation = denote(&program.terms, &[], program.main, 1000);
        let found = match denotation.outcome {
            Outcome::Value(value) => value.to_string(),
            Outcome::Undefined(undefined) => format!("undefined: {undefined}"),
            other => format!("{other:?}"),
        };
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn the_perturbations_of_two_derivatives_are_kept_apart() {
        check("1.rd[1](x:real. x * 1.rd[1](y:real. x + y))", "1");
        check("1.rd[2](x:real. x * 1.rd[3](y:real. x * y))", "4");
        check(
            "(grad[0](a. grad[a](b. grad[b](c. exp(c)))), grad[1](a. grad[a](b. grad[b](c. log(c)))))",
            "(1, 2)",
        );
    }

    #[test]
    fn each_real_of_the_point_has_its_row() {
        check("1.rd[(1, 2)](p. fst(p) ^ snd(p))", "(2, 0)");
        check("(2, 3).rd[(5, 7)](p. (fst(p) * snd(p), fst(p)))", "(17, 10)");
        check("().rd[(1, 2)](p:real*real. let _q = log(fst(p)) in ())", "(0, 0)");
    }

    #[test]
    fn reverse_operations_are_derivatives() {
        check("(dot((1, 2), (3, 4)), 2.dot_r((1, 2), (3, 4)))", "(11, ((6, 8), (2, 4)))");
        check("((2).mul_r(3, 4), 1.powi_r[3](2))", "((8, 6), 12)");
        check("1.log_r(-1)", "undefined: log at -1");
    }

    #[test]
    fn a_body_is_defined_where_it_runs_even_if_the_point_has_no_reals() {
        check("().rd[()](u. if 1 < 1 then () else u)", "undefined: lt at (1, 1)");
        check("().rd[()](u. u)", "()");
    }

    #[test]
    fn recursion_is_a_fixed_point_and_limited_recursion_an_iterate() {
        let fact = "(n:real):real = if n < 0.5 then 1 else n * fact(n - 1) in (fact(5), grad[5](fact))";
        check(&format!("letrec fact{fact}"), "(120, 274)");
        check(&format!("letrec[6] fact{fact}"), "(120, 274)");
        check(&format!("letrec[5] fact{fact}"), "undefined: letrec limit in fact");
        check("letrec f(x:real):real = f(x + 1) in f(0)", "Diverged");
    }

    #[test]
    fn calls_are_counted_once_however_often_the_body_runs() {
        let source =
            "letrec f(x:real):real = if x < 0.5 then x else f(x - 1) in grad[(3, 3)](p. f(fst(p)) + snd(p))";
        let program =
            crate::typing::check(&SourceFile::new("test.rd", source)).expect("the program is accepted");
        assert_eq!(denote(&program.terms, &[], program.main, 1000).calls, 4);
    }
}
