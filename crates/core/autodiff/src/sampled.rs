//! `bp` beside streams that are there at different cycles.
//!
//! The cotangent of an output on the clock κ is given where κ is active and `bp` is true, that of an input is
//! reported there. One `bp` serves them all: it lies on the slowest clock that all of them are sampled from,
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
//! is the one extension in which the cotangent of a stream is still there only where the stream is.
//!
//! If all are on one clock, whatever that is, `bp` is on it too. Streams of one clock share one sampling.

use eddy_flow::clocks::Clock;
use eddy_flow::{ClockAnnotation, Polarity, VarId};
use eddy_syntax::Diagnostic;
use rustc_hash::FxHashMap;

use crate::body::Body;
use crate::expand::{Host, flow_of, streams_of};
use crate::section::Diff;
use crate::writer::Writer;

/// How a clock is sampled, from its root on.
type Sampling = Vec<(VarId, Polarity)>;

/// `bp`, and the samplings of it that were written.
pub(crate) struct SampledSignal {
    signal: VarId,
    /// How each stream is sampled from the clock of the signal.
    samplings: FxHashMap<VarId, Sampling>,
    written: FxHashMap<Sampling, VarId>,
}

impl SampledSignal {
    /// Finds the clocks of what is differentiated.
    pub fn new(
        request: &Diff,
        body: &Body,
        writer: &Writer,
        host: &dyn Host,
    ) -> Result<SampledSignal, Vec<Diagnostic>> {
        let (mut flow, streams) = (flow_of(body, writer), streams_of(body));
        flow.clocks = writer.clocks.iter().filter_map(|clock| within(clock, &streams)).collect();
        let clocks = host.clocks(&flow)?;
        let mut samplings: FxHashMap<VarId, Sampling> = FxHashMap::default();
        for var in request.inputs.iter().chain(&request.outputs).map(|pair| pair.primal) {
            let mut sampling = Sampling::new();
            // What no equation mentions, such as an input that is not read, has no clock of its own.
            if let Ok(number) = streams.binary_search(&var) {
                let mut at = clocks.of(VarId::new(number));
                while let Clock::On { of, condition, polarity } = clocks.clock(at) {
                    sampling.push((streams[condition.index()], polarity));
                    at = of;
                }
                sampling.reverse();
                samplings.insert(var, sampling);
            }
        }
        let n_common = common(samplings.values());
        for sampling in samplings.values_mut() {
            sampling.drain(..n_common);
        }
        Ok(SampledSignal { signal: request.bp, samplings, written: FxHashMap::default() })
    }

    /// The signal on the clock of a stream.
    pub fn on_clock_of(&mut self, var: VarId, writer: &mut Writer) -> VarId {
        let Some(sampling) = self.samplings.get(&var) else { return self.signal };
        let mut signal = self.signal;
        for n in 1..=sampling.len() {
            let (condition, polarity) = sampling[n - 1];
            signal = *self
                .written
                .entry(sampling[..n].to_vec())
                .or_insert_with(|| writer.when(signal, condition, polarity));
        }
        signal
    }
}

/// A written clock in the numbers of these streams, if it is about them alone.
fn within(clock: &ClockAnnotation, streams: &[VarId]) -> Option<ClockAnnotation> {
    let number = |var: VarId| streams.binary_search(&var).ok().map(VarId::new);
    let conditions = clock.conditions.iter().map(|(var, polarity)| Some((number(*var)?, *polarity)));
    // Where it is written does not matter here: what is wrong with it is told of the whole program.
    Some(ClockAnnotation {
        var: number(clock.var)?,
        conditions: conditions.collect::<Option<_>>()?,
        span: clock.span,
        call: None,
    })
}

/// How many samplings all of these begin with.
fn common<'a>(mut samplings: impl Iterator<Item = &'a Sampling>) -> usize {
    let Some(first) = samplings.next() else { return 0 };
    samplings.fold(first.len(), |n, sampling| {
        sampling.iter().zip(&first[..n]).take_while(|(one, other)| one == other).count()
    })
}
