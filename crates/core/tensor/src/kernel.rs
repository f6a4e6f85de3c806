//! Loops over elements: they apply a function of elements to whole values.
//!
//! The result is allocated once and then written by index, so that the loops vectorise; a scalar result is
//! not allocated. A function that can fail stops at the first failing element in row-major order.

use std::convert::Infallible;
use std::marker::PhantomData;

use pulp::{Simd, WithSimd};

use crate::element::Element;
use crate::processor::widest;
use crate::shape::Shape;
use crate::value::Value;
use crate::walk::Walk;

/// Applies `f` to each element.
pub(crate) fn map<T: Element, R: Element>(x: &Value, f: impl Fn(T) -> R) -> Value {
    certain(try_map(x, |x| Ok::<R, Infallible>(f(x))))
}

/// Applies `f` to each element; returns the first error.
pub(crate) fn try_map<T: Element, R: Element, E>(
    x: &Value,
    f: impl Fn(T) -> Result<R, E>,
) -> Result<Value, E> {
    let xs = T::slice(x);
    if x.shape().is_scalar() {
        return f(xs[0]).map(R::scalar);
    }
    let mut results = vec![R::ZERO; xs.len()];
    widest().dispatch(Map { xs, results: &mut results, f })?;
    Ok(R::value(x.shape().clone(), results))
}

/// The loop of [`try_map`].
struct Map<'a, T, R, F> {
    xs: &'a [T],
    results: &'a mut [R],
    f: F,
}

impl<T: Element, R: Element, E, F: Fn(T) -> Result<R, E>> WithSimd for Map<'_, T, R, F> {
    type Output = Result<(), E>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Result<(), E> {
        for (result, x) in self.results.iter_mut().zip(self.xs) {
            *result = (self.f)(*x)?;
        }
        Ok(())
    }
}

/// Applies `f` to each pair of elements, after broadcasting.
pub(crate) fn zip<T: Element, R: Element>(x: &Value, y: &Value, f: impl Fn(T, T) -> R) -> Value {
    certain(zip_with(x, y, Certain(f)))
}

/// Applies `f` to each pair of elements, after broadcasting; returns the first error.
pub(crate) fn try_zip<T: Element, R: Element, E>(
    x: &Value,
    y: &Value,
    f: impl Fn(T, T) -> Result<R, E>,
) -> Result<Value, E> {
    zip_with(x, y, Fallible(f))
}

/// A function of two elements. Closures are not inlined into the loops, because there are several calls; a
/// large function that must be inlined implements this trait with `#[inline(always)]`.
pub(crate) trait Pairwise<T, R, E> {
    fn at(&self, x: T, y: T) -> Result<R, E>;
}

struct Certain<F>(F);

impl<T, R, F: Fn(T, T) -> R> Pairwise<T, R, Infallible> for Certain<F> {
    #[inline(always)]
    fn at(&self, x: T, y: T) -> Result<R, Infallible> {
        Ok((self.0)(x, y))
    }
}

struct Fallible<F>(F);

impl<T, R, E, F: Fn(T, T) -> Result<R, E>> Pairwise<T, R, E> for Fallible<F> {
    #[inline(always)]
    fn at(&self, x: T, y: T) -> Result<R, E> {
        (self.0)(x, y)
    }
}

/// [`try_zip`] for a [`Pairwise`] function.
pub(crate) fn zip_with<T: Element, R: Element, E>(
    x: &Value,
    y: &Value,
    f: impl Pairwise<T, R, E>,
) -> Result<Value, E> {
    let (xs, ys) = (T::slice(x), T::slice(y));
    let shape = joint_shape(x.shape(), y.shape());
    if shape.is_scalar() {
        return f.at(xs[0], ys[0]).map(R::scalar);
    }
    let mut results = vec![R::ZERO; shape.size()];
    let walk = Walk::new(&shape, [x.shape(), y.shape()]);
    widest().dispatch(Zip { xs, ys, results: &mut results, walk, f, error: PhantomData })?;
    Ok(R::value(shape, results))
}

/// The loops of [`zip_with`].
struct Zip<'a, T, R, E, F> {
    xs: &'a [T],
    ys: &'a [T],
    results: &'a mut [R],
    walk: Walk<2>,
    f: F,
    error: PhantomData<E>,
}

impl<T: Element, R: Element, E, F: Pairwise<T, R, E>> WithSimd for Zip<'_, T, R, E, F> {
    type Output = Result<(), E>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Result<(), E> {
        let Zip { xs, ys, results, walk, f, .. } = self;
        let [x_advances, y_advances] = walk.advances();
        for (row, [x_start, y_start]) in rows_mut(results, &walk).zip(walk.rows()) {
            let (xs, ys) = (&xs[x_start..], &ys[y_start..]);
            match (x_advances, y_advances) {
                (true, true) => {
                    for (result, (x, y)) in row.iter_mut().zip(xs.iter().zip(ys)) {
                        *result = f.at(*x, *y)?;
                    }
                }
                (true, false) => {
                    let y = ys[0];
                    for (result, x) in row.iter_mut().zip(xs) {
                        *result = f.at(*x, y)?;
                    }
                }
                (false, _) => {
                    let x = xs[0];
                    for (result, y) in row.iter_mut().zip(ys) {
                        *result = f.at(x, *y)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Elements of `x` where the condition holds and of `y` elsewhere, after broadcasting all three.
pub(crate) fn select<T: Element>(condition: &Value, x: &Value, y: &Value) -> Value {
    let shape = joint_shape(&joint_shape(condition.shape(), x.shape()), y.shape());
    let (conditions, xs, ys) = (bool::slice(condition), T::slice(x), T::slice(y));
    let mut results = vec![T::ZERO; shape.size()];
    let walk = Walk::new(&shape, [condition.shape(), x.shape(), y.shape()]);
    let steps = walk.advances().map(usize::from);
    for (row, starts) in rows_mut(&mut results, &walk).zip(walk.rows()) {
        for (i, result) in row.iter_mut().enumerate() {
            let at = |operand: usize| starts[operand] + i * steps[operand];
            *result = if conditions[at(0)] { xs[at(1)] } else { ys[at(2)] };
        }
    }
    T::value(shape, results)
}

/// Broadcasts `x` to a shape.
pub(crate) fn stretch<T: Element>(x: &Value, shape: &Shape) -> Value {
    let xs = T::slice(x);
    let mut results = vec![T::ZERO; shape.size()];
    let walk = Walk::new(shape, [x.shape()]);
    let [advances] = walk.advances();
    for (row, [start]) in rows_mut(&mut results, &walk).zip(walk.rows()) {
        if advances {
            row.copy_from_slice(&xs[start..start + row.len()]);
        } else {
            row.fill(xs[start]);
        }
    }
    T::value(shape.clone(), results)
}

/// The rows of a result, in the order of the walk.
fn rows_mut<'a, T, const N: usize>(
    results: &'a mut [T],
    walk: &Walk<N>,
) -> std::slice::ChunksExactMut<'a, T> {
    // An empty result has no rows for any row length, but `chunks_exact_mut` rejects zero.
    results.chunks_exact_mut(walk.row_len().max(1))
}

fn joint_shape(x: &Shape, y: &Shape) -> Shape {
    x.broadcast(y).unwrap_or_else(|error| unreachable!("operands passed the shape rules, yet {error}"))
}

fn certain(result: Result<Value, Infallible>) -> Value {
    match result {
        Ok(value) => value,
    }
}
