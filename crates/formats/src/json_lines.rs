//! One JSON object per line: names to values; `null` or no key is absence.
//!
//! Records are objects. Tensors are nested lists, `"⊥"` and `"?"` are unknown, `"inf"`, `"-inf"` and `"nan"`
//! are the numbers that JSON lacks. Empty lines are skipped. Numbers are read exactly.

use std::io::{BufRead, BufReader, Read};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;

use crate::raw::Raw;
use crate::rows::{BadData, ColumnKind, MAX_ROW_BYTES, Place, Row, Rows};

/// Lines of text, without empty ones.
pub(crate) struct Lines<R> {
    from: BufReader<R>,
    line: u64,
}

/// Reads JSON lines.
pub struct JsonLines<R> {
    lines: Lines<R>,
    names: Vec<String>,
    unused: Option<Vec<String>>,
    is_mentioned: Vec<bool>,
    kinds: Vec<ColumnKind>,
    /// Strings that stand for absence.
    missing: Vec<String>,
}

/// A parsed object, in which a key may occur twice.
struct Object(Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Object;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Object(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

impl<R: Read> Lines<R> {
    pub fn new(from: BufReader<R>) -> Self {
        Lines { from, line: 0 }
    }

    /// The next line that is not empty, without its line break.
    pub fn next_line(&mut self) -> Result<Option<Place>, BadData> {
        loop {
            let mut bytes = Vec::new();
            let mut limited = Read::take(&mut self.from, MAX_ROW_BYTES as u64 + 1);
            let n_read = limited.read_until(b'\n', &mut bytes);
            self.line += 1;
            let failed = |line: u64, message: &str| BadData {
                place: Place { line, text: String::new() },
                bytes: 0..0,
                message: format!("the line {message}"),
            };
            match n_read {
                Err(error) => return Err(failed(self.line, &format!("cannot be read: {error}"))),
                Ok(0) => return Ok(None),
                Ok(n) if n > MAX_ROW_BYTES => {
                    return Err(failed(self.line, &format!("is longer than {} MiB", MAX_ROW_BYTES >> 20)));
                }
                Ok(_) => {}
            }
            let Ok(text) = String::from_utf8(bytes) else {
                return Err(failed(self.line, "is not UTF-8"));
            };
            let text = text.trim_end_matches(['\n', '\r']);
            // Some programs begin their files with a byte order mark.
            let text = if self.line == 1 { text.trim_start_matches('\u{FEFF}') } else { text };
            if !text.trim().is_empty() {
                return Ok(Some(Place { line: self.line, text: text.to_string() }));
            }
        }
    }

    /// Whether reading the next line may block.
    pub fn is_waiting(&self) -> bool {
        // The text after the last line break is an incomplete line; blank lines are skipped.
        let lines = self.from.buffer().split_inclusive(|byte| *byte == b'\n');
        let mut whole = lines.filter(|line| line.ends_with(b"\n"));
        whole.all(|line| line.iter().all(u8::is_ascii_whitespace))
    }
}

impl<R: Read> JsonLines<R> {
    /// Reads cells for these inputs.
    pub fn new(from: BufReader<R>, names: Vec<String>) -> Self {
        let is_mentioned = vec![false; names.len()];
        let kinds = vec![ColumnKind::Values; names.len()];
        let missing = Vec::new();
        JsonLines { lines: Lines::new(from), names, unused: None, is_mentioned, kinds, missing }
    }

    /// The kinds of the columns.
    #[must_use]
    pub fn with_kinds(mut self, kinds: Vec<ColumnKind>) -> Self {
        self.kinds = kinds;
        self
    }

    /// Reads these strings as absence.
    #[must_use]
    pub fn with_missing(mut self, missing: Vec<String>) -> Self {
        self.missing = missing;
        self
    }

    fn note_unused(&mut self, object: &Object) {
        if self.unused.is_none() {
            let keys = object.0.iter().map(|(key, _)| key);
            // A key may hold the leaves of a record, whose names begin with it.
            let is_used = |key: &str| {
                let begins = |name: &String| name.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
                self.names.iter().any(|name| name == key || begins(name))
            };
            self.unused = Some(keys.filter(|key| !is_used(key)).cloned().collect());
        }
    }
}

impl<R: Read> Rows for JsonLines<R> {
    fn is_waiting(&self) -> bool {
        self.lines.is_waiting()
    }

    fn next_row(&mut self) -> Result<Option<Row>, BadData> {
        let Some(place) = self.lines.next_line()? else { return Ok(None) };
        let bad = |bytes, message| BadData { place: place.clone(), bytes, message };
        let object: Object = serde_json::from_str(&place.text).map_err(|error| not_json(&place, &error))?;
        self.note_unused(&object);
        let mut cells = Vec::with_capacity(self.names.len());
        let inputs = self.names.iter().zip(&mut self.is_mentioned).zip(&self.kinds);
        for ((name, is_mentioned), kind) in inputs {
            let (key, labels) = match name.split_once('.') {
                Some((key, labels)) => (key, labels.split('.').collect()),
                None => (name.as_str(), Vec::new()),
            };
            let mut values = object.0.iter().filter(|(other, _)| other == key).map(|(_, json)| json);
            let value = values.next();
            if values.next().is_some() {
                return Err(bad(find(&place.text, key), format!("`{key}` is given twice in one object")));
            }
            let value = match value {
                Some(record) => {
                    leaf(record, key, &labels).map_err(|found| bad(find(&place.text, key), found))?
                }
                None => None,
            };
            *is_mentioned |= value.is_some();
            let is_missing =
                |json: &&Json| json.as_str().is_some_and(|text| self.missing.iter().any(|m| m == text));
            let value = value.filter(|value| !is_missing(value));
            let cell = value.map_or(Ok(Raw::Absent), |value| raw(value, kind));
            cells.push(cell.map_err(|found| {
                let wanted = match kind {
                    ColumnKind::Enumerators(cases) => format!("one of \"{}\"", cases.join("\", \"")),
                    ColumnKind::Texts => "a text".to_string(),
                    ColumnKind::Values => "a number, a truth value or a list of these".to_string(),
                };
                bad(find(&place.text, key), format!("`{name}` must be {wanted}, not {found}"))
            })?);
        }
        Ok(Some(Row { cells, place }))
    }

    fn unused(&self) -> &[String] {
        self.unused.as_deref().unwrap_or_default()
    }

    fn mentions(&self, input: usize) -> bool {
        self.is_mentioned[input]
    }
}

/// A line that is not a JSON object.
pub(crate) fn not_json(place: &Place, error: &serde_json::Error) -> BadData {
    let at = error.column().saturating_sub(1).min(place.text.len());
    let bytes = at..place.text.len().min(at + 1);
    BadData { place: place.clone(), bytes, message: format!("expected a JSON object: {}", reason(error)) }
}

/// The parser's message without the place, which is added separately.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}

/// The bytes of a key and its value in a line, found by a text search; `p.x` is in the object of `p`.
pub fn find(line: &str, name: &str) -> std::ops::Range<usize> {
    let key = format!("\"{}\"", name.split('.').next().unwrap_or(name));
    line.find(&key).map_or(0..0, |at| at..at + key.len())
}

/// The leaf of a record at these labels; `None` if it is absent, and with it the whole record. An unknown
/// record has unknown leaves.
fn leaf<'a>(record: &'a Json, key: &str, labels: &[&str]) -> Result<Option<&'a Json>, String> {
    let (mut at, mut name) = (record, key.to_string());
    for label in labels {
        at = match at {
            Json::Null => return Ok(None),
            Json::String(text) if matches!(text.as_str(), "⊥" | "?") => return Ok(Some(at)),
            Json::Object(fields) => match fields.get(*label) {
                Some(field) => field,
                None => return Err(format!("the record `{name}` has no field `{label}`")),
            },
            other => return Err(format!("`{name}` must be an object with a field `{label}`, not {other}")),
        };
        name = format!("{name}.{label}");
    }
    Ok(Some(at))
}

