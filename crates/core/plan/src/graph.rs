//! The dependency graph of the cells that must be computed in windows of two or more cycles (section 5).

use eddy_flow::VarId;
use rustc_hash::FxHashMap;

use crate::cells::{Cell, Cells, Liveness, Pull};
use crate::held::{Entry, HeldCells};
use crate::plan::ZoneEnd;
use crate::zones::{FIRST, INNER};

pub type NodeNo = usize;

pub struct Graph {
    /// In the order of the program.
    pub nodes: Vec<Cell>,
    /// The dependencies of each node.
    pub edges: Vec<Vec<(NodeNo, Pull)>>,
    /// The readers of each node.
    pub users: Vec<Vec<(NodeNo, Pull)>>,
    numbers: FxHashMap<Cell, NodeNo>,
}

/// Decides which cells are nodes: those that must be computed and are not held, and those that are
/// materialised.
pub struct Choice<'a> {
    pub held: &'a HeldCells,
    /// Known or held cells that are materialised, because a reader expects them in a buffer.
    pub is_materialised: &'a dyn Fn(Cell) -> bool,
}

impl Graph {
    pub fn new(cells: &Cells<'_>, liveness: &Liveness, choice: &Choice<'_>) -> Graph {
        let is_node = |cell: &Cell| {
            let (var, zone) = *cell;
            let is_held = zone == INNER && choice.held.contains_key(&var);
            let is_open = cells.evaluation.is_open(var, zone) && !is_held;
            cells.zones.long().contains(&zone) && (is_open || (choice.is_materialised)(*cell))
        };
        let nodes: Vec<Cell> = liveness.cells.iter().copied().filter(is_node).collect();
        let numbers: FxHashMap<Cell, NodeNo> =
            nodes.iter().enumerate().map(|(number, cell)| (*cell, number)).collect();
        let mut graph = Graph {
            edges: vec![Vec::new(); nodes.len()],
            users: vec![Vec::new(); nodes.len()],
            nodes,
            numbers,
        };
        for number in 0..graph.nodes.len() {
            let (var, zone) = graph.nodes[number];
            let held = if zone == INNER { choice.held.get(&var) } else { None };
            let deps = match held {
                Some(entry) => entry_cells(cells, entry, zone),
                None => cells.deps(var, zone).cells,
            };
            for (cell, pull) in deps {
                graph.connect(cells, choice, number, cell, pull);
            }
        }
        graph
    }

    /// Adds a dependency. Instead of a held cell, a reader reads the cell where the held value enters, unless
    /// the held cell is materialised.
    fn connect(&mut self, cells: &Cells<'_>, choice: &Choice<'_>, from: NodeNo, cell: Cell, pull: Pull) {
        if let Some(to) = self.numbers.get(&cell) {
            return self.add(from, *to, pull);
        }
        let (var, zone) = cell;
        if zone != INNER {
            return;
        }
        if let Some(entry) = choice.held.get(&var) {
            for (cell, pull) in entry_cells(cells, entry, self.nodes[from].1) {
                if let Some(to) = self.numbers.get(&cell) {
                    self.add(from, *to, pull);
                }
            }
        }
    }

    /// Adds a dependency of `from` on `to`.
    pub fn add(&mut self, from: NodeNo, to: NodeNo, pull: Pull) {
        if !self.edges[from].contains(&(to, pull)) {
            self.edges[from].push((to, pull));
            self.users[to].push((from, pull));
        }
    }

    /// The node of a cell; `None` if the cell is not computed.
    pub fn number(&self, var: VarId, zone: usize) -> Option<NodeNo> {
        self.numbers.get(&(var, zone)).copied()
    }
}

/// The cells where a held value enters, as read from a zone.
pub fn entry_cells(cells: &Cells<'_>, entry: &Entry, zone: usize) -> Vec<(Cell, Pull)> {
    match entry.end {
        ZoneEnd::First if zone == FIRST => vec![((entry.var, FIRST), Pull::Here)],
        ZoneEnd::First => vec![((entry.var, FIRST), Pull::Past)],
        ZoneEnd::Last if cells.zones.last().contains(&zone) => vec![((entry.var, zone), Pull::Here)],
        ZoneEnd::Last => cells.zones.last().map(|last| ((entry.var, last), Pull::Future)).collect(),
    }
}
