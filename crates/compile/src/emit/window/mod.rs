//! Windows of time: inputs are collected until one closes, then sweeps run over it (sections 4 to 7, 10 and 12).
//!
//! ```text
//! step:     put the inputs into the buffers; return 0 unless the window closes here
//! window:   F, then I in a loop, then L, or the other way round, for each sweep
//!           fill the outputs, in cycle order; write what is carried
//! ```
//!
//! `t` is the cycle in the window, `n` its length, `alt` which alternative of its last zone holds.
//!
//! * [`step`]: the prelude, the arrivals, and the window if it closes here; [`prelude`]: what runs before windows.
//! * [`storage`]: buffers, and where delays start; [`sweep`]: the loops over a window.
//! * [`checkpoint`]: loops that run again, chunk by chunk; [`chunks`]: which cycles these are.
//! * [`nested`], [`retimed`]: units.
//! * [`derived`]: windows that end where nothing waits; [`doubt`]: what is not known there.
//! * [`deferred`]: sums of outer products, taken after a loop.
//! * [`read`]: where cells of a window are.
//! * [`frame`]: the cycles that code runs over.
//! * [`sampled`]: streams that are not there at all cycles.
//! * [`show`]: the outputs of a window.
//! * [`carry`]: what is carried into the next window.

mod carry;
mod checkpoint;
mod chunks;
mod deferred;
mod derived;
mod doubt;
mod frame;
mod nested;
mod prelude;
mod read;
mod retimed;
mod sampled;
mod show;
mod step;
mod storage;
mod sweep;

use eddy_flow::{Polarity, VarId};
use eddy_plan::plan::{Cut, Mode, OpenEntry, Region, Step, Unit, Version, Windows, Zone, ZoneEnd};
use rustc_hash::FxHashSet;

pub(super) use doubt::Doubts;
pub(super) use frame::Frame;

use super::assign::copy;
use super::{Constants, Emitter, NotCompiled, Shape};
use crate::lines::Lines;
use crate::lower::{Code, Lowered, lower};

/// Where code of a window is.
struct Context {
    /// The number of the sweep; registers of neighbours are its own.
    sweep: usize,
    /// The streams that are computed here.
    computed: FxHashSet<VarId>,
    /// Pointers that must be declared first.
    pointers: Vec<Pointer>,
}

/// A pointer to one of two arrays.
struct Pointer {
    name: String,
    declaration: String,
    targets: [String; 2],
}

impl Context {
    /// Where nothing is computed.
    fn nowhere() -> Context {
        Context { sweep: usize::MAX, computed: FxHashSet::default(), pointers: Vec::new() }
    }

    /// Declares the pointers that are mentioned in some code, in front of it.
    fn declare_pointers(&self, code: Lines) -> Lines {
        let mut lines = Lines::default();
        for pointer in self.pointers.iter().filter(|pointer| code.mention(&pointer.name)) {
            lines.line(&pointer.declaration);
        }
        lines.append(&code);
        lines
    }
}

impl<'a> Emitter<'a> {
    /// Writes `step`, `flush` and the window.
    pub(super) fn windows(&mut self, windows: &'a Windows, max_window: usize) -> Result<(), NotCompiled> {
        self.check(windows)?;
        self.count("n", "cycles in the window");
        let lag = windows.prelude.max_lag;
        self.max_outputs = max_window + lag;
        self.memory_of_windows(windows, max_window);
        self.shape = match &windows.cut {
            Cut::Guard(guard, polarity) => {
                Shape::Windows { end: Some((*guard, *polarity == Polarity::On)), lag }
            }
            Cut::Derived(_) => Shape::Windows { end: None, lag },
            Cut::Trace => Shape::Trace,
        };
        self.known_memories(&windows.versions[0].region);
        for (number, version) in windows.versions.iter().enumerate() {
            let mut body = Lines::default();
            self.version(windows, version, &mut body);
            self.function(&format!("window{number}"), "int64_t n, int alt", &body);
        }
        self.step_of_windows(windows, max_window);
        if self.opens && !matches!(windows.cut, Cut::Trace) && self.root.may_be_unknown.is_empty() {
            for (number, version) in windows.versions.iter().enumerate() {
                let mut body = Lines::default();
                self.open_version(windows, version, &mut body);
                self.function(&format!("open{number}"), "int64_t n", &body);
            }
        }
        self.flush_windows(windows, max_window);
        Ok(())
    }

    /// A function that runs a window.
    fn function(&mut self, function: &str, parameters: &str, body: &Lines) {
        let name = &self.name;
        let head =
            format!("static int32_t {name}_{function}({name}_state *self, {parameters}, {name}_out *out)");
        let has_alt = parameters.contains("alt");
        let unused: &[&str] = if has_alt { &["self", "alt", "out"] } else { &["self", "out"] };
        let has_units = has_alt && self.n_units > 0;
        self.functions.line("");
        self.functions.block(&head, |lines| {
            if has_units {
                // Windows inside have their own.
                lines.line("(void)alt;");
            }
            lines.function_body(unused, body);
            lines.line("return (int32_t)n;");
        });
    }

