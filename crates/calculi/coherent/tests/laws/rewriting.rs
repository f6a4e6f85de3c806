//! The differential and the rewriting system keep types and results.

use std::cell::Cell;

use eddy_coherent::differential::differential;
use eddy_coherent::outcome::Outcome;
use eddy_coherent::rewrite::{linear, steps};
use eddy_coherent::syntax::{Bit, Op, Program, Term, TermId, Terms};
use eddy_coherent::types::Type;
use eddy_coherent::typing::{recheck, recheck_open};
use eddy_tests::law::Coverage;

use crate::generate::{Generator, Sample};
use crate::harness::{Verdict, at_least, env, law, leaves, program, same, with_main};

/// An open term with one free variable, and the types of both.
pub struct Open {
    pub sample: Sample,
    pub variable: Type,
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#0 : {:?}\n{:?}", self.variable, self.sample)
    }
}

pub fn open(mut generator: Generator<'_>) -> Open {
    let types = &mut generator.terms.types;
    let function = types.arrow(Type::NAT, Type::NAT);
    let variable = generator.choices.among(&[Type::NAT, function, Type::ground(1)]);
    let depth = generator.level(2);
    generator.scope.push(variable);
    let ty = Type::ground(depth);
    let main = generator.term(ty);
    Open { sample: generator.finish(main, ty), variable }
}

#[test]
fn the_differential_has_its_type_lemma_4_7() {
    law("Lemma 4.7", 500, open, |open| {
        let Program { mut terms, main, ty, .. } = open.sample.program.clone();
        let derived = differential(&mut terms, 0, main);
        let found = recheck_open(&mut terms, derived, &[open.variable.deeper(1)]);
        if found != Some(ty.deeper(1)) {
            return Err(format!("∂ has type {found:?}"));
        }
        Ok(Verdict::Holds)
    });
}

/// A term `L[M]` becomes `L[z]` for a fresh variable z, the outermost of all.
fn with_variable_in_hole(terms: &mut Terms, m: TermId, z: u32) -> TermId {
    let under = u32::from(matches!(terms.get(m), Term::Lambda(..)));
    let variable = terms.add(Term::Var(z + under));
    linear::plug(terms, m, variable)
}

/// `K[∂(x,N)]`, where the first term is `K[∂(x,z)]` and `∂(x,z) = inj_0 z` stands in the hole of K.
fn refill(terms: &mut Terms, m: TermId, z: u32, n: TermId) -> Option<TermId> {
    let mut contexts = Vec::new();
    let (mut inside, mut under) = (m, 0);
    while terms.get(inside) != Term::Op(Op::Inj(Bit::Zero), 0, terms.add(Term::Var(z + under))) {
        contexts.push(inside);
        under += u32::from(matches!(terms.get(inside), Term::Lambda(..)));
        inside = linear::hole(terms.get(inside))?;
    }
    Some(contexts.into_iter().rev().fold(n, |inside, context| linear::plug(terms, context, inside)))
}

#[test]
fn the_differential_of_a_linear_context_is_one_lemma_4_4() {
    law("Lemma 4.4", 500, open, |open| {
        let Program { mut terms, main, .. } = open.sample.program.clone();
        let Some(inside) = linear::hole(terms.get(main)) else {
            return Ok(Verdict::Vacuous("no linear context"));
        };
        let under = u32::from(matches!(terms.get(main), Term::Lambda(..)));
        let z = terms.scope(main) + 1;
        let context = with_variable_in_hole(&mut terms, main, z);
        let context = differential(&mut terms, 0, context);
        let derived = differential(&mut terms, under, inside);
        let whole = differential(&mut terms, 0, main);
        match refill(&mut terms, context, z, derived) {
            Some(refilled) if refilled == whole => Ok(Verdict::Holds),
            Some(_) => Err("∂(x,L[M]) is not ∂(x,L)[∂(x,M)]".to_string()),
            None => Err("∂(x,L) is no linear context".to_string()),
        }
    });
}

/// Moves the sum in the innermost hole to the top.
fn distribute(terms: &mut Terms, m: TermId) -> Option<TermId> {
    if let Term::Sum(..) = terms.get(m) {
        return Some(m);
    }
    let inside = linear::hole(terms.get(m))?;
    let sum = distribute(terms, inside)?;
    let context = linear::plug(terms, m, sum);
    linear::reduce(terms, context, |_, _| Type::NAT)
}

#[test]
fn linear_reduction_of_differentials_lemma_4_6() {
    law("Lemma 4.6", 500, open, |open| {
        let Program { mut terms, main, .. } = open.sample.program.clone();
        let Some(inside) = linear::hole(terms.get(main)) else {
            return Ok(Verdict::Vacuous("no linear context"));
        };
        // R = L[M + M'] →lin R' = L[M] + L[M'], with another term in the place of M'.
        let other = terms.add(Term::Num(7));
        let sum = terms.add(Term::Sum(inside, other));
        let before = linear::plug(&mut terms, main, sum);
        let after = linear::reduce(&mut terms, before, |_, _| Type::NAT).expect("there is a sum in the hole");
        let (before, after) = (differential(&mut terms, 0, before), differential(&mut terms, 0, after));
        if distribute(&mut terms, before) != Some(after) {
            return Err("∂R does not reduce to ∂R'".to_string());
        }
        Ok(Verdict::Holds)
    });
}

/// A program small enough to try all its steps.
pub fn small(mut generator: Generator<'_>) -> Sample {
    generator.size = 12;
    program(generator)
}

