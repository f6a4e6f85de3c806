//! Restarts: `reset N(x) every c` is as new at each activation where c holds (composition.md, section 8).
//!
//! For a delay on the clock κ, which is active where a holds, with 0 the zero constant:
//!
//! ```text
//! w = if c then true else (false fby (if a then false else w));     a restart is due: it waits for κ
//! rst = w when κ;      lst = false fby back rst;
//!
//! o = i fby x         o = if rst then i else (i fby x)
//! o = post x          o = if lst then 0 else post x
//! o = i fby back x    o = if lst then i else (i fby back x)
//! ```
//!
//! On the clock of c, w is c. A parameter is no state. Nothing guards the operand of a delay, as in `N_end`:
//! a guard would change no value, and would look ahead.

use eddy_flow::{Equation, Kind, Role, VarId};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Op, Scalar, Shape, Type};
use rustc_hash::FxHashMap;

use crate::activations::{Sampled, Sampling, activity};
use crate::body::Body;
use crate::codes;
use crate::section::Restart;
use crate::weave::{pointwise_instances, rewritten};
use crate::writer::Writer;

/// Restarts the delays of a body; `samplings` says how the clock of each is sampled from that of c.
pub(crate) fn restart(
    body: Body,
    request: &Restart,
    span: Span,
    samplings: &FxHashMap<VarId, Sampling>,
    writer: &mut Writer,
) -> Result<Body, Vec<Diagnostic>> {
    if !body.equations.iter().any(is_delay) {
        return Ok(body);
    }
    pointwise_instances(&body, is_delay, "a restart")?;
    writer.role = Role::Reset;
    writer.at(span);
    let mut signals = Signals {
        every: request.every,
        due: FxHashMap::default(),
        sampled: Sampled::default(),
        last: FxHashMap::default(),
    };
    let woven = rewritten(body, writer, |equation, writer| {
        if !is_delay(equation) {
            writer.body.equations.push(equation.clone());
            return Ok(());
        }
        let Some(sampling) = samplings.get(&equation.out) else {
            return Err(vec![on_another_clock(equation, request, span, writer)]);
        };
        signals.delay(equation, sampling, writer);
        Ok(())
    });
    writer.role = Role::Derivative;
    woven
}

fn is_delay(equation: &Equation) -> bool {
    equation.kind.is_delay()
}

/// The signals of a restart, by the clock of the delays.
struct Signals {
    every: VarId,
    /// w.
    due: FxHashMap<Sampling, VarId>,
    sampled: Sampled,
    /// lst.
    last: FxHashMap<Sampling, VarId>,
}

impl Signals {
    fn delay(&mut self, equation: &Equation, sampling: &Sampling, writer: &mut Writer) {
        let out = equation.out;
        match equation.kind {
            Kind::Fby { init, next } => {
                let restart = self.restart(sampling, writer);
                let delayed = writer.fby(init, next);
                writer.delays.insert(out, delayed);
                writer.define(out, Kind::Apply(Op::If, Box::new([restart, init, delayed])));
            }
            Kind::Post(next) => {
                let last = self.last(sampling, writer);
                let zero = writer.zero_like(out);
                let ty = writer.ty(out).clone();
                let ahead = writer.write(Kind::Post(next), ty);
                writer.define(out, Kind::Apply(Op::If, Box::new([last, zero, ahead])));
            }
            Kind::FbyBack { init, next } => {
                let last = self.last(sampling, writer);
                let ahead = writer.fby_back(init, next);
                writer.define(out, Kind::Apply(Op::If, Box::new([last, init, ahead])));
            }
            _ => unreachable!("it is a delay"),
        }
    }

    /// rst: whether the instance is as new at this activation of a clock.
    fn restart(&mut self, sampling: &Sampling, writer: &mut Writer) -> VarId {
        let due = self.due(sampling, writer);
        self.sampled.stream(due, sampling, writer)
    }

    /// w: whether a restart is due, on the clock of c.
    fn due(&mut self, sampling: &Sampling, writer: &mut Writer) -> VarId {
        if sampling.is_empty() {
            return self.every;
        }
        if let Some(due) = self.due.get(sampling) {
            return *due;
        }
        let due = writer.fresh(Type { scalar: Scalar::Bool, shape: Shape::scalar() });
        let (yes, no, done) = (writer.truth(true), writer.truth(false), writer.truth(false));
        let active = activity(sampling, writer);
        let left = writer.select(active, done, due);
        let waiting = writer.fby(no, left);
        writer.define(due, Kind::Apply(Op::If, Box::new([self.every, yes, waiting])));
        self.due.insert(sampling.clone(), due);
        due
    }

    /// lst: whether the instance is as new at the next activation of a clock.
    fn last(&mut self, sampling: &Sampling, writer: &mut Writer) -> VarId {
        if let Some(last) = self.last.get(sampling) {
            return *last;
        }
        let restart = self.restart(sampling, writer);
        let no = writer.truth(false);
        let last = writer.fby_back(no, restart);
        self.last.insert(sampling.clone(), last);
        last
    }
}

fn on_another_clock(equation: &Equation, request: &Restart, span: Span, writer: &Writer) -> Diagnostic {
    let node = &request.node;
    let name = writer.vars[equation.out.index()].name.as_deref();
    let of = name.map_or(String::new(), |name| format!(" `{name}`"));
    let title = format!(
        "clock error: the delay{of} of `{node}` is not on the clock of the condition, nor on a sampling of it"
    );
    Diagnostic::error(codes::CLOCK, equation.span, title)
        .cause(span, "the instance restarts here")
        .reason("where the condition is absent, it is not known whether the instance restarts")
        .help("the condition of `reset` ticks at least as often as the arguments")
}
