//! The results of a run, and how they are printed: a JSON object per cycle, a table, or lists.

use std::fmt::Write;

use eddy_tensor::text::Json;
use eddy_tensor::{Data, Scalar, Value};

use crate::chronogram::text::table;
use crate::program::Enumerations;
use crate::semantics::Cell;

/// A completed run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The node that ran.
    pub node: String,
    pub n_cycles: usize,
    pub found: Found,
    /// The names of the enumerators in the results.
    pub enumerations: Enumerations,
    /// Whether a table was requested.
    pub is_table: bool,
    /// The number of significant digits of numbers in a table; `None` for all of them.
    pub digits: Option<usize>,
    /// How far ahead the outputs looked, if that was requested.
    pub look_ahead: Option<u64>,
}

/// The results of a run, which depend on the semantics.
#[derive(Clone, Debug)]
pub enum Found {
    /// A cell for each cycle.
    Cells {
        /// The inputs, by name.
        inputs: Vec<(String, Vec<Cell>)>,
        /// The outputs, or the streams that are shown instead.
        shown: Vec<(String, Vec<Cell>)>,
    },
    /// The values of each stream, without cycles: Kahn's semantics.
    Lists(Vec<(String, Vec<Value>)>),
    /// The iterates of the fixpoint, as text.
    Iterates(String),
}

impl Ran {
    /// The output of the run; `width` is the largest width of a table.
    pub fn text(&self, width: Option<usize>) -> String {
        let mut text = match &self.found {
            Found::Cells { inputs, shown } if self.is_table => {
                let rows = inputs.iter().chain(shown).map(|(name, cells)| {
                    let cases = self.enumerations.get(name).map(Vec::as_slice);
                    (name.as_str(), cells.iter().map(|cell| in_table(cell, cases, self.digits)).collect())
                });
                table(&rows.collect::<Vec<_>>(), self.n_cycles, width)
            }
            Found::Cells { shown, .. } => {
                let cells = |cycle: usize| shown.iter().map(move |(name, cells)| (&**name, &cells[cycle]));
                (0..self.n_cycles).map(|cycle| json_line(cells(cycle), &self.enumerations)).collect()
            }
            Found::Lists(lists) => json_lists(lists, &self.enumerations),
            Found::Iterates(text) => text.clone(),
        };
        if let Some(look_ahead) = self.look_ahead {
            writeln!(text, "# look-ahead used: {look_ahead}").expect("writing to a string succeeds");
        }
        text
    }
}

/// One line of output.
pub type JsonLine = String;

/// A compact object with the streams that are present, and a line break. The leaves of a record follow each
/// other and become an object of their own.
pub fn json_line<'a>(
    cells: impl Iterator<Item = (&'a str, &'a Cell)>,
    enumerations: &Enumerations,
) -> JsonLine {
    let values = cells.filter_map(|(name, cell)| {
        let value = match cell {
            Cell::Absent => return None,
            Cell::Unknown | Cell::Present => "\"⊥\"".to_string(),
            Cell::Error => "\"✗\"".to_string(),
            Cell::Value(value) => json(value, enumerations.get(name).map(Vec::as_slice)),
        };
        Some((name, value))
    });
    object(values) + "\n"
}

/// One object of lists.
fn json_lists(lists: &[(String, Vec<Value>)], enumerations: &Enumerations) -> String {
    let lists = lists.iter().map(|(name, list)| {
        let cases = enumerations.get(name).map(Vec::as_slice);
        let values: Vec<String> = list.iter().map(|value| json(value, cases)).collect();
        (name.as_str(), format!("[{}]", values.join(",")))
    });
    object(lists) + "\n"
}

/// An object of JSON values; `p.x` is in the object of `p`.
fn object<'a>(values: impl Iterator<Item = (&'a str, String)>) -> String {
    let mut text = String::from("{");
    let mut open: Vec<&str> = Vec::new();
    for (name, value) in values {
        // The last segment of a path of instances may be a leaf of a record.
        let start = name.rfind('/').map_or(0, |at| at + 1);
        let mut labels: Vec<&str> = name[start..].split('.').collect();
        labels[0] = &name[..start + labels[0].len()];
        let leaf = labels.pop().expect("a name has a part");
        let n_same = open.iter().zip(&labels).take_while(|(a, b)| a == b).count();
        text.extend(std::iter::repeat_n('}', open.len() - n_same));
        open.truncate(n_same);
        if !text.ends_with('{') {
            text.push(',');
        }
        for label in &labels[n_same..] {
            write!(text, "\"{label}\":{{").expect("writing to a string cannot fail");
            open.push(label);
        }
        write!(text, "\"{leaf}\":{value}").expect("writing to a string cannot fail");
    }
    text.extend(std::iter::repeat_n('}', open.len() + 1));
    text
}

/// A value as JSON; enumerators are strings.
fn json(value: &Value, cases: Option<&[String]>) -> String {
    match cases {
        None => Json(value).to_string(),
        Some(cases) => enumerators(value, &|number| match name_of(cases, number) {
            Some(name) => format!("\"{name}\""),
            None => number.to_string(),
        }),
    }
}

fn in_table(cell: &Cell, cases: Option<&[String]>, digits: Option<usize>) -> String {
    match (cell, cases) {
        (Cell::Value(value), Some(cases)) => enumerators(value, &|number| {
            name_of(cases, number).map_or_else(|| number.to_string(), str::to_string)
        }),
        (Cell::Value(value), None) if let Some(digits) = digits => rounded(value, digits).to_string(),
        _ => cell.to_string(),
    }
}

/// A value with its numbers rounded to at most `digits` significant digits.
pub fn rounded(value: &Value, digits: usize) -> Value {
    let round = |x: f64| match format!("{x:.*e}", digits.saturating_sub(1)).parse() {
        Ok(rounded) if x.is_finite() => rounded,
        _ => x,
    };
    if value.scalar() != Scalar::Num || value.n_elements() == 0 {
        return value.clone();
    }
    let value = value.to_num64();
    let numbers = value.elements().map(|element| match element {
        Value::Num(x) => round(x),
        _ => unreachable!("the elements are numbers"),
    });
    Value::new(value.shape().clone(), Data::Num(numbers.collect())).expect("as many elements as before")
}

fn name_of(cases: &[String], number: i64) -> Option<&str> {
    cases.get(usize::try_from(number).ok()?).map(String::as_str)
}

/// Integers as the names of enumerators, in nested lists.
fn enumerators(value: &Value, text: &dyn Fn(i64) -> String) -> String {
    let number = |element: Value| if let Value::Int(number) = element { text(number) } else { String::new() };
    let mut texts: Vec<String> = match value {
        Value::Int(number) => return text(*number),
        other => other.elements().map(number).collect(),
    };
    for size in value.shape().iter().rev() {
        if *size == 0 {
            return Json(value).to_string();
        }
        texts = texts.chunks(*size).map(|row| format!("[{}]", row.join(","))).collect();
    }
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_significant_digits() {
        let shown = |x: f64, digits| rounded(&Value::Num(x), digits).to_string();
        assert_eq!(shown(0.1 + 0.2, 6), "0.3");
        assert_eq!(shown(123_456_789.0, 3), "123000000");
        assert_eq!(shown(-0.000_123_456, 2), "-0.00012");
        assert_eq!(shown(f64::INFINITY, 2), Value::Num(f64::INFINITY).to_string());
        assert_eq!(rounded(&Value::Int(123_456), 2), Value::Int(123_456));
    }
}
