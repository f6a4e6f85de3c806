//! Named values in files: parameters and checkpoints, in the safetensors format.
//!
//! ```
//! use eddy_formats::Saved;
//! use eddy_tensor::Value;
//!
//! let saved = Saved { values: vec![("w".to_string(), Value::Num(0.5))], note: "epoch 3".to_string() };
//! let bytes = saved.encode().unwrap();
//! assert_eq!(Saved::decode(&bytes).unwrap(), saved);
//! ```

use std::borrow::Cow;
use std::collections::HashMap;

use eddy_tensor::{Data, Shape, ShapeError, Value};
use safetensors::{Dtype, SafeTensors, View};

/// The only key of the metadata: the same values then give the same bytes, since one key has one order.
const NOTE: &str = "eddy";

/// Named values, and a note.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved {
    /// The values.
    pub values: Vec<(String, Value)>,
    /// A text of the writer.
    pub note: String,
}

/// A file of values that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BadFile {
    /// It is not in the format.
    #[error(transparent)]
    Format(#[from] safetensors::SafeTensorError),
    /// It has elements of a type that Eddy does not support.
    #[error("`{name}` has elements of type {found:?}; f64, f32, i64 and bool are read")]
    Elements {
        /// The name of the tensor.
        name: String,
        /// The type of its elements.
        found: Dtype,
    },
    /// It has a tensor that is too large, or whose number of elements contradicts its shape.
    #[error("`{name}` {error}")]
    Shape {
        /// The name of the tensor.
        name: String,
        /// The error of its shape.
        #[source]
        error: ShapeError,
    },
}

impl Saved {
    /// The bytes of a file.
    pub fn encode(&self) -> Result<Vec<u8>, BadFile> {
        let views = self.values.iter().map(|(name, value)| (name.as_str(), Bytes::of(value)));
        let note = HashMap::from([(NOTE.to_string(), self.note.clone())]);
        Ok(safetensors::serialize(views, Some(note))?)
    }

    /// The values of a file, sorted by their names, or the error.
    pub fn decode(bytes: &[u8]) -> Result<Saved, BadFile> {
        let (_, metadata) = SafeTensors::read_metadata(bytes)?;
        let note = metadata.metadata().as_ref().and_then(|metadata| metadata.get(NOTE)).cloned();
        let tensors = SafeTensors::deserialize(bytes)?;
        let mut values = Vec::new();
        for (name, view) in tensors.iter() {
            values.push((name.to_string(), value(name, view.dtype(), view.shape(), view.data())?));
        }
        values.sort_by(|(left, _), (right, _)| left.cmp(right));
        Ok(Saved { values, note: note.unwrap_or_default() })
    }
}

/// A value as little-endian bytes, which the format requires.
struct Bytes {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Bytes {
    fn of(value: &Value) -> Bytes {
        let mut bytes = Vec::new();
        let mut dtype = Dtype::F64;
        for element in value.elements() {
            match element {
                Value::Bool(truth) => {
                    dtype = Dtype::BOOL;
                    bytes.push(u8::from(truth));
                }
                Value::Int(n) => {
                    dtype = Dtype::I64;
                    bytes.extend(n.to_le_bytes());
                }
                Value::Num(x) => bytes.extend(x.to_le_bytes()),
                Value::Num32(x) => {
                    dtype = Dtype::F32;
                    bytes.extend(x.to_le_bytes());
                }
                Value::Tensor(_) => unreachable!("elements are scalars"),
            }
        }
        Bytes { dtype, shape: value.shape().to_vec(), bytes }
    }
}

impl View for Bytes {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

fn value(name: &str, dtype: Dtype, shape: &[usize], bytes: &[u8]) -> Result<Value, BadFile> {
    fn each<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
        let words = bytes.chunks_exact(N);
        words.map(|word| read(word.try_into().expect("chunks are as long as asked"))).collect()
    }
    let data = match dtype {
        Dtype::F64 => Data::Num(each(bytes, f64::from_le_bytes)),
        Dtype::F32 => Data::Num32(each(bytes, f32::from_le_bytes)),
        Dtype::I64 => Data::Int(each(bytes, i64::from_le_bytes)),
        Dtype::BOOL => Data::Bool(bytes.iter().map(|byte| *byte != 0).collect()),
        found => return Err(BadFile::Elements { name: name.to_string(), found }),
    };
    Value::new(Shape::new(shape), data).map_err(|error| BadFile::Shape { name: name.to_string(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_types_and_shapes_come_back() {
        let matrix = Value::new(Shape::new(&[2, 1]), Data::Num(vec![f64::NAN, -0.0])).expect("two elements");
        let saved = Saved {
            values: vec![
                ("a/b".to_string(), Value::Int(-7)),
                ("c#1/k".to_string(), Value::Bool(true)),
                ("x'".to_string(), Value::Num32(0.1)),
                ("z".to_string(), matrix),
            ],
            note: "{\"epoch\":3}".to_string(),
        };
        let bytes = saved.encode().expect("all types are known");
        let again = Saved::decode(&bytes).expect("it was just written");
        assert_eq!(format!("{again:?}"), format!("{saved:?}"));
        assert_eq!(again.encode().expect("all types are known"), bytes);
    }

    #[test]
    fn what_is_no_file_of_values_is_refused() {
        assert!(Saved::decode(b"").is_err());
        assert!(Saved::decode(b"not a file of parameters").is_err());
        let saved = Saved { values: vec![("w".to_string(), Value::Num(1.0))], note: String::new() };
        let bytes = saved.encode().expect("a number is known");
        for length in 0..bytes.len() {
            assert!(Saved::decode(&bytes[..length]).is_err(), "cut after {length} bytes");
        }
    }
}
