//! Cells before their types are known.

use std::fmt;

use eddy_tensor::{Data, Scalar, Shape, Type, Value};

/// What data say about an input at one cycle.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// There is no value at this cycle.
    Absent,
    /// Nothing is known.
    Unknown,
    /// A truth value.
    Bool(bool),
    /// A number without point and exponent, which an input of either numeric type takes.
    Int(i64),
    /// Another number.
    Num(f64),
    /// A list of these; readers bound how deep lists are nested.
    List(Vec<Raw>),
}

/// Why a cell is no value of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Its shape is this.
    Shape(Shape),
    /// Its lists are of different lengths, or mixed with numbers.
    Ragged,
    /// Its elements are not of the type that they must be.
    Scalar(Scalar),
    /// It has more elements than a value may have.
    TooLarge,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Shape(shape) => write!(f, "has shape {shape}"),
            Mismatch::Ragged => f.write_str("has no shape: its lists are of different lengths"),
            Mismatch::Scalar(scalar) => write!(f, "must be {scalar}"),
            Mismatch::TooLarge => f.write_str("has a shape with too many elements"),
        }
    }
}

impl Raw {
    /// Whether there is a value.
    pub fn is_value(&self) -> bool {
        !matches!(self, Raw::Absent | Raw::Unknown)
    }

    /// The shape, going by the first item of each list, and the first element.
    pub fn outline(&self) -> (Shape, Option<&Raw>) {
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

    /// Whether its elements are truth values.
    pub fn is_bool(&self) -> bool {
        matches!(self.outline().1, Some(Raw::Bool(_)))
    }

    /// The value of this type.
    pub fn to_value(&self, ty: &Type) -> Result<Value, Mismatch> {
        let (shape, _) = self.outline();
        if shape.n_elements().is_err() {
            return Err(Mismatch::TooLarge);
        }
        let elements = self.elements(&shape).ok_or(Mismatch::Ragged)?;
        if shape != ty.shape {
            return Err(Mismatch::Shape(shape));
        }
        let data = data(&elements, ty.scalar).ok_or(Mismatch::Scalar(ty.scalar))?;
        Ok(Value::new(shape, data).expect("there are as many elements as the shape has"))
    }

    /// The elements, level by level; none if the lists do not have this shape.
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
        level.iter().all(|raw| matches!(raw, Raw::Bool(_) | Raw::Int(_) | Raw::Num(_))).then_some(level)
    }
}

/// The elements as data of a type, if they are of it.
#[allow(clippy::cast_precision_loss)] // an integer where a `num` is needed is the nearest number
fn data(elements: &[&Raw], scalar: Scalar) -> Option<Data> {
    match scalar {
        Scalar::Bool => {
            let truth = |raw: &&Raw| if let Raw::Bool(truth) = raw { Some(*truth) } else { None };
            elements.iter().map(truth).collect::<Option<_>>().map(Data::Bool)
        }
        Scalar::Int => {
            let integer = |raw: &&Raw| if let Raw::Int(n) = raw { Some(*n) } else { None };
            elements.iter().map(integer).collect::<Option<_>>().map(Data::Int)
        }
        Scalar::Num => {
            let number = |raw: &&Raw| match raw {
                Raw::Int(n) => Some(*n as f64),
                Raw::Num(x) => Some(*x),
                _ => None,
            };
            elements.iter().map(number).collect::<Option<_>>().map(Data::Num)
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
        assert_eq!(Raw::Num(0.5).to_value(&ty(Scalar::Int, &[])), Err(Mismatch::Scalar(Scalar::Int)));
        assert_eq!(Raw::Int(1).to_value(&ty(Scalar::Bool, &[])), Err(Mismatch::Scalar(Scalar::Bool)));
    }

    #[test]
    fn shapes_are_regular_and_as_expected() {
        let ragged = list(&[list(&[Raw::Int(1)]), list(&[])]);
        assert_eq!(ragged.to_value(&ty(Scalar::Num, &[2, 1])), Err(Mismatch::Ragged));
        let mixed = list(&[list(&[Raw::Int(1)]), Raw::Int(1)]);
        assert_eq!(mixed.to_value(&ty(Scalar::Num, &[2, 1])), Err(Mismatch::Ragged));
        let hole = list(&[Raw::Int(1), Raw::Absent]);
        assert_eq!(hole.to_value(&ty(Scalar::Num, &[2])), Err(Mismatch::Ragged));
        assert_eq!(Raw::Int(1).to_value(&ty(Scalar::Num, &[1])), Err(Mismatch::Shape(Shape::scalar())));
    }
}
