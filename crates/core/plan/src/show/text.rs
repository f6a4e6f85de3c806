//! A plan as text: what runs when, and what is stored.

use std::fmt::Write;

use super::checkpoint::{of_step, refusal};
use super::derived_end::closes;
use super::kind::{condition, kind};
use super::names::Names;
use crate::plan::{
    Body, Buffer, BufferRole, Cut, Instruction, Lagged, OpenEntry, Plan, Region, RootPlan, Schedule, Step,
    Unit, Windows, Zone, ZoneEnd,
};
use eddy_flow::Flow;

/// The plan of a node: its kind, then everything else, indented. `max_window` adds a bound on the memory in
/// bytes.
pub fn report(name: &str, flow: &Flow, plan: &Plan, max_window: Option<usize>) -> String {
    let mut text = format!("{name}: {}\n", kind(flow, plan));
    let writer = Writer { names: Names::new(flow), max_window };
    for root in &plan.roots {
        writer.root(root, &mut text);
    }
    text
}

struct Writer<'a> {
    names: Names<'a>,
    max_window: Option<usize>,
}

fn line(text: &mut String, depth: usize, line: &str) {
    writeln!(text, "{:width$}{line}", "", width = 2 * depth).expect("writing to a string succeeds");
}

impl Writer<'_> {
    fn root(&self, root: &RootPlan, text: &mut String) {
        match &root.schedule {
            Schedule::Forward(lagged) => {
                self.lagged(lagged, 1, text);
                line(text, 1, &format!("memory: {} B", root.memory.fixed()));
            }
            Schedule::Windows(windows) => {
                self.windows(windows, text);
                line(text, 1, &self.memory(root));
            }
            Schedule::EventDriven(_) => {}
        }
        for rejected in &root.rejected {
            let (guard, reason) = self.names.rejected(rejected);
            line(text, 1, &format!("no window {guard}: {reason}"));
        }
    }

    /// The bound of section 7: a fixed number of bytes, and more for each cycle of a window.
    fn memory(&self, root: &RootPlan) -> String {
        let (fixed, each) = (root.memory.fixed(), root.memory.per_cycle());
        let chunks = match root.memory.chunks {
            0 => String::new(),
            bytes => format!(" + {bytes} B for each of √W cycles"),
        };
        let bound = format!("memory: {fixed} B + {each} B for each cycle of the window{chunks}");
        match self.max_window {
            None => bound,
            Some(cycles) => {
                let bytes = root.memory.bound(cycles as u64);
                format!("{bound}, at most {bytes} B for {cycles} cycles")
            }
        }
    }

    fn lagged(&self, lagged: &Lagged, depth: usize, text: &mut String) {
        let instructions: Vec<&Instruction> = lagged.body.iter().map(|late| &late.instruction).collect();
        for (at, instruction) in self.names.lines(&instructions) {
            let lag =
                if lagged.max_lag > 0 { format!("lag {}  ", lagged.body[at].lag) } else { String::new() };
            line(text, depth, &format!("{lag}{instruction}"));
        }
        if !lagged.registers.is_empty() {
            let registers = self.names.list(lagged.registers.iter().map(|register| register.fby));
            line(text, depth, &format!("registers: {registers}"));
        }
        for ring in &lagged.rings {
            line(
                text,
                depth,
                &format!("ring: the last {} values of {}", ring.slots, self.names.name(ring.var)),
            );
        }
    }

    fn windows(&self, windows: &Windows, text: &mut String) {
        if let Cut::Derived(derived_end) = &windows.cut {
            line(text, 1, &format!("a window ends where {}", closes(&self.names, derived_end)));
        }
        if !windows.prelude.body.is_empty() {
            line(text, 1, "before the window");
            self.lagged(&windows.prelude, 2, text);
        }
        for version in &windows.versions {
            let depth = match version.assumes {
                None => 1,
                Some((var, truth)) => {
                    line(text, 1, &format!("where {} is {truth} at all cycles", self.names.name(var)));
                    2
                }
            };
            self.region(&version.region, depth, text);
        }
        for why in &windows.no_checkpoints {
            line(text, 1, &format!("no checkpoints: {}", refusal(&self.names, *why)));
        }
        self.buffers(windows, text);
        if !windows.scalars.is_empty() {
            let scalar = |scalar: &crate::plan::Scalar| {
                format!("{}@{}", self.names.name(scalar.var), zone(scalar.zone, false))
            };
            let scalars: Vec<String> = windows.scalars.iter().map(scalar).collect();
            line(text, 1, &format!("scalars: {}", scalars.join(", ")));
        }
        if !windows.carried.is_empty() {
            let carried = self.names.list(windows.carried.iter().map(|carried| carried.shift));
            line(text, 1, &format!("carried: {carried}"));
        }
    }

    /// The numbers per cycle that are stored.
    fn buffers(&self, windows: &Windows, text: &mut String) {
        let list = |is_asked: &dyn Fn(&Buffer) -> bool| {
            let buffers = windows.buffers.iter().filter(|buffer| is_asked(buffer));
            let names = |buffer: &Buffer| {
                buffer.vars.iter().map(|var| self.names.sized(*var)).collect::<Vec<_>>().join(" then ")
            };
            buffers.map(names).collect::<Vec<_>>().join(", ")
        };
        let chunked = list(&|buffer: &Buffer| buffer.is_chunked);
        if !chunked.is_empty() {
            line(text, 1, &format!("kept for √W cycles: {chunked}"));
        }
        let is_between = |buffer: &Buffer| {
            buffer.is_between_steps && buffer.role != BufferRole::Arrival && !buffer.is_chunked
        };
        let between = windows.buffers.iter().filter(|buffer| is_between(buffer));
        let n: usize = between.map(|buffer| self.names.n_numbers(buffer.vars[0])).sum();
        if n > 0 {
            line(text, 1, &format!("between steps: {n} per cycle in {}", list(&is_between)));
        }
        if windows.n_between_before > n {
            line(text, 1, &format!("between steps without recomputation: {}", windows.n_between_before));
        }
        for (role, what) in [(BufferRole::Arrival, "inputs kept"), (BufferRole::Output, "outputs kept")] {
            let list = list(&|buffer: &Buffer| buffer.role == role);
            if !list.is_empty() {
                line(text, 1, &format!("{what}: {list}"));
            }
        }
    }

    fn region(&self, region: &Region, depth: usize, text: &mut String) {
        for (number, step) in region.steps.iter().enumerate() {
            let number = number + 1;
            match step {
                Step::Sweep(sweep) => {
                    let direction = format!("{:?}", sweep.direction).to_lowercase();
                    let what = if sweep.is_straight { "straight line" } else { "loop" };
                    let again = of_step(&self.names, region, number - 1);
                    line(text, depth, &format!("{number}. {direction} {what}{again}"));
                    self.bodies(region, &sweep.bodies, depth + 1, text);
                }
                Step::Unit(Unit::Retimed(retimed)) => {
                    line(text, depth, &format!("{number}. loop over the window"));
                    self.lagged(&retimed.lagged, depth + 1, text);
                }
                Step::Unit(Unit::Nested(inner)) => {
                    let (guard, polarity) = inner.guard.expect("nested windows have a guard");
                    let order = format!("{:?}", inner.order).to_lowercase();
                    let guard = condition(&self.names.labels, guard, polarity);
                    line(text, depth, &format!("{number}. windows {guard} inside, {order}"));
                    self.region(inner, depth + 1, text);
                }
            }
        }
        if region.single.iter().any(|body| !body.code.is_empty()) {
            line(text, depth, "a window of one cycle");
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
            let (var, entry) = (self.names.name(held.var), self.names.name(held.entry.0));
            line(text, depth, &format!("held: {var} is {entry}@{end}{open}"));
        }
    }

    fn bodies(&self, region: &Region, bodies: &[Body], depth: usize, text: &mut String) {
        let several = !region.alternatives.is_empty();
        for (of, body) in region.zones.iter().zip(bodies) {
            let instructions: Vec<&Instruction> = body.code.iter().collect();
            for (index, instruction) in self.names.lines(&instructions) {
                let label = if index == 0 { zone(*of, several) } else { String::new() };
                line(text, depth, &format!("{label:<3}{instruction}"));
            }
        }
    }
}

/// The letter of a zone; alternatives are numbered if there are several.
pub fn zone(zone: Zone, several: bool) -> String {
    match zone {
        Zone::First => "F".to_string(),
        Zone::Inner => "I".to_string(),
        Zone::Last(number) if several => format!("L{number}"),
        Zone::Last(_) => "L".to_string(),
        Zone::Only(number) if several => format!("O{number}"),
        Zone::Only(_) => "O".to_string(),
    }
}