    /// The window that is open when the trace ends.
    fn open_version(&mut self, windows: &'a Windows, version: &'a Version, lines: &mut Lines) {
        let region = &version.region;
        self.frame = Frame { is_open: true, is_cut_off: true, ..Frame::default() };
        self.n_units = 0;
        Self::chunk_of_window(region, lines);
        self.steps(windows, region, 0, lines);
        self.emissions(region, version, lines);
        self.frame = Frame::default();
    }

    /// All steps of a region; `base` is the number of the first.
    fn steps(&mut self, windows: &'a Windows, region: &'a Region, base: usize, lines: &mut Lines) {
        if self.frame.is_open {
            self.open_held(region, lines);
        }
        for (number, step) in region.steps.iter().enumerate() {
            match step {
                Step::Sweep(sweep) if base == 0 => self.sweep_or_chunks(region, number, sweep, lines),
                Step::Sweep(sweep) => self.sweep(region, base + number, sweep, lines),
                Step::Unit(Unit::Retimed(retimed)) => self.retimed(windows, retimed, lines),
                Step::Unit(Unit::Nested(inner)) => self.nested(windows, (region, inner), lines),
            }
        }
    }

    /// What is held from the last cycle on is what it is at the end of the trace.
    fn open_held(&mut self, region: &'a Region, lines: &mut Lines) {
        for held in region.held.iter().filter(|held| held.entry.1 == ZoneEnd::Last) {
            if let OpenEntry::Init(immediate) = &held.open {
                let (view, ty) = (self.immediate(held.entry.0, immediate), self.ty(held.entry.0).clone());
                copy(&view, &format!("self->u{}", held.scalar.0), &ty, lines);
            }
            if self.is_sampled(held.entry.0) {
                lines.line(format!("self->uf{} = true;", held.scalar.0));
            }
        }
    }

    /// All sweeps of a window, the outputs, and what is carried.
    fn version(&mut self, windows: &'a Windows, version: &'a Version, lines: &mut Lines) {
        let region = &version.region;
        self.n_units = 0;
        if region.mode == Mode::Cut {
            self.frame.is_open = true;
            Self::chunk_of_window(region, lines);
            self.steps(windows, region, 0, lines);
            self.emissions(region, version, lines);
            self.carry(windows, region, None, lines);
            self.frame.is_open = false;
            return;
        }
        let singles: Vec<Lines> = region
            .single
            .iter()
            .enumerate()
            .map(|(alternative, body)| {
                let mut lines = self.body(usize::MAX, body, None, &[]);
                self.emission(region, version, Zone::Only(alternative), &mut lines);
                self.carry(windows, region, Some(Zone::Only(alternative)), &mut lines);
                lines
            })
            .collect();
        lines.block("if (n == 1)", |lines| {
            lines.line("const int64_t t = 0;");
            lines.line("(void)t;");
            alternatives(&singles, lines);
            lines.line(if can_fail(&singles) { "return error ? -error : 1;" } else { "return 1;" });
        });
        Self::chunk_of_window(region, lines);
        self.steps(windows, region, 0, lines);
        self.emissions(region, version, lines);
        let carried: Vec<Lines> = last_zones(region)
            .into_iter()
            .map(|zone| {
                let mut lines = Lines::default();
                self.carry(windows, region, Some(zone), &mut lines);
                lines
            })
            .collect();
        alternatives(&carried, lines);
    }

    /// What is not printed runs in the simulator.
    fn check(&mut self, windows: &'a Windows) -> Result<(), NotCompiled> {
        // At the end of a trace `post` is unknown; compiled code knows no such values.
        if let (Some(var), Cut::Trace) = (self.root.may_be_unknown.first(), &windows.cut) {
            return Err(NotCompiled::Unknown(self.labels.subject(*var, "`")));
        }
        // A host finds out that such an operation has a value after all; others would be told of an error that there is not.
        match self.find_doubts(windows) {
            Some(var) if self.constants_are == Constants::InText => {
                Err(NotCompiled::Fails(self.labels.subject(var, "`")))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn lowered(&mut self, code: &Code) -> Lowered {
        let names = |var: VarId| self.names.of(var);
        lower(code, &names, self.precision, &mut self.scratch, &self.long_loops)
    }
}

/// Whether an operation in some code may have no value.
fn can_fail(codes: &[Lines]) -> bool {
    codes.iter().any(|lines| lines.mention("&error"))
}

/// The last zones of windows of two or more cycles.
fn last_zones(region: &Region) -> Vec<Zone> {
    region.zones.iter().copied().filter(|zone| matches!(zone, Zone::Last(_))).collect()
}

/// Code for each alternative of the last zone.
fn alternatives(codes: &[Lines], lines: &mut Lines) {
    match codes {
        [] => {}
        [only] => lines.append(only),
        [codes @ .., last] => {
            for (number, code) in codes.iter().enumerate() {
                let word = if number == 0 { "if" } else { "else if" };
                lines.block(&format!("{word} (alt == {number})"), |lines| lines.append(code));
            }
            lines.block("else", |lines| lines.append(last));
        }
    }
}
