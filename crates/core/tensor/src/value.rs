//! Values: the contents of a stream at one cycle.
//!
//! A scalar is stored in place, a tensor behind a shared pointer, so a value is 16 bytes and cheap to clone.
//! `num` has two representations, f64 and f32; a whole program uses one of them, and no operation mixes them.
//!
//! Decision: equality is identity of bits, as joins of cells need it: all NaNs are equal, and -0 differs from
//! 0, because `1.0 / x` distinguishes them. The language compares numbers with `Op::Eq`, as IEEE 754 defines
//! it.

use std::fmt;
use std::sync::Arc;

use crate::element::Element;
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::tensor::{Data, Tensor};

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    Bool,
    /// 64-bit integers; overflow is an error.
    Int,
    /// Floating-point numbers, in f64 or f32.
    Num,
}

/// The type of a stream: a scalar type and a shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    pub scalar: Scalar,
    pub shape: Shape,
}

/// A scalar or a tensor.
#[derive(Clone, Debug)]
pub enum Value {
    Bool(bool),
    Int(i64),
    Num(f64),
    Num32(f32),
    /// At least one axis.
    Tensor(Arc<Tensor>),
}

/// The representation of the elements; selects the instance of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Int,
    Num,
    Num32,
}

static SCALAR: Shape = Shape::scalar();

impl Value {
    /// The value with this shape and these elements in row-major order. A scalar shape gives a scalar.
    ///
    /// ```
    /// use eddy_tensor::{Data, Shape, Value};
    /// let matrix = Value::new(Shape::new(&[2, 2]), Data::Int(vec![1, 2, 3, 4])).unwrap();
    /// assert_eq!(matrix.to_string(), "[[1,2],[3,4]]");
    /// assert_eq!(Value::new(Shape::scalar(), Data::Int(vec![7])).unwrap(), Value::Int(7));
    /// assert!(Value::new(Shape::new(&[3]), Data::Int(vec![7])).is_err());
    /// ```
    pub fn new(shape: Shape, data: Data) -> Result<Value, ShapeError> {
        if data.len() != shape.n_elements()? {
            return Err(ShapeError::Length { shape, found: data.len() });
        }
        Ok(Value::from_parts(shape, data))
    }

    /// [`Value::new`] without the check, for shapes and elements that match by construction.
    pub(crate) fn from_parts(shape: Shape, data: Data) -> Value {
        debug_assert_eq!(data.len(), shape.size(), "elements of shape {shape}");
        if shape.is_scalar() {
            return data.get(0);
        }
        Value::Tensor(Arc::new(Tensor { shape, data }))
    }

    /// All zeros, or all `false`.
    pub fn zeros(ty: &Type) -> Value {
        Value::filled(
            match ty.scalar {
                Scalar::Bool => Value::Bool(false),
                Scalar::Int => Value::Int(0),
                Scalar::Num => Value::Num(0.0),
            },
            &ty.shape,
        )
    }

    pub(crate) fn filled(scalar: Value, shape: &Shape) -> Value {
        if shape.is_scalar() {
            return scalar;
        }
        let n = shape.size();
        let data = match scalar {
            Value::Bool(x) => Data::Bool(vec![x; n]),
            Value::Int(x) => Data::Int(vec![x; n]),
            Value::Num(x) => Data::Num(vec![x; n]),
            Value::Num32(x) => Data::Num32(vec![x; n]),
            Value::Tensor(_) => unreachable!("a scalar is repeated, not a tensor"),
        };
        Value::from_parts(shape.clone(), data)
    }

    pub fn scalar(&self) -> Scalar {
        match self.kind() {
            Kind::Bool => Scalar::Bool,
            Kind::Int => Scalar::Int,
            Kind::Num | Kind::Num32 => Scalar::Num,
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int,
            Value::Num(_) => Kind::Num,
            Value::Num32(_) => Kind::Num32,
            Value::Tensor(tensor) => tensor.data.kind(),
        }
    }

    /// `[]` for scalars.
    pub fn shape(&self) -> &Shape {
        match self {
            Value::Tensor(tensor) => &tensor.shape,
            _ => &SCALAR,
        }
    }

    pub fn ty(&self) -> Type {
        Type { scalar: self.scalar(), shape: self.shape().clone() }
    }

    /// The truth value of a scalar `bool`.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// 1 for scalars.
    pub fn n_elements(&self) -> usize {
        match self {
            Value::Tensor(tensor) => tensor.data.len(),
            _ => 1,
        }
    }

