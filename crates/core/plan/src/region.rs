//! Plans the windows of a region: from the known values in each zone to a list of steps (sections 4 to 6).

use std::collections::hash_map::Entry;

use eddy_flow::VarId;
use eddy_flow::components::components;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cells::{Cell, Cells, Liveness, Pull, live_cells};
use crate::graph::{Choice, Graph, NodeNo};
use crate::held::{HeldCells, held};
use crate::plan::{Direction, NoPlan, Reason};
use crate::sweeps::{Component, Frame, Schedule, StepKind, Way, loops, n_buffers, schedule};
use crate::system::{Def, Need, System};
use crate::units::{UnitDraft, solve};
use crate::zones::{Evaluation, FIRST, INNER, Shape, Zones, evaluate_zones, zones};

/// Shared by all regions of a root.
pub struct Context<'a> {
    pub system: &'a System<'a>,
    /// The live streams of the root.
    pub streams: &'a [VarId],
    /// Whether values are held (section 6).
    pub holds: bool,
    /// Maps each boolean stream to the first one that always equals it.
    pub same: FxHashMap<VarId, VarId>,
    /// How many more cells the search for a plan may visit.
    pub budget: std::cell::Cell<usize>,
    /// Nested windows that were tried without success.
    pub failed: std::cell::RefCell<FxHashSet<Attempt>>,
}

/// A candidate for nested windows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    pub vars: Vec<VarId>,
    /// The streams that are read outside.
    pub wanted: Vec<VarId>,
    pub guard: (VarId, bool),
    pub order: Direction,
    /// The assumed condition.
    pub assumes: Option<(VarId, bool)>,
    /// The number of enclosing regions.
    pub depth: usize,
}

/// A region to be planned.
#[derive(Clone)]
pub struct Task {
    pub shape: Shape,
    /// The order in which windows run.
    pub order: Direction,
    /// The streams to compute.
    pub is_inside: Vec<bool>,
    /// The streams that are outputs or read outside.
    pub wanted: Vec<VarId>,
    /// Delays that must be carried through the window even if it does not read them.
    pub carried: Vec<VarId>,
    /// The number of enclosing regions.
    pub depth: usize,
}

/// The steps of a region, before storage is decided.
pub struct Draft {
    pub task: Task,
    pub zones: Zones,
    pub evaluation: Evaluation,
    pub liveness: Liveness,
    pub held: HeldCells,
    /// Known or held cells that are materialised.
    pub materialised: FxHashSet<Cell>,
    /// The cells of windows of two or more cycles.
    pub graph: Graph,
    pub units: Vec<UnitDraft>,
    pub schedule: Schedule,
    /// Whether each step has code for inner cycles.
    pub is_loop: Vec<bool>,
    /// For each zone O its cells in order.
    pub single: Vec<Vec<VarId>>,
}

impl Draft {
    /// Units, loops, buffers; lower is better.
    pub fn cost(&self) -> (usize, usize, usize) {
        let mut cost = (self.units.len(), 0, n_buffers(&self.graph, &self.schedule));
        for (step, is_loop) in self.schedule.steps.iter().zip(&self.is_loop) {
            cost.1 += usize::from(*is_loop || matches!(step, StepKind::Unit(_)));
        }
        for inner in self.units.iter().filter_map(UnitDraft::nested).map(Draft::cost) {
            cost = (cost.0 + inner.0, cost.1 + inner.1, cost.2 + inner.2);
        }
        cost
    }

    /// The `fby`s of the region, including its units, that read across windows.
    pub fn carried(&self, system: &System<'_>) -> Vec<VarId> {
        let mut shifts = self.liveness.carried.clone();
        shifts
            .extend(self.units.iter().filter_map(UnitDraft::nested).flat_map(|inner| inner.carried(system)));
        shifts.retain(|shift| matches!(system.def(*shift), Def::Fby { .. }));
        shifts.sort_unstable();
        shifts.dedup();
        shifts
    }

