//! P2 (Lemma 4.4): syntactically linear terms are additive and homogeneous.

use std::sync::{Arc, Mutex};

use eddy_pullback::syntax::{Term, TermId, Terms};
use eddy_pullback::typing::linear;
use eddy_tests::law::Coverage;

use crate::generate::{Generator, PRIMS, Ty};
use crate::harness::{TOO_LONG, Verdict, accepted, close, law, numbers};

/// A function of a vector to the plane, and two vectors.
#[derive(Debug)]
struct Function {
    of: &'static str,
    variable: String,
    body: String,
    vectors: [String; 2],
    /// Whether it was generated as linear.
    is_linear: bool,
}

impl Function {
    /// Linear ones and arbitrary ones in equal numbers.
    fn sample(generator: &mut Generator<'_>) -> Function {
        let of = generator.choices.among(&[Ty::Real, Ty::Plane]);
        let is_linear = generator.choices.once_in(2);
        let (variable, body) = if is_linear {
            generator.linear(of, Ty::Plane, 3)
        } else {
            ("v".to_string(), generator.open_term(&[("v", of)], Ty::Plane, 3))
        };
        let vectors = [generator.open_term(&[], of, 1), generator.open_term(&[], of, 1)];
        Function { of: of.text(), variable, body, vectors, is_linear }
    }

    /// `f(a+b) = f(a)+f(b)` and `f(3a) = 3f(a)`; `None` if that takes too long.
    fn is_additive(&self) -> Result<Option<bool>, String> {
        let Function { of, variable, body, vectors: [a, b], .. } = self;
        let at = |argument: String| numbers(&format!("{PRIMS}(λ{variable}:{of}. {body}) ({argument})"));
        let (sum, first, second) = (at(format!("{a} + {b}"))?, at(a.clone())?, at(b.clone())?);
        let triple = at(format!("{a} + {a} + {a}"))?;
        let (Some(sum), Some(first), Some(second), Some(triple)) = (sum, first, second, triple) else {
            return Ok(None);
        };
        let added: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a + b).collect();
        let scaled: Vec<f64> = first.iter().map(|a| 3.0 * a).collect();
        Ok(Some(close(&sum, &added, 1e-9) && close(&triple, &scaled, 1e-9)))
    }
}

/// A dual map is accepted only if its function is syntactically linear; then the function is additive.
/// Functions that were generated as linear are accepted.
#[test]
fn linear_terms_are_additive_lemma_4_4() {
    let coverage = Arc::new(Mutex::new(Coverage::default()));
    let noted = Arc::clone(&coverage);
    law("linear terms are additive", 600, Function::sample, move |function| {
        let Function { of, variable, body, is_linear, .. } = function;
        let is_accepted = accepted(&format!("{PRIMS}(λ{variable}:{of}. {body})^* · [1, 2]^*")).is_ok();
        let Some(is_additive) = function.is_additive()? else { return Ok(Verdict::Vacuous(TOO_LONG)) };
        noted.lock().expect("no trial panicked").note(match (is_accepted, is_additive) {
            (true, true) => "linear",
            (false, false) => "not linear",
            (false, true) if !is_linear => "refused, although additive",
            (false, true) => return Err("a linear term is refused".to_string()),
            (true, false) => return Err("accepted, and not additive".to_string()),
        });
        Ok(Verdict::Holds)
    });
    coverage.lock().expect("no trial panicked").require("Lemma 4.4", 180, ["linear", "not linear"]);
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

/// The set lin(S) of section 3.1.1 of the paper, as printed: whether the bound variable with this index is in
/// it.
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
            let [one, other] = [(); 2].map(|()| {
                let ty = generator.choices.among(&Ty::ALL);
                generator.term(ty, 4)
            });
            format!("{PRIMS}let one = {one} in {other}")
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
