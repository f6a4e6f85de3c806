//! P1 (Lemma 3.8): a term that is not a value has exactly one decomposition into an evaluation context and a
//! redex, and a value has none.
//!
//! The contexts are enumerated by the grammar of section 6.1, without the machine: every position of the hole
//! is tried.

use eddy_pullback::eval::divide::{Body, classify, normalise};
use eddy_pullback::eval::tower::Tower;
use eddy_pullback::eval::{self, Observer, literal};
use eddy_pullback::outcome::Outcome;
use eddy_pullback::print::show;
use eddy_pullback::syntax::{Term, TermId, Terms};

use crate::generate::{PRIMS, Ty};
use crate::harness::{LIMITS, TOO_LONG, Verdict, accepted, law};

/// The number of decompositions of a term into a context and a redex.
fn decompositions(terms: &mut Terms, id: TermId) -> usize {
    let inner = match terms.term(id) {
        Term::Bound(_) | Term::Free(_) | Term::Real(_) | Term::Zero | Term::Lambda(..) => 0,
        // C+P | V+C, and likewise for the other forms with two parts
        Term::Add(a, b)
        | Term::Apply(a, b)
        | Term::Pair(a, b)
        | Term::Jacobian(a, b)
        | Term::Contract(a, b) => both(terms, a, b),
        Term::Project(_, a)
        | Term::Prim(_, a)
        | Term::PrimJacobian(_, a)
        | Term::Flat(a)
        | Term::Sharp(a) => decompositions(terms, a),
        // (λx.S)^*·C | (λx.C)^*·V
        Term::Dual(_, body, operand) if terms.term(operand) != Term::Zero => {
            let (_, variable) = terms.fresh_term("v", terms.param(id));
            let open = terms.instantiate(body, &[variable]);
            both(terms, operand, open)
        }
        Term::Dual(_, _, operand) => decompositions(terms, operand),
        // (Ω λy.E)·C | (Ω λy.⟨y,E⟩)·C
        Term::Pullback(_, body, form) => match classify(terms, body) {
            Body::Elementary | Body::Extended { .. } => decompositions(terms, form),
            _ => 0,
        },
    };
    inner + usize::from(inner == 0 && is_redex(terms, id))
}

/// `C t | V C`.
fn both(terms: &mut Terms, left: TermId, right: TermId) -> usize {
    let ways = decompositions(terms, left);
    ways + if ways == 0 { decompositions(terms, right) } else { 0 }
}

/// Whether a term whose parts are values is a redex.
fn is_redex(terms: &Terms, id: TermId) -> bool {
    let term = |id| terms.term(id);
    let is_vector = |id| literal::vector(terms, id).is_some();
    let is_covector = |id| literal::covector(terms, id).is_some();
    match term(id) {
        Term::Bound(_) | Term::Free(_) | Term::Real(_) | Term::Zero | Term::Lambda(..) => false,
        Term::Pair(..) | Term::PrimJacobian(..) | Term::Flat(_) => false,
        Term::Apply(f, a) => match term(f) {
            Term::Lambda(..) | Term::Zero | Term::Add(..) | Term::Pullback(..) => true,
            _ => Tower::of(terms, f).is_some_and(|tower| {
                let is_zero = tower.directions.iter().any(|u| literal::is_zero(terms, *u));
                is_zero || is_vector(a) && tower.directions.into_iter().all(is_vector)
            }),
        },
        Term::Project(_, of) => matches!(term(of), Term::Pair(..) | Term::Zero | Term::Add(..)),
        Term::Prim(_, a) => is_vector(a),
        Term::Add(a, b) => match (term(a), term(b)) {
            (Term::Zero, _) | (_, Term::Zero) => true,
            (Term::Lambda(..), Term::Lambda(..)) | (Term::Pair(..), Term::Pair(..)) => true,
            _ => is_vector(a) && is_vector(b) || is_covector(a) && is_covector(b),
        },
        Term::Dual(_, body, operand) => {
            let is_zero = term(operand) == Term::Zero || term(body) == Term::Zero;
            let composes = matches!(term(operand), Term::Dual(..));
            // Rule 5 inspects the body; whether it is first-order is checked with the variable free.
            is_zero
                || composes
                || distributes(terms, operand)
                || is_covector(operand) && transposes(terms, id)
        }
        Term::Pullback(_, body, _) => {
            !matches!(classify(terms, body), Body::Elementary | Body::Extended { .. })
        }
        Term::Jacobian(f, t) => {
            let is_function =
                matches!(term(f), Term::Lambda(..) | Term::Zero | Term::Add(..) | Term::Pullback(..));
            is_function || literal::is_zero(terms, t)
        }
        Term::Contract(a, b) => match (term(a), term(b)) {
            (Term::Zero | Term::Dual(..) | Term::Add(..), _) | (_, Term::Zero) => true,
            _ => is_covector(a) && is_vector(b),
        },
        Term::Sharp(_) => true,
    }
}

