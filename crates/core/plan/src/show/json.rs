//! A plan as JSON, for scripts: one object with the fields of the report.

use std::fmt::Write;

use eddy_flow::{Flow, VarId};

use super::checkpoint::{refusal, registers};
use super::derived_end::closes;
use super::kind::{condition, kind, of_root};
use super::names::Names;
use super::text::zone;
use crate::plan::{
    Body, BufferRole, Checkpoint, Cut, Instruction, Lagged, Plan, Region, RootPlan, Schedule, Step, Unit,
    Version, Windows, ZoneEnd,
};

/// The plan of a node as one line of JSON.
pub fn json(name: &str, flow: &Flow, plan: &Plan, max_window: Option<usize>) -> String {
    let writer = Writer { names: Names::new(flow), max_window };
    let roots = list(plan.roots.iter().map(|root| writer.root(root)));
    let fields = [("node", text(name)), ("kind", text(&kind(flow, plan))), ("roots", roots)];
    object(&fields) + "\n"
}

struct Writer<'a> {
    names: Names<'a>,
    max_window: Option<usize>,
}

fn text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c if u32::from(c) < 0x20 => {
                write!(quoted, "\\u{:04x}", u32::from(c)).expect("writing to a string succeeds");
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{}:{value}", text(name))).collect();
    format!("{{{}}}", fields.join(","))
}

