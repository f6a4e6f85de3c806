//! What the inputs of a training node mean: besides those of its node there are `end`, `cut`, `bp` and the arguments of the loss.

use eddy_language::TrainOptions;
use eddy_syntax::{Diagnostic, Span};

use crate::cell::Cell;
use crate::codes;
use crate::elaborate::Given;
use crate::flow::Flow;
use crate::program::{Base, Callable, Program};

/// Which inputs are `end`, `cut` and `bp`, by their numbers. Those after `bp` are read where it is true.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    pub end: Option<usize>,
    pub cut: Option<usize>,
    pub bp: Option<usize>,
}

impl Signals {
    /// They follow the inputs of the node, in this order; who trains without a `train` declaration has none.
    pub fn of(program: &Program, callable: &Callable, given: &Given) -> Signals {
        let (Base::Train(train) | Base::Test(train)) = callable.base else { return Signals::default() };
        let declared = program.train(train);
        let inputs = program.node(declared.node).inputs().iter();
        let mut next = inputs.filter(|slot| !given.constants.contains_key(&slot.name)).count()..;
        let end = if declared.segment { next.next() } else { None };
        let cut = if declared.truncate { next.next() } else { None };
        Signals { end, cut, bp: next.next() }
    }

    /// Options speak of inputs that are there.
    pub fn check_options(self, options: &TrainOptions, span: Span) -> Result<(), Vec<Diagnostic>> {
        let asked = [
            (options.sequence.filter(|_| self.end.is_none()), "--sequence", "where sequences end", "segment"),
            (options.cut.filter(|_| self.cut.is_none()), "--cut", "where gradients are cut", "truncate"),
        ];
        let useless = asked.into_iter().find(|(asked, ..)| asked.is_some());
        let Some((_, flag, what, word)) = useless else { return Ok(()) };
        let title = format!("`{flag}` says {what}, but nothing here asks for that");
        let help = format!("write `{word}` in the `train` declaration, or leave out `{flag}`");
        Err(vec![Diagnostic::error(codes::DATA, span, title).help(help)])
    }

    /// Data are there, complete, and numbers.
    pub fn check(
        self,
        rows: &[Vec<Cell>],
        what: &str,
        flow: &Flow,
        span: Span,
    ) -> Result<(), Vec<Diagnostic>> {
        let (title, help) = if rows.is_empty() {
            let help = "each row of a file after its header, or each line of JSON, is a cycle";
            (format!("{what} have no rows"), help.to_string())
        } else if let Some(name) = self.missing(rows, flow) {
            let help = format!("give them a column, or a key, of the name `{name}`");
            (format!("{what} have nothing for the input `{name}`"), help)
        } else if let Some((row, name)) = infinite(rows, flow) {
            let help = "leave the row out, or the cell empty where the input may be absent";
            (format!("row {row} of {what} has a number for `{name}` that is not finite"), help.to_string())
        } else {
            return Ok(());
        };
        Err(vec![Diagnostic::error(codes::DATA, span, title).help(help)])
    }

    /// An input without data, apart from those that are filled in.
    fn missing<'a>(self, rows: &[Vec<Cell>], flow: &'a Flow) -> Option<&'a str> {
        let is_filled = |input: usize| [self.end, self.cut, self.bp].contains(&Some(input));
        let is_silent = |input: usize| rows.iter().all(|row| row[input] == Cell::Absent);
        let missing = (0..flow.inputs.len()).find(|input| !is_filled(*input) && is_silent(*input))?;
        Some(name(flow, missing))
    }
}

/// What an input is called.
pub(super) fn name(flow: &Flow, input: usize) -> &str {
    flow.var(flow.inputs[input]).name.as_deref().unwrap_or_default()
}

/// The first row, counted from 1, and input of a number that is none: nothing can be learnt from it.
fn infinite<'a>(rows: &[Vec<Cell>], flow: &'a Flow) -> Option<(usize, &'a str)> {
    let is_bad = |cell: &Cell| cell.value().is_some_and(|value| !value.is_finite());
    let found =
        rows.iter().enumerate().find_map(|(row, cells)| Some((row + 1, cells.iter().position(is_bad)?)));
    found.map(|(row, input)| (row, name(flow, input)))
}
