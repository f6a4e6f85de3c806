//! The outputs of a window, when all sweeps have run.

use eddy_flow::Polarity;
use eddy_plan::plan::{Condition, Place, Read, Region, Right as Planned, Version, Zone};

use super::super::Emitter;
use super::super::assign::copy;
use super::{Context, alternatives, last_zones};
use crate::lines::Lines;
use crate::lower::Operand;
use crate::view::Root;

impl<'a> Emitter<'a> {
    /// Fills the outputs of all cycles, in order.
    pub(super) fn emissions(&mut self, region: &'a Region, version: &'a Version, lines: &mut Lines) {
        let zone = |emitter: &mut Self, zone: Zone| {
            let mut lines = Lines::default();
            emitter.emission(region, version, zone, &mut lines);
            lines
        };
        let (first, inner) = (zone(self, Zone::First), zone(self, Zone::Inner));
        let is_open = self.frame.is_open;
        let lasts = if is_open { Vec::new() } else { last_zones(region) };
        let lasts: Vec<Lines> = lasts.into_iter().map(|last| zone(self, last)).collect();
        lines.block("for (int64_t t = 0; t < n; t++)", |lines| {
            lines.block("if (t == 0)", |lines| lines.append(&first));
            if is_open {
                return lines.block("else", |lines| lines.append(&inner));
            }
            lines.block("else if (t < n - 1)", |lines| lines.append(&inner));
            lines.block("else", |lines| alternatives(&lasts, lines));
        });
    }

    /// The outputs of a cycle in a zone.
    pub(super) fn emission(
        &mut self,
        region: &'a Region,
        version: &'a Version,
        zone: Zone,
        lines: &mut Lines,
    ) {
        let Some(id) = region.zone_id(zone) else { return };
        let body = &version.emit[id.0];
        let mut context = Context::nowhere();
        let mut copies = Lines::default();
        for (output, port) in self.source.flow.outputs.clone().iter().zip(self.outputs.clone()) {
            let Some(instruction) = body.code.iter().find(|instruction| instruction.var == *output) else {
                continue;
            };
            let Planned::Copy(read) = &instruction.right else { unreachable!("outputs are copied") };
            let mut conditions = self.conditions_of(&mut context, &instruction.clock);
            let is_absent = matches!(read, Read::Here(_, Place::Absent));
            if let Read::Here(var, place) = read {
                conditions.extend(self.kept_presence(*var, place, "t"));
            }
            if port.has_flag {
                let is_there = if is_absent {
                    "false".to_string()
                } else if conditions.is_empty() {
                    "true".to_string()
                } else {
                    conditions.join(" && ")
                };
                copies.line(format!("out[t].{}_present = {is_there};", port.field));
            }
            if is_absent {
                continue;
            }
            let Operand::Seen(view) = self.read(&mut context, read) else {
                unreachable!("nothing is computed here")
            };
            let (to, ty) = (format!("out[t].{}", port.field), self.ty(*output).clone());
            copies.guarded(&conditions, |lines| copy(&view, &to, &ty, lines));
        }
        lines.append(&context.declare_pointers(copies));
    }

    pub(super) fn conditions_of(&mut self, context: &mut Context, clock: &[Condition]) -> Vec<String> {
        let mut conditions = Vec::new();
        for condition in clock {
            let Operand::Seen(view) = self.read(context, &condition.read) else {
                unreachable!("it has a place")
            };
            let Root::One(text) = &view.root else { unreachable!("a condition is a scalar") };
            conditions.push(if condition.polarity == Polarity::On {
                text.clone()
            } else {
                format!("!{text}")
            });
        }
        conditions
    }
}
