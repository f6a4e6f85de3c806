//! The meaning of the inputs of a training node: besides those of its node there are `end`, `cut`, `bp` and
//! the arguments of the loss.

use eddy_flow::{Flow, Polarity};
use eddy_language::clocks::{Clock, Clocks};
use eddy_language::codes;
use eddy_language::elaborate::ElaborationOptions;
use eddy_language::prepare::Prepared;
use eddy_language::program::{Base, Callable, Program};
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Value;

use super::TrainRequest;

/// The indices of `end`, `cut` and `bp`. Inputs after `bp` are read only in rows where `bp` is true.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    pub end: Option<usize>,
    pub cut: Option<usize>,
    pub bp: Option<usize>,
}

impl Signals {
    /// The signals follow the inputs of the node, in this order; without a `train` declaration there are
    /// none.
    pub fn of(program: &Program, callable: &Callable, given: &ElaborationOptions) -> Signals {
        let (Base::Train(train) | Base::Test(train)) = callable.base else { return Signals::default() };
        let declared = program.train(train);
        let inputs = program.node(declared.node).inputs().iter();
        let mut next = inputs.filter(|slot| !given.constants.contains_key(&slot.name)).count()..;
        let end = if declared.segment { next.next() } else { None };
        let cut = if declared.truncate { next.next() } else { None };
        Signals { end, cut, bp: next.next() }
    }

    /// Checks that the options refer to existing inputs.
    pub fn check_options(self, request: &TrainRequest, span: Span) -> Result<(), Vec<Diagnostic>> {
        let asked = [
            (request.sequence.filter(|_| self.end.is_none()), "--sequence", "where sequences end", "segment"),
            (request.cut.filter(|_| self.cut.is_none()), "--cut", "where gradients are cut", "truncate"),
        ];
        let useless = asked.into_iter().find(|(asked, ..)| asked.is_some());
        let Some((_, flag, what, word)) = useless else { return Ok(()) };
        let title = format!("`{flag}` says {what}, but nothing here asks for that");
        let help = format!("write `{word}` in the `train` declaration, or leave out `{flag}`");
        Err(vec![Diagnostic::error(codes::DATA, span, title).help(help)])
    }

    /// Checks that the data are present, complete and finite.
    pub fn check(
        self,
        rows: &[Vec<Cell>],
        what: &str,
        prepared: &Prepared,
        span: Span,
    ) -> Result<(), Vec<Diagnostic>> {
        let flow = &prepared.flow;
        let (title, help) = if rows.is_empty() {
            let help = "each row of a file after its header, or each line of JSON, is a cycle";
            (format!("{what} have no rows"), help.to_string())
        } else if let Some(name) = self.missing(rows, flow) {
            let help = format!("give them a column, or a key, of the name `{name}`");
            (format!("{what} have nothing for the input `{name}`"), help)
        } else if let Some((row, name)) = infinite(rows, flow) {
            let help = "leave the row out, or the cell empty where the input may be absent";
            (format!("row {row} of {what} has a number for `{name}` that is not finite"), help.to_string())
        } else if let Some((row, input)) = self.incomplete(rows, flow, &prepared.clocks) {
            let name = name(flow, input);
            let is_judged = self.bp.is_some_and(|bp| input > bp);
            let (place, help) = if is_judged {
                (", where `bp` is true", "give it a value, or let a column `bp` be false in that row")
            } else {
                ("", "give it a value, or leave the row out")
            };
            (format!("row {row} of {what} has nothing for `{name}`{place}"), help.to_string())
        } else {
            return Ok(());
        };
        Err(vec![Diagnostic::error(codes::DATA, span, title).help(help)])
    }

    /// The first row, counted from 1, in which an input is absent although the clock of `bp`, or `bp` itself,
    /// requires it. Rows without any input are no activations. The run checks inputs on other clocks.
    fn incomplete(self, rows: &[Vec<Cell>], flow: &Flow, clocks: &Clocks) -> Option<(usize, usize)> {
        let bp = self.bp?;
        let base = clocks.of(flow.inputs[bp]);
        let is_silent = |input: usize| rows.iter().all(|row| row[input] == Cell::Absent);
        let is_given: Vec<bool> = (0..flow.inputs.len()).map(|input| !is_silent(input)).collect();
        let is_needed = |row: &[Cell], input: usize| match clocks.clock(clocks.of(flow.inputs[input])) {
            _ if clocks.of(flow.inputs[input]) == base => is_given[input],
            Clock::On { of, condition, polarity: Polarity::On } => {
                let is_true = !is_given[bp] || row[bp] == Cell::Value(Value::Bool(true));
                of == base && condition == flow.inputs[bp] && is_true
            }
            _ => false,
        };
        let missing = |row: &[Cell]| {
            let is_missing = |input: &usize| row[*input] == Cell::Absent && is_needed(row, *input);
            (0..flow.inputs.len()).find(is_missing)
        };
        let active = rows.iter().enumerate().filter(|(_, row)| row.iter().any(Cell::is_present));
        active.map(|(number, row)| Some((number + 1, missing(row)?))).find_map(|found| found)
    }

    /// An input without data, apart from those that are filled in.
    fn missing<'a>(self, rows: &[Vec<Cell>], flow: &'a Flow) -> Option<&'a str> {
        let is_filled = |input: usize| [self.end, self.cut, self.bp].contains(&Some(input));
        let is_silent = |input: usize| rows.iter().all(|row| row[input] == Cell::Absent);
        let missing = (0..flow.inputs.len()).find(|input| !is_filled(*input) && is_silent(*input))?;
        Some(name(flow, missing))
    }
}

/// The name of an input.
pub(super) fn name(flow: &Flow, input: usize) -> &str {
    flow.var(flow.inputs[input]).name.as_deref().unwrap_or_default()
}

/// The first row, counted from 1, with a NaN or infinity, and its input: nothing can be learnt from it.
fn infinite<'a>(rows: &[Vec<Cell>], flow: &'a Flow) -> Option<(usize, &'a str)> {
    let is_bad = |cell: &Cell| cell.value().is_some_and(|value| !value.is_finite());
    let found =
        rows.iter().enumerate().find_map(|(row, cells)| Some((row + 1, cells.iter().position(is_bad)?)));
    found.map(|(row, input)| (row, name(flow, input)))
}
