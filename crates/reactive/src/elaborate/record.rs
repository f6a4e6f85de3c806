//! Which stream each expression of each instance became: what a printed derivative asks for, which follows the text of
//! the nodes and yet needs the types of their streams (section 9.5, printed form).

use rustc_hash::FxHashMap;

use super::instance::{Binding, Instance};
use super::{Elaborator, InstanceId, Operand};
use crate::flow::VarId;
use crate::program::{NodeId, SlotId};
use crate::static_value::Static;
use crate::tree::ExprId;

/// The instances of a program, callers before what they call.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The node that was elaborated, then all others.
    pub instances: Vec<Recorded>,
    /// The call that is about to be entered.
    calling: Option<(usize, ExprId)>,
}

/// One instance.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its node.
    pub node: NodeId,
    /// What each slot is bound to: a stream, unless it is known at compile time.
    pub slots: Vec<Option<VarId>>,
    /// The compile-time constants among the slots.
    pub constants: Vec<Option<Static>>,
    /// The expressions that are known at compile time.
    pub statics: FxHashMap<ExprId, Static>,
    /// The streams of its expressions; those of variables and calls are found elsewhere.
    pub streams: FxHashMap<ExprId, VarId>,
    /// The instances that its calls make.
    pub calls: FxHashMap<ExprId, usize>,
}

impl Recorded {
    /// The stream of a slot that is no compile-time constant.
    pub fn stream_of(&self, slot: SlotId) -> Option<VarId> {
        self.slots[slot.0]
    }
}

impl Elaborator<'_> {
    /// A call is about to be entered.
    pub(super) fn record_call(&mut self, caller: InstanceId, expr: ExprId) {
        let caller = self.instances[caller.0].number;
        if let Some(record) = &mut self.record {
            record.calling = Some((caller, expr));
        }
    }

    /// An instance is entered; gives its number.
    pub(super) fn record_instance(&mut self, instance: &Instance) -> usize {
        let Some(record) = &mut self.record else { return 0 };
        let number = record.instances.len();
        let stream = |binding: &Binding| match binding {
            Binding::Stream(var) => Some(*var),
            Binding::Static(_) => None,
        };
        let constant = |binding: &Binding| match binding {
            Binding::Stream(_) => None,
            Binding::Static(constant) => Some(constant.clone()),
        };
        record.instances.push(Recorded {
            node: instance.node,
            slots: instance.bindings.iter().map(stream).collect(),
            constants: instance.bindings.iter().map(constant).collect(),
            statics: instance.statics.clone(),
            streams: FxHashMap::default(),
            calls: FxHashMap::default(),
        });
        if let Some((caller, expr)) = record.calling.take() {
            record.instances[caller].calls.insert(expr, number);
        }
        number
    }

    /// The stream of an expression is on the stack.
    pub(super) fn record_stream(&mut self, instance: InstanceId, expr: ExprId) {
        let number = self.instances[instance.0].number;
        if let (Some(record), Some(Operand::Stream(var))) = (&mut self.record, self.operands.last()) {
            record.instances[number].streams.insert(expr, *var);
        }
    }
}
