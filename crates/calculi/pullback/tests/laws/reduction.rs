//! P3 to P5 and P9: invariants of the steps of the reference engine.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use eddy_pullback::eval::{self, Observer, Step};
use eddy_pullback::outcome::{Answer, Outcome, Stop};
use eddy_pullback::print::show;
use eddy_pullback::syntax::{Term, TermId, Terms, VarId};
use eddy_pullback::translate::{machine::Machine, translation::translate};
use eddy_pullback::types::Type;
use eddy_pullback::typing::recheck::recheck;

use eddy_tests::law::Coverage;

use crate::generate::{PRIMS, Ty};
use crate::harness::{LIMITS, TOO_LONG, Verdict, accepted, law, same};

/// The maximal number of states of a trace to check.
const MAX_STATES: usize = 60;

/// Checks each state.
struct Watcher<F: FnMut(&mut Terms, TermId) -> Result<(), String>> {
    check: F,
    n_states: usize,
    problem: Option<String>,
    /// The rules of the steps.
    rules: Vec<String>,
}

impl<F: FnMut(&mut Terms, TermId) -> Result<(), String>> Observer for Watcher<F> {
    fn step(&mut self, _: &mut Terms, step: &Step) {
        self.rules.push(step.rule.clone());
    }

    fn needs_states(&self) -> bool {
        self.n_states < MAX_STATES && self.problem.is_none()
    }

    fn state(&mut self, terms: &mut Terms, state: TermId) {
        self.n_states += 1;
        self.problem = (self.check)(terms, state).err();
    }
}

/// Checks each state of a program's trace; returns the answer of the program.
fn watch(
    source: &str,
    check: impl FnMut(&mut Terms, TermId) -> Result<(), String>,
) -> Result<Watched, String> {
    let program = accepted(source)?;
    let mut watcher = Watcher { check, n_states: 0, problem: None, rules: Vec::new() };
    let (outcome, ..) = eval::run(&program, LIMITS, &mut watcher);
    let answer = match (watcher.problem, outcome) {
        (Some(problem), _) => return Err(problem),
        (None, Outcome::Value(answer)) => Some(answer),
        (None, Outcome::Stopped(Stop::OutOfFuel | Stop::OutOfMemory)) => None,
        (None, other) => return Err(format!("no value: {other:?}")),
    };
    Ok(Watched { answer, n_states: watcher.n_states, rules: watcher.rules })
}

/// The result of [`watch`].
struct Watched {
    answer: Option<Answer>,
    n_states: usize,
    rules: Vec<String>,
}

impl Watched {
    fn verdict(&self) -> Verdict {
        match self {
            Watched { answer: None, .. } => Verdict::Vacuous(TOO_LONG),
            Watched { n_states: 0 | 1, .. } => Verdict::Vacuous("no step"),
            Watched { .. } => Verdict::Holds,
        }
    }
}

#[test]
fn each_step_keeps_the_meaning_theorem_4_6() {
    law(
        "steps keep meaning",
        150,
        |generator| generator.program().0,
        |source| {
            let mut before: Option<Answer> = None;
            let watched = watch(source, |terms, state| {
                let (translated, term) = translate(terms, state);
                match Machine::new(translated, LIMITS).run(term, terms.ty(state), &terms.types) {
                    Ok(answer) => {
                        if let Some(before) = &before {
                            same(before, &answer)
                                .map_err(|difference| format!("{difference} at {}", show(terms, state)))?;
                        }
                        before = Some(answer);
                        Ok(())
                    }
                    Err(Stop::OutOfFuel | Stop::OutOfMemory) => Ok(()),
                    Err(other) => Err(format!("{other:?}")),
                }
            })?;
            if let (Some(answer), Some(before)) = (&watched.answer, &before) {
                same(before, answer)?;
            }
            Ok(watched.verdict())
        },
    );
}

