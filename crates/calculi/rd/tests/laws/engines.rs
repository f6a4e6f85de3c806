//! The engines are observationally equal (sections 12.1 and 13).

use eddy_rd::denote::denote;
use eddy_rd::engine::{Engine, Report, run};
use eddy_rd::outcome::{Limits, Outcome};
use eddy_rd::syntax::Program;
use eddy_rd::transform::not_transformable;

use crate::body::Body;
use crate::compare::{ENGINES, Reports, Tolerance, same, show};
use crate::generate::Generator;
use crate::harness::{LIMITS, Trial, Verdict, accepted, law};

#[test]
fn tape_is_reference_12_1() {
    law(
        "tape = reference",
        1000,
        |generator| generator.program().0,
        |source| agrees(&accepted(source)?, Engine::Tape),
    );
}

#[test]
fn tape_is_reference_on_derivatives_12_1() {
    law(
        "tape = reference on derivatives",
        1000,
        |generator| Body::sample(generator, 1),
        |body| agrees(&accepted(&body.derivative())?, Engine::Tape),
    );
}

#[test]
fn tape_is_reference_at_kinks_14() {
    law("tape = reference at kinks", 500, sample_clarke, |source| agrees(&accepted(source)?, Engine::Tape));
}

#[test]
fn transform_is_reference_13() {
    law(
        "transform = reference",
        1000,
        |generator| generator.program().0,
        |source| agrees(&accepted(source)?, Engine::Transform),
    );
}

#[test]
fn transform_is_reference_on_derivatives_13() {
    law(
        "transform = reference on derivatives",
        1000,
        |generator| Body::sample(generator, 1),
        |body| agrees(&accepted(&body.derivative())?, Engine::Transform),
    );
}

/// A derivative under `use clarke`.
fn sample_clarke(generator: &mut Generator<'_>) -> String {
    generator.clarke = true;
    let body = Body::sample(generator, 1);
    format!("use clarke {}", body.derivative())
}

/// An engine and the reference have the same outcome, the same report, and the same number of calls, so they
/// also run out of fuel together.
fn agrees(program: &Program, engine: Engine) -> Trial {
    if engine == Engine::Transform && not_transformable(program).is_some() {
        return Ok(Verdict::Vacuous("cannot be transformed"));
    }
    let (reference, other) = (run(program, Engine::Reference, LIMITS), run(program, engine, LIMITS));
    // If nothing is rounded, all engines have the same numbers in any order of summation.
    let is_exact = !program.clarke && denote(&program.terms, &[], program.main, LIMITS.fuel).is_exact;
    let tolerance = if is_exact { Tolerance::Exact } else { ENGINES };
    let verdict = same(&reference.outcome, &other.outcome, tolerance, Reports::Whole)?;
    if let Verdict::Holds = verdict {
        same_fuel(program, engine, &reference, &other)?;
    }
    Ok(verdict)
}

fn same_fuel(program: &Program, engine: Engine, reference: &Report, other: &Report) -> Result<(), String> {
    let calls = reference.counters.calls;
    if calls != other.counters.calls {
        return Err(format!("{calls} calls are not {} calls", other.counters.calls));
    }
    if program.clarke {
        return Ok(()); // each combination of choices at ties has its own fuel
    }
    for engine in [Engine::Reference, engine] {
        let just_enough = run(program, engine, Limits { fuel: calls, ..LIMITS });
        same(&reference.outcome, &just_enough.outcome, ENGINES, Reports::Whole)
            .map_err(|difference| format!("{} with just enough fuel: {difference}", engine.name()))?;
    }
    if calls == 0 {
        return Ok(());
    }
    let limits = Limits { fuel: calls - 1, ..LIMITS };
    for engine in [Engine::Reference, engine] {
        let outcome = run(program, engine, limits).outcome;
        if !matches!(outcome, Outcome::Diverged) {
            let name = engine.name();
            return Err(format!("{name} needs {calls} calls and with one less says {}", show(&outcome)));
        }
    }
    Ok(())
}
