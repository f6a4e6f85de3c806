//! P2 (Lemma 4.4): what is linear by its form is additive and homogeneous.

use crate::generate::{PRIMS, Ty};
use crate::harness::{TOO_LONG, Verdict, close, law, numbers};

#[test]
fn linear_terms_are_additive_lemma_4_4() {
    law(
        "linear terms are additive",
        300,
        |generator| {
            let of = generator.choices.among(&[Ty::Real, Ty::Plane]);
            let (v, body) = generator.linear(of, Ty::Plane, 3);
            let (a, b) = (generator.open_term(&[], of, 1), generator.open_term(&[], of, 1));
            (of.text(), v, body, a, b)
        },
        |(of, v, body, a, b)| {
            // A dual map is accepted only if its function is linear.
            numbers(&format!("{PRIMS}(λ{v}:{of}. {body})^* · [1, 2]^*"))?;
            let at = |argument: String| numbers(&format!("{PRIMS}(λ{v}:{of}. {body}) ({argument})"));
            let (sum, first, second) = (at(format!("{a} + {b}"))?, at(a.clone())?, at(b.clone())?);
            let triple = at(format!("{a} + {a} + {a}"))?;
            let (Some(sum), Some(first), Some(second), Some(triple)) = (sum, first, second, triple) else {
                return Ok(Verdict::Skipped(TOO_LONG));
            };
            let added: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a + b).collect();
            let scaled: Vec<f64> = first.iter().map(|a| 3.0 * a).collect();
            if close(&sum, &added, 1e-9) && close(&triple, &scaled, 1e-9) {
                Ok(Verdict::Holds)
            } else {
                Err(format!("{sum:?} is not {added:?}, or {triple:?} not {scaled:?}"))
            }
        },
    );
}

#[test]
fn covectors_are_additive_lemma_4_4() {
    law(
        "covectors are additive",
        300,
        |generator| {
            let of = generator.choices.among(&[Ty::Real, Ty::Plane, Ty::Fun]);
            let dual = if of == Ty::Real {
                Ty::CoReal
            } else if of == Ty::Plane {
                Ty::CoPlane
            } else {
                Ty::CoFun
            };
            let covector = generator.open_term(&[], dual, 3);
            (covector, generator.open_term(&[], of, 2), generator.open_term(&[], of, 2))
        },
        |(covector, a, b)| {
            let source = format!("{PRIMS}let phi = {covector} in <phi @ ({a} + {b}), phi @ {a}, phi @ {b}>");
            match numbers(&source)?.as_deref() {
                Some([sum, first, second]) if close(&[*sum], &[first + second], 1e-9) => Ok(Verdict::Holds),
                Some(other) => Err(format!("not additive: {other:?}")),
                None => Ok(Verdict::Skipped(TOO_LONG)),
            }
        },
    );
}
