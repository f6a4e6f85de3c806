//! NPY: one array; its first axis is time, the other axes are the value at a cycle.
//!
//! The format is a magic number, a version, and a header that is a Python dictionary, such as
//! `{'descr': '<f8', 'fortran_order': False, 'shape': (100, 3), }`, followed by the elements.

use std::io::Read;

use eddy_tensor::Shape;

use crate::raw::Raw;
use crate::rows::{BadData, MAX_ROW_BYTES, Place, Row, Rows};

/// The largest size of a header; a longer one is an error.
const MAX_HEADER: usize = 1 << 16;

/// The supported types of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    F64,
    F32,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
}

/// Reads an array, row by row.
pub struct Npy<R> {
    from: R,
    element: Element,
    is_big_endian: bool,
    /// The shape at one cycle.
    shape: Shape,
    n_rows: usize,
    next: usize,
    /// The elements of an array in Fortran order, in which time is the innermost axis: a row is spread over
    /// the whole file. Read before the first row.
    columns: Option<Vec<u8>>,
    is_fortran: bool,
}

/// The largest array in Fortran order, which is kept in memory.
const MAX_FORTRAN_BYTES: usize = 1 << 32;

impl<R: Read> Npy<R> {
    /// Reads the header.
    pub fn new(mut from: R) -> Result<Self, BadData> {
        let mut start = [0; 8];
        from.read_exact(&mut start).map_err(|_| not_npy())?;
        if &start[..6] != b"\x93NUMPY" {
            return Err(not_npy());
        }
        let [major, minor] = [start[6], start[7]];
        if !(1..=3).contains(&major) || minor != 0 {
            let message = format!("NPY of version {major}.{minor} is not read: save it as 1.0, 2.0 or 3.0");
            return Err(BadData::without_line(message));
        }
        let length = if major == 1 {
            let mut length = [0; 2];
            from.read_exact(&mut length).map_err(|_| not_npy())?;
            usize::from(u16::from_le_bytes(length))
        } else {
            let mut length = [0; 4];
            from.read_exact(&mut length).map_err(|_| not_npy())?;
            u32::from_le_bytes(length) as usize
        };
        if length > MAX_HEADER {
            return Err(unclear_header());
        }
        let mut header = vec![0; length];
        from.read_exact(&mut header).map_err(|_| unclear_header())?;
        let header = String::from_utf8(header).map_err(|_| unclear_header())?;
        Header::parse(&header)?.reader(from)
    }

    /// The shape of a value at one cycle.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The length of the first axis.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Called after the last row: checks that the file ends there. Two arrays that were saved to one file,
    /// for instance, are an error.
    fn end(&mut self) -> Result<Option<Row>, BadData> {
        let mut more = Vec::new();
        let read = Read::take(&mut self.from, 1).read_to_end(&mut more);
        read.map_err(|error| BadData::without_line(format!("the array cannot be read: {error}")))?;
        if more.is_empty() {
            return Ok(None);
        }
        let message = format!(
            "the file goes on after the array: its header has shape {}",
            Shape::new(&[&[self.n_rows], &self.shape[..]].concat())
        );
        Err(BadData::without_line(message))
    }

    /// The bytes of the next row.
    fn row(&mut self) -> Result<Vec<u8>, BadData> {
        let width = self.element.width();
        let n_bytes = self.shape.n_elements().expect("the header was checked") * width;
        if !self.is_fortran {
            return self.read(n_bytes, self.next);
        }
        if self.columns.is_none() {
            let whole = n_bytes.checked_mul(self.n_rows).filter(|n| *n <= MAX_FORTRAN_BYTES).ok_or_else(|| {
                let message = format!(
                    "the array is in Fortran order, and larger than {} MiB: save it with `numpy.ascontiguousarray`",
                    MAX_FORTRAN_BYTES >> 20
                );
                BadData::without_line(message)
            })?;
            self.columns = Some(self.read(whole, 0)?);
        }
        let columns = self.columns.as_ref().expect("it was just read");
        let mut bytes = Vec::with_capacity(n_bytes);
        for element in 0..n_bytes / width {
            let at = (fortran(element, &self.shape) * self.n_rows + self.next) * width;
            bytes.extend_from_slice(&columns[at..at + width]);
        }
        Ok(bytes)
    }

