//! Checkpoints (section 7): a loop saves its registers at the start of each chunk of the window, and runs
//! again over each chunk before the loop in the other direction reads it; see [`chunks`](super::chunks).

use eddy_flow::VarId;
use eddy_imp::{Block, Expr, Place, Stmt, Type};
use eddy_plan::plan::{Checkpoint, Direction, Region, Sweep, chunk_length};

use super::super::assign::copy;
use super::super::reads::memory;
use super::super::{Emitter, field_name};
use super::chunks::{Chunks, run};
use super::{last_zones, n};
use crate::precision::element_type;

impl<'a> Emitter<'a> {
    /// The length of chunks in the longest window.
    pub(super) fn max_chunk(&self) -> usize {
        usize::try_from(chunk_length(self.max_outputs as u64)).unwrap_or(usize::MAX)
    }

    /// The number of entries of a chunk buffer: one cycle before and one after the chunk are included.
    pub(super) fn chunk_entries(&self) -> usize {
        self.max_chunk() + 2
    }

    /// A sweep of a region with checkpoints.
    pub(super) fn sweep_or_chunks(
        &mut self,
        region: &'a Region,
        number: usize,
        sweep: &'a Sweep,
        block: &mut Block,
    ) {
        let of = |is_of: &dyn Fn(&Checkpoint) -> bool| {
            region.checkpoints.iter().enumerate().filter(|(_, one)| is_of(one)).collect::<Vec<_>>()
        };
        let begun = of(&|checkpoint| checkpoint.writer == number);
        let ended = of(&|checkpoint| checkpoint.reader == number);
        if let [(which, checkpoint)] = begun[..] {
            self.sweep_to_checkpoints(region, number, sweep, (which, checkpoint), block);
        } else if ended.is_empty() {
            self.sweep(region, number, sweep, block);
        } else {
            self.sweep_by_chunks(region, number, sweep, &ended, block);
        }
    }

    pub(super) fn chunk_of_window(region: &Region, block: &mut Block) {
        if !region.checkpoints.is_empty() {
            let chunk = || Expr::var("chunk");
            block.variable("chunk", Type::Cycle, 1);
            let mut longer = Block::new();
            longer.assign("chunk", chunk() + 1);
            block.push(Stmt::While((chunk() * chunk()).lt(n()), longer));
        }
    }

