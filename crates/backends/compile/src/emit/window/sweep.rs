//! One sweep: bodies for its zones, in a loop or in a straight line.

use eddy_flow::{Polarity, VarId};
use eddy_imp::{Block, Expr, Place, Stmt, Type};
use eddy_plan::plan::{
    Body, Condition, Direction, Instruction, Region, Right as Planned, Store, Sweep, Zone, ZoneId,
};

use super::super::assign::{Write, copy, write_at_once};
use super::super::forward::truth;
use super::super::iteration::t;
use super::super::reads::memory;
use super::super::{Emitter, holds};
use super::chunks::inner_cycles;
use super::companions::bool_type;
use super::deferred::{MAX_BLOCK, Sum};
use super::sampled::tracked;
use super::{Context, alternatives, at_cycle, last_zones, n, scalar_flag, scalar_place, slot_place};
use crate::lower::{Code, Lowered, Operand, Right, can_fail};
use crate::view::View;

/// The code of a sweep at the first cycle, at inner ones, and at the last one in each alternative.
pub(super) struct Bodies {
    pub first: Block,
    pub inner: Block,
    pub lasts: Vec<Block>,
}

impl<'a> Emitter<'a> {
    /// One sweep: the first and the last cycle are peeled off the loop.
    pub(super) fn sweep(&mut self, region: &'a Region, number: usize, sweep: &'a Sweep, block: &mut Block) {
        let n_block = MAX_BLOCK.min(self.max_outputs);
        let is_closed = !self.frame.is_open && self.frame.is_outermost();
        let sums = if is_closed { self.deferred(region, number, sweep, n_block + 1) } else { Vec::new() };
        let mut after_inner = Block::new();
        self.write_sums(number, sweep.direction, &sums, &mut after_inner);
        let Bodies { first, inner, lasts } = self.bodies(region, number, sweep, &sums);
        let way = if sweep.direction == Direction::Forward { "forwards" } else { "backwards" };
        block.note(format!("sweep {number}, {way}"));
        self.start_sampled(number, sweep, block);
        let end = if self.frame.is_open { n() } else { n() - 1 };
        let mut last = Block::new();
        if lasts.iter().any(|last| !last.is_empty()) {
            alternatives(lasts, &mut last);
        }
        let [first, last] = [(first, 0.into()), (last, n() - 1)].map(|(code, cycle): (Block, Expr)| {
            if code.is_empty() { None } else { Some(Stmt::Scope(at_cycle(cycle, code))) }
        });
        let (before, after) = match sweep.direction {
            Direction::Forward => (first, last),
            Direction::Backward => (last, first),
        };
        block.stmts.extend(before);
        if !after_inner.is_empty() {
            blocks(sweep.direction, n_block, inner, after_inner, block);
        } else if !inner.is_empty() {
            let append = |block: &mut Block| block.append(inner);
            match sweep.direction {
                Direction::Forward => block.count("t", Type::Cycle, 1, end, append),
                Direction::Backward => block.repeat("t", Type::Cycle, end - 1, t().gt(0), -1, append),
            }
        }
        block.stmts.extend(after);
    }

    pub(super) fn bodies(
        &mut self,
        region: &'a Region,
        number: usize,
        sweep: &'a Sweep,
        sums: &[Sum],
    ) -> Bodies {
        let of = |zone: Zone| region.zone_id(zone).map(|id| &sweep.bodies[id.index()]);
        let body = |emitter: &mut Self, zone: Zone| match of(zone) {
            Some(body) => {
                let sums = if zone == Zone::Inner { sums } else { &[] };
                emitter.body(number, body, region.zone_id(zone).map(|id| (sweep, zone, id)), sums)
            }
            None => Block::new(),
        };
        let first = body(self, Zone::First);
        // Even values that are the same at all inner cycles may have to be stored.
        let writes = |body: &Body| body.code.iter().any(|instruction| !instruction.store.is_empty());
        let is_loop = !sweep.is_straight || !sweep.trackers.is_empty() || of(Zone::Inner).is_some_and(writes);
        let inner = if is_loop { body(self, Zone::Inner) } else { Block::new() };
        let lasts = if self.frame.is_open { Vec::new() } else { last_zones(region) };
        let lasts = lasts.into_iter().map(|zone| body(self, zone)).collect();
        Bodies { first, inner, lasts }
    }

