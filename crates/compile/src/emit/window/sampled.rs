//! Streams that are not there at all cycles of a window: what delays on their clocks remember, and what is kept of them.
//!
//! A delay on a sampled clock has a register, which takes the value of its operand whenever that is there (*tracking*). It starts with
//! what was carried into the window. A *latch* keeps the last value of a stream in the window, if there was one.

use eddy_flow::{Kind, VarId};
use eddy_plan::plan::{
    Body, Direction, Instruction, Latch, Place, Read, Right as Planned, SlotId, Sweep, ZoneId,
};

use super::super::Emitter;
use super::super::assign::{Write, copy};
use super::super::forward::truth;
use super::super::reads::memory;
use super::Context;
use super::doubt::bool_type;
use crate::layout::Element;
use crate::lines::Lines;
use crate::lower::{Lowered, Operand, Right};
use crate::view::{Root, View};

/// The delays of a sweep that are tracked, with their operands in a zone.
pub(super) fn tracked(sweep: &Sweep, zone: ZoneId) -> Vec<(VarId, &Read)> {
    let reads = sweep.trackers.iter().map(|tracker| (tracker.shift, &tracker.next[zone.0]));
    reads.filter(|(_, read)| !matches!(read, Read::Here(_, Place::Absent | Place::Nowhere))).collect()
}

impl<'a> Emitter<'a> {
    /// The register of a delay, and the flag that says whether it has a value.
    pub(super) fn tracker(&mut self, sweep: usize, shift: VarId) -> (String, String) {
        (self.state_value(&format!("x{sweep}"), shift), self.state_flag(&format!("xf{sweep}"), shift))
    }

    /// Before a sweep: registers start with what was carried, and nothing was kept yet.
    pub(super) fn start_sampled(&mut self, number: usize, sweep: &'a Sweep, lines: &mut Lines) {
        for tracker in &sweep.trackers {
            let (register, flag) = self.tracker(number, tracker.shift);
            let ty = self.ty(tracker.shift).clone();
            if self.companion(tracker.shift).is_some() {
                let certain = self.tracker_certainty(number, tracker.shift);
                lines.line(format!("{certain} = true;"));
            }
            let instructions = sweep.bodies.iter().flat_map(|body| &body.code);
            let slot =
                instructions.filter(|instruction| instruction.var == tracker.shift).find_map(|instruction| {
                    match &instruction.right {
                        Planned::Carried { slot: Some(slot), init, .. } => Some((*slot, Some(init))),
                        Planned::Tracked { slot: Some(slot), .. } => Some((*slot, None)),
                        _ => None,
                    }
                });
            let Some((slot, init)) = slot else {
                lines.line(format!("{flag} = false;"));
                continue;
            };
            let carried = match init {
                Some(init) => self.slot_flag(tracker.shift, slot, init).unwrap_or("true".to_string()),
                None => self.backward_flag(slot),
            };
            copy(&memory(format!("self->p{}", slot.0), &ty), &register, &ty, lines);
            lines.line(format!("{flag} = {carried};"));
        }
        for latch in sweep.latches.iter().filter(|latch| self.is_sampled(latch.var)) {
            lines.line(format!("self->uf{} = false;", latch.scalar.0));
        }
    }

    /// The flag that says whether a slot was written; none if it always has a value.
    pub(super) fn slot_flag(&mut self, shift: VarId, slot: SlotId, init: &Read) -> Option<String> {
        match self.initial(init).filter(|_| !self.flagged.contains(&slot)) {
            Some(view) => {
                self.set_once(&format!("self->p{}", slot.0), &view, shift);
                None
            }
            None => Some(self.state_flag("f", shift)),
        }
    }

    /// The flag of a slot of a unit that goes backwards.
    pub(super) fn backward_flag(&mut self, slot: SlotId) -> String {
        let name = format!("pf{}", slot.0);
        if self.state.find(&name).is_none() {
            self.state.field(name.clone(), Element::Flag, Vec::new(), String::new(), self.precision);
        }
        format!("self->{name}")
    }

    /// What a delay with a register is.
    pub(super) fn tracked_value(
        &mut self,
        context: &mut Context,
        var: VarId,
        slot: Option<SlotId>,
        init: Option<&Read>,
    ) -> Right {
        if let (Some(slot), Some(init)) = (slot, init.filter(|_| self.is_fby(var))) {
            self.slot_flag(var, slot, init);
        }
        let (register, flag) = self.tracker(context.sweep, var);
        let register = Operand::Seen(memory(register, self.ty(var)));
        match init {
            Some(init) => Right::Choice(truth(flag), register, self.read(context, init)),
            // Nobody who counts reads it where it was not written.
            None => Right::Copy(register),
        }
    }

