//! NPZ: named arrays of equal length, an archive of NPY files.

use std::io::{Cursor, Read};

use crate::npy::Npy;
use crate::raw::Raw;
use crate::rows::{BadData, Place, Row, Rows};
use crate::zip::members;

/// Reads the arrays of some inputs side by side, row by row.
pub struct Npz {
    /// The array of each input.
    arrays: Vec<Option<Npy<Cursor<Vec<u8>>>>>,
    unused: Vec<String>,
}

impl Npz {
    /// Reads the arrays with these names. The whole file is kept in memory.
    pub fn new(mut from: impl Read, names: &[String]) -> Result<Npz, BadData> {
        let mut file = Vec::new();
        from.read_to_end(&mut file)
            .map_err(|error| BadData::without_line(format!("the file cannot be read: {error}")))?;
        let mut found = Npz { arrays: names.iter().map(|_| None).collect(), unused: Vec::new() };
        let mut longest: Option<(String, usize)> = None;
        for member in members(&file)? {
            let name = member.name.strip_suffix(".npy").unwrap_or(&member.name).to_string();
            let Some(input) = names.iter().position(|wanted| *wanted == name) else {
                found.unused.push(name);
                continue;
            };
            let of_array =
                |bad: BadData| BadData::without_line(format!("the array `{name}`: {}", bad.message));
            if found.arrays[input].is_some() {
                return Err(BadData::without_line(format!("the archive has two arrays `{name}`")));
            }
            let array = Npy::new(Cursor::new(member.bytes(&file)?)).map_err(of_array)?;
            if let Some((other, n_rows)) = &longest
                && *n_rows != array.n_rows()
            {
                return Err(BadData::without_line(format!(
                    "the arrays `{other}` and `{name}` have {n_rows} and {} rows",
                    array.n_rows()
                )));
            }
            longest = Some((name, array.n_rows()));
            found.arrays[input] = Some(array);
        }
        Ok(found)
    }
}

impl Rows for Npz {
    fn next_row(&mut self) -> Result<Option<Row>, BadData> {
        let mut cells = Vec::with_capacity(self.arrays.len());
        let mut has_some = false;
        for array in &mut self.arrays {
            let row = match array {
                Some(array) => array.next_row()?,
                None => None,
            };
            has_some |= row.is_some();
            cells.push(row.map_or(Raw::Absent, |mut row| row.cells.swap_remove(0)));
        }
        Ok(has_some.then_some(Row { cells, place: Place { line: 0, text: String::new() } }))
    }

    fn is_waiting(&self) -> bool {
        false
    }

    fn has_header(&self) -> bool {
        true
    }

    fn unused(&self) -> &[String] {
        &self.unused
    }

    fn mentions(&self, input: usize) -> bool {
        self.arrays[input].is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npy::tests::file;
    use crate::zip::tests::archive;

    fn array(n: usize) -> Vec<u8> {
        file(&format!("{{'descr': '|i1', 'fortran_order': False, 'shape': ({n},), }}"), &vec![7; n])
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn arrays_are_read_side_by_side() {
        for is_deflated in [false, true] {
            let file =
                archive(&[("x.npy", &array(2)), ("t.npy", &array(9)), ("y.npy", &array(2))], is_deflated);
            let mut npz = Npz::new(file.as_slice(), &names(&["y", "x", "z"])).expect("it was just written");
            assert_eq!(npz.unused(), ["t"]);
            for _ in 0..2 {
                let row = npz.next_row().expect("it can be read").expect("there is a row");
                assert_eq!(row.cells, [Raw::Int(7), Raw::Int(7), Raw::Absent]);
            }
            assert_eq!(npz.next_row(), Ok(None));
            assert!(npz.mentions(0) && !npz.mentions(2));
        }
    }

    #[test]
    fn arrays_have_equal_lengths() {
        let file = archive(&[("x.npy", &array(2)), ("y.npy", &array(3))], false);
        let refused = Npz::new(file.as_slice(), &names(&["x", "y"])).err().map(|bad| bad.message);
        assert_eq!(refused.as_deref(), Some("the arrays `x` and `y` have 2 and 3 rows"));
        let refused = Npz::new(&b"no archive"[..], &names(&["x"])).err().map(|bad| bad.message);
        assert_eq!(refused.as_deref(), Some("this is no NPZ file, or it is cut off"));
    }
}