fn raw(json: &Json, kind: &ColumnKind) -> Result<Raw, String> {
    Ok(match json {
        Json::String(text)
            if let ColumnKind::Enumerators(cases) = kind
                && !matches!(text.as_str(), "⊥" | "?") =>
        {
            match cases.iter().position(|case| case == text) {
                Some(number) => Raw::Int(i64::try_from(number).expect("fewer enumerators than bytes")),
                None => return Err(format!("{text:?}")),
            }
        }
        Json::Number(number) if matches!(kind, ColumnKind::Enumerators(_)) => return Err(number.to_string()),
        Json::String(text) if *kind == ColumnKind::Texts && !matches!(text.as_str(), "⊥" | "?") => {
            Raw::Text(text.clone())
        }
        Json::Bool(_) | Json::Number(_) if *kind == ColumnKind::Texts => Raw::Text(json.to_string()),
        Json::Array(_) if *kind == ColumnKind::Texts => return Err("a list".to_string()),
        Json::Null => Raw::Absent,
        Json::Bool(truth) => Raw::Bool(*truth),
        Json::Number(number) => match number.as_i64() {
            // `1` and `1.0` are different texts, and `as_i64` distinguishes them.
            Some(n) => Raw::Int(n),
            None => Raw::Num(number.as_f64().ok_or_else(|| number.to_string())?),
        },
        Json::String(text) => match text.as_str() {
            "⊥" | "?" => Raw::Unknown,
            "inf" => Raw::Num(f64::INFINITY),
            "-inf" => Raw::Num(f64::NEG_INFINITY),
            "nan" => Raw::Num(f64::NAN),
            _ => return Err(format!("the string {text:?}")),
        },
        Json::Array(items) => Raw::List(items.iter().map(|item| raw(item, kind)).collect::<Result<_, _>>()?),
        Json::Object(_) => return Err("an object".to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Result<Vec<Raw>, String>> {
        let mut rows =
            JsonLines::new(BufReader::new(text.as_bytes()), vec!["x".to_string(), "y".to_string()]);
        let mut read = Vec::new();
        loop {
            match rows.next_row() {
                Ok(None) => return read,
                Ok(Some(row)) => read.push(Ok(row.cells)),
                Err(bad) => {
                    read.push(Err(bad.to_string()));
                    return read;
                }
            }
        }
    }

    #[test]
    fn missing_keys_and_null_are_absent() {
        assert_eq!(
            read("{\"x\":1}\n\n{\"y\":null,\"x\":true}"),
            [Ok(vec![Raw::Int(1), Raw::Absent]), Ok(vec![Raw::Bool(true), Raw::Absent]),]
        );
    }

    #[test]
    fn numbers_are_exact_and_strings_name_the_rest() {
        let read = read("{\"x\":0.1,\"y\":\"inf\"}\n{\"x\":\"⊥\",\"y\":[1.5,[2]]}");
        assert_eq!(read[0], Ok(vec![Raw::Num(0.1), Raw::Num(f64::INFINITY)]));
        let nested = Raw::List(vec![Raw::Num(1.5), Raw::List(vec![Raw::Int(2)])]);
        assert_eq!(read[1], Ok(vec![Raw::Unknown, nested]));
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        assert_eq!(
            read("{\"x\":1}\n{\"x\":")[1],
            Err("line 2: expected a JSON object: EOF while parsing a value".to_string())
        );
        assert_eq!(
            read("{\"x\":\"one\"}")[0],
            Err("line 1: `x` must be a number, a truth value or a list of these, not the string \"one\""
                .to_string())
        );
        assert!(
            read("[1]")[0].as_ref().is_err_and(|error| error.starts_with("line 1: expected a JSON object"))
        );
    }

    #[test]
    fn texts_are_kept_and_some_stand_for_absence() {
        let names = vec!["x".to_string(), "y".to_string()];
        let text = "{\"x\":\"red\",\"y\":\"NA\"}\n{\"x\":3,\"y\":2}\n{\"x\":[1]}\n";
        let mut rows = JsonLines::new(BufReader::new(text.as_bytes()), names)
            .with_kinds(vec![ColumnKind::Texts, ColumnKind::Values])
            .with_missing(vec!["NA".to_string()]);
        let mut cells = || rows.next_row().map(|row| row.map(|row| row.cells)).map_err(|bad| bad.to_string());
        assert_eq!(cells(), Ok(Some(vec![Raw::Text("red".to_string()), Raw::Absent])));
        assert_eq!(cells(), Ok(Some(vec![Raw::Text("3".to_string()), Raw::Int(2)])));
        assert_eq!(cells(), Err("line 3: `x` must be a text, not a list".to_string()));
    }

    #[test]
    fn a_key_stands_once() {
        assert_eq!(
            read("{\"x\":1,\"y\":2,\"x\":3}")[0],
            Err("line 1: `x` is given twice in one object".to_string())
        );
    }

    #[test]
    fn names_that_are_no_inputs_are_known() {
        let mut rows = JsonLines::new(BufReader::new(&b"{\"t\":0,\"x\":1}"[..]), vec!["x".to_string()]);
        rows.next_row().expect("the line is right");
        assert_eq!(rows.unused(), ["t"]);
    }
}
