//! A loop over a window in which equations are late (section 5).
//!
//! `t` counts the iterations; a stream is computed at the activation of so many iterations ago as it is late.

use eddy_flow::VarId;
use eddy_plan::plan::{Carried, Late, Place, Read, Retimed, Right as Planned, SlotId, Windows};

use super::super::Emitter;
use super::super::assign::{Write, copy, write_at_once};
use super::super::forward::truth;
use super::super::iteration::Loop;
use super::super::reads::memory;
use super::Context;
use super::frame::Entries;
use super::nested::shifted;
use crate::lines::Lines;
use crate::lower::{Code, Lowered, Operand, Right, Statement};
use crate::view::{Root, View};

/// A loop, and where it is.
struct Site<'p> {
    this: Loop<'p>,
    /// How many activations there are.
    m: String,
    entries: Entries,
}

impl Site<'_> {
    /// What must hold for a stream with this lag to have an activation in an iteration.
    fn has_come(&self, lag: usize) -> String {
        format!("t >= {lag} && t < {} + {lag}", self.m)
    }

    /// The entry of a buffer for the activation of a stream with this lag.
    fn entry(&self, lag: usize, shift: &str) -> String {
        self.entries.of(&format!("(t - {lag}{shift})"))
    }
}

impl<'a> Emitter<'a> {
    /// The loop.
    pub(super) fn retimed(&mut self, windows: &'a Windows, retimed: &'a Retimed, lines: &mut Lines) {
        let mut inside = Lines::default();
        let stores = retimed.stores.iter().map(|(var, buffer)| (*var, Place::Buffer(*buffer)));
        let stores: Vec<(VarId, Place)> = stores.collect();
        let active = self.activity(&retimed.activity, &stores, &mut inside);
        let m = format!("m{}", active.number);
        let site = Site { this: Loop::new(&retimed.lagged), m: m.clone(), entries: active.entries };
        self.start_registers(&site, &mut inside);
        let code = self.retimed_code(&site, retimed);
        let lowered = self.lowered(&code);
        let mut body = lowered.lines.clone();
        for (var, place) in &stores {
            if let (Place::Buffer(buffer), true) = (place, self.is_sampled(*var)) {
                let lag = retimed.lagged.lag(*var);
                body.guarded(&[site.has_come(lag)], |lines| {
                    lines.line(format!("self->wf{}[{}] = true;", buffer.0, site.entry(lag, "")));
                });
            }
        }
        self.write_retimed_registers(&site, &lowered, &mut body);
        let head = format!("for (int64_t t = 0; t < {m} + {}; t++)", retimed.lagged.max_lag);
        inside.block(&head, |lines| lines.append(&body));
        if !self.frame.is_cut_off {
            self.carry_retimed(windows, retimed, &site, &mut inside);
        }
        lines.block("", |lines| lines.append(&inside));
    }

    /// A register of the loop, and its flag.
    fn retimed_register(&mut self, fby: VarId) -> (String, String) {
        (self.state_value("s", fby), self.state_flag("sf", fby))
    }

    /// Registers start with what was carried.
    fn start_registers(&mut self, site: &Site<'a>, lines: &mut Lines) {
        for register in &site.this.lagged.registers {
            let (text, flag) = self.retimed_register(register.fby);
            let ty = self.ty(register.fby).clone();
            let late = site.this.lagged.body.iter().find(|late| late.instruction.var == register.fby);
            let carried = match late.map(|late| &late.instruction.right) {
                Some(Planned::Register { slot: Some(slot), init }) => {
                    copy(&memory(format!("self->p{}", slot.0), &ty), &text, &ty, lines);
                    self.slot_flag(register.fby, *slot, init).unwrap_or("true".to_string())
                }
                _ => "false".to_string(),
            };
            lines.line(format!("{flag} = {carried};"));
        }
    }

    fn retimed_code(&mut self, site: &Site<'a>, retimed: &'a Retimed) -> Code {
        let mut code = Code::default();
        for late in &site.this.lagged.body {
            let var = late.instruction.var;
            let mut statements = Vec::new();
            let right = self.retimed_right(site, late, &mut statements);
            statements.push(self.statement_of(var, right));
            let conditions = vec![(truth(format!("({})", site.has_come(late.lag))), true)];
            code.add(conditions, statements);
            let places = code.exports.entry(var).or_default();
            let is_carried = retimed.slots.iter().any(|(_, read)| read.var() == var);
            if is_carried || site.this.lagged.rings.iter().any(|ring| ring.var == var) {
                places.push(self.ring(&site.this, var, 0));
            }
            for (_, buffer) in retimed.stores.iter().filter(|(stored, _)| *stored == var) {
                places.push(format!("self->w{}[{}]", buffer.0, site.entry(late.lag, "")));
            }
        }
        code.exports.retain(|_, places| !places.is_empty());
        let registers = site.this.lagged.registers.iter().map(|register| register.next.var());
        code.live_out.extend(registers.filter(|var| site.this.computes(*var)));
        code
    }