/// Whether a covector is a sum with a summand that rule 5 or 6 needs.
fn distributes(terms: &Terms, covector: TermId) -> bool {
    let Term::Add(left, right) = terms.term(covector) else { return false };
    [left, right].into_iter().any(|part| {
        matches!(terms.term(part), Term::Dual(..))
            || literal::covector(terms, part).is_some()
            || distributes(terms, part)
    })
}

fn transposes(terms: &Terms, id: TermId) -> bool {
    let Term::Dual(_, body, operand) = terms.term(id) else { return false };
    let param = terms.param(id);
    if !terms.types.is_euclidean(param) {
        return false;
    }
    let mut terms = terms.clone();
    let (var, variable) = terms.fresh_term("v", param);
    let open = terms.instantiate(body, &[variable]);
    let covector = literal::covector(&terms, operand).expect("the caller checked that it is a literal");
    matches!(eval::transpose::transpose(&mut terms, open, var, covector), Ok(Some(_)))
}

/// The maximal number of states of a trace to check.
const MAX_STATES: usize = 40;

struct States(Vec<(usize, String)>);

impl Observer for States {
    fn needs_states(&self) -> bool {
        self.0.len() < MAX_STATES
    }

    fn state(&mut self, terms: &mut Terms, state: TermId) {
        let text = show(terms, state);
        let ways = decompositions(&mut terms.clone(), state);
        self.0.push((ways, text));
    }
}

#[test]
fn unique_decomposition_lemma_3_8() {
    law(
        "unique decomposition",
        150,
        |generator| generator.program().0,
        |source| {
            let program = accepted(source)?;
            let main = program.main.ok_or("a generated program has a main expression")?;
            let mut states = States(Vec::new());
            let (outcome, counters, _) = eval::run(&program, LIMITS, &mut states);
            let Outcome::Value(_) = outcome else { return Ok(Verdict::Vacuous(TOO_LONG)) };
            let first = decompositions(&mut program.terms.clone(), main);
            if first != usize::from(counters.steps > 0) {
                return Err(format!("{first} decompositions at the start"));
            }
            let n = states.0.len();
            for (i, (ways, text)) in states.0.into_iter().enumerate() {
                // The last state is the value, unless the trace has more states than were checked.
                let is_last = i + 1 == n;
                if ways != usize::from(!is_last) && !(is_last && n == MAX_STATES) {
                    return Err(format!("{ways} decompositions of {text}"));
                }
            }
            Ok(Verdict::Holds)
        },
    );
}

/// Rule A turns the body of a pullback into a let series that rule A does not change again.
#[test]
fn a_reduction_ends_in_a_let_series_lemma_b_1() {
    law(
        "A-reduction ends in a let series",
        300,
        |generator| generator.open_term(&[("a", Ty::Real), ("f", Ty::Fun)], Ty::Real, 4),
        |body| {
            let program =
                accepted(&format!("{PRIMS}\\p:R * (R -> R). let a = fst p in let f = snd p in {body}"))?;
            let mut terms = program.terms;
            let main = program.main.ok_or("a generated program has a main expression")?;
            let Term::Lambda(_, body) = terms.term(main) else { return Err("no λ".into()) };
            let series = {
                let param = terms.param(main);
                normalise(&mut terms, body, param)
            };
            match classify(&terms, series) {
                Body::Last { .. } | Body::Series { .. } => Ok(Verdict::Holds),
                other => Err(format!("{other:?}")),
            }
        },
    );
}
