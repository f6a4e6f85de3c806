//! Rows as training needs them: `end`, `cut` and `bp` are filled in where the data lack them, and targets are
//! removed where `bp` is false.

use eddy_flow::Flow;
use eddy_language::semantics::Cell;
use eddy_tensor::Value;

use super::TrainRequest;
use super::signals::{Signals, name};
use super::survey::Survey;

/// What is changed in each row.
#[derive(Clone, Debug)]
pub(super) struct Filling {
    signals: Signals,
    n_rows: usize,
    end: Option<Every>,
    cut: Option<Every>,
    bp: Judged,
}

/// The rows at which a signal that the data lack is true.
#[derive(Clone, Copy, Debug)]
enum Every {
    /// Every n rows, and at the last one.
    Rows(usize),
    Last,
}

/// The rows in which `bp` is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judged {
    AsGiven,
    All,
}

impl Filling {
    /// The filling for surveyed data, and remarks for the user.
    pub fn new(
        survey: &Survey,
        signals: Signals,
        request: &TrainRequest,
        flow: &Flow,
    ) -> (Filling, Vec<String>) {
        let mut notes = Vec::new();
        let ends = (signals.end, request.sequence, "where sequences end, so they are one", "--sequence");
        let cuts = (signals.cut, request.cut, "where gradients are cut, so they are not", "--cut");
        let [end, cut] = [ends, cuts].map(|(signal, every, what, flag)| {
            let input = signal?;
            match (survey.is_given[input], every) {
                (false, Some(n)) => Some(Every::Rows(n)),
                (false, None) => {
                    let name = name(flow, input);
                    notes.push(format!(
                        "the data have no `{name}`, which says {what}; `{flag} N` says it too"
                    ));
                    Some(Every::Last)
                }
                (true, Some(_)) => {
                    notes.push(format!("the data have `{}`, so `{flag}` is not used", name(flow, input)));
                    None
                }
                (true, None) => None,
            }
        });
        let is_bp_given = signals.bp.is_none_or(|bp| survey.is_given[bp]);
        let bp = if is_bp_given { Judged::AsGiven } else { Judged::All };
        let filling = Filling { signals, n_rows: survey.n_rows, end, cut, bp };
        if let (Some(end), false) = (signals.end, survey.last.is_empty()) {
            let mut last = survey.last.clone();
            filling.fill(&mut last, survey.n_rows - 1);
            if last[end] != Cell::Value(Value::Bool(true)) {
                notes.push("the last sequence has no end; it ends with the data".to_string());
            }
        }
        (filling, notes)
    }

    /// Completes a row, whose number counts from 0.
    pub fn apply(&self, row: &mut [Cell], number: usize) {
        self.fill(row, number);
        if let Some(bp) = self.signals.bp
            && row[bp] == Cell::Value(Value::Bool(false))
        {
            // A table has a target in each row.
            row[bp + 1..].fill(Cell::Absent);
        }
        if let Some(end) = self.signals.end
            && number + 1 == self.n_rows
        {
            row[end] = Cell::Value(Value::Bool(true));
        }
    }

    /// Rows without data stay without signals.
    fn fill(&self, row: &mut [Cell], number: usize) {
        if !row.iter().any(Cell::is_present) {
            return;
        }
        for (input, every) in [(self.signals.end, self.end), (self.signals.cut, self.cut)] {
            let (Some(input), Some(every)) = (input, every) else { continue };
            let is_last = number + 1 == self.n_rows;
            let is_true = is_last || matches!(every, Every::Rows(n) if (number + 1).is_multiple_of(n));
            row[input] = Cell::Value(Value::Bool(is_true));
        }
        if let (Some(bp), Judged::All) = (self.signals.bp, self.bp) {
            row[bp] = Cell::Value(Value::Bool(true));
        }
    }
}
