//! The offsets of the elements that selectors choose: `a[i, lo..hi, .., ix]`.
//!
//! A place is a list of runs of consecutive elements, in row-major order of the result.

use std::sync::Arc;

use eddy_tensor::{Data, DataMut, Shape, Tensor, Value};

use super::failure::Failure;

/// A selector whose operands are known.
pub(super) enum Selector<'a> {
    Index(&'a Value),
    Range(i64, i64),
    All,
}

/// The chosen elements of a tensor.
pub(super) struct Place {
    /// The shape of the selection.
    pub shape: Shape,
    /// The start of each run.
    starts: Vec<usize>,
    /// The length of each run.
    len: usize,
}

/// The place that selectors choose in a tensor of this shape.
pub(super) fn place(shape: &Shape, selectors: &[Selector<'_>]) -> Result<Place, Failure> {
    let mut sizes = Vec::new();
    let mut starts = vec![0_usize];
    // The last axes, as far as they are selected as a whole, form one run.
    let mut inner: usize = shape.iter().product();
    for (axis, selector) in selectors.iter().enumerate() {
        let n = shape[axis];
        inner = shape[axis + 1..].iter().product();
        let mut step = |indices: &mut dyn Iterator<Item = usize>| {
            let indices: Vec<usize> = indices.collect();
            starts =
                starts.iter().flat_map(|start| indices.iter().map(move |at| start + at * inner)).collect();
        };
        match selector {
            Selector::Index(Value::Int(index)) => step(&mut std::iter::once(checked(*index, n, shape)?)),
            Selector::Index(indices) => {
                sizes.extend_from_slice(indices.shape());
                let indices = ints(indices).iter().map(|index| checked(*index, n, shape));
                let indices = indices.collect::<Result<Vec<_>, _>>()?;
                step(&mut indices.into_iter());
            }
            Selector::Range(lo, hi) => {
                let bounds = usize::try_from(*lo).ok().zip(usize::try_from(*hi).ok());
                let Some((first, end)) = bounds.filter(|(lo, hi)| lo <= hi && *hi <= n) else {
                    return Err(Failure::Range { lo: *lo, hi: *hi, shape: shape.clone() });
                };
                sizes.push(end - first);
                step(&mut (first..end));
            }
            Selector::All => {
                sizes.push(n);
                step(&mut (0..n));
            }
        }
    }
    sizes.extend_from_slice(&shape[selectors.len()..]);
    let shape = Shape::from(sizes);
    shape.n_elements()?;
    Ok(Place { shape, starts, len: inner })
}

fn checked(index: i64, n: usize, shape: &Shape) -> Result<usize, Failure> {
    let place = usize::try_from(index).ok().filter(|place| *place < n);
    place.ok_or_else(|| Failure::Index { index, shape: shape.clone() })
}

/// The integers of a value.
pub(super) fn ints(value: &Value) -> &[i64] {
    match value {
        Value::Int(n) => std::slice::from_ref(n),
        Value::Tensor(tensor) => match tensor.data() {
            Data::Int(ints) => ints,
            _ => unreachable!("the module is verified: these are ints"),
        },
        _ => unreachable!("the module is verified: these are ints"),
    }
}

/// The offset of a single element, if each axis has a selector that is a single index.
pub(super) fn offset<'a>(
    shape: &Shape,
    selectors: impl ExactSizeIterator<Item = Option<&'a Value>>,
) -> Option<Result<usize, Failure>> {
    if selectors.len() != shape.len() {
        return None;
    }
    let mut offset = 0;
    for (selector, n) in selectors.zip(shape.iter()) {
        let Some(Value::Int(index)) = selector else { return None };
        match checked(*index, *n, shape) {
            Ok(index) => offset = offset * n + index,
            Err(failure) => return Some(Err(failure)),
        }
    }
    Some(Ok(offset))
}

/// The element at an offset.
pub(super) fn element(array: &Value, offset: usize) -> Value {
    let Value::Tensor(tensor) = array else { return array.clone() };
    match tensor.data() {
        Data::Bool(xs) => Value::Bool(xs[offset]),
        Data::Int(xs) => Value::Int(xs[offset]),
        Data::Num(xs) => Value::Num(xs[offset]),
        Data::Num32(xs) => Value::Num32(xs[offset]),
    }
}

