//! Nested windows, taken from the first to the last, or from the last to the first (section 5).
//!
//! In the code of a nested window, `t`, `n` and `alt` are its own. If its clock is not always active, its
//! active cycles are listed first.

use eddy_flow::VarId;
use eddy_imp::{Block, Expr, Name, Place as ImpPlace, Stmt, Type};
use eddy_plan::plan::{
    BufferId, Condition, Direction, Mode, Place, Read, Region, Step, Store, Unit, Windows, Zone,
};

use super::super::iteration::t;
use super::super::{Emitter, holds};
use super::frame::{Entries, Frame};
use super::{Context, alternatives, at_cycle, last_zones, n};

/// The cycles at which a unit is active.
pub(super) struct Active {
    pub number: usize,
    /// Maps the position of a cycle among them to the entry of a buffer.
    pub entries: Entries,
}

impl Active {
    pub fn length(&self) -> Expr {
        Expr::var(format!("m{}", self.number))
    }
}

/// Changes a variable by `step` while a condition holds.
fn step_while(condition: Expr, variable: &Name, step: i64, block: &mut Block) {
    let mut body = Block::new();
    body.assign(variable, Expr::from(variable) + step);
    block.push(Stmt::While(condition, body));
}

impl<'a> Emitter<'a> {
    /// Finds the cycles at which a unit is active: `mK` is their number, where `K` is the number of the unit.
    /// At other cycles, its results are absent.
    pub(super) fn activity(
        &mut self,
        activity: &[Condition],
        buffers: &[(VarId, Place)],
        block: &mut Block,
    ) -> Active {
        let number = self.n_units;
        self.n_units += 1;
        if activity.is_empty() {
            block.constant(format!("m{number}"), Type::Cycle, n());
            return Active { number, entries: self.frame.entries.clone() };
        }
        let name = format!("cy{number}");
        if self.state.find(&name).is_none() {
            let dimensions = vec![self.max_outputs];
            self.state.field(name.as_str(), Type::Cycle, dimensions, "cycles", self.precision);
        }
        let list = ImpPlace::state(name);
        let entry = self.frame.entry(t());
        let conditions = Expr::all(self.conditions_of(&mut Context::nowhere(), activity));
        let m: Name = format!("m{number}").into();
        let (mut is_active, mut is_not) = (Block::new(), Block::new());
        is_active.store(list.index(&m), entry.clone());
        is_active.assign(&m, Expr::from(&m) + 1);
        for (var, place) in buffers {
            if let (Place::Buffer(buffer), true) = (place, self.is_sampled(*var)) {
                is_not.store(ImpPlace::state(format!("wf{}", buffer.index())).index(entry.clone()), false);
            }
        }
        block.variable(&m, Type::Cycle, 0);
        block.count("t", Type::Cycle, 0, n(), |block| block.either(conditions, is_active, is_not));
        Active { number, entries: Entries::Listed(list, 0.into()) }
    }

    pub(super) fn nested(
        &mut self,
        windows: &'a Windows,
        (outer, region): (&'a Region, &'a Region),
        block: &mut Block,
    ) {
        let mut inside = Block::new();
        let buffers = buffers_of(region);
        let active = self.activity(&region.activity, &buffers, &mut inside);
        if region.order == Direction::Backward {
            for (slot, _) in &region.slots {
                let flag = self.backward_flag(*slot);
                inside.store(flag, false);
            }
        }
        let number = active.number;
        let [a, b]: [Name; 2] = ["a", "b"].map(|letter| format!("{letter}{number}").into());
        let m = active.length();
        let (guard, polarity) = region.guard.expect("nested windows have a guard");
        let ends = |at: Expr| holds(polarity, kept_truth(windows, guard, active.entries.of(at)));
        let is_end = ends(Expr::from(&b));
        let one = self.window_inside(windows, (outer, region), &active, &is_end);
        match region.order {
            Direction::Forward => {
                let mut body = Block::new();
                body.variable(&b, Type::Cycle, &a);
                let has_next = (Expr::from(&b) + 1).lt(m.clone());
                step_while(has_next.and_then(!is_end), &b, 1, &mut body);
                body.append(one);
                body.assign(&a, Expr::from(&b) + 1);
                inside.variable(&a, Type::Cycle, 0);
                inside.push(Stmt::While(Expr::from(&a).lt(m), body));
            }
            Direction::Backward => {
                let mut body = Block::new();
                body.variable(&a, Type::Cycle, &b);
                let is_before = ends(Expr::from(&a) - 1);
                step_while(Expr::from(&a).gt(0).and_then(!is_before), &a, -1, &mut body);
                body.append(one);
                body.assign(&b, Expr::from(&a) - 1);
                inside.variable(&b, Type::Cycle, m - 1);
                inside.push(Stmt::While(Expr::from(&b).ge(0), body));
            }
        }
        block.push(Stmt::Scope(inside));
    }

