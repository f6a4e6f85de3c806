//! Elaborates contracts, and the names of probed streams (composition.md, section 10).

use eddy_tensor::Op;

use super::instance::Binding;
use super::{Elaborator, InstanceId, call};
use crate::flow::{Constant, Contract, Kind};
use crate::program::{Made, SlotId};

impl Elaborator<'_> {
    /// Tests the condition of a contract: `1 div (if e then 1 else 0)` has no value where e is false.
    pub(super) fn contract(&mut self, instance: InstanceId, slot: SlotId) {
        let Binding::Stream(condition) = self.instances[instance.index()].bindings[slot.index()] else {
            return;
        };
        let node = self.program.node(self.instances[instance.index()].node);
        let Some(contract) = node.slots[slot.index()].contract.clone() else { return };
        let span = contract.span;
        let [one, yes, no] =
            [1, 1, 0].map(|number| self.write(None, Kind::Const(Constant::Int(number)), span));
        let divisor = self.write(None, Kind::Apply(Op::If, Box::new([condition, yes, no])), span);
        let var = self.write(None, Kind::Apply(Op::IntDiv, Box::new([one, divisor])), span);
        self.draft.contracts.push(Contract {
            var,
            condition,
            is_assumption: contract.is_assumption,
            message: contract.message.as_str().into(),
            span: self.reported_span().unwrap_or(span),
        });
    }

    /// Notes the streams of an instance that `probe` marks.
    pub(super) fn probes(&mut self, id: InstanceId) {
        let instance = &self.instances[id.index()];
        let declared = self.program.node(instance.node);
        if declared.made == Made::Copied {
            return;
        }
        let probed = declared.slots.iter().filter(|slot| slot.is_probed);
        let names = probed.map(|slot| call::name_of_stream(&instance.path, &slot.name));
        self.draft.probes.extend(names);
    }
}
