//! When a sampled clock is active, seen from the clock that it samples.
//!
//! ```text
//! κ = base on c on not d         a = merge c (merge d false true) false         on base: κ is active
//!                                x when κ = (x when c) when not d
//! ```

use eddy_flow::clocks::{Clock, ClockId, Clocks};
use eddy_flow::{Polarity, VarId};
use rustc_hash::FxHashMap;

use crate::writer::Writer;

/// The conditions that sample one clock from another, slower ones last.
pub(crate) type Sampling = Vec<(VarId, Polarity)>;

/// How a clock is sampled from another one; `None` if it is not.
pub(crate) fn sampling_from(clocks: &Clocks, from: ClockId, to: ClockId) -> Option<Sampling> {
    let (mut sampling, mut at) = (Sampling::new(), to);
    while at != from {
        let Clock::On { of, condition, polarity } = clocks.clock(at) else { return None };
        sampling.push((condition, polarity));
        at = of;
    }
    sampling.reverse();
    Some(sampling)
}

/// How a clock is sampled from its root.
pub(crate) fn sampling(clocks: &Clocks, clock: ClockId) -> Sampling {
    let (mut sampling, mut at) = (Sampling::new(), clock);
    while let Clock::On { of, condition, polarity } = clocks.clock(at) {
        sampling.push((condition, polarity));
        at = of;
    }
    sampling.reverse();
    sampling
}

/// One stream where a sampled clock is active, and another, on the clock that it samples, where it is silent.
pub(crate) fn merged(active: VarId, silent: VarId, sampling: &Sampling, writer: &mut Writer) -> VarId {
    let mut others = Vec::new();
    let mut outer = silent;
    for (condition, polarity) in sampling {
        others.push(writer.when(outer, *condition, opposite(*polarity)));
        outer = writer.when(outer, *condition, *polarity);
    }
    sampling.iter().zip(others).rev().fold(active, |inner, ((condition, polarity), other)| match polarity {
        Polarity::On => writer.merge(*condition, inner, other),
        Polarity::OnNot => writer.merge(*condition, other, inner),
    })
}

fn opposite(polarity: Polarity) -> Polarity {
    match polarity {
        Polarity::On => Polarity::OnNot,
        Polarity::OnNot => Polarity::On,
    }
}

/// Whether a clock is active.
pub(crate) fn activity(sampling: &Sampling, writer: &mut Writer) -> VarId {
    let mut active = writer.truth(true);
    for (condition, polarity) in sampling.iter().rev() {
        let silent = writer.truth(false);
        active = match polarity {
            Polarity::On => writer.merge(*condition, active, silent),
            Polarity::OnNot => writer.merge(*condition, silent, active),
        };
    }
    active
}

/// A stream at the activations of sampled clocks; each is sampled once.
#[derive(Default)]
pub(crate) struct Sampled {
    written: FxHashMap<(VarId, Sampling), VarId>,
}

impl Sampled {
    pub fn stream(&mut self, stream: VarId, sampling: &Sampling, writer: &mut Writer) -> VarId {
        let mut sampled = stream;
        for n in 1..=sampling.len() {
            let (condition, polarity) = sampling[n - 1];
            sampled = *self
                .written
                .entry((stream, sampling[..n].to_vec()))
                .or_insert_with(|| writer.when(sampled, condition, polarity));
        }
        sampled
    }
}
