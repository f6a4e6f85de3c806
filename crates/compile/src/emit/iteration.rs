//! A loop whose iterations are calls of `step`, and what one of them computes.

use eddy_flow::VarId;
use eddy_plan::plan::{Instruction, Lagged, Late, Place, Read, Region, Right};
use rustc_hash::FxHashMap;

use crate::lower::Code;

/// A loop and what its code needs to know.
pub(super) struct Loop<'p> {
    pub lagged: &'p Lagged,
    /// For each stream where it is computed.
    positions: FxHashMap<VarId, usize>,
    /// Whether there are no more inputs: only what is late is left to be computed.
    pub is_over: bool,
    /// At how many of the last cycles of the trace a stream may be unknown. Nothing is computed there.
    unknown: FxHashMap<VarId, usize>,
}

impl<'p> Loop<'p> {
    pub(super) fn new(lagged: &'p Lagged) -> Loop<'p> {
        let positions =
            lagged.body.iter().enumerate().map(|(position, late)| (late.instruction.var, position));
        Loop { lagged, positions: positions.collect(), is_over: false, unknown: FxHashMap::default() }
    }

    /// The loop when there are no more inputs.
    pub(super) fn over(lagged: &'p Lagged) -> Loop<'p> {
        Loop { is_over: true, unknown: unknown_cycles(lagged), ..Loop::new(lagged) }
    }

    /// At how many of the last cycles something that the loop shows may be unknown.
    pub(super) fn unknown_at_end(&self) -> usize {
        let reads = self.lagged.emit.code.iter().flat_map(Region::reads);
        reads.map(|read| self.unknown_cycles(read.var())).max().unwrap_or(0)
    }

    fn unknown_cycles(&self, var: VarId) -> usize {
        self.unknown.get(&var).copied().unwrap_or(0)
    }

    /// The equations that an iteration computes.
    pub(super) fn body(&self) -> impl Iterator<Item = &'p Late> + use<'p> {
        let is_over = self.is_over;
        self.lagged.body.iter().filter(move |late| !is_over || late.lag > 0)
    }

    /// Whether an iteration computes a stream.
    pub(super) fn computes(&self, var: VarId) -> bool {
        self.late(var).is_some_and(|late| !self.is_over || late.lag > 0)
    }

    /// The equation of the loop that computes a stream.
    pub(super) fn late(&self, var: VarId) -> Option<&'p Late> {
        self.positions.get(&var).map(|position| &self.lagged.body[*position])
    }

    /// What must hold for a stream to have a cycle in an iteration.
    pub(super) fn has_come(&self, late: &Late) -> Option<String> {
        let lag = late.lag;
        match (lag, self.is_over) {
            (0, false) => None,
            (_, false) => Some(format!("t >= {lag}")),
            (_, true) => {
                let end = before_end(lag, self.unknown_cycles(late.instruction.var));
                Some(format!("t >= {lag} && {end}"))
            }
        }
    }
}

/// What must hold for the cycle of what is so late not to be past the end, or among so many last ones.
pub(super) fn before_end(lag: usize, unknown: usize) -> String {
    if unknown > lag {
        format!("t < end - {}", unknown - lag)
    } else {
        format!("t < end + {}", lag - unknown)
    }
}

/// At how many of the last cycles of the trace streams may be unknown, whatever conditions are: `post` adds a cycle, `fby` takes one away.
/// A stream is at least so late, so that there is an end to this.
fn unknown_cycles(lagged: &Lagged) -> FxHashMap<VarId, usize> {
    let mut unknown: FxHashMap<VarId, usize> = FxHashMap::default();
    loop {
        let mut is_same = true;
        for Late { instruction, .. } in &lagged.body {
            let found = unknown_cycles_of(lagged, instruction, &unknown);
            if found > 0 && unknown.insert(instruction.var, found) != Some(found) {
                is_same = false;
            }
        }
        if is_same {
            return unknown;
        }
    }
}

fn unknown_cycles_of(lagged: &Lagged, instruction: &Instruction, unknown: &FxHashMap<VarId, usize>) -> usize {
    let of = |read: &Read| unknown.get(&read.var()).copied().unwrap_or(0);
    let value = match &instruction.right {
        Right::Previous { init, next, .. } => of(init).max(of(next).saturating_sub(1)),
        Right::Register { init, .. } => {
            let register = lagged.registers.iter().find(|register| register.fby == instruction.var);
            of(init).max(register.map_or(0, |register| of(&register.next)).saturating_sub(1))
        }
        Right::Ahead { next, init, .. } => {
            let next = next.as_ref().map_or(0, of);
            match init {
                None => next + 1,
                Some(init) if next == 0 => of(init),
                Some(init) => of(init).max(next + 1),
            }
        }
        right => right.reads().map(of).max().unwrap_or(0),
    };
    instruction.clock.iter().map(|condition| of(&condition.read)).fold(value, usize::max)
}

/// Where a loop whose equations are late reads: the place says how many iterations ago, whichever cycle that was.
pub(super) fn in_loop(read: &Read) -> (&VarId, &Place) {
    match read {
        Read::Here(var, place) => (var, place),
        Read::Before { var, inner, .. } | Read::After { var, inner, .. } => (var, inner),
    }
}

/// Conditions are still there when all statements have run.
pub(super) fn keep_conditions(this: &Loop<'_>, code: &mut Code) {
    let clocks = this.lagged.body.iter().flat_map(|late| &late.instruction.clock);
    for condition in clocks {
        if this.computes(condition.read.var()) {
            code.live_out.push(condition.read.var());
        }
    }
}
