//! P8, P10: the engines are observationally equal. P12: the cost of a gradient.

use eddy_pullback::engine::{Engine, run};
use eddy_pullback::outcome::Limits;

use crate::generate::{PRIMS, Ty};
use crate::harness::{TOO_LONG, Trial, Verdict, accepted, answer, law, same};

#[test]
fn fast_is_reference_is_translation_p10_and_lemma_5_1() {
    law("fast = reference = translation", 600, |generator| generator.program().0, |source| agree(source));
}

#[test]
fn derivatives_of_all_programs_agree_p10() {
    law(
        "engines on derivatives",
        300,
        |generator| {
            let body = generator.open_term(&[("a", Ty::Real), ("f", Ty::Fun)], Ty::Real, 4);
            let direction = generator.open_term(&[], Ty::Fun, 2);
            let point = generator.open_term(&[], Ty::Fun, 2);
            format!(
                "{PRIMS}let phi = ((Ω λp:R * (R -> R). let a = fst p in let f = snd p in {body}) · Ω [1]) <2, {point}> in \
                 <phi @ <1, zero>, phi @ <0, {direction}>>"
            )
        },
        |source| agree(source),
    );
}

fn agree(source: &str) -> Trial {
    let program = accepted(source)?;
    let Some(reference) = answer(&program, Engine::Reference)? else {
        return Ok(Verdict::Vacuous(TOO_LONG));
    };
    for engine in [Engine::Fast, Engine::Translation] {
        let Some(other) = answer(&program, engine)? else { return Ok(Verdict::Vacuous(TOO_LONG)) };
        same(&reference, &other).map_err(|difference| format!("{}: {difference}", engine.name()))?;
    }
    Ok(Verdict::Holds)
}

/// `total_ops ≤ 6·primal_ops + 10·n` for a gradient in n variables.
#[test]
fn a_gradient_costs_at_most_six_times_its_function_p12() {
    law(
        "cost of a gradient",
        300,
        |generator| generator.open_term(&[("a", Ty::Real), ("b", Ty::Real)], Ty::Real, 4),
        |body| {
            let program = accepted(&format!("{PRIMS}grad (\\<a,b>:R^2. {body}) at <2, 3>"))?;
            let counters = run(&program, Engine::Fast, Limits::default()).counters;
            match counters.total_ops <= 6 * counters.primal_ops + 20 {
                true => Ok(Verdict::Holds),
                false
                    if body.contains('Ω')
                        || body.contains("grad")
                        || body.contains('J')
                        || body.contains('@') =>
                {
                    Ok(Verdict::Vacuous("a derivative inside"))
                }
                false => Err(format!("{} operations for {}", counters.total_ops, counters.primal_ops)),
            }
        },
    );
}
