//! Deadlock detection: `Never` is ⊥ in every run, and each cycle without delays that stays unknown is
//! reported.

use std::cell::Cell as Counter;
use std::fmt;

use eddy_flow::Flow;
use eddy_language::causality::causality_and_deadlocks;
use eddy_language::causality::facts::{Fact, Facts, LATER};
use eddy_language::clocks::{self, Clocks};
use eddy_language::codes;
use eddy_language::elaborate::{Draft, ElaborationOptions};
use eddy_language::infer::Hints;
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::resolve;
use eddy_language::semantics::Cell;
use eddy_language::semantics::denote::Denotation;
use eddy_syntax::{SourceFile, Sources};
use eddy_tensor::Value;

use crate::generated::engines::{Rows, SEED};
use crate::generated::generate::Choices;
use crate::generated::harness::{SampleChoices, Trial, Verdict, law, show};

const N_CYCLES: usize = 8;

/// A program of guarded cycles, and inputs for it.
struct Guarded {
    text: String,
    inputs: Rows,
}

/// Whether equations read later cycles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Future {
    Read,
    Unread,
}

impl Guarded {
    fn sample(source: &mut SampleChoices<'_>, future: Future) -> Guarded {
        let choices = &mut source.program.choices;
        let mut text = String::from("node n(x:num [], c:bool [], d:bool []) -> (y0, y1)\n");
        for number in 0..3 {
            let condition = match future {
                Future::Unread if choices.once_in(2) => comparison(choices),
                _ => condition(choices, number, 2),
            };
            text.extend([&format!("  b{number} = "), condition.as_str(), ";\n"]);
        }
        for number in 0..4 {
            let value = value(choices, number, Some(2), future);
            text.extend([&format!("  y{number} = "), value.as_str(), ";\n"]);
        }
        let mut truths = || -> Vec<Cell> {
            (0..N_CYCLES).map(|_| Cell::Value(Value::from(source.trace.below(2) == 1))).collect()
        };
        let (c, d) = (truths(), truths());
        let mut number = || Cell::Value(Value::from([-1.0, 0.0, 2.0][source.trace.below(3)]));
        let x = (0..N_CYCLES).map(|_| number()).collect();
        Guarded { text, inputs: vec![x, c, d] }
    }

    /// The equations, also of rejected programs.
    fn prepared(&self, checks: Checks) -> Option<Prepared> {
        let mut sources = Sources::alone(SourceFile::new("law.eddy", &self.text));
        let program = resolve(&mut sources).accepted().ok()?;
        let node = program.find("n", sources.main().end()).ok()?;
        prepare(&program, &node, &ElaborationOptions::default(), |_: &Draft| Hints::default(), checks).ok()
    }

    fn denoted(&self, flow: &Flow, clocks: &Clocks) -> Option<Denoted> {
        let mut denotation = Denotation::new(flow, clocks, &self.inputs, N_CYCLES, SEED);
        denotation.solve().ok()?;
        let rows = flow.var_ids().map(|var| denotation.row(var).to_vec()).collect();
        let may_be_active = flow
            .var_ids()
            .map(|var| (0..N_CYCLES).map(|n| denotation.is_active(var, n) != Some(false)).collect());
        Some(Denoted { rows, may_be_active: may_be_active.collect() })
    }
}

struct Denoted {
    rows: Rows,
    may_be_active: Vec<Vec<bool>>,
}

/// Some comparisons exclude each other, and some are equal.
fn comparison(choices: &mut Choices<'_>) -> String {
    choices.among(&["x > 0.0", "x <= 0.0", "0.0 < x", "2.0 <= x", "x == 2.0", "x < 2.0"]).to_string()
}

/// A condition that often has the same value in all runs, or in almost all.
fn condition(choices: &mut Choices<'_>, number: usize, depth: usize) -> String {
    let part = |choices: &mut Choices<'_>| {
        if depth > 0 {
            condition(choices, number, depth - 1)
        } else {
            choices.among(&["true", "false"]).to_string()
        }
    };
    match choices.below(12) {
        0 | 1 => "true".to_string(),
        2 | 3 => "false".to_string(),
        4 => "c".to_string(),
        5 => comparison(choices),
        6 => format!("not ({})", part(choices)),
        7 => format!("({}) and ({})", part(choices), part(choices)),
        8 => format!("({}) or ({})", part(choices), part(choices)),
        9 if number > 0 => format!("b{}", choices.below(number)),
        _ => format!("({}) fby ({})", part(choices), part(choices)),
    }
}

/// Only a branch reads later streams. Inside of a `when`, whose clock is `inner`, nothing is sampled again.
fn value(choices: &mut Choices<'_>, number: usize, depth: Option<usize>, future: Future) -> String {
    let Some(depth) = depth else {
        return if choices.once_in(3) { format!("y{}", choices.below(4)) } else { "x".to_string() };
    };
    let deeper = depth.checked_sub(1);
    let part = |choices: &mut Choices<'_>| value(choices, number, deeper, future);
    let any = |choices: &mut Choices<'_>| format!("y{}", choices.below(4));
    let guard = |choices: &mut Choices<'_>| choices.among(&["b0", "b1", "b2", "c", "d"]);
    match choices.below(10) {
        0 => "x".to_string(),
        1 if number > 0 => format!("y{}", choices.below(number)),
        2 => {
            format!("({} + x)", if number > 0 { format!("y{}", choices.below(number)) } else { "1.0".into() })
        }
        3 => format!("(0.0 fby {})", any(choices)),
        4 => format!("(if {} then {} else {} + x)", guard(choices), part(choices), any(choices)),
        5 => format!("(if {} then {} else x)", guard(choices), any(choices)),
        6 if future == Future::Read => {
            format!("(if {} then x else post {})", guard(choices), any(choices))
        }
        7 if future == Future::Read => {
            let guard = guard(choices);
            format!("(merge {guard} (x when {guard}) ((post {}) when not {guard}))", any(choices))
        }
        8 => {
            let guard = guard(choices);
            format!("(merge {guard} (x when {guard}) ({} when not {guard}))", any(choices))
        }
        _ => "2.0".to_string(),
    }
}

