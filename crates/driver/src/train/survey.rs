//! One pass over data: whether they are complete and finite, and a hash of them.

use std::fmt::Write as _;

use eddy_flow::{Flow, Polarity};
use eddy_language::clocks::{Clock, Clocks};
use eddy_language::codes;
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Value;

use super::signals::{Signals, name};

/// What is known about rows of data.
pub(super) struct Survey {
    pub n_rows: usize,
    /// For each input, whether any row has it.
    pub is_given: Vec<bool>,
    /// The last row.
    pub last: Vec<Cell>,
    /// Columns that no input reads.
    pub unused: Vec<String>,
    /// The first row, counted from 1, with a number that is not finite, and its input.
    infinite: Option<(usize, usize)>,
    /// For each input the first row, counted from 1, that has other inputs but not this one.
    absent: Vec<Option<usize>>,
    /// The same among the rows in which `bp` is true.
    absent_where_judged: Vec<Option<usize>>,
    bp: Option<usize>,
    hasher: blake3::Hasher,
}

impl Survey {
    pub fn new(n_inputs: usize, signals: Signals) -> Survey {
        Survey {
            n_rows: 0,
            is_given: vec![false; n_inputs],
            last: Vec::new(),
            unused: Vec::new(),
            infinite: None,
            absent: vec![None; n_inputs],
            absent_where_judged: vec![None; n_inputs],
            bp: signals.bp,
            hasher: blake3::Hasher::new(),
        }
    }

    /// Adds the next row.
    pub fn add(&mut self, row: &[Cell]) {
        self.n_rows += 1;
        let is_active = row.iter().any(Cell::is_present);
        let is_judged = self.bp.is_some_and(|bp| row[bp] == Cell::Value(Value::Bool(true)));
        for (input, cell) in row.iter().enumerate() {
            hash(&mut self.hasher, cell);
            if *cell == Cell::Absent {
                if is_active {
                    self.absent[input].get_or_insert(self.n_rows);
                }
                if is_active && is_judged {
                    self.absent_where_judged[input].get_or_insert(self.n_rows);
                }
                continue;
            }
            self.is_given[input] = true;
            if self.infinite.is_none() && cell.value().is_some_and(|value| !value.is_finite()) {
                self.infinite = Some((self.n_rows, input));
            }
        }
        self.last.clear();
        self.last.extend_from_slice(row);
    }

    /// A hash of all cells.
    pub fn hash(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }

    /// Checks that the data are present, complete and finite.
    pub fn check(
        &self,
        signals: Signals,
        what: &str,
        (flow, clocks): (&Flow, &Clocks),
        span: Span,
    ) -> Result<(), Vec<Diagnostic>> {
        let (title, help) = if self.n_rows == 0 {
            let help = "each row of a file after its header, or each line of JSON, is a cycle";
            (format!("{what} have no rows"), help.to_string())
        } else if let Some(name) = self.missing(signals, flow) {
            let mut help = format!("give them a column, or a key, of the name `{name}`");
            if !self.unused.is_empty() {
                const SHOWN: usize = 8;
                let more = if self.unused.len() > SHOWN { " and others" } else { "" };
                let shown = self.unused.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("`, `");
                let _ = write!(help, ", or name another one with `--columns`: they have `{shown}`{more}");
            }
            (format!("{what} have nothing for the input `{name}`"), help)
        } else if let Some((row, input)) = self.infinite {
            let help = "leave the row out, or the cell empty where the input may be absent";
            let name = name(flow, input);
            (format!("row {row} of {what} has a number for `{name}` that is not finite"), help.to_string())
        } else if let Some((row, input)) = self.incomplete(flow, clocks) {
            let name = name(flow, input);
            let is_judged = self.bp.is_some_and(|bp| input > bp);
            let (place, help) = if is_judged {
                (", where `bp` is true", "give it a value, or let a column `bp` be false in that row")
            } else {
                ("", "give it a value, or leave the row out")
            };
            let help = format!("{help}; `--skip-missing` learns nothing from such rows");
            (format!("row {row} of {what} has nothing for `{name}`{place}"), help)
        } else {
            return Ok(());
        };
        Err(vec![Diagnostic::error(codes::DATA, span, title).help(help)])
    }

    /// The first row, counted from 1, in which an input is absent although the clock of `bp`, or `bp` itself,
    /// requires it. Rows without any input are no activations. The run checks inputs on other clocks.
    fn incomplete(&self, flow: &Flow, clocks: &Clocks) -> Option<(usize, usize)> {
        let bp = self.bp?;
        let base = clocks.of(flow.inputs[bp]);
        let first = |input: usize| match clocks.clock(clocks.of(flow.inputs[input])) {
            _ if clocks.of(flow.inputs[input]) == base => self.absent[input].filter(|_| self.is_given[input]),
            Clock::On { of, condition, polarity: Polarity::On }
                if of == base && condition == flow.inputs[bp] =>
            {
                if self.is_given[bp] {
                    self.absent_where_judged[input]
                } else {
                    self.absent[input]
                }
            }
            _ => None,
        };
        (0..self.is_given.len()).filter_map(|input| Some((first(input)?, input))).min()
    }

    /// An input without data, apart from those that are filled in.
    fn missing<'a>(&self, signals: Signals, flow: &'a Flow) -> Option<&'a str> {
        let is_filled = |input: usize| [signals.end, signals.cut, signals.bp].contains(&Some(input));
        let missing = (0..self.is_given.len()).find(|input| !is_filled(*input) && !self.is_given[*input])?;
        Some(name(flow, missing))
    }
}

fn hash(hasher: &mut blake3::Hasher, cell: &Cell) {
    let Some(value) = cell.value() else {
        hasher.update(if *cell == Cell::Absent { b"-" } else { b"?" });
        return;
    };
    hasher.update(value.ty().to_string().as_bytes());
    for element in value.elements() {
        match element {
            Value::Num(x) => hasher.update(&x.to_bits().to_le_bytes()),
            Value::Int(n) => hasher.update(&n.to_le_bytes()),
            Value::Bool(truth) => hasher.update(&[u8::from(truth)]),
            _ => &mut *hasher,
        };
    }
}
