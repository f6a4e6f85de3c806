//! Decides which cells are stored, and where (section 7).
//!
//! * A cell that only its own sweep reads, at the same cycle or at the next one, is a register.
//! * An inner cell that another step reads is in a *window buffer*; so is every stream that a unit reads or
//!   that is an output.
//! * A cell at an end of the window that another step reads is a *scalar*, unless its stream has a buffer.
//!
//! [`recompute`](super::recompute) drops buffers, and [`share`] lets streams use the same buffer at different
//! times.

use eddy_flow::VarId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::recompute::{Repeats, repeats};
use crate::Recompute;
use crate::cells::{Cell, Cells};
use crate::graph::NodeNo;
use crate::known::Abstract;
use crate::plan::{Buffer, BufferId, BufferRole, Carried, Scalar, ScalarId, SlotId, Zone, ZoneEnd};
use crate::region::Draft;
use crate::system::{Def, System};
use crate::units::UnitRun;
use crate::zones::INNER;

/// A position in a window with one value; the alternatives of an end are the same position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spot {
    First,
    Inner,
    Last,
    Only,
}

impl Spot {
    pub fn of(zone: Zone) -> Spot {
        match zone {
            Zone::First => Spot::First,
            Zone::Inner => Spot::Inner,
            Zone::Last(_) => Spot::Last,
            Zone::Only(_) => Spot::Only,
        }
    }

    fn zone(self) -> Zone {
        match self {
            Spot::First => Zone::First,
            Spot::Inner => Zone::Inner,
            Spot::Last => Zone::Last(0),
            Spot::Only => Zone::Only(0),
        }
    }
}

/// All storage of a plan by windows.
#[derive(Default)]
pub struct Storage {
    pub buffers: Vec<Buffer>,
    pub scalars: Vec<Scalar>,
    pub slots: Vec<Carried>,
    slot_of: FxHashMap<VarId, SlotId>,
}

impl Storage {
    pub fn buffer(&mut self, var: VarId, role: BufferRole) -> BufferId {
        self.buffers.push(Buffer { vars: vec![var], role, is_between_steps: false, is_chunked: false });
        BufferId::new(self.buffers.len() - 1)
    }

    pub fn scalar(&mut self, var: VarId, spot: Spot) -> ScalarId {
        self.scalars.push(Scalar { var, zone: spot.zone() });
        ScalarId::new(self.scalars.len() - 1)
    }

    pub fn slot(&mut self, system: &System<'_>, shift: VarId) -> SlotId {
        let (Def::Fby { next, .. } | Def::Ahead { next, .. }) = *system.def(shift) else {
            unreachable!("only delays are carried")
        };
        let slots = &mut self.slots;
        *self.slot_of.entry(shift).or_insert_with(|| {
            slots.push(Carried { shift, next });
            SlotId::new(slots.len() - 1)
        })
    }

    pub fn slot_of(&self, shift: VarId) -> Option<SlotId> {
        self.slot_of.get(&shift).copied()
    }
}

/// Where the cells of a region are stored, including its units.
#[derive(Default)]
pub struct Homes {
    pub buffers: FxHashMap<VarId, BufferId>,
    pub scalars: FxHashMap<(VarId, Spot), ScalarId>,
    /// The recomputed streams of each step.
    pub repeats: Repeats,
    /// The streams that would be in buffers between steps without recomputation.
    pub before: Vec<VarId>,
}

/// How the cells of a region are used after its steps.
pub struct After<'a> {
    /// Streams of which all cells are read.
    pub outputs: &'a [VarId],
    /// Whether they are read as outputs after all steps.
    pub are_shown: bool,
    /// Single cells that are read.
    pub cells: &'a [Cell],
    /// Which buffers may be dropped.
    pub recompute: Recompute,
}

