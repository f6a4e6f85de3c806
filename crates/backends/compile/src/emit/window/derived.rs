//! Windows with a derived end: they end where nothing waits for a later cycle (section 8).
//!
//! A scan runs at each cycle on arrival: it computes the values of conditions as far as they are known
//! without the future, and for each stream whether it needs a later cycle. The knowledge about a stream of
//! the scan is a number:
//!
//! ```text
//! 0 absent    1 presence unknown    2 present, value unknown    3 value known
//! ```
//!
//! The bit of a stream is 0 if it is absent, 1 if it needs nothing, 2 if it needs a later cycle.

use eddy_flow::VarId;
use eddy_imp::{Block, Expr, Place as ImpPlace, Stmt, Type};
use eddy_plan::plan::{Bit, Condition, DerivedEnd, Instruction, Needing, Place, Read, Right as Planned};

use super::super::assign::copy;
use super::super::forward::truth;
use super::super::iteration::Loop;
use super::super::reads::memory;
use super::super::{Emitter, holds};
use super::prelude::shown_by;
use crate::lower::{Code, Group, Lowered, Operand, Right};
use crate::view::View;

/// The environment of a scan: its own streams, and the inputs of the window.
struct Scan<'p, 'l> {
    derived_end: &'p DerivedEnd,
    this: &'l Loop<'p>,
    arrived: &'l Lowered,
}

impl Scan<'_, '_> {
    fn computes(&self, var: VarId) -> bool {
        self.derived_end.scan.body.iter().any(|late| late.instruction.var == var)
    }

    fn arrives(&self, var: VarId) -> bool {
        self.this.lagged.emit.code.iter().any(|instruction| instruction.var == var)
    }

    fn has_bit(&self, var: VarId) -> bool {
        self.derived_end.bits.iter().any(|needing| needing.var == var)
    }
}

/// The knowledge about a stream, as numbers.
const ABSENT: i64 = 0;
const UNDECIDED: i64 = 1;
const PRESENT: i64 = 2;
const KNOWN: i64 = 3;

/// The bit of a stream that needs a later cycle, and of one that needs nothing.
const NEEDS_LATER: i64 = 2;
const NEEDS_NOTHING: i64 = 1;

