//! Checkpoints (section 7): a loop puts its registers aside where a chunk of the window begins, and runs again over each chunk before
//! the loop that goes the other way goes through it; see [`chunks`](super::chunks).

use eddy_flow::VarId;
use eddy_plan::plan::{Checkpoint, Direction, Region, Sweep, chunk_length};

use super::super::Emitter;
use super::super::assign::copy;
use super::super::reads::memory;
use super::chunks::{Chunks, run};
use super::last_zones;
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
        let begun = of(&|checkpoint| checkpoint.writer == number);
        let ended = of(&|checkpoint| checkpoint.reader == number);
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

    /// A loop that puts its registers aside.
    fn sweep_to_checkpoints(
        &mut self,
        region: &'a Region,
        number: usize,
        sweep: &'a Sweep,
        (which, checkpoint): (usize, &'a Checkpoint),
        lines: &mut Lines,
    ) {
        let chunks = Chunks(sweep.direction);
        let bodies = self.bodies(region, number, sweep, &[]);
        let mut aside = Lines::default();
        for var in &checkpoint.registers {
            let (from, to) = (self.register(number, *var), self.put_aside(chunks, which, *var));
            copy(&memory(from, self.ty(*var)), &to, self.ty(*var), &mut aside);
        }
        for tracker in &checkpoint.again.trackers {
            let (register, flag) = self.tracker(number, tracker.shift);
            let (to, is_written) = self.tracker_put_aside(chunks, which, tracker.shift);
            let ty = self.ty(tracker.shift).clone();
            aside.guarded(std::slice::from_ref(&flag), |lines| copy(&memory(register, &ty), &to, &ty, lines));
            aside.line(format!("{is_written} = {flag};"));
        }
        for (certain, to) in self.certainties_put_aside(chunks, which, (number, checkpoint)) {
            aside.line(format!("{to} = {certain};"));
        }
        lines.line(format!(
            "/* sweep {number}, {}; registers are put aside where a chunk begins */",
            way(sweep.direction)
        ));
        self.start_sampled(number, sweep, lines);
        let end = self.end_of_inner(region);
        lines.block(chunks.in_order(), |lines| {
            chunks.bounds(end, lines);
            lines.block(&format!("if ({})", chunks.is_later()), |lines| lines.append(&aside));
            run(&bodies, sweep.direction, &Lines::default(), lines);
        });
    }

    /// A loop before each chunk of which loops that go the other way run again.
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
        self.write_sums(number, sweep.direction, &sums, &mut after_inner);
        let again: Vec<Lines> =
            checkpoints.iter().map(|(which, checkpoint)| self.again(region, *which, checkpoint)).collect();
        lines.line(format!("/* sweep {number}, {}, chunk by chunk */", way(sweep.direction)));
        self.start_sampled(number, sweep, lines);
        let (end, chunks) = (self.end_of_inner(region), Chunks(checkpoints[0].1.again.direction));
        lines.block(chunks.reversed(), |lines| {
            chunks.bounds(end, lines);
            for again in &again {
                lines.append(again);
            }
            run(&bodies, sweep.direction, &after_inner, lines);
        });
    }

    /// A loop that runs again over a chunk, from where it was.
    fn again(&mut self, region: &'a Region, which: usize, checkpoint: &'a Checkpoint) -> Lines {
        let (number, chunks, mut lines) =
            (checkpoint.writer, Chunks(checkpoint.again.direction), Lines::default());
        let mut ahead = Lines::default();
        let [to, from, is_there] = chunks.ahead();
        for (var, buffer) in &checkpoint.ahead {
            let (name, ty) = (format!("self->{}", self.buffer_name(*buffer)), self.ty(*var));
            copy(&memory(format!("{name}[{from}]"), ty), &format!("{name}[{to}]"), ty, &mut ahead);
            if self.companion(*var).is_some() {
                let certain = self.certainties_of_buffer(*buffer);
                ahead.line(format!("{certain}[{to}] = {certain}[{from}];"));
            }
        }
        if !ahead.is_empty() {
            lines.block(&format!("if ({is_there})"), |lines| lines.append(&ahead));
        }
        let mut registers = Lines::default();
        for var in &checkpoint.registers {
            let (from, to) = (self.put_aside(chunks, which, *var), self.register(number, *var));
            copy(&memory(from, self.ty(*var)), &to, self.ty(*var), &mut registers);
        }
        for (certain, from) in self.certainties_put_aside(chunks, which, (number, checkpoint)) {
            registers.line(format!("{certain} = {from};"));
        }
        for (var, buffer) in &checkpoint.behind {
            let from = self.register(number, *var);
            let to = format!("self->{}[{}]", self.buffer_name(*buffer), chunks.behind());
            copy(&memory(from, self.ty(*var)), &to, self.ty(*var), &mut registers);
            if self.companion(*var).is_some() {
                let (to, from) = (self.certainties_of_buffer(*buffer), self.register_certainty(number, *var));
                registers.line(format!("{to}[{}] = {from};", chunks.behind()));
            }
        }
        for tracker in &checkpoint.again.trackers {
            let (register, flag) = self.tracker(number, tracker.shift);
            let (from, is_written) = self.tracker_put_aside(chunks, which, tracker.shift);
            let ty = self.ty(tracker.shift).clone();
            registers.line(format!("{flag} = {is_written};"));
            registers.guarded(&[flag], |lines| copy(&memory(from, &ty), &register, &ty, lines));
        }
        lines.block(&format!("if ({})", chunks.is_later()), |lines| lines.append(&registers));
        let mut carried = Lines::default();
        self.start_sampled(number, &checkpoint.again, &mut carried);
        if !carried.is_empty() {
            lines.block(&format!("if ({})", chunks.is_first()), |lines| lines.append(&carried));
        }
        let bodies = self.bodies(region, number, &checkpoint.again, &[]);
        run(&bodies, chunks.0, &Lines::default(), &mut lines);
        lines
    }

    /// Where the register of a stream is put aside.
    fn put_aside(&mut self, chunks: Chunks, which: usize, var: VarId) -> String {
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
        format!("self->{name}[{}]", chunks.number())
    }

    /// Where the register of a delay on a sampled clock is put aside, and whether it has a value.
    fn tracker_put_aside(&mut self, chunks: Chunks, which: usize, shift: VarId) -> (String, String) {
        let flag = format!("cg{which}_{}", self.names.of(shift));
        if self.state.find(&flag).is_none() {
            let dimensions = vec![self.max_chunk()];
            self.state.field(flag.clone(), Element::Flag, dimensions, String::new(), self.precision);
        }
        (self.put_aside(chunks, which, shift), format!("self->{flag}[{}]", chunks.number()))
    }

    /// What says whether registers are known, and where that is put aside.
    fn certainties_put_aside(
        &mut self,
        chunks: Chunks,
        which: usize,
        (number, checkpoint): (usize, &'a Checkpoint),
    ) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let registers = checkpoint.registers.iter().map(|var| (*var, false));
        let trackers = checkpoint.again.trackers.iter().map(|tracker| (tracker.shift, true));
        for (var, is_tracker) in registers.chain(trackers) {
            if self.companion(var).is_none() {
                continue;
            }
            let certain = if is_tracker {
                self.tracker_certainty(number, var)
            } else {
                self.register_certainty(number, var)
            };
            let name = format!("ck{which}_{}", certain.trim_start_matches("self->"));
            if self.state.find(&name).is_none() {
                let dimensions = vec![self.max_chunk()];
                self.state.field(name.clone(), Element::Flag, dimensions, String::new(), self.precision);
            }
            found.push((certain, format!("self->{name}[{}]", chunks.number())));
        }
        found
    }

    /// The cycle after the last inner one.
    fn end_of_inner(&self, region: &Region) -> &'static str {
        if self.frame.is_open || last_zones(region).is_empty() { "n" } else { "n - 1" }
    }
}

/// The way of a sweep, in words.
fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forwards",
        Direction::Backward => "backwards",
    }
}
