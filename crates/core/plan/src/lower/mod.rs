//! Translates steps to code: decides where each cell is stored, and writes instructions with the places of
//! their operands.
//!
//! * [`storage`]: registers, buffers, scalars, slots; [`recompute`]: drops buffers that are not worthwhile,
//!   by a minimum [`cut`].
//! * [`region`]: the steps of a region as instructions.
//! * [`checkpoint`]: loops that run again, to need less memory.
//! * [`late`]: loops with lags.

mod checkpoint;
mod cut;
mod late;
mod recompute;
mod region;
mod storage;

use eddy_flow::VarId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Recompute;
use crate::cells::Cell;
use crate::plan::{Arrival, BufferRole, Cut, Lagged, MemoryUse, Version, Windows};
use crate::region::Draft;
use crate::system::System;
use crate::zones::{FIRST, INNER};
pub use late::{Site, bytes as late_bytes, lagged, width};
use region::{Coder, emission_reads};
use storage::{After, Homes, Spot, Storage, assign, carried_reads, share};

/// Optional optimisations.
#[derive(Clone, Copy, Debug)]
pub struct Optimisations {
    /// Which buffers to drop, because they are cheap to recompute.
    pub recompute: Recompute,
    /// Whether loops run again instead of storing their results.
    pub checkpoints: bool,
}

/// Code for windows: one version, or one for each assumed value of a condition.
pub fn windows(
    system: &System<'_>,
    cut: Cut,
    prelude: Lagged,
    versions: &[(Option<(VarId, bool)>, Draft)],
    outputs: &[VarId],
    optimisations: Optimisations,
) -> (Windows, MemoryUse) {
    let mut memory = Storage::default();
    let arrivals = arrivals(system, &prelude, versions, outputs, &mut memory);
    let places: FxHashMap<VarId, Arrival> =
        arrivals.iter().map(|arrival| (arrival.var, arrival.clone())).collect();
    let mut code = Vec::new();
    let (mut before, mut no_checkpoints) = (Vec::new(), Vec::new());
    for (assumes, draft) in versions {
        let cells = draft.cells(system);
        let read_after: Vec<Cell> =
            carried_reads(&cells, draft).into_iter().chain(emission_reads(&cells, draft, outputs)).collect();
        let after =
            After { outputs, are_shown: true, cells: &read_after, recompute: optimisations.recompute };
        let mut homes = assign(&cells, draft, &after, &mut memory, Homes::default());
        for shift in carried_shifts(draft) {
            memory.slot(system, shift);
        }
        before.push(std::mem::take(&mut homes.before));
        let coded = |homes: &Homes, memory: &Storage| {
            let coder = Coder::new(system, draft, homes, memory, &places, None);
            (coder.region(), coder.emit(outputs))
        };
        // A buffer for one chunk at a time is not shared.
        let mut chunked: FxHashSet<VarId> = FxHashSet::default();
        if optimisations.checkpoints {
            let (region, emit) = coded(&homes, &memory);
            let (pairs, _) = checkpoint::pairs(&region, &emit, &memory.buffers);
            chunked = pairs.iter().flat_map(checkpoint::Pair::streams).collect();
        }
        share(draft, system, &read_after, &chunked, &mut homes, &mut memory);
        let (mut region, emit) = coded(&homes, &memory);
        if optimisations.checkpoints {
            let (pairs, refused) = checkpoint::pairs(&region, &emit, &memory.buffers);
            checkpoint::split(&mut region, pairs, &mut memory.buffers);
            no_checkpoints.extend(refused);
        }
        code.push(Version { assumes: *assumes, region, emit });
    }
    let Storage { buffers, scalars, slots, .. } = memory;
    let n_numbers = |var: &VarId| system.flow.var(*var).ty.shape.iter().product::<usize>();
    let n_between_before = before.iter().map(|vars| vars.iter().map(n_numbers).sum()).max().unwrap_or(0);
    let windows = Windows {
        cut,
        prelude,
        arrivals,
        versions: code,
        carried: slots,
        buffers,
        scalars,
        n_between_before,
        no_checkpoints,
    };
    let bytes = bytes(system, &windows);
    (windows, bytes)
}

