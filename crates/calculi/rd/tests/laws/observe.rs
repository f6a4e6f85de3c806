//! The traces and derivatives that a run of the reference engine makes.

use eddy_rd::engine::{Engine, run_observed};
use eddy_rd::eval::traces::eval_trace;
use eddy_rd::eval::{Derivative, Observer};
use eddy_rd::outcome::{Limits, Outcome};
use eddy_rd::syntax::{Program, TermId, Terms, VarId};
use eddy_rd::value::Value;
use rustc_hash::FxHashMap;

/// A derivative `W.rd_V(x. N)` that ordinary evaluation met: its trace `C` and `W.R_V(x. C)`.
#[derive(Debug)]
pub struct Observed {
    pub terms: Terms,
    /// The values of the variables that are free in the trace, among others.
    pub env: FxHashMap<VarId, Value>,
    pub var: VarId,
    pub point: Value,
    pub cotangent: Value,
    pub trace: TermId,
    pub reverse: TermId,
}

impl Observed {
    /// `C ⇒ V` where `x` has this value.
    pub fn eval_at(&self, point: &Value) -> Outcome {
        self.eval_trace_at(point, (self.var, point))
    }

    /// `C ⇒ V` where `x` and another variable have these values.
    pub fn eval_trace_at(&self, point: &Value, (other, value): (VarId, &Value)) -> Outcome {
        let mut env = self.env.clone();
        env.insert(self.var, point.clone());
        env.insert(other, value.clone());
        eval(&self.terms, env, self.trace)
    }

    /// The value of another trace, in the environment of this one.
    pub fn eval(&self, terms: &Terms, trace: TermId) -> Outcome {
        eval(terms, self.env.clone(), trace)
    }
}

fn eval(terms: &Terms, mut env: FxHashMap<VarId, Value>, trace: TermId) -> Outcome {
    eval_trace(terms, &mut env, trace).map_or_else(Outcome::Undefined, Outcome::Value)
}

/// Runs a program by the reference engine, and collects the derivatives that ordinary evaluation meets.
pub fn observe(program: &Program, limits: Limits) -> (Outcome, Vec<Observed>) {
    let mut collector = Collector(Vec::new());
    let report = run_observed(program, Engine::Reference, limits, &mut collector);
    (report.outcome, collector.0)
}

struct Collector(Vec<Observed>);

impl Observer for Collector {
    fn derivative(&mut self, derivative: &Derivative<'_>) {
        self.0.push(Observed {
            terms: derivative.terms.clone(),
            env: derivative.env.clone(),
            var: derivative.var,
            point: derivative.point.clone(),
            cotangent: derivative.cotangent.clone(),
            trace: derivative.trace,
            reverse: derivative.reverse,
        });
    }
}
