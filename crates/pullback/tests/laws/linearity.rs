//! P2 (Lemma 4.4): what is linear by its form is additive and homogeneous.

use eddy_pullback::syntax::{Term, TermId, Terms};
use eddy_pullback::typing::linear;

use crate::generate::{PRIMS, Ty};
use crate::harness::{TOO_LONG, Verdict, accepted, close, law, numbers};

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
                return Ok(Verdict::Vacuous(TOO_LONG));
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
                None => Ok(Verdict::Vacuous(TOO_LONG)),
            }
        },
    );
}

/// The set lin(S) of section 3.1.1 of the paper, as printed: whether the bound variable with this index is in it.
fn is_in_lin(terms: &Terms, id: TermId, index: u32) -> bool {
    let lin = |id, index| is_in_lin(terms, id, index);
    match terms.term(id) {
        Term::Bound(found) => found == index,
        Term::Lambda(_, body) => lin(body, index + 1),
        Term::Apply(s, t) => lin(s, index) && !terms.mentions(t, index),
        Term::Project(_, s) | Term::PrimJacobian(_, s) => lin(s, index),
        Term::Pair(s, t) => lin(s, index) && lin(t, index),
        Term::Dual(_, s, t) => {
            lin(s, index + 1) && !terms.mentions(t, index) || lin(t, index) && !terms.mentions(s, index + 1)
        }
        _ => false,
    }
}

#[test]
fn what_the_paper_calls_linear_is_linear_p2() {
    law(
        "lin(S) is linear",
        600,
        |generator| {
            let ty = generator.choices.among(&Ty::ALL);
            format!("{PRIMS}{}", generator.term(ty, 4))
        },
        |source| {
            let terms = accepted(source)?.terms;
            let mut n_linear = 0;
            for (_, term) in (0..terms.len()).filter_map(|index| terms.nth(index)) {
                let (Term::Lambda(_, body) | Term::Dual(_, body, _) | Term::Pullback(_, body, _)) = term
                else {
                    continue;
                };
                if is_in_lin(&terms, body, 0) {
                    n_linear += 1;
                    linear::check(&terms, body)
                        .map_err(|why| format!("{why:?} in {:?}", terms.term(body)))?;
                }
            }
            Ok(if n_linear > 0 { Verdict::Holds } else { Verdict::Vacuous("nothing is linear") })
        },
    );
}
