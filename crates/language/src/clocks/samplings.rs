//! Identifies conditions that sample one condition by another: `bp when c` is the same stream wherever it is
//! written.
//!
//! So the clock `base on c on (bp when c)` can be written in two places, which a caller of `diff_N` needs if
//! its output is on `base on c`. So is `s is a` for one constructor of one stream. Other conditions with
//! equal texts stay different.

use eddy_tensor::{Op, Scalar};
use rustc_hash::FxHashMap;

use crate::flow::{Constant, Flow, Kind, Polarity, VarId, cases};

/// Samplings of samplings are followed to this depth; deeper ones stay different, which rejects some valid
/// programs.
const MAX_DEPTH: usize = 8;

/// A condition that is the same wherever it is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// A value, the condition that samples it, and whether that holds.
    Sampling((VarId, bool), VarId, bool),
    /// Whether a stream has a constructor: part of `x when s is a`.
    Test((VarId, bool), i64),
}

/// Gives equal samplings the same source. `sources` has the source of each stream.
pub(super) fn with_samplings(flow: &Flow, mut sources: Vec<(VarId, bool)>) -> Vec<(VarId, bool)> {
    let is_named = |var: VarId| flow.var(var).name.is_some();
    let is_test = |var: VarId| flow.var(var).name.as_deref().is_some_and(cases::is_test);
    let constructors: FxHashMap<VarId, i64> = flow
        .equations
        .iter()
        .filter_map(|equation| match equation.kind {
            Kind::Const(Constant::Int(number)) => Some((equation.out, number)),
            _ => None,
        })
        .collect();
    for _ in 0..MAX_DEPTH {
        let mut first: FxHashMap<_, VarId> = FxHashMap::default();
        let mut replacements: FxHashMap<VarId, VarId> = FxHashMap::default();
        for equation in &flow.equations {
            let key = match &equation.kind {
                Kind::When { value, condition, polarity } => {
                    let (condition, is_negated) = sources[condition.index()];
                    let is_on = (*polarity == Polarity::On) != is_negated;
                    Key::Sampling(sources[value.index()], condition, is_on)
                }
                Kind::Apply(Op::Eq, operands)
                    if is_test(equation.out)
                        && let Some(constructor) = constructors.get(&operands[1]) =>
                {
                    Key::Test(sources[operands[0].index()], *constructor)
                }
                _ => continue,
            };
            // Only a stream that is its own source can get another one.
            if flow.var(equation.out).ty.scalar != Scalar::Bool
                || sources[equation.out.index()] != (equation.out, false)
            {
                continue;
            }
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
