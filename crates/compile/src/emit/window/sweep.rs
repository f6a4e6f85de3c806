//! One sweep: bodies for its zones, in a loop or in a straight line.

use eddy_flow::{Polarity, VarId};
use eddy_plan::plan::{
    Body, Condition, Direction, Instruction, Region, Right as Planned, Store, Sweep, Zone, ZoneId,
};

use super::super::Emitter;
use super::super::assign::{Write, copy, write_at_once};
use super::super::forward::truth;
use super::super::reads::memory;
use super::deferred::{MAX_BLOCK, Sum};
use super::doubt::bool_type;
use super::sampled::tracked;
use super::{Context, alternatives, last_zones};
use crate::lines::Lines;
use crate::lower::{Code, Lowered, Operand, Right, can_fail};
use crate::view::View;

/// The code of a sweep at the first cycle, at inner ones, and at the last one in each alternative.
pub(super) struct Bodies {
    pub first: Lines,
    pub inner: Lines,
    pub lasts: Vec<Lines>,
}

impl<'a> Emitter<'a> {
    /// One sweep: the first and the last cycle are peeled off the loop.
    pub(super) fn sweep(&mut self, region: &'a Region, number: usize, sweep: &'a Sweep, lines: &mut Lines) {
        let block = MAX_BLOCK.min(self.max_outputs);
        let is_closed = !self.frame.is_open && self.frame.is_outermost();
        let sums = if is_closed { self.deferred(region, number, sweep, block + 1) } else { Vec::new() };
        let mut after_inner = Lines::default();
        self.write_sums(number, sweep.direction, &sums, &mut after_inner);
        let Bodies { first, inner, lasts } = self.bodies(region, number, sweep, &sums);
        let at = |index: &str, inner: &dyn Fn(&mut Lines), lines: &mut Lines| {
            lines.block("", |lines| {
                lines.line(format!("const int64_t t = {index};"));
                lines.line("(void)t;");
                inner(lines);
            });
        };
        lines.line(format!(
            "/* sweep {number}, {} */",
            if sweep.direction == Direction::Forward { "forwards" } else { "backwards" }
        ));
        self.start_sampled(number, sweep, lines);
        let write_first = |lines: &mut Lines| {
            if !first.is_empty() {
                at("0", &|lines| lines.append(&first), lines);
            }
        };
        let write_last = |lines: &mut Lines| {
            if lasts.iter().any(|last| !last.is_empty()) {
                at("n - 1", &|lines| alternatives(&lasts, lines), lines);
            }
        };
        let head = match (sweep.direction, self.frame.is_open) {
            (Direction::Forward, false) => "for (int64_t t = 1; t < n - 1; t++)",
            (Direction::Backward, false) => "for (int64_t t = n - 2; t > 0; t--)",
            (Direction::Forward, true) => "for (int64_t t = 1; t < n; t++)",
            (Direction::Backward, true) => "for (int64_t t = n - 1; t > 0; t--)",
        };
        let write_inner = |lines: &mut Lines| {
            if !after_inner.is_empty() {
                blocks(sweep.direction, block, &inner, &after_inner, lines);
            } else if !inner.is_empty() {
                lines.block(head, |lines| lines.append(&inner));
            }
        };
        match sweep.direction {
            Direction::Forward => {
                write_first(lines);
                write_inner(lines);
                write_last(lines);
            }
            Direction::Backward => {
                write_last(lines);
                write_inner(lines);
                write_first(lines);
            }
        }
    }

    /// The code of all zones.
    pub(super) fn bodies(
        &mut self,
        region: &'a Region,
        number: usize,
        sweep: &'a Sweep,
        sums: &[Sum],
    ) -> Bodies {
        let of = |zone: Zone| region.zone_id(zone).map(|id| &sweep.bodies[id.0]);
        let body = |emitter: &mut Self, zone: Zone| match of(zone) {
            Some(body) => {
                let sums = if zone == Zone::Inner { sums } else { &[] };
                emitter.body(number, body, region.zone_id(zone).map(|id| (sweep, zone, id)), sums)
            }
            None => Lines::default(),
        };
        let first = body(self, Zone::First);
        // What is the same at all inner cycles may have to be written down.
        let writes = |body: &Body| body.code.iter().any(|instruction| !instruction.store.is_empty());
        let is_loop = !sweep.is_straight || !sweep.trackers.is_empty() || of(Zone::Inner).is_some_and(writes);
        let inner = if is_loop { body(self, Zone::Inner) } else { Lines::default() };
        let lasts = if self.frame.is_open { Vec::new() } else { last_zones(region) };
        let lasts = lasts.into_iter().map(|zone| body(self, zone)).collect();
        Bodies { first, inner, lasts }
    }