impl<'a> Emitter<'a> {
    /// `closes`: whether the window may end at this cycle.
    pub(super) fn derived_end(
        &mut self,
        derived_end: &'a DerivedEnd,
        has_come: Expr,
        (this, arrived): (&Loop<'a>, &Lowered),
        block: &mut Block,
    ) {
        let scan = Scan { derived_end, this, arrived };
        let mut body = Block::new();
        for late in &derived_end.scan.body {
            self.scanned(&scan, &late.instruction, &mut body);
        }
        for needing in &derived_end.bits {
            self.bit(&scan, needing, &mut body);
        }
        let waits = self.waiting(&scan, &mut body);
        self.remember_scan(&scan, &mut body);
        body.assign("closes", !Expr::any(waits));
        block.variable("closes", Type::Bool, false);
        block.constant("alt", Type::Cycle, 0);
        block.when(has_come, |block| block.push(Stmt::Scope(body)));
    }

    /// A number of the state that belongs to a stream.
    fn scan_number(&mut self, prefix: &str, var: VarId) -> ImpPlace {
        self.count(format!("{prefix}_{}", self.names.of(var)), "")
    }

    /// A flag of the state that is initially false.
    fn scan_flag(&mut self, prefix: &str, var: VarId) -> ImpPlace {
        let name = format!("{prefix}_{}", self.names.of(var));
        if self.state.find(&name).is_none() {
            self.reset_state.store(ImpPlace::state(name.as_str()), false);
        }
        self.flags(name, Vec::new())
    }

    /// The knowledge about a stream; `None` if the scan does not contain the stream.
    fn knowledge(&mut self, scan: &Scan<'a, '_>, var: VarId) -> Option<Expr> {
        if scan.computes(var) {
            return Some(self.scan_number("yc", var).into());
        }
        if !scan.arrives(var) {
            return None;
        }
        let read = shown_by(scan.this, var);
        let conditions = self.presence(scan.this, scan.arrived, &read);
        if conditions.is_empty() {
            return Some(KNOWN.into());
        }
        Some(Expr::choice(Expr::all(conditions), KNOWN, ABSENT))
    }

    /// The knowledge about an operand.
    fn knowledge_of(&mut self, scan: &Scan<'a, '_>, read: &Read) -> Expr {
        match read {
            Read::Here(_, Place::Immediate(_)) => KNOWN.into(),
            Read::Here(_, Place::Absent | Place::Nowhere) => ABSENT.into(),
            read => self.knowledge(scan, read.var()).unwrap_or(UNDECIDED.into()),
        }
    }

    fn scanned_view(&mut self, scan: &Scan<'a, '_>, read: &Read) -> View {
        let var = read.var();
        match read {
            Read::Here(_, Place::Immediate(immediate)) => self.immediate(var, immediate),
            _ if scan.computes(var) => memory(self.state_value("y", var), self.ty(var)),
            _ if scan.arrives(var) => {
                let read = shown_by(scan.this, var);
                self.view_after(scan.this, scan.arrived, &read)
            }
            _ => View::whole(crate::view::Root::Nothing, self.ty(var)),
        }
    }

    fn scanned_operand(&mut self, scan: &Scan<'a, '_>, read: &Read) -> Operand {
        Operand::Seen(self.scanned_view(scan, read))
    }

    fn scanned_truth(&mut self, scan: &Scan<'a, '_>, read: &Read) -> Expr {
        let view = self.scanned_view(scan, read);
        scan.arrived.homes.first(&view)
    }

    /// Computes the knowledge about a stream, and its value if it has one.
    fn scanned(&mut self, scan: &Scan<'a, '_>, instruction: &'a Instruction, block: &mut Block) {
        let var = instruction.var;
        let there = |known: Expr| Expr::choice(known.clone().equals(UNDECIDED), PRESENT, known);
        let (known, right) = match &instruction.right {
            Planned::Copy(read) => {
                (self.knowledge_of(scan, read), Some(Right::Copy(self.scanned_operand(scan, read))))
            }
            Planned::Apply(reads) => {
                let all: Vec<Expr> =
                    reads.iter().map(|read| self.knowledge_of(scan, read).equals(KNOWN)).collect();
                let operands = reads.iter().map(|read| self.scanned_operand(scan, read)).collect();
                let known = Expr::choice(Expr::all(all), KNOWN, PRESENT);
                (known, Some(Right::Apply(self.operation(var), operands)))
            }
            Planned::Choice { condition, yes, no } => {
                let chosen = self.scanned_truth(scan, condition);
                let [of_condition, of_yes, of_no] =
                    [condition, yes, no].map(|read| self.knowledge_of(scan, read));
                let [condition, yes, no] = [condition, yes, no].map(|read| self.scanned_operand(scan, read));
                let of_chosen = Expr::choice(chosen, there(of_yes), there(of_no));
                let known = Expr::choice(of_condition.equals(KNOWN), of_chosen, PRESENT);
                (known, Some(Right::Choice(condition, yes, no)))
            }
            Planned::Register { init, .. } => {
                let register = self.scan_number("ysc", var).load();
                let of_init = there(self.knowledge_of(scan, init));
                let known = Expr::choice(register.clone().differs(ABSENT), there(register.clone()), of_init);
                let value = memory(self.state_value("ys", var), self.ty(var));
                let init = self.scanned_operand(scan, init);
                let is_written = truth(register.equals(KNOWN));
                (known, Some(Right::Choice(is_written, Operand::Seen(value), init)))
            }
            // The future is unknown.
            Planned::Ahead { .. } => (PRESENT.into(), None),
            other => unreachable!("a scan has no {other:?}"),
        };
        let number = self.scan_number("yc", var);
        let known = self.under_conditions(scan, &instruction.clock, known);
        block.store(&number, known);
        if let Some(right) = right {
            let statement = self.statement_of(var, right);
            let groups = vec![Group { conditions: Vec::new(), statements: vec![statement] }];
            let mut code = Code { groups, ..Code::default() };
            code.exports.insert(var, vec![self.state_value("y", var)]);
            let lowered = self.lowered(&code);
            block.when(number.load().equals(KNOWN), |block| block.append(lowered.block));
        }
    }

    /// The knowledge about a stream on a sampled clock, given the knowledge where it is present.
    fn under_conditions(&mut self, scan: &Scan<'a, '_>, clock: &[Condition], known: Expr) -> Expr {
        let mut known = known;
        for Condition { read, polarity } in clock.iter().rev() {
            let of_condition = self.knowledge_of(scan, read);
            let is_there = holds(*polarity, self.scanned_truth(scan, read));
            let where_known = Expr::choice(is_there, known, ABSENT);
            let where_there = Expr::choice(of_condition.clone().differs(KNOWN), UNDECIDED, where_known);
            known = Expr::choice(of_condition.equals(ABSENT), ABSENT, where_there);
        }
        known
    }

    fn bit(&mut self, scan: &Scan<'a, '_>, needing: &'a Needing, block: &mut Block) {
        let own = self.own_bit(scan, needing);
        // If a condition is unknown, its bit counts too.
        let (mut also, mut absent) = (Vec::new(), Vec::new());
        for (condition, polarity) in &needing.clock {
            let is_set = self.is_set(scan, *condition);
            match self.knowledge(scan, *condition) {
                None => also.push(is_set),
                Some(known) => {
                    let value = self.scanned_truth(scan, &Read::Here(*condition, Place::Ring(0)));
                    let is_known = known.clone().equals(KNOWN);
                    absent.push(known.clone().equals(ABSENT));
                    absent.push(is_known.and_then(!holds(*polarity, value)));
                    also.push(known.differs(KNOWN).and_then(is_set));
                }
            }
        }
        also.push(own);
        let number = self.scan_number("yb", needing.var);
        let mut bit = Expr::choice(Expr::any(also), NEEDS_LATER, NEEDS_NOTHING);
        if !absent.is_empty() {
            bit = Expr::choice(Expr::any(absent), 0, bit);
        }
        block.store(number, bit);
    }

    fn own_bit(&mut self, scan: &Scan<'a, '_>, needing: &'a Needing) -> Expr {
        match &needing.bit {
            Bit::Set => true.into(),
            Bit::Any(operands) => Expr::any(operands.iter().map(|operand| self.is_set(scan, *operand))),
            Bit::First { fby, init } => {
                let (seen, init) = (self.scan_flag("yf", *fby), self.is_set(scan, *init));
                (!seen.load()).and_then(init)
            }
            Bit::Choice { condition, yes, no } => {
                let [set, yes, no] = [condition, yes, no].map(|var| self.is_set(scan, *var));
                let either = yes.clone().or_else(no.clone());
                match self.knowledge(scan, *condition) {
                    None => set.or_else(either),
                    Some(known) => {
                        let value = self.scanned_truth(scan, &Read::Here(*condition, Place::Ring(0)));
                        let chosen = Expr::choice(value, yes, no);
                        set.or_else(Expr::choice(known.equals(KNOWN), chosen, either))
                    }
                }
            }
        }
    }

    fn is_set(&mut self, scan: &Scan<'a, '_>, var: VarId) -> Expr {
        if scan.has_bit(var) { self.scan_number("yb", var).load().equals(NEEDS_LATER) } else { false.into() }
    }

    /// The conditions that keep the window open.
    fn waiting(&mut self, scan: &Scan<'a, '_>, block: &mut Block) -> Vec<Expr> {
        let mut waits = Vec::new();
        for required in &scan.derived_end.required {
            let bit = self.scan_number("yb", required.var).load();
            let is_needed = bit.clone().equals(NEEDS_LATER);
            if required.is_sampled {
                // The bit of its last activation counts.
                let last = self.scan_flag("ym", required.var);
                block.when(bit.differs(ABSENT), |block| block.store(&last, is_needed));
                waits.push(last.load());
            } else {
                waits.push(is_needed);
            }
        }
        for pending in &scan.derived_end.pending {
            if !scan.has_bit(pending.shift) {
                continue;
            }
            let bit = self.scan_number("yb", pending.shift).load();
            let is_pending = self.scan_flag("yp", pending.shift);
            let reached = Expr::any(pending.reaches.iter().map(|var| self.is_set(scan, *var)));
            block.when(bit.differs(ABSENT), |block| block.store(&is_pending, reached));
            waits.push(is_pending.load());
        }
        for (guard, polarity) in &scan.derived_end.nested {
            let Some(known) = self.knowledge(scan, *guard) else { continue };
            let is_open = self.scan_flag("yn", *guard);
            let ends = holds(*polarity, self.scanned_truth(scan, &Read::Here(*guard, Place::Ring(0))));
            let goes_on = known.clone().differs(KNOWN).or_else(!ends);
            block.when(known.differs(ABSENT), |block| block.store(&is_open, goes_on));
            waits.push(is_open.load());
        }
        waits
    }

    /// Writes the state that the scan needs at the next cycle.
    fn remember_scan(&mut self, scan: &Scan<'a, '_>, block: &mut Block) {
        for needing in &scan.derived_end.bits {
            if let Bit::First { fby, .. } = needing.bit
                && let Some(known) = self.knowledge(scan, fby)
            {
                let seen = self.scan_flag("yf", fby);
                block.when(known.differs(ABSENT), |block| block.store(seen, true));
            }
        }
        for register in &scan.derived_end.scan.registers {
            let own = self.scan_number("yc", register.fby).load();
            let (number, value) =
                (self.scan_number("ysc", register.fby), self.state_value("ys", register.fby));
            let next = self.knowledge_of(scan, &register.next);
            let view = self.scanned_view(scan, &register.next);
            let ty = self.ty(register.fby);
            let (mut undecided, mut there) = (Block::new(), Block::new());
            undecided.store(&number, UNDECIDED);
            there.store(&number, next.clone());
            there.when(number.load().equals(KNOWN), |block| copy(&view, &value, ty, block));
            let arms = vec![
                (own.clone().equals(UNDECIDED), undecided),
                (own.differs(ABSENT).and_then(next.differs(ABSENT)), there),
            ];
            block.push(Stmt::If(arms, Block::new()));
        }
    }
}
