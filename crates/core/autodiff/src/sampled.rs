//! `bp` for streams on different clocks.
//!
//! The cotangent of an output on the clock κ is read where κ is active and `bp` is true; that of an input is
//! output there. One `bp` serves all streams: it is on the slowest clock from which all of them are sampled,
//! and is sampled like each of them.
//!
//! ```text
//! node f(g, x, c) -> (y, z)  y = 2.0 * x;  z = g * (x when c);
//!
//! x, y    base          bp             dx, dy    base on bp
//! g, z    base on c     bp when c      dg, dz    base on c on (bp when c)
//! ```
//!
//! Decision: the specification refuses `diff_N` of nodes on several clocks; the paper has no such node. This
//! is the only extension in which the cotangent of a stream is still present only where the stream is.
//!
//! If all streams are on one clock, `bp` is on it too. Streams of one clock share one sampling.

use eddy_flow::{ClockAnnotation, VarId};
use eddy_syntax::Diagnostic;
use rustc_hash::FxHashMap;

use crate::activations::{Sampled, Sampling, sampling as sampled_from_root};
use crate::body::Body;
use crate::expand::{Host, flow_of, streams_of};
use crate::section::Diff;
use crate::writer::Writer;

/// `bp`, and its samplings so far.
pub(crate) struct SampledSignal {
    signal: VarId,
    /// How each stream is sampled from the clock of `bp`.
    samplings: FxHashMap<VarId, Sampling>,
    written: Sampled,
}

impl SampledSignal {
    /// Infers the clocks of the differentiated equations.
    pub fn new(
        request: &Diff,
        body: &Body,
        writer: &Writer,
        host: &dyn Host,
    ) -> Result<SampledSignal, Vec<Diagnostic>> {
        let (mut flow, streams) = (flow_of(body, writer), streams_of(body));
        flow.clocks = within(&writer.clocks, &streams);
        let clocks = host.clocks(&flow)?;
        let mut samplings: FxHashMap<VarId, Sampling> = FxHashMap::default();
        for var in request.inputs.iter().chain(&request.outputs).map(|pair| pair.primal) {
            let mut sampling = Sampling::new();
            // A stream that no equation mentions, such as an unread input, has no clock of its own.
            if let Ok(number) = streams.binary_search(&var) {
                for (condition, polarity) in sampled_from_root(&clocks, clocks.of(VarId::new(number))) {
                    sampling.push((streams[condition.index()], polarity));
                }
                samplings.insert(var, sampling);
            }
        }
        let n_common = common(samplings.values());
        for sampling in samplings.values_mut() {
            sampling.drain(..n_common);
        }
        Ok(SampledSignal { signal: request.bp, samplings, written: Sampled::default() })
    }

    /// `bp` on the clock of a stream.
    pub fn on_clock_of(&mut self, var: VarId, writer: &mut Writer) -> VarId {
        let Some(sampling) = self.samplings.get(&var) else { return self.signal };
        self.written.stream(self.signal, sampling, writer)
    }
}

/// The declared clocks of these streams.
pub(crate) fn within(clocks: &[ClockAnnotation], streams: &[VarId]) -> Vec<ClockAnnotation> {
    clocks.iter().filter_map(|clock| declared(clock, streams)).collect()
}

/// A declared clock in terms of these streams; `None` if it mentions others.
fn declared(clock: &ClockAnnotation, streams: &[VarId]) -> Option<ClockAnnotation> {
    let number = |var: VarId| streams.binary_search(&var).ok().map(VarId::new);
    let conditions = clock.conditions.iter().map(|(var, polarity)| Some((number(*var)?, *polarity)));
    // The instance does not matter here: errors of the clock are reported for the whole program.
    Some(ClockAnnotation {
        var: number(clock.var)?,
        conditions: conditions.collect::<Option<_>>()?,
        span: clock.span,
        call: None,
    })
}

/// The length of the longest common prefix of these samplings.
fn common<'a>(mut samplings: impl Iterator<Item = &'a Sampling>) -> usize {
    let Some(first) = samplings.next() else { return 0 };
    samplings.fold(first.len(), |n, sampling| {
        sampling.iter().zip(&first[..n]).take_while(|(one, other)| one == other).count()
    })
}
