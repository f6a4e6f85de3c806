//! `eddy trace`: the steps of the deterministic machine, one line each (section 11).

use std::fmt::{self, Write};

use crate::engine::show;
use crate::krivine::det;
use crate::krivine::state::State;
use crate::krivine::step::{Next, RULES, Sums, step};
use crate::outcome::{Limits, Outcome, Shortage};
use crate::print;
use crate::syntax::Program;

/// Which steps to show, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Show {
    /// From this step on; the first is 1.
    pub from: Option<u64>,
    /// Up to this step.
    pub to: Option<u64>,
    /// At most so many.
    pub limit: Option<u64>,
    /// With the term.
    pub terms: bool,
}

impl Show {
    /// Whether it is only a part that is asked for.
    pub fn is_part(self) -> bool {
        self.to.is_some() || self.limit.is_some()
    }

    fn shows(self, number: u64) -> bool {
        let from = self.from.unwrap_or(1).max(1);
        let after = |limit: u64| from.saturating_add(limit);
        number >= from
            && self.to.is_none_or(|to| number <= to)
            && self.limit.is_none_or(|limit| number < after(limit))
    }
}

/// What happened, in numbers.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The outcome.
    pub outcome: Outcome,
    /// How many steps there were.
    pub steps: u64,
    /// How often each rule was used, in the order of [`RULES`].
    pub rules: [u64; RULES.len()],
    /// How many cells were made.
    pub cells: u64,
    /// How many frames were on the stack at most.
    pub deepest: u64,
}

/// A long term is cut here.
const TERM_WIDTH: usize = 200;

/// Runs a program of type `nat` without coins, and writes the steps that are to be shown and the result. A run that ends for want
/// of something has no line for its result.
pub fn trace(
    program: &Program,
    limits: Limits,
    wanted: Show,
    out: &mut dyn Write,
) -> Result<Summary, fmt::Error> {
    let mut summary =
        Summary { outcome: Outcome::Empty, steps: 0, rules: [0; RULES.len()], cells: 0, deepest: 0 };
    let has_ticks = program.has_ticks();
    let terms = &mut program.terms.clone();
    let mut state = State::start(program.main, &[]);
    loop {
        if let Some(shortage) = det::shortage(terms, &mut state, limits, summary.steps) {
            summary.outcome = Outcome::Short(shortage);
            return Ok(summary);
        }
        let ticks = state.ticks;
        let made = step(terms, state, Sums::Cells);
        if let Next::Value(value) = made.next {
            summary.outcome = Outcome::Value { value, ticks };
            break;
        }
        summary.steps += 1;
        let is_shown = wanted.shows(summary.steps);
        if is_shown {
            write!(out, "{} {}", summary.steps, made.rule)?;
        }
        let place = RULES.iter().position(|rule| *rule == made.rule).expect("every rule is in the table");
        summary.rules[place] += 1;
        match made.next {
            Next::State(next) => state = next,
            Next::Zero => {
                if is_shown {
                    writeln!(out, " 0")?;
                }
                break;
            }
            Next::Overflow => {
                summary.outcome = Outcome::Short(Shortage::Overflow);
                return Ok(summary);
            }
            Next::Value(_) | Next::Sum(..) | Next::Coin(..) => {
                unreachable!("there are neither sums nor coins")
            }
        }
        summary.cells = state.fresh.into();
        summary.deepest = summary.deepest.max(state.stack.len() as u64);
        if is_shown {
            write!(out, " {state}")?;
            if wanted.terms {
                write!(out, " t={}", print::show_briefly(terms, state.term, TERM_WIDTH))?;
            }
            writeln!(out)?;
        }
    }
    let result = show(summary.outcome, has_ticks).expect("the run has a result");
    writeln!(out, "result: {result} ({} steps)", summary.steps)?;
    Ok(summary)
}
