//! The environment machine agrees with the det machine.

use std::cell::Cell;

use eddy_coherent::krivine::det as reference;
use eddy_coherent::outcome::{Limits, Outcome};
use eddy_coherent::{engine, environment};

use crate::generate::{With, terms};
use crate::harness::{LIMITS, Verdict, at_least, det, env, law, leaves, program};

/// Same value or `none`, and the same ticks, wherever the det machine halts. Otherwise the environment
/// machine may find that the leaf is empty, or reach a number with more fuel.
fn compare(det: Outcome, env: Outcome) -> Result<bool, String> {
    match (det, env) {
        (Outcome::Exhausted(_), Outcome::Exhausted(_) | Outcome::Empty) => Ok(false),
        // With the same number of steps, the environment machine may reach a number where the det machine
        // does not.
        (Outcome::Exhausted(_), Outcome::Value { .. }) => Ok(false),
        (det, env) if det == env => Ok(true),
        (det, env) => Err(format!("det {det:?}, env {env:?}")),
    }
}

#[test]
fn env_is_det_p6() {
    let values = Cell::new(0);
    law("P6", 1500, program, |sample| {
        let mut is_informative = false;
        for path in leaves(&sample.program) {
            let (det, env) = (det(&sample.program, &path).outcome, env(&sample.program, &path));
            is_informative |= compare(det, env).map_err(|wrong| format!("at {path:?}: {wrong}"))?;
            values.set(values.get() + u32::from(matches!(det, Outcome::Value { .. })));
        }
        Ok(if is_informative { Verdict::Holds } else { Verdict::Vacuous("out of fuel") })
    });
    at_least("leaves with a number", 300, values.get());
}

#[test]
fn env_counts_ticks_as_det_p6() {
    let with_ticks = |mut generator: crate::generate::Generator<'_>| {
        generator.with = With { fix: true, ticks: true, coins: false, ..With::default() };
        terms::program(generator)
    };
    law("P6, ticks", 800, with_ticks, |sample| {
        let mut is_informative = false;
        for path in leaves(&sample.program) {
            let (det, env) = (det(&sample.program, &path).outcome, env(&sample.program, &path));
            is_informative |= compare(det, env).map_err(|wrong| format!("at {path:?}: {wrong}"))?;
        }
        Ok(if is_informative { Verdict::Holds } else { Verdict::Vacuous("out of fuel") })
    });
}

/// Coins that a path may flip.
const COINS: u64 = 6;

#[test]
fn env_has_the_distributions_of_det_p6() {
    let with_coins = |mut generator: crate::generate::Generator<'_>| {
        generator.with = With { fix: true, ticks: true, coins: true, ..With::default() };
        terms::program(generator)
    };
    let flips = Cell::new(0);
    law("P6, coins", 500, with_coins, |sample| {
        let limits = Limits { fuel: 1000, ..LIMITS };
        let code = environment::compile(&sample.program, limits.memory).expect("a small program");
        for path in engine::paths(sample.program.ty.depth) {
            let det = reference::distribution(&sample.program, &path, limits, COINS);
            let env = environment::distribution(&code, &path, limits, COINS);
            let (Ok(det), Ok((env, _))) = (det, env) else { return Ok(Verdict::Vacuous("out of memory")) };
            flips.set(flips.get() + u32::from(det.values.len() > 1));
            // Distribution may move from `unresolved` to a known outcome; nothing else may change.
            let is_resolved = det.unresolved == dashu_ratio::RBig::ZERO;
            let agrees = if is_resolved { det == env } else { env.total() == det.total() };
            if !agrees {
                return Err(format!("at {path:?}: det {}, env {}", det.show(true), env.show(true)));
            }
        }
        Ok(Verdict::Holds)
    });
    at_least("distributions on several numbers", 30, flips.get());
}