/// Decides where the cells of a region are stored; existing buffers stay.
pub fn assign(
    cells: &Cells<'_>,
    draft: &Draft,
    after: &After<'_>,
    memory: &mut Storage,
    mut homes: Homes,
) -> Homes {
    let graph = &draft.graph;
    let step = |node: NodeNo| draft.schedule.step_of[node];
    let is_crossing = |node: NodeNo| graph.users[node].iter().any(|(user, _)| step(*user) != step(node));
    let in_units: FxHashSet<VarId> = draft.units.iter().flat_map(|unit| unit.vars.iter().copied()).collect();
    let unit_reads: FxHashSet<VarId> =
        draft.units.iter().flat_map(|unit| unit.reads.iter().copied()).collect();
    let shown_once = shown_once(cells, draft, after, &unit_reads, &in_units);
    let single_cells: Vec<Cell> = after.cells.iter().chain(&shown_once.cells).copied().collect();
    let read_after: FxHashSet<Cell> = single_cells.iter().copied().collect();
    let latched = latched(cells, draft);
    // Streams that need a buffer.
    let mut wanted: Vec<(VarId, BufferRole, bool)> = Vec::new();
    for var in cells.system.flow.var_ids().filter(|var| cells.is_inside[var.index()]) {
        let nodes = || draft.zones.long().filter_map(|zone| graph.number(var, zone));
        let is_between = unit_reads.contains(&var)
            || nodes()
                .any(|node| is_crossing(node) && (graph.nodes[node].1 == INNER || in_units.contains(&var)));
        let is_shown =
            after.outputs.contains(&var) && !shown_once.vars.contains(&var) && is_computed(draft, var);
        let is_kept = read_after.contains(&(var, INNER)) && graph.number(var, INNER).is_some()
            || (in_units.contains(&var) && nodes().any(|node| read_after.contains(&graph.nodes[node])));
        if is_shown {
            wanted.push((var, BufferRole::Output, is_between));
        } else if is_between || is_kept {
            wanted.push((var, BufferRole::Sweeps, is_between));
        }
    }
    homes.before.extend(wanted.iter().filter(|(.., is_between)| *is_between).map(|(var, ..)| *var));
    if after.recompute != Recompute::Nothing {
        let mut buffered: FxHashSet<VarId> = wanted.iter().map(|(var, ..)| *var).collect();
        homes.repeats = repeats(cells, draft, &wanted, &read_after, &mut buffered, after.recompute);
        wanted.retain(|(var, ..)| buffered.contains(var));
        let known: FxHashSet<VarId> = wanted.iter().map(|(var, ..)| *var).collect();
        let mut others: Vec<VarId> = buffered.difference(&known).copied().collect();
        others.sort_unstable();
        wanted.extend(others.into_iter().map(|var| (var, BufferRole::Sweeps, true)));
    }
    for (var, role, is_between) in wanted {
        let id = *homes.buffers.entry(var).or_insert_with(|| memory.buffer(var, role));
        memory.buffers[id.index()].is_between_steps |= is_between;
    }
    // Single cells.
    let mut single: Vec<(VarId, Spot)> = Vec::new();
    for (number, (var, zone)) in graph.nodes.iter().enumerate() {
        if *zone != INNER && (is_crossing(number) || read_after.contains(&(*var, *zone))) {
            single.push((*var, Spot::of(draft.zones.list[*zone])));
        }
    }
    let only = single_cells.iter().filter(|(_, zone)| draft.zones.only().contains(zone));
    single.extend(only.map(|(var, _)| (*var, Spot::Only)));
    single.extend(latched.iter().map(|var| (*var, Spot::Inner)));
    single.retain(|(var, _)| cells.is_inside[var.index()] && !homes.buffers.contains_key(var));
    single.extend(
        draft
            .held
            .values()
            .map(|entry| (entry.var, if entry.end == ZoneEnd::First { Spot::First } else { Spot::Last })),
    );
    // In a window of one cycle, the only cell uses the scalar of the first or of the last one.
    single.sort_by_key(|(_, spot)| *spot == Spot::Only);
    for (var, spot) in single {
        let twin = |other: Spot| homes.scalars.get(&(var, other)).filter(|_| spot == Spot::Only).copied();
        let twin = twin(Spot::First).or_else(|| twin(Spot::Last));
        let id = || twin.unwrap_or_else(|| memory.scalar(var, spot));
        homes.scalars.entry((var, spot)).or_insert_with(id);
    }
    for unit in &draft.units {
        if let UnitRun::Nested(inner) = &unit.run {
            let inner_cells = inner.cells(cells.system);
            let read_after = carried_reads(&inner_cells, inner);
            let recompute = Recompute::Nothing;
            let after = After { outputs: &unit.wanted, are_shown: false, cells: &read_after, recompute };
            homes = assign(&inner_cells, inner, &after, memory, homes);
        }
    }
    homes
}

/// Outputs that are not computed at inner cycles, such as `d when first`, and their computed cells.
#[derive(Default)]
struct ShownOnce {
    vars: FxHashSet<VarId>,
    cells: Vec<Cell>,
}

fn shown_once(
    cells: &Cells<'_>,
    draft: &Draft,
    after: &After<'_>,
    unit_reads: &FxHashSet<VarId>,
    in_units: &FxHashSet<VarId>,
) -> ShownOnce {
    let mut found = ShownOnce::default();
    if !after.are_shown {
        return found;
    }
    for var in after.outputs.iter().filter(|var| cells.is_inside[var.index()]) {
        let is_absent = |zone: usize| *cells.evaluation.get(*var, zone) == Abstract::Absent;
        let is_inner = draft.graph.number(*var, INNER).is_some() && !is_absent(INNER);
        if is_inner || unit_reads.contains(var) || in_units.contains(var) {
            continue;
        }
        found.vars.insert(*var);
        let ends = (0..draft.zones.len()).filter(|zone| *zone != INNER && !is_absent(*zone));
        found.cells.extend(ends.map(|zone| (*var, zone)));
    }
    found
}

/// Whether the region computes cells of a stream.
fn is_computed(draft: &Draft, var: VarId) -> bool {
    draft.zones.long().any(|zone| draft.graph.number(var, zone).is_some())
        || draft.single.iter().any(|vars| vars.contains(&var))
}

