//! `y = f(x1..xn)`: ẏ = Σ T(f,i)(ẋi) over the active operands, with the formulas of the operation table.

use eddy_flow::VarId;
use eddy_tensor::{Op, Shape, Site};

use crate::writer::Writer;

/// The contributions of the tangents of operands, given with positions, to the tangent of the result.
pub(super) fn contributions(
    op: &Op,
    operands: &[VarId],
    result: VarId,
    active: &[(usize, VarId)],
    writer: &mut Writer,
) -> Vec<VarId> {
    if *op == Op::If {
        return vec![of_if(operands, active, writer)];
    }
    let shapes: Vec<Shape> = operands.iter().map(|operand| writer.ty(*operand).shape.clone()).collect();
    let result_shape = writer.ty(result).shape.clone();
    let site = Site { operands, result: &result, shapes: &shapes, result_shape: &result_shape };
    let contribution = |(position, tangent): &(usize, VarId)| {
        op.jvp(*position, &site, tangent, writer).expect("derivatives pass through this operand")
    };
    active.iter().map(contribution).collect()
}

/// `if c then ȧ else ḃ`: not a sum, which would wait for both branches.
fn of_if(operands: &[VarId], active: &[(usize, VarId)], writer: &mut Writer) -> VarId {
    let mut branch = |position: usize| match active.iter().find(|(active, _)| *active == position) {
        Some((_, tangent)) => *tangent,
        None => writer.zero_like(operands[position]),
    };
    let (yes, no) = (branch(1), branch(2));
    writer.select(operands[0], yes, no)
}
