//! Section 6 of the paper: derivatives of traces, and of the terms that they are traces of.

use eddy_rd::engine::{Engine, run};
use eddy_rd::outcome::Outcome;
use eddy_rd::reverse::literal::{DEFAULT_BUDGET, reverse_literally};
use eddy_rd::reverse::{Goal, reverse};
use eddy_rd::syntax::{Program, Term, VarId};
use eddy_rd::value::Value;

use crate::body::{Body, Parts, parts, value};
use crate::compare::{LAWS, Reports, Tolerance, same};
use crate::generate::Generator;
use crate::harness::{LIMITS, Trial, Verdict, accepted, law};
use crate::observe::{Observed, observe};

#[test]
fn reverse_is_literal_reverse() {
    // R* and R add the same numbers in the same order. Literal R doubles at each `let`, so the bodies are
    // small.
    let sample = |generator: &mut Generator<'_>| {
        generator.depth = 3;
        Body::sample(generator, 1)
    };
    law("R* = R", 400, sample, |body| match observe(&accepted(&body.derivative())?, LIMITS).1.as_slice() {
        [observed] => literal_agrees(observed),
        _ => Ok(Verdict::Vacuous("no trace")),
    });
}

fn literal_agrees(observed: &Observed) -> Trial {
    let mut terms = observed.terms.clone();
    let (point, cotangent) = (terms.value_term(&observed.point), terms.value_term(&observed.cotangent));
    let goal = Goal { var: observed.var, point, cotangent, body: observed.trace };
    let star = reverse(&mut terms, goal.var, point, cotangent, goal.body);
    let Ok(literal) = reverse_literally(&mut terms, goal, DEFAULT_BUDGET) else {
        return Ok(Verdict::Vacuous("R is too large"));
    };
    let (star, literal) = (observed.eval(&terms, star), observed.eval(&terms, literal));
    same(&star, &literal, Tolerance::Exact, Reports::Whole)
}

#[test]
fn reverse_differentiation_theorem_6_1() {
    law(
        "reverse differentiation",
        500,
        |generator| Body::sample(generator, 1),
        |body| match observe(&accepted(&body.derivative())?, LIMITS).1.as_slice() {
            [observed] => differences_agree(observed),
            _ => Ok(Verdict::Vacuous("no trace")),
        },
    );
}

/// The value of `W.R_V(x. C)` is `Jᵗ·W`, with `J` by central differences.
fn differences_agree(observed: &Observed) -> Trial {
    const TOLERANCE: Tolerance = Tolerance::Relative(1e-5);
    let Outcome::Value(value) = observed.eval(&observed.terms, observed.reverse) else {
        return Ok(Verdict::Vacuous("no value"));
    };
    for (leaf, exact) in value.leaves().into_iter().enumerate() {
        // One Richardson step removes the error of second order; a second one, from half the step, tells
        // whether the first is reliable.
        let step = 2.0_f64.powi(-13) * observed.point.leaves()[leaf].abs().max(1.0);
        let slopes: Option<Vec<f64>> =
            [1.0, 0.5, 0.25].iter().map(|part| slope(observed, leaf, step * part)).collect();
        let Some(slopes) = slopes else { return Ok(Verdict::Vacuous("undefined nearby")) };
        let richardson = |i: usize| (4.0 * slopes[i + 1] - slopes[i]) / 3.0;
        let (coarse, fine) = (richardson(0), richardson(1));
        if !TOLERANCE.accepts(coarse, fine) {
            return Ok(Verdict::Vacuous("ill-conditioned"));
        }
        if !TOLERANCE.accepts(coarse, exact) {
            return Err(format!("real {leaf} of {value} should be {coarse}"));
        }
    }
    Ok(Verdict::Holds)
}

/// `W · (C(x + h) - C(x - h)) / 2h`, with `h` added to one real of `x`.
fn slope(observed: &Observed, leaf: usize, step: f64) -> Option<f64> {
    let at = |step: f64| {
        let mut leaves = observed.point.leaves();
        leaves[leaf] += step;
        let ty = observed.terms.var(observed.var).ty;
        match observed.eval_at(&Value::from_leaves(&observed.terms.types, ty, &leaves)) {
            Outcome::Value(value) => Some(value.leaves()),
            _ => None,
        }
    };
    let (above, below) = (at(step)?, at(-step)?);
    let differences = above.iter().zip(&below).map(|(above, below)| (above - below) / (2.0 * step));
    Some(differences.zip(observed.cotangent.leaves()).map(|(slope, w)| slope * w).sum())
}