    pub fn cells<'a>(&'a self, system: &'a System<'a>) -> Cells<'a> {
        Cells {
            system,
            shape: &self.task.shape,
            zones: &self.zones,
            evaluation: &self.evaluation,
            order: self.task.order,
            is_inside: &self.task.is_inside,
        }
    }
}

/// Plans a region; the error says why this is impossible. `before` is what is known about other windows, if
/// that is less than what is known about this one.
pub fn plan_region(context: &Context<'_>, task: Task, before: Option<&Evaluation>) -> Result<Draft, Reason> {
    let system = context.system;
    let zones = zones(system, &task.shape);
    let n_cells = context.streams.len() * zones.len();
    context.budget.set(context.budget.get().checked_sub(n_cells).ok_or(Reason::Budget)?);
    let evaluation = evaluate_zones(system, &task.shape, &zones, context.streams, before);
    // An enclosing region reads results from buffers, so all their cells are materialised.
    let is_inside_another = task.depth > 0;
    let mut wanted: Vec<(Cell, bool)> = Vec::new();
    for var in &task.wanted {
        wanted.extend((0..zones.len()).map(|zone| ((*var, zone), is_inside_another)));
    }
    let mut materialised: FxHashSet<Cell> = FxHashSet::default();
    // Units read cells in all zones; computing these cells may require more units.
    loop {
        let cells = Cells {
            system,
            shape: &task.shape,
            zones: &zones,
            evaluation: &evaluation,
            order: task.order,
            is_inside: &task.is_inside,
        };
        let liveness = live_cells(&cells, &wanted, &task.carried).map_err(Reason::Beyond)?;
        let held = if context.holds { held(&cells, &liveness) } else { HeldCells::default() };
        materialised.extend(&liveness.materialised);
        if is_inside_another {
            materialised.extend(
                task.wanted.iter().map(|var| (*var, INNER)).filter(|(var, _)| held.contains_key(var)),
            );
        }
        let is_materialised = |cell: Cell| materialised.contains(&cell);
        let choice = Choice { held: &held, is_materialised: &is_materialised };
        let mut graph = Graph::new(&cells, &liveness, &choice);
        let units = find_units(context, &cells, &task, &mut graph)?;
        let mut missing = Vec::new();
        for unit in &units {
            for (var, zone) in unit.reads.iter().flat_map(|var| zones.long().map(move |zone| (*var, zone))) {
                let is_inside = task.is_inside[var.index()];
                let is_there =
                    if is_inside { graph.number(var, zone).is_some() } else { liveness.is_live(var, zone) };
                if !is_there {
                    missing.push((var, zone));
                }
            }
        }
        if !missing.is_empty() {
            wanted.extend(missing.iter().map(|cell| (*cell, true)));
            materialised.extend(missing);
            continue;
        }
        let is_tracked = |node: NodeNo| tracks(&cells, graph.nodes[node]).is_some();
        let is_idle = |node: NodeNo| {
            let (var, zone) = graph.nodes[node];
            !evaluation.is_open(var, zone) || (zone == INNER && held.contains_key(&var))
        };
        let is_output = |var: VarId| task.wanted.contains(&var);
        let frame = Frame {
            graph: &graph,
            is_materialised: &is_idle,
            is_tracked: &is_tracked,
            is_output: &is_output,
        };
        let components = condensed(&cells, &graph, &units).expect("units contain all mixed components");
        let schedule = schedule(&frame, &components);
        let is_loop = loops(&frame, &schedule);
        let single = zones
            .only()
            .map(|zone| single(&cells, &liveness, &materialised, zone))
            .collect::<Result<_, _>>()?;
        return Ok(Draft {
            task,
            zones,
            evaluation,
            liveness,
            held,
            materialised,
            graph,
            units,
            schedule,
            is_loop,
            single,
        });
    }
}

