//! Checkpoints (section 7): a loop forwards puts its registers aside where a chunk of the window begins, and runs again over each chunk
//! before the loop backwards goes down through it.
//!
//! ```text
//! chunk:        how many cycles a chunk has, the square root of the length of the window, rounded up
//! from, to:     the first cycle of the chunk, and the one after its last
//! low, high:    the same, of its inner cycles
//! before:       the cycle before the chunk; buffers that are kept for one chunk begin there
//! ```

use eddy_flow::VarId;
use eddy_plan::plan::{Checkpoint, Direction, Region, Sweep, chunk_length};

use super::super::Emitter;
use super::super::assign::copy;
use super::super::reads::memory;
use super::sweep::Bodies;
use super::{alternatives, last_zones};
use crate::layout::Element;
use crate::lines::Lines;

impl<'a> Emitter<'a> {
    /// How long chunks are, in the longest window.
    pub(super) fn max_chunk(&self) -> usize {
        usize::try_from(chunk_length(self.max_outputs as u64)).unwrap_or(usize::MAX)
    }

    /// How many entries a buffer has that is kept for one chunk: a cycle before it, and one after it.
    pub(super) fn chunk_entries(&self) -> usize {
        self.max_chunk() + 2
    }

    /// A sweep of a region with checkpoints.
    pub(super) fn sweep_or_chunks(
        &mut self,
        region: &'a Region,
        number: usize,
        sweep: &'a Sweep,
        lines: &mut Lines,
    ) {
        let of = |is_of: &dyn Fn(&Checkpoint) -> bool| {
            region.checkpoints.iter().enumerate().filter(|(_, one)| is_of(one)).collect::<Vec<_>>()
        };
        let begun = of(&|checkpoint| checkpoint.forward == number);
        let ended = of(&|checkpoint| checkpoint.backward == number);
        if let [(which, checkpoint)] = begun[..] {
            self.sweep_to_checkpoints(region, number, sweep, (which, checkpoint), lines);
        } else if ended.is_empty() {
            self.sweep(region, number, sweep, lines);
        } else {
            self.sweep_by_chunks(region, number, sweep, &ended, lines);
        }
    }

    /// The length of chunks.
    pub(super) fn chunk_of_window(region: &Region, lines: &mut Lines) {
        if !region.checkpoints.is_empty() {
            lines.line("int64_t chunk = 1;");
            lines.line("while (chunk * chunk < n) chunk++;");
        }
    }

