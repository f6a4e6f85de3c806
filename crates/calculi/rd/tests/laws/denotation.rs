//! Adequacy and approximants: denotations of programs, and limited recursion.

use std::mem::discriminant;

use eddy_rd::denote::denote;
use eddy_rd::engine::{Engine, run};
use eddy_rd::outcome::{Limits, Outcome};
use eddy_rd::syntax::Program;

use crate::body::Body;
use crate::compare::{LAWS, Reports, Tolerance, overflows, same, show};
use crate::generate::{Generator, Ty};
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

/// The reference engine finds the denotation of the program, with the same number of calls.
fn adequate(program: &Program) -> Trial {
    let report = run(program, Engine::Reference, LIMITS);
    let denotation = denote(&program.terms, &[], program.main, LIMITS.fuel);
    let (calls, other_calls) = (report.counters.calls, denotation.calls);
    let is_same_path =
        calls == other_calls && discriminant(&report.outcome) == discriminant(&denotation.outcome);
    if !is_same_path && !denotation.is_exact {
        // Where `1 - tanh(x)^2` cancels, one of the two may find 0, and be undefined in a division. This is
        // rare.
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
    law("approximants", 400, recursive, |source| approximated(&accepted(source)?));
}

/// A recursive function that is called, differentiated, or differentiated twice; every fifth time any
/// program.
fn recursive(generator: &mut Generator<'_>) -> String {
    const FACTORS: [&str; 5] = ["x", "0.5", "sin(x)", "tanh(x) + x", "x * x"];
    if generator.choices.once_in(5) {
        return generator.program().0;
    }
    let n = generator.choices.below(5);
    let at = generator.choices.among(&["0.5", "0.75", "0"]);
    let (base, factor) = (generator.choices.among(&FACTORS), generator.choices.among(&FACTORS));
    let added = generator.open_term(&[("x", &Ty::Real)], 2, &Ty::Real);
    let call = generator.choices.among(&["f(x - 1)", "f(x - 1) * f(x - 2)", "f(x - 2) + f(x - 1)"]);
    let define =
        format!("letrec f(x:real):real = if x < 0.3 then {base} else ({call}) * ({factor}) + ({added}) in ");
    let main = match generator.choices.below(4) {
        0 | 1 => format!("f({n} + {at})"),
        2 => format!("grad[{n} + {at}](x:real. f(x))"),
        _ => format!("grad[{n} + {at}](x:real. grad[x](y:real. f(y)))"),
    };
    define + &main
}

/// The approximants `M^(0), M^(1), …` are undefined up to some `n`, and from then on have the value of `M`.
fn approximated(program: &Program) -> Trial {
    // More calls than a generated program makes at a recursion depth of 20, so exhausting them means
    // divergence.
    const ENOUGH: Limits = Limits { fuel: 20_000, memory: 1 << 30 };
    let limit = run(program, Engine::Tape, ENOUGH).outcome;
    if overflows(&limit) {
        return Ok(Verdict::Vacuous("overflow"));
    }
    let mut reached_at = None;
    // Some programs recurse deeper; if the value is not reached yet, much larger limits are tried.
    for n in (0..=20).chain([40, 80, 160, 1000, 20_000]) {
        if n > 20 && (reached_at.is_some() || !matches!(limit, Outcome::Value(_))) {
            break;
        }
        let mut approximant = program.clone();
        approximant.terms.approximate(n);
        let outcome = run(&approximant, Engine::Tape, ENOUGH).outcome;
        match &outcome {
            Outcome::Undefined(_) if reached_at.is_none() => {}
            Outcome::Value(_) | Outcome::Undefined(_) => {
                same(&outcome, &limit, Tolerance::Exact, Reports::Whole)
                    .map_err(|difference| format!("approximant {n}: {difference}"))?;
                reached_at.get_or_insert(n);
            }
            _ => return Err(format!("approximant {n}: {}", show(&outcome))),
        }
    }
    match (&limit, reached_at) {
        (Outcome::Value(_), None) => Err(format!("no approximant reaches {}", show(&limit))),
        (Outcome::Value(_), Some(0)) => Ok(Verdict::Vacuous("no recursion")),
        (Outcome::Value(_), Some(_)) => Ok(Verdict::Holds),
        _ => Ok(Verdict::Vacuous("no value")),
    }
}
