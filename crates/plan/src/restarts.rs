//! Restarts that are written twice.
//!
//! A node that starts anew after `end` keeps its state behind both ends of a sequence:
//!
//! ```text
//! first = true fby end                         a value that enters a sequence through the first `if`
//! k     = if first then init else held         cannot have gone through the second one: where `first`
//! held  = init fby (if end then 0.0 else k)    is false, `end` was false one cycle before
//! ```
//!
//! So `held` is as good as `init fby k`, and a parameter that is kept so is found to be the same at all cycles.

use eddy_flow::VarId;

use crate::known::Known;
use crate::system::{Def, System};

impl System<'_> {
    /// Sees through the inner choice of such delays, where nobody else reads them.
    pub(crate) fn see_through_restarts(&mut self) {
        for var in self.flow.var_ids() {
            if let Some((held, next)) = self.restart(var)
                && let Def::Fby { next: old, .. } = &mut self.defs[held.index()]
            {
                *old = next;
            }
        }
    }

    /// The delay of a restart, and what it may read instead.
    fn restart(&self, var: VarId) -> Option<(VarId, VarId)> {
        let Def::Choice { condition, no, .. } = self.def(var) else { return None };
        let (first, held) = (self.original(*condition), self.original(*no));
        let Def::Fby { init, next: end } = self.def(first) else { return None };
        let is_true = matches!(self.def(self.original(*init)), Def::Known(Known::Value(value)) if value.as_bool() == Some(true));
        let Def::Fby { next, .. } = self.def(held) else { return None };
        let Def::Choice { condition, no: kept, .. } = self.def(self.original(*next)) else { return None };
        let end = self.original(*end);
        let clock = self.clock(held);
        let is_together = [first, end, self.original(*next)].iter().all(|other| self.clock(*other) == clock);
        let is_private = self.is_private(*no, held) && !self.is_memory[held.index()];
        let is_same = self.original(*condition) == end;
        (is_true && is_together && is_same && is_private).then_some((held, *kept))
    }

    /// Whether a stream, and the copies on the way to its original, are read once.
    fn is_private(&self, var: VarId, original: VarId) -> bool {
        let mut at = var;
        for _ in 0..MAX_COPIES {
            if self.users[at.index()].len() != 1 {
                return false;
            }
            match self.def(at) {
                Def::Copy(operand) if at != original => at = *operand,
                _ => return at == original,
            }
        }
        false
    }

    /// Through copies on one clock.
    fn original(&self, var: VarId) -> VarId {
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

/// Longer chains of copies, and cycles, are left alone.
const MAX_COPIES: usize = 16;
