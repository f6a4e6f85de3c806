//! Matrices that are kept by columns too.
//!
//! A matrix times a vector sums along the rows of the matrix, each sum waiting for its last term; what a machine does fast is many sums
//! side by side, and they are side by side if the matrix lies by columns. So a matrix that does not change from step to step is put
//! aside transposed, once, and products with vectors read that.

use eddy_tensor::Op;

use super::Emitter;
use crate::lines::Lines;
use crate::lower::{Operand, Right};
use crate::view::{Root, View};

/// Smaller matrices are not worth it.
const SMALLEST: usize = 64;

impl Emitter<'_> {
    /// The right side of an equation, in which a matrix that does not change is read by columns if it is multiplied with a vector.
    pub(super) fn by_columns(&mut self, right: Right) -> Right {
        let Right::Apply(Op::Matmul, operands) = &right else { return right };
        let [Operand::Seen(matrix), vector] = operands.as_slice() else { return right };
        let is_vector = match vector {
            Operand::Var(var) => self.ty(*var).shape.len() == 1,
            Operand::Seen(view) => view.shape.len() == 1,
        };
        let Root::Memory(text) = &matrix.root else { return right };
        let is_kept = matrix.is_contiguous() && matrix.offset == 0 && is_kept_by_columns(text);
        let size: usize = matrix.shape.iter().product();
        if !is_vector || !is_kept || matrix.shape.len() != 2 || size < SMALLEST {
            return right;
        }
        let name = self.transposed(&text.clone(), matrix);
        let strides = vec![1, matrix.shape[0]];
        let transposed = View { root: Root::Memory(name), strides, ..matrix.clone() };
        Right::Apply(Op::Matmul, vec![Operand::Seen(transposed), vector.clone()])
    }

    /// The copy, which `prepare` makes.
    fn transposed(&mut self, text: &str, matrix: &View) -> String {
        let field = format!("{}_t", text.trim_start_matches("self->"));
        if self.state.find(&field).is_none() {
            let comment = format!("{text} by columns");
            self.state.value(field.clone(), matrix.scalar, &matrix.shape, comment, self.precision);
            let (rows, columns) = (matrix.shape[0], matrix.shape[1]);
            let mut lines = Lines::default();
            transpose(text, &format!("self->{field}"), rows, columns, &mut lines);
            self.prepare.append(&lines);
        }
        format!("self->{field}")
    }
}

/// Copies a matrix by columns.
pub(super) fn transpose(from: &str, to: &str, rows: usize, columns: usize, lines: &mut Lines) {
    crate::nest::loops(&[columns, rows], 0, lines, |lines| {
        lines.line(format!("{to}[{rows} * i0 + i1] = {from}[{columns} * i1 + i0];"));
    });
}

/// Whether something writes a transposed copy of this array whenever it changes.
fn is_kept_by_columns(text: &str) -> bool {
    text.starts_with("self->k_")
}