/// The direction in which a sampled delay must follow its operand through the window to know its value in
/// this zone.
pub fn tracks(cells: &Cells<'_>, (var, zone): Cell) -> Option<Direction> {
    if cells.is_on_clock(var) || !cells.evaluation.is_open(var, zone) {
        return None;
    }
    match cells.system.def(var) {
        Def::Fby { .. } if !cells.zones.is_start(zone) => Some(Direction::Forward),
        Def::Ahead { .. } if !cells.zones.is_end(zone) => Some(Direction::Backward),
        _ => None,
    }
}

/// The components of a region in order. The error lists the streams of each component that no sweep can
/// compute.
fn condensed(
    cells: &Cells<'_>,
    graph: &Graph,
    units: &[UnitDraft],
) -> Result<Vec<Component>, Vec<Vec<VarId>>> {
    // The cells of a unit are one vertex.
    let mut unit_of: FxHashMap<VarId, usize> = FxHashMap::default();
    for (number, unit) in units.iter().enumerate() {
        unit_of.extend(unit.vars.iter().map(|var| (*var, number)));
    }
    let vertex = |node: NodeNo| match unit_of.get(&graph.nodes[node].0) {
        Some(unit) => graph.nodes.len() + unit,
        None => node,
    };
    let mut members: Vec<Vec<NodeNo>> = vec![Vec::new(); graph.nodes.len() + units.len()];
    for node in 0..graph.nodes.len() {
        members[vertex(node)].push(node);
    }
    let component = components(members.len(), |from| {
        let edges = members[from].iter().flat_map(|node| &graph.edges[*node]);
        edges.map(|(to, _)| vertex(*to)).filter(|to| *to != from).collect()
    });
    let mut vertices: Vec<Vec<usize>> = vec![Vec::new(); component.iter().max().map_or(0, |last| last + 1)];
    for (vertex, component) in component.iter().enumerate() {
        vertices[*component].push(vertex);
    }
    let (mut found, mut mixed) = (Vec::new(), Vec::new());
    let mut position = vec![usize::MAX; vertices.len()];
    for (number, vertices) in vertices.iter().enumerate() {
        let nodes: Vec<NodeNo> = vertices.iter().flat_map(|vertex| members[*vertex].clone()).collect();
        if nodes.is_empty() {
            continue;
        }
        let way = match vertices[..] {
            [vertex] if vertex >= graph.nodes.len() => Some(Way::Unit(vertex - graph.nodes.len())),
            _ if vertices.iter().any(|vertex| *vertex >= graph.nodes.len()) => None,
            _ => way(cells, graph, &nodes),
        };
        let Some(way) = way else {
            let vars: FxHashSet<VarId> = nodes.iter().map(|node| graph.nodes[*node].0).collect();
            let mut vars: Vec<VarId> = vars.into_iter().collect();
            vars.sort_unstable();
            mixed.push(vars);
            continue;
        };
        position[number] = found.len();
        let mut needs: Vec<(usize, Pull)> = Vec::new();
        for (to, pull) in nodes.iter().flat_map(|node| &graph.edges[*node]) {
            let home = component[vertex(*to)];
            if home != number && position[home] != usize::MAX && !needs.contains(&(position[home], *pull)) {
                needs.push((position[home], *pull));
            }
        }
        found.push(Component { way, nodes, needs });
    }
    if mixed.is_empty() { Ok(found) } else { Err(mixed) }
}