    pub(super) fn body(
        &mut self,
        sweep: usize,
        body: &'a Body,
        of: Option<(&'a Sweep, Zone, ZoneId)>,
        sums: &[Sum],
    ) -> Block {
        let is_skipped = |var: &VarId| sums.iter().any(|sum| sum.skipped.contains(var));
        let mut context = Context {
            sweep,
            computed: body
                .code
                .iter()
                .map(|instruction| instruction.var)
                .filter(|var| !is_skipped(var))
                .collect(),
            pointers: Vec::new(),
        };
        let mut code = self.body_code(&mut context, body);
        for (var, place) in sums.iter().flat_map(Sum::kept) {
            let places = code.exports.entry(var).or_default();
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let neighbours: Vec<VarId> = of.map_or(Vec::new(), |(sweep, zone, _)| {
            let is_last_run = match sweep.direction {
                Direction::Forward => matches!(zone, Zone::Last(_)),
                Direction::Backward => zone == Zone::First,
            };
            if is_last_run { Vec::new() } else { sweep.neighbours.clone() }
        });
        for var in neighbours.iter().filter(|var| context.computed.contains(var)) {
            code.live_out.push(*var);
            code.live_out.extend(self.companion(*var));
            let register = self.register(context.sweep, *var);
            code.in_place.insert(*var, register);
        }
        let latches =
            of.filter(|(_, zone, _)| *zone == Zone::Inner).map_or(&[][..], |(sweep, ..)| &sweep.latches);
        code.live_out.extend(latches.iter().map(|latch| latch.var));
        code.live_out.extend(latches.iter().filter_map(|latch| self.companion(latch.var)));
        let tracked = of.map_or(Vec::new(), |(sweep, _, zone)| tracked(sweep, zone));
        let computed =
            tracked.iter().map(|(_, read)| read.var()).filter(|var| context.computed.contains(var));
        code.live_out.extend(computed.clone());
        code.live_out.extend(computed.filter_map(|var| self.companion(var)));
        // Their presence is needed after the statements.
        let asked = tracked.iter().map(|(_, read)| read.var()).chain(latches.iter().map(|latch| latch.var));
        let asked: Vec<VarId> = asked.filter(|var| self.is_sampled(*var)).collect();
        for instruction in body.code.iter().filter(|instruction| asked.contains(&instruction.var)) {
            keep_conditions(&context, instruction, &mut code);
        }
        code.pointers =
            context.pointers.iter().map(|pointer| (pointer.name.clone(), pointer.targets.clone())).collect();
        let mut lowered = self.lowered(&code);
        let mut block = std::mem::take(&mut lowered.block);
        self.flags_of_stores(&mut context, &lowered, body, &mut block);
        if let Some((sweep, ..)) = of {
            for latch in latches {
                self.latch(&mut context, &lowered, body, (sweep.direction, latch), &mut block);
            }
        }
        // Registers are written simultaneously, as in forward loops.
        let mut writes = Vec::new();
        for (shift, read) in tracked {
            let write = self.track(&mut context, &lowered, body, (shift, read));
            let conditions = write.conditions.clone();
            writes.push(write);
            writes.extend(self.track_certainty(&mut context, &lowered, (shift, read), conditions));
        }
        for var in neighbours.iter().filter(|var| context.computed.contains(var)) {
            let (to, ty) = (self.register(context.sweep, *var), self.ty(*var).clone());
            let view = lowered.homes.seen(*var, &ty);
            writes.push(Write { to, view, ty, conditions: Vec::new(), flag: None });
            if let Some(own) = self.companion(*var) {
                let (to, view) =
                    (self.register_certainty(context.sweep, *var), lowered.homes.seen(own, &bool_type()));
                writes.push(Write { to, view, ty: bool_type(), conditions: Vec::new(), flag: None });
            }
        }
        write_at_once(writes, &mut block);
        context.declare_pointers(block)
    }

    /// Stores the presence of streams on sampled clocks together with their values.
    fn flags_of_stores(
        &mut self,
        context: &mut Context,
        lowered: &Lowered,
        body: &'a Body,
        block: &mut Block,
    ) {
        for instruction in &body.code {
            // The conditions of a value that is not stored may be gone.
            if instruction.store.is_empty() || !self.is_sampled(instruction.var) {
                continue;
            }
            let conditions = self.presence_of(context, lowered, instruction);
            let is_there = Expr::all(conditions);
            for store in &instruction.store {
                let flag = match store {
                    Store::Buffer(buffer) => self.entry_flag(*buffer, t()),
                    Store::Scalar(scalar) => scalar_flag(*scalar),
                };
                block.store(flag, is_there.clone());
            }
        }
    }

    /// The conditions after all statements have run.
    pub(super) fn presence_after(
        &mut self,
        context: &mut Context,
        lowered: &Lowered,
        clock: &[Condition],
    ) -> Vec<Expr> {
        let mut conditions = Vec::new();
        for condition in clock {
            let view = match self.read(context, &condition.read) {
                Operand::Seen(view) => view,
                Operand::Var(var) => lowered.homes.seen(var, self.ty(var)),
            };
            conditions.push(holds(condition.polarity, lowered.homes.first(&view)));
        }
        conditions
    }

    fn body_code(&mut self, context: &mut Context, body: &'a Body) -> Code {
        let mut code = Code::default();
        for instruction in &body.code {
            if !context.computed.contains(&instruction.var) {
                continue;
            }
            let mut conditions: Vec<(Operand, bool)> = instruction
                .clock
                .iter()
                .map(|condition| (self.read(context, &condition.read), condition.polarity == Polarity::On))
                .collect();
            code.add(conditions.clone(), self.companion_code(context, instruction));
            let right = self.planned(context, instruction);
            let statement = self.statement_of(instruction.var, right);
            let companion = self.companion(instruction.var);
            if can_fail(&statement) {
                conditions.extend(companion.map(|own| (Operand::Var(own), true)));
            }
            code.add(conditions, vec![statement]);
            if !instruction.store.is_empty() {
                keep_conditions(context, instruction, &mut code);
            }
            for store in &instruction.store {
                let place = match store {
                    Store::Buffer(buffer) => self.entry(*buffer, t()),
                    Store::Scalar(scalar) => scalar_place(*scalar),
                };
                code.exports.entry(instruction.var).or_default().push(place);
                if let Some(own) = companion {
                    let place = match store {
                        Store::Buffer(buffer) => self.entry_certainty(*buffer, t()),
                        Store::Scalar(scalar) => self.scalar_certainty(*scalar),
                    };
                    code.exports.entry(own).or_default().push(place);
                }
            }
        }
        code
    }

    fn planned(&mut self, context: &mut Context, instruction: &'a Instruction) -> Right {
        let var = instruction.var;
        match &instruction.right {
            Planned::Copy(read) => Right::Copy(self.read(context, read)),
            Planned::Apply(reads) => {
                let operands = reads.iter().map(|read| self.read(context, read)).collect();
                self.by_columns(Right::Apply(self.operation(var), operands))
            }
            Planned::Choice { condition, yes, no } => {
                let [condition, yes, no] = [condition, yes, no].map(|read| self.read(context, read));
                Right::Choice(condition, yes, no)
            }
            Planned::Carried { slot, init, is_tracked: true } => {
                self.tracked_value(context, var, *slot, Some(init))
            }
            Planned::Tracked { slot, init } => self.tracked_value(context, var, *slot, init.as_ref()),
            Planned::Carried { slot: Some(slot), init, .. } => {
                let carried = Operand::Seen(memory(slot_place(*slot), self.ty(var)));
                match self.slot_flag(var, *slot, init) {
                    None => Right::Copy(carried),
                    Some(flag) => Right::Choice(truth(flag), carried, self.read(context, init)),
                }
            }
            Planned::Carried { slot: None, init, .. } => Right::Copy(self.read(context, init)),
            Planned::Ahead { slot, next, init } => {
                self.ahead(context, var, *slot, (next.as_ref(), init.as_ref()))
            }
            other => unreachable!("a closed window has no {other:?}"),
        }
    }

    /// Sets a slot in `reset`; `reset_state` keeps trained state.
    pub(super) fn set_once(&mut self, place: &Place, view: &View, var: VarId) {
        if self.is_set.insert(place.clone()) {
            let is_learnt = self.source.flow.persistent_state.iter().any(|memory| memory.var == var);
            let ty = self.ty(var);
            copy(view, place, ty, if is_learnt { &mut self.reset } else { &mut self.reset_state });
        }
    }
}

/// Keeps the conditions under which the result of an instruction is present.
fn keep_conditions(context: &Context, instruction: &Instruction, code: &mut Code) {
    let conditions = instruction.clock.iter().map(|condition| condition.read.var());
    code.live_out.extend(conditions.filter(|condition| context.computed.contains(condition)));
}

/// A loop over the inner cycles in blocks; `after` runs after each block.
fn blocks(direction: Direction, size: usize, inner: Block, after: Block, block: &mut Block) {
    let (low, high, end) = (|| Expr::var("low"), || Expr::var("high"), || n() - 1);
    let body = |block: &mut Block| {
        match direction {
            Direction::Forward => {
                let next = low() + size;
                block.constant("high", Type::Cycle, Expr::choice(next.clone().lt(end()), next, end()));
            }
            Direction::Backward => {
                block.constant("low", Type::Cycle, Expr::choice(high().gt(size), high() - size, 1));
            }
        }
        block.constant("before", Type::Cycle, low() - 1);
        if !inner.is_empty() {
            inner_cycles(direction, inner, block);
        }
        block.append(after);
    };
    match direction {
        Direction::Forward => block.repeat("low", Type::Cycle, 1, low().lt(end()), size, body),
        Direction::Backward => {
            block.repeat("high", Type::Cycle, end(), high().gt(1), -Expr::from(size), body);
        }
    }
}
