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
//! * [`step`]: the prelude, the arrivals, and the window if it closes here.
//! * [`sweep`]: the loops over a window.
//! * [`checkpoint`]: loops that run again, chunk by chunk.
//! * [`deferred`]: sums of outer products, taken after a loop.
//! * [`read`]: where cells of a window are.
//! * [`show`]: outputs, and what is carried into the next window.

mod checkpoint;
mod deferred;
mod read;
mod show;
mod step;
mod sweep;

use eddy_flow::{Kind, Polarity, VarId};
use eddy_plan::plan::{BufferId, Cut, Immediate, Mode, Region, Scalar, Step, Version, Windows, Zone, ZoneId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Emitter, Memory, MemoryPlace, NotCompiled, Shape};
use crate::layout::Element;
use crate::lines::Lines;
use crate::lower::{Code, Lowered, lower};

/// Where code of a window is.
struct Context {
    /// The number of the sweep; registers of neighbours are its own.
    sweep: usize,
    /// The streams that are computed here.
    computed: FxHashSet<VarId>,
    /// Pointers that must be declared first.
    pointers: Lines,
    n_pointers: usize,
}

impl<'a> Emitter<'a> {
    /// Writes `step`, `flush` and the window.
    pub(super) fn windows(&mut self, windows: &'a Windows, max_window: usize) -> Result<(), NotCompiled> {
        check(windows, self)?;
        let guard = match &windows.cut {
            Cut::Guard(guard, polarity) => Some((*guard, *polarity)),
            Cut::Trace => None,
            Cut::Derived(_) => return Err(NotCompiled::Windows),
        };
        self.state.field(
            "n".into(),
            Element::Count,
            Vec::new(),
            "cycles in the window".into(),
            self.precision,
        );
        self.reset_state.line("self->n = 0;");
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
            let (element, precision) = (Element::Value(ty.scalar), self.precision);
            self.state.field(
                self.buffer_name(BufferId(number)),
                element,
                dimensions,
                names.join("; "),
                precision,
            );
            if !buffer.is_chunked && buffer.vars.iter().any(|var| self.is_sampled(*var)) {
                self.state.field(
                    format!("wf{number}"),
                    Element::Flag,
                    vec![max_window],
                    String::new(),
                    precision,
                );
            }
        }
        for (number, Scalar { var, .. }) in windows.scalars.iter().enumerate() {
            let ty = self.ty(*var);
            let comment = self.label(*var);
            self.state.value(format!("u{number}"), ty.scalar, &ty.shape, comment, self.precision);
            if self.is_sampled(*var) {
                self.state.field(
                    format!("uf{number}"),
                    Element::Flag,
                    Vec::new(),
                    String::new(),
                    self.precision,
                );
            }
        }
        for (number, carried) in windows.carried.iter().enumerate() {
            let ty = self.ty(carried.shift);
            let comment = self.label(carried.shift);
            self.state.value(format!("p{number}"), ty.scalar, &ty.shape, comment, self.precision);
        }
        self.shape = match guard {
            Some((guard, polarity)) => Shape::Windows(guard, polarity == Polarity::On),
            None => Shape::Trace,
        };
        self.known_memories(&windows.versions[0].region);
        let name = self.name.clone();
        for (number, version) in windows.versions.iter().enumerate() {
            let mut body = Lines::default();
            self.version(windows, version, &mut body);
            self.functions.line("");
            let head = format!(
                "static int32_t {name}_window{number}({name}_state *self, int64_t n, int alt, {name}_out *out)"
            );
            self.functions.block(&head, |lines| {
                lines.function_body(&["self", "alt", "out"], &body);
                lines.line("return (int32_t)n;");
            });
        }
        self.step_of_windows(windows, guard, max_window);
        match guard {
            Some(_) => self.flush_nothing(),
            None => self.flush_trace(),
        }
        Ok(())
    }

    /// All sweeps of a window, the outputs, and what is carried.
    fn version(&mut self, windows: &'a Windows, version: &'a Version, lines: &mut Lines) {
        let region = &version.region;
        let singles: Vec<Lines> = region
            .single
            .iter()
            .enumerate()
            .map(|(alternative, body)| {
                let mut lines = self.body(usize::MAX, body, None, &[]);
                self.emission(region, version, Zone::Only(alternative), &mut lines);
                self.carry(windows, region, Zone::Only(alternative), &mut lines);
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
        for (number, step) in region.steps.iter().enumerate() {
            let Step::Sweep(sweep) = step else { unreachable!("units were refused") };
            self.sweep_or_chunks(region, number, sweep, lines);
        }
        self.emissions(region, version, lines);
        let carried: Vec<Lines> = last_zones(region)
            .into_iter()
            .map(|zone| {
                let mut lines = Lines::default();
                self.carry(windows, region, zone, &mut lines);
                lines
            })
            .collect();
        alternatives(&carried, lines);
    }

    /// Delays whose value is known where a window begins.
    fn known_memories(&mut self, region: &'a Region) {
        let starts = |zone: ZoneId| matches!(region.zones[zone.0], Zone::First | Zone::Only(_));
        let mut fbys: FxHashMap<VarId, Vec<&'a Immediate>> = FxHashMap::default();
        for claim in region.claims.iter().filter(|claim| starts(claim.zone)) {
            fbys.entry(claim.var).or_default().push(&claim.value);
        }
        for equation in &self.source.flow.equations {
            let values = fbys.get(&equation.out).map_or(&[][..], Vec::as_slice);
            if let (Kind::Fby { .. }, [value, rest @ ..]) = (&equation.kind, values)
                && rest.iter().all(|other| other == value)
            {
                let place = match value {
                    Immediate::Value(value) => MemoryPlace::Known(value.clone()),
                    Immediate::Invariant(var) => MemoryPlace::Invariant(format!("k_{}", self.names.of(*var))),
                };
                let fby = equation.out;
                let ty = self.ty(fby).clone();
                self.memories.push(Memory { fby, ty, place, is_written_each_cycle: false });
            }
        }
    }

    pub(super) fn lowered(&mut self, code: &Code) -> Lowered {
        let names = |var: VarId| self.names.of(var);
        lower(code, &names, self.precision, &mut self.scratch)
    }
}

/// Whether an operation in some code may have no value.
fn can_fail(codes: &[Lines]) -> bool {
    codes.iter().any(|lines| lines.text().contains("&error"))
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

/// What is not printed yet runs in the simulator.
fn check(windows: &Windows, emitter: &Emitter<'_>) -> Result<(), NotCompiled> {
    // At the end of a trace `post` is unknown; compiled code knows no such values.
    let is_known = !matches!(windows.cut, Cut::Trace) || emitter.root.may_be_unknown.is_empty();
    if windows.prelude.max_lag > 0 || !is_known {
        return Err(NotCompiled::Windows);
    }
    for version in &windows.versions {
        let region = &version.region;
        if region.mode == Mode::Cut {
            return Err(NotCompiled::Windows);
        }
        if region.checkpoints.iter().any(|checkpoint| !checkpoint.again.trackers.is_empty()) {
            return Err(NotCompiled::Windows);
        }
        for step in &region.steps {
            match step {
                Step::Unit(_) => return Err(NotCompiled::Windows),
                Step::Sweep(sweep) if !sweep.trackers.is_empty() => return Err(NotCompiled::Windows),
                Step::Sweep(sweep) => {
                    let is_sampled = |var: VarId| emitter.source.clocks.of(var) != region.clock;
                    if sweep.latches.iter().any(|latch| is_sampled(latch.var)) {
                        return Err(NotCompiled::Windows);
                    }
                }
            }
        }
        let is_sampled = |slot: usize| emitter.source.clocks.of(windows.carried[slot].next) != region.clock;
        if region.slots.iter().any(|(slot, _)| is_sampled(slot.0)) {
            return Err(NotCompiled::Windows);
        }
    }
    Ok(())
}
