//! `later(k, init, x)`: k delays in a row.
//!
//! The body of the node in the prelude says what it computes: the last element of a shift register. But the whole register depends on the newest value, so
//! as one stream it looks only one activation back. Causality must see k activations: each delay becomes a stream of its own.

use super::instance::Binding;
use super::synthesis::Place;
use super::{Elaborator, Operand};
use crate::flow::{Kind, VarId};
use crate::program::{NodeId, Program};
use crate::static_value::Static;
use eddy_tensor::Op;

/// Longer delays keep their values in one register, as the body says.
const MAX_DELAY: i64 = 1024;

impl Elaborator<'_> {
    /// Writes an instance of `later`; says whether the node is that.
    pub(super) fn enter_later(
        &mut self,
        node: NodeId,
        place: &Place,
        bindings: &[Binding],
        targets: &[Option<VarId>],
    ) -> bool {
        let declared = self.program.node(node);
        let is_later = declared.module == Program::PRELUDE && declared.name == "later";
        let [Binding::Static(Static::Int(k @ 0..=MAX_DELAY)), init, x] = bindings else { return false };
        // A record is of expressions, so the body is elaborated for it; it computes the same.
        if !is_later || self.record.is_some() {
            return false;
        }
        let [init, x] = [init, x].map(|binding| self.as_stream(binding.clone(), place.span));
        let target = targets.first().copied().flatten();
        let mut value = x;
        for number in 1..=*k {
            let is_last = number == *k;
            let out = target.filter(|_| is_last);
            let out =
                out.unwrap_or_else(|| self.var(Some(format!("{}late{number}", place.path)), place.span));
            value = self.write(Some(out), Kind::Fby { init, next: value }, place.span);
        }
        if let (0, Some(target)) = (*k, target) {
            value = self.write(Some(target), Kind::Apply(Op::Copy, Box::new([x])), place.span);
        }
        self.operands.push(Operand::Stream(value));
        true
    }
}
