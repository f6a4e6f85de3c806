//! Windows that end where nothing waits for a later cycle (section 8).
//!
//! A scan runs at each cycle that arrives: the values of conditions as far as they are known without the future, and for each stream
//! whether it needs a later cycle. What is known of a stream of the scan is a number:
//!
//! ```text
//! 0 it is not there    1 it is not known whether it is    2 it is there, with a value that is not known    3 it has a value
//! ```
//!
//! and the bit of a stream is 0 if it is not there, 1 if it needs nothing, 2 if it needs a later cycle.

use eddy_flow::{Polarity, VarId};
use eddy_plan::plan::{Bit, Closing, Condition, Instruction, Needing, Place, Read, Right as Planned};

use super::super::Emitter;
use super::super::assign::copy;
use super::super::forward::truth;
use super::super::iteration::Loop;
use super::super::reads::memory;
use super::prelude::shown_by;
use crate::layout::Element;
use crate::lines::Lines;
use crate::lower::{Code, Group, Lowered, Operand, Right};

/// What a scan sees: its own streams, and what arrived.
struct Scan<'p, 'l> {
    closing: &'p Closing,
    this: &'l Loop<'p>,
    arrived: &'l Lowered,
}

impl Scan<'_, '_> {
    fn computes(&self, var: VarId) -> bool {
        self.closing.scan.body.iter().any(|late| late.instruction.var == var)
    }

    fn arrives(&self, var: VarId) -> bool {
        self.this.lagged.emit.code.iter().any(|instruction| instruction.var == var)
    }

    fn has_bit(&self, var: VarId) -> bool {
        self.closing.bits.iter().any(|needing| needing.var == var)
    }
}

