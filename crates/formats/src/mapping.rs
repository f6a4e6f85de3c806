//! Columns of other names, and several columns as one input: `x=temp`, `x=a,b,c`, `m=a,b;c,d`.
//!
//! ```text
//! x=price               the column `price`
//! x=a,b,c               a vector of three columns; `x=a,` is a vector of one
//! x=a,b;c,d             a matrix: `;` separates its rows
//! x=p0..p63             all columns of the header from `p0` to `p63`
//! x=*                   all columns that nothing else reads
//! x="a,b","p..q"        names with commas and the like stand in quotes
//! ```
//!
//! The last two forms need a header, as in CSV. [`Mapped`] reads the columns and joins their cells.

use std::fmt;

use crate::raw::Raw;
use crate::rows::{BadData, Place, Row, Rows};

/// The columns of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The name of the input.
    pub input: String,
    /// The text after `=`, which messages and files repeat.
    text: String,
    /// The columns in rows; a scalar or a vector has one row.
    rows: Vec<Vec<Part>>,
    layout: Layout,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Column(String),
    /// The columns of the header from the first to the last.
    Range(String, String),
    /// All columns that nothing else reads.
    Rest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Scalar,
    Vector,
    Matrix,
}

impl Mapping {
    /// Reads `x=a,b`; returns the reason if it is wrong.
    pub fn parse(text: &str) -> Result<Mapping, String> {
        let example = "write INPUT=COLUMNS, such as `x=temp` or `x=a,b,c`";
        let (input, columns) = text.split_once('=').ok_or(example)?;
        let (input, columns) = (input.trim(), columns.trim());
        if input.is_empty() || columns.is_empty() {
            return Err(example.to_string());
        }
        Mapping::new(input, columns)
    }

    /// The columns of an input.
    pub fn new(input: &str, columns: &str) -> Result<Mapping, String> {
        let mut rows = vec![Vec::new()];
        let (mut layout, mut has_comma) = (Layout::Scalar, false);
        for (part, end) in parts(columns)? {
            // The comma at the end of `a,` makes a vector; it is not followed by a column.
            if part.is_empty() && has_comma && end.is_none() && layout == Layout::Vector {
                break;
            }
            has_comma = end == Some(',');
            let part = part.read().ok_or("a column has an empty name: `x=a,b` has two columns")?;
            rows.last_mut().expect("there is a row").push(part);
            match end {
                Some(';') => {
                    layout = Layout::Matrix;
                    rows.push(Vec::new());
                }
                Some(_) if layout == Layout::Scalar => layout = Layout::Vector,
                _ => {}
            }
        }
        let is_alone = |part: &Part| matches!(part, Part::Column(_));
        if layout == Layout::Scalar && !rows.iter().flatten().all(is_alone) {
            layout = Layout::Vector;
        }
        Ok(Mapping { input: input.to_string(), text: columns.to_string(), rows, layout })
    }

    /// One column, with any name.
    pub fn renamed(input: &str, column: &str) -> Mapping {
        let rows = vec![vec![Part::Column(column.to_string())]];
        Mapping { input: input.to_string(), text: quoted(column), rows, layout: Layout::Scalar }
    }

    /// The text after `=`.
    pub fn columns(&self) -> &str {
        &self.text
    }

    /// Whether the columns depend on the header.
    pub fn needs_header(&self) -> bool {
        self.rows.iter().flatten().any(|part| !matches!(part, Part::Column(_)))
    }

