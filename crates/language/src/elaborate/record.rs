//! Records which stream each expression of each instance became. Printed derivatives follow the text of the
//! nodes but need the types of their streams (section 9.5, printed form); editors show types next to the
//! text.

use rustc_hash::FxHashMap;

use super::instance::{Binding, Instance};
use super::{Elaborator, InstanceId, Operand};
use crate::flow::VarId;
use crate::program::{NodeId, SlotId};
use crate::static_value::Static;
use crate::tree::ExprId;

/// The instances of a program, callers before callees.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The root comes first.
    pub instances: Vec<Recorded>,
    pub(super) later: Later,
    /// The call that is about to be entered, with the index of its caller.
    calling: Option<(usize, ExprId)>,
}

/// How instances of `later` are elaborated while a record is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Later {
    /// As without a record: each delay is a separate stream.
    #[default]
    Streams,
    /// From its body in the prelude, which has expressions to print; the results are the same.
    Body,
}

impl Record {
    /// A record in which every stream belongs to an expression, also inside of `later`.
    pub(super) fn of_bodies() -> Record {
        Record { later: Later::Body, ..Record::default() }
    }
}

#[derive(Clone, Debug)]
pub struct Recorded {
    pub node: NodeId,
    /// The stream of each slot; `None` if it is a compile-time constant.
    pub slots: Vec<Option<VarId>>,
    /// The value of each slot that is a compile-time constant.
    pub constants: Vec<Option<Static>>,
    /// The values of expressions that are known at compile time.
    pub statics: FxHashMap<ExprId, Static>,
    /// The streams of its expressions, except variables and calls of nodes.
    pub streams: FxHashMap<ExprId, VarId>,
    /// The indices of the instances that its calls make.
    pub calls: FxHashMap<ExprId, usize>,
}

impl Recorded {
    /// The stream of a slot; `None` for a compile-time constant.
    pub fn stream_of(&self, slot: SlotId) -> Option<VarId> {
        self.slots[slot.index()]
    }
}

impl Elaborator<'_> {
    /// Notes that a call is about to be entered.
    pub(super) fn record_call(&mut self, caller: InstanceId, expr: ExprId) {
        let caller = self.instances[caller.index()].number;
        if let Some(record) = &mut self.record {
            record.calling = Some((caller, expr));
        }
    }

    /// Notes that an instance is entered; returns its index.
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

    /// Notes the stream of the call that was about to be entered; the call makes no instance.
    pub(super) fn record_without_instance(&mut self, var: VarId) {
        if let Some(record) = &mut self.record
            && let Some((caller, expr)) = record.calling.take()
        {
            record.instances[caller].streams.insert(expr, var);
        }
    }

    /// Notes the stream of an expression, which is on top of the stack.
    pub(super) fn record_stream(&mut self, instance: InstanceId, expr: ExprId) {
        let number = self.instances[instance.index()].number;
        if let (Some(record), Some(Operand::Stream(var))) = (&mut self.record, self.operands.last()) {
            record.instances[number].streams.insert(expr, *var);
        }
    }
}