impl Writer<'_> {
    fn name(&self, var: VarId) -> String {
        text(self.names.name(var))
    }

    fn code(&self, body: &Body) -> String {
        let instructions: Vec<&Instruction> = body.code.iter().collect();
        list(self.names.lines(&instructions).into_iter().map(|(_, line)| text(&line)))
    }

    fn root(&self, root: &RootPlan) -> String {
        let mut fields = vec![("kind", text(&of_root(&self.names.labels, root)))];
        match &root.schedule {
            Schedule::Forward(lagged) => fields.extend(self.lagged(lagged)),
            Schedule::Windows(windows) => fields.extend(self.windows(windows)),
            Schedule::EventDriven(no_plan) => {
                fields.push((
                    "cycle",
                    list(no_plan.cycle.iter().map(|var| text(&self.names.labels.label(*var)))),
                ));
            }
        }
        let memory = &root.memory;
        let bound =
            self.max_window.map_or("null".to_string(), |cycles| memory.bound(cycles as u64).to_string());
        let memory = [
            ("fixed", memory.fixed().to_string()),
            ("per_cycle", memory.per_cycle().to_string()),
            ("per_cycle_of_a_chunk", memory.chunks.to_string()),
            ("at_most", bound),
        ];
        fields.push(("memory", object(&memory)));
        let rejected = root.rejected.iter().map(|rejected| {
            let (guard, reason) = self.names.rejected(rejected);
            object(&[("guard", text(&guard)), ("reason", text(&reason))])
        });
        fields.push(("rejected", list(rejected)));
        object(&fields)
    }

    fn lagged(&self, lagged: &Lagged) -> Vec<(&'static str, String)> {
        let instructions: Vec<&Instruction> = lagged.body.iter().map(|late| &late.instruction).collect();
        let body =
            self.names.lines(&instructions).into_iter().map(|(at, line)| {
                object(&[("lag", lagged.body[at].lag.to_string()), ("equation", text(&line))])
            });
        let rings = lagged
            .rings
            .iter()
            .map(|ring| object(&[("stream", self.name(ring.var)), ("values", ring.slots.to_string())]));
        vec![
            ("look_ahead", lagged.look_ahead.to_string()),
            ("body", list(body)),
            ("registers", list(lagged.registers.iter().map(|register| self.name(register.fby)))),
            ("rings", list(rings)),
        ]
    }

    fn windows(&self, windows: &Windows) -> Vec<(&'static str, String)> {
        let of_role = |role: BufferRole| {
            let buffers =
                windows.buffers.iter().filter(move |buffer| buffer.role == role && !buffer.is_chunked);
            list(buffers.map(|buffer| list(buffer.vars.iter().map(|var| self.name(*var)))))
        };
        let scalars = windows.scalars.iter().map(|scalar| {
            object(&[("stream", self.name(scalar.var)), ("zone", text(&zone(scalar.zone, false)))])
        });
        let ends = match &windows.cut {
            Cut::Guard(guard, polarity) => text(&condition(&self.names.labels, *guard, *polarity)),
            Cut::Derived(derived_end) => text(&closes(&self.names, derived_end)),
            Cut::Trace => "null".to_string(),
        };
        vec![
            ("ends_where", ends),
            ("prelude", object(&self.lagged(&windows.prelude))),
            ("versions", list(windows.versions.iter().map(|version| self.version(version)))),
            ("buffers", of_role(BufferRole::Sweeps)),
            ("inputs", of_role(BufferRole::Arrival)),
            ("outputs", of_role(BufferRole::Output)),
            (
                "no_checkpoints",
                list(windows.no_checkpoints.iter().map(|why| text(&refusal(&self.names, *why)))),
            ),
            ("numbers_between_steps_without_recomputation", windows.n_between_before.to_string()),
            ("scalars", list(scalars)),
            ("carried", list(windows.carried.iter().map(|carried| self.name(carried.shift)))),
        ]
    }

    fn version(&self, version: &Version) -> String {
        let assumes = version.assumes.map_or("null".to_string(), |(var, truth)| {
            object(&[("condition", self.name(var)), ("value", truth.to_string())])
        });
        object(&[
            ("assumes", assumes),
            ("steps", self.steps(&version.region)),
            ("checkpoints", self.checkpoints(&version.region)),
            ("held", self.held(&version.region)),
        ])
    }

    fn checkpoints(&self, region: &Region) -> String {
        let checkpoint = |checkpoint: &Checkpoint| {
            let code = checkpoint.again.bodies.iter().flat_map(|body| &body.code);
            let is_kept = |instruction: &&Instruction| !instruction.store.is_empty();
            let mut kept: Vec<VarId> = code.filter(is_kept).map(|instruction| instruction.var).collect();
            kept.sort_unstable();
            kept.dedup();
            object(&[
                ("step", checkpoint.writer.to_string()),
                ("runs_again_in", checkpoint.reader.to_string()),
                ("put_aside", list(registers(checkpoint).map(|var| self.name(var)))),
                ("kept", list(kept.into_iter().map(|var| self.name(var)))),
            ])
        };
        list(region.checkpoints.iter().map(checkpoint))
    }

    fn held(&self, region: &Region) -> String {
        let held = region.held.iter().map(|held| {
            let end = if held.entry.1 == ZoneEnd::First { "F" } else { "L" };
            object(&[("stream", self.name(held.var)), ("is", self.name(held.entry.0)), ("zone", text(end))])
        });
        list(held)
    }

    fn steps(&self, region: &Region) -> String {
        let several = !region.alternatives.is_empty();
        let bodies = |bodies: &[Body]| {
            let zones = region.zones.iter().zip(bodies).filter(|(_, body)| !body.code.is_empty());
            let fields: Vec<(String, String)> =
                zones.map(|(of, body)| (zone(*of, several), self.code(body))).collect();
            let fields: Vec<(&str, String)> =
                fields.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
            object(&fields)
        };
        let step = |step: &Step| match step {
            Step::Sweep(sweep) => object(&[
                ("step", text(if sweep.is_straight { "straight line" } else { "loop" })),
                ("direction", text(&format!("{:?}", sweep.direction).to_lowercase())),
                ("zones", bodies(&sweep.bodies)),
            ]),
            Step::Unit(Unit::Retimed(retimed)) => {
                let mut fields = vec![("step", text("loop over the window"))];
                fields.extend(self.lagged(&retimed.lagged));
                object(&fields)
            }
            Step::Unit(Unit::Nested(inner)) => {
                let (guard, polarity) = inner.guard.expect("nested windows have a guard");
                object(&[
                    ("step", text("windows inside")),
                    ("guard", text(&condition(&self.names.labels, guard, polarity))),
                    ("direction", text(&format!("{:?}", inner.order).to_lowercase())),
                    ("steps", self.steps(inner)),
                    ("held", self.held(inner)),
                ])
            }
        };
        list(region.steps.iter().map(step))
    }
}
