//! How each kind of equation is translated.

use eddy_flow::{Equation, Kind};

use crate::operations;
use crate::writer::Writer;

/// Translates all equations except for the sums over the batch. The number of new equations does not depend
/// on the number of streams.
pub(crate) fn translate(writer: &mut Writer) {
    for number in 0..writer.old.len() {
        let equation = writer.old[number].clone();
        writer.at(&equation);
        if writer.is_wide(equation.out) {
            wide(writer, equation);
        } else if !equation.kind.operands().any(|operand| writer.is_wide(operand)) {
            writer.define(equation.out, equation.kind);
        }
    }
}

/// Translates an equation with a wide result. The operands of a merge or delay must have the same type, so
/// shared ones are widened.
fn wide(writer: &mut Writer, Equation { out, kind, .. }: Equation) {
    let kind = match kind {
        Kind::Apply(op, operands) => return operations::wide(writer, out, op, &operands),
        Kind::When { .. } | Kind::Post(_) => kind,
        Kind::Merge { condition, yes, no } => {
            Kind::Merge { condition, yes: writer.widened(yes), no: writer.widened(no) }
        }
        Kind::Fby { init, next } => Kind::Fby { init: writer.widened(init), next: writer.widened(next) },
        Kind::FbyBack { init, next } => {
            Kind::FbyBack { init: writer.widened(init), next: writer.widened(next) }
        }
        Kind::Const(_) | Kind::Param(_) => unreachable!("these are the same for all streams"),
    };
    writer.define(out, kind);
}
