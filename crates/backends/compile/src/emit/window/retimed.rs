//! A loop with lags over a window (section 5).
//!
//! Iteration `t` computes a stream of lag ℓ for activation `t − ℓ`.

use eddy_flow::VarId;
use eddy_imp::{Block, Expr, Place as ImpPlace, Stmt, Type};
use eddy_plan::plan::{Carried, Late, Place, Read, Retimed, Right as Planned, SlotId, Windows};

use super::super::Emitter;
use super::super::assign::{Write, copy, write_at_once};
use super::super::forward::truth;
use super::super::iteration::{Loop, t};
use super::super::reads::memory;
use super::frame::Entries;
use super::nested::shifted;
use super::{Context, at_cycle, slot_place};
use crate::lower::{Code, Lowered, Operand, Right, Statement};

/// A loop and its context.
struct Site<'p> {
    this: Loop<'p>,
    /// The number of activations.
    m: Expr,
    entries: Entries,
}

impl Site<'_> {
    /// The condition under which a stream with this lag has an activation in an iteration.
    fn has_come(&self, lag: usize) -> Expr {
        t().ge(lag).and_then(t().lt(self.m.clone() + lag))
    }

    /// The entry of a buffer for the activation of a stream with this lag.
    fn entry(&self, lag: usize, shift: i64) -> Expr {
        let cycle = t() - lag;
        self.entries.of(if shift == 0 { cycle } else { cycle + shift })
    }
}

impl<'a> Emitter<'a> {
    pub(super) fn retimed(&mut self, windows: &'a Windows, retimed: &'a Retimed, block: &mut Block) {
        let mut inside = Block::new();
        let stores = retimed.stores.iter().map(|(var, buffer)| (*var, Place::Buffer(*buffer)));
        let stores: Vec<(VarId, Place)> = stores.collect();
        let active = self.activity(&retimed.activity, &stores, &mut inside);
        let m = active.length();
        let site = Site { this: Loop::new(&retimed.lagged), m: m.clone(), entries: active.entries };
        self.start_registers(&site, &mut inside);
        let code = self.retimed_code(&site, retimed);
        let mut lowered = self.lowered(&code);
        let mut body = std::mem::take(&mut lowered.block);
        for (var, place) in &stores {
            if let (Place::Buffer(buffer), true) = (place, self.is_sampled(*var)) {
                let lag = retimed.lagged.lag(*var);
                let flag = ImpPlace::state(format!("wf{}", buffer.index())).index(site.entry(lag, 0));
                body.when(site.has_come(lag), |block| block.store(flag, true));
            }
        }
        self.write_retimed_registers(&site, &lowered, &mut body);
        inside.count("t", Type::Cycle, 0, m + retimed.lagged.max_lag, |block| block.append(body));
        if !self.frame.is_cut_off {
            self.carry_retimed(windows, retimed, &site, &mut inside);
        }
        block.push(Stmt::Scope(inside));
    }

    /// A register of the loop, and its flag.
    fn retimed_register(&mut self, fby: VarId) -> (ImpPlace, ImpPlace) {
        (self.state_value("s", fby), self.state_flag("sf", fby))
    }

    /// Initialises registers with carried values.
    fn start_registers(&mut self, site: &Site<'a>, block: &mut Block) {
        for register in &site.this.lagged.registers {
            let (place, flag) = self.retimed_register(register.fby);
            let ty = self.ty(register.fby).clone();
            let late = site.this.lagged.body.iter().find(|late| late.instruction.var == register.fby);
            let carried = match late.map(|late| &late.instruction.right) {
                Some(Planned::Register { slot: Some(slot), init }) => {
                    copy(&memory(slot_place(*slot), &ty), &place, &ty, block);
                    self.slot_flag(register.fby, *slot, init).map_or(Expr::Bool(true), Expr::from)
                }
                _ => false.into(),
            };
            block.store(flag, carried);
        }
    }

    fn retimed_code(&mut self, site: &Site<'a>, retimed: &'a Retimed) -> Code {
        let mut code = Code::default();
        for late in &site.this.lagged.body {
            let var = late.instruction.var;
            let mut statements = Vec::new();
            let right = self.retimed_right(site, late, &mut statements);
            statements.push(self.statement_of(var, right));
            let conditions = vec![(truth(site.has_come(late.lag)), true)];
            code.add(conditions, statements);
            let places = code.exports.entry(var).or_default();
            let is_carried = retimed.slots.iter().any(|(_, read)| read.var() == var);
            if is_carried || site.this.lagged.rings.iter().any(|ring| ring.var == var) {
                places.push(self.ring(&site.this, var, 0));
            }
            for (_, buffer) in retimed.stores.iter().filter(|(stored, _)| *stored == var) {
                places.push(ImpPlace::state(format!("w{}", buffer.index())).index(site.entry(late.lag, 0)));
            }
        }
        code.exports.retain(|_, places| !places.is_empty());
        let registers = site.this.lagged.registers.iter().map(|register| register.next.var());
        code.live_out.extend(registers.filter(|var| site.this.computes(*var)));
        code
    }

