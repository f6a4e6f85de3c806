//! `later(k, init, x)`: k consecutive delays.
//!
//! The body in the prelude defines `later` as the last element of a shift register. But the whole register
//! depends on the newest value, so as one stream it looks back only one activation. Causality must see k
//! activations, so each delay becomes a separate stream.

use super::instance::Binding;
use super::record::Later;
use super::synthesis::Place;
use super::{Elaborator, Operand};
use crate::flow::{Kind, VarId};
use crate::program::{NodeId, Program};
use crate::static_value::Static;
use eddy_tensor::Op;

/// Longer delays are elaborated from the body, with one register.
const MAX_DELAY: i64 = 1024;

impl Elaborator<'_> {
    /// Writes an instance of `later`; returns whether the node is `later`.
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
        let needs_body = self.record.as_ref().is_some_and(|record| record.later == Later::Body);
        if !is_later || needs_body {
            return false;
        }
        let [init, x] = [init, x].map(|binding| self.as_stream(binding.clone(), place.span));
        let target = targets.first().copied().flatten();
        let mut value = x;
        for number in 1..=*k {
            let is_last = number == *k;
            let out = target.filter(|_| is_last);
            let out =
                out.unwrap_or_else(|| self.var(Some(place.path.name(format!("late{number}"))), place.span));
            value = self.write(Some(out), Kind::Fby { init, next: value }, place.span);
        }
        if let (0, Some(target)) = (*k, target) {
            value = self.write(Some(target), Kind::Apply(Op::Copy, Box::new([x])), place.span);
        }
        self.record_without_instance(value);
        self.operands.push(Operand::Stream(value));
        true
    }
}