/// Half of the samples rewrite to a sum, in some context.
pub fn small_with_sums(mut generator: Generator<'_>) -> Sample {
    if generator.choices.below(2) == 0 {
        return small(generator);
    }
    generator.size = 8;
    let m = generator.term(Type::ground(2));
    let added = generator.terms.op(Op::Theta, 0, m);
    let sum = generator.terms.op(Op::Pi(Bit::One), 0, added);
    let main = match generator.choices.below(3) {
        0 => sum,
        1 => generator.terms.op(Op::Succ, 0, sum),
        _ => {
            let (yes, no) = (generator.leaf(0), generator.leaf(0));
            generator.add(Term::If(0, sum, yes, no))
        }
    };
    generator.finish(main, Type::NAT)
}

/// The rules of Figures 5 and 6 and linear reduction that random terms reach; [`crate::rules`] has each of
/// their cases.
const RULES: [&str; 18] = [
    "beta",
    "D",
    "fix",
    "succ",
    "pred",
    "if",
    "let",
    "pi-lambda",
    "pi-app",
    "pi-D",
    "pi-succ",
    "pi-if",
    "pi-let",
    "pi-theta",
    "pi-inj",
    "pi-pi",
    "pi-flip",
    "lin",
];

/// The number of terms to check, starting from one term.
const TERMS: usize = 60;

#[test]
fn subject_reduction_of_terms_theorem_4_11() {
    let (sums, coverage) = (Cell::new(0), Coverage::default());
    law("Theorem 4.11", 200, small_with_sums, |sample| {
        let Program { mut terms, main, ty, .. } = sample.program.clone();
        let mut reached = vec![main];
        let mut next = 0;
        while next < reached.len() && reached.len() < TERMS {
            // A sum at the top would become a multiset; nothing is reduced inside of it.
            let all = steps(&mut terms, reached[next]);
            next += 1;
            for rewriting in all {
                coverage.note(rewriting.rule);
                let found = recheck(&mut terms, rewriting.term);
                let has_sum = terms.any_part(rewriting.term, |term| matches!(term, Term::Sum(..)));
                sums.set(sums.get() + u32::from(has_sum));
                if found != Some(ty) {
                    let shown = eddy_coherent::print::show(&terms, rewriting.term);
                    return Err(format!("{}: {shown} has type {found:?}", rewriting.rule));
                }
                if !reached.contains(&rewriting.term) {
                    reached.push(rewriting.term);
                }
            }
        }
        Ok(Verdict::of(reached.len() > 1, "no step"))
    });
    at_least("terms with sums", 500, sums.get());
    coverage.require("Theorem 4.11", 5, RULES);
}

/// The summands of a term whose only sums and zeros are in linear places; `None` if one is elsewhere.
pub fn summands(terms: &mut Terms, m: TermId) -> Option<Vec<TermId>> {
    let has = |terms: &Terms, m| terms.any_part(m, |term| matches!(term, Term::Sum(..) | Term::Zero(_)));
    if !has(terms, m) {
        return Some(vec![m]);
    }
    match terms.get(m) {
        Term::Zero(_) => return Some(Vec::new()),
        Term::Sum(first, second) => {
            let mut all = summands(terms, first)?;
            all.extend(summands(terms, second)?);
            return Some(all);
        }
        _ => {}
    }
    let inside = linear::hole(terms.get(m))?;
    let parts = summands(terms, inside)?;
    let all: Vec<TermId> = parts.into_iter().map(|part| linear::plug(terms, m, part)).collect();
    all.iter().all(|part| !has(terms, *part)).then_some(all)
}

/// The union of the results of several terms: at most one has a number.
pub fn union(program: &Program, terms: &[TermId], path: &[Bit]) -> Outcome {
    // The environment machine shares no rule with rewriting, nor with the machines of the paper.
    let outcomes = terms.iter().map(|main| env(&with_main(program, *main, program.ty), path));
    let mut all = Outcome::Empty;
    for outcome in outcomes {
        match outcome {
            Outcome::Empty => {}
            // A number of one summand is the number of the sum.
            Outcome::Value { .. } => return outcome,
            Outcome::Exhausted(_) => all = outcome,
        }
    }
    all
}

/// All leaves of both have the same results.
pub fn same_results(
    program: &Program,
    before: &[TermId],
    after: &[TermId],
    why: &str,
) -> Result<bool, String> {
    let mut is_informative = false;
    for path in leaves(program) {
        let (one, other) = (union(program, before, &path), union(program, after, &path));
        match same(one, other) {
            Some(false) => return Err(format!("{why} at {path:?}: {one:?}, then {other:?}")),
            Some(true) => is_informative = true,
            None => {}
        }
    }
    Ok(is_informative)
}

#[test]
fn a_step_of_rewriting_does_not_change_the_result_p8() {
    let tried = Cell::new(0);
    law("P8", 150, small_with_sums, |sample| {
        let mut program = sample.program.clone();
        let main = program.main;
        let mut is_informative = false;
        for rewriting in steps(&mut program.terms, main) {
            let Some(after) = summands(&mut program.terms, rewriting.term) else { continue };
            if same_results(&program, &[main], &after, rewriting.rule)? {
                tried.set(tried.get() + 1);
                is_informative = true;
            }
        }
        Ok(if is_informative { Verdict::Holds } else { Verdict::Vacuous("no step, or no fuel") })
    });
    at_least("steps", 300, tried.get());
}
