//! A loop whose iterations are calls of `step`, and what one of them computes.

use eddy_flow::VarId;
use eddy_plan::plan::{Lagged, Late, Place, Read};
use rustc_hash::FxHashMap;

use crate::lower::Code;

/// A loop and what its code needs to know.
pub(super) struct Loop<'p> {
    pub lagged: &'p Lagged,
    /// For each stream where it is computed.
    positions: FxHashMap<VarId, usize>,
    /// Whether there are no more inputs: only what is late is left to be computed.
    pub is_over: bool,
}

impl<'p> Loop<'p> {
    pub(super) fn new(lagged: &'p Lagged) -> Loop<'p> {
        let positions =
            lagged.body.iter().enumerate().map(|(position, late)| (late.instruction.var, position));
        Loop { lagged, positions: positions.collect(), is_over: false }
    }

    /// The loop when there are no more inputs.
    pub(super) fn over(lagged: &'p Lagged) -> Loop<'p> {
        Loop { is_over: true, ..Loop::new(lagged) }
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

    /// What must hold for a stream with this lag to have a cycle in an iteration.
    pub(super) fn has_come(&self, lag: usize) -> Option<String> {
        match (lag, self.is_over) {
            (0, false) => None,
            (_, false) => Some(format!("t >= {lag}")),
            (_, true) => Some(format!("t >= {lag} && t < end + {lag}")),
        }
    }
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
