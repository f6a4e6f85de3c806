//! Data that programs read: files in a format, or values in memory.

use std::fmt;
use std::io::{BufReader, Read};

use eddy_language::semantics::Cell;
use eddy_tensor::{Op, Value};

/// The form of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object per line.
    JsonLines,
    /// A header of names, then a line per cycle.
    Csv,
    /// One array, whose first axis is time.
    Npy,
}

/// Data for some inputs.
#[derive(Debug)]
pub struct Data {
    /// What messages call them, such as the name of a file.
    pub name: String,
    /// The input that they are for; otherwise their columns have names.
    pub input: Option<String>,
    /// What they are.
    pub content: Content,
}

/// Where data come from.
pub enum Content {
    /// Bytes, which are read when the program needs them.
    Bytes {
        /// How they are written.
        format: Format,
        /// The bytes.
        reader: BufReader<Box<dyn Read + Send>>,
        /// Whether all bytes are there already, as in a regular file: reading them never waits.
        is_at_hand: bool,
    },
    /// Columns in memory: names, and a cell for each cycle. Columns may have different lengths; after its
    /// end, a column is absent.
    Cells(Vec<(String, Vec<Cell>)>),
    /// Tensors in memory, whose first axis is time: names and values. All have the same number of cycles.
    Tensors(Vec<(String, Value)>),
}

impl Data {
    /// Tensors whose first axis is time, each under the name of its input.
    pub fn tensors<N: Into<String>>(tensors: impl IntoIterator<Item = (N, Value)>) -> Data {
        let tensors = tensors.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Data { name: IN_MEMORY.to_string(), input: None, content: Content::Tensors(tensors) }
    }

    /// Columns of cells, each under the name of its input.
    pub fn cells<N: Into<String>>(columns: impl IntoIterator<Item = (N, Vec<Cell>)>) -> Data {
        let columns = columns.into_iter().map(|(name, cells)| (name.into(), cells)).collect();
        Data { name: IN_MEMORY.to_string(), input: None, content: Content::Cells(columns) }
    }

    /// A file, or something like one.
    pub fn bytes(name: impl Into<String>, format: Format, reader: impl Read + Send + 'static) -> Data {
        let reader = BufReader::new(Box::new(reader) as Box<dyn Read + Send>);
        let content = Content::Bytes { format, reader, is_at_hand: false };
        Data { name: name.into(), input: None, content }
    }
}

/// What messages call data without a name.
const IN_MEMORY: &str = "<data>";

/// The cells of a tensor, one for each cycle; none if it has no axis for time.
pub(crate) fn cells_along_time(tensor: &Value) -> Option<Vec<Cell>> {
    let n_cycles = *tensor.shape().first()?;
    let at = |cycle: usize| Op::Index(cycle).eval(&[tensor]).expect("the cycle is one of the tensor's");
    Some(if tensor.shape().len() == 1 {
        tensor.elements().map(Cell::Value).collect()
    } else {
        (0..n_cycles).map(|cycle| Cell::Value(at(cycle))).collect()
    })
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Bytes { format, is_at_hand, .. } => f
                .debug_struct("Bytes")
                .field("format", format)
                .field("is_at_hand", is_at_hand)
                .finish_non_exhaustive(),
            Content::Cells(columns) => f.debug_tuple("Cells").field(columns).finish(),
            Content::Tensors(tensors) => f.debug_tuple("Tensors").field(tensors).finish(),
        }
    }
}