impl<'a> Emitter<'a> {
    /// `closes`: whether the window may end with what arrived.
    pub(super) fn derived_end(
        &mut self,
        closing: &'a Closing,
        has_come: &[String],
        (this, arrived): (&Loop<'a>, &Lowered),
        lines: &mut Lines,
    ) {
        let scan = Scan { closing, this, arrived };
        let mut body = Lines::default();
        for late in &closing.scan.body {
            self.scanned(&scan, &late.instruction, &mut body);
        }
        for needing in &closing.bits {
            self.bit(&scan, needing, &mut body);
        }
        let mut waits = self.waiting(&scan, &mut body);
        self.remember_scan(&scan, &mut body);
        if waits.is_empty() {
            waits.push("false".to_string());
        }
        body.line(format!("closes = !({});", waits.join(" || ")));
        lines.line("bool closes = false;");
        lines.line("const int alt = 0;");
        lines.guarded(has_come, |lines| lines.block("", |lines| lines.append(&body)));
    }

    /// A number of the state that belongs to a stream.
    fn scan_number(&mut self, prefix: &str, var: VarId) -> String {
        let name = format!("{prefix}_{}", self.names.of(var));
        self.count(&name, "");
        format!("self->{name}")
    }

    /// A flag of the state that is false at the beginning.
    fn scan_flag(&mut self, prefix: &str, var: VarId) -> String {
        let name = format!("{prefix}_{}", self.names.of(var));
        if self.state.find(&name).is_none() {
            self.state.field(name.clone(), Element::Flag, Vec::new(), String::new(), self.precision);
            self.reset_state.line(format!("self->{name} = false;"));
        }
        format!("self->{name}")
    }

    /// What is known of a stream; none if the scan does not know the stream.
    fn knowledge(&mut self, scan: &Scan<'a, '_>, var: VarId) -> Option<String> {
        if scan.computes(var) {
            return Some(self.scan_number("yc", var));
        }
        if !scan.arrives(var) {
            return None;
        }
        let read = shown_by(scan.this, var);
        let conditions = self.presence(scan.this, scan.arrived, &read);
        if conditions.is_empty() {
            return Some("3".to_string());
        }
        Some(format!("(({}) ? 3 : 0)", conditions.join(" && ")))
    }

    /// What is known of an operand.
    fn knowledge_of(&mut self, scan: &Scan<'a, '_>, read: &Read) -> String {
        match read {
            Read::Here(_, Place::Immediate(_)) => "3".to_string(),
            Read::Here(_, Place::Absent | Place::Nowhere) => "0".to_string(),
            read => self.knowledge(scan, read.var()).unwrap_or("1".to_string()),
        }
    }

    /// Where an operand is.
    fn scanned_operand(&mut self, scan: &Scan<'a, '_>, read: &Read) -> Operand {
        let var = read.var();
        match read {
            Read::Here(_, Place::Immediate(immediate)) => Operand::Seen(self.immediate(var, immediate)),
            _ if scan.computes(var) => {
                let text = self.state_value("y", var);
                Operand::Seen(memory(text, self.ty(var)))
            }
            _ if scan.arrives(var) => {
                let read = shown_by(scan.this, var);
                Operand::Seen(self.view_after(scan.this, scan.arrived, &read))
            }
            _ => truth("0".to_string()),
        }
    }

    /// A condition, as a C expression.
    fn scanned_truth(&mut self, scan: &Scan<'a, '_>, var: VarId) -> String {
        match self.scanned_operand(scan, &Read::Here(var, Place::Ring(0))) {
            Operand::Seen(view) => scan.arrived.homes.element(&view, &view.offset.to_string()),
            Operand::Var(_) => unreachable!("it has a place"),
        }
    }

    /// One stream of the scan: what is known of it, and its value if it has one.
    fn scanned(&mut self, scan: &Scan<'a, '_>, instruction: &'a Instruction, lines: &mut Lines) {
        let var = instruction.var;
        let there = |text: String| format!("({text} == 1 ? 2 : {text})");
        let all = |texts: Vec<String>| {
            let known: Vec<String> = texts.into_iter().map(|text| format!("{text} == 3")).collect();
            if known.is_empty() { "3".to_string() } else { format!("(({}) ? 3 : 2)", known.join(" && ")) }
        };
        let (known, right) = match &instruction.right {
            Planned::Copy(read) => {
                (self.knowledge_of(scan, read), Some(Right::Copy(self.scanned_operand(scan, read))))
            }
            Planned::Apply(reads) => {
                let known = reads.iter().map(|read| self.knowledge_of(scan, read)).collect();
                let operands = reads.iter().map(|read| self.scanned_operand(scan, read)).collect();
                (all(known), Some(Right::Apply(self.operation(var), operands)))
            }
            Planned::Choice { condition, yes, no } => {
                let known = [condition, yes, no].map(|read| self.knowledge_of(scan, read));
                let chosen = self.read_truth(scan, condition);
                let [of_condition, of_yes, of_no] = known;
                let (of_yes, of_no) = (there(of_yes), there(of_no));
                let operands = [condition, yes, no].map(|read| self.scanned_operand(scan, read));
                let [condition, yes, no] = operands;
                let known = format!("({of_condition} == 3 ? ({chosen} ? {of_yes} : {of_no}) : 2)");
                (known, Some(Right::Choice(condition, yes, no)))
            }
            Planned::Register { init, .. } => {
                let register = self.scan_number("ysc", var);
                let of_init = there(self.knowledge_of(scan, init));
                let known = format!("({register} != 0 ? {} : {of_init})", there(register.clone()));
                let value = memory(self.state_value("ys", var), self.ty(var));
                let init = self.scanned_operand(scan, init);
                let is_written = truth(format!("({register} == 3)"));
                (known, Some(Right::Choice(is_written, Operand::Seen(value), init)))
            }
            // The future is not known.
            Planned::Ahead { .. } => ("2".to_string(), None),
            other => unreachable!("a scan has no {other:?}"),
        };
        let number = self.scan_number("yc", var);
        let known = self.under_conditions(scan, &instruction.clock, known);
        lines.line(format!("{number} = {known};"));
        if let Some(right) = right {
            let statement = self.statement_of(var, right);
            let groups = vec![Group { conditions: Vec::new(), statements: vec![statement] }];
            let mut code = Code { groups, ..Code::default() };
            code.exports.insert(var, vec![self.state_value("y", var)]);
            let lowered = self.lowered(&code);
            lines.guarded(&[format!("{number} == 3")], |lines| lines.append(&lowered.lines));
        }
    }

    fn read_truth(&mut self, scan: &Scan<'a, '_>, read: &Read) -> String {
        match self.scanned_operand(scan, read) {
            Operand::Seen(view) => scan.arrived.homes.element(&view, &view.offset.to_string()),
            Operand::Var(_) => unreachable!("it has a place"),
        }
    }

    /// What is known of a stream on a sampled clock, if this is known of it where it is there.
    fn under_conditions(&mut self, scan: &Scan<'a, '_>, clock: &[Condition], known: String) -> String {
        let mut text = known;
        for Condition { read, polarity } in clock.iter().rev() {
            let of_condition = self.knowledge_of(scan, read);
            let value = self.read_truth(scan, read);
            let is_not = if *polarity == Polarity::On { "!" } else { "" };
            text =
                format!("({of_condition} == 0 ? 0 : {of_condition} != 3 ? 1 : {is_not}{value} ? 0 : {text})");
        }
        text
    }

    /// Whether a stream needs a later cycle.
    fn bit(&mut self, scan: &Scan<'a, '_>, needing: &'a Needing, lines: &mut Lines) {
        let own = self.own_bit(scan, needing);
        // Where a condition is not known, its bit counts too.
        let mut also: Vec<String> = Vec::new();
        let mut absent: Vec<String> = Vec::new();
        for (condition, polarity) in &needing.clock {
            let is_set = self.is_set(scan, *condition);
            match self.knowledge(scan, *condition) {
                None => also.push(is_set),
                Some(known) => {
                    let value = self.scanned_truth(scan, *condition);
                    let is_not = if *polarity == Polarity::On { "!" } else { "" };
                    absent.push(format!("{known} == 0"));
                    absent.push(format!("({known} == 3 && {is_not}{value})"));
                    also.push(format!("({known} != 3 && {is_set})"));
                }
            }
        }
        also.push(own);
        let number = self.scan_number("yb", needing.var);
        let set = format!("({}) ? 2 : 1", also.join(" || "));
        if absent.is_empty() {
            lines.line(format!("{number} = {set};"));
        } else {
            lines.line(format!("{number} = ({}) ? 0 : {set};", absent.join(" || ")));
        }
    }

    fn own_bit(&mut self, scan: &Scan<'a, '_>, needing: &'a Needing) -> String {
        match &needing.bit {
            Bit::Set => "true".to_string(),
            Bit::Any(operands) => {
                let set: Vec<String> = operands.iter().map(|operand| self.is_set(scan, *operand)).collect();
                if set.is_empty() { "false".to_string() } else { format!("({})", set.join(" || ")) }
            }
            Bit::First { fby, init } => {
                let (seen, init) = (self.scan_flag("yf", *fby), self.is_set(scan, *init));
                format!("(!{seen} && {init})")
            }
            Bit::Choice { condition, yes, no } => {
                let [set, yes, no] = [condition, yes, no].map(|var| self.is_set(scan, *var));
                match self.knowledge(scan, *condition) {
                    None => format!("({set} || {yes} || {no})"),
                    Some(known) => {
                        let value = self.scanned_truth(scan, *condition);
                        format!("({set} || ({known} == 3 ? ({value} ? {yes} : {no}) : ({yes} || {no})))")
                    }
                }
            }
        }
    }

    fn is_set(&mut self, scan: &Scan<'a, '_>, var: VarId) -> String {
        if scan.has_bit(var) { format!("{} == 2", self.scan_number("yb", var)) } else { "false".to_string() }
    }

    /// What keeps the window open, as C expressions.
    fn waiting(&mut self, scan: &Scan<'a, '_>, lines: &mut Lines) -> Vec<String> {
        let mut waits = Vec::new();
        for required in &scan.closing.required {
            let bit = self.scan_number("yb", required.var);
            if required.is_sampled {
                // The bit of its last activation counts.
                let last = self.scan_flag("ym", required.var);
                lines.line(format!("if ({bit} != 0) {last} = {bit} == 2;"));
                waits.push(last);
            } else {
                waits.push(format!("{bit} == 2"));
            }
        }
        for pending in &scan.closing.pending {
            if !scan.has_bit(pending.shift) {
                continue;
            }
            let bit = self.scan_number("yb", pending.shift);
            let is_pending = self.scan_flag("yp", pending.shift);
            let reached: Vec<String> = pending.reaches.iter().map(|var| self.is_set(scan, *var)).collect();
            let reached = if reached.is_empty() { "false".to_string() } else { reached.join(" || ") };
            lines.line(format!("if ({bit} != 0) {is_pending} = {reached};"));
            waits.push(is_pending);
        }
        for (guard, polarity) in &scan.closing.nested {
            let Some(known) = self.knowledge(scan, *guard) else { continue };
            let (is_open, value) = (self.scan_flag("yn", *guard), self.scanned_truth(scan, *guard));
            let is_not = if *polarity == Polarity::On { "!" } else { "" };
            lines.line(format!("if ({known} != 0) {is_open} = {known} != 3 || {is_not}{value};"));
            waits.push(is_open);
        }
        waits
    }

    /// What the scan remembers until the next cycle.
    fn remember_scan(&mut self, scan: &Scan<'a, '_>, lines: &mut Lines) {
        for needing in &scan.closing.bits {
            if let Bit::First { fby, .. } = needing.bit
                && let Some(known) = self.knowledge(scan, fby)
            {
                let seen = self.scan_flag("yf", fby);
                lines.line(format!("if ({known} != 0) {seen} = true;"));
            }
        }
        for register in &scan.closing.scan.registers {
            let own = self.scan_number("yc", register.fby);
            let (number, value) =
                (self.scan_number("ysc", register.fby), self.state_value("ys", register.fby));
            let next = self.knowledge_of(scan, &register.next);
            let Operand::Seen(view) = self.scanned_operand(scan, &register.next) else {
                unreachable!("it has a place")
            };
            let ty = self.ty(register.fby).clone();
            lines.line(format!("if ({own} == 1) {number} = 1;"));
            lines.block(&format!("else if ({own} != 0 && {next} != 0)"), |lines| {
                lines.line(format!("{number} = {next};"));
                lines.guarded(&[format!("{number} == 3")], |lines| copy(&view, &value, &ty, lines));
            });
        }
    }
}
