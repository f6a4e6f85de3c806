//! A loop whose iterations are calls of `step`, and the code of one iteration.

use eddy_flow::VarId;
use eddy_imp::Expr;
use eddy_plan::plan::{Instruction, Lagged, Late, Place, Read, Region, Right};
use rustc_hash::FxHashMap;

use crate::lower::Code;

/// A loop with facts that its code depends on.
pub(super) struct Loop<'p> {
    pub lagged: &'p Lagged,
    /// The position of each stream's equation.
    positions: FxHashMap<VarId, usize>,
    /// Whether the inputs have ended: only streams with a lag remain to be computed.
    pub is_after_end: bool,
    /// For each stream, at how many of the last cycles of the trace it may be unknown. It is not computed
    /// there.
    unknown: FxHashMap<VarId, usize>,
}

impl<'p> Loop<'p> {
    pub(super) fn new(lagged: &'p Lagged) -> Loop<'p> {
        let positions =
            lagged.body.iter().enumerate().map(|(position, late)| (late.instruction.var, position));
        Loop { lagged, positions: positions.collect(), is_after_end: false, unknown: FxHashMap::default() }
    }

    /// The loop after the inputs have ended.
    pub(super) fn after_end(lagged: &'p Lagged) -> Loop<'p> {
        Loop { is_after_end: true, unknown: unknown_cycles(lagged), ..Loop::new(lagged) }
    }

    /// At how many of the last cycles an output of the loop may be unknown.
    pub(super) fn unknown_at_end(&self) -> usize {
        let reads = self.lagged.emit.code.iter().flat_map(Region::reads);
        reads.map(|read| self.unknown_cycles(read.var())).max().unwrap_or(0)
    }

    fn unknown_cycles(&self, var: VarId) -> usize {
        self.unknown.get(&var).copied().unwrap_or(0)
    }

    /// The equations that an iteration computes.
    pub(super) fn body(&self) -> impl Iterator<Item = &'p Late> + use<'p> {
        let is_after_end = self.is_after_end;
        self.lagged.body.iter().filter(move |late| !is_after_end || late.lag > 0)
    }

    pub(super) fn computes(&self, var: VarId) -> bool {
        self.late(var).is_some_and(|late| !self.is_after_end || late.lag > 0)
    }

    /// The equation of the loop that computes a stream.
    pub(super) fn late(&self, var: VarId) -> Option<&'p Late> {
        self.positions.get(&var).map(|position| &self.lagged.body[*position])
    }

    /// The condition under which a stream has a cycle in an iteration.
    pub(super) fn has_come(&self, late: &Late) -> Option<Expr> {
        let lag = late.lag;
        match (lag, self.is_after_end) {
            (0, false) => None,
            (_, false) => Some(t().ge(lag)),
            (_, true) => {
                Some(t().ge(lag).and_then(before_end(lag, self.unknown_cycles(late.instruction.var))))
            }
        }
    }
}

/// The condition that the cycle of a stream with this lag is neither past the end nor among the last
/// `unknown` ones.
pub(super) fn before_end(lag: usize, unknown: usize) -> Expr {
    let end = Expr::var("end");
    t().lt(if unknown > lag { end - (unknown - lag) } else { end + (lag - unknown) })
}

/// The index of the cycle: in the trace for a loop, in the window for a sweep.
pub(super) fn t() -> Expr {
    Expr::var("t")
}

/// For each stream, at how many of the last cycles of the trace it may be unknown, for all conditions: `post`
/// adds a cycle, `fby` removes one. A stream has at least this lag, so the iteration ends.
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

/// The place that a loop with lags reads: it gives the number of iterations since the value was computed, for
/// every cycle.
pub(super) fn in_loop(read: &Read) -> (&VarId, &Place) {
    match read {
        Read::Here(var, place) => (var, place),
        Read::Before { var, inner, .. } | Read::After { var, inner, .. } => (var, inner),
    }
}

/// Keeps conditions until all statements have run.
pub(super) fn keep_conditions(this: &Loop<'_>, code: &mut Code) {
    let clocks = this.lagged.body.iter().flat_map(|late| &late.instruction.clock);
    for condition in clocks {
        if this.computes(condition.read.var()) {
            code.live_out.push(condition.read.var());
        }
    }
}
