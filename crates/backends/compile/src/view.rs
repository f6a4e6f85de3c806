//! Views: the places of the elements of a value.
//!
//! A row of a matrix, a transposed matrix, a broadcast vector: none of them is copied. They are read where
//! the elements are, at an offset and with strides.
//!
//! ```text
//! zr : [4,64]         offset 0     strides 64, 1
//! zr[2]               offset 128   strides 1
//! transpose(zr)       offset 0     strides 1, 64
//! broadcast a scalar  offset 0     strides 0, 0
//! ```

use eddy_flow::VarId;
use eddy_imp::{Expr, Place};
use eddy_tensor::{Op, Scalar, Shape, Type};

use crate::operation::{Form, Loops, Movement, form};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    pub root: Root,
    pub scalar: Scalar,
    pub offset: usize,
    pub shape: Shape,
    /// The distance of adjacent elements along each axis.
    pub strides: Vec<usize>,
}

/// The memory of a view.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Root {
    /// A stream of the code that is being written.
    Var(VarId),
    /// Existing memory: an array.
    Memory(Place),
    /// The same everywhere.
    One(Expr),
    /// A placeholder for a value that no live instruction reads.
    Nothing,
}

impl View {
    /// All of something, in row-major order.
    pub fn whole(root: Root, ty: &Type) -> View {
        let strides = match root {
            Root::One(_) | Root::Nothing => vec![0; ty.shape.len()],
            _ => row_major(&ty.shape),
        };
        View { root, scalar: ty.scalar, offset: 0, shape: ty.shape.clone(), strides }
    }

    /// Whether the elements are contiguous: the view is [`View::whole`] up to an offset.
    pub fn is_contiguous(&self) -> bool {
        matches!(self.root, Root::One(_) | Root::Nothing)
            || same_steps(&self.shape, &self.strides, &row_major(&self.shape))
    }

    /// Whether it is the whole stream, unchanged.
    pub fn is_all_of(&self, var: VarId, shape: &Shape) -> bool {
        self.root == Root::Var(var) && self.offset == 0 && self.shape == *shape && self.is_contiguous()
    }

    /// The stream of its root.
    pub fn var(&self) -> Option<VarId> {
        match self.root {
            Root::Var(var) => Some(var),
            _ => None,
        }
    }

    /// The view of an operation's result; `None` if elements would have to be moved or computed.
    #[deny(clippy::wildcard_enum_match_arm)]
    pub fn seen_through(&self, op: &Op) -> Option<View> {
        match form(op) {
            Form::View(movement) => Some(self.moved(movement)),
            Form::Loops(Loops::Reshape(shape)) => self.is_contiguous().then(|| View {
                shape: shape.clone(),
                strides: match self.root {
                    Root::One(_) | Root::Nothing => vec![0; shape.len()],
                    Root::Var(_) | Root::Memory(_) => row_major(shape),
                },
                ..self.clone()
            }),
            Form::Loops(Loops::Each(each)) if each.is_wide() == [true] => {
                let (slice, streams, stride) = self.slice();
                let mut view = slice.seen_through(each.op())?;
                view.shape = view.shape.iter().copied().chain([streams]).collect::<Vec<_>>().into();
                view.strides.push(stride);
                Some(view)
            }
            Form::Elements(_) | Form::Choice | Form::Loops(_) => None,
        }
    }

    #[deny(clippy::wildcard_enum_match_arm)]
    fn moved(&self, movement: Movement<'_>) -> View {
        let mut view = self.clone();
        let mut sizes = self.shape.to_vec();
        match movement {
            Movement::Same => {}
            Movement::Row(row) => {
                view.offset += row * self.strides[0];
                view.strides.remove(0);
                sizes.remove(0);
            }
            Movement::Rows { lo, hi } => {
                view.offset += lo * self.strides[0];
                sizes[0] = hi - lo;
            }
            Movement::Transposed => {
                if let [rows, columns] = sizes[..] {
                    view.strides.swap(0, 1);
                    sizes = vec![columns, rows];
                }
            }
            Movement::Repeated { axis, n } => {
                sizes.insert(axis, n);
                view.strides.insert(axis, 0);
            }
            Movement::Stretched(shape) => return self.stretched(shape),
            Movement::Windows { axis, size, stride } => {
                sizes[axis] = (self.shape[axis] - size) / stride + 1;
                sizes.insert(axis + 1, size);
                view.strides[axis] = self.strides[axis] * stride;
                view.strides.insert(axis + 1, self.strides[axis]);
            }
        }
        view.shape = Shape::from(sizes);
        view
    }

    /// The first slice along the last axis, the number of slices, and the stride between them.
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

/// The strides of elements in row-major order.
pub(crate) fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// Whether two lists of strides are equivalent: strides along an axis of size 1 do not matter.
fn same_steps(shape: &[usize], left: &[usize], right: &[usize]) -> bool {
    shape.iter().zip(left.iter().zip(right)).all(|(size, (left, right))| *size == 1 || left == right)
}
