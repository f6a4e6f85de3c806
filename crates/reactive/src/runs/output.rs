//! What is printed of a run: a JSON object per cycle, a table, or lists.

use std::fmt::Write;

use eddy_tensor::Value;
use eddy_tensor::text::Json;

use crate::cell::Cell;

/// One line of output.
pub type JsonLine = String;

/// A compact object with the streams that are there, and a line break.
pub fn json_line<'a>(cells: impl Iterator<Item = (&'a str, &'a Cell)>) -> JsonLine {
    let mut text = String::from("{");
    for (name, cell) in cells {
        let value = match cell {
            Cell::Absent => continue,
            Cell::Unknown | Cell::Present => "\"⊥\"".to_string(),
            Cell::Error => "\"✗\"".to_string(),
            Cell::Value(value) => Json(value).to_string(),
        };
        let comma = if text.len() > 1 { "," } else { "" };
        write!(text, "{comma}\"{name}\":{value}").expect("a string takes all that is written");
    }
    text + "}\n"
}

/// One object of lists.
pub(super) fn json_lists<'a>(lists: impl Iterator<Item = (&'a str, &'a [Value])>) -> String {
    let one = |(name, list): (&str, &[Value])| {
        let values: Vec<String> = list.iter().map(|value| Json(value).to_string()).collect();
        format!("\"{name}\":[{}]", values.join(","))
    };
    format!("{{{}}}\n", lists.map(one).collect::<Vec<_>>().join(","))
}