    /// The right-hand side of a stream, and statements that must run before.
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
                let (place, flag) = self.retimed_register(var);
                let register = Operand::Seen(memory(place, self.ty(var)));
                Right::Choice(truth(flag), register, self.retimed_read(site, lag, init))
            }
            Planned::Previous { slot, init, next } => {
                let start = self.retimed_start(site, lag, (var, *slot, init), before);
                let next = self.retimed_read(site, lag, next);
                Right::Choice(truth(t().gt(lag)), next, start)
            }
            Planned::Ahead { next: Some(next), init, .. } => {
                let init = match init {
                    Some(init) => self.retimed_read(site, lag, init),
                    None => self.nothing(var),
                };
                let next = self.retimed_read(site, lag, next);
                Right::Choice(truth((t() + 1).lt(site.m.clone() + lag)), next, init)
            }
            other => unreachable!("a loop whose equations are late has no {other:?}"),
        }
    }

    /// The value of a delay at the first activation: the carried value, or its initial value if nothing was
    /// carried.
    fn retimed_start(
        &mut self,
        site: &Site<'a>,
        lag: usize,
        (var, slot, init): (VarId, Option<SlotId>, &Read),
        before: &mut Vec<Statement>,
    ) -> Operand {
        let Some(slot) = slot else { return self.retimed_read(site, lag, init) };
        let carried = Operand::Seen(memory(slot_place(slot), self.ty(var)));
        let Some(flag) = self.slot_flag(var, slot, init) else { return carried };
        let init = self.retimed_read(site, lag, init);
        let start = self.names.step_to(var);
        let right = Right::Choice(truth(flag), carried, init);
        before.push(Statement { var: start, ..self.statement_of(var, right) });
        Operand::Var(start)
    }

    /// The operand for a read.
    fn retimed_read(&mut self, site: &Site<'a>, lag: usize, read: &Read) -> Operand {
        let (var, place, shift) = shifted(read);
        match place {
            Place::Ring(0) if site.this.computes(var) => Operand::Var(var),
            Place::Ring(age) => Operand::Seen(memory(self.ring(&site.this, var, *age), self.ty(var))),
            Place::Buffer(buffer) => {
                let entry = ImpPlace::state(format!("w{}", buffer.index())).index(site.entry(lag, shift));
                Operand::Seen(memory(entry, self.ty(var)))
            }
            place => Operand::Seen(self.place(&mut Context::nowhere(), var, place, t())),
        }
    }

    fn write_retimed_registers(&mut self, site: &Site<'a>, lowered: &Lowered, block: &mut Block) {
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
        write_at_once(writes, block);
    }

    /// Writes the carried state, if there was an activation.
    fn carry_retimed(
        &mut self,
        windows: &'a Windows,
        retimed: &'a Retimed,
        site: &Site<'a>,
        block: &mut Block,
    ) {
        let mut inside = Block::new();
        for (slot, read) in &retimed.slots {
            let Carried { shift, .. } = windows.carried[slot.index()];
            let (var, place, _) = shifted(read);
            let view = match place {
                // The loop has ended: its last iteration is the one before `t`.
                Place::Ring(age) => memory(self.ring(&site.this, var, age + 1), self.ty(var)),
                Place::Buffer(buffer) => {
                    let entry = site.entries.of(site.m.clone() - 1);
                    memory(ImpPlace::state(format!("w{}", buffer.index())).index(entry), self.ty(var))
                }
                place => self.place(&mut Context::nowhere(), var, place, t()),
            };
            let (to, ty) = (slot_place(*slot), self.ty(shift).clone());
            copy(&view, &to, &ty, &mut inside);
            let flag = self.written_flag(shift);
            if let Some(flag) = &flag {
                inside.store(flag, true);
            }
            if !self.delay_states.iter().any(|memory| memory.fby == shift) {
                self.remember(shift, &to, flag.as_ref(), None);
            }
        }
        if !inside.is_empty() {
            let end = site.m.clone() + retimed.lagged.max_lag;
            block.when(site.m.clone().gt(0), |block| block.append(at_cycle(end, inside)));
        }
    }
}
