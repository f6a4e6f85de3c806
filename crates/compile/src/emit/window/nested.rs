//! Windows inside of a window, taken from the first to the last, or from the last to the first (section 5).
//!
//! In the code of a window inside `t`, `n` and `alt` are its own. Where its clock is not always active, the cycles at which it is are
//! listed first.

use eddy_flow::{Polarity, VarId};
use eddy_plan::plan::{Condition, Direction, Mode, Place, Read, Region, Step, Store, Unit, Windows, Zone};

use super::super::Emitter;
use super::frame::{Entries, Frame};
use super::{Context, alternatives, last_zones};
use crate::layout::Element;
use crate::lines::Lines;

/// The cycles at which a unit is active.
pub(super) struct Active {
    /// The number of the unit.
    pub number: usize,
    /// From the position of a cycle among them to the entry of a buffer.
    pub entries: Entries,
}

impl<'a> Emitter<'a> {
    /// Finds the cycles at which a unit is active: there are `mK` of them, where `K` is the number of the unit. At the others, what it
    /// writes is absent.
    pub(super) fn activity(
        &mut self,
        activity: &[Condition],
        buffers: &[(VarId, Place)],
        lines: &mut Lines,
    ) -> Active {
        let number = self.n_units;
        self.n_units += 1;
        if activity.is_empty() {
            lines.line(format!("const int64_t m{number} = n;"));
            return Active { number, entries: self.frame.entries.clone() };
        }
        let list = format!("cy{number}");
        if self.state.find(&list).is_none() {
            let dimensions = vec![self.max_outputs];
            self.state.field(list.clone(), Element::Count, dimensions, "cycles".into(), self.precision);
        }
        let entry = self.frame.entry("t");
        let conditions = self.conditions_of(&mut Context::nowhere(), activity);
        lines.line(format!("int64_t m{number} = 0;"));
        lines.block("for (int64_t t = 0; t < n; t++)", |lines| {
            lines.block(&format!("if ({})", conditions.join(" && ")), |lines| {
                lines.line(format!("self->{list}[m{number}++] = {entry};"));
            });
            lines.block("else", |lines| {
                for (var, place) in buffers {
                    if let (Place::Buffer(buffer), true) = (place, self.is_sampled(*var)) {
                        lines.line(format!("self->wf{}[{entry}] = false;", buffer.0));
                    }
                }
            });
        });
        Active { number, entries: Entries::Listed(format!("self->{list}"), "0".to_string()) }
    }

    /// Windows inside.
    pub(super) fn nested(
        &mut self,
        windows: &'a Windows,
        (outer, region): (&'a Region, &'a Region),
        lines: &mut Lines,
    ) {
        let mut inside = Lines::default();
        let buffers = buffers_of(region);
        let active = self.activity(&region.activity, &buffers, &mut inside);
        if region.order == Direction::Backward {
            for (slot, _) in &region.slots {
                let flag = self.backward_flag(*slot);
                inside.line(format!("{flag} = false;"));
            }
        }
        let number = active.number;
        let (a, b, m) = (format!("a{number}"), format!("b{number}"), format!("m{number}"));
        let (guard, polarity) = region.guard.expect("windows inside have a guard");
        let ends = |at: &str| {
            let is_not = if polarity == Polarity::On { "" } else { "!" };
            format!("{is_not}{}", kept_truth(windows, guard, &active.entries.of(at)))
        };
        let is_end = ends(&b);
        let one = self.window_inside(windows, (outer, region), &active, &is_end);
        match region.order {
            Direction::Forward => {
                inside.block(&format!("for (int64_t {a} = 0, {b} = 0; {a} < {m}; {a} = ++{b})"), |lines| {
                    lines.line(format!("while ({b} + 1 < {m} && !({is_end})) {b}++;"));
                    lines.append(&one);
                });
            }
            Direction::Backward => {
                let is_before = ends(&format!("({a} - 1)"));
                inside.block(&format!("for (int64_t {b} = {m} - 1; {b} >= 0;)"), |lines| {
                    lines.line(format!("int64_t {a} = {b};"));
                    lines.line(format!("while ({a} > 0 && !({is_before})) {a}--;"));
                    lines.append(&one);
                    lines.line(format!("{b} = {a} - 1;"));
                });
            }
        }
        lines.block("", |lines| lines.append(&inside));
    }

