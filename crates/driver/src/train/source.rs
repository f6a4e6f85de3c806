//! The data of a training run before they are rows: what is needed to read them, once or again.

use eddy_language::prepare::Prepared;
use eddy_language::program::Enumerations;
use eddy_language::semantics::Cell;
use eddy_tensor::{Static, Type};
use rustc_hash::FxHashMap;

use super::skipping::Skipping;
use crate::data::Data;
use crate::stream::{Columns, SharedEncoding, Stopped, cells_of};

/// Data, and how they become the inputs of a node.
pub(super) struct Source {
    /// Empty after data that can be read only once.
    pub data: Vec<Data>,
    /// Whether the data could be read only once.
    pub is_spent: bool,
    /// The names of the inputs.
    pub names: Vec<String>,
    pub enumerations: Enumerations,
    pub defaults: FxHashMap<String, Static>,
    pub encoding: SharedEncoding,
    pub is_single: bool,
}

impl Source {
    /// Whether the data can be read more than once.
    pub fn is_repeatable(&self) -> bool {
        !self.is_spent && self.data.iter().all(|data| data.again().is_some())
    }

    /// Opens the data for the first time.
    pub fn open_first(&mut self) -> Result<Columns, Stopped> {
        if self.is_repeatable() {
            return self.open();
        }
        self.is_spent = true;
        let data = std::mem::take(&mut self.data);
        self.columns(data)
    }

    /// Opens the data again.
    pub fn open(&self) -> Result<Columns, Stopped> {
        self.columns(self.data.iter().filter_map(Data::again).collect())
    }

    fn columns(&self, data: Vec<Data>) -> Result<Columns, Stopped> {
        let columns =
            Columns::new(data, self.names.clone(), &self.enumerations, &self.defaults, &self.encoding)?;
        Ok(if self.is_single { columns.in_single_precision() } else { columns })
    }
}

/// The cells of the inputs, and a text of the extra column.
pub(super) type LabelledRow = (Vec<Cell>, Option<String>);

/// Reads rows as cells of the inputs.
pub(super) struct RowReader<'a> {
    columns: Columns,
    prepared: &'a Prepared,
    types: Vec<&'a Type>,
    pub skipping: Option<Skipping>,
    n_read: u64,
}

impl<'a> RowReader<'a> {
    pub fn new(
        columns: Columns,
        prepared: &'a Prepared,
        n_inputs: usize,
        skipping: Option<Skipping>,
    ) -> Self {
        let types = prepared.input_types()[..n_inputs].to_vec();
        RowReader { columns, prepared, types, skipping, n_read: 0 }
    }

    /// The next row that is not skipped, and its text in the extra column.
    pub fn next_row(&mut self) -> Result<Option<LabelledRow>, Stopped> {
        loop {
            let Some(mut row) = self.columns.next_row(false)? else { return Ok(None) };
            let mut cells = cells_of(&self.columns, &self.prepared.flow, &self.types, &row, self.n_read)?;
            self.n_read += 1;
            if self.skipping.as_mut().is_none_or(|skipping| skipping.keeps(&mut cells)) {
                let label = match row.cells.get_mut(self.types.len()) {
                    Some(eddy_formats::Raw::Text(text)) => Some(std::mem::take(text)),
                    _ => None,
                };
                return Ok(Some((cells, label)));
            }
        }
    }

    /// Columns that no input reads.
    pub fn unused(&self) -> Vec<String> {
        self.columns.unused()
    }

    /// The number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.types.len()
    }
}
