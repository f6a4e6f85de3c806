//! `eddy trace`: the steps of the deterministic machine, one line each (section 11).

use std::fmt;

use crate::krivine::det;
use crate::krivine::state::State;
use crate::krivine::step::{Next, RULES, Sums, step};
use crate::outcome::{ExhaustedLimit, Limits, Outcome};
use crate::print;
use crate::syntax::{Program, Terms};

/// Options of a trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceOptions {
    /// From this step on; the first is 1.
    pub from: Option<u64>,
    /// Up to this step.
    pub to: Option<u64>,
    /// The maximal number of steps.
    pub limit: Option<u64>,
    pub terms: bool,
}

impl TraceOptions {
    /// Whether only a part of the trace is shown.
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

/// The run of a program of type `nat` without coins, as an iterator over the steps to show. When the iterator
/// is exhausted, the run is over, and [`summary`](Steps::summary) returns the result.
#[derive(Clone, Debug)]
pub struct Steps {
    terms: Terms,
    /// The current state; `None` when the run is over.
    state: Option<State>,
    limits: Limits,
    show: TraceOptions,
    summary: Summary,
}

/// A step that is shown. It prints as one line.
#[derive(Clone, Debug)]
pub struct Step {
    /// The first is 1.
    pub number: u64,
    /// Its name, one of [`RULES`].
    pub rule: &'static str,
    /// The state after the step; `None` is the state 0.
    pub state: Option<State>,
    /// The term of that state, if terms are shown.
    pub term: Option<String>,
}

/// The counters and the outcome of a run. It prints as the last line of a trace: the result, or the reason
/// why the run was stopped.
#[derive(Clone, Debug)]
pub struct Summary {
    pub outcome: Outcome,
    pub steps: u64,
    /// The uses of each rule, in the order of [`RULES`].
    pub rules: [u64; RULES.len()],
    pub cells: u64,
    /// The maximal number of frames on the stack.
    pub deepest: u64,
    /// Whether the program counts ticks, which are then shown.
    pub has_ticks: bool,
}

/// The maximal length of a printed term.
const TERM_WIDTH: usize = 200;

impl Steps {
    /// Before the first step.
    pub fn new(program: &Program, limits: Limits, show: TraceOptions) -> Steps {
        let summary = Summary {
            outcome: Outcome::Empty,
            steps: 0,
            rules: [0; RULES.len()],
            cells: 0,
            deepest: 0,
            has_ticks: program.has_ticks(),
        };
        let state = Some(State::start(program.main, &[]));
        Steps { terms: program.terms.clone(), state, limits, show, summary }
    }

    /// The counters so far; the outcome is known when the iterator is exhausted.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Makes a step; returns whether to show it, and the step. `None` after the last step.
    fn step(&mut self) -> Option<(bool, Step)> {
        let mut state = self.state.take()?;
        let summary = &mut self.summary;
        if let Some(exhausted) = det::exhausted(&mut self.terms, &mut state, self.limits, summary.steps) {
            summary.outcome = Outcome::Exhausted(exhausted);
            return None;
        }
        let ticks = state.ticks;
        let made = step(&mut self.terms, state, Sums::Cells);
        if let Next::Value(value) = made.next {
            summary.outcome = Outcome::Value { value, ticks };
            return None;
        }
        summary.steps += 1;
        let place = RULES.iter().position(|rule| *rule == made.rule).expect("every rule is in the table");
        summary.rules[place] += 1;
        let is_shown = self.show.shows(summary.steps);
        let mut shown = Step { number: summary.steps, rule: made.rule, state: None, term: None };
        match made.next {
            Next::State(next) => {
                summary.cells = next.fresh.into();
                summary.deepest = summary.deepest.max(next.stack.len() as u64);
                if is_shown {
                    let term = || print::show_briefly(&self.terms, next.term, TERM_WIDTH);
                    shown.term = self.show.terms.then(term);
                    shown.state = Some(next.clone());
                }
                self.state = Some(next);
            }
            Next::Zero => summary.outcome = Outcome::Empty,
            Next::Overflow => {
                summary.outcome = Outcome::Exhausted(ExhaustedLimit::Overflow);
                return None;
            }
            Next::Value(_) | Next::Sum(..) | Next::Coin(..) => {
                unreachable!("there are neither sums nor coins")
            }
        }
        Some((is_shown, shown))
    }
}

impl Summary {
    /// Names and values of the counters; of the rules only those that were used.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let rules = RULES.into_iter().zip(self.rules).filter(|(_, times)| *times > 0);
        let totals = [("steps", self.steps), ("cells", self.cells), ("deepest stack", self.deepest)];
        totals.into_iter().chain(rules).collect()
    }
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            if let (true, step) = self.step()? {
                return Some(step);
            }
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.number, self.rule)?;
        match &self.state {
            Some(state) => write!(f, "{state}")?,
            None => f.write_str("0")?,
        }
        self.term.as_ref().map_or(Ok(()), |term| write!(f, " t={term}"))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outcome.result() {
            Ok(result) => write!(f, "result: {} ({} steps)", result.show(self.has_ticks), self.steps),
            Err(exhausted) => write!(f, "stopped: {exhausted}"),
        }
    }
}
