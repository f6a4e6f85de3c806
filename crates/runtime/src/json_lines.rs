//! One JSON object per line: names to values; `null` or no key is absence.
//!
//! Tensors are nested lists, `"⊥"` and `"?"` are unknown, `"inf"`, `"-inf"` and `"nan"` are the numbers that JSON lacks. Empty
//! lines are passed over. Numbers are read exactly.

use std::io::{BufRead, BufReader, Read};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;

use crate::raw::Raw;
use crate::rows::{BadData, MAX_ROW_BYTES, Place, Row, Rows};

/// Reads JSON lines.
pub struct JsonLines<R> {
    from: BufReader<R>,
    names: Vec<String>,
    line: u64,
    unused: Option<Vec<String>>,
    is_mentioned: Vec<bool>,
}

/// An object as it is written, in which a key may stand twice.
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

impl<R: Read> JsonLines<R> {
    /// Reads cells for these inputs.
    pub fn new(from: BufReader<R>, names: Vec<String>) -> Self {
        let is_mentioned = vec![false; names.len()];
        JsonLines { from, names, line: 0, unused: None, is_mentioned }
    }

    /// The next line that is not empty, without its line break.
    fn next_line(&mut self) -> Result<Option<Place>, BadData> {
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

    fn note_unused(&mut self, object: &Object) {
        if self.unused.is_none() {
            let keys = object.0.iter().map(|(key, _)| key);
            self.unused = Some(keys.filter(|key| !self.names.contains(key)).cloned().collect());
        }
    }
}

impl<R: Read> Rows for JsonLines<R> {
    fn is_waiting(&self) -> bool {
        // What follows the last line break is half a line; lines of blanks are passed over.
        let lines = self.from.buffer().split_inclusive(|byte| *byte == b'\n');
        let mut whole = lines.filter(|line| line.ends_with(b"\n"));
        whole.all(|line| line.iter().all(u8::is_ascii_whitespace))
    }

    fn next_row(&mut self) -> Result<Option<Row>, BadData> {
        let Some(place) = self.next_line()? else { return Ok(None) };
        let bad = |bytes, message| BadData { place: place.clone(), bytes, message };
        let object: Object = serde_json::from_str(&place.text).map_err(|error| {
            let at = error.column().saturating_sub(1).min(place.text.len());
            bad(at..place.text.len().min(at + 1), format!("expected a JSON object: {}", reason(&error)))
        })?;
        self.note_unused(&object);
        let mut cells = Vec::with_capacity(self.names.len());
        for (name, is_mentioned) in self.names.iter().zip(&mut self.is_mentioned) {
            let mut values = object.0.iter().filter(|(key, _)| key == name).map(|(_, json)| json);
            let value = values.next();
            *is_mentioned |= value.is_some();
            let cell = value.map_or(Ok(Raw::Absent), raw);
            if values.next().is_some() {
                return Err(bad(find(&place.text, name), format!("`{name}` is given twice in one object")));
            }
            cells.push(cell.map_err(|found| {
                bad(
                    find(&place.text, name),
                    format!("`{name}` must be a number, a truth value or a list of these, not {found}"),
                )
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

/// What the parser says, without the place, which is told otherwise.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}

/// Where a key and its value are in a line, as well as a search can tell.
pub fn find(line: &str, name: &str) -> std::ops::Range<usize> {
    let key = format!("\"{name}\"");
    line.find(&key).map_or(0..0, |at| at..at + key.len())
}

fn raw(json: &Json) -> Result<Raw, String> {
    Ok(match json {
        Json::Null => Raw::Absent,
        Json::Bool(truth) => Raw::Bool(*truth),
        Json::Number(number) => match number.as_i64() {
            // `1` and `1.0` are different texts, and `as_i64` tells them apart.
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
        Json::Array(items) => Raw::List(items.iter().map(raw).collect::<Result<_, _>>()?),
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
    fn what_is_wrong_is_told_with_its_line() {
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
