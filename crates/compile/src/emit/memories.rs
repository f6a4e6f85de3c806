//! What delays remember, where it starts, and where hosts find it.

use eddy_flow::VarId;
use eddy_plan::plan::{Lagged, Place, Read, Schedule};
use eddy_tensor::Type;

use super::assign::copy;
use super::iteration::Loop;
use super::reads::memory;
use super::{Emitter, Memory, MemoryPlace, Ring};
use crate::lines::Lines;
use crate::lower::Operand;
use crate::view::View;

impl<'a> Emitter<'a> {
    /// What a delay is at its first activation: its initial value, or for what is learnt a field, since it may have been learnt before.
    pub(super) fn start_of(&mut self, this: &Loop<'a>, var: VarId, init: &Read) -> Operand {
        let is_learnt = self.source.flow.memory.iter().any(|memory| memory.var == var);
        let Some(view) = self.initial(init).filter(|_| is_learnt) else { return self.operand(this, init) };
        let (text, ty) = (self.state_value("i", var), self.ty(var).clone());
        let mut lines = Lines::default();
        copy(&view, &text, &ty, &mut lines);
        self.reset.append(&lines);
        let place = MemoryPlace::Start(text.trim_start_matches("self->").to_string());
        self.push_memory(Memory { fby: var, ty: ty.clone(), place, lag: None });
        Operand::Seen(memory(text, &ty))
    }

    /// An initial value that does not depend on time.
    pub(super) fn initial(&mut self, read: &Read) -> Option<View> {
        match read {
            Read::Here(var, Place::Immediate(immediate)) => Some(self.immediate(*var, immediate)),
            _ => None,
        }
    }

    /// Sets a field of the state when it is reset.
    pub(super) fn set(&mut self, text: &str, view: &View, ty: Type) {
        let mut lines = Lines::default();
        copy(view, text, &ty, &mut lines);
        self.reset_state.append(&lines);
    }

    /// Says where the value of a delay is.
    pub(super) fn remember(&mut self, fby: VarId, text: &str, flag: Option<&str>, lag: Option<usize>) {
        let field = |text: &str| text.trim_start_matches("self->").to_string();
        let place = MemoryPlace::Field { name: field(text), flag: flag.map(field) };
        self.push_memory(Memory { fby, ty: self.ty(fby).clone(), place, lag });
    }

    /// The code of a loop is written twice if it goes on after the last input.
    fn push_memory(&mut self, memory: Memory) {
        let is_same = |known: &Memory| {
            known.fby == memory.fby
                && std::mem::discriminant(&known.place) == std::mem::discriminant(&memory.place)
        };
        if !self.memories.iter().any(is_same) {
            self.memories.push(memory);
        }
    }

    /// Says of a delay in a loop before windows that it reads the ring of its operand.
    pub(super) fn remember_newest(&mut self, this: &Loop<'a>, fby: VarId, next: VarId) {
        if !matches!(self.root.schedule, Schedule::Windows(_)) {
            return;
        }
        let field = self.ring(this, next, 0);
        let field = field.trim_start_matches("self->").split('[').next().unwrap_or_default().to_string();
        let (ty, lag, slots) = (self.ty(next).clone(), this.lagged.lag(next), this.lagged.slots(next));
        let ring = Ring { var: next, ty: ty.clone(), lag, slots, field, flags: None };
        self.push_memory(Memory { fby, ty, place: MemoryPlace::Newest(ring), lag: Some(lag) });
    }

    /// Streams that are kept because delays of a loop before windows remember them.
    pub(super) fn newest(&self, this: &Loop<'a>) -> Vec<VarId> {
        let newest = self.memories.iter().filter_map(|memory| match &memory.place {
            MemoryPlace::Newest(ring) => Some(ring.var),
            _ => None,
        });
        newest.filter(|var| this.computes(*var) && this.lagged.slots(*var) == 1).collect()
    }

    /// The rings of a loop.
    pub(super) fn kept(&self, lagged: &'a Lagged) -> Vec<Ring> {
        let ring = |ring: &eddy_plan::plan::Ring| {
            let name = self.names.of(ring.var);
            let has = |field: String| self.state.find(&field).is_some().then_some(field);
            Some(Ring {
                var: ring.var,
                ty: self.ty(ring.var).clone(),
                lag: lagged.lag(ring.var),
                slots: ring.slots,
                field: has(format!("q_{name}"))?,
                flags: has(format!("qf_{name}")),
            })
        };
        lagged.rings.iter().filter_map(ring).collect()
    }

    /// The flag that says whether a delay was written, if it needs one.
    pub(super) fn written_flag(&mut self, shift: VarId) -> Option<String> {
        let has_flag = self.state.find(&format!("f_{}", self.names.of(shift))).is_some();
        has_flag.then(|| self.state_flag("f", shift))
    }
}
