//! A step of the nd machine is a rewriting of the terms of its states (Theorem 6.6, P9).

use std::collections::HashSet;

use eddy_coherent::krivine::readback::read_back;
use eddy_coherent::krivine::state::State;
use eddy_coherent::krivine::step::{Next, RULES, Sums, step};
use eddy_coherent::rewrite::head_steps;
use eddy_coherent::syntax::{Op, Program, Term, TermId, Terms};
use eddy_coherent::types::Type;
use eddy_coherent::typing::recheck;
use eddy_tests::law::Coverage;

use crate::generate::{Generator, Sample};
use crate::harness::{Trial, Verdict, law, leaves};
use crate::rewriting::{same_results, small, summands};
use crate::rules::rich;

/// The first steps of a run, whose states are read back.
const MAX_CHECKED: usize = 20;

/// The maximal number of reducts of a term to search.
const SEARCHED: usize = 1500;

/// Each step but `dbeta` is found as a sequence of rewriting steps in linear places; the two sides of `dbeta`
/// are joinable, and their results are compared. If rewriting makes a sum inside a linear context, linear
/// reduction moves the sum outside.
#[test]
fn machine_steps_are_rewritten_theorem_6_6() {
    let coverage = Coverage::default();
    law("Theorem 6.6", 150, sample, |sample| simulated(sample, &coverage));
    let rewritten = RULES.into_iter().filter(|rule| !["dbeta", "tick", "coin"].contains(rule));
    coverage.require("Theorem 6.6", 5, rewritten.map(|rule| format!("{rule} rewritten")));
    coverage.require("Theorem 6.6", 20, ["dbeta joined"]);
    let missed = coverage.times("not found");
    assert!(
        missed * 20 <= coverage.times("found"),
        "{missed} steps of {} were not found",
        coverage.times("found")
    );
}

/// A small program; every third one computes with numbers.
fn sample(mut generator: Generator<'_>) -> Sample {
    if !generator.choices.once_in(3) {
        return small(generator);
    }
    generator.size = 6;
    let number = rich(&mut generator, 0);
    let inner = generator.choices.among(&[Op::Succ, Op::Pred]);
    let part = generator.terms.op(inner, 0, number);
    let outer = generator.choices.among(&[Op::Succ, Op::Pred]);
    let part = generator.terms.op(outer, 0, part);
    let (yes, no) = (rich(&mut generator, 0), rich(&mut generator, 0));
    let main = generator.add(Term::If(0, part, yes, no));
    generator.finish(main, Type::NAT)
}

fn simulated(sample: &Sample, coverage: &Coverage) -> Trial {
    let mut is_rewritten = false;
    for path in leaves(&sample.program) {
        let mut program = Program { ty: Type::NAT, ..sample.program.clone() };
        let mut states = vec![State::start(program.main, &path)];
        for _ in 0..MAX_CHECKED {
            let Some(state) = states.pop() else { break };
            let before = read_back(&mut program.terms, &state);
            if recheck(&mut program.terms, before) != Some(Type::NAT) {
                return Err(format!("{state} is read back as no number"));
            }
            let made = step(&mut program.terms, state.clone(), Sums::Both);
            let next = match made.next {
                Next::State(next) => vec![next],
                Next::Sum(first, second) => vec![first, second],
                Next::Zero => Vec::new(),
                Next::Value(_) | Next::Coin(..) | Next::Overflow => break,
            };
            let after: Vec<TermId> = next.iter().map(|state| read_back(&mut program.terms, state)).collect();
            same_results(&program, &[before], &after, made.rule)?;
            if made.rule == "dbeta" {
                coverage.note("dbeta joined");
            } else {
                match rewrites(&mut program.terms, before, &after) {
                    Search::Found => {
                        is_rewritten = true;
                        coverage.note("found");
                        coverage.note(format!("{} rewritten", made.rule));
                    }
                    Search::TooLarge => coverage.note("not found"),
                    Search::No => return Err(format!("{}: {state} is not rewritten", made.rule)),
                }
            }
            states.extend(next);
        }
    }
    Ok(Verdict::of(is_rewritten, "no step"))
}

enum Search {
    Found,
    /// All reachable terms were searched.
    No,
    TooLarge,
}

/// Whether a term rewrites to the sum of others in zero or more steps.
fn rewrites(terms: &mut Terms, before: TermId, after: &[TermId]) -> Search {
    let mut expected = after.to_vec();
    expected.sort_unstable();
    let (mut reached, mut seen, mut next) = (vec![before], HashSet::from([before]), 0);
    while let Some(&term) = reached.get(next) {
        next += 1;
        if let Some(mut found) = summands(terms, term) {
            found.sort_unstable();
            if found == expected {
                return Search::Found;
            }
        }
        if reached.len() > SEARCHED {
            return Search::TooLarge;
        }
        for rewriting in head_steps(terms, term) {
            if seen.insert(rewriting.term) {
                reached.push(rewriting.term);
            }
        }
    }
    Search::No
}