    /// A header may promise more bytes than the file has, so memory is allocated as bytes are read.
    fn read(&mut self, n_bytes: usize, row: usize) -> Result<Vec<u8>, BadData> {
        let mut bytes = Vec::new();
        let read = Read::take(&mut self.from, n_bytes as u64).read_to_end(&mut bytes);
        read.map_err(|error| BadData::without_line(format!("the array cannot be read: {error}")))?;
        if bytes.len() < n_bytes {
            let message = match row {
                0 if self.is_fortran => {
                    format!("the array ends after {} of {n_bytes} bytes", bytes.len())
                }
                _ => format!("the array ends at row {row} of {}", self.n_rows),
            };
            return Err(BadData::without_line(message));
        }
        Ok(bytes)
    }

    fn element(&self, bytes: &[u8]) -> Result<Raw, BadData> {
        let mut ordered = [0; 8];
        let width = bytes.len();
        ordered[..width].copy_from_slice(bytes);
        if self.is_big_endian {
            ordered[..width].reverse();
        }
        let four = [ordered[0], ordered[1], ordered[2], ordered[3]];
        Ok(match self.element {
            Element::F64 => Raw::Num(f64::from_le_bytes(ordered)),
            Element::F32 => Raw::Num(f64::from(f32::from_le_bytes(four))),
            Element::I64 => Raw::Int(i64::from_le_bytes(ordered)),
            Element::I32 => Raw::Int(i64::from(i32::from_le_bytes(four))),
            Element::I16 => Raw::Int(i64::from(i16::from_le_bytes([four[0], four[1]]))),
            Element::I8 => Raw::Int(i64::from(i8::from_le_bytes([four[0]]))),
            Element::U64 => {
                let n = u64::from_le_bytes(ordered);
                let message =
                    || format!("row {} has {n}, which is no integer of 64 bits with sign", self.next + 1);
                Raw::Int(i64::try_from(n).map_err(|_| BadData::without_line(message()))?)
            }
            Element::U32 => Raw::Int(i64::from(u32::from_le_bytes(four))),
            Element::U16 => Raw::Int(i64::from(u16::from_le_bytes([four[0], four[1]]))),
            Element::U8 => Raw::Int(i64::from(four[0])),
            Element::Bool => Raw::Bool(four[0] != 0),
        })
    }
}

impl Element {
    fn width(self) -> usize {
        match self {
            Element::F64 | Element::I64 | Element::U64 => 8,
            Element::F32 | Element::I32 | Element::U32 => 4,
            Element::I16 | Element::U16 => 2,
            Element::I8 | Element::U8 | Element::Bool => 1,
        }
    }
}

impl<R: Read> Rows for Npy<R> {
    fn next_row(&mut self) -> Result<Option<Row>, BadData> {
        if self.next == self.n_rows {
            return self.end();
        }
        let bytes = self.row()?;
        let chunks = bytes.chunks(self.element.width());
        let elements = chunks.map(|bytes| self.element(bytes)).collect::<Result<Vec<Raw>, _>>()?;
        self.next += 1;
        let cells = vec![nest(elements, &self.shape)];
        Ok(Some(Row { cells, place: Place { line: 0, text: String::new() } }))
    }

    fn mentions(&self, _input: usize) -> bool {
        true
    }

    fn unused(&self) -> &[String] {
        &[]
    }
}

/// The number in Fortran order of an element that has this number in C order.
fn fortran(element: usize, shape: &Shape) -> usize {
    let (mut rest, mut number, mut stride) = (element, 0, shape.iter().product::<usize>());
    for size in shape.iter().rev() {
        stride /= size;
        number += rest % size * stride;
        rest /= size;
    }
    number
}

/// Nested lists of this shape.
fn nest(elements: Vec<Raw>, shape: &Shape) -> Raw {
    let mut level = elements;
    for size in shape.iter().rev() {
        level = level.chunks((*size).max(1)).map(|items| Raw::List(items.to_vec())).collect();
    }
    level.pop().unwrap_or_else(|| Raw::List(Vec::new()))
}

