//! Delays: a cotangent arrives at the cycle from which the value came.

use eddy_flow::VarId;

use crate::writer::Writer;

/// `y = i fby x`: x̄ += `0 fby back ȳ`, ī += `if (true fby false) then ȳ else 0`.
pub(super) fn of_fby(position: usize, cotangent: VarId, writer: &mut Writer) -> VarId {
    let zero = writer.zero_like(cotangent);
    if position == 1 {
        return writer.fby_back(zero, cotangent);
    }
    let (yes, no) = (writer.truth(true), writer.truth(false));
    let is_first = writer.fby(yes, no);
    writer.select(is_first, cotangent, zero)
}

/// `y = i fby back x`: x̄ += `0 fby ȳ`, ī += `if (true fby back false) then ȳ else 0`.
pub(super) fn of_fby_back(position: usize, cotangent: VarId, writer: &mut Writer) -> VarId {
    if position == 1 {
        return of_post(cotangent, writer);
    }
    let zero = writer.zero_like(cotangent);
    let (yes, no) = (writer.truth(true), writer.truth(false));
    let is_last = writer.fby_back(yes, no);
    writer.select(is_last, cotangent, zero)
}

/// `y = post x`: x̄ += `0 fby ȳ`.
pub(super) fn of_post(cotangent: VarId, writer: &mut Writer) -> VarId {
    let zero = writer.zero_like(cotangent);
    writer.fby(zero, cotangent)
}
