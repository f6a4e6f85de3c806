//! Section 3 of the paper: determinacy, interpolation, completeness of tracing, and type safety.

use eddy_rd::engine::{Engine, run};
use eddy_rd::outcome::Outcome;
use eddy_rd::reverse::Goal;
use eddy_rd::reverse::literal::reverse_literally;
use eddy_rd::syntax::{Term, TermId, Terms, VarId};
use eddy_rd::trace::{TraceOptions, trace};
use eddy_rd::types::{Shape, Type, Types};
use eddy_rd::typing::recheck;
use eddy_rd::value::Value;

use crate::alpha::subterms;
use crate::body::Body;
use crate::compare::{Tolerance, same_even_in_overflow};
use crate::harness::{LIMITS, Verdict, accepted, law};
use crate::observe::{Observed, observe};

#[test]
fn determinacy_proposition_3_4() {
    law(
        "determinacy",
        300,
        |generator| generator.program().0,
        |source| {
            let once = || -> Result<String, String> {
                let mut out = String::new();
                let report = trace(&accepted(source)?, LIMITS, TraceOptions::default(), &mut out);
                let report = report.map_err(|error| error.to_string())?;
                Ok(format!("{out}{:?}", report.counters))
            };
            let (first, second) = (once()?, once()?);
            if first == second { Ok(Verdict::Holds) } else { Err(format!("{first}\n{second}")) }
        },
    );
}

#[test]
fn interpolation_proposition_3_5() {
    // M ⇒ V  iff  M ⇝ C and C ⇒ V
    law(
        "interpolation",
        600,
        |generator| Body::sample(generator, 1),
        |body| {
            let evaluated = run(&accepted(&body.evaluation())?, Engine::Reference, LIMITS).outcome;
            let (stopped, observed) = observe(&accepted(&body.derivative())?, LIMITS);
            let traced = match observed.first() {
                Some(observed) => observed.eval(&observed.terms, observed.trace),
                None => stopped,
            };
            same_even_in_overflow(&evaluated, &traced, Tolerance::Exact)
        },
    );
}

#[test]
fn symbolic_completeness_theorem_6_7() {
    // M ⇒ V  implies  M ⇝ C for some C
    law(
        "symbolic completeness",
        400,
        |generator| Body::sample(generator, 1),
        |body| {
            let evaluated = run(&accepted(&body.evaluation())?, Engine::Reference, LIMITS).outcome;
            let Outcome::Value(_) = evaluated else { return Ok(Verdict::Vacuous("no value")) };
            let (stopped, observed) = observe(&accepted(&body.derivative())?, LIMITS);
            match observed.as_slice() {
                [_] => Ok(Verdict::Holds),
                _ => Err(format!("tracing stopped: {stopped:?}")),
            }
        },
    );
}

#[test]
fn type_safety_of_values_proposition_3_6() {
    law(
        "type safety of values",
        500,
        |generator| generator.program().0,
        |source| {
            let program = accepted(source)?;
            let ty =
                recheck(&program.terms, &[], program.main).map_err(|violation| format!("{violation:?}"))?;
            match run(&program, Engine::Reference, LIMITS).outcome {
                Outcome::Value(value) if !has_type(&program.terms.types, &value, ty) => {
                    Err(format!("{value} is not of type {}", program.terms.types.show(ty)))
                }
                Outcome::Value(_) => Ok(Verdict::Holds),
                _ => Ok(Verdict::Vacuous("no value")),
            }
        },
    );
}

#[test]
fn type_safety_of_traces_and_their_derivatives_propositions_3_6_and_3_3() {
    // Γ ⊢ C : U for traces, and Γ ⊢ W.R_V(x:T. C) : T for their derivatives.
    law(
        "type safety of traces",
        300,
        |generator| Body::sample(generator, 1),
        |body| {
            let (_, observed) = observe(&accepted(&body.derivative())?, LIMITS);
            let Some(observed) = observed.first() else { return Ok(Verdict::Vacuous("no trace")) };
            images_have_their_types(observed, &body.result.show(), &body.ty.show())?;
            Ok(Verdict::Holds)
        },
    );
}

#[test]
fn type_safety_of_open_traces_propositions_3_6_and_3_3() {
    law(
        "type safety of open traces",
        300,
        |generator| generator.program().0,
        |source| {
            let (_, observed) = observe(&accepted(source)?, LIMITS);
            for observed in &observed {
                let types = &observed.terms.types;
                let (result, ty) = (observed.terms.ty(observed.trace), observed.terms.var(observed.var).ty);
                if !has_type(types, &observed.cotangent, result) || !has_type(types, &observed.point, ty) {
                    return Err(
                        "the cotangent has the type of the trace, the point that of its variable".to_string()
                    );
                }
                images_have_their_types(observed, &types.show(result), &types.show(ty))?;
            }
            Ok(Verdict::of(!observed.is_empty(), "no trace"))
        },
    );
}

fn images_have_their_types(observed: &Observed, result: &str, ty: &str) -> Result<(), String> {
    let mut terms = observed.terms.clone();
    let free = free_variables(&terms, observed.trace);
    if let Some(var) = free.iter().find(|var| **var != observed.var && !observed.env.contains_key(*var)) {
        return Err(format!("{var:?} is free in the trace and has no value"));
    }
    let with_x: Vec<VarId> =
        free.iter().copied().filter(|var| *var != observed.var).chain([observed.var]).collect();
    let without_x = &with_x[..with_x.len() - 1];
    has_judgement(&terms, &with_x, observed.trace, result)?;
    has_judgement(&terms, without_x, observed.reverse, ty)?;
    let (point, cotangent) = (terms.value_term(&observed.point), terms.value_term(&observed.cotangent));
    // A small budget suffices: doubling at each `let` adds no new types.
    let goal = Goal { var: observed.var, point, cotangent, body: observed.trace };
    match reverse_literally(&mut terms, goal, 2000) {
        Ok(literal) => has_judgement(&terms, without_x, literal, ty),
        Err(_) => Ok(()),
    }
}

fn has_judgement(terms: &Terms, gamma: &[VarId], term: TermId, expected: &str) -> Result<(), String> {
    match recheck(terms, gamma, term) {
        Ok(ty) if terms.types.show(ty) == expected => Ok(()),
        Ok(ty) => Err(format!("expected {expected}, found {}", terms.types.show(ty))),
        Err(violation) => Err(format!("{violation:?}")),
    }
}

/// The free variables of a trace.
fn free_variables(terms: &Terms, trace: TermId) -> Vec<VarId> {
    let parts = subterms(terms, trace);
    let bound: Vec<VarId> = parts
        .iter()
        .filter_map(|id| match terms.term(*id) {
            Term::Let { var, .. } => Some(var),
            _ => None,
        })
        .collect();
    let mut free: Vec<VarId> = parts
        .iter()
        .filter_map(|id| match terms.term(*id) {
            Term::Var(var) if !bound.contains(&var) => Some(var),
            _ => None,
        })
        .collect();
    free.sort_unstable();
    free.dedup();
    free
}

fn has_type(types: &Types, value: &Value, ty: Type) -> bool {
    match (value, types.shape(ty)) {
        (Value::Real(value), Shape::Real) => value.is_finite(),
        (Value::Unit, Shape::Unit) => true,
        (Value::Pair(_), Shape::Product(left, right)) => {
            let (first, second) = value.halves();
            has_type(types, first, left) && has_type(types, second, right)
        }
        _ => false,
    }
}