    fn is_fby(&self, var: VarId) -> bool {
        matches!(self.equation(var).map(|equation| &equation.kind), Some(Kind::Fby { .. }))
    }

    /// A delay into the future: the next cycle of the window, or what there is if it has none.
    pub(super) fn ahead(
        &mut self,
        context: &mut Context,
        var: VarId,
        slot: Option<SlotId>,
        (next, init): (Option<&Read>, Option<&Read>),
    ) -> Right {
        if let Some(next) = next.filter(|_| !self.frame.is_open) {
            return Right::Copy(self.read(context, next));
        }
        let init = match init {
            Some(init) => self.read(context, init),
            None => Operand::Seen(View::whole(Root::One("0".to_string()), self.ty(var))),
        };
        let (condition, there) = match (next, slot) {
            // The last window of a unit that goes backwards is its first: nothing was carried yet.
            (Some(next), _) => ("(t + 1 < n)".to_string(), self.read(context, next)),
            (None, None) => return Right::Copy(init),
            (None, Some(slot)) => {
                (self.backward_flag(slot), Operand::Seen(memory(format!("self->p{}", slot.0), self.ty(var))))
            }
        };
        Right::Choice(truth(condition), there, init)
    }

    /// What must hold for the result of an instruction to be there.
    pub(super) fn presence_of(
        &mut self,
        context: &mut Context,
        lowered: &Lowered,
        instruction: &Instruction,
    ) -> Vec<String> {
        match &instruction.right {
            Planned::Copy(Read::Here(_, Place::Absent)) => vec!["false".to_string()],
            _ => self.presence_after(context, lowered, &instruction.clock),
        }
    }

    /// What must hold for a cell of this cycle to be there.
    fn there(&mut self, context: &mut Context, lowered: &Lowered, body: &Body, read: &Read) -> Vec<String> {
        let Read::Here(var, place) = read else { unreachable!("a delay takes its operand at its own cycle") };
        let own = body.code.iter().find(|instruction| instruction.var == *var);
        match (place, own) {
            (Place::Local, Some(own)) => self.presence_of(context, lowered, own),
            _ => self.kept_presence(*var, place, "t").into_iter().collect(),
        }
    }

    /// What must hold for a cell that is kept to be there; nothing if it always is.
    pub(super) fn kept_presence(&mut self, var: VarId, place: &Place, at: &str) -> Option<String> {
        match place {
            Place::Absent | Place::Nowhere => Some("false".to_string()),
            Place::Buffer(buffer) if self.is_sampled(var) => Some(self.entry_flag(*buffer, at)),
            Place::Scalar(scalar) if self.is_sampled(var) => Some(format!("self->uf{}", scalar.0)),
            _ => None,
        }
    }

    /// A register takes the value of its operand, if that is there.
    pub(super) fn track(
        &mut self,
        context: &mut Context,
        lowered: &Lowered,
        body: &Body,
        (shift, read): (VarId, &Read),
    ) -> Write {
        let conditions = self.there(context, lowered, body, read);
        let view = match self.read(context, read) {
            Operand::Seen(view) => view,
            Operand::Var(var) => lowered.homes.seen(var, self.ty(var)),
        };
        let (to, flag) = self.tracker(context.sweep, shift);
        Write { to, view, ty: self.ty(shift).clone(), conditions, flag: Some(flag) }
    }

    /// Keeps the last value of a stream: that at the last inner cycle, or at the last one at which it is there.
    pub(super) fn latch(
        &mut self,
        context: &mut Context,
        lowered: &Lowered,
        body: &Body,
        (direction, latch): (Direction, &Latch),
        lines: &mut Lines,
    ) {
        let ty = self.ty(latch.var).clone();
        let view = lowered.homes.seen(latch.var, &ty);
        let to = format!("self->u{}", latch.scalar.0);
        let certain = self.companion(latch.var).map(|own| {
            let view = lowered.homes.seen(own, &bool_type());
            let element = lowered.homes.element(&view, &view.offset.to_string());
            format!("{} = {element};", self.scalar_certainty(latch.scalar))
        });
        let keep = |lines: &mut Lines| {
            copy(&view, &to, &ty, lines);
            if let Some(certain) = &certain {
                lines.line(certain);
            }
        };
        if !self.is_sampled(latch.var) {
            let last = if self.frame.is_open { "t == n - 1" } else { "t == n - 2" };
            return lines.guarded(&[last.to_string()], keep);
        }
        let flag = format!("self->uf{}", latch.scalar.0);
        let mut conditions = self.there(context, lowered, body, &Read::Here(latch.var, Place::Local));
        if direction == Direction::Backward {
            conditions.push(format!("!{flag}"));
        }
        lines.guarded(&conditions, |lines| {
            keep(lines);
            lines.line(format!("{flag} = true;"));
        });
    }
}
