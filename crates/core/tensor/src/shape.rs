//! Shapes: the sizes of the axes of a tensor, outermost first. A scalar has no axes; its shape is `[]`.
//!
//! Broadcasting follows `NumPy`: shapes are aligned at the right, and an axis of size 1 stretches to any
//! size. So `[2,1]` and `[3]` broadcast to `[2,3]`, while `[3]` and `[2]` do not broadcast.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::shape_error::ShapeError;

/// The largest number of elements of a tensor: 2 GiB of `num`. A typing error in a size should give a
/// diagnostic rather than exhaust memory.
pub const MAX_ELEMENTS: usize = 1 << 28;

/// The sizes of the axes of a tensor; cheap to clone, and free for scalars.
///
/// ```
/// use eddy_tensor::Shape;
/// let shape = Shape::new(&[3, 4]);
/// assert_eq!(shape.to_string(), "[3,4]");
/// assert_eq!(shape.n_elements(), Ok(12));
/// assert_eq!(shape.len(), 2);
/// assert_eq!(Shape::scalar().to_string(), "[]");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Shape(Option<Arc<[usize]>>); // `None` is `[]`, and nothing else is, so that equality can be derived

impl Shape {
    pub const fn scalar() -> Shape {
        Shape(None)
    }

    pub fn new(sizes: &[usize]) -> Shape {
        Shape((!sizes.is_empty()).then(|| sizes.into()))
    }

    pub fn is_scalar(&self) -> bool {
        self.0.is_none()
    }

    /// The number of elements of a tensor of this shape; an error if it exceeds [`MAX_ELEMENTS`].
    ///
    /// Empty axes count as size 1 for the limit, so that sizes of parts of an accepted shape never overflow.
    pub fn n_elements(&self) -> Result<usize, ShapeError> {
        let bound = self.iter().try_fold(1_usize, |n, size| n.checked_mul(*size.max(&1)));
        match bound {
            Some(n) if n <= MAX_ELEMENTS => Ok(self.size()),
            _ => Err(ShapeError::TooLarge(self.clone())),
        }
    }

    /// The shape to which both broadcast.
    pub fn broadcast(&self, other: &Shape) -> Result<Shape, ShapeError> {
        // The common case; it shares the sizes.
        if self == other || other.is_scalar() {
            return Ok(self.clone());
        }
        let rank = self.len().max(other.len());
        let sizes: Option<Vec<usize>> = (0..rank)
            .map(|axis| match (self.aligned(axis, rank), other.aligned(axis, rank)) {
                (a, b) if a == b => Some(a),
                (1, size) | (size, 1) => Some(size),
                _ => None,
            })
            .collect();
        let sizes =
            sizes.ok_or_else(|| ShapeError::Broadcast { left: self.clone(), right: other.clone() })?;
        let shape = Shape::from(sizes);
        shape.n_elements()?;
        Ok(shape)
    }

    /// Whether this broadcasts to exactly `target`.
    pub fn stretches_to(&self, target: &Shape) -> bool {
        self.broadcast(target).is_ok_and(|both| both == *target)
    }

    /// The size of an axis when the shape is aligned at the right of `rank` axes.
    fn aligned(&self, axis: usize, rank: usize) -> usize {
        (axis + self.len()).checked_sub(rank).map_or(1, |own| self[own])
    }

    /// The number of elements of a shape that has passed [`Shape::n_elements`].
    pub(crate) fn size(&self) -> usize {
        self.iter().product()
    }

    /// Inserts an axis of this size.
    pub(crate) fn with_axis(&self, axis: usize, size: usize) -> Shape {
        let mut sizes = self.to_vec();
        sizes.insert(axis, size);
        Shape::from(sizes)
    }

    pub(crate) fn without_axis(&self, axis: usize) -> Shape {
        let mut sizes = self.to_vec();
        sizes.remove(axis);
        Shape::from(sizes)
    }

    /// Replaces the size of axis 0, which must exist.
    pub(crate) fn with_rows(&self, n: usize) -> Shape {
        let mut sizes = self.to_vec();
        sizes[0] = n;
        Shape::from(sizes)
    }
}

impl Deref for Shape {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl From<Vec<usize>> for Shape {
    fn from(sizes: Vec<usize>) -> Shape {
        Shape::new(&sizes)
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(sizes: [usize; N]) -> Shape {
        Shape::new(&sizes)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (axis, size) in self.iter().enumerate() {
            let separator = if axis == 0 { "" } else { "," };
            write!(f, "{separator}{size}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(left: &[usize], right: &[usize], expected: &str) {
        let (left, right) = (Shape::new(left), Shape::new(right));
        for both in [left.broadcast(&right), right.broadcast(&left)] {
            assert_eq!(both.map_or_else(|_| "refused".to_owned(), |shape| shape.to_string()), expected);
        }
    }

    #[test]
    fn broadcasting_aligns_at_the_right_and_stretches_ones() {
        check(&[], &[], "[]");
        check(&[], &[3], "[3]");
        check(&[2, 1], &[3], "[2,3]");
        check(&[2, 3], &[2, 1], "[2,3]");
        check(&[4, 1, 3], &[2, 1], "[4,2,3]");
        check(&[0], &[1], "[0]");
        check(&[3], &[2], "refused");
        check(&[0], &[2], "refused");
        check(&[2, 3], &[2], "refused");
    }

    #[test]
    fn a_shape_stretches_in_one_direction() {
        let (row, table) = (Shape::new(&[3]), Shape::new(&[2, 3]));
        assert!(row.stretches_to(&table));
        assert!(row.stretches_to(&row));
        assert!(!table.stretches_to(&row));
        assert!(!Shape::new(&[2, 1]).stretches_to(&row));
    }

    #[test]
    fn the_empty_list_is_the_scalar_shape() {
        assert_eq!(Shape::new(&[]), Shape::scalar());
        assert!(Shape::new(&[]).is_scalar());
        assert_eq!(Shape::scalar().n_elements(), Ok(1));
        assert!(!Shape::new(&[1]).is_scalar());
    }

    #[test]
    fn too_many_elements_are_refused() {
        assert_eq!(Shape::new(&[1 << 14, 1 << 14]).n_elements(), Ok(MAX_ELEMENTS));
        let error = Shape::new(&[1 << 14, 1 + (1 << 14)]).n_elements().expect_err("too many");
        assert_eq!(error.to_string(), "shape [16384,16385] has more than 268435456 elements");
        assert!(Shape::new(&[usize::MAX, 2]).n_elements().is_err());
        // Empty, but the size of a part of it overflows.
        assert!(Shape::new(&[0, usize::MAX, 2]).n_elements().is_err());
        assert!(Shape::new(&[1 << 20, 1]).broadcast(&Shape::new(&[1 << 20])).is_err());
    }
}
