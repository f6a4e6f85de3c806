//! The way out for an operation that knows no further axis: it is applied to each stream by itself, and the results are put together.

use eddy_flow::VarId;
use eddy_tensor::Op;

use crate::operations::{from_rows, rows};
use crate::writer::Writer;

/// Defines `out` by as many operations as there are streams.
pub(crate) fn each(writer: &mut Writer, out: VarId, op: &Op, operands: &[VarId]) {
    let operands: Vec<(VarId, bool)> = operands
        .iter()
        .map(
            |operand| {
                if writer.is_wide(*operand) { (rows(writer, *operand), true) } else { (*operand, false) }
            },
        )
        .collect();
    let results: Vec<VarId> = (0..writer.n)
        .map(|stream| {
            let own: Vec<VarId> = operands
                .iter()
                .map(
                    |(rows, is_wide)| {
                        if *is_wide { writer.apply(Op::Index(stream), &[*rows]) } else { *rows }
                    },
                )
                .collect();
            writer.apply(op.clone(), &own)
        })
        .collect();
    let own = writer.own_shape(out);
    let together = writer.apply(Op::Stack, &results);
    from_rows(writer, out, together, &own);
}
