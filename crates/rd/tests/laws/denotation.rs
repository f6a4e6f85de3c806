//! Adequacy and approximants: what programs denote, and what limited recursion makes of them.

use std::mem::discriminant;

use eddy_rd::denote::denote;
use eddy_rd::engine::{Engine, run};
use eddy_rd::outcome::{Limits, Outcome};
use eddy_rd::syntax::Program;

use crate::body::Body;
use crate::compare::{LAWS, Reports, Tolerance, overflows, same, show};
use crate::harness::{LIMITS, ROUNDING, Trial, Verdict, accepted, law};

#[test]
fn adequacy_theorems_6_2_and_6_7() {
    law("adequacy", 1000, |generator| generator.program().0, |source| adequate(&accepted(source)?));
}

#[test]
fn adequacy_of_derivatives_theorems_6_2_and_6_7() {
    law(
        "adequacy of derivatives",
        1000,
        |generator| Body::sample(generator, 1),
        |body| adequate(&accepted(&body.derivative())?),
    );
}

/// The reference engine finds what the program denotes, with as many calls.
fn adequate(program: &Program) -> Trial {
    let report = run(program, Engine::Reference, LIMITS);
    let denotation = denote(&program.terms, &[], program.main, LIMITS.fuel);
    let (calls, other_calls) = (report.counters.calls, denotation.calls);
    let is_same_path =
        calls == other_calls && discriminant(&report.outcome) == discriminant(&denotation.outcome);
    if !is_same_path && !denotation.is_exact {
        // Where `1 - tanh(x)^2` cancels, one of the two may find 0, and be undefined in a division. This is rare.
        return Ok(Verdict::Vacuous(ROUNDING));
    }
    let tolerance = if denotation.is_exact { Tolerance::Exact } else { LAWS };
    let verdict = same(&report.outcome, &denotation.outcome, tolerance, Reports::Whole)?;
    if matches!(verdict, Verdict::Holds) && calls != other_calls {
        return Err(format!("{calls} calls, not {other_calls}"));
    }
    Ok(verdict)
}

#[test]
fn approximants_lemmas_6_5_and_6_6() {
    law(
        "approximants",
        400,
        |generator| generator.program().0,
        |source| {
            let program = accepted(source)?;
            approximated(&program)
        },
    );
}

/// The approximants `M^(0), M^(1), …` are undefined up to some `n`, and from then on have the value of `M`.
fn approximated(program: &Program) -> Trial {
    // More calls than a generated program makes at a recursion depth of 20, so that more calls are divergence.
    const ENOUGH: Limits = Limits { fuel: 20_000, memory: 1 << 30 };
    let limit = run(program, Engine::Tape, ENOUGH).outcome;
    if overflows(&limit) {
        return Ok(Verdict::Vacuous("overflow"));
    }
    let mut is_reached = false;
    for n in 0..=20 {
        let mut approximant = program.clone();
        approximant.terms.approximate(n);
        let outcome = run(&approximant, Engine::Tape, ENOUGH).outcome;
        match &outcome {
            _ if is_reached => {
                same(&outcome, &limit, Tolerance::Exact, Reports::Whole)
                    .map_err(|difference| format!("approximant {n}: {difference}"))?;
            }
            Outcome::Undefined(_) => {}
            Outcome::Value(_) => {
                same(&outcome, &limit, Tolerance::Exact, Reports::Whole)
                    .map_err(|difference| format!("approximant {n}: {difference}"))?;
                is_reached = true;
            }
            _ => return Err(format!("approximant {n}: {}", show(&outcome))),
        }
    }
    Ok(Verdict::Holds)
}