#[test]
fn neighbourhood_theorem_6_2() {
    // M ⇝ C at ρ  implies  ⟦M⟧γ = ⟦C⟧γ for all γ near ρ.
    law(
        "neighbourhood",
        200,
        |generator| Body::sample(generator, 1),
        |body| {
            let (_, observed) = observe(&accepted(&body.derivative())?, LIMITS);
            let [observed] = observed.as_slice() else { return Ok(Verdict::Vacuous("no trace")) };
            let (evaluation, outer) = (accepted(&body.evaluation())?, value(&body.outer)?);
            let mut broken = None;
            for k in 0..=40 {
                match (0..16).try_for_each(|i| agree_nearby(observed, &evaluation, &outer, (k, i))) {
                    Ok(()) => return Ok(Verdict::Holds),
                    Err(difference) => broken = Some(difference),
                }
            }
            Err(broken.expect("each neighbourhood was tried"))
        },
    );
}

/// `M` and its trace have the same value, bit for bit, at one point within `2^-k` of the point of tracing.
fn agree_nearby(
    observed: &Observed,
    evaluation: &Program,
    outer: &Value,
    (k, i): (i32, u64),
) -> Result<(), String> {
    let mut noise = Noise(i + 1);
    let parts = parts(evaluation);
    let mut terms = evaluation.terms.clone();
    let mut nearby = |value: &Value, var: VarId| {
        let leaves: Vec<f64> = value.leaves().iter().map(|x| x + noise.next() * 2.0_f64.powi(-k)).collect();
        Value::from_leaves(&evaluation.terms.types, evaluation.terms.var(var).ty, &leaves)
    };
    let (y, x) = (nearby(outer, parts.y), nearby(&observed.point, parts.x));
    // The program is `let y = … in let x = V in M`; only the values change. The trace has the same `y`.
    let (y_term, x_term) = (terms.value_term(&y), terms.value_term(&x));
    let inner = terms.bind(parts.x, x_term, parts.body);
    let main = terms.bind(parts.y, y_term, inner);
    let term = run(&Program { terms, main, clarke: false }, Engine::Reference, LIMITS).outcome;
    let trace = observed.eval_trace_at(&x, (parts.y, &y));
    let there = format!("at x = {x}, y = {y}, within 2^-{k}");
    match same(&term, &trace, Tolerance::Exact, Reports::Kind) {
        Ok(_) => Ok(()),
        Err(difference) => Err(format!("{there}: {difference}")),
    }
}

/// Numbers between -1 and 1 (xorshift).
struct Noise(u64);

impl Noise {
    #[allow(clippy::cast_precision_loss)] // 32 random bits fit
    fn next(&mut self) -> f64 {
        for _ in 0..3 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
        }
        (self.0 >> 32) as f64 / f64::from(1_u32 << 31) - 1.0
    }
}

#[test]
fn trace_then_differentiate_corollary_6_3() {
    // W.rd_V(x. M) = W.rd_V(x. C) if M ⇝ C at V.
    law(
        "trace, then differentiate",
        400,
        |generator| Body::sample(generator, 1),
        |body| {
            let program = accepted(&body.derivative())?;
            let (outcome, observed) = observe(&program, LIMITS);
            let [observed] = observed.as_slice() else { return Ok(Verdict::Vacuous("no trace")) };
            let mut terms = observed.terms.clone();
            let (point, cotangent) =
                (terms.value_term(&observed.point), terms.value_term(&observed.cotangent));
            let main = terms.push(Term::Rd { cotangent, point, var: observed.var, body: observed.trace });
            let Parts { y, outer, .. } = parts(&program);
            let main = terms.bind(y, outer, main);
            let traced = Program { terms, main, clarke: false };
            same(&outcome, &run(&traced, Engine::Reference, LIMITS).outcome, LAWS, Reports::Whole)
        },
    );
}
