//! The cells of a window, their dependencies, and liveness (section 4).
//!
//! A cell is a stream in a zone. Its dependencies are fewer than those of its equation: none if its value is
//! known there, one branch of an `if` whose condition is known. A dependency on the past of the first cycle
//! is *carried* over from the previous window; one on the future of the last cycle is *beyond* the window. A
//! condition cannot end windows if a live cell then depends on something beyond its window.

use eddy_flow::VarId;

use crate::known::Abstract;
use crate::plan::{Direction, Mode};
use crate::system::{Def, System};
use crate::zones::{Evaluation, FIRST, INNER, Shape, Zones};

pub type Cell = (VarId, usize);

/// Where a dependency lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pull {
    /// At the same cycle.
    Here,
    /// At the previous cycle or earlier.
    Past,
    /// At the next cycle or later.
    Future,
}

/// The dependencies of a cell.
#[derive(Clone, Debug, Default)]
pub struct Deps {
    /// Cells that must be computed or read first.
    pub cells: Vec<(Cell, Pull)>,
    /// Whether the cell needs a value from a window that runs earlier.
    pub is_carried: bool,
    /// Whether the cell may need a value from a window that runs later.
    pub is_beyond: bool,
}

/// The equations of a region with the known values.
pub struct Cells<'a> {
    pub system: &'a System<'a>,
    pub shape: &'a Shape,
    pub zones: &'a Zones,
    pub evaluation: &'a Evaluation,
    /// The order in which windows run.
    pub order: Direction,
    /// The streams that the region computes.
    pub is_inside: &'a [bool],
}

impl Cells<'_> {
    /// Whether a delay counts cycles of the window; otherwise it is sampled.
    pub fn is_on_clock(&self, var: VarId) -> bool {
        self.shape.is_on_clock(self.system, var)
    }

    /// Whether the state before the first cycle of a window is available.
    fn has_before(&self, fby: VarId) -> bool {
        self.shape.mode != Mode::Trace || self.system.is_memory[fby.index()]
    }

    /// The clock conditions of a stream that are not known in a zone, outer ones first.
    pub fn conditions(&self, var: VarId, zone: usize) -> Vec<(VarId, bool)> {
        let mut conditions = self.system.conditions_below(self.system.clock(var), self.shape.clock);
        conditions.retain(|(condition, truth)| self.evaluation.get(*condition, zone).truth() != Some(*truth));
        conditions
    }

    /// The chosen branch, if the condition is known.
    pub fn branch(&self, condition: VarId, yes: VarId, no: VarId, zone: usize) -> Option<VarId> {
        let truth = self.evaluation.get(condition, zone).truth()?;
        Some(if truth { yes } else { no })
    }

    /// The dependencies of a cell. Known and absent cells have none, except that a known cell depends on its
    /// clock, in case it is materialised.
    pub fn deps(&self, var: VarId, zone: usize) -> Deps {
        let mut deps = Deps::default();
        if *self.evaluation.get(var, zone) == Abstract::Absent {
            return deps;
        }
        for (condition, _) in self.conditions(var, zone) {
            deps.cells.push(((condition, zone), Pull::Here));
        }
        if !self.evaluation.is_open(var, zone) {
            return deps;
        }
        match self.system.def(var) {
            Def::Input | Def::Known(_) | Def::Materialised(_) | Def::Absent => {}
            Def::Copy(operand) => deps.cells.push(((*operand, zone), Pull::Here)),
            Def::Apply(_, operands) => {
                deps.cells.extend(operands.iter().map(|operand| ((*operand, zone), Pull::Here)));
            }
            Def::Choice { condition, yes, no } => match self.branch(*condition, *yes, *no, zone) {
                Some(branch) => deps.cells.push(((branch, zone), Pull::Here)),
                None => deps.cells.extend([condition, yes, no].map(|operand| ((*operand, zone), Pull::Here))),
            },
            Def::Fby { init, next } => self.fby(var, zone, *init, *next, &mut deps),
            Def::Ahead { init, next } => self.ahead(var, zone, *init, *next, &mut deps),
        }
        // The presence of a sampled delay's operand matters even where its value is known.
        let is_sampled =
            matches!(self.system.def(var), Def::Fby { .. } | Def::Ahead { .. }) && !self.is_on_clock(var);
        deps.cells.retain(|((operand, zone), pull)| match self.evaluation.get(*operand, *zone) {
            Abstract::Top | Abstract::Unset => true,
            Abstract::Known(_) => is_sampled && *pull != Pull::Here,
            Abstract::Absent => false,
        });
        deps
    }

    fn fby(&self, var: VarId, zone: usize, init: VarId, next: VarId, deps: &mut Deps) {
        let is_start = self.zones.is_start(zone);
        let is_sampled = !self.is_on_clock(var);
        if self.order == Direction::Backward && (is_start || is_sampled) {
            deps.is_beyond = true;
        }
        if is_start || is_sampled {
            deps.cells.push(((init, zone), Pull::Here));
            deps.is_carried = self.order == Direction::Forward && self.has_before(var);
        }
        if !is_start {
            deps.cells.extend([FIRST, INNER].map(|zone| ((next, zone), Pull::Past)));
        }
    }

    fn ahead(&self, var: VarId, zone: usize, init: Option<VarId>, next: VarId, deps: &mut Deps) {
        let is_end = self.zones.is_end(zone);
        let is_sampled = !self.is_on_clock(var);
        if is_end || is_sampled {
            match (self.order, self.shape.mode) {
                (_, Mode::Trace) => {}
                (Direction::Forward, _) => deps.is_beyond = true,
                (Direction::Backward, _) => deps.is_carried = true,
            }
        }
        if let Some(init) = init
            && (is_end || is_sampled || self.shape.mode != Mode::Trace)
        {
            deps.cells.push(((init, zone), Pull::Here));
        }
        if !is_end {
            let zones = [INNER].into_iter().chain(self.zones.last());
            deps.cells.extend(zones.map(|zone| ((next, zone), Pull::Future)));
        }
    }

    /// The zones in which the operand of a carried delay must be live.
    pub fn carried_zones(&self, shift: VarId) -> Vec<usize> {
        if !self.is_on_clock(shift) {
            return (0..self.zones.len()).collect();
        }
        match self.order {
            Direction::Forward => self.zones.ends().collect(),
            Direction::Backward => [FIRST].into_iter().chain(self.zones.only()).collect(),
        }
    }
}

