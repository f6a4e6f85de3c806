//! Columns in memory as a source of rows.

use std::vec::IntoIter;

use eddy_formats::{BadData, Raw, Row, Rows};
use eddy_language::semantics::Cell;
use eddy_tensor::Value;

use crate::data::cells_along_time;

/// Columns that are read cell by cell.
pub(super) struct InMemory {
    /// The cells of each input; `None` for an input without a column, which is absent.
    columns: Vec<Option<IntoIter<Cell>>>,
    n_rows: usize,
    next: usize,
    unused: Vec<String>,
}

impl InMemory {
    /// Columns for inputs of these names.
    pub fn new(columns: Vec<(String, Vec<Cell>)>, inputs: &[String]) -> InMemory {
        let n_rows = columns.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        let mut found = InMemory { columns: vec![None; inputs.len()], n_rows, next: 0, unused: Vec::new() };
        for (name, cells) in columns {
            match inputs.iter().position(|input| *input == name) {
                Some(input) => found.columns[input] = Some(cells.into_iter()),
                None => found.unused.push(name),
            }
        }
        found
    }
}

/// Tensors as columns, or an error.
pub(super) fn columns(tensors: Vec<(String, Value)>) -> Result<Vec<(String, Vec<Cell>)>, String> {
    let mut columns: Vec<(String, Vec<Cell>)> = Vec::new();
    for (name, tensor) in tensors {
        let Some(cells) = cells_along_time(&tensor) else {
            return Err(format!("`{name}` is a scalar: the first axis of a tensor is time"));
        };
        if let Some((other, others)) = columns.first()
            && others.len() != cells.len()
        {
            return Err(format!(
                "`{name}` has {} cycles and `{other}` has {}: tensors are equally long",
                cells.len(),
                others.len()
            ));
        }
        columns.push((name, cells));
    }
    Ok(columns)
}

impl Rows for InMemory {
    fn next_row(&mut self) -> Result<Option<Row>, BadData> {
        if self.next == self.n_rows {
            return Ok(None);
        }
        self.next += 1;
        let mut row = Row::absent(self.columns.len());
        for (raw, column) in row.cells.iter_mut().zip(&mut self.columns) {
            *raw = match column.as_mut().and_then(Iterator::next) {
                None | Some(Cell::Absent) => Raw::Absent,
                Some(Cell::Value(value)) => Raw::Value(value),
                Some(Cell::Unknown | Cell::Present | Cell::Error) => Raw::Unknown,
            };
        }
        Ok(Some(row))
    }

    fn is_waiting(&self) -> bool {
        false
    }

    fn unused(&self) -> &[String] {
        &self.unused
    }

    fn mentions(&self, input: usize) -> bool {
        self.columns[input].is_some()
    }
}