/// The direction of a component; `None` if no sweep can compute it.
fn way(cells: &Cells<'_>, graph: &Graph, nodes: &[NodeNo]) -> Option<Way> {
    let inside: FxHashSet<NodeNo> = nodes.iter().copied().collect();
    let (mut here, mut past, mut future) = (false, false, false);
    for (to, pull) in nodes.iter().flat_map(|node| &graph.edges[*node]) {
        if inside.contains(to) {
            here |= *pull == Pull::Here;
            past |= *pull == Pull::Past;
            future |= *pull == Pull::Future;
        }
    }
    for node in nodes {
        match tracks(cells, graph.nodes[*node]) {
            Some(Direction::Forward) => past = true,
            Some(Direction::Backward) => future = true,
            None => {}
        }
    }
    let is_inner = nodes.iter().all(|node| graph.nodes[*node].1 == INNER);
    match (past, future) {
        (false, false) if nodes.len() == 1 && !here => Some(Way::Neutral),
        _ if nodes.len() > 1 && !is_inner => None,
        (true, false) | (false, true) if !is_circular(graph, nodes, &inside) => {
            Some(Way::Directed(if past { Direction::Forward } else { Direction::Backward }))
        }
        _ => None,
    }
}

/// Whether cells depend on each other within one cycle.
fn is_circular(graph: &Graph, nodes: &[NodeNo], inside: &FxHashSet<NodeNo>) -> bool {
    order_within(nodes, |node| {
        let here = graph.edges[node].iter().filter(|(to, pull)| *pull == Pull::Here && inside.contains(to));
        here.map(|(to, _)| *to).collect()
    })
    .is_none()
}

/// A topological order that otherwise preserves the given order; `None` if there is a cycle.
pub fn order_within(vertices: &[usize], needs: impl Fn(usize) -> Vec<usize>) -> Option<Vec<usize>> {
    let positions: FxHashMap<usize, usize> =
        vertices.iter().enumerate().map(|(position, vertex)| (*vertex, position)).collect();
    let mut n_open = vec![0_usize; vertices.len()];
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); vertices.len()];
    for (position, vertex) in vertices.iter().enumerate() {
        for need in needs(*vertex) {
            n_open[position] += 1;
            users[positions[&need]].push(position);
        }
    }
    let mut ready: std::collections::BTreeSet<usize> =
        (0..vertices.len()).filter(|position| n_open[*position] == 0).collect();
    let mut order = Vec::with_capacity(vertices.len());
    while let Some(position) = ready.pop_first() {
        order.push(vertices[position]);
        for user in &users[position] {
            n_open[*user] -= 1;
            if n_open[*user] == 0 {
                ready.insert(*user);
            }
        }
    }
    (order.len() == vertices.len()).then_some(order)
}

/// Finds streams that no sweep can compute and makes units of them, until none are left.
fn find_units(
    context: &Context<'_>,
    cells: &Cells<'_>,
    task: &Task,
    graph: &mut Graph,
) -> Result<Vec<UnitDraft>, Reason> {
    let mut units: Vec<UnitDraft> = Vec::new();
    while let Err(mixed) = condensed(cells, graph, &units) {
        for vars in mixed {
            // The new unit replaces the units that it contains.
            units.retain(|unit| !unit.vars.iter().any(|var| vars.binary_search(var).is_ok()));
            let wanted = read_outside(cells, task, graph, &vars);
            let unit = solve(context, cells, task, vars, wanted)?;
            connect(cells, graph, &unit);
            units.push(unit);
        }
    }
    Ok(units)
}

/// The streams of a unit that are read outside of it.
fn read_outside(cells: &Cells<'_>, task: &Task, graph: &Graph, vars: &[VarId]) -> Vec<VarId> {
    let is_in = |var: VarId| vars.binary_search(&var).is_ok();
    let clocks = task.wanted.iter().flat_map(|var| cells.system.conditions(cells.system.clock(*var)));
    let shown: FxHashSet<VarId> =
        clocks.map(|(condition, _)| condition).chain(task.wanted.iter().copied()).collect();
    let is_read = |var: &VarId| {
        let nodes = cells.zones.long().filter_map(|zone| graph.number(*var, zone));
        shown.contains(var)
            || nodes.flat_map(|node| &graph.users[node]).any(|(user, _)| !is_in(graph.nodes[*user].0))
            || cells.system.users[var.index()].iter().any(|user| {
                let is_carried = matches!(cells.system.def(*user), Def::Fby { next, .. } if next == var);
                is_carried && !is_in(*user) && task.is_inside[user.index()]
            })
    };
    vars.iter().copied().filter(is_read).collect()
}