    /// A loop forwards that puts its registers aside.
    fn sweep_to_checkpoints(
        &mut self,
        region: &'a Region,
        number: usize,
        sweep: &'a Sweep,
        (which, checkpoint): (usize, &'a Checkpoint),
        lines: &mut Lines,
    ) {
        let bodies = self.bodies(region, number, sweep, &[]);
        let mut aside = Lines::default();
        for var in &checkpoint.registers {
            let (from, to) = (self.register(number, *var), self.put_aside(which, *var));
            copy(&memory(from, self.ty(*var)), &to, self.ty(*var), &mut aside);
        }
        for tracker in &checkpoint.again.trackers {
            let (register, flag) = self.tracker(number, tracker.shift);
            let (to, is_written) = self.tracker_put_aside(which, tracker.shift);
            let ty = self.ty(tracker.shift).clone();
            aside.guarded(&[flag.clone()], |lines| copy(&memory(register, &ty), &to, &ty, lines));
            aside.line(format!("{is_written} = {flag};"));
        }
        lines.line(format!("/* sweep {number}, forwards; registers are put aside where a chunk begins */"));
        self.start_sampled(number, sweep, lines);
        let end = self.end_of_inner(region);
        lines.block("for (int64_t from = 0; from < n; from += chunk)", |lines| {
            bounds(end, lines);
            lines.block("if (from > 0)", |lines| lines.append(&aside));
            forwards(&bodies, lines);
        });
    }

    /// A loop backwards, before each chunk of which loops forwards run again.
    fn sweep_by_chunks(
        &mut self,
        region: &'a Region,
        number: usize,
        sweep: &'a Sweep,
        checkpoints: &[(usize, &'a Checkpoint)],
        lines: &mut Lines,
    ) {
        let sums = if self.frame.is_open {
            Vec::new()
        } else {
            self.deferred(region, number, sweep, self.chunk_entries())
        };
        let bodies = self.bodies(region, number, sweep, &sums);
        let mut after_inner = Lines::default();
        self.write_sums(number, Direction::Backward, &sums, &mut after_inner);
        let again: Vec<[Lines; 2]> =
            checkpoints.iter().map(|(which, checkpoint)| self.again(region, *which, checkpoint)).collect();
        lines.line(format!("/* sweep {number}, backwards, chunk by chunk */"));
        self.start_sampled(number, sweep, lines);
        let end = self.end_of_inner(region);
        lines.block("for (int64_t from = (n - 1) / chunk * chunk; from >= 0; from -= chunk)", |lines| {
            bounds(end, lines);
            for [start, run] in &again {
                lines.append(start);
                lines.append(run);
            }
            if bodies.lasts.iter().any(|last| !last.is_empty()) {
                lines.block("if (to == n)", |lines| {
                    cycle("n - 1", lines);
                    alternatives(&bodies.lasts, lines);
                });
            }
            if !bodies.inner.is_empty() {
                let head = "for (int64_t t = high - 1; t >= low; t--)";
                lines.block(head, |lines| lines.append(&bodies.inner));
            }
            lines.append(&after_inner);
            if !bodies.first.is_empty() {
                lines.block("if (from == 0)", |lines| {
                    cycle("0", lines);
                    lines.append(&bodies.first);
                });
            }
        });
    }

    /// A loop forwards that runs again over a chunk: what it starts from, and the loop.
    fn again(&mut self, region: &'a Region, which: usize, checkpoint: &'a Checkpoint) -> [Lines; 2] {
        let (number, mut start, mut run) = (checkpoint.forward, Lines::default(), Lines::default());
        let mut ahead = Lines::default();
        for (var, buffer) in &checkpoint.ahead {
            // The first cycle of the chunk that was there is the one after this chunk.
            let (name, ty) = (format!("self->{}", self.buffer_name(*buffer)), self.ty(*var));
            copy(&memory(format!("{name}[1]"), ty), &format!("{name}[chunk + 1]"), ty, &mut ahead);
        }
        if !ahead.is_empty() {
            start.block("if (to < n)", |lines| lines.append(&ahead));
        }
        let mut registers = Lines::default();
        for var in &checkpoint.registers {
            let (from, to) = (self.put_aside(which, *var), self.register(number, *var));
            copy(&memory(from, self.ty(*var)), &to, self.ty(*var), &mut registers);
        }
        for (var, buffer) in &checkpoint.behind {
            let (from, to) = (self.register(number, *var), format!("self->{}[0]", self.buffer_name(*buffer)));
            copy(&memory(from, self.ty(*var)), &to, self.ty(*var), &mut registers);
        }
        for tracker in &checkpoint.again.trackers {
            let (register, flag) = self.tracker(number, tracker.shift);
            let (from, is_written) = self.tracker_put_aside(which, tracker.shift);
            let ty = self.ty(tracker.shift).clone();
            registers.line(format!("{flag} = {is_written};"));
            registers.guarded(&[flag], |lines| copy(&memory(from, &ty), &register, &ty, lines));
        }
        start.block("if (from > 0)", |lines| lines.append(&registers));
        let mut carried = Lines::default();
        self.start_sampled(number, &checkpoint.again, &mut carried);
        if !carried.is_empty() {
            start.block("if (from == 0)", |lines| lines.append(&carried));
        }
        let bodies = self.bodies(region, number, &checkpoint.again, &[]);
        forwards(&bodies, &mut run);
        [start, run]
    }

    /// Where the register of a stream is put aside, for the chunk that begins at `from`.
    fn put_aside(&mut self, which: usize, var: VarId) -> String {
        let name = format!("ca{which}_{}", self.names.of(var));
        if self.state.find(&name).is_none() {
            let ty = self.ty(var);
            let mut dimensions = vec![self.max_chunk()];
            if !ty.shape.is_scalar() {
                dimensions.push(ty.shape.iter().product());
            }
            let comment = self.label(var);
            self.state.field(name.clone(), Element::Value(ty.scalar), dimensions, comment, self.precision);
        }
        format!("self->{name}[from / chunk]")
    }

    /// Where the register of a delay on a sampled clock is put aside, and whether it has a value.
    fn tracker_put_aside(&mut self, which: usize, shift: VarId) -> (String, String) {
        let flag = format!("cg{which}_{}", self.names.of(shift));
        if self.state.find(&flag).is_none() {
            let dimensions = vec![self.max_chunk()];
            self.state.field(flag.clone(), Element::Flag, dimensions, String::new(), self.precision);
        }
        (self.put_aside(which, shift), format!("self->{flag}[from / chunk]"))
    }

    /// The cycle after the last inner one.
    fn end_of_inner(&self, region: &Region) -> &'static str {
        if self.frame.is_open || last_zones(region).is_empty() { "n" } else { "n - 1" }
    }
}

/// Where a chunk ends, and which of its cycles are inner ones.
fn bounds(end: &str, lines: &mut Lines) {
    lines.line("const int64_t to = from + chunk < n ? from + chunk : n, before = from - 1;");
    lines.line("const int64_t low = from > 0 ? from : 1;");
    lines.line(format!("const int64_t high = to < {end} ? to : {end};"));
    lines.line("(void)low, (void)high, (void)before;");
}

/// Says which cycle it is.
fn cycle(index: &str, lines: &mut Lines) {
    lines.line(format!("const int64_t t = {index};"));
    lines.line("(void)t;");
}

/// The cycles of a chunk, forwards.
fn forwards(bodies: &Bodies, lines: &mut Lines) {
    if !bodies.first.is_empty() {
        lines.block("if (from == 0)", |lines| {
            cycle("0", lines);
            lines.append(&bodies.first);
        });
    }
    if !bodies.inner.is_empty() {
        lines.block("for (int64_t t = low; t < high; t++)", |lines| lines.append(&bodies.inner));
    }
    if bodies.lasts.iter().any(|last| !last.is_empty()) {
        lines.block("if (to == n)", |lines| {
            cycle("n - 1", lines);
            alternatives(&bodies.lasts, lines);
        });
    }
}