impl Cells<'_> {
    /// The cells whose values a delay carries to another window; a sampled delay needs their presence even if
    /// their value is known.
    fn carried_cells(&self, shift: VarId) -> Vec<(Cell, bool)> {
        let (Def::Fby { next, .. } | Def::Ahead { next, .. }) = *self.system.def(shift) else {
            unreachable!("only delays are carried")
        };
        let is_sampled = !self.is_on_clock(shift);
        let zones = self.carried_zones(shift).into_iter();
        let is_needed = |zone: &usize| match self.evaluation.get(next, *zone) {
            Abstract::Top | Abstract::Unset => true,
            Abstract::Known(_) => is_sampled,
            Abstract::Absent => false,
        };
        zones.filter(is_needed).map(|zone| ((next, zone), true)).collect()
    }
}

#[derive(Clone, Debug)]
pub struct Liveness {
    live: Vec<bool>,
    n_zones: usize,
    /// The live cells of the region.
    pub cells: Vec<Cell>,
    /// Live cells of streams outside of the region.
    pub outside: Vec<Cell>,
    /// Delays that read across windows.
    pub carried: Vec<VarId>,
    /// Cells whose value is known but which are materialised because their presence matters.
    pub materialised: Vec<Cell>,
}

impl Liveness {
    pub fn is_live(&self, var: VarId, zone: usize) -> bool {
        self.live[var.index() * self.n_zones + zone]
    }
}

/// Finds the cells on which `wanted` depends; a wanted cell with `true` is materialised even if it is known
/// or absent. The error is a delay that depends on something beyond the window. The delays in `carried` must
/// be carried even if this window does not read them.
pub fn live_cells(cells: &Cells<'_>, wanted: &[(Cell, bool)], carried: &[VarId]) -> Result<Liveness, VarId> {
    let n_zones = cells.zones.len();
    let mut liveness = Liveness {
        live: vec![false; cells.system.defs.len() * n_zones],
        n_zones,
        cells: Vec::new(),
        outside: Vec::new(),
        carried: Vec::new(),
        materialised: Vec::new(),
    };
    let mut is_carried = vec![false; cells.system.defs.len()];
    let mut is_materialised = vec![false; cells.system.defs.len() * n_zones];
    let mut todo: Vec<(Cell, bool)> = wanted.to_vec();
    for shift in carried {
        is_carried[shift.index()] = true;
        liveness.carried.push(*shift);
        todo.extend(cells.carried_cells(*shift));
    }
    while let Some(((var, zone), is_needed)) = todo.pop() {
        let is_open = cells.evaluation.is_open(var, zone);
        if is_needed
            && cells.is_inside[var.index()]
            && !is_open
            && !std::mem::replace(&mut is_materialised[var.index() * n_zones + zone], true)
        {
            liveness.materialised.push((var, zone));
        }
        let is_absent = *cells.evaluation.get(var, zone) == Abstract::Absent;
        if (is_absent && !is_needed)
            || std::mem::replace(&mut liveness.live[var.index() * n_zones + zone], true)
        {
            continue;
        }
        if !cells.system.is_stream(var) {
            // The presence of a known stream depends on its clock.
            todo.extend(cells.deps(var, zone).cells.into_iter().map(|(cell, _)| (cell, true)));
            continue;
        }
        if !cells.is_inside[var.index()] {
            liveness.outside.push((var, zone));
            continue;
        }
        liveness.cells.push((var, zone));
        let deps = cells.deps(var, zone);
        if deps.is_beyond && cells.shape.mode == Mode::Guard {
            return Err(var);
        }
        todo.extend(deps.cells.into_iter().map(|(cell, _)| (cell, true)));
        if deps.is_carried && !std::mem::replace(&mut is_carried[var.index()], true) {
            liveness.carried.push(var);
            todo.extend(cells.carried_cells(var));
        }
    }
    liveness.cells.sort_unstable();
    liveness.materialised.sort_unstable();
    liveness.carried.sort_unstable();
    Ok(liveness)
}
