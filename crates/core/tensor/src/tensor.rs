//! Dense tensors: a shape and its elements in row-major order.

use crate::element::Element;
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::value::{Kind, Value};

/// A dense array with at least one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub(crate) shape: Shape,
    pub(crate) data: Data,
}

/// Elements in row-major order.
#[derive(Clone, Debug)]
pub enum Data {
    Bool(Vec<bool>),
    Int(Vec<i64>),
    Num(Vec<f64>),
    Num32(Vec<f32>),
}

/// [`Data`] whose elements can be changed, but not their number.
#[derive(Debug)]
pub enum DataMut<'a> {
    /// Truth values.
    Bool(&'a mut [bool]),
    /// Integers.
    Int(&'a mut [i64]),
    /// Numbers in double precision.
    Num(&'a mut [f64]),
    /// Numbers in single precision.
    Num32(&'a mut [f32]),
}

impl Tensor {
    /// Returns an error for scalars, which are [`Value`]s, not tensors.
    pub fn new(shape: Shape, data: Data) -> Result<Tensor, ShapeError> {
        if shape.is_scalar() {
            return Err(ShapeError::Rank { op: "a tensor", needs: "an axis", found: shape });
        }
        if data.len() != shape.n_elements()? {
            return Err(ShapeError::Length { shape, found: data.len() });
        }
        Ok(Tensor { shape, data })
    }

    /// Has at least one axis.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The elements, to be changed in place.
    pub fn data_mut(&mut self) -> DataMut<'_> {
        match &mut self.data {
            Data::Bool(xs) => DataMut::Bool(xs),
            Data::Int(xs) => DataMut::Int(xs),
            Data::Num(xs) => DataMut::Num(xs),
            Data::Num32(xs) => DataMut::Num32(xs),
        }
    }
}

impl Data {
    pub fn len(&self) -> usize {
        match self {
            Data::Bool(xs) => xs.len(),
            Data::Int(xs) => xs.len(),
            Data::Num(xs) => xs.len(),
            Data::Num32(xs) => xs.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn get(&self, index: usize) -> Value {
        match self {
            Data::Bool(xs) => Value::Bool(xs[index]),
            Data::Int(xs) => Value::Int(xs[index]),
            Data::Num(xs) => Value::Num(xs[index]),
            Data::Num32(xs) => Value::Num32(xs[index]),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Data::Bool(_) => Kind::Bool,
            Data::Int(_) => Kind::Int,
            Data::Num(_) => Kind::Num,
            Data::Num32(_) => Kind::Num32,
        }
    }
}

/// Bitwise equality with all NaNs equal, as for [`Value`].
impl PartialEq for Data {
    fn eq(&self, other: &Data) -> bool {
        match (self, other) {
            (Data::Bool(a), Data::Bool(b)) => a == b,
            (Data::Int(a), Data::Int(b)) => a == b,
            (Data::Num(a), Data::Num(b)) => are_identical(a, b),
            (Data::Num32(a), Data::Num32(b)) => are_identical(a, b),
            _ => false,
        }
    }
}

impl Eq for Data {}

impl Eq for Tensor {}

fn are_identical<T: Element>(a: &[T], b: &[T]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_identical(*b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructors_check_lengths() {
        let data = || Data::Num(vec![1.0, 2.0]);
        assert!(Tensor::new(Shape::new(&[2, 1]), data()).is_ok());
        let error = |shape: &[usize]| Tensor::new(Shape::new(shape), data()).expect_err("another number");
        assert_eq!(error(&[3]).to_string(), "shape [3] has 3 elements, not 2");
        assert_eq!(error(&[]).to_string(), "a tensor needs an axis, not shape []");
    }
}
