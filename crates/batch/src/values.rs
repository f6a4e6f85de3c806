//! Values of several streams put together, and taken apart.

use eddy_tensor::{Op, Shape, Value};

/// One value of each stream, of one type, as a value of the batch.
///
/// ```
/// use eddy_batch::values::{apart, together};
/// use eddy_tensor::{Data, Shape, Value};
/// let pair = |x, y| Value::new(Shape::new(&[2]), Data::Num(vec![x, y])).unwrap();
/// let values = [pair(1.0, 2.0), pair(3.0, 4.0), pair(5.0, 6.0)];
/// let batch = together(&values.iter().collect::<Vec<_>>());
/// assert_eq!(batch.to_string(), "[[1,3,5],[2,4,6]]");
/// assert_eq!(apart(&batch), values);
/// ```
pub fn together(values: &[&Value]) -> Value {
    let own = values[0].shape();
    if own.is_scalar() {
        return evaluated(Op::Stack, values);
    }
    let rows = evaluated(Op::Stack, values);
    let flat = reshaped(&rows, &[values.len(), own.iter().product()]);
    let columns = evaluated(Op::Transpose, &[&flat]);
    reshaped(&columns, &[&own[..], &[values.len()]].concat())
}

/// The value of each stream.
pub fn apart(batch: &Value) -> Vec<Value> {
    let (n, own) = batch.shape().split_last().expect("a value of a batch has an axis for the streams");
    if own.is_empty() {
        return batch.elements().collect();
    }
    let columns = reshaped(batch, &[own.iter().product(), *n]);
    let rows = evaluated(Op::Transpose, &[&columns]);
    (0..*n).map(|stream| reshaped(&evaluated(Op::Index(stream), &[&rows]), own)).collect()
}

fn reshaped(value: &Value, sizes: &[usize]) -> Value {
    evaluated(Op::Reshape(Shape::new(sizes)), &[value])
}

fn evaluated(op: Op, operands: &[&Value]) -> Value {
    op.eval(operands).expect("moving elements has a value")
}
