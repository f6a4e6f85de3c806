//! Slices along the last axis: values put side by side, and taken apart.

use crate::op::Op;
use crate::shape::Shape;
use crate::value::Value;

/// Values of one type side by side: their number is the last axis.
///
/// ```
/// use eddy_tensor::slices::{apart, together};
/// use eddy_tensor::{Data, Shape, Value};
/// let pair = |x, y| Value::new(Shape::new(&[2]), Data::Num(vec![x, y])).unwrap();
/// let values = [pair(1.0, 2.0), pair(3.0, 4.0), pair(5.0, 6.0)];
/// let all = together(&values.iter().collect::<Vec<_>>());
/// assert_eq!(all.to_string(), "[[1,3,5],[2,4,6]]");
/// assert_eq!(apart(&all), values);
/// ```
pub fn together(values: &[&Value]) -> Value {
    let own = values[0].shape();
    let rows = evaluated(Op::Stack, values);
    if own.is_scalar() {
        return rows;
    }
    let flat = reshaped(&rows, &[values.len(), own.size()]);
    let columns = evaluated(Op::Transpose, &[&flat]);
    reshaped(&columns, &[&own[..], &[values.len()]].concat())
}

/// The slices along the last axis.
pub fn apart(value: &Value) -> Vec<Value> {
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
