//! JSON whose rectangular lists of numbers are tensors.
//!
//! A message with a million numbers is read into one vector, not into a million values. The numbers of a list
//! are kept in a flat row while it is read; if the list turns out not to be rectangular, it is split into its
//! parts.

use std::fmt;

use eddy_tensor::{Data, Shape, Value};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A parsed value, without a type.
#[derive(Clone, Debug, PartialEq)]
pub enum Packed {
    Null,
    Bool(bool),
    /// A number without fraction and exponent.
    Int(i64),
    /// Any other number.
    Num(f64),
    Text(String),
    /// A list that is empty or not a rectangle of numbers.
    List(Vec<Packed>),
    Numbers(Numbers),
    /// Names and values, in the order of the text.
    Object(Vec<(String, Packed)>),
}

/// A rectangle of numbers, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    sizes: Vec<usize>,
    elements: Vec<f64>,
    /// Whether all of them are written as integers and are exact.
    are_ints: bool,
}

/// Integers up to this are exact as nums.
const MAX_EXACT: u64 = 1 << 53;

impl Packed {
    /// The text as a value.
    pub fn read(text: &[u8]) -> Result<Packed, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// The member of an object.
    pub fn get(&self, name: &str) -> Option<&Packed> {
        let Packed::Object(members) = self else { return None };
        members.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    /// A number or a rectangle of numbers as sizes, elements, and whether they are integers.
    fn as_numbers(&self) -> Option<(&[usize], &[f64], bool)> {
        match self {
            Packed::Num(x) => Some((&[], std::slice::from_ref(x), false)),
            Packed::Numbers(Numbers { sizes, elements, are_ints }) => Some((sizes, elements, *are_ints)),
            _ => None,
        }
    }
}

impl Numbers {
    /// A tensor; of ints if all elements are written as integers.
    #[expect(clippy::cast_possible_truncation, reason = "they were integers when they were read")]
    pub fn into_value(self) -> Value {
        let data = if self.are_ints {
            Data::Int(self.elements.iter().map(|x| *x as i64).collect())
        } else {
            Data::Num(self.elements)
        };
        Value::new(Shape::new(&self.sizes), data).expect("there are as many elements as the shape has")
    }

    /// Its rows, as they would be parsed separately.
    #[expect(clippy::cast_possible_truncation, reason = "they were integers when they were read")]
    fn rows(self) -> Vec<Packed> {
        let Numbers { sizes, elements, are_ints } = self;
        let inner = sizes[1..].to_vec();
        if inner.is_empty() {
            let number = |x: f64| if are_ints { Packed::Int(x as i64) } else { Packed::Num(x) };
            return elements.into_iter().map(number).collect();
        }
        let row = |elements: &[f64]| {
            Packed::Numbers(Numbers { sizes: inner.clone(), elements: elements.to_vec(), are_ints })
        };
        elements.chunks(elements.len() / sizes[0]).map(row).collect()
    }
}

/// A list in progress.
enum Growing {
    Nothing,
    Rectangle(Numbers),
    Parts(Vec<Packed>),
}

impl Growing {
    fn push(self, part: Packed) -> Growing {
        // An integer is a number here, unless it is not exact; then the list is not packed.
        let int = match part {
            #[expect(clippy::cast_precision_loss, reason = "it is exact")]
            Packed::Int(n) if n.unsigned_abs() <= MAX_EXACT => Some(n as f64),
            _ => None,
        };
        let found = match &int {
            Some(x) => Some((&[][..], std::slice::from_ref(x), true)),
            None => part.as_numbers(),
        };
        match (self, found) {
            (Growing::Nothing, Some((sizes, elements, are_ints))) => {
                let sizes = [&[1], sizes].concat();
                Growing::Rectangle(Numbers { sizes, elements: elements.to_vec(), are_ints })
            }
            (Growing::Rectangle(mut rectangle), Some((sizes, elements, are_ints)))
                if rectangle.sizes[1..] == *sizes =>
            {
                rectangle.sizes[0] += 1;
                rectangle.elements.extend_from_slice(elements);
                rectangle.are_ints &= are_ints;
                Growing::Rectangle(rectangle)
            }
            (growing, _) => {
                let mut parts = growing.parts();
                parts.push(part);
                Growing::Parts(parts)
            }
        }
    }

    fn parts(self) -> Vec<Packed> {
        match self {
            Growing::Nothing => Vec::new(),
            Growing::Rectangle(rectangle) => rectangle.rows(),
            Growing::Parts(parts) => parts,
        }
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Values;
        impl<'de> Visitor<'de> for Values {
            type Value = Packed;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_unit<E: Error>(self) -> Result<Packed, E> {
                Ok(Packed::Null)
            }
            fn visit_bool<E: Error>(self, truth: bool) -> Result<Packed, E> {
                Ok(Packed::Bool(truth))
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<Packed, E> {
                Ok(Packed::Int(n))
            }
            fn visit_u64<E: Error>(self, n: u64) -> Result<Packed, E> {
                #[expect(clippy::cast_precision_loss, reason = "beyond 64 bits with sign it is a num")]
                let num = n as f64;
                Ok(i64::try_from(n).map_or(Packed::Num(num), Packed::Int))
            }
            fn visit_f64<E: Error>(self, x: f64) -> Result<Packed, E> {
                Ok(Packed::Num(x))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Packed, E> {
                Ok(Packed::Text(text.to_string()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Packed, A::Error> {
                let mut growing = Growing::Nothing;
                while let Some(part) = list.next_element()? {
                    growing = growing.push(part);
                }
                Ok(match growing {
                    Growing::Rectangle(rectangle) => Packed::Numbers(rectangle),
                    other => Packed::List(other.parts()),
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Packed, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, Packed>()? {
                    members.push(member);
                }
                Ok(Packed::Object(members))
            }
        }
        deserializer.deserialize_any(Values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn tensor(text: &str, expected: &str) {
        match Packed::read(text.as_bytes()) {
            Ok(Packed::Numbers(numbers)) => assert_eq!(numbers.into_value().to_string(), expected),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn rectangles_are_tensors() {
        tensor("[1, 2, 3]", "[1,2,3]");
        tensor("[[1, 2.5], [3, -4e2]]", "[[1,2.5],[3,-400]]");
        tensor("[[[1], [2]], [[3], [4]]]", "[[[1],[2]],[[3],[4]]]");
    }

    #[test]
    fn kinds_are_kept() {
        let of = |text: &str| match Packed::read(text.as_bytes()) {
            Ok(Packed::Numbers(numbers)) => numbers.into_value().scalar(),
            other => panic!("{other:?}"),
        };
        assert_eq!(of("[1, 2]"), eddy_tensor::Scalar::Int);
        assert_eq!(of("[1, 2.0]"), eddy_tensor::Scalar::Num);
    }

    #[test]
    fn other_lists_keep_their_parts() {
        let read = |text: &str| Packed::read(text.as_bytes()).expect("it is JSON");
        let int = Packed::Int;
        assert_eq!(read("[1, 2, true]"), Packed::List(vec![int(1), int(2), Packed::Bool(true)]));
        let Packed::List(ragged) = read("[[1, 2], [3, 4], [5]]") else { panic!("it is ragged") };
        assert_eq!(ragged, [read("[1, 2]"), read("[3, 4]"), read("[5]")]);
        assert_eq!(read("[[]]"), Packed::List(vec![Packed::List(Vec::new())]));
        assert_eq!(read("[1, 9007199254740993]"), Packed::List(vec![int(1), int(9_007_199_254_740_993)]));
    }
}