    /// One of the windows.
    fn window_inside(
        &mut self,
        windows: &'a Windows,
        (outer, region): (&'a Region, &'a Region),
        active: &Active,
        is_end: &Expr,
    ) -> Block {
        let (number, around) = (active.number, self.frame.clone());
        let [start, end] = ["a", "b"].map(|letter| Expr::var(format!("{letter}{number}")));
        let entries = match &active.entries {
            Entries::Listed(list, _) => Entries::Listed(list.clone(), start.clone()),
            entries => Entries::From(start.clone(), Box::new(entries.clone())),
        };
        self.frame = Frame { is_open: false, is_cut_off: around.is_cut_off, entries };
        let (base, mut block) = (100 * (number + 1), Block::new());
        let mut closed = Block::new();
        self.closed_window_inside(windows, region, base, &mut closed);
        block.constant("n", Type::Cycle, end - start + 1);
        // A window of a unit ends where the enclosing one does, unless the trace ends there.
        if outer.mode == Mode::Trace || around.is_cut_off {
            let mut open = Block::new();
            self.frame.is_open = true;
            self.frame.is_cut_off = true;
            self.steps(windows, region, base, &mut open);
            if region.order == Direction::Backward {
                self.carry(windows, region, None, &mut open);
            }
            block.either(is_end.clone(), closed, open);
        } else {
            block.append(closed);
        }
        self.frame = around;
        block
    }

    fn closed_window_inside(
        &mut self,
        windows: &'a Windows,
        region: &'a Region,
        base: usize,
        block: &mut Block,
    ) {
        self.frame.is_cut_off = false;
        let mut choice = Expr::from(0);
        for (number, alternative) in region.alternatives.iter().enumerate().rev() {
            let truth = |(var, value): &(VarId, bool)| {
                let condition = kept_truth(windows, *var, self.frame.entry(n() - 1));
                if *value { condition } else { !condition }
            };
            let conditions = Expr::all(alternative.conditions.iter().map(truth));
            choice = Expr::choice(conditions, number, choice);
        }
        block.constant("alt", Type::Cycle, choice);
        let singles = region.single.iter().enumerate().map(|(alternative, body)| {
            let mut block = self.body(usize::MAX, body, None, &[]);
            self.carry(windows, region, Some(Zone::Only(alternative)), &mut block);
            block
        });
        let singles: Vec<Block> = singles.collect();
        let mut single = Block::new();
        alternatives(singles, &mut single);
        let mut long = Block::new();
        self.steps(windows, region, base, &mut long);
        let carried = last_zones(region).into_iter().map(|zone| {
            let mut block = Block::new();
            self.carry(windows, region, Some(zone), &mut block);
            block
        });
        let carried: Vec<Block> = carried.collect();
        alternatives(carried, &mut long);
        block.either(n().equals(1), at_cycle(0, single), long);
    }
}

/// A condition that is kept for all cycles of the window.
fn kept_truth(windows: &Windows, var: VarId, entry: Expr) -> Expr {
    let arrived = windows.arrivals.iter().find(|arrival| arrival.var == var);
    let buffer = arrived.and_then(|arrival| arrival.buffer).map(BufferId::index);
    let buffer = buffer.or_else(|| windows.buffers.iter().position(|buffer| buffer.vars.contains(&var)));
    let buffer = buffer.expect("the condition that ends windows is stored");
    ImpPlace::state(format!("w{buffer}")).index(entry).load()
}

/// The buffers that a region writes, including those of nested units.
fn buffers_of(region: &Region) -> Vec<(VarId, Place)> {
    let mut found = Vec::new();
    let mut add = |var: VarId, store: &Store| {
        if let Store::Buffer(buffer) = store {
            found.push((var, Place::Buffer(*buffer)));
        }
    };
    let singles = region.single.iter();
    let sweeps = region.steps.iter().filter_map(|step| match step {
        Step::Sweep(sweep) => Some(sweep),
        Step::Unit(_) => None,
    });
    for instruction in singles.chain(sweeps.flat_map(|sweep| &sweep.bodies)).flat_map(|body| &body.code) {
        instruction.store.iter().for_each(|store| add(instruction.var, store));
    }
    for step in &region.steps {
        match step {
            Step::Unit(Unit::Nested(inner)) => found.extend(buffers_of(inner)),
            Step::Unit(Unit::Retimed(retimed)) => {
                found.extend(retimed.stores.iter().map(|(var, buffer)| (*var, Place::Buffer(*buffer))));
            }
            Step::Sweep(_) => {}
        }
    }
    found.sort_unstable_by_key(|(var, place)| (*var, format!("{place:?}")));
    found.dedup();
    found
}

/// The stream, the place and the distance in cycles that a loop over a window reads.
pub(super) fn shifted(read: &Read) -> (VarId, &Place, i64) {
    match read {
        Read::Here(var, place) => (*var, place, 0),
        Read::Before { var, inner, .. } => (*var, inner, -1),
        Read::After { var, inner, .. } => (*var, inner, 1),
    }
}
