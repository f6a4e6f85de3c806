//! Rows that a loop collects.

use eddy_tensor::{Data, Shape, ShapeError, Value};

use super::failure::Failure;
use crate::ir::{Elem, Type};

/// The rows so far.
#[derive(Debug)]
pub(super) struct Rows {
    /// The shape of a row; `None` before the first row.
    shape: Option<Shape>,
    rank: usize,
    n: usize,
    elements: Elements,
}

#[derive(Debug)]
enum Elements {
    Bool(Vec<bool>),
    Int(Vec<i64>),
    Num(Vec<f64>),
}

impl Rows {
    /// No rows yet; each will have this type.
    pub fn new(row: Type) -> Rows {
        let elements = match row.elem {
            Elem::Bool => Elements::Bool(Vec::new()),
            Elem::Num => Elements::Num(Vec::new()),
            Elem::Int | Elem::Enum(_) | Elem::Tape => Elements::Int(Vec::new()),
        };
        Rows { shape: None, rank: row.rank, n: 0, elements }
    }

    pub fn n_bytes(&self) -> usize {
        match &self.elements {
            Elements::Bool(xs) => xs.capacity(),
            Elements::Int(xs) => 8 * xs.capacity(),
            Elements::Num(xs) => 8 * xs.capacity(),
        }
    }

    pub fn push(&mut self, row: &Value) -> Result<(), Failure> {
        match &self.shape {
            None => self.shape = Some(row.shape().clone()),
            Some(shape) if shape != row.shape() => {
                let (left, right) = (shape.clone(), row.shape().clone());
                return Err(ShapeError::Different { left, right }.into());
            }
            Some(_) => {}
        }
        self.n += 1;
        match (&mut self.elements, row) {
            (Elements::Bool(xs), Value::Bool(x)) => xs.push(*x),
            (Elements::Int(xs), Value::Int(x)) => xs.push(*x),
            (Elements::Num(xs), Value::Num(x)) => xs.push(*x),
            (xs, Value::Tensor(tensor)) => match (xs, tensor.data()) {
                (Elements::Bool(xs), Data::Bool(row)) => xs.extend_from_slice(row),
                (Elements::Int(xs), Data::Int(row)) => xs.extend_from_slice(row),
                (Elements::Num(xs), Data::Num(row)) => xs.extend_from_slice(row),
                _ => unreachable!("the module is verified: one kind of elements"),
            },
            _ => unreachable!("the module is verified: one kind of elements"),
        }
        self.check()
    }

    fn check(&self) -> Result<(), Failure> {
        if self.n.is_power_of_two() {
            self.shape().n_elements()?;
        }
        Ok(())
    }

    fn shape(&self) -> Shape {
        // Decision: without rows the inner sizes are 0; code that knows the sizes reshapes the result.
        let zeros = Shape::from(vec![0; self.rank]);
        let row = self.shape.as_ref().unwrap_or(&zeros);
        Shape::from([&[self.n], &row[..]].concat())
    }

    pub fn finish(self) -> Result<Value, Failure> {
        let shape = self.shape();
        let data = match self.elements {
            Elements::Bool(xs) => Data::Bool(xs),
            Elements::Int(xs) => Data::Int(xs),
            Elements::Num(xs) => Data::Num(xs),
        };
        Ok(Value::new(shape, data)?)
    }
}
