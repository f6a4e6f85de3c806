//! Cells before their types are known.

use std::fmt;

use eddy_tensor::{Data, Scalar, Shape, Type, Value};

/// The data for an input at one cycle.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// There is no value at this cycle.
    Absent,
    /// The value is unknown.
    Unknown,
    /// A boolean.
    Bool(bool),
    /// A number without point and exponent, which an input of either numeric type takes.
    Int(i64),
    /// Another number.
    Num(f64),
    /// A text, in a column that is read as texts.
    Text(String),
    /// A list of these; readers bound how deep lists are nested.
    List(Vec<Raw>),
    /// A value from memory, whose type is known; it is never an item of a list.
    Value(Value),
}

/// Why a cell does not fit a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// It has this shape instead.
    Shape(Shape),
    /// Its lists have different lengths, or contain both lists and numbers.
    Ragged,
    /// An element is absent or unknown.
    Hole,
    /// An element does not have the required type: the type, and the element.
    Scalar(Scalar, String),
    /// It has more elements than a value may have.
    TooLarge,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Shape(shape) => write!(f, "has shape {shape}"),
            Mismatch::Ragged => f.write_str("has no shape: its lists are of different lengths"),
            Mismatch::Hole => {
                f.write_str("has an absent or unknown element: a value is present as a whole, or not at all")
            }
            Mismatch::Scalar(scalar, found) => write!(f, "must be {scalar}, not {found}"),
            Mismatch::TooLarge => f.write_str("has a shape with too many elements"),
        }
    }
}

impl Raw {
    /// Whether there is a value.
    pub fn is_value(&self) -> bool {
        !matches!(self, Raw::Absent | Raw::Unknown)
    }

    /// The shape, by the first item of each list, and the first element.
    pub fn outline(&self) -> (Shape, Option<&Raw>) {
        if let Raw::Value(value) = self {
            return (value.shape().clone(), Some(self));
        }
        let (mut sizes, mut at) = (Vec::new(), self);
        while let Raw::List(items) = at {
            sizes.push(items.len());
            match items.first() {
                Some(first) => at = first,
                None => return (Shape::new(&sizes), None),
            }
        }
        (Shape::new(&sizes), Some(at))
    }

    /// Whether its elements are booleans.
    pub fn is_bool(&self) -> bool {
        match self.outline().1 {
            Some(Raw::Bool(_)) => true,
            Some(Raw::Value(value)) => value.scalar() == Scalar::Bool,
            _ => false,
        }
    }

    /// The value of this type.
    pub fn to_value(&self, ty: &Type) -> Result<Value, Mismatch> {
        if let Raw::Value(value) = self {
            return converted(value, ty);
        }
        let (shape, _) = self.outline();
        if shape.n_elements().is_err() {
            return Err(Mismatch::TooLarge);
        }
        let elements = self.elements(&shape).ok_or(Mismatch::Ragged)?;
        if !elements.iter().all(|element| element.is_value()) {
            return Err(Mismatch::Hole);
        }
        if shape != ty.shape {
            return Err(Mismatch::Shape(shape));
        }
        let data =
            data(&elements, ty.scalar).map_err(|found| Mismatch::Scalar(ty.scalar, found.described()))?;
        Ok(Value::new(shape, data).expect("there are as many elements as the shape has"))
    }

    /// A single cell in a message; a number is shown with its point, as the reason why it is not an integer.
    fn described(&self) -> String {
        match self {
            Raw::Bool(truth) => format!("the truth value {truth}"),
            Raw::Int(n) => format!("the number {n}"),
            Raw::Num(x) if x.is_finite() && x.abs() < 1e16 => format!("the number {x:?}"),
            Raw::Num(x) if x.is_finite() => format!("{x:e}, which is no integer of 64 bits"),
            Raw::Num(x) => x.to_string().to_lowercase(),
            Raw::Text(text) => format!("the text `{text}`"),
            Raw::Absent | Raw::Unknown | Raw::List(_) | Raw::Value(_) => {
                unreachable!("elements are single values")
            }
        }
    }

    /// The elements, level by level; `None` if the lists do not have this shape.
    fn elements(&self, shape: &Shape) -> Option<Vec<&Raw>> {
        let mut level = vec![self];
        for size in shape.iter() {
            let mut next = Vec::with_capacity(level.len() * size);
            for raw in level {
                match raw {
                    Raw::List(items) if items.len() == *size => next.extend(items),
                    _ => return None,
                }
            }
            level = next;
        }
        (!level.iter().any(|raw| matches!(raw, Raw::List(_)))).then_some(level)
    }
}