    /// The columns that are named.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().flatten().filter_map(|part| match part {
            Part::Column(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The columns of a header that it names or that are in its ranges.
    pub fn claimed<'a>(&'a self, header: &'a [String]) -> Result<Vec<&'a str>, String> {
        let mut claimed = Vec::new();
        for part in self.rows.iter().flatten() {
            match part {
                Part::Column(name) => claimed.push(name.as_str()),
                Part::Range(first, last) => claimed.extend(range(header, first, last)?),
                Part::Rest => {}
            }
        }
        Ok(claimed)
    }

    /// The names of the columns, row by row; `*` takes the columns of the header that are not `taken`.
    fn resolved(&self, header: &[String], taken: &[&str]) -> Result<Vec<Vec<String>>, String> {
        let mut rows = Vec::new();
        for parts in &self.rows {
            let mut row: Vec<String> = Vec::new();
            for part in parts {
                match part {
                    Part::Column(name) => row.push(name.clone()),
                    Part::Range(first, last) => {
                        row.extend(range(header, first, last)?.into_iter().map(str::to_string));
                    }
                    Part::Rest => {
                        row.extend(header.iter().filter(|name| !taken.contains(&name.as_str())).cloned());
                    }
                }
            }
            rows.push(row);
        }
        let n_columns = rows[0].len();
        if rows.iter().any(|row| row.len() != n_columns) {
            return Err("the rows of the matrix have different numbers of columns".to_string());
        }
        if n_columns == 0 {
            return Err("no column is left for it".to_string());
        }
        Ok(rows)
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.input, self.text)
    }
}

/// The columns of a header from `first` to `last`.
fn range<'a>(header: &'a [String], first: &str, last: &str) -> Result<Vec<&'a str>, String> {
    let find = |name: &str| {
        let found = header.iter().position(|column| column == name);
        found.ok_or_else(|| format!("there is no column `{name}`"))
    };
    let (from, to) = (find(first)?, find(last)?);
    if from > to {
        return Err(format!("the column `{first}` comes after `{last}`"));
    }
    Ok(header[from..=to].iter().map(String::as_str).collect())
}

/// A part of a list of columns, as it is written.
#[derive(Default)]
struct Written {
    text: String,
    is_quoted: bool,
}

impl Written {
    fn is_empty(&self) -> bool {
        !self.is_quoted && self.text.trim().is_empty()
    }

    fn read(self) -> Option<Part> {
        if self.is_quoted {
            return Some(Part::Column(self.text));
        }
        let text = self.text.trim();
        Some(match text.split_once("..") {
            _ if text.is_empty() => return None,
            _ if text == "*" => Part::Rest,
            Some((first, last)) if !first.trim().is_empty() && !last.trim().is_empty() => {
                Part::Range(first.trim().to_string(), last.trim().to_string())
            }
            _ => Part::Column(text.to_string()),
        })
    }
}

/// The parts of a list of columns, each with the separator after it.
fn parts(text: &str) -> Result<Vec<(Written, Option<char>)>, String> {
    let (mut parts, mut part, mut is_open) = (Vec::new(), Written::default(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_open && characters.peek() == Some(&'"') => {
                characters.next();
                part.text.push('"');
            }
            '"' if is_open => is_open = false,
            '"' if part.is_empty() => {
                part = Written { text: String::new(), is_quoted: true };
                is_open = true;
            }
            ',' | ';' if !is_open => parts.push((std::mem::take(&mut part), Some(character))),
            ' ' if part.is_quoted && !is_open => {}
            _ if part.is_quoted && !is_open => return Err("text follows a closing quote".to_string()),
            other => part.text.push(other),
        }
    }
    if is_open {
        return Err("a quote is not closed".to_string());
    }
    parts.push((part, None));
    Ok(parts)
}

