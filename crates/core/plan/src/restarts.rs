//! Streams that have the same value after each restart.
//!
//! A node that restarts after `end` keeps its state in this form:
//!
//! ```text
//! first = true fby end
//! k     = if first then K else held
//! held  = K fby (if end then 0.0 else k)
//! ```
//!
//! If `first` is false, `end` was false at the previous cycle, so `held` is the value of `k` at that cycle.
//! By induction, `k` is always `K`. If `K` does not depend on time (a parameter, for example), neither does
//! `k`.

use eddy_flow::VarId;

use crate::known::KnownValue;
use crate::system::{Def, System};

impl System<'_> {
    /// Replaces streams with the same value after each restart by their initial value.
    pub(crate) fn see_through_restarts(&mut self) {
        for var in self.flow.var_ids() {
            if let Some(start) = self.start_of_restarts(var) {
                self.defs[var.index()] = Def::Copy(start);
            }
        }
    }

    fn start_of_restarts(&self, var: VarId) -> Option<VarId> {
        let Def::Choice { condition: first, yes: start, no: held } = self.def(var) else { return None };
        let Def::Known(_) = self.def(self.original(*start)) else { return None };
        let (first, held) = (self.original(*first), self.original(*held));
        let (Def::Fby { init, next: end }, Def::Fby { next, .. }) = (self.def(first), self.def(held)) else {
            return None;
        };
        let is_true = |known: &KnownValue| known.truth() == Some(true);
        let starts = matches!(self.def(self.original(*init)), Def::Known(known) if is_true(known));
        let (end, next) = (self.original(*end), self.original(*next));
        let Def::Choice { condition, no: kept, .. } = self.def(next) else { return None };
        let is_kept = self.original(*condition) == end && self.original(*kept) == var;
        let is_together = [first, held, end, next].iter().all(|other| self.clock(*other) == self.clock(var));
        (starts && is_kept && is_together).then_some(*start)
    }

    /// Follows copies on one clock; stops at long chains and cycles.
    fn original(&self, var: VarId) -> VarId {
        const MAX_COPIES: usize = 16;
        let mut at = var;
        for _ in 0..MAX_COPIES {
            match self.def(at) {
                Def::Copy(operand) if self.clock(*operand) == self.clock(at) => at = *operand,
                _ => break,
            }
        }
        at
    }
}