#[test]
fn each_step_keeps_the_type_corollary_4_7() {
    let coverage = Arc::new(Mutex::new(Coverage::default()));
    let noted = Arc::clone(&coverage);
    law(
        "steps keep types",
        900,
        |generator| generator.program().0,
        move |source| {
            let mut ty = None;
            let watched = watch(source, |terms, state| {
                let expected = *ty.get_or_insert(terms.ty(state));
                if terms.ty(state) != expected {
                    return Err(format!("another type: {}", show(terms, state)));
                }
                recheck(terms, state).map_err(|part| {
                    format!("{:?} is ill typed in {}", terms.term(part.0), show(terms, state))
                })
            })?;
            for rule in &watched.rules {
                // `20a/15` is rule 15 under 20a.
                rule.split('/').for_each(|rule| noted.lock().expect("no trial panicked").note(rule));
            }
            Ok(watched.verdict())
        },
    );
    coverage.lock().expect("no trial panicked").require("rules", 5, RULES);
}

/// The rules of sections 3.2 to 3.4 and Figure 3, and the completions C1 and C2. G13 and G34 cover the cases
/// of 13 and 16 that no sample reaches.
const RULES: [&str; 27] = [
    "A", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10b", "11", "12", "13b", "13c", "14", "15", "16a",
    "16c", "17", "18", "19a", "19b", "19c", "20a", "20b", "C1",
];

#[test]
fn traces_end_and_no_state_repeats_corollary_5_2() {
    law(
        "no state repeats",
        200,
        |generator| generator.program().0,
        |source| {
            let mut seen = HashSet::new();
            let watched = watch(source, |terms, state| {
                let text = show(terms, state);
                if seen.insert(text.clone()) { Ok(()) } else { Err(format!("again: {text}")) }
            })?;
            Ok(watched.verdict())
        },
    );
}

/// `⟦s[t/x]⟧ρ = ⟦s⟧ρ[x:=⟦t⟧ρ]`: the kernel's substitution of an open term under binders whose names are those
/// of its free variables, against a `let`.
#[test]
fn substitution_is_binding_lemma_4_5() {
    law(
        "substitution is binding",
        300,
        |generator| {
            let value =
                generator.open_term(&[("x", Ty::Real), ("y", Ty::Real), ("z", Ty::Real)], Ty::Real, 2);
            let body = generator.open_term(&[("x", Ty::Real), ("hole", Ty::Real)], Ty::Real, 4);
            format!("{PRIMS}\\x:R. \\y:R. \\z:R. let hole : R = {value} in {body}")
        },
        |source| {
            let program = accepted(source)?;
            let mut terms = program.terms;
            let mut at = program.main.ok_or("there is a main expression")?;
            let mut free = Vec::new();
            while let Term::Lambda(_, body) = terms.term(at) {
                let (var, term) = terms.fresh_term("free", Type::REAL);
                at = terms.instantiate(body, &[term]);
                free.push(var);
            }
            let Term::Apply(function, value) = terms.term(at) else { return Err("no `let`".into()) };
            let Term::Lambda(_, body) = terms.term(function) else { return Err("no `let`".into()) };
            let substituted = terms.instantiate(body, &[value]);
            let [bound, substituted] = [at, substituted].map(|term| meaning(&mut terms, term, &free));
            match (bound?, substituted?) {
                (Some(bound), Some(substituted)) => same(&bound, &substituted).map(|()| Verdict::Holds),
                _ => Ok(Verdict::Vacuous(TOO_LONG)),
            }
        },
    );
}

/// The value of an open term where its free variables are 2, 3 and 4.
fn meaning(terms: &mut Terms, term: TermId, free: &[VarId]) -> Result<Option<Answer>, String> {
    let mut closed = terms.abstract_over(term, free);
    for _ in free {
        let hint = terms.hint("x");
        closed = terms.lambda(hint, Type::REAL, closed);
    }
    for value in [2.0, 3.0, 4.0] {
        let value = terms.real(value);
        closed = terms.apply(closed, value);
    }
    let (translated, term) = translate(terms, closed);
    match Machine::new(translated, LIMITS).run(term, Type::REAL, &terms.types) {
        Ok(answer) => Ok(Some(answer)),
        Err(Stop::OutOfFuel | Stop::OutOfMemory) => Ok(None),
        Err(other) => Err(format!("{other:?}")),
    }
}
