//! Coins and ticks (section 10): masses, and derivatives as power series.

use std::cell::Cell;

use dashu_ratio::RBig;
use eddy_coherent::environment;
use eddy_coherent::outcome::{Distribution, Limits};
use eddy_coherent::sugar;
use eddy_coherent::syntax::{Bit, Op, Program, Term, TermId, Terms};
use eddy_coherent::types::Type;

use crate::generate::{Generator, Sample, With, terms};
use crate::harness::{LIMITS, Verdict, at_least, law, leaves, with_main};

fn distribution(program: &Program, path: &[Bit], coins: u64) -> Distribution {
    let limits = Limits { fuel: 2000, ..LIMITS };
    let code = environment::compile(program, limits.memory).expect("a small program");
    environment::distribution(&code, path, limits, coins).expect("little memory").0
}

fn with_coins(mut generator: Generator<'_>) -> Sample {
    generator.with = With { fix: true, coins: true, ticks: true, ..With::default() };
    terms::program(generator)
}

#[test]
fn masses_sum_to_one_and_grow_with_coins_p10() {
    law("P10, masses", 400, with_coins, |sample| {
        for path in leaves(&sample.program) {
            let mut before = Distribution::default();
            for coins in [0, 1, 2, 4, 6] {
                let mass = distribution(&sample.program, &path, coins);
                if mass.total() != RBig::ONE {
                    return Err(format!("{coins} coins: {}", mass.show(true)));
                }
                let grows = |(value, (old, _)): (&u64, &(RBig, RBig))| {
                    mass.values.get(value).is_some_and(|(new, _)| new >= old)
                };
                if !before.values.iter().all(grows) {
                    return Err(format!("{coins} coins: {}, before {}", mass.show(true), before.show(true)));
                }
                before = mass;
            }
        }
        Ok(Verdict::Holds)
    });
}

/// A function `nat -> nat` without recursion, and a number.
#[derive(Debug)]
struct Series {
    function: Sample,
    number: u64,
}

fn series(mut generator: Generator<'_>) -> Series {
    generator.with = With::default();
    generator.size = 14;
    let number = u64::try_from(generator.choices.below(3)).expect("small");
    let function = generator.lambda(Type::NAT, Type::NAT);
    let ty = generator.terms.types.arrow(Type::NAT, Type::NAT);
    Series { function: generator.finish(function, ty), number }
}

/// The maximal number of uses of the argument: the series is a polynomial of this degree.
const DEGREE: u64 = 6;

impl Series {
    fn build(&self, build: impl FnOnce(&mut Terms, TermId, TermId) -> TermId, ty: Type) -> Program {
        let mut program = self.function.program.clone();
        let number = program.terms.add(Term::Num(self.number));
        let main = build(&mut program.terms, program.main, number);
        with_main(&program, main, ty)
    }

    /// `F choice(p, N, FAIL)`.
    fn applied(&self, p: &RBig) -> Program {
        let build = |terms: &mut Terms, f, n| {
            let fail = fail(terms);
            let argument = choice(terms, p, n, fail);
            terms.add(Term::Apply(f, argument))
        };
        self.build(build, Type::NAT)
    }

    /// `D F choice(p, inj0 N, inj1 N)`.
    fn derived(&self, p: &RBig) -> Program {
        let build = |terms: &mut Terms, f, n| {
            let [yes, no] = Bit::BOTH.map(|bit| terms.op(Op::Inj(bit), 0, n));
            let argument = choice(terms, p, yes, no);
            let derived = terms.add(Term::Derive(f));
            terms.add(Term::Apply(derived, argument))
        };
        self.build(build, Type::ground(1))
    }

    /// `g(p)` for each number, if no path needs more coins than the degree.
    fn masses(&self, p: &RBig) -> Option<Distribution> {
        let mass = distribution(&self.applied(p), &[], DEGREE);
        (mass.unresolved == RBig::ZERO).then_some(mass)
    }

