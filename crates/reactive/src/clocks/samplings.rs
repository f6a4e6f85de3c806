//! Conditions that are samplings of one condition by another: `bp when c` is the same stream wherever it is written.
//!
//! So a clock `base on c on (bp when c)` can be made in two places, as a caller of `diff_N` must whose output is on `base on c`. Other conditions
//! with one text stay two.

use eddy_tensor::Scalar;
use rustc_hash::FxHashMap;

use crate::flow::{Flow, Kind, Polarity, VarId};

/// Samplings of samplings are followed to this depth; deeper ones stay apart, which refuses more than is needed.
const MAX_DEPTH: usize = 8;

/// Gives samplings that are the same one source. `sources` says what each stream is a copy or a negation of.
pub(super) fn with_samplings(flow: &Flow, mut sources: Vec<(VarId, bool)>) -> Vec<(VarId, bool)> {
    let is_named = |var: VarId| flow.var(var).name.is_some();
    for _ in 0..MAX_DEPTH {
        let mut first: FxHashMap<_, VarId> = FxHashMap::default();
        let mut instead: FxHashMap<VarId, VarId> = FxHashMap::default();
        for equation in &flow.equations {
            let Kind::When { value, condition, polarity } = equation.kind else { continue };
            // Only what is its own source can be given another one.
            if flow.var(equation.out).ty.scalar != Scalar::Bool
                || sources[equation.out.index()] != (equation.out, false)
            {
                continue;
            }
            let (condition, is_negated) = sources[condition.index()];
            let is_on = (polarity == Polarity::On) != is_negated;
            let key = (sources[value.index()], condition, is_on);
            let other = *first.entry(key).or_insert(equation.out);
            if other != equation.out {
                let (kept, left) = if is_named(equation.out) && !is_named(other) {
                    (equation.out, other)
                } else {
                    (other, equation.out)
                };
                first.insert(key, kept);
                instead.insert(left, kept);
            }
        }
        if instead.is_empty() {
            break;
        }
        for (source, _) in &mut sources {
            while let Some(kept) = instead.get(source) {
                *source = *kept;
            }
        }
    }
    sources
}
