//! Streams in and out of programs, in JSON lines, CSV, TSV, NPY and NPZ, and files of learnt values.
//!
//! A reader gets the names of the inputs and returns one [`Row`] per cycle; each cell is [`Raw`], since types
//! are unknown before the first values. [`Raw::to_value`] converts a cell to a value of a given type, or
//! returns the mismatch.
//!
//! ```
//! use eddy_formats::{JsonLines, Raw, Rows};
//!
//! let text = "{\"x\": [1, 2]}\n{\"y\": true}\n";
//! let columns = vec!["x".to_string(), "y".to_string()];
//! let mut rows = JsonLines::new(std::io::BufReader::new(text.as_bytes()), columns);
//! let row = rows.next_row().unwrap().unwrap();
//! assert_eq!(row.cells[0].outline().0.to_string(), "[2]");
//! assert_eq!(row.cells[1], Raw::Absent);
//! ```
//!
//! * [`raw`]: cells before their types are known.
//! * [`rows`]: the interface of all readers, and errors in data.
//! * [`json_lines`], [`csv`] with its [`records`], [`npy`], [`npz`] with [`zip`]: the formats.
//! * [`mapping`]: several columns as one input, and columns of other names.
//! * [`categories`]: texts as integers. [`encoding`]: all that says how data become inputs, in a file of
//!   parameters.
//! * [`calls`]: calls of a function, whose arguments nest.
//! * [`packed`]: JSON with many numbers.
//! * [`saved`]: parameters and checkpoints.

pub mod raw;
pub mod rows;

pub mod calls;
pub mod categories;
pub mod csv;
pub mod encoding;
pub mod json_lines;
pub mod mapping;
pub mod npy;
pub mod npz;
pub mod packed;
pub mod records;
pub mod zip;

pub mod saved;

pub use categories::Categories;
pub use csv::Csv;
pub use encoding::{Encoding, Normalised};
pub use json_lines::JsonLines;
pub use mapping::{Mapped, Mapping};
pub use npy::Npy;
pub use npz::Npz;
pub use raw::{Mismatch, Raw};
pub use rows::{BadData, ColumnKind, Row, Rows};
pub use saved::{BadFile, Saved};