/// Adds the dependencies of a unit: it runs at all cycles, so it needs its operands in all zones.
fn connect(cells: &Cells<'_>, graph: &mut Graph, unit: &UnitDraft) {
    let home =
        unit.vars.iter().find_map(|var| (FIRST..cells.zones.len()).find_map(|zone| graph.number(*var, zone)));
    let Some(home) = home else { return };
    for (var, zone) in unit.reads.iter().flat_map(|var| cells.zones.long().map(move |zone| (*var, zone))) {
        if let Some(to) = graph.number(var, zone) {
            graph.add(home, to, Pull::Here);
        }
    }
}

/// The cells of a window of one cycle, in order.
fn single(
    cells: &Cells<'_>,
    liveness: &Liveness,
    materialised: &FxHashSet<Cell>,
    zone: usize,
) -> Result<Vec<VarId>, Reason> {
    let is_computed = |cell: &&Cell| {
        cell.1 == zone && (cells.evaluation.is_open(cell.0, zone) || materialised.contains(cell))
    };
    let vars: Vec<usize> = liveness.cells.iter().filter(is_computed).map(|(var, _)| var.index()).collect();
    let inside: FxHashSet<usize> = vars.iter().copied().collect();
    let needs = |var: usize| {
        let deps = cells.deps(VarId::new(var), zone).cells.into_iter();
        deps.filter(|((_, of), pull)| *of == zone && *pull == Pull::Here)
            .map(|((operand, _), _)| operand.index())
            .filter(|operand| inside.contains(operand))
            .collect()
    };
    match order_within(&vars, needs) {
        Some(order) => Ok(order.into_iter().map(VarId::new).collect()),
        None => {
            let vars: Vec<VarId> = vars.into_iter().map(VarId::new).collect();
            Err(Reason::Cycle(cycle_among(cells.system, &vars)))
        }
    }
}

/// The reason that some streams depend on each other: a cycle among them.
pub fn cycle_among(system: &System<'_>, vars: &[VarId]) -> NoPlan {
    let inside: FxHashSet<VarId> = vars.iter().copied().collect();
    let needed = |var: VarId| system.needs(var).filter(|(operand, _)| inside.contains(operand));
    // A breadth-first search from every stream would be slow on large cycles; any cycle suffices.
    let mut came_from: FxHashMap<VarId, VarId> = FxHashMap::default();
    let start = vars.iter().copied().find(|var| needed(*var).next().is_some());
    let Some(start) = start else {
        return NoPlan { cycle: Vec::new(), past: Vec::new(), future: Vec::new() };
    };
    let mut queue = std::collections::VecDeque::from([start]);
    let mut cycle = Vec::new();
    'search: while let Some(var) = queue.pop_front() {
        for (operand, _) in needed(var) {
            if operand == start {
                let mut at = var;
                cycle.push(at);
                while at != start {
                    at = came_from[&at];
                    cycle.push(at);
                }
                break 'search;
            }
            if let Entry::Vacant(entry) = came_from.entry(operand) {
                entry.insert(var);
                queue.push_back(operand);
            }
        }
    }
    cycle.reverse();
    no_plan(system, cycle)
}

/// The reason that the streams of this cycle depend on each other.
pub fn no_plan(system: &System<'_>, cycle: Vec<VarId>) -> NoPlan {
    let shifts = |asked: Need| {
        let is_shift = |var: &&VarId| {
            system.needs(**var).any(|(operand, need)| need == asked && cycle.contains(&operand))
        };
        cycle.iter().filter(is_shift).copied().collect::<Vec<_>>()
    };
    let (past, future) = (shifts(Need::Past), shifts(Need::Future));
    NoPlan { cycle, past, future }
}
