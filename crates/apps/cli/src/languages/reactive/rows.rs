//! The results of `run` and `trace`, as lines and as JSON values.

use eddy_driver::benches::ItemResult;
use eddy_driver::{Cell, Row};
use eddy_language::program::Enumerations;
use eddy_language::runs::{Found, Ran, json_line};
use eddy_tensor::Value;
use serde_json::{Value as Json, json};

/// A row as a line of JSON; in a batch, the number of the stream comes first.
pub fn line(names: &[String], enumerations: &Enumerations, row: &Row) -> String {
    let number = |stream: usize| Value::Int(i64::try_from(stream).expect("there are fewer streams"));
    let stream = row.stream.map(|stream| Cell::Value(number(stream)));
    let cells = names.iter().map(String::as_str).zip(&row.cells);
    json_line(stream.iter().map(|stream| ("stream", stream)).chain(cells), enumerations)
}

/// The answer of a run whose rows are these lines.
pub fn answer_of_rows(node: &str, lines: &str) -> Json {
    json!({ "kind": "rows", "node": node, "look_ahead": null, "rows": objects(lines) })
}

pub fn answer_of_file(results: &[ItemResult]) -> Json {
    let result = |result: &ItemResult| match result {
        ItemResult::Bench(ran) => answer_of_run(ran),
        ItemResult::Evaluation(line) => json!({ "kind": "evaluation", "line": line }),
    };
    json!({ "results": results.iter().map(result).collect::<Vec<_>>() })
}

pub fn answer_of_run(ran: &Ran) -> Json {
    let (kind, found) = match ran.found {
        Found::Cells { .. } => ("rows", "rows"),
        Found::Lists(_) => ("lists", "lists"),
        Found::Iterates(_) => ("iterates", "lines"),
    };
    let text = Ran { is_table: false, look_ahead: None, ..ran.clone() }.text(None);
    let value = match ran.found {
        Found::Cells { .. } => Json::Array(objects(&text)),
        Found::Lists(_) => object(&text),
        Found::Iterates(_) => text.lines().collect(),
    };
    json!({ "kind": kind, "node": ran.node, "look_ahead": ran.look_ahead, found: value })
}

pub fn objects(lines: &str) -> Vec<Json> {
    lines.lines().map(object).collect()
}

/// A line as a value. It stays text if its tensors have more axes than JSON readers accept.
fn object(line: &str) -> Json {
    serde_json::from_str(line).unwrap_or_else(|_| line.into())
}