impl fmt::Debug for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |row: &Vec<Cell>| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let [x, c, d] = [0, 1, 2].map(|input| row(&self.inputs[input]));
        write!(f, "\n{}run n unchecked chrono {{ x: {x}; c: {c}; d: {d}; }}\n", self.text)
    }
}

#[test]
fn what_never_has_a_value_is_unknown_in_every_run() {
    let (n_errors, n_warnings) = (Counter::new(0), Counter::new(0));
    law(
        "facts cover cells",
        1500,
        |source| Guarded::sample(source, Future::Read),
        |program| {
            // Clocks without checks equal those with checks, if there are any.
            let Some(prepared) = program.prepared(Checks::Off) else {
                return Ok(Verdict::Vacuous("refused"));
            };
            let flow = &prepared.flow;
            let Ok(clocks) = clocks::infer(flow) else { return Ok(Verdict::Vacuous("ill clocked")) };
            let outcome = causality_and_deadlocks(flow, &clocks);
            let Some(denoted) = program.denoted(flow, &clocks) else {
                return Ok(Verdict::Vacuous("no value"));
            };
            covered(flow, &denoted)?;
            match outcome {
                Err(error) if error.title.contains("never has a value") => {
                    let name = error.title.split('`').nth(1).expect("the title names a stream");
                    let output = flow.find(name).expect("the named stream exists");
                    let row = &denoted.rows[output.index()];
                    if row.iter().any(|cell| cell.value().is_some()) {
                        return Err(format!("`{name}` is reported as never having a value, but has one"));
                    }
                    n_errors.set(n_errors.get() + 1);
                }
                Err(_) => {}
                Ok((_, warnings)) => n_warnings.set(n_warnings.get() + u32::from(!warnings.is_empty())),
            }
            Ok(Verdict::Holds)
        },
    );
    show(&format!("errors: {}, warnings: {}", n_errors.get(), n_warnings.get()));
    assert!(n_errors.get() > 30, "only {} programs were refused", n_errors.get());
    assert!(n_warnings.get() > 30, "only {} programs were warned about", n_warnings.get());
}

/// Each cell is in the set that its fact stands for.
fn covered(flow: &Flow, denoted: &Denoted) -> Result<(), String> {
    let facts = Facts::new(flow);
    for var in flow.var_ids() {
        let (row, active) = (&denoted.rows[var.index()], &denoted.may_be_active[var.index()]);
        let mut activation = 0;
        for cycle in 0..N_CYCLES {
            let fact = facts.row(var)[activation.min(LATER)];
            let is_covered = match (fact, row[cycle].value()) {
                (_, None) | (Fact::Any, _) => true,
                (Fact::Never, Some(_)) => false,
                (Fact::Truth(truth), Some(value)) => *value == Value::from(truth),
                (Fact::Number(bits), Some(value)) => *value == Value::from(f64::from_bits(bits)),
                (Fact::Integer(integer), Some(value)) => *value == Value::from(integer),
            };
            if !is_covered {
                let label = flow.labels().label(var);
                return Err(format!("`{label}` is {} at cycle {cycle}, not {fact:?}", row[cycle]));
            }
            activation += usize::from(active[cycle]);
        }
    }
    Ok(())
}

#[test]
fn every_cycle_without_delays_that_stays_unknown_is_reported() {
    let n_unknown = Counter::new(0);
    law(
        "no silent deadlock",
        1500,
        |source| Guarded::sample(source, Future::Unread),
        |program| {
            let Some(prepared) = program.prepared(Checks::On) else { return Ok(Verdict::Vacuous("refused")) };
            let Some(denoted) = program.denoted(&prepared.flow, &prepared.clocks) else {
                return Ok(Verdict::Vacuous("no value"));
            };
            is_reported(&prepared, &denoted, &n_unknown)
        },
    );
    assert!(n_unknown.get() > 30, "only {} programs had an unknown output", n_unknown.get());
}

fn is_reported(prepared: &Prepared, denoted: &Denoted, n_unknown: &Counter<u32>) -> Trial {
    let outputs = prepared.flow.outputs.iter();
    let is_unknown =
        outputs.flat_map(|output| &denoted.rows[output.index()]).any(|cell| *cell == Cell::Unknown);
    let is_told = prepared.warnings.iter().any(|warning| warning.code == codes::DEADLOCK);
    n_unknown.set(n_unknown.get() + u32::from(is_unknown));
    if is_unknown && !is_told {
        return Err("an output is unknown without a warning".to_string());
    }
    Ok(Verdict::Holds)
}
