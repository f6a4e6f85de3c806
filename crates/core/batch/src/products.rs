//! Products of matrices and vectors.
//!
//! A shared matrix multiplies the columns of the whole batch in one product, which sums the same terms in the
//! same order as a separate run. In all other cases each stream has its own product.

use eddy_flow::VarId;
use eddy_tensor::{Op, Shape};

use crate::operations::each;
use crate::writer::{Writer, with_last};

/// Defines `out` as the product of two operands, at least one of which is wide.
pub(crate) fn matmul(writer: &mut Writer, out: VarId, left: VarId, right: VarId) {
    let n_left = writer.own_shape(left).len();
    match (writer.is_wide(left), writer.is_wide(right)) {
        (false, _) => shared_left(writer, out, left, right),
        // A vector times a matrix is the transposed matrix times the vector.
        (true, false) if n_left == 1 => {
            let transposed = writer.apply(Op::Transpose, &[right]);
            writer.define_apply(out, Op::Matmul, &[transposed, left]);
        }
        (true, _) => each(writer, out, Op::Matmul, &[left, right]),
    }
}

/// `[..,k] · [k,..,B]`: all columns of all streams form one right factor.
fn shared_left(writer: &mut Writer, out: VarId, left: VarId, right: VarId) {
    if writer.shape(right).len() == 2 {
        return writer.define_apply(out, Op::Matmul, &[left, right]);
    }
    let (inner, columns) = (writer.shape(right)[0], writer.shape(right)[1..].iter().product());
    let flat = writer.reshaped(right, &Shape::new(&[inner, columns]));
    let product = writer.apply(Op::Matmul, &[left, flat]);
    let shape = writer.shape(out).clone();
    writer.define_apply(out, Op::Reshape(shape), &[product]);
}

/// Defines `out` as the outer product of two vectors, at least one of which is wide.
pub(crate) fn outer(writer: &mut Writer, out: VarId, left: VarId, right: VarId) {
    let last = if writer.is_wide(left) { writer.n } else { 1 };
    let own = writer.own_shape(left);
    let column = writer.reshaped(left, &with_last(&with_last(&own, 1), last));
    let row = writer.column(right);
    writer.define_apply(out, Op::Mul, &[column, row]);
}