    /// A loop that saves its registers.
    fn sweep_to_checkpoints(
        &mut self,
        region: &'a Region,
        number: usize,
        sweep: &'a Sweep,
        (which, checkpoint): (usize, &'a Checkpoint),
        block: &mut Block,
    ) {
        let chunks = Chunks(sweep.direction);
        let bodies = self.bodies(region, number, sweep, &[]);
        let mut aside = Block::new();
        for var in &checkpoint.registers {
            let (from, to) = (self.register(number, *var), self.put_aside(chunks, which, *var));
            copy(&memory(from, self.ty(*var)), &to, self.ty(*var), &mut aside);
        }
        for tracker in &checkpoint.again.trackers {
            let (register, flag) = self.tracker(number, tracker.shift);
            let (to, is_written) = self.tracker_put_aside(chunks, which, tracker.shift);
            let ty = self.ty(tracker.shift).clone();
            aside.when(flag.load(), |block| copy(&memory(register, &ty), &to, &ty, block));
            aside.store(is_written, flag);
        }
        for (certain, to) in self.certainties_put_aside(chunks, which, (number, checkpoint)) {
            aside.store(to, certain);
        }
        let way = way(sweep.direction);
        block.note(format!("sweep {number}, {way}; registers are put aside where a chunk begins"));
        self.start_sampled(number, sweep, block);
        let end = self.end_of_inner(region);
        chunks.in_order(block, |block| {
            chunks.bounds(&end, block);
            block.when(chunks.is_later(), |block| block.append(aside));
            run(bodies, sweep.direction, Block::new(), block);
        });
    }

    /// A loop before each chunk of which loops in the other direction run again.
    fn sweep_by_chunks(
        &mut self,
        region: &'a Region,
        number: usize,
        sweep: &'a Sweep,
        checkpoints: &[(usize, &'a Checkpoint)],
        block: &mut Block,
    ) {
        let sums = if self.frame.is_open {
            Vec::new()
        } else {
            self.deferred(region, number, sweep, self.chunk_entries())
        };
        let bodies = self.bodies(region, number, sweep, &sums);
        let mut after_inner = Block::new();
        self.write_sums(number, sweep.direction, &sums, &mut after_inner);
        let again: Vec<Block> =
            checkpoints.iter().map(|(which, checkpoint)| self.again(region, *which, checkpoint)).collect();
        block.note(format!("sweep {number}, {}, chunk by chunk", way(sweep.direction)));
        self.start_sampled(number, sweep, block);
        let (end, chunks) = (self.end_of_inner(region), Chunks(checkpoints[0].1.again.direction));
        chunks.reversed(block, |block| {
            chunks.bounds(&end, block);
            for again in again {
                block.push(Stmt::Scope(again));
            }
            run(bodies, sweep.direction, after_inner, block);
        });
    }

    /// A loop that runs again over a chunk, from its saved registers.
    fn again(&mut self, region: &'a Region, which: usize, checkpoint: &'a Checkpoint) -> Block {
        let (number, chunks, mut block) =
            (checkpoint.writer, Chunks(checkpoint.again.direction), Block::new());
        let mut ahead = Block::new();
        let [to, from, is_there] = chunks.ahead();
        for (var, buffer) in &checkpoint.ahead {
            let (entries, ty) = (Place::state(self.buffer_name(*buffer)), self.ty(*var));
            copy(&memory(entries.index(&from), ty), &entries.index(&to), ty, &mut ahead);
            if self.companion(*var).is_some() {
                let certain = self.certainties_of_buffer(*buffer);
                ahead.store(certain.index(&to), certain.index(&from));
            }
        }
        if !ahead.is_empty() {
            block.when(is_there, |block| block.append(ahead));
        }
        let mut registers = Block::new();
        for var in &checkpoint.registers {
            let (from, to) = (self.put_aside(chunks, which, *var), self.register(number, *var));
            copy(&memory(from, self.ty(*var)), &to, self.ty(*var), &mut registers);
        }
        for (certain, from) in self.certainties_put_aside(chunks, which, (number, checkpoint)) {
            registers.store(certain, from);
        }
        for (var, buffer) in &checkpoint.behind {
            let from = self.register(number, *var);
            let to = Place::state(self.buffer_name(*buffer)).index(chunks.behind());
            copy(&memory(from, self.ty(*var)), &to, self.ty(*var), &mut registers);
            if self.companion(*var).is_some() {
                let (to, from) = (self.certainties_of_buffer(*buffer), self.register_certainty(number, *var));
                registers.store(to.index(chunks.behind()), from);
            }
        }
        for tracker in &checkpoint.again.trackers {
            let (register, flag) = self.tracker(number, tracker.shift);
            let (from, is_written) = self.tracker_put_aside(chunks, which, tracker.shift);
            let ty = self.ty(tracker.shift).clone();
            registers.store(&flag, is_written);
            registers.when(flag.load(), |block| copy(&memory(from, &ty), &register, &ty, block));
        }
        if !registers.is_empty() {
            block.when(chunks.is_later(), |block| block.append(registers));
        }
        let mut carried = Block::new();
        self.start_sampled(number, &checkpoint.again, &mut carried);
        if !carried.is_empty() {
            block.when(chunks.is_first(), |block| block.append(carried));
        }
        let bodies = self.bodies(region, number, &checkpoint.again, &[]);
        run(bodies, chunks.0, Block::new(), &mut block);
        block
    }

    /// Where the register of a stream is saved.
    fn put_aside(&mut self, chunks: Chunks, which: usize, var: VarId) -> Place {
        let name = format!("ca{which}_{}", self.names.of(var));
        if self.state.find(&name).is_none() {
            let ty = self.ty(var);
            let mut dimensions = vec![self.max_chunk()];
            if !ty.shape.is_scalar() {
                dimensions.push(ty.shape.iter().product());
            }
            let comment = self.label(var);
            self.state.field(name.as_str(), element_type(ty.scalar), dimensions, comment, self.precision);
        }
        Place::state(name).index(chunks.number())
    }

    /// Where the register of a delay on a sampled clock is saved, and whether it has a value.
    fn tracker_put_aside(&mut self, chunks: Chunks, which: usize, shift: VarId) -> (Place, Place) {
        let flags = self.flags(format!("cg{which}_{}", self.names.of(shift)), vec![self.max_chunk()]);
        (self.put_aside(chunks, which, shift), flags.index(chunks.number()))
    }

    /// Where the flags that say whether registers are known are saved.
    fn certainties_put_aside(
        &mut self,
        chunks: Chunks,
        which: usize,
        (number, checkpoint): (usize, &'a Checkpoint),
    ) -> Vec<(Place, Place)> {
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
            let flags = self.flags(format!("ck{which}_{}", field_name(&certain)), vec![self.max_chunk()]);
            found.push((certain, flags.index(chunks.number())));
        }
        found
    }

    /// The cycle after the last inner one.
    fn end_of_inner(&self, region: &Region) -> Expr {
        if self.frame.is_open || last_zones(region).is_empty() { n() } else { n() - 1 }
    }
}

/// The direction of a sweep as text.
fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forwards",
        Direction::Backward => "backwards",
    }
}