    /// What a stream is, and statements that must run before.
    fn retimed_right(&mut self, site: &Site<'a>, late: &'a Late, before: &mut Vec<Statement>) -> Right {
        let (lag, var) = (late.lag, late.instruction.var);
        match &late.instruction.right {
            Planned::Copy(read) => Right::Copy(self.retimed_read(site, lag, read)),
            Planned::Apply(reads) => {
                let operands = reads.iter().map(|read| self.retimed_read(site, lag, read)).collect();
                Right::Apply(self.operation(var), operands)
            }
            Planned::Choice { condition, yes, no } => {
                let [condition, yes, no] =
                    [condition, yes, no].map(|read| self.retimed_read(site, lag, read));
                Right::Choice(condition, yes, no)
            }
            Planned::Register { init, .. } => {
                let (text, flag) = self.retimed_register(var);
                let register = Operand::Seen(memory(text, self.ty(var)));
                Right::Choice(truth(flag), register, self.retimed_read(site, lag, init))
            }
            Planned::Previous { slot, init, next } => {
                let start = self.retimed_start(site, lag, (var, *slot, init), before);
                let next = self.retimed_read(site, lag, next);
                Right::Choice(truth(format!("(t > {lag})")), next, start)
            }
            Planned::Ahead { next: Some(next), init, .. } => {
                let init = match init {
                    Some(init) => self.retimed_read(site, lag, init),
                    None => Operand::Seen(View::whole(Root::One("0".to_string()), self.ty(var))),
                };
                let next = self.retimed_read(site, lag, next);
                Right::Choice(truth(format!("(t + 1 < {} + {lag})", site.m)), next, init)
            }
            other => unreachable!("a loop whose equations are late has no {other:?}"),
        }
    }

    /// What a delay is at the first activation: what was carried, or its initial value if nothing was yet.
    fn retimed_start(
        &mut self,
        site: &Site<'a>,
        lag: usize,
        (var, slot, init): (VarId, Option<SlotId>, &Read),
        before: &mut Vec<Statement>,
    ) -> Operand {
        let Some(slot) = slot else { return self.retimed_read(site, lag, init) };
        let carried = Operand::Seen(memory(format!("self->p{}", slot.0), self.ty(var)));
        let Some(flag) = self.slot_flag(var, slot, init) else { return carried };
        let init = self.retimed_read(site, lag, init);
        let start = self.names.step_to(var);
        let right = Right::Choice(truth(flag), carried, init);
        before.push(Statement { var: start, ..self.statement_of(var, right) });
        Operand::Var(start)
    }

    /// What an instruction reads.
    fn retimed_read(&mut self, site: &Site<'a>, lag: usize, read: &Read) -> Operand {
        let (var, place, shift) = shifted(read);
        match place {
            Place::Ring(0) if site.this.computes(var) => Operand::Var(var),
            Place::Ring(age) => {
                let text = self.ring(&site.this, var, *age);
                Operand::Seen(memory(text, self.ty(var)))
            }
            Place::Buffer(buffer) => Operand::Seen(memory(
                format!("self->w{}[{}]", buffer.0, site.entry(lag, shift)),
                self.ty(var),
            )),
            place => Operand::Seen(self.place(&mut Context::nowhere(), var, place, "t")),
        }
    }

    fn write_retimed_registers(&mut self, site: &Site<'a>, lowered: &Lowered, lines: &mut Lines) {
        let mut writes = Vec::new();
        for register in &site.this.lagged.registers {
            let lag = site.this.lagged.lag(register.fby);
            let view = match self.retimed_read(site, lag, &register.next) {
                Operand::Seen(view) => view,
                Operand::Var(var) => lowered.homes.seen(var, self.ty(var)),
            };
            let (to, flag) = self.retimed_register(register.fby);
            let ty = self.ty(register.fby).clone();
            writes.push(Write { to, view, ty, conditions: vec![site.has_come(lag)], flag: Some(flag) });
        }
        write_at_once(writes, self, lines);
    }

    /// What is carried into the next window, if there was an activation.
    fn carry_retimed(
        &mut self,
        windows: &'a Windows,
        retimed: &'a Retimed,
        site: &Site<'a>,
        lines: &mut Lines,
    ) {
        let mut inside = Lines::default();
        for (slot, read) in &retimed.slots {
            let Carried { shift, .. } = windows.carried[slot.0];
            let (var, place, _) = shifted(read);
            let view = match place {
                // The loop has ended: its last iteration is the one before `t`.
                Place::Ring(age) => memory(self.ring(&site.this, var, age + 1), self.ty(var)),
                Place::Buffer(buffer) => {
                    let entry = site.entries.of(&format!("({} - 1)", site.m));
                    memory(format!("self->w{}[{entry}]", buffer.0), self.ty(var))
                }
                place => self.place(&mut Context::nowhere(), var, place, "t"),
            };
            let (to, ty) = (format!("self->p{}", slot.0), self.ty(shift).clone());
            copy(&view, &to, &ty, &mut inside);
            let flag = self.written_flag(shift);
            if let Some(flag) = &flag {
                inside.line(format!("{flag} = true;"));
            }
            if !self.memories.iter().any(|memory| memory.fby == shift) {
                self.remember(shift, &to, flag.as_deref(), None);
            }
        }
        if !inside.is_empty() {
            lines.block(&format!("if ({} > 0)", site.m), |lines| {
                lines.line(format!("const int64_t t = {} + {};", site.m, retimed.lagged.max_lag));
                lines.line("(void)t;");
                lines.append(&inside);
            });
        }
    }
}
