//! `when` and `merge` are each other's transposes.

use eddy_flow::{Polarity, VarId};

use crate::writer::Writer;

/// `y = x when c`: x̄ += `merge c ȳ 0`; `y = x when not c`: x̄ += `merge c 0 ȳ`.
pub(super) fn of_when(condition: VarId, polarity: Polarity, cotangent: VarId, writer: &mut Writer) -> VarId {
    writer.padded(cotangent, condition, polarity)
}

/// `y = merge c a b`: ā += `ȳ when c`, b̄ += `ȳ when not c`.
pub(super) fn of_merge(condition: VarId, position: usize, cotangent: VarId, writer: &mut Writer) -> VarId {
    let polarity = if position == 1 { Polarity::On } else { Polarity::OnNot };
    writer.when(cotangent, condition, polarity)
}
