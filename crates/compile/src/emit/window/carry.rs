//! What is carried into the next window, when all else has run.

use eddy_plan::plan::{Carried, Direction, Place, Region, SlotId, Source, Windows, Zone, ZoneId};

use super::super::Emitter;
use super::super::assign::{Write, copy, write_at_once};
use super::Context;
use crate::lines::Lines;

/// Where a place is looked at.
struct Look<'p> {
    place: &'p Place,
    /// What must hold for the window to have such a cycle.
    exists: Option<&'static str>,
    /// The cycle; none if all inner cycles are looked at.
    at: Option<&'static str>,
}

impl<'a> Emitter<'a> {
    /// Writes all slots of a window that ends with this zone; none if it is open.
    pub(super) fn carry(
        &mut self,
        windows: &'a Windows,
        region: &'a Region,
        last: Option<Zone>,
        lines: &mut Lines,
    ) {
        let mut writes = Vec::new();
        for (slot, source) in &region.slots {
            let carried = windows.carried[slot.0];
            let is_sampled = self.is_sampled(carried.next);
            let looks = looks(region, source, last, is_sampled);
            if is_sampled || looks.len() > 1 {
                self.carry_last_there(region, (*slot, carried), &looks, lines);
            } else if let [look] = looks.as_slice() {
                let at = look.at.unwrap_or("(n - 1)");
                writes.push(self.slot_write(region, (*slot, carried), look.place, at));
            }
        }
        write_at_once(writes, self, lines);
    }

    /// One assignment.
    fn slot_write(
        &mut self,
        region: &Region,
        (slot, carried): (SlotId, Carried),
        place: &Place,
        at: &str,
    ) -> Write {
        let mut context = Context::nowhere();
        let view = self.place(&mut context, carried.next, place, at);
        let (to, ty) = (format!("self->p{}", slot.0), self.ty(carried.shift).clone());
        let flag = self.flag_of_slot(region, slot, carried);
        Write { to, view, ty, conditions: Vec::new(), flag }
    }

    /// The flag that says that a slot was written, if it needs one; and hosts are told where the value is.
    fn flag_of_slot(&mut self, region: &Region, slot: SlotId, carried: Carried) -> Option<String> {
        if region.order == Direction::Backward {
            return Some(self.backward_flag(slot));
        }
        let flag = self.written_flag(carried.shift);
        if !self.memories.iter().any(|memory| memory.fby == carried.shift) {
            self.remember(carried.shift, &format!("self->p{}", slot.0), flag.as_deref(), None);
        }
        flag
    }

    /// Writes a slot with the first cell that is there; it stays as it was if none is.
    fn carry_last_there(
        &mut self,
        region: &Region,
        (slot, carried): (SlotId, Carried),
        looks: &[Look<'_>],
        lines: &mut Lines,
    ) {
        if looks.is_empty() {
            return;
        }
        let mut inside = Lines::default();
        inside.line("bool is_found = false;");
        for look in looks {
            let is_list = look.at.is_none() && matches!(look.place, Place::Buffer(_));
            let at = if is_list { "t" } else { look.at.unwrap_or("0") };
            let write = self.slot_write(region, (slot, carried), look.place, at);
            let mut conditions = vec!["!is_found".to_string()];
            conditions.extend(look.exists.filter(|_| !is_list).map(str::to_string));
            conditions.extend(self.kept_presence(carried.next, look.place, at));
            let put = |lines: &mut Lines| {
                lines.guarded(&conditions, |lines| {
                    copy(&write.view, &write.to, &write.ty, lines);
                    if let Some(flag) = &write.flag {
                        lines.line(format!("{flag} = true;"));
                    }
                    lines.line("is_found = true;");
                });
            };
            if is_list {
                let end = if self.frame.is_open { "n" } else { "n - 1" };
                let head = match region.order {
                    Direction::Forward => format!("for (int64_t t = {end} - 1; t > 0 && !is_found; t--)"),
                    Direction::Backward => format!("for (int64_t t = 1; t < {end} && !is_found; t++)"),
                };
                inside.block(&head, put);
            } else {
                put(&mut inside);
            }
        }
        inside.line("(void)is_found;");
        lines.block("", |lines| lines.append(&inside));
    }
}

/// The places of a window with these zones, in the order in which they are looked at.
fn looks<'p>(region: &Region, source: &'p Source, last: Option<Zone>, is_sampled: bool) -> Vec<Look<'p>> {
    let is_open = last.is_none();
    let look = |(zone, place): &'p (ZoneId, Place)| match region.zones[zone.0] {
        zone @ (Zone::Last(_) | Zone::Only(_)) => {
            (Some(zone) == last).then_some(Look { place, exists: None, at: Some("(n - 1)") })
        }
        _ if matches!(last, Some(Zone::Only(_))) => None,
        Zone::First => Some(Look { place, exists: None, at: Some("0") }),
        Zone::Inner => {
            let exists = Some(if is_open { "n > 1" } else { "n > 2" });
            Some(Look { place, exists, at: None })
        }
    };
    let mut looks: Vec<Look<'p>> = source.places.iter().filter_map(look).collect();
    // A cell that is always there is the last one that is looked at.
    let is_there = |look: &Look<'_>| {
        look.exists.is_none() && !is_sampled && !matches!(look.place, Place::Absent | Place::Nowhere)
    };
    if let Some(position) = looks.iter().position(is_there) {
        looks.truncate(position + 1);
    }
    looks
}
