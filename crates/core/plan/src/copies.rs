//! Streams that equal others: copies, double negations, and conditions that are written twice.

use eddy_flow::VarId;
use eddy_tensor::{Op, Scalar};
use rustc_hash::FxHashMap;

use crate::system::{Def, System};

impl System<'_> {
    /// Makes readers of a copy or a double negation read the original, so that such equations do not affect
    /// the plan.
    pub(crate) fn skip_copies(&mut self) {
        let n = self.defs.len();
        let mut original: Vec<Option<VarId>> = vec![None; n];
        for start in self.flow.var_ids() {
            let mut path = Vec::new();
            let mut at = start;
            let end = loop {
                if let Some(known) = original[at.index()] {
                    break known;
                }
                match self.copied(at) {
                    // A cycle of copies has no original.
                    Some(next) if !path.contains(&next) && next != at => {
                        path.push(at);
                        at = next;
                    }
                    _ => break at,
                }
            };
            for var in path.into_iter().chain([at]) {
                original[var.index()] = Some(end);
            }
        }
        let resolve = |var: &mut VarId| *var = original[var.index()].unwrap_or(*var);
        for def in &mut self.defs {
            match def {
                Def::Input | Def::Known(_) | Def::Materialised(_) | Def::Absent => {}
                Def::Copy(operand) => resolve(operand),
                Def::Apply(_, operands) => operands.iter_mut().for_each(resolve),
                Def::Choice { condition, yes, no } => [condition, yes, no].into_iter().for_each(resolve),
                Def::Fby { init, next } => [init, next].into_iter().for_each(resolve),
                Def::Ahead { init, next } => init.iter_mut().chain([next]).for_each(resolve),
            }
        }
        for info in &mut self.clocks {
            if let Some((_, condition, _)) = &mut info.sampled {
                resolve(condition);
            }
        }
    }

    /// The stream that `var` equals at all cycles.
    fn copied(&self, var: VarId) -> Option<VarId> {
        let negated = |var: VarId| match self.def(var) {
            Def::Apply(Op::Not, operands) => Some(operands[0]),
            _ => None,
        };
        match self.def(var) {
            Def::Copy(operand) if self.clock(*operand) == self.clock(var) => Some(*operand),
            Def::Apply(Op::Not, operands) => {
                // The negated stream may be a copy.
                let mut at = operands[0];
                for _ in 0..MAX_COPIES {
                    match self.def(at) {
                        Def::Copy(operand) if self.clock(*operand) == self.clock(at) => at = *operand,
                        _ => break,
                    }
                }
                negated(at)
            }
            _ => None,
        }
    }
}

/// Maps each boolean stream to the first one that always equals it: two equations `true fby end` are one
/// condition.
pub fn same_conditions(system: &System<'_>, streams: &[VarId]) -> FxHashMap<VarId, VarId> {
    let is_truth = |var: &VarId| {
        let ty = &system.flow.var(*var).ty;
        ty.scalar == Scalar::Bool && ty.shape.is_scalar()
    };
    let truths: Vec<VarId> = streams.iter().copied().filter(is_truth).collect();
    let mut first: FxHashMap<VarId, VarId> = truths.iter().map(|var| (*var, *var)).collect();
    // A later equation may show that operands of an earlier one are equal, so the list is searched several
    // times.
    for _ in 0..ROUNDS {
        let mut known: FxHashMap<String, VarId> = FxHashMap::default();
        let mut next = first.clone();
        for var in &truths {
            let operand = |operand: &VarId| match (system.def(*operand), first.get(operand)) {
                (Def::Known(known), _) => format!("{known:?}"),
                (_, Some(same)) => same.index().to_string(),
                (_, None) => operand.index().to_string(),
            };
            let clock = system.clock(*var);
            let key = match system.def(*var) {
                Def::Copy(source) if system.clock(*source) == clock => {
                    next.insert(*var, first.get(source).copied().unwrap_or(*var));
                    continue;
                }
                Def::Apply(op, operands) => {
                    format!("{clock:?} {op:?} {:?}", operands.iter().map(operand).collect::<Vec<_>>())
                }
                Def::Fby { init, next } => format!("{clock:?} fby {} {}", operand(init), operand(next)),
                _ => continue,
            };
            next.insert(*var, *known.entry(key).or_insert(*var));
        }
        if next == first {
            break;
        }
        first = next;
    }
    first
}

/// At most this many copies are followed to find a negation.
const MAX_COPIES: usize = 16;

/// The most passes over the list; conditions are nested only a few levels deep.
const ROUNDS: usize = 4;