    /// Whether it contains neither infinities nor NaN.
    pub fn is_finite(&self) -> bool {
        self.elements().all(|element| match element {
            Value::Num(x) => x.is_finite(),
            Value::Num32(x) => x.is_finite(),
            _ => true,
        })
    }

    /// The elements in row-major order, each as a scalar.
    pub fn elements(&self) -> impl Iterator<Item = Value> {
        (0..self.n_elements()).map(move |index| match self {
            Value::Tensor(tensor) => tensor.data.get(index),
            scalar => scalar.clone(),
        })
    }

    /// Rounds every `num` to single precision.
    ///
    /// Operations that turn integers into numbers (`num`, `onehot`) return doubles; a program in single
    /// precision rounds them with this.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // rounding is the purpose
    pub fn to_num32(&self) -> Value {
        match self.kind() {
            Kind::Num => {
                let elements = f64::slice(self).iter().map(|x| *x as f32).collect();
                f32::value(self.shape().clone(), elements)
            }
            _ => self.clone(),
        }
    }

    /// Converts every `num` to double precision, which is exact.
    #[must_use]
    pub fn to_num64(&self) -> Value {
        match self.kind() {
            Kind::Num32 => {
                let elements = f32::slice(self).iter().map(|x| f64::from(*x)).collect();
                f64::value(self.shape().clone(), elements)
            }
            _ => self.clone(),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Num(a), Value::Num(b)) => a.is_identical(*b),
            (Value::Num32(a), Value::Num32(b)) => a.is_identical(*b),
            (Value::Tensor(a), Value::Tensor(b)) => Arc::ptr_eq(a, b) || a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

impl From<i64> for Value {
    fn from(integer: i64) -> Value {
        Value::Int(integer)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Num(number)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scalar::Bool => "bool",
            Scalar::Int => "int",
            Scalar::Num => "num",
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.scalar, self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{value, zeros};

    #[test]
    fn a_value_is_two_words() {
        assert_eq!(size_of::<Value>(), 16);
    }

    #[test]
    fn equality_is_identity() {
        assert_eq!(Value::Num(f64::NAN), Value::Num(-f64::NAN));
        assert_ne!(Value::Num(0.0), Value::Num(-0.0));
        assert_ne!(Value::Num(1.0), Value::Num32(1.0));
        assert_ne!(Value::Num(1.0), Value::Int(1));
        assert_eq!(value("[1.0,nan]"), value("[1.0,nan]"));
        assert_ne!(value("[0.0]"), value("[-0.0]"));
        assert_ne!(value("[[1,2]]"), value("[1,2]"));
        assert_ne!(value("[1,2]"), value("[1.0,2.0]"));
    }

    #[test]
    fn types_print_as_in_declarations() {
        assert_eq!(value("[[1.0],[2.0]]").ty().to_string(), "num [2,1]");
        assert_eq!(value("true").ty().to_string(), "bool []");
        assert_eq!(value("[3]").ty().to_string(), "int [1]");
    }

    #[test]
    fn zeros_have_the_type_that_was_asked_for() {
        for sample in ["[[true],[true]]", "[1,2]", "3", "[1.5]", "2.5", "true"] {
            let ty = value(sample).ty();
            let zeros = Value::zeros(&ty);
            assert_eq!(zeros.ty(), ty);
            assert!(zeros.elements().all(|x| [false.into(), 0.into(), Value::Num(0.0)].contains(&x)));
        }
    }

    #[test]
    fn elements_come_in_row_major_order() {
        let rows: Vec<String> = value("[[1,2],[3,4]]").elements().map(|x| x.to_string()).collect();
        assert_eq!(rows, ["1", "2", "3", "4"]);
        assert_eq!(value("5").elements().count(), 1);
        assert_eq!(zeros(&[2, 0]).elements().count(), 0);
    }

    #[test]
    fn single_precision_is_there_and_back() {
        let x = value("[0.5,3.0]");
        assert_eq!(x.to_num32().kind(), Kind::Num32);
        assert_eq!(x.to_num32().to_num64(), x);
        assert_eq!(value("[1,2]").to_num32(), value("[1,2]"));
    }

    #[test]
    fn a_tensor_needs_the_right_number_of_elements() {
        let error = Value::new(Shape::new(&[2, 2]), Data::Int(vec![1])).expect_err("one is not four");
        assert_eq!(error.to_string(), "shape [2,2] has 4 elements, not 1");
    }
}
