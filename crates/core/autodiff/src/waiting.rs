//! Signals of base that wait for a sampled clock (composition.md, section 9).
//!
//! An `end` may fall where the clock κ is silent. Then it holds for the first activation of κ after it, and
//! for the last one before it. With a the activity of κ, and rst = `true fby end`:
//!
//! ```text
//! κ was not active in this segment:
//! fresh = if rst then true else (true fby (if a then false else fresh));       first = fresh when κ
//! `end` comes before κ is active:
//! over = if end then true else (true fby back (if a then false else over));    final = over when κ
//! ```

use eddy_flow::{Kind, VarId};
use eddy_tensor::{Op, Scalar, Shape, Type};
use rustc_hash::FxHashMap;

use crate::activations::{Sampled, Sampling, activity};
use crate::writer::Writer;

/// What is asked about an activation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Question {
    /// Whether it is the first one of its segment.
    First,
    /// Whether a signal, or the end of the trace, comes before the next one.
    Last,
}

/// The answers so far.
#[derive(Default)]
pub(crate) struct Waiting {
    known: FxHashMap<(Question, VarId, Sampling), VarId>,
    sampled: Sampled,
}

impl Waiting {
    /// Whether an activation is the first one of its segment; `reset` holds at the first cycle of a segment.
    pub fn first(&mut self, reset: VarId, sampling: &Sampling, writer: &mut Writer) -> VarId {
        self.answer(Question::First, reset, sampling, writer)
    }

    /// Whether `signal`, or the end of the trace, comes before the next activation.
    pub fn last(&mut self, signal: VarId, sampling: &Sampling, writer: &mut Writer) -> VarId {
        self.answer(Question::Last, signal, sampling, writer)
    }

    /// A stream of base at the activations of a sampled clock.
    pub fn sampled(&mut self, stream: VarId, sampling: &Sampling, writer: &mut Writer) -> VarId {
        self.sampled.stream(stream, sampling, writer)
    }

    fn answer(
        &mut self,
        question: Question,
        signal: VarId,
        sampling: &Sampling,
        writer: &mut Writer,
    ) -> VarId {
        let key = (question, signal, sampling.clone());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let boolean = Type { scalar: Scalar::Bool, shape: Shape::scalar() };
        let waits = writer.fresh(boolean);
        let (yes, no) = (writer.truth(true), writer.truth(false));
        let active = activity(sampling, writer);
        let others = writer.select(active, no, waits);
        let outside = match question {
            Question::First => {
                let start = writer.truth(true);
                writer.fby(start, others)
            }
            Question::Last => {
                let end = writer.truth(true);
                writer.fby_back(end, others)
            }
        };
        writer.define(waits, Kind::Apply(Op::If, Box::new([signal, yes, outside])));
        let answer = self.sampled.stream(waits, sampling, writer);
        self.known.insert(key, answer);
        answer
    }
}