    /// One of the windows.
    fn window_inside(
        &mut self,
        windows: &'a Windows,
        (outer, region): (&'a Region, &'a Region),
        active: &Active,
        is_end: &str,
    ) -> Lines {
        let (number, around) = (active.number, self.frame.clone());
        let start = format!("a{number}");
        let entries = match &active.entries {
            Entries::Listed(list, _) => Entries::Listed(list.clone(), start),
            entries => Entries::From(start, Box::new(entries.clone())),
        };
        self.frame = Frame { is_open: false, is_cut_off: around.is_cut_off, entries };
        let (base, mut lines) = (100 * (number + 1), Lines::default());
        let mut closed = Lines::default();
        self.closed_window_inside(windows, region, base, &mut closed);
        lines.line(format!("const int64_t n = b{number} - a{number} + 1;"));
        // A window of a unit ends where the one around it does, unless the trace ends there.
        if outer.mode == Mode::Trace || around.is_cut_off {
            let mut open = Lines::default();
            self.frame.is_open = true;
            self.frame.is_cut_off = true;
            self.steps(windows, region, base, &mut open);
            if region.order == Direction::Backward {
                self.carry(windows, region, None, &mut open);
            }
            lines.block(&format!("if ({is_end})"), |lines| lines.append(&closed));
            lines.block("else", |lines| lines.append(&open));
        } else {
            lines.append(&closed);
        }
        self.frame = around;
        lines
    }

    fn closed_window_inside(
        &mut self,
        windows: &'a Windows,
        region: &'a Region,
        base: usize,
        lines: &mut Lines,
    ) {
        self.frame.is_cut_off = false;
        let mut choice = "0".to_string();
        for (number, alternative) in region.alternatives.iter().enumerate().rev() {
            let truth = |(var, value): &(VarId, bool)| {
                let text = kept_truth(windows, *var, &self.frame.entry("(n - 1)"));
                if *value { text } else { format!("!{text}") }
            };
            let conditions: Vec<String> = alternative.conditions.iter().map(truth).collect();
            choice = format!("({}) ? {number} : {choice}", conditions.join(" && "));
        }
        lines.line(format!("const int alt = {choice};"));
        lines.line("(void)alt;");
        let singles = region.single.iter().enumerate().map(|(alternative, body)| {
            let mut lines = self.body(usize::MAX, body, None, &[]);
            self.carry(windows, region, Some(Zone::Only(alternative)), &mut lines);
            lines
        });
        let singles: Vec<Lines> = singles.collect();
        lines.block("if (n == 1)", |lines| {
            lines.line("const int64_t t = 0;");
            lines.line("(void)t;");
            alternatives(&singles, lines);
        });
        let mut long = Lines::default();
        self.steps(windows, region, base, &mut long);
        let carried = last_zones(region).into_iter().map(|zone| {
            let mut lines = Lines::default();
            self.carry(windows, region, Some(zone), &mut lines);
            lines
        });
        let carried: Vec<Lines> = carried.collect();
        alternatives(&carried, &mut long);
        lines.block("else", |lines| lines.append(&long));
    }
}

/// A condition that is kept for all cycles of the window.
fn kept_truth(windows: &Windows, var: VarId, entry: &str) -> String {
    let arrived = windows.arrivals.iter().find(|arrival| arrival.var == var);
    let buffer = arrived.and_then(|arrival| arrival.buffer).map(|buffer| buffer.0);
    let buffer = buffer.or_else(|| windows.buffers.iter().position(|buffer| buffer.vars.contains(&var)));
    format!("self->w{}[{entry}]", buffer.expect("what ends windows is kept"))
}

/// The buffers that a region writes, those of units inside included.
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

/// Where a loop over a window reads.
pub(super) fn shifted(read: &Read) -> (VarId, &Place, &'static str) {
    match read {
        Read::Here(var, place) => (*var, place, ""),
        Read::Before { var, inner, .. } => (*var, inner, " - 1"),
        Read::After { var, inner, .. } => (*var, inner, " + 1"),
    }
}
