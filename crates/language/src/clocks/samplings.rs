//! Identifies conditions that sample one condition by another: `bp when c` is the same stream wherever it is
//! written.
//!
//! So the clock `base on c on (bp when c)` can be written in two places, which a caller of `diff_N` needs if
//! its output is on `base on c`. Other conditions with equal texts stay different.

use eddy_tensor::Scalar;
use rustc_hash::FxHashMap;

use crate::flow::{Flow, Kind, Polarity, VarId};

/// Samplings of samplings are followed to this depth; deeper ones stay different, which rejects some valid
/// programs.
const MAX_DEPTH: usize = 8;

/// Gives equal samplings the same source. `sources` has the source of each stream.
pub(super) fn with_samplings(flow: &Flow, mut sources: Vec<(VarId, bool)>) -> Vec<(VarId, bool)> {
    let is_named = |var: VarId| flow.var(var).name.is_some();
    for _ in 0..MAX_DEPTH {
        let mut first: FxHashMap<_, VarId> = FxHashMap::default();
        let mut replacements: FxHashMap<VarId, VarId> = FxHashMap::default();
        for equation in &flow.equations {
            let Kind::When { value, condition, polarity } = equation.kind else { continue };
            // Only a stream that is its own source can get another one.
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
                replacements.insert(left, kept);
            }
        }
        if replacements.is_empty() {
            break;
        }
        for (source, _) in &mut sources {
            while let Some(kept) = replacements.get(source) {
                *source = *kept;
            }
        }
    }
    sources
}