    /// The code of one cycle in one zone.
    pub(super) fn body(
        &mut self,
        sweep: usize,
        body: &'a Body,
        of: Option<(&'a Sweep, Zone, ZoneId)>,
        sums: &[Sum],
    ) -> Lines {
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
        // It is asked whether these are there.
        let asked = tracked.iter().map(|(_, read)| read.var()).chain(latches.iter().map(|latch| latch.var));
        let asked: Vec<VarId> = asked.filter(|var| self.is_sampled(*var)).collect();
        for instruction in body.code.iter().filter(|instruction| asked.contains(&instruction.var)) {
            keep_conditions(&context, instruction, &mut code);
        }
        code.pointers =
            context.pointers.iter().map(|pointer| (pointer.name.clone(), pointer.targets.clone())).collect();
        let lowered = self.lowered(&code);
        let mut lines = Lines::default();
        lines.append(&lowered.lines);
        self.flags_of_stores(&mut context, &lowered, body, &mut lines);
        if let Some((sweep, ..)) = of {
            for latch in latches {
                self.latch(&mut context, &lowered, body, (sweep.direction, latch), &mut lines);
            }
        }
        // Registers take their values at once, as those of forward loops do.
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
        write_at_once(writes, self, &mut lines);
        context.declare_pointers(lines)
    }

    /// Says of streams on sampled clocks whether they are there, where they are kept.
    fn flags_of_stores(
        &mut self,
        context: &mut Context,
        lowered: &Lowered,
        body: &'a Body,
        lines: &mut Lines,
    ) {
        for instruction in &body.code {
            // Conditions of what is not kept may be gone.
            if instruction.store.is_empty() || !self.is_sampled(instruction.var) {
                continue;
            }
            let conditions = self.presence_of(context, lowered, instruction);
            let is_there = if conditions.is_empty() { "true".to_string() } else { conditions.join(" && ") };
            for store in &instruction.store {
                match store {
                    Store::Buffer(buffer) => {
                        lines.line(format!("{} = {is_there};", self.entry_flag(*buffer, "t")));
                    }
                    Store::Scalar(scalar) => lines.line(format!("self->uf{} = {is_there};", scalar.0)),
                }
            }
        }
    }

    /// Conditions as C expressions, when all statements have run.
    pub(super) fn presence_after(
        &mut self,
        context: &mut Context,
        lowered: &Lowered,
        clock: &[Condition],
    ) -> Vec<String> {
        let mut texts = Vec::new();
        for condition in clock {
            let view = match self.read(context, &condition.read) {
                Operand::Seen(view) => view,
                Operand::Var(var) => lowered.homes.seen(var, self.ty(var)),
            };
            let element = lowered.homes.element(&view, &view.offset.to_string());
            texts.push(if condition.polarity == Polarity::On { element } else { format!("!{element}") });
        }
        texts
    }

    /// The statements of a body.
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
                    Store::Buffer(buffer) => self.entry(*buffer, "t"),
                    Store::Scalar(scalar) => format!("self->u{}", scalar.0),
                };
                code.exports.entry(instruction.var).or_default().push(place);
                if let Some(own) = companion {
                    let place = match store {
                        Store::Buffer(buffer) => self.entry_certainty(*buffer, "t"),
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
                let carried = Operand::Seen(memory(format!("self->p{}", slot.0), self.ty(var)));
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

    /// Sets a slot when the state is reset; what was learnt is kept by `reset_state`.
    pub(super) fn set_once(&mut self, text: &str, view: &View, var: VarId) {
        if self.is_set.insert(text.to_string()) {
            let mut lines = Lines::default();
            copy(view, text, self.ty(var), &mut lines);
            let is_learnt = self.source.flow.memory.iter().any(|memory| memory.var == var);
            let to = if is_learnt { &mut self.reset } else { &mut self.reset_state };
            to.append(&lines);
        }
    }
}

/// Keeps what says whether the result of an instruction is there.
fn keep_conditions(context: &Context, instruction: &Instruction, code: &mut Code) {
    let conditions = instruction.clock.iter().map(|condition| condition.read.var());
    code.live_out.extend(conditions.filter(|condition| context.computed.contains(condition)));
}

/// A loop over the inner cycles, in blocks: something is done after each.
fn blocks(direction: Direction, block: usize, inner: &Lines, after: &Lines, lines: &mut Lines) {
    let (outer, bound, head) = match direction {
        Direction::Forward => (
            format!("for (int64_t low = 1; low < n - 1; low += {block})"),
            format!("const int64_t high = low + {block} < n - 1 ? low + {block} : n - 1, before = low - 1;"),
            "for (int64_t t = low; t < high; t++)",
        ),
        Direction::Backward => (
            format!("for (int64_t high = n - 1; high > 1; high -= {block})"),
            format!("const int64_t low = high > {block} ? high - {block} : 1, before = low - 1;"),
            "for (int64_t t = high - 1; t >= low; t--)",
        ),
    };
    lines.block(&outer, |lines| {
        lines.line(bound);
        lines.line("(void)before;");
        if !inner.is_empty() {
            lines.block(head, |lines| lines.append(inner));
        }
        lines.append(after);
    });
}
