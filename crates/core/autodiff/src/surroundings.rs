//! The clocks of streams in a program of which some sections are not expanded yet.
//!
//! What restarts an instance, and the arguments of the instance, are outside of its section, so their clocks
//! follow from the equations around it.

use std::collections::VecDeque;

use eddy_flow::clocks::{Clock, ClockId, Clocks};
use eddy_flow::{Equation, Flow, Kind, Var, VarId};
use eddy_syntax::Span;
use eddy_tensor::Op;
use rustc_hash::FxHashMap;

use crate::activations::{Sampling, sampling, sampling_from};
use crate::body::Body;
use crate::expand::Host;
use crate::section::{Edge, Mark, Pair, Request, Restart};
use crate::writer::Writer;

/// What is left of a program beside the section that ends.
pub(crate) struct Unexpanded<'a> {
    pub open: &'a [Body],
    pub equations: &'a [Equation],
    pub marks: &'a VecDeque<Mark>,
}

pub(crate) struct Surroundings<'a> {
    inputs: &'a [VarId],
    /// The number of streams whose clocks are known, and their clocks.
    known: Option<(usize, Clocks)>,
}

impl Surroundings<'_> {
    pub fn new(inputs: &[VarId]) -> Surroundings<'_> {
        Surroundings { inputs, known: None }
    }

    /// How the clocks of a section's delays are sampled from that of the condition that restarts them; none
    /// for a delay whose clock is not.
    pub fn samplings(
        &mut self,
        body: &Body,
        request: &Restart,
        rest: &Unexpanded<'_>,
        writer: &Writer,
        host: &dyn Host,
    ) -> FxHashMap<VarId, Sampling> {
        let delays = body.equations.iter().filter(|equation| equation.kind.is_delay());
        let delays: Vec<VarId> = delays.map(|equation| equation.out).collect();
        let Some(last) = delays.iter().map(|delay| delay.index()).max() else { return FxHashMap::default() };
        let last = last.max(request.every.index());
        if self.known.as_ref().is_none_or(|(n_known, _)| last >= *n_known) {
            let flow = self.flow(body, rest, writer);
            self.known = Some((writer.vars.len(), host.guessed_clocks(&flow)));
        }
        let (_, clocks) = self.known.as_ref().expect("they were just found");
        let sampling = |delay: &VarId| {
            Some((*delay, from_condition(clocks, clocks.of(request.every), clocks.of(*delay))?))
        };
        let mut samplings: FxHashMap<VarId, Sampling> = delays.iter().filter_map(sampling).collect();
        if samplings.len() < delays.len() {
            // A delay that depends on no input is wherever it is needed: here with the condition.
            let mut flow = self.flow(body, rest, writer);
            let left: Vec<VarId> =
                delays.into_iter().filter(|delay| !samplings.contains_key(delay)).collect();
            for delay in &left {
                synchronise(&mut flow, [request.every, *delay]);
            }
            let clocks = host.guessed_clocks(&flow);
            let is_there = |delay: &VarId| clocks.of(*delay) == clocks.of(request.every);
            samplings.extend(left.into_iter().filter(is_there).map(|delay| (delay, Sampling::new())));
        }
        samplings
    }

    /// All equations, and equations that put derivatives on the clocks of their streams.
    fn flow(&self, body: &Body, rest: &Unexpanded<'_>, writer: &Writer) -> Flow {
        let mut flow = Flow {
            vars: writer.vars.clone(),
            inputs: self.inputs.to_vec(),
            clocks: writer.clocks.clone(),
            calls: writer.calls.clone(),
            ..Flow::default()
        };
        for open in rest.open.iter().chain([body]) {
            flow.equations.extend_from_slice(&open.equations);
        }
        flow.equations.extend_from_slice(rest.equations);
        for mark in rest.marks {
            let Edge::End(section) = &mark.what else { continue };
            let (some, others): (&[Pair], &[Pair]) = match &section.request {
                Request::Adjoint(request) => (&request.inputs, &request.outputs),
                Request::Tangent(request) => (&request.inputs, &request.outputs),
                _ => continue,
            };
            for pair in some.iter().chain(others) {
                synchronise(&mut flow, [pair.primal, pair.derivative]);
            }
        }
        flow
    }
}

/// Adds an equation that puts two streams on one clock.
fn synchronise(flow: &mut Flow, streams: [VarId; 2]) {
    let out = VarId::new(flow.vars.len());
    flow.vars.push(Var { name: None, purpose: None, ..flow.var(streams[0]).clone() });
    let kind = Kind::Apply(Op::If, Box::new(streams));
    flow.equations.push(Equation { out, kind, span: Span::default(), call: None });
}

/// How a clock is sampled from that of a condition. Roots that are independent so far become one.
fn from_condition(clocks: &Clocks, condition: ClockId, clock: ClockId) -> Option<Sampling> {
    sampling_from(clocks, condition, clock).or_else(|| {
        let is_another = root(clocks, condition) != root(clocks, clock);
        let is_root = clocks.is_root(condition) || clocks.is_root(clock);
        (is_another && is_root).then(|| sampling(clocks, clock))
    })
}

fn root(clocks: &Clocks, clock: ClockId) -> ClockId {
    let mut at = clock;
    while let Clock::On { of, .. } = clocks.clock(at) {
        at = of;
    }
    at
}
