//! Writes the values carried into the next window, after everything else has run.

use eddy_imp::{Block, Expr, Place as ImpPlace, Stmt, Type};
use eddy_plan::plan::{Carried, Direction, Place, Region, SlotId, SlotSource, Windows, Zone, ZoneId};

use super::super::Emitter;
use super::super::assign::{Write, copy, write_at_once};
use super::super::iteration::t;
use super::{Context, n, slot_place};

/// A place to look for a value.
struct Look<'p> {
    place: &'p Place,
    /// The condition under which the window has such a cycle.
    exists: Option<Expr>,
    /// The cycle; `None` for all inner cycles.
    at: Option<Expr>,
}

impl<'a> Emitter<'a> {
    /// Writes all slots of a window that ends with this zone; `None` for an open window.
    pub(super) fn carry(
        &mut self,
        windows: &'a Windows,
        region: &'a Region,
        last: Option<Zone>,
        block: &mut Block,
    ) {
        let mut writes = Vec::new();
        for (slot, source) in &region.slots {
            let carried = windows.carried[slot.index()];
            let is_sampled = self.is_sampled(carried.next);
            let looks = looks(region, source, last, is_sampled);
            if is_sampled || looks.len() > 1 {
                self.carry_last_there(region, (*slot, carried), &looks, block);
            } else if let [look] = looks.as_slice() {
                let at = look.at.clone().unwrap_or_else(|| n() - 1);
                writes.push(self.slot_write(region, (*slot, carried), look.place, at));
            }
        }
        write_at_once(writes, block);
    }

    fn slot_write(
        &mut self,
        region: &Region,
        (slot, carried): (SlotId, Carried),
        place: &Place,
        at: Expr,
    ) -> Write {
        let mut context = Context::nowhere();
        let view = self.place(&mut context, carried.next, place, at);
        let (to, ty) = (slot_place(slot), self.ty(carried.shift).clone());
        let flag = self.flag_of_slot(region, slot, carried);
        Write { to, view, ty, conditions: Vec::new(), flag }
    }

    /// The flag that says that a slot was written, if it needs one. Also records for hosts where the value
    /// is.
    fn flag_of_slot(&mut self, region: &Region, slot: SlotId, carried: Carried) -> Option<ImpPlace> {
        if region.order == Direction::Backward {
            return Some(self.backward_flag(slot));
        }
        let flag = self.written_flag(carried.shift);
        if !self.delay_states.iter().any(|memory| memory.fby == carried.shift) {
            self.remember(carried.shift, &slot_place(slot), flag.as_ref(), None);
        }
        flag
    }

    /// Writes a slot with the first present cell; leaves it unchanged if there is none.
    fn carry_last_there(
        &mut self,
        region: &Region,
        (slot, carried): (SlotId, Carried),
        looks: &[Look<'_>],
        block: &mut Block,
    ) {
        if looks.is_empty() {
            return;
        }
        let mut inside = Block::new();
        inside.variable("is_found", Type::Bool, false);
        let is_not_found = || !Expr::var("is_found");
        for look in looks {
            let is_list = look.at.is_none() && matches!(look.place, Place::Buffer(_));
            let at = if is_list { t() } else { look.at.clone().unwrap_or(0.into()) };
            let write = self.slot_write(region, (slot, carried), look.place, at.clone());
            let mut conditions = vec![is_not_found()];
            conditions.extend(look.exists.clone().filter(|_| !is_list));
            conditions.extend(self.kept_presence(carried.next, look.place, at));
            let put = |block: &mut Block| {
                block.when(Expr::all(conditions), |block| {
                    copy(&write.view, &write.to, &write.ty, block);
                    if let Some(flag) = &write.flag {
                        block.store(flag, true);
                    }
                    block.assign("is_found", true);
                });
            };
            if is_list {
                let end = if self.frame.is_open { n() } else { n() - 1 };
                let (first, goes_on, step) = match region.order {
                    Direction::Forward => (end - 1, t().gt(0), -1),
                    Direction::Backward => (1.into(), t().lt(end), 1),
                };
                inside.repeat("t", Type::Cycle, first, goes_on.and_then(is_not_found()), step, put);
            } else {
                put(&mut inside);
            }
        }
        block.push(Stmt::Scope(inside));
    }
}

/// The places of a window with these zones, in the order of the search.
fn looks<'p>(region: &Region, source: &'p SlotSource, last: Option<Zone>, is_sampled: bool) -> Vec<Look<'p>> {
    let is_open = last.is_none();
    let look = |(zone, place): &'p (ZoneId, Place)| match region.zones[zone.index()] {
        zone @ (Zone::Last(_) | Zone::Only(_)) => {
            (Some(zone) == last).then_some(Look { place, exists: None, at: Some(n() - 1) })
        }
        _ if matches!(last, Some(Zone::Only(_))) => None,
        Zone::First => Some(Look { place, exists: None, at: Some(0.into()) }),
        Zone::Inner => {
            let exists = Some(n().gt(if is_open { 1 } else { 2 }));
            Some(Look { place, exists, at: None })
        }
    };
    let mut looks: Vec<Look<'p>> = source.places.iter().filter_map(look).collect();
    // The search ends at a cell that is always present.
    let is_there = |look: &Look<'_>| {
        look.exists.is_none() && !is_sampled && !matches!(look.place, Place::Absent | Place::Nowhere)
    };
    if let Some(position) = looks.iter().position(is_there) {
        looks.truncate(position + 1);
    }
    looks
}
