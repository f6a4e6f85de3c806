//! The names of streams in plans, and instructions as text.

use std::fmt::Write;

use eddy_flow::text::{names, operation};
use eddy_flow::{Flow, Kind, Labels, VarId};
use eddy_tensor::{Callee, Op, Value};

use super::kind::{condition, quoted, reason};
use crate::plan::{Immediate, Instruction, Place, Polarity, Read, Reason, Rejected, Right};

pub struct Names<'a> {
    pub flow: &'a Flow,
    pub labels: Labels<'a>,
    names: Vec<String>,
    operations: Vec<Option<&'a Op>>,
}

impl<'a> Names<'a> {
    /// Plans skip copies, so a stream without a name gets the name of one of its copies.
    pub fn new(flow: &'a Flow) -> Self {
        let mut shown = names(flow);
        let mut operations = vec![None; flow.vars.len()];
        for equation in &flow.equations {
            let Kind::Apply(op, operands) = &equation.kind else { continue };
            operations[equation.out.index()] = Some(op);
            if let (Op::Copy, [operand]) = (op, &operands[..])
                && let (None, Some(name)) = (&flow.var(*operand).name, &flow.var(equation.out).name)
                && shown[operand.index()].starts_with('_')
            {
                shown[operand.index()] = name.to_string();
            }
        }
        Names { flow, labels: flow.labels(), names: shown, operations }
    }

    pub fn name(&self, var: VarId) -> &str {
        &self.names[var.index()]
    }

    pub fn list(&self, vars: impl Iterator<Item = VarId>) -> String {
        vars.map(|var| self.name(var)).collect::<Vec<_>>().join(", ")
    }

    /// The number of elements of a stream.
    pub fn n_numbers(&self, var: VarId) -> usize {
        self.flow.var(var).ty.shape.iter().product()
    }

    /// A name, with the number of elements if that is not one.
    pub fn sized(&self, var: VarId) -> String {
        match self.n_numbers(var) {
            1 => self.name(var).to_string(),
            n => format!("{} ({n})", self.name(var)),
        }
    }

    /// Why a condition is not a guard.
    pub fn rejected(&self, rejected: &Rejected) -> (String, String) {
        let guard = condition(&self.labels, rejected.guard, rejected.polarity);
        let reason = match &rejected.reason {
            Reason::Beyond(var) => {
                format!("{} still needs the next cycle where the window ends", quoted(&self.labels, *var))
            }
            Reason::Inside => "it depends on the streams that it would cut".to_string(),
            Reason::Unknown => "it looks ahead, and is not known at the end of the trace".to_string(),
            Reason::Cycle(no_plan) => reason(&self.labels, no_plan),
            Reason::Open(inner) => {
                format!("nested windows of {} may still be open", quoted(&self.labels, *inner))
            }
            Reason::Budget => "the search for windows inside windows took too long".to_string(),
            Reason::Worse => "another condition needs fewer loops or buffers".to_string(),
        };
        (guard, reason)
    }

    /// Instructions as lines, each with the position of its first instruction: results of one call are one
    /// line.
    pub fn lines(&self, instructions: &[&Instruction]) -> Vec<(usize, String)> {
        let mut lines: Vec<(usize, Vec<&str>)> = Vec::new();
        for (at, instruction) in instructions.iter().enumerate() {
            let is_same = |first: usize| self.are_one_call(instructions[first], instruction);
            let name = self.name(instruction.var);
            let is_call = self.callee(instruction).is_some();
            match lines.iter_mut().find(|(first, _)| is_call && is_same(*first)) {
                Some((_, names)) => names.push(name),
                None => lines.push((at, vec![name])),
            }
        }
        let line = |(at, names): (usize, Vec<&str>)| {
            (at, format!("{} = {}", names.join(", "), self.value(instructions[at])))
        };
        lines.into_iter().map(line).collect()
    }

    /// Whether two instructions are results of one call, in the same iteration.
    fn are_one_call(&self, one: &Instruction, other: &Instruction) -> bool {
        let (Some(first), Some(second)) = (self.callee(one), self.callee(other)) else { return false };
        first.shares_code(second) && self.value(one) == self.value(other)
    }

