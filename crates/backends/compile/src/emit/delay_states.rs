//! The state of delays, its initial values, and where hosts find it.

use eddy_flow::VarId;
use eddy_imp::Place;
use eddy_plan::plan::{Lagged, Place as Planned, Read, Schedule};
use eddy_tensor::Type;

use super::assign::copy;
use super::iteration::Loop;
use super::reads::memory;
use super::{DelayState, DelayStatePlace, Emitter, Ring, field_name};
use crate::lower::Operand;
use crate::view::View;

impl<'a> Emitter<'a> {
    /// The value of a delay at its first activation: its initial value, or a field for trained state, which
    /// may have been restored.
    pub(super) fn start_of(&mut self, this: &Loop<'a>, var: VarId, init: &Read) -> Operand {
        let is_learnt = self.source.flow.persistent_state.iter().any(|memory| memory.var == var);
        let Some(view) = self.initial(init).filter(|_| is_learnt) else { return self.operand(this, init) };
        let (start, ty) = (self.state_value("i", var), self.ty(var).clone());
        copy(&view, &start, &ty, &mut self.reset);
        let place = DelayStatePlace::Start(field_name(&start));
        self.push_delay_state(DelayState { fby: var, ty: ty.clone(), place, lag: None });
        Operand::Seen(memory(start, &ty))
    }

    /// An initial value that does not depend on time.
    pub(super) fn initial(&mut self, read: &Read) -> Option<View> {
        match read {
            Read::Here(var, Planned::Immediate(immediate)) => Some(self.immediate(*var, immediate)),
            _ => None,
        }
    }

    /// Sets a field of the state in `reset`.
    pub(super) fn set(&mut self, place: &Place, view: &View, ty: &Type) {
        copy(view, place, ty, &mut self.reset_state);
    }

    /// Records where the value of a delay is.
    pub(super) fn remember(&mut self, fby: VarId, place: &Place, flag: Option<&Place>, lag: Option<usize>) {
        let place = DelayStatePlace::Field { name: field_name(place), flag: flag.map(field_name) };
        self.push_delay_state(DelayState { fby, ty: self.ty(fby).clone(), place, lag });
    }

    /// The code of a loop is emitted twice if it continues after the last input.
    fn push_delay_state(&mut self, memory: DelayState) {
        let is_same = |known: &DelayState| {
            known.fby == memory.fby
                && std::mem::discriminant(&known.place) == std::mem::discriminant(&memory.place)
        };
        if !self.delay_states.iter().any(is_same) {
            self.delay_states.push(memory);
        }
    }

    /// Records that a delay in a loop before windows reads the ring of its operand.
    pub(super) fn remember_newest(&mut self, this: &Loop<'a>, fby: VarId, next: VarId) {
        if !matches!(self.root.schedule, Schedule::Windows(_)) {
            return;
        }
        let field = field_name(&self.ring(this, next, 0));
        let (ty, lag, slots) = (self.ty(next).clone(), this.lagged.lag(next), this.lagged.slots(next));
        let ring = Ring { var: next, ty: ty.clone(), lag, slots, field, flags: None };
        self.push_delay_state(DelayState { fby, ty, place: DelayStatePlace::Newest(ring), lag: Some(lag) });
    }

    /// Streams that are kept because delays of a loop before windows read them.
    pub(super) fn newest(&self, this: &Loop<'a>) -> Vec<VarId> {
        let newest = self.delay_states.iter().filter_map(|memory| match &memory.place {
            DelayStatePlace::Newest(ring) => Some(ring.var),
            _ => None,
        });
        newest.filter(|var| this.computes(*var) && this.lagged.slots(*var) == 1).collect()
    }

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
    pub(super) fn written_flag(&mut self, shift: VarId) -> Option<Place> {
        let has_flag = self.state.find(&format!("f_{}", self.names.of(shift))).is_some();
        has_flag.then(|| self.state_flag("f", shift))
    }
}
