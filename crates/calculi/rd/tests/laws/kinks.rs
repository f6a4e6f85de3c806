//! `use clarke` at several kinks at once, compared with the intervals between the slopes on both sides
//! (section 14).

use eddy_rd::engine::{Engine, run};
use eddy_rd::outcome::Outcome;
use eddy_tests::law::Coverage;

use crate::compare::show;
use crate::generate::Generator;
use crate::harness::{LIMITS, Trial, Verdict, accepted, law};

/// `if v < 0 then a*v else b*v`, where v is one of two variables.
#[derive(Clone, Copy, Debug)]
struct Kink {
    variable: usize,
    comparison: &'static str,
    slopes: [i32; 2],
}

/// Sums of kinks at the origin; some are the argument of another function, whose slope there is 2.
#[derive(Clone, Debug)]
struct Kinks {
    all: Vec<Kink>,
    is_inside: bool,
}

impl Kinks {
    fn sample(generator: &mut Generator<'_>) -> Kinks {
        let choices = &mut generator.choices;
        let n = 1 + choices.below(4);
        let all = (0..n).map(|_| Kink {
            variable: choices.below(2),
            comparison: choices.among(&["<", "<=", ">", ">="]),
            slopes: [0; 2].map(|_| i32::try_from(choices.below(7)).expect("small") - 3),
        });
        Kinks { all: all.collect(), is_inside: choices.once_in(3) }
    }

    fn program(&self) -> String {
        let term = |kink: &Kink| {
            let (v, [a, b]) = (["x", "y"][kink.variable], kink.slopes);
            format!("(if {v} {} 0 then ({a}) * {v} else ({b}) * {v})", kink.comparison)
        };
        let sum = self.all.iter().map(term).collect::<Vec<_>>().join(" + ");
        let body = if self.is_inside { format!("let z = {sum} in z * z + 2 * z") } else { sum };
        format!("use clarke 1.rd[(0, 0)](p:real * real. let (x, y) = p in {body})")
    }

    /// For each variable the smallest and the largest sum of slopes, one of each kink.
    fn bounds(&self) -> [Vec<f64>; 2] {
        let factor = if self.is_inside { 2 } else { 1 };
        let bound = |side: fn(i32, i32) -> i32, variable: usize| {
            let of_variable = self.all.iter().filter(|kink| kink.variable == variable);
            f64::from(factor * of_variable.map(|kink| side(kink.slopes[0], kink.slopes[1])).sum::<i32>())
        };
        [i32::min, i32::max].map(|side| (0..2).map(|variable| bound(side, variable)).collect())
    }
}

#[test]
fn all_ties_are_broken_in_all_ways_14() {
    let coverage = std::sync::Arc::new(std::sync::Mutex::new(Coverage::default()));
    let noted = std::sync::Arc::clone(&coverage);
    law("ties", 600, Kinks::sample, move |kinks| -> Trial {
        let program = accepted(&kinks.program())?;
        let [low, high] = kinks.bounds();
        for engine in [Engine::Reference, Engine::Tape] {
            let outcome = run(&program, engine, LIMITS).outcome;
            let found = match &outcome {
                Outcome::Value(value) => [value.leaves(), value.leaves()],
                Outcome::Interval(low, high) => [low.leaves(), high.leaves()],
                _ => return Err(format!("{}: {}", engine.name(), show(&outcome))),
            };
            if found != [low.clone(), high.clone()] {
                return Err(format!("{}: {found:?}, not {low:?} to {high:?}", engine.name()));
            }
        }
        noted.lock().expect("no trial panicked").note(format!("{} kinks", kinks.all.len()));
        Ok(Verdict::of(low != high, "one slope"))
    });
    coverage.lock().expect("no trial panicked").require(
        "ties",
        80,
        ["1 kinks", "2 kinks", "3 kinks", "4 kinks"],
    );
}
