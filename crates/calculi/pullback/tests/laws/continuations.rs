//! P10, for the continuation-passing view (section 3.5 of the paper): programs whose pullbacks are evaluated
//! with a continuation have the same values.
//!
//! `⟨P | K⟩_y` is a function of the point: it runs `P` forward, passes each value to its continuation, and
//! maps the returned covector through one dual map.
//!
//! ```text
//! ⟨let x=E in L | K⟩_y  =  λy. (λv. ⟨v, (J (λy.E)·v) y⟩)^* · (⟨L | K⟩_⟨y,x⟩ ⟨y,E⟩)
//! ⟨let x=E in x | K⟩_y  =  λy. (λv. (J (λy.E)·v) y)^* · (K E)
//! ```
//!
//! With these equations as definitions, a program becomes one without pullbacks, only with Jacobians of
//! elementary terms, dual maps and calls of continuations. Every engine must answer as it does for the
//! program itself.

use eddy_pullback::engine::Engine;
use eddy_pullback::eval::divide::{Body, classify, normalise};
use eddy_pullback::syntax::{Path, Program, Term, TermId, Terms};
use eddy_pullback::types::Type;
use eddy_pullback::typing::recheck::recheck;

use crate::harness::{TOO_LONG, Verdict, accepted, answer, law, same};

/// The term with continuations in the place of pullbacks.
fn pass_continuations(terms: &mut Terms, id: TermId) -> TermId {
    match terms.term(id) {
        Term::Bound(_) => unreachable!("binders are opened before their bodies are visited"),
        Term::Lambda(hint, body) => {
            let param = terms.param(id);
            let body = under_binder(terms, body, param);
            terms.lambda(hint, param, body)
        }
        Term::Dual(hint, body, operand) => {
            let param = terms.param(id);
            let body = under_binder(terms, body, param);
            let operand = pass_continuations(terms, operand);
            terms.dual_map(hint, param, body, operand)
        }
        Term::Pullback(_, body, form) => {
            let param = terms.param(id);
            let body = under_binder(terms, body, param);
            let continuation = pass_continuations(terms, form);
            let series = normalise(terms, body, param);
            configuration(terms, series, param, continuation)
        }
        term => {
            let parts: Vec<TermId> = term.children().map(|(child, _)| child).collect();
            let parts: Vec<TermId> = parts.into_iter().map(|part| pass_continuations(terms, part)).collect();
            let mut parts = parts.into_iter();
            let term = term.with_children(|| parts.next().expect("as many parts as before"));
            terms.push(term, terms.ty(id))
        }
    }
}

fn under_binder(terms: &mut Terms, body: TermId, param: Type) -> TermId {
    let (x, variable) = terms.fresh_term("x", param);
    let open = terms.instantiate(body, &[variable]);
    let open = pass_continuations(terms, open);
    terms.abstract_over(open, &[x])
}

/// `⟨L | K⟩_y`, for a let series with `y` as index 0.
fn configuration(terms: &mut Terms, series: TermId, param: Type, continuation: TermId) -> TermId {
    let (bound, rest) = match classify(terms, series) {
        Body::Last { bound } => (bound, None),
        Body::Series { bound, rest } => (bound, Some(rest)),
        other => unreachable!("{other:?} is no let series"),
    };
    let [y_hint, v_hint] = ["y", "v"].map(|name| terms.hint(name));
    let (y, point) = terms.fresh_term("y", param);
    let value = terms.instantiate(bound, &[point]);
    let function = terms.lambda(y_hint, param, bound);
    let v = terms.bound(0, param);
    let jacobian = terms.jacobian(function, v);
    let moved = terms.apply(jacobian, point);
    let (body, covector) = match rest {
        None => (moved, terms.apply(continuation, value)),
        Some(rest) => {
            let both = terms.pair(point, value);
            let (z, z_term) = terms.fresh_term("z", terms.ty(both));
            let first = terms.project(Path { lefts: 1, right: false }, z_term);
            let second = terms.project(Path { lefts: 0, right: true }, z_term);
            let rest = terms.instantiate(rest, &[first, second]);
            let rest = terms.abstract_over(rest, &[z]);
            let next = configuration(terms, rest, terms.ty(both), continuation);
            (terms.pair(v, moved), terms.apply(next, both))
        }
    };
    let dual = terms.dual_map(v_hint, param, body, covector);
    let dual = terms.abstract_over(dual, &[y]);
    terms.lambda(y_hint, param, dual)
}

#[test]
fn passing_continuations_gives_the_same_values_p10() {
    law(
        "continuations",
        200,
        |generator| generator.program().0,
        |source| {
            let program = accepted(source)?;
            let mut terms = program.terms.clone();
            let main = program.main.ok_or("a generated program has a main expression")?;
            let main = pass_continuations(&mut terms, main);
            recheck(&terms, main).map_err(|part| format!("{:?} is ill typed", terms.term(part.0)))?;
            let passing = Program { terms, main: Some(main), ..program.clone() };
            let Some(expected) = answer(&program, Engine::Fast)? else {
                return Ok(Verdict::Vacuous(TOO_LONG));
            };
            for engine in Engine::ALL {
                match answer(&passing, engine)? {
                    None => return Ok(Verdict::Vacuous(TOO_LONG)),
                    Some(found) => same(&expected, &found)
                        .map_err(|difference| format!("{} in {}", difference, engine.name()))?,
                }
            }
            Ok(Verdict::Holds)
        },
    );
}
