//! Derivatives of any order, of primitives and of functions of them: towers `J (… (J p·u1) …)·uk` and their
//! gradients, on all engines, are those of a polynomial that is differentiated term by term.

use std::collections::BTreeMap;

use eddy_pullback::engine::Engine;

use crate::generate::Generator;
use crate::harness::{TOO_LONG, Trial, Verdict, accepted, answer, close, law, reals};

/// The highest order. From order 3 on a direction is combined with the directions of two others.
const MAX_ORDER: usize = 4;

/// The coefficients by the exponents of x and y.
type Polynomial = BTreeMap<(u32, u32), f64>;

#[derive(Debug)]
struct Sample {
    polynomial: Polynomial,
    /// Whether its square, computed by a function, is differentiated.
    is_squared: bool,
    directions: Vec<[f64; 2]>,
    point: [f64; 2],
}

fn small(generator: &mut Generator<'_>, least: u32, most: usize) -> u32 {
    least + u32::try_from(generator.choices.below(most)).expect("it is small")
}

fn sample(generator: &mut Generator<'_>) -> Sample {
    let is_squared = generator.choices.once_in(2);
    let most = if is_squared { [3, 3] } else { [6, 4] };
    let mut polynomial = Polynomial::new();
    for _ in 0..=generator.choices.below(3) {
        let exponents = (small(generator, 0, most[0]), small(generator, 0, most[1]));
        polynomial.insert(exponents, small(generator, 1, 3).into());
    }
    let order = 1 + generator.choices.below(MAX_ORDER);
    let directions = (0..order).map(|_| [0, 1].map(|_| small(generator, 0, 3).into())).collect();
    let point = [1, 2].map(|least| small(generator, least, 2).into());
    Sample { polynomial, is_squared, directions, point }
}

fn derived(polynomial: &Polynomial, [dx, dy]: [f64; 2]) -> Polynomial {
    let mut result = Polynomial::new();
    for (&(i, j), c) in polynomial {
        if i > 0 {
            *result.entry((i - 1, j)).or_default() += dx * c * f64::from(i);
        }
        if j > 0 {
            *result.entry((i, j - 1)).or_default() += dy * c * f64::from(j);
        }
    }
    result
}

fn squared(polynomial: &Polynomial) -> Polynomial {
    let mut result = Polynomial::new();
    for ((i, j), c) in polynomial {
        for ((other_i, other_j), d) in polynomial {
            *result.entry((i + other_i, j + other_j)).or_default() += c * d;
        }
    }
    result
}

fn value(polynomial: &Polynomial, [x, y]: [f64; 2]) -> f64 {
    let power = |base: f64, exponent: u32| (0..exponent).map(|_| base).product::<f64>();
    polynomial.iter().map(|((i, j), c)| c * power(x, *i) * power(y, *j)).sum()
}

fn holds(Sample { polynomial, is_squared, directions, point }: &Sample) -> Trial {
    let monomials = polynomial.iter().map(|((i, j), c)| format!("{c} * x^{i} * y^{j}"));
    let primitive = format!("prim p(x, y) = {};\n", monomials.collect::<Vec<_>>().join(" + "));
    let (function, polynomial) = if *is_squared {
        ("(\\z:R^2. (\\t:R. t * t) (p z))", squared(polynomial))
    } else {
        ("p", polynomial.clone())
    };
    let tower = directions.iter().fold(function.to_string(), |f, [dx, dy]| format!("(J {f} · <{dx}, {dy}>)"));
    let exact = directions.iter().fold(polynomial, |polynomial, d| derived(&polynomial, *d));
    let gradient = [[1.0, 0.0], [0.0, 1.0]].map(|d| value(&derived(&exact, d), *point));
    let [x, y] = point;
    let cases = [
        (format!("{primitive}{tower} <{x}, {y}>"), vec![value(&exact, *point)]),
        (format!("{primitive}grad (\\z:R^2. {tower} z) at <{x}, {y}>"), gradient.to_vec()),
    ];
    for (source, expected) in &cases {
        let program = accepted(source)?;
        for engine in [Engine::Reference, Engine::Fast, Engine::Translation] {
            let Some(found) = answer(&program, engine)? else { return Ok(Verdict::Vacuous(TOO_LONG)) };
            let found = reals(&found);
            if !close(&found, expected, 1e-9) {
                return Err(format!("{}: {found:?} is not {expected:?}\n{source}", engine.name()));
            }
        }
    }
    Ok(Verdict::of(cases.iter().any(|(_, numbers)| numbers.iter().any(|x| *x != 0.0)), "zero"))
}

#[test]
fn derivatives_of_any_order_are_those_of_polynomials() {
    law("towers", 400, sample, holds);
}
