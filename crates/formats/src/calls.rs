//! Calls of a function, one JSON object per line: names of parameters to values.
//!
//! Objects, lists and strings nest, since parameters may be records, tuples and enumerators. Empty lines are
//! skipped.

use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::json_lines::{Lines, find, not_json};
use crate::rows::{BadData, Place};

/// A parsed value, without a type.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// No value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without fraction and exponent.
    Int(i64),
    /// Any other number.
    Num(f64),
    /// A string.
    Text(String),
    /// Values in order.
    List(Vec<Tree>),
    /// Names and values, in the order of the text.
    Object(Vec<(String, Tree)>),
}

/// Reads calls.
pub struct Calls<R> {
    lines: Lines<R>,
}

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The parameters with their values, in the order of the text.
    pub arguments: Vec<(String, Tree)>,
    /// Where it is, for messages.
    pub place: Place,
}

impl<R: Read> Calls<R> {
    /// Reads the calls of a file.
    pub fn new(from: BufReader<R>) -> Self {
        Calls { lines: Lines::new(from) }
    }

    /// Whether reading the next call may block.
    pub fn is_waiting(&self) -> bool {
        self.lines.is_waiting()
    }

    /// The next call; `None` at the end.
    pub fn next_call(&mut self) -> Result<Option<Call>, BadData> {
        let Some(place) = self.lines.next_line()? else { return Ok(None) };
        let tree: Tree = serde_json::from_str(&place.text).map_err(|error| not_json(&place, &error))?;
        match tree {
            Tree::Object(arguments) => Ok(Some(Call { arguments, place })),
            _ => {
                let message = "expected a JSON object, the parameters of a call".to_string();
                Err(BadData { place, bytes: 0..0, message })
            }
        }
    }
}

impl Call {
    /// An error about an argument.
    pub fn bad(&self, name: &str, message: String) -> BadData {
        BadData { place: self.place.clone(), bytes: find(&self.place.text, name), message }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Values;
        impl<'de> Visitor<'de> for Values {
            type Value = Tree;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_unit<E: Error>(self) -> Result<Tree, E> {
                Ok(Tree::Null)
            }
            fn visit_bool<E: Error>(self, truth: bool) -> Result<Tree, E> {
                Ok(Tree::Bool(truth))
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<Tree, E> {
                Ok(Tree::Int(n))
            }
            fn visit_u64<E: Error>(self, n: u64) -> Result<Tree, E> {
                #[expect(clippy::cast_precision_loss, reason = "beyond 64 bits with sign it is a num")]
                let num = n as f64;
                Ok(i64::try_from(n).map_or(Tree::Num(num), Tree::Int))
            }
            fn visit_f64<E: Error>(self, x: f64) -> Result<Tree, E> {
                Ok(Tree::Num(x))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Tree, E> {
                Ok(Tree::Text(text.to_string()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = list.next_element()? {
                    parts.push(part);
                }
                Ok(Tree::List(parts))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut entries: Vec<(String, Tree)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Tree>()? {
                    if entries.iter().any(|(other, _)| *other == name) {
                        return Err(A::Error::custom(format!("`{name}` is given twice in one object")));
                    }
                    entries.push((name, value));
                }
                Ok(Tree::Object(entries))
            }
        }
        deserializer.deserialize_any(Values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Call>, BadData> {
        Calls::new(BufReader::new(text.as_bytes())).next_call()
    }

    #[test]
    fn a_call_is_an_object() {
        let call = read("\n{\"x\": [1, 2.5], \"r\": {\"a\": \"inf\"}, \"n\": 9223372036854775808}");
        let call = call.expect("it is right").expect("there is one");
        assert_eq!(call.place.line, 2);
        let inner = Tree::Object(vec![("a".to_string(), Tree::Text("inf".to_string()))]);
        let expected = vec![
            ("x".to_string(), Tree::List(vec![Tree::Int(1), Tree::Num(2.5)])),
            ("r".to_string(), inner),
            ("n".to_string(), Tree::Num(9_223_372_036_854_775_808.0)),
        ];
        assert_eq!(call.arguments, expected);
        assert_eq!(read("").expect("nothing is wrong"), None);
    }

    #[test]
    fn anything_else_is_refused_with_its_line() {
        let refused = |text: &str| read(text).expect_err("it is wrong").to_string();
        assert_eq!(refused("[1]"), "line 1: expected a JSON object, the parameters of a call");
        assert_eq!(refused("\n{\"x\":"), "line 2: expected a JSON object: EOF while parsing a value");
        let twice = "line 1: expected a JSON object: `x` is given twice in one object";
        assert_eq!(refused("{\"r\":{\"x\":1,\"x\":2}}"), twice);
    }
}
