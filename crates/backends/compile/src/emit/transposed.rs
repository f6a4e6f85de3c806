//! Matrices that are also stored by columns.
//!
//! A matrix times a vector sums along the rows of the matrix, and each sum waits for its last term. Many
//! independent sums in parallel are faster, and they are contiguous if the matrix is stored by columns. So a
//! matrix that does not change from step to step is transposed once, and products with vectors read the copy.

use eddy_imp::{Name, Place};
use eddy_tensor::{Op, Type};

use super::Emitter;
use crate::layout::value_field;
use crate::lower::{Operand, Right};
use crate::nest::{index, loops, place};
use crate::view::{Root, View};

/// Smaller matrices are not worthwhile.
const SMALLEST: usize = 64;

impl Emitter<'_> {
    /// Replaces a constant matrix that is multiplied with a vector by its transposed copy.
    pub(super) fn by_columns(&mut self, right: Right) -> Right {
        let Right::Apply(Op::Matmul, operands) = &right else { return right };
        let [Operand::Seen(matrix), vector] = operands.as_slice() else { return right };
        let is_vector = match vector {
            Operand::Var(var) => self.ty(*var).shape.len() == 1,
            Operand::Seen(view) => view.shape.len() == 1,
        };
        let Root::Memory(place) = &matrix.root else { return right };
        let Some(field) = place.field().filter(|_| place.at.is_empty() && self.is_invariant(place)) else {
            return right;
        };
        let is_whole = matrix.is_contiguous() && matrix.offset == 0;
        let size: usize = matrix.shape.iter().product();
        if !is_vector || !is_whole || matrix.shape.len() != 2 || size < SMALLEST {
            return right;
        }
        let strides = vec![1, matrix.shape[0]];
        let root = Root::Memory(self.transposed(&field.clone(), matrix));
        let transposed = View { root, strides, ..matrix.clone() };
        Right::Apply(Op::Matmul, vec![Operand::Seen(transposed), vector.clone()])
    }

    /// Whether `prepare` computes values that depend on this field.
    fn is_invariant(&self, place: &Place) -> bool {
        place.field().is_some_and(|field| self.invariant_fields.contains(field))
    }

    /// The copy, which `prepare` writes.
    fn transposed(&mut self, from: &Name, matrix: &View) -> Place {
        let field = format!("{from}_t");
        let to = Place::state(field.as_str());
        if self.state.find(&field).is_none() {
            let ty = Type { scalar: matrix.scalar, shape: matrix.shape.clone() };
            value_field(&mut self.state, field.as_str(), &ty, format!("{from} by columns"), self.precision);
            let (rows, columns) = (matrix.shape[0], matrix.shape[1]);
            loops(&[columns, rows], 0, &mut self.prepare, |block| {
                let (column, row) = (index(0), index(1));
                let element =
                    Place::state(from).index(place(0, [(row.clone(), columns), (column.clone(), 1)]));
                block.store(to.index(place(0, [(column, rows), (row, 1)])), element);
            });
        }
        to
    }
}