/// The dictionary at the start of a file.
struct Header {
    descr: String,
    is_fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &str) -> Result<Header, BadData> {
        let after = |key: &str| text.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
        let descr =
            after("descr").and_then(|rest| rest.strip_prefix('\'')).and_then(|rest| rest.split_once('\''));
        let shape =
            after("shape").and_then(|rest| rest.strip_prefix('(')).and_then(|rest| rest.split_once(')'));
        let (Some((descr, _)), Some((shape, _)), Some(order)) = (descr, shape, after("fortran_order")) else {
            return Err(unclear_header());
        };
        if !["True", "False"].iter().any(|word| order.starts_with(word)) {
            return Err(unclear_header());
        }
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty()).map(str::parse);
        let shape = sizes.collect::<Result<Vec<usize>, _>>().map_err(|_| unclear_header())?;
        Ok(Header { descr: descr.to_string(), is_fortran: order.starts_with("True"), shape })
    }

    fn reader<R>(self, from: R) -> Result<Npy<R>, BadData> {
        let mut kind = self.descr.chars();
        let order = kind.next();
        let element = match kind.as_str() {
            "f8" => Element::F64,
            "f4" => Element::F32,
            "i8" => Element::I64,
            "i4" => Element::I32,
            "i2" => Element::I16,
            "i1" => Element::I8,
            "u8" => Element::U64,
            "u4" => Element::U32,
            "u2" => Element::U16,
            "u1" => Element::U8,
            "b1" => Element::Bool,
            _ => {
                let message = format!(
                    "elements of type `{}` are not read: use f8, f4, i8, i4, i2, i1, u8, u4, u2, u1 or b1",
                    self.descr
                );
                return Err(BadData::without_line(message));
            }
        };
        let is_big_endian = match order {
            Some('<') => false,
            Some('>') => true,
            Some('|') if element.width() == 1 => false,
            _ => {
                let message = format!(
                    "elements of type `{}` have no known byte order: it is `<` or `>`, and `|` for single bytes",
                    self.descr
                );
                return Err(BadData::without_line(message));
            }
        };
        let Some((n_rows, rest)) = self.shape.split_first() else {
            return Err(BadData::without_line("the array has no axis: its first axis should be time"));
        };
        let shape = Shape::new(rest);
        let n_elements = shape.n_elements().map_err(|error| BadData::without_line(error.to_string()))?;
        if n_elements * element.width() > MAX_ROW_BYTES {
            let message = format!("a row of the array is longer than {} MiB", MAX_ROW_BYTES >> 20);
            return Err(BadData::without_line(message));
        }
        let is_fortran = self.is_fortran && !rest.is_empty();
        let n_rows = *n_rows;
        Ok(Npy { from, element, is_big_endian, shape, n_rows, next: 0, columns: None, is_fortran })
    }
}

fn not_npy() -> BadData {
    BadData::without_line("this is no NPY file")
}

