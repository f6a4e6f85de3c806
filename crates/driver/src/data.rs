//! Data that programs read: files in a format, or values in memory.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use eddy_language::semantics::Cell;
use eddy_tensor::{Op, Value};

/// The form of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object per line.
    JsonLines,
    /// A header of names, then a line per cycle.
    Csv,
    /// The same, with tabs between the cells.
    Tsv,
    /// One array, whose first axis is time.
    Npy,
    /// Named arrays of equal length.
    Npz,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] = [Format::JsonLines, Format::Csv, Format::Tsv, Format::Npy, Format::Npz];

    /// Its name, which is also the extension of its files.
    pub fn name(self) -> &'static str {
        match self {
            Format::JsonLines => "jsonl",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Npy => "npy",
            Format::Npz => "npz",
        }
    }

    /// The format with this name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
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
    /// A file whose bytes are all available, and can be read again.
    File {
        /// The format of the bytes.
        format: Format,
        /// Begins to read the bytes.
        open: Opener,
    },
    /// Columns in memory: names, and a cell for each cycle. Columns may have different lengths; after its
    /// end, a column is absent.
    Cells(Vec<(String, Vec<Cell>)>),
    /// Tensors in memory, whose first axis is time: names and values. All have the same number of cycles.
    Tensors(Vec<(String, Value)>),
}

/// Begins to read the bytes of a file.
pub type Opener = Arc<dyn Fn() -> io::Result<Box<dyn Read + Send>> + Send + Sync>;

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

    /// A file that can be opened again.
    pub fn file(name: impl Into<String>, format: Format, open: Opener) -> Data {
        Data { name: name.into(), input: None, content: Content::File { format, open } }
    }

    /// The same data again, if they can be read more than once.
    pub(crate) fn again(&self) -> Option<Data> {
        let content = match &self.content {
            Content::Bytes { .. } => return None,
            Content::File { format, open } => Content::File { format: *format, open: Arc::clone(open) },
            Content::Cells(columns) => Content::Cells(columns.clone()),
            Content::Tensors(tensors) => Content::Tensors(tensors.clone()),
        };
        Some(Data { name: self.name.clone(), input: self.input.clone(), content })
    }

    /// The same data, whose file is open.
    pub(crate) fn opened(self) -> io::Result<Data> {
        let Content::File { format, open } = &self.content else { return Ok(self) };
        let reader = BufReader::with_capacity(BUFFER, open()?);
        Ok(Data { content: Content::Bytes { format: *format, reader, never_blocks: true }, ..self })
    }

    /// Another reader of bytes.
    pub fn bytes(name: impl Into<String>, format: Format, reader: impl Read + Send + 'static) -> Data {
        let reader = BufReader::new(Box::new(reader) as Box<dyn Read + Send>);
        let content = Content::Bytes { format, reader, never_blocks: false };
        Data { name: name.into(), input: None, content }
    }
}

/// The number of bytes that are read at once.
const BUFFER: usize = 1 << 16;

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
            Content::File { format, .. } => {
                f.debug_struct("File").field("format", format).finish_non_exhaustive()
            }
            Content::Cells(columns) => f.debug_tuple("Cells").field(columns).finish(),
            Content::Tensors(tensors) => f.debug_tuple("Tensors").field(tensors).finish(),
        }
    }
}