/// The delays of a region, including its units, that read across windows.
fn carried_shifts(draft: &Draft) -> Vec<VarId> {
    let mut shifts = draft.liveness.carried.clone();
    for unit in &draft.units {
        match unit.nested() {
            Some(inner) => shifts.extend(carried_shifts(inner)),
            // Each `fby` of a loop over the window reads back at its first activation.
            None => shifts
                .extend(draft.liveness.carried.iter().filter(|shift| unit.vars.binary_search(shift).is_ok())),
        }
    }
    shifts
}

/// Inputs and results of the prelude that windows read, and where they are stored.
fn arrivals(
    system: &System<'_>,
    prelude: &Lagged,
    versions: &[(Option<(VarId, bool)>, Draft)],
    outputs: &[VarId],
    memory: &mut Storage,
) -> Vec<Arrival> {
    let mut zones: FxHashMap<VarId, Vec<Spot>> = FxHashMap::default();
    for (_, draft) in versions {
        for (var, zone) in &draft.liveness.outside {
            zones.entry(*var).or_default().push(Spot::of(draft.zones.list[*zone]));
        }
        for var in draft.units.iter().flat_map(|unit| &unit.reads) {
            if !draft.task.is_inside[var.index()] {
                zones.entry(*var).or_default().push(Spot::Inner);
            }
        }
        let shown =
            outputs.iter().filter(|var| system.is_stream(**var) && !draft.task.is_inside[var.index()]);
        for var in shown {
            zones.entry(*var).or_default().push(Spot::Inner);
        }
    }
    let mut vars: Vec<VarId> = zones.keys().copied().collect();
    vars.sort_unstable();
    let arrival = |var: VarId| {
        let spots = &zones[&var];
        // If the prelude has lags, several cycles are in flight, so scalars do not suffice.
        if spots.contains(&Spot::Inner) || prelude.max_lag > 0 {
            let buffer = Some(memory.buffer(var, BufferRole::Arrival));
            return Arrival { var, buffer, first: None, last: None };
        }
        let first = spots.contains(&Spot::First).then(|| memory.scalar(var, Spot::First));
        let is_last = spots.iter().any(|spot| matches!(spot, Spot::Last | Spot::Only));
        let last = is_last.then(|| memory.scalar(var, Spot::Last));
        Arrival { var, buffer: None, first, last }
    };
    vars.into_iter().map(arrival).collect()
}

fn bytes(system: &System<'_>, windows: &Windows) -> MemoryUse {
    let of = |var: VarId| width(system, var);
    let role = |asked: BufferRole| -> u64 {
        let buffers = windows.buffers.iter().filter(|buffer| buffer.role == asked && !buffer.is_chunked);
        buffers.map(|buffer| of(buffer.vars[0])).sum()
    };
    let rings: u64 = late::bytes(system, &windows.prelude);
    let chunked = windows.buffers.iter().filter(|buffer| buffer.is_chunked);
    let checkpoints = windows.versions.iter().flat_map(|version| &version.region.checkpoints);
    let saved = checkpoints.flat_map(|checkpoint| {
        let trackers = checkpoint.again.trackers.iter().map(|tracker| tracker.shift);
        trackers.chain(checkpoint.registers.iter().copied())
    });
    MemoryUse {
        carried: windows.carried.iter().map(|slot| of(slot.next)).sum(),
        scalars: windows.scalars.iter().map(|scalar| of(scalar.var)).sum(),
        rings,
        buffers: role(BufferRole::Sweeps),
        inputs: role(BufferRole::Arrival),
        outputs: role(BufferRole::Output),
        chunks: chunked.map(|buffer| of(buffer.vars[0])).chain(saved.map(of)).sum(),
    }
}

/// The place of an operand from outside, for a reader in this zone.
fn arrival_place(arrival: &Arrival, zone: usize) -> crate::plan::Place {
    use crate::plan::Place;
    match (arrival.buffer, zone) {
        (Some(buffer), _) => Place::Buffer(buffer),
        (None, FIRST) => arrival.first.map_or(Place::Nowhere, Place::Scalar),
        (None, INNER) => Place::Nowhere,
        (None, _) => arrival.last.map_or(Place::Nowhere, Place::Scalar),
    }
}