/// The name of a column as it is written in a list.
fn quoted(name: &str) -> String {
    let is_plain =
        !name.contains([',', ';', '"']) && !name.contains("..") && name.trim() == name && name != "*";
    if is_plain { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// Reads columns and joins them to inputs.
pub struct Mapped<R> {
    inner: R,
    /// The names of the columns.
    columns: Vec<String>,
    inputs: Vec<Joined>,
    holes: Holes,
    is_checked: bool,
}

/// What an absent column among present ones means for an input of several columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holes {
    /// The value has a hole, which is an error.
    #[default]
    Kept,
    /// The input is absent.
    Absent,
}

/// The columns of one input, by their numbers in the reader.
struct Joined {
    layout: Layout,
    rows: Vec<Vec<usize>>,
    /// How the user wrote it; `None` for an input that is a column of the same name.
    written: Option<String>,
}

/// The columns that a reader must supply, and how they are joined.
pub struct Layouts {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// For each column, the number of the input that it is part of.
    pub input_of: Vec<usize>,
    inputs: Vec<Joined>,
}

impl Layouts {
    /// The columns of these inputs. `header` has the names of all columns, if they are known; `reserved` are
    /// columns that `*` leaves out.
    pub fn new(
        inputs: &[String],
        mappings: &[Mapping],
        header: &[String],
        reserved: &[String],
    ) -> Result<Layouts, String> {
        let of = |input: &String| mappings.iter().find(|mapping| mapping.input == *input);
        let mut taken: Vec<&str> = reserved.iter().map(String::as_str).collect();
        for input in inputs {
            match of(input) {
                Some(mapping) => taken.extend(mapping.claimed(header).map_err(|why| shown(mapping, &why))?),
                None => taken.push(input),
            }
        }
        let mut found = Layouts { columns: Vec::new(), input_of: Vec::new(), inputs: Vec::new() };
        for (number, input) in inputs.iter().enumerate() {
            let (layout, names, written) = match of(input) {
                Some(mapping) => {
                    let names = mapping.resolved(header, &taken).map_err(|why| shown(mapping, &why))?;
                    (mapping.layout, names, Some(mapping.to_string()))
                }
                None => (Layout::Scalar, vec![vec![input.clone()]], None),
            };
            let rows = names.into_iter().map(|row| found.add(row, number)).collect();
            found.inputs.push(Joined { layout, rows, written });
        }
        Ok(found)
    }

    /// Adds columns of an input. A column that several inputs read is read once for each of them.
    fn add(&mut self, names: Vec<String>, input: usize) -> Vec<usize> {
        let start = self.columns.len();
        self.input_of.extend(names.iter().map(|_| input));
        self.columns.extend(names);
        (start..self.columns.len()).collect()
    }

    /// Whether each input is the column of its own name.
    pub fn is_plain(&self) -> bool {
        self.inputs.iter().all(|joined| joined.written.is_none())
    }

    /// Joins the cells of a reader that supplies the columns.
    pub fn of<R: Rows>(self, inner: R, holes: Holes) -> Mapped<R> {
        Mapped { inner, columns: self.columns, inputs: self.inputs, holes, is_checked: false }
    }
}

fn shown(mapping: &Mapping, why: &str) -> String {
    format!("`{mapping}`: {why}")
}

impl<R: Rows> Mapped<R> {
    /// After the first row: a header that has some columns of an input and not the others is an error.
    fn check(&mut self, place: &Place) -> Result<(), BadData> {
        if std::mem::replace(&mut self.is_checked, true) || !self.inner.has_header() {
            return Ok(());
        }
        for Joined { rows, written, .. } in &self.inputs {
            let Some(written) = written else { continue };
            let columns: Vec<usize> = rows.iter().flatten().copied().collect();
            let is_there = |column: &&usize| self.inner.mentions(**column);
            let missing = columns.iter().find(|column| !is_there(column));
            if let (true, Some(missing)) = (columns.iter().any(|column| is_there(&column)), missing) {
                let message = format!("`{written}`: there is no column `{}`", self.columns[*missing]);
                let place = Place { line: place.line.min(1), text: String::new() };
                return Err(BadData { place, bytes: 0..0, message });
            }
        }
        Ok(())
    }
}

impl<R: Rows> Rows for Mapped<R> {
    fn next_row(&mut self) -> Result<Option<Row>, BadData> {
        let Some(Row { mut cells, place }) = self.inner.next_row()? else { return Ok(None) };
        self.check(&place)?;
        let holes = self.holes;
        let cells = self.inputs.iter().map(|joined| joined.cell(&mut cells, holes)).collect();
        Ok(Some(Row { cells, place }))
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
        self.inputs[input].rows.iter().flatten().any(|column| self.inner.mentions(*column))
    }
}

impl Joined {
    fn cell(&self, cells: &mut [Raw], holes: Holes) -> Raw {
        let mut take = |column: usize| std::mem::replace(&mut cells[column], Raw::Absent);
        if self.layout == Layout::Scalar {
            return take(self.rows[0][0]);
        }
        let mut rows: Vec<Vec<Raw>> =
            self.rows.iter().map(|row| row.iter().map(|column| take(*column)).collect()).collect();
        let n_absent = rows.iter().flatten().filter(|cell| **cell == Raw::Absent).count();
        if n_absent > 0 && (holes == Holes::Absent || n_absent == rows.iter().map(Vec::len).sum::<usize>()) {
            return Raw::Absent;
        }
        if rows.iter().flatten().all(|cell| *cell == Raw::Unknown) {
            return Raw::Unknown;
        }
        match self.layout {
            Layout::Matrix => Raw::List(rows.into_iter().map(Raw::List).collect()),
            _ => Raw::List(rows.swap_remove(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;
    use crate::csv::Csv;
    use crate::records::Separator;

    /// The first row of a table as these inputs, or the error.
    fn read(text: &str, inputs: &[&str], mappings: &[&str]) -> Result<String, String> {
        let inputs: Vec<String> = inputs.iter().map(ToString::to_string).collect();
        let mappings: Vec<Mapping> =
            mappings.iter().map(|text| Mapping::parse(text)).collect::<Result<_, _>>()?;
        let from = BufReader::new(text.as_bytes());
        let mut csv = Csv::new(from, Separator::Comma, Vec::new());
        let header = csv.header().map_err(|bad| bad.to_string())?.to_vec();
        let layouts = Layouts::new(&inputs, &mappings, &header, &["skip".to_string()])?;
        csv.choose(layouts.columns.clone());
        let mut rows = layouts.of(csv, Holes::Kept);
        let row = rows.next_row().map_err(|bad| bad.to_string())?.ok_or("no row")?;
        Ok(row.cells.iter().map(shown).collect::<Vec<_>>().join(" "))
    }

    fn shown(raw: &Raw) -> String {
        match raw {
            Raw::Int(n) => n.to_string(),
            Raw::Absent => ".".to_string(),
            Raw::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(",")),
            other => format!("{other:?}"),
        }
    }

    #[track_caller]
    fn check(mappings: &[&str], expected: &str) {
        let table = "a,b c,d,skip,\"e,f\"\n1,2,3,4,5\n";
        let found = read(table, &["x", "y"], mappings).unwrap_or_else(|why| why);
        assert_eq!(found, expected);
    }

    #[test]
    fn columns_are_renamed_and_joined() {
        check(&["x=a"], "1 .");
        check(&["x=a,b c", "y=\"e,f\""], "[1,2] 5");
        check(&["x=a,"], "[1] .");
        check(&["x=a,b c;d,\"e,f\""], "[[1,2],[3,5]] .");
        check(&["x=a..d", "y=a"], "[1,2,3] 1");
        check(&["x=*", "y=d"], "[1,2,5] 3");
    }

    #[test]
    fn wrong_mappings_are_refused() {
        check(&["x=d..a"], "`x=d..a`: the column `d` comes after `a`");
        check(&["x=a..z"], "`x=a..z`: there is no column `z`");
        check(&["x=a,b"], "line 1: `x=a,b`: there is no column `b`");
        check(&["x=a;b c,d"], "`x=a;b c,d`: the rows of the matrix have different numbers of columns");
        check(&["x"], "write INPUT=COLUMNS, such as `x=temp` or `x=a,b,c`");
        check(&["x=a,,d"], "a column has an empty name: `x=a,b` has two columns");
        check(&["x=\"a"], "a quote is not closed");
        check(&["x=\"a\"b"], "text follows a closing quote");
    }

    #[test]
    fn a_value_with_a_hole_is_absent_only_on_demand() {
        let text = "a,b\n1,\n";
        assert_eq!(read(text, &["x"], &["x=a,b"]), Ok("[1,.]".to_string()));
        assert_eq!(read("a,b\n\"\",\n", &["x"], &["x=a,b"]), Ok(".".to_string()));
        let layouts =
            Layouts::new(&["x".to_string()], &[Mapping::renamed("x", "a")], &[], &[]).expect("it is right");
        assert!(!layouts.is_plain());
    }

    #[test]
    fn names_are_quoted_where_they_need_it() {
        for name in ["plain", "with blank", "a,b", "a..b", "\"", "*", " edge"] {
            let mapping = Mapping::renamed("x", name);
            assert_eq!(Mapping::parse(&mapping.to_string()), Ok(mapping), "{name}");
        }
    }
}
