//! Terms as contexts around redexes: unique decomposition (3.1), contexts and types (3.2), strictness (5.3).

use eddy_rd::engine::{Engine, run};
use eddy_rd::eval::context::{Hole, decompose, is_value, plug};
use eddy_rd::outcome::Outcome;
use eddy_rd::syntax::{Program, Term, TermId, Terms, Test};
use eddy_rd::typing::recheck;

use crate::alpha::{same_term, subterms};
use crate::compare::{Tolerance, same_even_in_overflow};
use crate::harness::{LIMITS, Trial, Verdict, accepted, law};

#[test]
fn unique_decomposition_lemma_3_1() {
    law(
        "unique decomposition",
        400,
        |generator| generator.program().0,
        |source| {
            let program = accepted(source)?;
            for term in subterms(&program.terms, program.main) {
                decomposes(&program.terms, term)?;
            }
            Ok(Verdict::Holds)
        },
    );
}

/// A value does not decompose; any other term does, uniquely, and plugging the hole gives the term back.
fn decomposes(terms: &Terms, term: TermId) -> Result<(), String> {
    let n_ways = ways(terms, term);
    let Some((layers, hole)) = decompose(terms, term) else {
        return if is_value(terms, term) && n_ways == 0 {
            Ok(())
        } else {
            Err(format!("{:?} is no value and was not decomposed", terms.term(term)))
        };
    };
    if n_ways != 1 {
        return Err(format!("{n_ways} ways to decompose {:?}", terms.term(term)));
    }
    let (Hole::Redex(inner) | Hole::BooleanRedex(inner)) = hole;
    if !matches!(hole, Hole::BooleanRedex(_) if is_boolean_redex(terms, inner)) && !is_redex(terms, inner) {
        return Err(format!("{:?} is no redex", terms.term(inner)));
    }
    let mut plugged = terms.clone();
    let whole = plug(&mut plugged, &layers, inner);
    // Nothing is renamed, so each variable must stay the same.
    let identity: Vec<_> = free_variables(terms, term);
    if same_term((terms, term), (&plugged, whole), &identity) {
        Ok(())
    } else {
        Err(format!("plugging does not give {:?} back", terms.term(term)))
    }
}

fn free_variables(terms: &Terms, term: TermId) -> Vec<(eddy_rd::syntax::VarId, eddy_rd::syntax::VarId)> {
    let of = |id: &TermId| match terms.term(*id) {
        Term::Var(var) => Some((var, var)),
        _ => None,
    };
    subterms(terms, term).iter().filter_map(of).collect()
}

/// The number of decompositions of a term as `E[R]` or `E[Rb]`, by the grammar of contexts alone.
fn ways(terms: &Terms, term: TermId) -> usize {
    let value = |operand: TermId| is_value(terms, operand);
    let inside = |operand: TermId| ways(terms, operand);
    let after = |first: TermId, second: TermId| if value(first) { inside(second) } else { 0 };
    let here = usize::from(is_redex(terms, term)) + usize::from(is_boolean_redex(terms, term));
    here + match terms.term(term) {
        Term::Var(_)
        | Term::Real(_)
        | Term::Unit
        | Term::Letrec { .. }
        | Term::If { test: Test::Constant(_), .. } => 0,
        // E + N, V + E, ⟨E,N⟩, ⟨V,E⟩
        Term::Add(left, right) | Term::Pair(left, right) => inside(left) + after(left, right),
        // op(E), let x:T = E in N, fst(E), snd(E), f(E)
        Term::Op(_, part)
        | Term::Let { bound: part, .. }
        | Term::Fst(part)
        | Term::Snd(part)
        | Term::Call { argument: part, .. } => inside(part),
        // if Eb then M else N
        Term::If { test: Test::Pred(_, operand), .. } => inside(operand),
        // M.rd_E(x:T.N), E.rd_V(x:T.N)
        Term::Rd { cotangent, point, .. } => inside(point) + after(point, cotangent),
    }
}

fn is_redex(terms: &Terms, term: TermId) -> bool {
    let value = |operand: TermId| is_value(terms, operand);
    match terms.term(term) {
        Term::Var(_) | Term::Real(_) | Term::Unit | Term::Pair(..) => false,
        Term::Add(left, right) => value(left) && value(right),
        Term::Op(_, part)
        | Term::Let { bound: part, .. }
        | Term::Fst(part)
        | Term::Snd(part)
        | Term::Call { argument: part, .. } => value(part),
        Term::If { test, .. } => matches!(test, Test::Constant(_)),
        Term::Letrec { .. } => true,
        Term::Rd { cotangent, point, .. } => value(point) && value(cotangent),
    }
}

/// `pred(V)`, as the condition of this term.
fn is_boolean_redex(terms: &Terms, term: TermId) -> bool {
    matches!(terms.term(term), Term::If { test: Test::Pred(_, operand), .. } if is_value(terms, operand))
}

#[test]
fn context_polymorphism_lemma_3_2() {
    // ⊢ E[R] : T and ⊢ R : U  imply  ⊢ E[N] : T for every ⊢ N : U.
    law(
        "context polymorphism",
        300,
        |generator| generator.program().0,
        |source| {
            let program = accepted(source)?;
            let Some((layers, hole)) = decompose(&program.terms, program.main) else {
                return Ok(Verdict::Vacuous("a value"));
            };
            let (Hole::Redex(redex) | Hole::BooleanRedex(redex)) = hole;
            let mut terms = program.terms.clone();
            let other = terms.zero(program.terms.ty(redex));
            let whole = plug(&mut terms, &layers, other);
            let judgement = |term| recheck(&terms, &[], term).map_err(|violation| format!("{violation:?}"));
            if judgement(whole)? == judgement(program.main)? {
                Ok(Verdict::Holds)
            } else {
                Err("the context has another type around another term".to_string())
            }
        },
    );
}

#[test]
fn strictness_lemma_5_3() {
    law(
        "strictness",
        300,
        |generator| generator.program().0,
        |source| {
            let program = accepted(source)?;
            by_redexes(&program)
        },
    );
}

/// Evaluates a program step by step: finds its redex, runs the redex alone, replaces it by its value, and so
/// on. If a redex is undefined or diverges, so does the program; otherwise the last value is that of the
/// program.
fn by_redexes(program: &Program) -> Trial {
    let whole = run(program, Engine::Reference, LIMITS).outcome;
    let mut terms = program.terms.clone();
    let mut term = program.main;
    let mut fuel = LIMITS.fuel;
    while let Some((layers, hole)) = decompose(&terms, term) {
        let redex = match hole {
            // The redex is the decision of the condition; the conditional remains.
            Hole::BooleanRedex(conditional) | Hole::Redex(conditional) => conditional,
        };
        let alone = Program { terms: terms.clone(), main: redex, clarke: false };
        let report = run(&alone, Engine::Reference, eddy_rd::outcome::Limits { fuel, ..LIMITS });
        let Outcome::Value(value) = report.outcome else {
            return same_even_in_overflow(&report.outcome, &whole, Tolerance::Exact);
        };
        fuel -= report.counters.calls;
        let value = terms.value_term(&value);
        term = plug(&mut terms, &layers, value);
    }
    let alone = Program { terms, main: term, clarke: false };
    same_even_in_overflow(&run(&alone, Engine::Reference, LIMITS).outcome, &whole, Tolerance::Exact)
}
