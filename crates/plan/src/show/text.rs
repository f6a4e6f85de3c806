//! A plan as text: what runs when, and what is kept.

use std::fmt::Write;

use eddy_flow::text::{names, operation};
use eddy_flow::{Flow, Kind, Labels, VarId};
use eddy_tensor::Value;

use super::kind::{condition, kind, reason};
use crate::plan::{
    Body, BufferRole, Immediate, Instruction, Lagged, OpenEntry, Place, Plan, Polarity, Read, Reason, Region,
    Rejected, Right, RootPlan, Schedule, Step, Unit, Windows, Zone, ZoneEnd,
};

/// The plan of a node: its kind, then everything else, indented.
pub fn report(name: &str, flow: &Flow, plan: &Plan) -> String {
    let mut text = format!("{name}: {}\n", kind(flow, plan));
    let writer = Writer { flow, names: names(flow), labels: flow.labels() };
    for root in &plan.roots {
        writer.root(root, &mut text);
    }
    text
}

struct Writer<'a> {
    flow: &'a Flow,
    names: Vec<String>,
    labels: Labels<'a>,
}

fn line(text: &mut String, depth: usize, line: &str) {
    writeln!(text, "{:width$}{line}", "", width = 2 * depth).expect("a string takes all that is written");
}

impl Writer<'_> {
    fn name(&self, var: VarId) -> &str {
        &self.names[var.index()]
    }

    fn list(&self, vars: impl Iterator<Item = VarId>) -> String {
        vars.map(|var| self.name(var)).collect::<Vec<_>>().join(", ")
    }

    fn root(&self, root: &RootPlan, text: &mut String) {
        match &root.schedule {
            Schedule::Forward(lagged) => self.lagged(lagged, 1, text),
            Schedule::Windows(windows) => self.windows(windows, text),
            Schedule::EventDriven(_) => {}
        }
        let memory = &root.memory;
        match &root.schedule {
            Schedule::Forward(_) => line(text, 1, &format!("memory: {} B", memory.fixed())),
            Schedule::Windows(_) => line(
                text,
                1,
                &format!(
                    "memory: {} B + {} B for each cycle of the window",
                    memory.fixed(),
                    memory.per_cycle()
                ),
            ),
            Schedule::EventDriven(_) => {}
        }
        for rejected in &root.rejected {
            line(text, 1, &self.rejected(rejected));
        }
    }

    fn rejected(&self, rejected: &Rejected) -> String {
        let guard = condition(&self.labels, rejected.guard, rejected.polarity);
        let reason = match &rejected.reason {
            Reason::Beyond(var) => {
                format!("`{}` still needs the next cycle where the window ends", self.labels.label(*var))
            }
            Reason::Inside => "it depends on what it would have to cut".to_string(),
            Reason::Unknown => "it looks ahead, and is not known at the end of the trace".to_string(),
            Reason::Cycle(no_plan) => reason(&self.labels, no_plan),
            Reason::Open(inner) => {
                format!("windows of `{}` inside may still be open", self.labels.label(*inner))
            }
            Reason::Budget => "the search for windows inside windows took too long".to_string(),
            Reason::Worse => "another one is better".to_string(),
        };
        format!("no window {guard}: {reason}")
    }

    fn lagged(&self, lagged: &Lagged, depth: usize, text: &mut String) {
        for late in &lagged.body {
            let lag = if lagged.max_lag > 0 { format!("lag {}  ", late.lag) } else { String::new() };
            line(text, depth, &format!("{lag}{}", self.instruction(&late.instruction)));
        }
        if !lagged.registers.is_empty() {
            let registers = self.list(lagged.registers.iter().map(|register| register.fby));
            line(text, depth, &format!("registers: {registers}"));
        }
        for ring in &lagged.rings {
            line(text, depth, &format!("ring: {} of {} values", self.name(ring.var), ring.slots));
        }
    }

    fn windows(&self, windows: &Windows, text: &mut String) {
        if !windows.prelude.body.is_empty() {
            line(text, 1, "before the window");
            self.lagged(&windows.prelude, 2, text);
        }
        for version in &windows.versions {
            let depth = match version.assumes {
                None => 1,
                Some((var, truth)) => {
                    line(text, 1, &format!("where {} is {truth} at all cycles", self.name(var)));
                    2
                }
            };
            self.region(&version.region, depth, text);
        }
        let of_role = |role: BufferRole| {
            let buffers = windows.buffers.iter().filter(|buffer| buffer.role == role);
            buffers.map(|buffer| self.list(buffer.vars.iter().copied())).collect::<Vec<_>>().join("; ")
        };
        for (role, what) in [
            (BufferRole::Arrival, "inputs kept"),
            (BufferRole::Sweeps, "buffers"),
            (BufferRole::Output, "outputs kept"),
        ] {
            let list = of_role(role);
            if !list.is_empty() {
                line(text, 1, &format!("{what}: {list}"));
            }
        }
        if !windows.scalars.is_empty() {
            let scalar = |scalar: &crate::plan::Scalar| {
                format!("{}@{}", self.name(scalar.var), zone(scalar.zone, false))
            };
            let scalars: Vec<String> = windows.scalars.iter().map(scalar).collect();
            line(text, 1, &format!("scalars: {}", scalars.join(", ")));
        }
        if !windows.carried.is_empty() {
            line(
                text,
                1,
                &format!("carried: {}", self.list(windows.carried.iter().map(|carried| carried.shift))),
            );
        }
    }

    fn region(&self, region: &Region, depth: usize, text: &mut String) {
        for step in &region.steps {
            match step {
                Step::Sweep(sweep) => {
                    let what = if sweep.is_straight { "straight line" } else { "loop" };
                    line(text, depth, &format!("{:?} {what}", sweep.direction).to_lowercase());
                    self.bodies(region, &sweep.bodies, depth + 1, text);
                }
                Step::Unit(Unit::Retimed(retimed)) => {
                    line(text, depth, "loop over the window");
                    self.lagged(&retimed.lagged, depth + 1, text);
                }
                Step::Unit(Unit::Nested(inner)) => {
                    let (guard, polarity) = inner.guard.expect("windows inside have a guard");
                    let order = format!("{:?}", inner.order).to_lowercase();
                    let guard = condition(&self.labels, guard, polarity);
                    line(text, depth, &format!("windows {guard} inside, {order}"));
                    self.region(inner, depth + 1, text);
                }
            }
        }
        if !region.single.is_empty() {
            line(text, depth, "window of one cycle");
            let mut bodies = vec![Body::default(); region.zones.len() - region.single.len()];
            bodies.extend(region.single.iter().cloned());
            self.bodies(region, &bodies, depth + 1, text);
        }
        for held in &region.held {
            let end = if held.entry.1 == ZoneEnd::First { "F" } else { "L" };
            let open = match &held.open {
                OpenEntry::Same => "",
                OpenEntry::Unknown => ", unknown in an open window",
                OpenEntry::Init(_) => ", the initial value in an open window",
            };
            line(
                text,
                depth,
                &format!("held: {} = {}@{end}{open}", self.name(held.var), self.name(held.entry.0)),
            );
        }
    }

    fn bodies(&self, region: &Region, bodies: &[Body], depth: usize, text: &mut String) {
        let several = !region.alternatives.is_empty();
        for (of, body) in region.zones.iter().zip(bodies) {
            for (index, instruction) in body.code.iter().enumerate() {
                let label = if index == 0 { zone(*of, several) } else { String::new() };
                line(text, depth, &format!("{label:<3}{}", self.instruction(instruction)));
            }
        }
    }

    fn instruction(&self, instruction: &Instruction) -> String {
        let mut when = String::new();
        for condition in &instruction.clock {
            let not = if condition.polarity == Polarity::On { "" } else { "not " };
            write!(when, " when {not}{}", self.read(&condition.read)).expect("a string takes it");
        }
        let again = if instruction.is_repeated { " (again)" } else { "" };
        let var = instruction.var;
        format!("{} = {}{when}{again}", self.name(var), self.right(var, &instruction.right))
    }

    fn right(&self, var: VarId, right: &Right) -> String {
        match right {
            Right::Copy(read) => self.read(read),
            Right::Apply(reads) => {
                let operands: Vec<String> = reads.iter().map(|read| self.read(read)).collect();
                let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
                let equation = self.flow.equations.iter().find(|equation| equation.out == var);
                match equation.map(|equation| &equation.kind) {
                    Some(Kind::Apply(op, _)) => operation(op, &operands),
                    _ => operands.join(", "),
                }
            }
            Right::Choice { condition, yes, no } => {
                format!("if {} then {} else {}", self.read(condition), self.read(yes), self.read(no))
            }
            Right::Carried { slot, init, is_tracked } => {
                let register = if *is_tracked { "register, " } else { "" };
                let slot = if slot.is_some() { "carried, " } else { "" };
                format!("{register}{slot}first {}", self.read(init))
            }
            Right::Register { init, .. } => format!("register, first {}", self.read(init)),
            Right::Previous { init, next, .. } => format!("{}, first {}", self.read(next), self.read(init)),
            Right::Ahead { slot, next, init } => {
                let next = next.as_ref().map(|next| self.read(next));
                let slot = slot.map(|_| "carried".to_string());
                let init = init.as_ref().map(|init| format!("last {}", self.read(init)));
                let parts: Vec<String> = [next, slot, init].into_iter().flatten().collect();
                if parts.is_empty() { "unknown".to_string() } else { parts.join(", ") }
            }
            Right::Tracked { slot, init } => {
                let slot = if slot.is_some() { ", carried" } else { "" };
                let init = init.as_ref().map_or(String::new(), |init| format!(", last {}", self.read(init)));
                format!("register{slot}{init}")
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
                let last: Vec<String> = last.iter().map(|place| self.place(*var, place)).collect();
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

/// A constant, unless it is too long to be read.
fn immediate(value: &Value) -> String {
    if value.n_elements() <= 4 {
        return value.to_string();
    }
    let mut elements = value.elements();
    let first = elements.next().unwrap_or(Value::Num(0.0));
    if elements.all(|element| element == first) {
        return format!("{first} everywhere");
    }
    format!("a constant {}", value.ty())
}

fn zone(zone: Zone, several: bool) -> String {
    match zone {
        Zone::First => "F".to_string(),
        Zone::Inner => "I".to_string(),
        Zone::Last(number) if several => format!("L{number}"),
        Zone::Last(_) => "L".to_string(),
        Zone::Only(number) if several => format!("O{number}"),
        Zone::Only(_) => "O".to_string(),
    }
}
