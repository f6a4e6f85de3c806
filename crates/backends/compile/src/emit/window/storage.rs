//! The memory of windows: buffers, scalars, slots; and the values of delays that are known at the start of
//! windows.

use eddy_flow::{Kind, VarId};
use eddy_plan::plan::{
    BufferId, Immediate, Instruction, Place, Read, Region, Right, Scalar, SlotId, Step, Unit, Windows, Zone,
    ZoneId,
};
use rustc_hash::FxHashMap;

use super::super::{DelayState, DelayStatePlace, Emitter};
use crate::layout::value_field;
use crate::precision::element_type;

impl<'a> Emitter<'a> {
    /// Adds fields of the state for all storage of the plan.
    pub(super) fn memory_of_windows(&mut self, windows: &'a Windows, max_window: usize) {
        self.flag_slots(windows);
        for (number, buffer) in windows.buffers.iter().enumerate() {
            let ty = self.ty(buffer.vars[0]);
            let size = buffer
                .vars
                .iter()
                .map(|var| self.ty(*var).shape.iter().product::<usize>())
                .max()
                .unwrap_or(1);
            if buffer.is_chunked {
                self.chunked.insert(number);
            }
            let entries = if buffer.is_chunked { self.chunk_entries() } else { max_window };
            let mut dimensions = vec![entries];
            if buffer.vars.iter().any(|var| !self.ty(*var).shape.is_scalar()) {
                dimensions.push(size);
            }
            let names: Vec<String> = buffer.vars.iter().map(|var| self.label(*var)).collect();
            let name = self.buffer_name(BufferId::new(number));
            self.state.field(name, element_type(ty.scalar), dimensions, names.join("; "), self.precision);
            if buffer.vars.iter().any(|var| self.is_sampled(*var)) {
                self.flags(self.flags_name(BufferId::new(number)), vec![entries]);
            }
        }
        for (number, Scalar { var, .. }) in windows.scalars.iter().enumerate() {
            let (ty, comment) = (self.ty(*var), self.label(*var));
            value_field(&mut self.state, format!("u{number}"), ty, comment, self.precision);
            if self.is_sampled(*var) {
                self.flags(format!("uf{number}"), Vec::new());
            }
        }
        for (number, carried) in windows.carried.iter().enumerate() {
            let (ty, comment) = (self.ty(carried.shift), self.label(carried.shift));
            value_field(&mut self.state, format!("p{number}"), ty, comment, self.precision);
        }
    }

    /// A slot starts with its initial value if that depends neither on time nor on the zone of the first
    /// cycle. Other slots have a flag.
    fn flag_slots(&mut self, windows: &'a Windows) {
        let mut inits: FxHashMap<SlotId, Vec<(VarId, &'a Read)>> = FxHashMap::default();
        for version in &windows.versions {
            initial_values(&version.region, &mut inits);
        }
        let mut inits: Vec<_> = inits.into_iter().collect();
        inits.sort_unstable_by_key(|(slot, _)| *slot);
        for (slot, reads) in inits {
            let (shift, first) = reads[0];
            let is_same = |(_, read): &(VarId, &Read)| matches!((read, first), (Read::Here(_, Place::Immediate(one)), Read::Here(_, Place::Immediate(other))) if one == other);
            if !reads.iter().all(is_same) {
                self.flagged.insert(slot);
                let flag = self.state_flag("f", shift);
                self.reset_state.store(&flag, false);
            }
        }
    }

    /// Delays whose value is known at the start of a window.
    pub(super) fn known_delay_states(&mut self, region: &'a Region) {
        let starts = |zone: ZoneId| matches!(region.zones[zone.index()], Zone::First | Zone::Only(_));
        let n_starts = (0..region.zones.len()).filter(|zone| starts(ZoneId::new(*zone))).count();
        let mut fbys: FxHashMap<VarId, Vec<&'a Immediate>> = FxHashMap::default();
        for claim in region.claims.iter().filter(|claim| starts(claim.zone)) {
            fbys.entry(claim.var).or_default().push(&claim.value);
        }
        for equation in &self.source.flow.equations {
            let values = fbys.get(&equation.out).map_or(&[][..], Vec::as_slice);
            if let (Kind::Fby { .. }, [value, rest @ ..]) = (&equation.kind, values)
                && values.len() == n_starts
                && rest.iter().all(|other| other == value)
            {
                let place = match value {
                    Immediate::Value(value) => DelayStatePlace::Known(value.clone()),
                    Immediate::Invariant(var) => {
                        DelayStatePlace::Invariant(format!("k_{}", self.names.of(*var)))
                    }
                };
                let fby = equation.out;
                let ty = self.ty(fby).clone();
                self.delay_states.push(DelayState { fby, ty, place, lag: None });
            }
        }
    }
}

/// The initial values of slots, in all zones.
fn initial_values<'p>(region: &'p Region, found: &mut FxHashMap<SlotId, Vec<(VarId, &'p Read)>>) {
    let mut add = |instruction: &'p Instruction| {
        if let Right::Carried { slot: Some(slot), init, .. }
        | Right::Register { slot: Some(slot), init }
        | Right::Previous { slot: Some(slot), init, .. } = &instruction.right
        {
            found.entry(*slot).or_default().push((instruction.var, init));
        }
    };
    region.single.iter().flat_map(|body| &body.code).for_each(&mut add);
    for step in &region.steps {
        match step {
            Step::Sweep(sweep) => sweep.bodies.iter().flat_map(|body| &body.code).for_each(&mut add),
            Step::Unit(Unit::Retimed(retimed)) => {
                retimed.lagged.body.iter().map(|late| &late.instruction).for_each(&mut add);
            }
            Step::Unit(Unit::Nested(_)) => {}
        }
    }
    for step in &region.steps {
        if let Step::Unit(Unit::Nested(inner)) = step {
            initial_values(inner, found);
        }
    }
}
