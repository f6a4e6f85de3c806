//! A step of the nd machine is rewriting of the terms that its states stand for (Theorem 6.6, P9).

use std::collections::HashSet;

use eddy_coherent::krivine::readback::read_back;
use eddy_coherent::krivine::state::State;
use eddy_coherent::krivine::step::{Next, RULES, Sums, step};
use eddy_coherent::rewrite::head_steps;
use eddy_coherent::syntax::{Op, Program, Term, TermId, Terms};
use eddy_coherent::types::Type;
use eddy_coherent::typing::recheck;
use eddy_tests::law::Met;

use crate::generate::{Generator, Sample};
use crate::harness::{Trial, Verdict, law, leaves};
use crate::rewriting::{same_results, small, summands};
use crate::rules::rich;

/// The first steps of a run, whose states are read back.
const LOOKED_AT: usize = 20;

/// The most reducts of a term that are searched for another term.
const SEARCHED: usize = 1500;

/// Each step but `dbeta` is found as a sequence of rewriting steps in linear places; the two sides of `dbeta` are joinable, and their results are
/// compared. A sum that rewriting made in a linear context is the sum of the contexts around its summands, which is linear reduction.
#[test]
fn machine_steps_are_rewritten_theorem_6_6() {
    let met = Met::default();
    law("Theorem 6.6", 150, sample, |sample| simulated(sample, &met));
    let rewritten = RULES.into_iter().filter(|rule| !["dbeta", "tick", "coin"].contains(rule));
    met.require("Theorem 6.6", 5, rewritten.map(|rule| format!("{rule} rewritten")));
    met.require("Theorem 6.6", 20, ["dbeta joined"]);
    let missed = met.times("not found");
    assert!(missed * 20 <= met.times("found"), "{missed} steps of {} were not found", met.times("found"));
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

fn simulated(sample: &Sample, met: &Met) -> Trial {
    let mut is_rewritten = false;
    for path in leaves(&sample.program) {
        let mut program = Program { ty: Type::NAT, ..sample.program.clone() };
        let mut states = vec![State::start(program.main, &path)];
        for _ in 0..LOOKED_AT {
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
                met.note("dbeta joined");
            } else {
                match rewrites(&mut program.terms, before, &after) {
                    Search::Found => {
                        is_rewritten = true;
                        met.note("found");
                        met.note(format!("{} rewritten", made.rule));
                    }
                    Search::TooLarge => met.note("not found"),
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
    /// All terms that are reached were looked at.
    No,
    TooLarge,
}

/// Whether a term rewrites to the sum of others in some steps, none included.
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
