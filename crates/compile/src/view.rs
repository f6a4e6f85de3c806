//! Views: where the elements of a value are.
//!
//! A row of a matrix, a transposed matrix, a vector that is stretched: none of them is copied. They are read where the elements
//! are already, at an offset and with strides.
//!
//! ```text
//! zr : [4,64]         offset 0     strides 64, 1
//! zr[2]               offset 128   strides 1
//! transpose(zr)       offset 0     strides 1, 64
//! broadcast a scalar  offset 0     strides 0, 0
//! ```

use eddy_flow::VarId;
use eddy_tensor::{Op, Scalar, Shape, Type};

/// Elements of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    pub root: Root,
    pub scalar: Scalar,
    pub offset: usize,
    pub shape: Shape,
    /// How far apart neighbours are along each axis.
    pub strides: Vec<usize>,
}

/// What a view looks at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Root {
    /// A stream of the code that is being written.
    Var(VarId),
    /// Memory that was there before: an array in C.
    Memory(String),
    /// The same C expression everywhere.
    One(String),
}

impl View {
    /// All of something, in row-major order.
    pub fn whole(root: Root, ty: &Type) -> View {
        let strides = match root {
            Root::One(_) => vec![0; ty.shape.len()],
            _ => row_major(&ty.shape),
        };
        View { root, scalar: ty.scalar, offset: 0, shape: ty.shape.clone(), strides }
    }

    /// Whether the elements lie one after the other, so that the view is what [`View::whole`] gives at some offset.
    pub fn is_contiguous(&self) -> bool {
        matches!(self.root, Root::One(_)) || same_steps(&self.shape, &self.strides, &row_major(&self.shape))
    }

    /// Whether it looks at all of the stream, as it is.
    pub fn is_all_of(&self, var: VarId, shape: &Shape) -> bool {
        self.root == Root::Var(var) && self.offset == 0 && self.shape == *shape && self.is_contiguous()
    }

    /// The stream that it looks at.
    pub fn var(&self) -> Option<VarId> {
        match self.root {
            Root::Var(var) => Some(var),
            _ => None,
        }
    }

    /// The view after an operation that moves no element; none for all other operations, and where elements would have to be moved.
    pub fn seen_through(&self, op: &Op) -> Option<View> {
        let mut view = self.clone();
        match op {
            Op::Copy | Op::StopGradient => {}
            Op::Index(row) => {
                view.offset += row * self.strides[0];
                view.strides.remove(0);
                view.shape = Shape::new(&self.shape[1..]);
            }
            Op::Slice(lo, hi) => {
                view.offset += lo * self.strides[0];
                let mut sizes = self.shape.to_vec();
                sizes[0] = hi - lo;
                view.shape = Shape::new(&sizes);
            }
            Op::Transpose => {
                if self.shape.len() == 2 {
                    view.strides.swap(0, 1);
                    view.shape = Shape::new(&[self.shape[1], self.shape[0]]);
                }
            }
            Op::Reshape(shape) => {
                if !self.is_contiguous() {
                    return None;
                }
                view.shape = shape.clone();
                view.strides = match self.root {
                    Root::One(_) => vec![0; shape.len()],
                    _ => row_major(shape),
                };
            }
            Op::Spread(axis, n) => {
                let mut sizes = self.shape.to_vec();
                sizes.insert(*axis, *n);
                view.shape = Shape::new(&sizes);
                view.strides.insert(*axis, 0);
            }
            Op::Broadcast(shape) => view = self.stretched(shape),
            Op::Unfold(axis, size, stride) => {
                let mut sizes = self.shape.to_vec();
                sizes[*axis] = (self.shape[*axis] - size) / stride + 1;
                sizes.insert(axis + 1, *size);
                view.shape = Shape::new(&sizes);
                view.strides[*axis] = self.strides[*axis] * stride;
                view.strides.insert(axis + 1, self.strides[*axis]);
            }
            Op::Each(each) if each.is_wide() == [true] => {
                let (slice, streams, stride) = self.slice();
                view = slice.seen_through(each.op())?;
                view.shape = view.shape.iter().copied().chain([streams]).collect::<Vec<_>>().into();
                view.strides.push(stride);
            }
            _ => return None,
        }
        Some(view)
    }

    /// The first slice along the last axis; how many there are, and how far apart.
    pub fn slice(&self) -> (View, usize, usize) {
        let (n, own) = self.shape.split_last().expect("there are slices");
        let (stride, strides) = self.strides.split_last().expect("there is a stride for each axis");
        (View { shape: Shape::new(own), strides: strides.to_vec(), ..self.clone() }, *n, *stride)
    }

    /// The view as broadcasting reads it for a result of this shape.
    pub fn stretched(&self, shape: &Shape) -> View {
        let missing = shape.len() - self.shape.len();
        let strides = (0..shape.len()).map(|axis| match axis.checked_sub(missing) {
            Some(own) if self.shape[own] != 1 => self.strides[own],
            _ => 0,
        });
        View { strides: strides.collect(), shape: shape.clone(), ..self.clone() }
    }
}

/// Whether an operation only moves elements, so that its result can always be read through a view.
pub(crate) fn is_moving(op: &Op) -> bool {
    matches!(
        op.applied(),
        Op::Copy
            | Op::StopGradient
            | Op::Index(_)
            | Op::Slice(..)
            | Op::Transpose
            | Op::Spread(..)
            | Op::Broadcast(_)
            | Op::Unfold(..)
    )
}

/// The strides of elements in row-major order.
pub(crate) fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// Whether two lists of strides lead to the same places: along an axis of size 1 nothing moves.
fn same_steps(shape: &[usize], left: &[usize], right: &[usize]) -> bool {
    shape.iter().zip(left.iter().zip(right)).all(|(size, (left, right))| *size == 1 || left == right)
}