    /// `g'(p)` of a number, exactly: g is a polynomial of degree at most `DEGREE`, known at enough places.
    fn slope(&self, value: u64, p: &RBig) -> Option<RBig> {
        let places: Vec<RBig> =
            (0..=DEGREE).map(|k| RBig::from_parts(k.into(), (DEGREE + 1).into())).collect();
        let mut heights = Vec::new();
        for place in &places {
            heights.push(self.masses(place)?.values.get(&value).map_or(RBig::ZERO, |(mass, _)| mass.clone()));
        }
        Some(slope_of_interpolation(&places, &heights, p))
    }
}

/// `FAIL = <\x:nat. 0> 0`, which aborts.
fn fail(terms: &mut Terms) -> TermId {
    let zero = terms.add(Term::Num(0));
    let constant = terms.add(Term::Lambda(Type::NAT, zero));
    sugar::linear(terms, constant, zero)
}

fn choice(terms: &mut Terms, p: &RBig, yes: TermId, no: TermId) -> TermId {
    let probability = terms.add_probability(p.clone());
    let coin = terms.add(Term::Coin(probability));
    terms.add(Term::If(0, coin, yes, no))
}

/// The slope of the polynomial through some points (Lagrange).
fn slope_of_interpolation(places: &[RBig], heights: &[RBig], at: &RBig) -> RBig {
    let mut slope = RBig::ZERO;
    for (i, (place, height)) in places.iter().zip(heights).enumerate() {
        let others = || places.iter().enumerate().filter(move |(j, _)| *j != i).map(|(_, other)| other);
        let scale = others().fold(RBig::ONE, |product, other| product * (place - other));
        let mut derivative = RBig::ZERO;
        for left_out in 0..others().count() {
            let factors = others().enumerate().filter(|(k, _)| *k != left_out).map(|(_, other)| at - other);
            derivative += factors.fold(RBig::ONE, |product, factor| product * factor);
        }
        slope += height * derivative / scale;
    }
    slope
}

#[test]
fn derivatives_are_those_of_power_series_p10() {
    let slopes = Cell::new(0);
    law("P10, series", 300, series, |series| {
        let p = RBig::from_parts(2.into(), 3_u8.into());
        let Some(mass) = series.masses(&p) else { return Ok(Verdict::Vacuous("too many uses")) };
        let derived = series.derived(&p);
        // Component 0 is the function itself.
        let zero = distribution(&derived, &[Bit::Zero], DEGREE);
        let values =
            |mass: &Distribution| mass.values.iter().map(|(v, (m, _))| (*v, m.clone())).collect::<Vec<_>>();
        if values(&zero) != values(&mass) {
            return Err(format!("component 0: {} and {}", zero.show(false), mass.show(false)));
        }
        // Component 1 is (1-p)·g'(p).
        let one = distribution(&derived, &[Bit::One], DEGREE);
        for value in 0..5 {
            let Some(slope) = series.slope(value, &p) else { return Ok(Verdict::Vacuous("too many uses")) };
            let expected = (RBig::ONE - &p) * slope;
            let found = one.values.get(&value).map_or(RBig::ZERO, |(mass, _)| mass.clone());
            slopes.set(slopes.get() + u32::from(expected != RBig::ZERO));
            if found != expected {
                return Err(format!("component 1 at {value}: {found}, by the series {expected}"));
            }
        }
        Ok(Verdict::Holds)
    });
    at_least("slopes that are not zero", 30, slopes.get());
}

#[test]
fn ticks_are_expected_uses_p10() {
    law("P10, ticks", 300, series, |series| {
        let build = |terms: &mut Terms, f, n| {
            let ticked = terms.add(Term::Tick(n));
            terms.add(Term::Apply(f, ticked))
        };
        let mass = distribution(&series.build(build, Type::NAT), &[], 0);
        for (value, (_, ticks)) in &mass.values {
            let Some(slope) = series.slope(*value, &RBig::ONE) else {
                return Ok(Verdict::Vacuous("too many uses"));
            };
            if slope != *ticks {
                return Err(format!("{value}: {ticks} ticks, g'(1) = {slope}"));
            }
        }
        Ok(Verdict::Holds)
    });
}