    /// The function that an instruction applies.
    fn callee(&self, instruction: &Instruction) -> Option<&'a dyn Callee> {
        match self.operations[instruction.var.index()]?.applied() {
            Op::Call(call) => Some(call.callee()),
            _ => None,
        }
    }

    /// What an instruction computes, and when.
    fn value(&self, instruction: &Instruction) -> String {
        let mut when = String::new();
        for condition in &instruction.clock {
            let not = if condition.polarity == Polarity::On { "" } else { "not " };
            write!(when, " when {not}{}", self.read(&condition.read)).expect("writing to a string succeeds");
        }
        let again = if instruction.is_repeated { " (again)" } else { "" };
        format!("{}{when}{again}", self.right(instruction.var, &instruction.right))
    }

    fn right(&self, var: VarId, right: &Right) -> String {
        match right {
            Right::Copy(read) => self.read(read),
            Right::Apply(reads) => {
                let operands: Vec<String> = reads.iter().map(|read| self.read(read)).collect();
                let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
                self.operations[var.index()]
                    .map_or_else(|| operands.join(", "), |op| spoken(&operation(op, &operands)))
            }
            Right::Choice { condition, yes, no } => {
                format!("if {} then {} else {}", self.read(condition), self.read(yes), self.read(no))
            }
            Right::Carried { slot, init, is_tracked } => {
                let register = if *is_tracked { "its register, " } else { "" };
                let slot = if slot.is_some() { "carried, " } else { "" };
                format!("{register}{slot}at first {}", self.read(init))
            }
            Right::Register { init, .. } => format!("its register, at first {}", self.read(init)),
            Right::Previous { init, next, .. } => {
                format!("{}, at first {}", self.read(next), self.read(init))
            }
            Right::Ahead { slot, next, init } => {
                let next = next.as_ref().map(|next| self.read(next));
                let slot = slot.map(|_| "carried".to_string());
                let init = init.as_ref().map(|init| format!("at last {}", self.read(init)));
                let parts: Vec<String> = [next, slot, init].into_iter().flatten().collect();
                if parts.is_empty() { "unknown".to_string() } else { parts.join(", ") }
            }
            Right::Tracked { slot, init } => {
                let slot = if slot.is_some() { ", carried" } else { "" };
                let init =
                    init.as_ref().map_or(String::new(), |init| format!(", at last {}", self.read(init)));
                format!("its register{slot}{init}")
            }
        }
    }

    fn read(&self, read: &Read) -> String {
        match read {
            Read::Here(var, place) => self.place(*var, place),
            Read::Before { var, first, inner } => {
                let (first, inner) = (self.place(*var, first), self.place(*var, inner));
                if first == inner { format!("{inner}[n-1]") } else { format!("{inner}[n-1] or {first} at F") }
            }
            Read::After { var, inner, last } => {
                let inner = self.place(*var, inner);
                let mut last: Vec<String> = last.iter().map(|place| self.place(*var, place)).collect();
                last.dedup();
                if last.iter().all(|place| *place == inner) {
                    format!("{inner}[n+1]")
                } else {
                    format!("{inner}[n+1] or {} at L", last.join(" or "))
                }
            }
        }
    }

    fn place(&self, var: VarId, place: &Place) -> String {
        match place {
            Place::Immediate(Immediate::Value(value)) => immediate(value),
            Place::Immediate(Immediate::Invariant(var)) => self.name(*var).to_string(),
            Place::Absent => "absent".to_string(),
            _ => self.name(var).to_string(),
        }
    }
}

/// Turns `call f ( x y )` of flow's text into `f(x y)`.
fn spoken(text: &str) -> String {
    match text.strip_prefix("call ") {
        None => text.to_string(),
        Some(call) => call.replacen(" ( ", "(", 1).replace(" )", ")"),
    }
}

/// A constant, or a summary if it is too long.
fn immediate(value: &Value) -> String {
    if value.n_elements() <= 4 {
        return value.to_string();
    }
    let mut elements = value.elements();
    let first = elements.next().expect("a constant with many elements has one");
    if elements.all(|element| element == first) {
        return format!("{first} everywhere");
    }
    format!("a constant {}", value.ty())
}
