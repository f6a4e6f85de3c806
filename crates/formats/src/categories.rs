//! Texts as integers: the numbers of the texts of a column, in the order in which they first come.
//!
//! A table is open while a training set is read: new texts get the next numbers. Afterwards it is closed, and
//! other texts are errors.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::raw::Raw;
use crate::rows::{BadData, Row, Rows};

/// The largest number of texts of a column.
const MAX_TEXTS: usize = 1 << 20;

/// The number of texts that a message lists.
const SHOWN: usize = 8;

/// The texts of a column; the number of a text is its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Categories {
    pub column: String,
    pub texts: Vec<String>,
    /// Whether other texts are added.
    pub is_open: bool,
    index: std::collections::HashMap<String, i64>,
}

/// A table that several readers share.
pub type SharedCategories = Arc<Mutex<Categories>>;

impl Categories {
    /// A table that learns the texts of a column.
    pub fn open(column: impl Into<String>) -> Categories {
        Categories { column: column.into(), is_open: true, ..Categories::default() }
    }

    /// A table with these texts only.
    pub fn closed(column: impl Into<String>, texts: Vec<String>) -> Categories {
        let index = (0..).zip(&texts).map(|(number, text)| (text.clone(), number)).collect();
        Categories { column: column.into(), texts, is_open: false, index }
    }

    /// The number of a text, or the reason why it has none.
    fn number(&mut self, text: &str) -> Result<i64, String> {
        if let Some(number) = self.index.get(text) {
            return Ok(*number);
        }
        if !self.is_open {
            return Err(self.unknown(text));
        }
        if self.texts.len() == MAX_TEXTS {
            return Err(format!("`{}` has more than {MAX_TEXTS} different texts", self.column));
        }
        let number = i64::try_from(self.texts.len()).expect("there are few texts");
        self.texts.push(text.to_string());
        self.index.insert(text.to_string(), number);
        Ok(number)
    }

    fn unknown(&self, text: &str) -> String {
        let shown: Vec<String> = self.texts.iter().take(SHOWN).map(|text| format!("`{text}`")).collect();
        let known = match self.texts.len() {
            0 => "there were no texts in it".to_string(),
            n if n > SHOWN => format!("it had {} and {} more", shown.join(", "), n - SHOWN),
            _ => format!("it had {}", shown.join(", ")),
        };
        format!("`{}` has the text `{text}`, which the training data did not have: {known}", self.column)
    }
}

/// The table behind the lock.
pub fn locked(table: &SharedCategories) -> MutexGuard<'_, Categories> {
    // A panic elsewhere leaves a whole table.
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A reader that replaces the texts of some columns by their numbers.
pub struct Numbered<R> {
    inner: R,
    /// The table of each column that has one.
    tables: Vec<Option<SharedCategories>>,
}

impl<R> Numbered<R> {
    pub fn new(inner: R, tables: Vec<Option<SharedCategories>>) -> Self {
        Numbered { inner, tables }
    }
}

impl<R: Rows> Rows for Numbered<R> {
    fn next_row(&mut self) -> Result<Option<Row>, BadData> {
        let Some(mut row) = self.inner.next_row()? else { return Ok(None) };
        for (cell, table) in row.cells.iter_mut().zip(&self.tables) {
            let (Raw::Text(text), Some(table)) = (&*cell, table) else { continue };
            match locked(table).number(text) {
                Ok(number) => *cell = Raw::Int(number),
                Err(message) => {
                    let at = row.place.text.find(text.as_str());
                    let bytes = at.map_or(0..0, |at| at..at + text.len());
                    return Err(BadData { place: row.place, bytes, message });
                }
            }
        }
        Ok(Some(row))
    }

    fn is_waiting(&self) -> bool {
        self.inner.is_waiting()
    }

    fn has_header(&self) -> bool {
        self.inner.has_header()
    }

    fn unused(&self) -> &[String] {
        self.inner.unused()
    }

    fn mentions(&self, input: usize) -> bool {
        self.inner.mentions(input)
    }
}

impl<R: Rows + ?Sized> Rows for Box<R> {
    fn next_row(&mut self) -> Result<Option<Row>, BadData> {
        (**self).next_row()
    }

    fn is_waiting(&self) -> bool {
        (**self).is_waiting()
    }

    fn has_header(&self) -> bool {
        (**self).has_header()
    }

    fn unused(&self) -> &[String] {
        (**self).unused()
    }

    fn mentions(&self, input: usize) -> bool {
        (**self).mentions(input)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;
    use crate::csv::Csv;
    use crate::records::Separator;
    use crate::rows::ColumnKind;

    fn read(text: &str, table: &SharedCategories) -> Result<Vec<Raw>, String> {
        let csv = Csv::new(BufReader::new(text.as_bytes()), Separator::Comma, vec!["c".to_string()]);
        let mut rows = Numbered::new(csv.with_kinds(vec![ColumnKind::Texts]), vec![Some(Arc::clone(table))]);
        let mut cells = Vec::new();
        while let Some(row) = rows.next_row().map_err(|bad| bad.to_string())? {
            cells.extend(row.cells);
        }
        Ok(cells)
    }

    #[test]
    fn texts_are_numbered_as_they_come_and_unknown_ones_refused() {
        let table = Arc::new(Mutex::new(Categories::open("c")));
        let ints = |numbers: &[i64]| Ok(numbers.iter().map(|n| Raw::Int(*n)).collect());
        assert_eq!(read("c\nred\ngreen\nred\n", &table), ints(&[0, 1, 0]));
        locked(&table).is_open = false;
        assert_eq!(read("c\ngreen\n", &table), ints(&[1]));
        let message =
            "line 3: `c` has the text `blue`, which the training data did not have: it had `red`, `green`";
        assert_eq!(read("c\nred\nblue\n", &table), Err(message.to_string()));
    }
}