impl Place {
    /// A single element.
    pub fn element(offset: usize) -> Place {
        Place { shape: Shape::scalar(), starts: vec![offset], len: 1 }
    }

    /// The chosen elements.
    pub fn read(&self, array: &Value) -> Value {
        fn runs<T: Copy>(place: &Place, from: &[T]) -> Vec<T> {
            let mut elements = Vec::with_capacity(place.starts.len() * place.len);
            for start in &place.starts {
                elements.extend_from_slice(&from[*start..start + place.len]);
            }
            elements
        }
        let Value::Tensor(tensor) = array else { return array.clone() };
        let data = match tensor.data() {
            Data::Bool(xs) => Data::Bool(runs(self, xs)),
            Data::Int(xs) => Data::Int(runs(self, xs)),
            Data::Num(xs) => Data::Num(runs(self, xs)),
            Data::Num32(xs) => Data::Num32(runs(self, xs)),
        };
        Value::new(self.shape.clone(), data).expect("there are as many elements as the place has")
    }

    /// Replaces the chosen elements.
    pub fn write(&self, array: &mut Value, value: &Value) {
        fn runs<T: Copy>(place: &Place, to: &mut [T], from: &[T]) {
            for (at, start) in place.starts.iter().enumerate() {
                to[*start..start + place.len].copy_from_slice(&from[at * place.len..(at + 1) * place.len]);
            }
        }
        let Value::Tensor(tensor) = array else {
            *array = value.clone();
            return;
        };
        match (Arc::make_mut(tensor).data_mut(), elements(value)) {
            (DataMut::Bool(to), Elements::Bool(from)) => runs(self, to, from),
            (DataMut::Int(to), Elements::Int(from)) => runs(self, to, from),
            (DataMut::Num(to), Elements::Num(from)) => runs(self, to, from),
            _ => unreachable!("the module is verified: one kind of elements"),
        }
    }

    /// Adds to the chosen elements, in row-major order.
    pub fn add(&self, array: &mut Value, value: &Value) -> Result<(), Failure> {
        match (array, elements(value)) {
            (Value::Num(x), Elements::Num(from)) => *x += from[0],
            (Value::Int(x), Elements::Int(from)) => *x = x.checked_add(from[0]).ok_or(Failure::Overflow)?,
            (Value::Tensor(tensor), from) => {
                let tensor: &mut Tensor = Arc::make_mut(tensor);
                let places = self.starts.iter().flat_map(|start| *start..start + self.len);
                match (tensor.data_mut(), from) {
                    (DataMut::Num(to), Elements::Num(from)) => {
                        for (at, x) in places.zip(from) {
                            to[at] += x;
                        }
                    }
                    (DataMut::Int(to), Elements::Int(from)) => {
                        for (at, x) in places.zip(from) {
                            to[at] = to[at].checked_add(*x).ok_or(Failure::Overflow)?;
                        }
                    }
                    _ => unreachable!("the module is verified: one kind of numbers"),
                }
            }
            _ => unreachable!("the module is verified: one kind of numbers"),
        }
        Ok(())
    }
}

enum Elements<'a> {
    Bool(&'a [bool]),
    Int(&'a [i64]),
    Num(&'a [f64]),
}

fn elements(value: &Value) -> Elements<'_> {
    use std::slice::from_ref;
    match value {
        Value::Bool(x) => Elements::Bool(from_ref(x)),
        Value::Int(x) => Elements::Int(from_ref(x)),
        Value::Num(x) => Elements::Num(from_ref(x)),
        Value::Tensor(tensor) => match tensor.data() {
            Data::Bool(xs) => Elements::Bool(xs),
            Data::Int(xs) => Elements::Int(xs),
            Data::Num(xs) => Elements::Num(xs),
            Data::Num32(_) => unreachable!("the reference engine computes in double precision"),
        },
        Value::Num32(_) => unreachable!("the reference engine computes in double precision"),
    }
}
