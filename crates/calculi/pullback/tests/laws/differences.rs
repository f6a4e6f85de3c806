//! P6, P7 (Corollary 4.8): derivatives agree with finite differences, also at function types. P11: second
//! derivatives commute.

use crate::generate::{PRIMS, Ty};
use crate::harness::{TOO_LONG, Trial, Verdict, close, law, numbers};

/// Central differences of polynomials; the step keeps truncation and rounding below the tolerance.
const STEP: f64 = 1e-4;
const TOLERANCE: f64 = 1e-3;

#[test]
fn a_jacobian_agrees_with_differences_corollary_4_8_1() {
    law(
        "Jacobian = differences",
        300,
        |generator| {
            let scope = [("a", Ty::Real), ("b", Ty::Real)];
            if generator.choices.once_in(2) {
                return generator.open_term(&scope, Ty::Plane, 4);
            }
            // Most generated terms are constant; this one varies with both variables.
            let [one, other] = [(); 2].map(|()| generator.open_term(&scope, Ty::Real, 3));
            format!("<a * (1 + {one}), b * a + {other}>")
        },
        |body| {
            let function = format!("\\<a,b>:R^2. {body}");
            let Some(rows) = numbers(&format!("{PRIMS}jacobian ({function}) at <2, 3>"))? else {
                return Ok(Verdict::Vacuous(TOO_LONG));
            };
            let at = |a: f64, b: f64| numbers(&format!("{PRIMS}({function}) <{a}, {b}>"));
            let differences = |forward: Option<Vec<f64>>, back: Option<Vec<f64>>| {
                let (forward, back) = (forward?, back?);
                Some(forward.iter().zip(&back).map(|(f, b)| (f - b) / (2.0 * STEP)).collect::<Vec<_>>())
            };
            let first = differences(at(2.0 + STEP, 3.0)?, at(2.0 - STEP, 3.0)?);
            let second = differences(at(2.0, 3.0 + STEP)?, at(2.0, 3.0 - STEP)?);
            let (Some(first), Some(second)) = (first, second) else { return Ok(Verdict::Vacuous(TOO_LONG)) };
            compare(&rows, &[first[0], second[0], first[1], second[1]])
        },
    );
}

#[test]
fn a_derivative_at_a_function_agrees_with_differences_corollary_4_8_2() {
    law(
        "functionals = differences",
        300,
        |generator| {
            let mut real = |depth| generator.open_term(&[("f", Ty::Fun)], Ty::Real, depth);
            // Most generated terms do not call f in a relevant place.
            let body = match real(3) {
                body if body.contains('f') => format!("({body} + f ({}))", real(2)),
                body => format!("(f ({}) * (1 + {body}) + f (f 2))", real(2)),
            };
            let point = generator.open_term(&[], Ty::Fun, 2);
            let direction = generator.open_term(&[], Ty::Fun, 2);
            (body, point, direction)
        },
        |(body, point, direction)| {
            let pulled = format!("{PRIMS}pull(\\f:R -> R. {body}, Ω [1]) {point} @ {direction}");
            let at = |k: f64| {
                numbers(&format!("{PRIMS}(\\f:R -> R. {body}) (\\t:R. {point} t + ({k}) * {direction} t)"))
            };
            let (Some(pulled), Some(forward), Some(back)) = (numbers(&pulled)?, at(STEP)?, at(-STEP)?) else {
                return Ok(Verdict::Vacuous(TOO_LONG));
            };
            compare(&pulled, &[(forward[0] - back[0]) / (2.0 * STEP)])
        },
    );
}

/// The derivative at a functional is a functional on functionals; the law contracts it with a functional.
#[test]
fn a_derivative_at_a_functional_agrees_with_differences_corollary_4_8_2() {
    law(
        "functionals of functionals = differences",
        300,
        |generator| {
            let scope = [("phi", Ty::CoFun)];
            let [one, other] = [(); 2].map(|()| generator.open_term(&scope, Ty::Real, 2));
            let [at, also_at] = [(); 2].map(|()| generator.open_term(&[], Ty::Fun, 2));
            let body = format!("((phi @ {at}) * (2 + {one}) + ({other}) * (phi @ {also_at}))");
            let [point, direction] = [(); 2].map(|()| generator.open_term(&[], Ty::CoFun, 2));
            (body, point, direction)
        },
        |(body, point, direction)| {
            let function = format!("(\\phi:(R -> R)^*. {body})");
            let pulled = format!("{PRIMS}pull({function}, Ω [1]) {point} @ {direction}");
            // `k · direction` is the dual of `u ↦ direction @ u` at `k`.
            let at = |k: f64| {
                let moved = format!("((λu:R -> R. {direction} @ u)^* · [{k}]^*)");
                numbers(&format!("{PRIMS}{function} ({point} + {moved})"))
            };
            let (Some(pulled), Some(forward), Some(back)) = (numbers(&pulled)?, at(STEP)?, at(-STEP)?) else {
                return Ok(Verdict::Vacuous(TOO_LONG));
            };
            compare(&pulled, &[(forward[0] - back[0]) / (2.0 * STEP)])
        },
    );
}

fn compare(exact: &[f64], differences: &[f64]) -> Trial {
    // Differences of large numbers are inaccurate.
    if exact.iter().chain(differences).any(|value| value.abs() > 1e7) {
        return Ok(Verdict::Vacuous("large numbers"));
    }
    if close(exact, differences, TOLERANCE) {
        Ok(Verdict::of(exact.iter().any(|value| *value != 0.0), "constant"))
    } else {
        Err(format!("{exact:?} is not {differences:?}"))
    }
}

#[test]
fn mixed_second_derivatives_commute_p11() {
    law(
        "Hessians are symmetric",
        300,
        |generator| {
            let body = generator.open_term(&[("a", Ty::Real), ("b", Ty::Real)], Ty::Real, 3);
            // Most generated terms have no mixed derivative.
            if generator.choices.once_in(4) { body } else { format!("(a * b * (1 + {body}))") }
        },
        |body| {
            let source = format!("{PRIMS}jacobian (\\p:R^2. grad (\\<a,b>:R^2. {body}) at p) at <2, 3>");
            match numbers(&source)?.as_deref() {
                Some([_, upper, lower, _]) if close(&[*upper], &[*lower], 1e-9) => {
                    Ok(Verdict::of(*upper != 0.0, "no mixed derivative"))
                }
                Some(hessian) => Err(format!("{hessian:?} is not symmetric")),
                None => Ok(Verdict::Vacuous(TOO_LONG)),
            }
        },
    );
}