/// Converts a value from memory to this type. Integers are numbers too, and single precision is a part of
/// double precision; nothing is rounded to fit.
#[allow(clippy::cast_precision_loss)] // an integer where a `num` is needed is the nearest number, as in files
fn converted(value: &Value, ty: &Type) -> Result<Value, Mismatch> {
    if *value.shape() != ty.shape {
        return Err(Mismatch::Shape(value.shape().clone()));
    }
    match (value.scalar(), ty.scalar) {
        (Scalar::Num, Scalar::Num) => Ok(value.to_num64()),
        (found, expected) if found == expected => Ok(value.clone()),
        (Scalar::Int, Scalar::Num) => {
            let number = |element: Value| if let Value::Int(n) = element { n as f64 } else { f64::NAN };
            let numbers = Data::Num(value.elements().map(number).collect());
            Ok(Value::new(ty.shape.clone(), numbers).expect("there are as many elements as before"))
        }
        (found, expected) => Err(Mismatch::Scalar(expected, found.to_string())),
    }
}

/// The elements as data of a type, or the first that does not fit.
#[allow(clippy::cast_precision_loss)] // an integer where a `num` is needed is the nearest number
fn data<'a>(elements: &[&'a Raw], scalar: Scalar) -> Result<Data, &'a Raw> {
    match scalar {
        Scalar::Bool => {
            let truth = |raw: &&'a Raw| if let Raw::Bool(truth) = raw { Ok(*truth) } else { Err(*raw) };
            elements.iter().map(truth).collect::<Result<_, _>>().map(Data::Bool)
        }
        Scalar::Int => {
            let integer = |raw: &&'a Raw| if let Raw::Int(n) = raw { Ok(*n) } else { Err(*raw) };
            elements.iter().map(integer).collect::<Result<_, _>>().map(Data::Int)
        }
        Scalar::Num => {
            let number = |raw: &&'a Raw| match raw {
                Raw::Int(n) => Ok(*n as f64),
                Raw::Num(x) => Ok(*x),
                _ => Err(*raw),
            };
            elements.iter().map(number).collect::<Result<_, _>>().map(Data::Num)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(items: &[Raw]) -> Raw {
        Raw::List(items.to_vec())
    }

    fn ty(scalar: Scalar, sizes: &[usize]) -> Type {
        Type { scalar, shape: Shape::new(sizes) }
    }

    #[test]
    fn integers_are_of_either_numeric_type() {
        let cell = list(&[Raw::Int(1), Raw::Int(2)]);
        assert_eq!(
            cell.to_value(&ty(Scalar::Num, &[2])).map(|value| value.to_string()),
            Ok("[1,2]".to_string())
        );
        assert_eq!(cell.to_value(&ty(Scalar::Int, &[2])).map(|value| value.scalar()), Ok(Scalar::Int));
        let message = |raw: Raw, scalar| {
            raw.to_value(&ty(scalar, &[])).map_err(|mismatch| mismatch.to_string()).expect_err("another type")
        };
        assert_eq!(message(Raw::Num(1.0), Scalar::Int), "must be int, not the number 1.0");
        assert_eq!(
            message(Raw::Num(9_223_372_036_854_775_808.0), Scalar::Int),
            "must be int, not 9.223372036854776e18, which is no integer of 64 bits"
        );
        assert_eq!(message(Raw::Int(1), Scalar::Bool), "must be bool, not the number 1");
        assert_eq!(message(Raw::Bool(true), Scalar::Num), "must be num, not the truth value true");
    }

    #[test]
    fn values_from_memory_are_not_rounded() {
        let int = Raw::Value(Value::Int(3));
        assert_eq!(int.to_value(&ty(Scalar::Num, &[])), Ok(Value::Num(3.0)));
        assert_eq!(int.to_value(&ty(Scalar::Int, &[])), Ok(Value::Int(3)));
        assert_eq!(Raw::Value(Value::Num32(0.5)).to_value(&ty(Scalar::Num, &[])), Ok(Value::Num(0.5)));
        let wrong = Raw::Value(Value::Num(1.0)).to_value(&ty(Scalar::Int, &[])).expect_err("it is a number");
        assert_eq!(wrong.to_string(), "must be int, not num");
        assert_eq!(int.to_value(&ty(Scalar::Num, &[1])), Err(Mismatch::Shape(Shape::scalar())));
        assert!(Raw::Value(Value::Bool(true)).is_bool());
    }

    #[test]
    fn shapes_are_regular_and_as_expected() {
        let ragged = list(&[list(&[Raw::Int(1)]), list(&[])]);
        assert_eq!(ragged.to_value(&ty(Scalar::Num, &[2, 1])), Err(Mismatch::Ragged));
        let mixed = list(&[list(&[Raw::Int(1)]), Raw::Int(1)]);
        assert_eq!(mixed.to_value(&ty(Scalar::Num, &[2, 1])), Err(Mismatch::Ragged));
        let hole = list(&[Raw::Int(1), Raw::Absent]);
        assert_eq!(hole.to_value(&ty(Scalar::Num, &[2])), Err(Mismatch::Hole));
        assert_eq!(Raw::Int(1).to_value(&ty(Scalar::Num, &[1])), Err(Mismatch::Shape(Shape::scalar())));
    }
}
