//! `y = f(x1..xn)`: x̄i += vjp(f,i), with the formulas of the operation table (9.3).

use eddy_flow::VarId;
use eddy_tensor::{Op, Shape, Site};

use crate::writer::Writer;

/// The contribution of the result's cotangent to that of an operand.
pub(super) fn contribution(
    op: &Op,
    operands: &[VarId],
    result: VarId,
    position: usize,
    cotangent: VarId,
    writer: &mut Writer,
) -> VarId {
    let shapes: Vec<Shape> = operands.iter().map(|operand| writer.ty(*operand).shape.clone()).collect();
    let result_shape = writer.ty(result).shape.clone();
    let site = Site { operands, result: &result, shapes: &shapes, result_shape: &result_shape };
    op.vjp(position, &site, &cotangent, writer).expect("derivatives pass through this operand")
}