/// The cells from which slots are written after all steps. Units write the slots of their own delays.
pub fn carried_reads(cells: &Cells<'_>, draft: &Draft) -> Vec<Cell> {
    let mut found = Vec::new();
    for shift in &draft.liveness.carried {
        let is_own = !draft.units.iter().any(|unit| unit.vars.binary_search(shift).is_ok());
        let (Def::Fby { next, .. } | Def::Ahead { next, .. }) = *cells.system.def(*shift) else { continue };
        let zones = cells.carried_zones(*shift).into_iter();
        let is_read = |zone: &usize| *zone != INNER && (is_own || draft.zones.only().contains(zone));
        found.extend(zones.filter(is_read).map(|zone| (next, zone)));
    }
    found
}

/// Streams whose last inner value is carried into the next window.
fn latched(cells: &Cells<'_>, draft: &Draft) -> Vec<VarId> {
    let mut found = Vec::new();
    for shift in &draft.liveness.carried {
        let is_own = !draft.units.iter().any(|unit| unit.vars.binary_search(shift).is_ok());
        let (Def::Fby { next, .. } | Def::Ahead { next, .. }) = *cells.system.def(*shift) else { continue };
        if is_own && cells.carried_zones(*shift).contains(&INNER) && draft.graph.number(next, INNER).is_some()
        {
            found.push(next);
        }
    }
    found
}

/// Lets streams share a buffer if one is written after the last read of the other (interval colouring from
/// left to right, which is optimal). Streams in `kept` are not shared.
pub fn share(
    draft: &Draft,
    system: &System<'_>,
    read_after: &[Cell],
    kept: &FxHashSet<VarId>,
    homes: &mut Homes,
    memory: &mut Storage,
) {
    // Streams that are read after all steps keep their buffer.
    let mut carried: FxHashSet<VarId> = read_after.iter().map(|(var, _)| *var).collect();
    for shift in &draft.liveness.carried {
        if let Def::Fby { next, .. } | Def::Ahead { next, .. } = system.def(*shift) {
            carried.insert(*next);
        }
    }
    let mut intervals: Vec<(usize, usize, VarId)> = Vec::new();
    for (var, id) in &homes.buffers {
        if memory.buffers[id.index()].role == BufferRole::Sweeps
            && !carried.contains(var)
            && !kept.contains(var)
            && let Some((first, last)) = interval(draft, homes, *var)
        {
            intervals.push((first, last, *var));
        }
    }
    intervals.sort_unstable();
    // Shared buffers, with the last step that reads each.
    let mut free: Vec<(usize, BufferId)> = Vec::new();
    let mut gone: FxHashSet<BufferId> = FxHashSet::default();
    for (first, last, var) in intervals {
        let own = homes.buffers[&var];
        let form = |var: VarId| {
            let ty = &system.flow.var(var).ty;
            (ty.scalar, ty.shape.is_scalar(), ty.shape.iter().product::<usize>())
        };
        let fits = |(until, id): &&mut (usize, BufferId)| {
            *until < first && form(memory.buffers[id.index()].vars[0]) == form(var)
        };
        match free.iter_mut().find(fits) {
            Some((until, id)) => {
                *until = last;
                memory.buffers[id.index()].vars.push(var);
                homes.buffers.insert(var, *id);
                gone.insert(own);
            }
            None => free.push((last, own)),
        }
    }
    remove(&gone, homes, memory);
}

/// The first step that writes a stream and the last one that reads it; `None` if it is used outside of steps.
fn interval(draft: &Draft, homes: &Homes, var: VarId) -> Option<(usize, usize)> {
    let graph = &draft.graph;
    let nodes: Vec<NodeNo> = draft.zones.long().filter_map(|zone| graph.number(var, zone)).collect();
    let is_nested = nodes.is_empty() || draft.units.iter().any(|unit| unit.vars.binary_search(&var).is_ok());
    // Windows of one cycle use buffers differently.
    if is_nested || draft.single.iter().any(|vars| vars.contains(&var)) && draft.task.wanted.contains(&var) {
        return None;
    }
    let step = |node: NodeNo| draft.schedule.step_of[node];
    let first = nodes.iter().map(|node| step(*node)).min()?;
    let users = nodes.iter().flat_map(|node| &graph.users[*node]).map(|(user, _)| step(*user));
    let last = users.chain(nodes.iter().map(|node| step(*node))).max()?;
    let repeated = homes.repeats.last_reader(var).unwrap_or(0);
    Some((first, last.max(repeated)))
}

fn remove(gone: &FxHashSet<BufferId>, homes: &mut Homes, memory: &mut Storage) {
    let mut number = 0;
    let numbers: Vec<usize> = (0..memory.buffers.len())
        .map(|index| {
            let own = number;
            number += usize::from(!gone.contains(&BufferId::new(index)));
            own
        })
        .collect();
    let mut index = 0;
    memory.buffers.retain(|_| {
        index += 1;
        !gone.contains(&BufferId::new(index - 1))
    });
    for id in homes.buffers.values_mut() {
        *id = BufferId::new(numbers[id.index()]);
    }
}