fn unclear_header() -> BadData {
    BadData::without_line(
        "the header of this NPY file is not understood: it should name one type of elements, such as '<f8', their order, and a shape",
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn file(header: &str, bytes: &[u8]) -> Vec<u8> {
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(bytes);
        file
    }

    fn read(header: &str, bytes: &[u8]) -> Result<Vec<Raw>, String> {
        let file = file(header, bytes);
        let mut npy = Npy::new(file.as_slice()).map_err(|bad| bad.to_string())?;
        let mut cells = Vec::new();
        while let Some(row) = npy.next_row().map_err(|bad| bad.to_string())? {
            cells.extend(row.cells);
        }
        Ok(cells)
    }

    #[test]
    fn the_first_axis_is_time() {
        let bytes: Vec<u8> = [1.0_f64, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let row = |a: f64, b: f64| Raw::List(vec![Raw::Num(a), Raw::Num(b)]);
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\n";
        assert_eq!(read(header, &bytes), Ok(vec![row(1.0, 2.0), row(3.0, 4.0)]));
    }

    #[test]
    fn both_byte_orders_and_small_types() {
        let header = "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }";
        assert_eq!(read(header, &[0, 1, 255, 255]), Ok(vec![Raw::Int(1), Raw::Int(-1)]));
        let header = "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }";
        assert_eq!(read(header, &[0, 1]), Ok(vec![Raw::Bool(false), Raw::Bool(true)]));
    }

    /// The array that numpy writes for `asfortranarray(arange(12).reshape(2, 3, 2))`.
    #[test]
    fn arrays_in_fortran_order_have_the_same_rows() {
        let of = |order: &str| format!("{{'descr': '|i1', 'fortran_order': {order}, 'shape': (2, 3, 2), }}");
        let plain: Vec<u8> = (0..12).collect();
        let fortran = [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11];
        assert_eq!(read(&of("True"), &fortran), read(&of("False"), &plain));
        let short = read(&of("True"), &fortran[..5]);
        assert_eq!(short, Err("the array ends after 5 of 12 bytes".to_string()));
        let longer = read(&of("True"), &[&fortran[..], &[0]].concat());
        assert!(longer.is_err_and(|error| error.contains("goes on after the array")));
    }

    #[test]
    fn large_integers_without_sign_are_refused() {
        let header = "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }";
        let bytes = |n: u64| [1_u64.to_le_bytes(), n.to_le_bytes()].concat();
        assert_eq!(read(header, &bytes(2)), Ok(vec![Raw::Int(1), Raw::Int(2)]));
        let large = read(header, &bytes(1 << 63));
        assert_eq!(
            large,
            Err("row 2 has 9223372036854775808, which is no integer of 64 bits with sign".to_string())
        );
    }

    #[test]
    fn errors_are_reported() {
        assert_eq!(
            Npy::new(&b"PK\x03\x04"[..]).err().map(|bad| bad.to_string()),
            Some("this is no NPY file".to_string())
        );
        let short = read("{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", &[0; 16]);
        assert_eq!(short, Err("the array ends at row 2 of 3".to_string()));
        let complex = read("{'descr': '<c16', 'fortran_order': False, 'shape': (3,), }", &[]);
        assert!(complex.is_err_and(|error| error.contains("`<c16`")));
        for descr in ["é8", "", "<", "é", "日本語", "<é8"] {
            let odd = read(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (3,), }}"), &[]);
            assert!(odd.is_err_and(|error| error.contains("elements of type")), "{descr}");
        }
        for descr in ["|f8", "=i4", "?i2", " f4"] {
            let odd = read(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (3,), }}"), &[]);
            assert!(odd.is_err_and(|error| error.contains("byte order")), "{descr}");
        }
        let large = read("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 99999999), }", &[]);
        assert_eq!(large, Err("a row of the array is longer than 256 MiB".to_string()));
    }

    /// Arrays that are saved to one file one after the other, and headers that numpy writes for records.
    #[test]
    fn bytes_that_would_be_skipped_are_refused() {
        let header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }";
        assert_eq!(read(header, &[0; 4]), Ok(vec![Raw::Int(0); 2]));
        let longer = read(header, &[0; 5]);
        assert_eq!(longer, Err("the file goes on after the array: its header has shape [2]".to_string()));
        let empty = read("{'descr': '<i2', 'fortran_order': False, 'shape': (0, 3), }", &[0; 6]);
        assert_eq!(empty, Err("the file goes on after the array: its header has shape [0,3]".to_string()));
        for header in [
            "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
            "{'descr': '<f8', 'fortran_order': 0, 'shape': (1,), }",
        ] {
            let unclear = read(header, &[]);
            assert!(unclear.is_err_and(|error| error.contains("the header of this NPY file")), "{header}");
        }
    }

    #[test]
    fn other_versions_are_refused() {
        let header = "{'descr': '|b1', 'fortran_order': False, 'shape': (0,), }";
        for (major, minor, is_read) in
            [(1, 0, true), (0, 0, false), (4, 0, false), (1, 1, false), (255, 0, false)]
        {
            let mut file = file(header, &[]);
            file[6..8].copy_from_slice(&[major, minor]);
            let refused = Npy::new(file.as_slice()).err().map(|bad| bad.to_string());
            assert_eq!(refused.is_none(), is_read, "{major}.{minor}: {refused:?}");
        }
    }
}
