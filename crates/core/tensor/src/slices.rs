//! Stacks values along a new last axis, and splits them again.

use crate::op::Op;
use crate::shape::Shape;
use crate::value::Value;

/// Stacks values of one type along a new last axis.
///
/// ```
/// use eddy_tensor::slices::{split, stack};
/// use eddy_tensor::{Data, Shape, Value};
/// let pair = |x, y| Value::new(Shape::new(&[2]), Data::Num(vec![x, y])).unwrap();
/// let values = [pair(1.0, 2.0), pair(3.0, 4.0), pair(5.0, 6.0)];
/// let all = stack(&values.iter().collect::<Vec<_>>());
/// assert_eq!(all.to_string(), "[[1,3,5],[2,4,6]]");
/// assert_eq!(split(&all), values);
/// ```
pub fn stack(values: &[&Value]) -> Value {
    let own = values[0].shape();
    let rows = evaluated(Op::Stack, values);
    if own.is_scalar() {
        return rows;
    }
    let flat = reshaped(&rows, &[values.len(), own.size()]);
    let columns = evaluated(Op::Transpose, &[&flat]);
    reshaped(&columns, &[&own[..], &[values.len()]].concat())
}

pub fn split(value: &Value) -> Vec<Value> {
    let (n, own) = value.shape().split_last().expect("there is a last axis");
    if own.is_empty() {
        return value.elements().collect();
    }
    let columns = reshaped(value, &[own.iter().product(), *n]);
    let rows = evaluated(Op::Transpose, &[&columns]);
    (0..*n).map(|slice| reshaped(&evaluated(Op::Index(slice), &[&rows]), own)).collect()
}

fn reshaped(value: &Value, sizes: &[usize]) -> Value {
    evaluated(Op::Reshape(Shape::new(sizes)), &[value])
}

fn evaluated(op: Op, operands: &[&Value]) -> Value {
    op.eval(operands).expect("moving elements has a value")
}
