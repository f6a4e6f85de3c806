//! Trees of summable pairs: the laws of the monad and of `flip`, symmetry of second derivatives, and linear
//! application.

use std::cell::Cell;

use eddy_coherent::outcome::Outcome;
use eddy_coherent::sugar;
use eddy_coherent::syntax::{Bit, Op, Program, Term, TermId, Terms};
use eddy_coherent::types::Type;

use crate::generate::{Generator, Sample, With};
use crate::harness::{Trial, Verdict, all_same, at_least, env, law, leaves, with_main};

fn tree(height: u32) -> impl Fn(Generator<'_>) -> Sample {
    move |mut generator| {
        let ty = Type::ground(height);
        let main = generator.term(ty);
        generator.finish(main, ty)
    }
}

/// Two ways to build a tree out of a tree, compared leaf by leaf.
fn agree(
    sample: &Sample,
    height: u32,
    one: impl FnOnce(&mut Terms, TermId) -> TermId,
    other: impl FnOnce(&mut Terms, TermId) -> TermId,
) -> Trial {
    let mut program = sample.program.clone();
    let main = program.main;
    let (one, other) = (one(&mut program.terms, main), other(&mut program.terms, main));
    let ty = Type::ground(height);
    let (one, other) = (with_main(&program, one, ty), with_main(&program, other, ty));
    all_same(leaves(&one).map(|path| (path.clone(), env(&one, &path), env(&other, &path))))
}

fn theta(depth: u32) -> impl Fn(&mut Terms, TermId) -> TermId {
    move |terms, m| terms.op(Op::Theta, depth, m)
}

#[test]
fn units_of_the_monad_p11() {
    for depth in [0, 1] {
        law(&format!("P11, theta inj0^{depth}"), 300, tree(1), |sample| {
            let unit = |terms: &mut Terms, m| {
                let injected = terms.op(Op::Inj(Bit::Zero), depth, m);
                terms.op(Op::Theta, 0, injected)
            };
            agree(sample, 1, unit, |_, m| m)
        });
    }
}

#[test]
fn associativity_of_the_monad_p11() {
    law("P11, theta theta", 300, tree(3), |sample| {
        let outer_first = |terms: &mut Terms, m| {
            let once = theta(0)(terms, m);
            theta(0)(terms, once)
        };
        let inner_first = |terms: &mut Terms, m| {
            let once = theta(1)(terms, m);
            theta(0)(terms, once)
        };
        agree(sample, 1, outer_first, inner_first)
    });
}

#[test]
fn flip_is_an_involution_and_theta_does_not_see_it_p11() {
    let flip = |terms: &mut Terms, m| terms.op(Op::Flip(0), 0, m);
    law("P11, flip flip", 300, tree(2), |sample| {
        let twice = |terms: &mut Terms, m| {
            let once = flip(terms, m);
            flip(terms, once)
        };
        agree(sample, 2, twice, |_, m| m)
    });
    law("P11, theta flip", 300, tree(2), |sample| {
        let flipped = |terms: &mut Terms, m| {
            let once = flip(terms, m);
            theta(0)(terms, once)
        };
        agree(sample, 1, flipped, theta(0))
    });
}

/// A function that calls its argument, and a table of two levels.
#[derive(Debug)]
struct Twice {
    function: Sample,
    table: TermId,
}

#[test]
fn second_derivatives_are_symmetric_p10() {
    let values = Cell::new(0);
    let twice = |mut generator: Generator<'_>| {
        let (function, table) = generator.pair(2);
        Twice { function: generator.finish(function, Type::NAT), table }
    };
    law("P10, symmetry", 400, twice, |twice| {
        let mut program = twice.function.program.clone();
        let terms = &mut program.terms;
        let once = terms.add(Term::Derive(program.main));
        let derived = terms.add(Term::Derive(once));
        let applied = terms.add(Term::Apply(derived, twice.table));
        let after = terms.op(Op::Flip(0), 0, applied);
        let flipped = terms.op(Op::Flip(0), 0, twice.table);
        let before = terms.add(Term::Apply(derived, flipped));
        let ty = Type::ground(2);
        let (after, before) = (with_main(&program, after, ty), with_main(&program, before, ty));
        all_same(leaves(&after).map(|path| {
            let outcome = env(&after, &path);
            values.set(values.get() + u32::from(matches!(outcome, Outcome::Value { .. })));
            let other = env(&before, &path);
            (path, outcome, other)
        }))
    });
    at_least("leaves with a number", 50, values.get());
}

/// A function `nat -> nat` and a number.
#[derive(Debug)]
struct Application {
    function: Sample,
    number: u64,
}

#[test]
fn linear_application_needs_exactly_one_use() {
    let uses = [const { Cell::new(0) }; 3];
    let application = |mut generator: Generator<'_>| {
        generator.with = With { fix: true, ..With::default() };
        let number = u64::try_from(generator.choices.below(3)).expect("small");
        let function = generator.lambda(Type::NAT, Type::NAT);
        let ty = generator.terms.types.arrow(Type::NAT, Type::NAT);
        Application { function: generator.finish(function, ty), number }
    };
    law("linear application", 800, application, |application| {
        let program = &application.function.program;
        let build = |build: &dyn Fn(&mut Terms, TermId) -> TermId| -> Program {
            let mut program = program.clone();
            let number = program.terms.add(Term::Num(application.number));
            let main = build(&mut program.terms, number);
            with_main(&program, main, Type::NAT)
        };
        let ordinary = build(&|terms, n| {
            let ticked = terms.add(Term::Tick(n));
            terms.add(Term::Apply(program.main, ticked))
        });
        let linear = build(&|terms, n| sugar::linear(terms, program.main, n));
        let Outcome::Value { value, ticks } = env(&ordinary, &[]) else {
            return Ok(Verdict::Holds);
        };
        uses[usize::try_from(ticks.min(2)).expect("small")].update(|n| n + 1);
        match (ticks, env(&linear, &[])) {
            (_, Outcome::Exhausted(_)) => Ok(Verdict::Vacuous("out of fuel")),
            (1, Outcome::Value { value: other, .. }) if other == value => Ok(Verdict::Holds),
            (1, other) => Err(format!("used once, {value}, and linearly {other:?}")),
            (_, Outcome::Empty) => Ok(Verdict::Holds),
            (uses, other) => Err(format!("used {uses} times, {value}, and linearly {other:?}")),
        }
    });
    for (n, times) in uses.iter().enumerate() {
        at_least(&format!("functions with {n} uses"), 20, times.get());
    }
}
