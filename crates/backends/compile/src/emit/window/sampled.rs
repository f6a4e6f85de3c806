//! Streams that are absent at some cycles of a window: the state of delays on their clocks, and their stored
//! values.
//!
//! A delay on a sampled clock has a register, which takes the value of its operand whenever that is present
//! (*tracking*). It starts with the value carried into the window. A *latch* keeps the last value of a stream
//! in the window, if there was one.

use eddy_flow::{Kind, VarId};
use eddy_imp::{Block, Expr, Place as ImpPlace};
use eddy_plan::plan::{
    Body, Direction, Instruction, Latch, Place, Read, Right as Planned, SlotId, Sweep, ZoneId,
};

use super::super::Emitter;
use super::super::assign::{Write, copy};
use super::super::forward::truth;
use super::super::iteration::t;
use super::super::reads::memory;
use super::companions::bool_type;
use super::{Context, n, scalar_flag, scalar_place, slot_place};
use crate::lower::{Lowered, Operand, Right};

/// The delays of a sweep that are tracked, with their operands in a zone.
pub(super) fn tracked(sweep: &Sweep, zone: ZoneId) -> Vec<(VarId, &Read)> {
    let reads = sweep.trackers.iter().map(|tracker| (tracker.shift, &tracker.next[zone.index()]));
    reads.filter(|(_, read)| !matches!(read, Read::Here(_, Place::Absent | Place::Nowhere))).collect()
}

impl<'a> Emitter<'a> {
    /// The register of a delay, and the flag that says whether it has a value.
    pub(super) fn tracker(&mut self, sweep: usize, shift: VarId) -> (ImpPlace, ImpPlace) {
        (self.state_value(&format!("x{sweep}"), shift), self.state_flag(&format!("xf{sweep}"), shift))
    }

    /// Before a sweep: initialises registers with carried values, and clears latches.
    pub(super) fn start_sampled(&mut self, number: usize, sweep: &'a Sweep, block: &mut Block) {
        for tracker in &sweep.trackers {
            let (register, flag) = self.tracker(number, tracker.shift);
            let ty = self.ty(tracker.shift).clone();
            if self.companion(tracker.shift).is_some() {
                let certain = self.tracker_certainty(number, tracker.shift);
                block.store(certain, true);
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
                block.store(flag, false);
                continue;
            };
            let carried = match init {
                Some(init) => self.slot_flag(tracker.shift, slot, init).map_or(Expr::Bool(true), Expr::from),
                None => self.backward_flag(slot).into(),
            };
            copy(&memory(slot_place(slot), &ty), &register, &ty, block);
            block.store(flag, carried);
        }
        for latch in sweep.latches.iter().filter(|latch| self.is_sampled(latch.var)) {
            block.store(scalar_flag(latch.scalar), false);
        }
    }

    /// The flag that says whether a slot was written; `None` if it always has a value.
    pub(super) fn slot_flag(&mut self, shift: VarId, slot: SlotId, init: &Read) -> Option<ImpPlace> {
        match self.initial(init).filter(|_| !self.flagged.contains(&slot)) {
            Some(view) => {
                self.set_once(&slot_place(slot), &view, shift);
                None
            }
            None => Some(self.state_flag("f", shift)),
        }
    }

    /// The flag of a slot of a backward unit.
    pub(super) fn backward_flag(&mut self, slot: SlotId) -> ImpPlace {
        self.flags(format!("pf{}", slot.index()), Vec::new())
    }

    /// The value of a delay with a register.
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
            // No live instruction reads it where it was not written.
            None => Right::Copy(register),
        }
    }

    fn is_fby(&self, var: VarId) -> bool {
        matches!(self.equation(var).map(|equation| &equation.kind), Some(Kind::Fby { .. }))
    }

    /// A delay into the future: the next cycle of the window, or its value at the end if there is none.
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
            None => self.nothing(var),
        };
        let (condition, there) = match (next, slot) {
            // The last window of a backward unit runs first, so nothing was carried.
            (Some(next), _) => ((t() + 1).lt(n()), self.read(context, next)),
            (None, None) => return Right::Copy(init),
            (None, Some(slot)) => {
                let carried = Operand::Seen(memory(slot_place(slot), self.ty(var)));
                (self.backward_flag(slot).into(), carried)
            }
        };
        Right::Choice(truth(condition), there, init)
    }

    /// The conditions under which the result of an instruction is present.
    pub(super) fn presence_of(
        &mut self,
        context: &mut Context,
        lowered: &Lowered,
        instruction: &Instruction,
    ) -> Vec<Expr> {
        match &instruction.right {
            Planned::Copy(Read::Here(_, Place::Absent)) => vec![false.into()],
            _ => self.presence_after(context, lowered, &instruction.clock),
        }
    }

    /// The conditions under which a cell of this cycle is present.
    fn there(&mut self, context: &mut Context, lowered: &Lowered, body: &Body, read: &Read) -> Vec<Expr> {
        let Read::Here(var, place) = read else { unreachable!("a delay takes its operand at its own cycle") };
        let own = body.code.iter().find(|instruction| instruction.var == *var);
        match (place, own) {
            (Place::Local, Some(own)) => self.presence_of(context, lowered, own),
            _ => self.kept_presence(*var, place, t()).into_iter().collect(),
        }
    }

    /// The condition under which a stored cell is present; `None` if it always is.
    pub(super) fn kept_presence(&mut self, var: VarId, place: &Place, at: Expr) -> Option<Expr> {
        match place {
            Place::Absent | Place::Nowhere => Some(false.into()),
            Place::Buffer(buffer) if self.is_sampled(var) => Some(self.entry_flag(*buffer, at).into()),
            Place::Scalar(scalar) if self.is_sampled(var) => Some(scalar_flag(*scalar).into()),
            _ => None,
        }
    }

    /// A register takes the value of its operand, if that is present.
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

    /// Keeps the last value of a stream: that at the last inner cycle, or at the last one at which it is
    /// present.
    pub(super) fn latch(
        &mut self,
        context: &mut Context,
        lowered: &Lowered,
        body: &Body,
        (direction, latch): (Direction, &Latch),
        block: &mut Block,
    ) {
        let ty = self.ty(latch.var).clone();
        let view = lowered.homes.seen(latch.var, &ty);
        let to = scalar_place(latch.scalar);
        let certain = self.companion(latch.var).map(|own| {
            let view = lowered.homes.seen(own, &bool_type());
            (self.scalar_certainty(latch.scalar), lowered.homes.first(&view))
        });
        let keep = |block: &mut Block| {
            copy(&view, &to, &ty, block);
            if let Some((flag, is_certain)) = certain {
                block.store(flag, is_certain);
            }
        };
        if !self.is_sampled(latch.var) {
            let last = n() - if self.frame.is_open { 1 } else { 2 };
            return block.when(t().equals(last), keep);
        }
        let flag = scalar_flag(latch.scalar);
        let mut conditions = self.there(context, lowered, body, &Read::Here(latch.var, Place::Local));
        if direction == Direction::Backward {
            conditions.push(!flag.load());
        }
        block.when(Expr::all(conditions), |block| {
            keep(block);
            block.store(flag, true);
        });
    }
}
