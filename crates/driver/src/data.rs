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
    /// The name in messages, such as the name of a file.
    pub name: String,
    /// The input that the data are for; if `None`, their columns have names.
    pub input: Option<String>,
    /// The data themselves.
    pub content: Content,
}

/// The source of data.
pub enum Content {
    /// Bytes, which are read when the program needs them.
    Bytes {
        /// The format of the bytes.
        format: Format,
        /// The bytes.
        reader: BufReader<Box<dyn Read + Send>>,
        /// Whether all bytes are available, as in a regular file, so that reading never blocks.
        never_blocks: bool,
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

    /// A file, or another reader of bytes.
    pub fn bytes(name: impl Into<String>, format: Format, reader: impl Read + Send + 'static) -> Data {
        let reader = BufReader::new(Box::new(reader) as Box<dyn Read + Send>);
        let content = Content::Bytes { format, reader, never_blocks: false };
        Data { name: name.into(), input: None, content }
    }
}

/// The name in messages of data without a name.
const IN_MEMORY: &str = "<data>";

/// The cells of a tensor, one for each cycle; `None` if it has no axis for time.
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
            Content::Bytes { format, never_blocks, .. } => f
                .debug_struct("Bytes")
                .field("format", format)
                .field("never_blocks", never_blocks)
                .finish_non_exhaustive(),
            Content::Cells(columns) => f.debug_tuple("Cells").field(columns).finish(),
            Content::Tensors(tensors) => f.debug_tuple("Tensors").field(tensors).finish(),
        }
    }
}
