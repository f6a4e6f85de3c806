//! Resets and truncation (9.4, 9.11): `N_end` restarts after each `end`; `N_cut` carries its state over a
//! `cut`, but not the gradient.
//!
//! With rst = `true fby end` and 0 the zero constant:
//!
//! ```text
//! o = i fby x         o = if rst then i else (i fby (if end then 0 else x))
//! o = post x          o = if end then 0 else post (if rst then 0 else x)
//! o = i fby back x    o = if end then i else (i fby back (if rst then 0 else x))
//! o = param(i)        p = param(i);  o = if rst then p else (p fby (if end then 0 else o))
//! ```
//!
//! On a sampled clock κ, [`waiting`](crate::waiting) says which activation is the first or the last one of a
//! segment, and parameters lie on base ([`lifted`](crate::lifted)):
//!
//! ```text
//! o = i fby x         o = if first then i else (i fby (if final then stop_gradient(x) else x))
//! o = post x          o = if ended then 0 else post (if first then stop_gradient(x) else x)
//! o = i fby back x    o = if final then i else (i fby back (if first then stop_gradient(x) else x))
//! o = param(i)        p = param(i), held on base as above;  o = p when κ
//! ```
//!
//! A cut replaces x by `if cut then stop_gradient(x) else x` on the source side of the delay (for delays into
//! the future, at the cycle after the cut), and holds parameters between cuts.

use eddy_flow::{Equation, Kind, Polarity, Role, VarId};
use eddy_syntax::Diagnostic;
use eddy_tensor::{Algebra, Op};

use crate::activations::Sampling;
use crate::body::{Body, Placed};
use crate::codes;
use crate::expand::{Host, flow_of, streams_of};
use crate::lifted::{constant, copied, samplings};
use crate::sampled::within;
use crate::section::Weave;
use crate::waiting::Waiting;
use crate::writer::Writer;

/// Weaves `end` and `cut` into a body.
pub(crate) fn weave(
    body: Body,
    request: &Weave,
    writer: &mut Writer,
    host: &mut dyn Host,
) -> Result<Body, Vec<Diagnostic>> {
    if !body.equations.iter().any(is_woven) {
        return Ok(body);
    }
    pointwise_instances(&body, is_woven, "`end` or `cut`")?;
    let mut flow = flow_of(&body, writer);
    flow.clocks = within(&writer.clocks, &streams_of(&body));
    let clocks = host.clocks(&flow)?;
    let samplings = samplings(&body, &clocks, |kind| kind.is_delay() || matches!(kind, Kind::Param(_)));
    writer.role = Role::Reset;
    let mut signals = Signals::new(request, writer);
    let before = body.clone();
    let woven = rewritten(body, writer, |equation, writer| {
        match samplings.get(&equation.out) {
            None => writer.body.equations.push(equation.clone()),
            Some(sampling) if sampling.is_empty() => signals.equation(equation, writer),
            Some(sampling) => match equation.kind {
                Kind::Param(init) => {
                    let Some(constant) = constant(&before, init) else {
                        return Err(vec![varying_parameter(equation, sampling, request, writer)]);
                    };
                    writer.at_equation(equation);
                    let init = copied(&before, &constant, init, writer);
                    let ty = writer.ty(equation.out).clone();
                    let parameter = writer.write(Kind::Param(init), ty.clone());
                    let held = writer.fresh(ty);
                    signals.hold_parameter(held, parameter, writer);
                    let value = signals.waiting.sampled(held, sampling, writer);
                    writer.define_copy(equation.out, value);
                }
                _ => signals.sampled_delay(equation, sampling, writer),
            },
        }
        Ok(())
    });
    writer.role = Role::Derivative;
    woven
}

/// A body each of whose equations is written anew.
pub(crate) fn rewritten(
    body: Body,
    writer: &mut Writer,
    mut rewrite: impl FnMut(&Equation, &mut Writer) -> Result<(), Vec<Diagnostic>>,
) -> Result<Body, Vec<Diagnostic>> {
    let mut starts = Vec::with_capacity(body.equations.len() + 1);
    for equation in &body.equations {
        starts.push(writer.body.equations.len());
        writer.at_equation(equation);
        rewrite(equation, writer)?;
    }
    starts.push(writer.body.equations.len());
    let mut written = std::mem::take(&mut writer.body);
    written.instances = body
        .instances
        .into_iter()
        .map(|placed| Placed { range: starts[placed.range.start]..starts[placed.range.end], ..placed })
        .collect();
    Ok(written)
}

/// Whether weaving changes an equation: it has a state, or is a parameter.
fn is_woven(equation: &Equation) -> bool {
    equation.kind.is_delay() || matches!(equation.kind, Kind::Param(_))
}

/// The control signals, each on base.
struct Signals {
    /// The last cycle of a segment, and the first.
    segment: Option<(VarId, VarId)>,
    /// The cycle of a cut, and the one after.
    cut: Option<(VarId, VarId)>,
    /// The last cycle for which a parameter is held, and the first one.
    hold: (VarId, VarId),
    /// The signals at the activations of sampled clocks.
    waiting: Waiting,
    is_differentiated: bool,
}

impl Signals {
    fn new(request: &Weave, writer: &mut Writer) -> Self {
        let yes = writer.truth(true);
        let segment = request.end.map(|end| (end, writer.fby(yes, end)));
        let cut = request.cut.map(|cut| {
            let no = writer.truth(false);
            (cut, writer.fby(no, cut))
        });
        let hold = match (segment, cut) {
            (Some(segment), None) => segment,
            (None, Some((cut, _))) => (cut, writer.fby(yes, cut)),
            (Some((end, _)), Some((cut, _))) => {
                let either = writer.apply(Op::Or, &[end, cut]);
                (either, writer.fby(yes, either))
            }
            (None, None) => unreachable!("something is woven"),
        };
        let is_differentiated = request.is_differentiated;
        Signals { segment, cut, hold, waiting: Waiting::default(), is_differentiated }
    }

    fn equation(&self, equation: &Equation, writer: &mut Writer) {
        let out = equation.out;
        let zero = |writer: &mut Writer| writer.zero_like(out);
        match equation.kind {
            Kind::Fby { init, next } => {
                let next = cut_gradient(self.cut.map(|(cut, _)| cut), next, writer);
                match self.segment {
                    None => writer.define(out, Kind::Fby { init, next }),
                    Some((end, rst)) => {
                        let zero = zero(writer);
                        let next = writer.select(end, zero, next);
                        let delayed = writer.fby(init, next);
                        writer.define(out, Kind::Apply(Op::If, Box::new([rst, init, delayed])));
                    }
                }
            }
            Kind::Post(next) => {
                let next = self.before_next_segment(next, writer);
                match self.segment {
                    None => writer.define(out, Kind::Post(next)),
                    Some((end, _)) => {
                        let zero = zero(writer);
                        let ty = writer.ty(out).clone();
                        let ahead = writer.write(Kind::Post(next), ty);
                        writer.define(out, Kind::Apply(Op::If, Box::new([end, zero, ahead])));
                    }
                }
            }
            Kind::FbyBack { init, next } => {
                let next = self.before_next_segment(next, writer);
                match self.segment {
                    None => writer.define(out, Kind::FbyBack { init, next }),
                    Some((end, _)) => {
                        let ahead = writer.fby_back(init, next);
                        writer.define(out, Kind::Apply(Op::If, Box::new([end, init, ahead])));
                    }
                }
            }
            Kind::Param(init) => {
                let ty = writer.ty(out).clone();
                let parameter = writer.write(Kind::Param(init), ty);
                self.hold_parameter(out, parameter, writer);
            }
            _ => unreachable!("it is a delay or a parameter"),
        }
    }

    /// Defines a stream as a parameter that is held over a segment or a piece.
    fn hold_parameter(&self, out: VarId, parameter: VarId, writer: &mut Writer) {
        let (last, first) = self.hold;
        writer.held.insert(out);
        let zero = writer.zero_like(out);
        let next = writer.select(last, zero, out);
        let held = writer.fby(parameter, next);
        writer.define(out, Kind::Apply(Op::If, Box::new([first, parameter, held])));
    }

    /// A delay on a sampled clock. Only gradients are guarded on the source side of the delay: the value there
    /// is not read.
    fn sampled_delay(&mut self, equation: &Equation, sampling: &Sampling, writer: &mut Writer) {
        let out = equation.out;
        match equation.kind {
            Kind::Fby { init, next } => {
                let mut next = next;
                if self.is_differentiated && writer.is_num(out) {
                    for signal in [self.cut.map(|(cut, _)| cut), self.segment.map(|(end, _)| end)] {
                        let last = signal.map(|signal| self.waiting.last(signal, sampling, writer));
                        next = cut_gradient(last, next, writer);
                    }
                }
                let Some((_, reset)) = self.segment else {
                    return writer.define(out, Kind::Fby { init, next });
                };
                let first = self.waiting.first(reset, sampling, writer);
                let delayed = writer.fby(init, next);
                writer.define(out, Kind::Apply(Op::If, Box::new([first, init, delayed])));
            }
            Kind::Post(next) => {
                let next = self.after_last(next, sampling, writer);
                let Some((end, _)) = self.segment else { return writer.define(out, Kind::Post(next)) };
                let ended = self.waiting.ended(end, sampling, writer);
                let zero = writer.zero_like(out);
                let ty = writer.ty(out).clone();
                let ahead = writer.write(Kind::Post(next), ty);
                writer.define(out, Kind::Apply(Op::If, Box::new([ended, zero, ahead])));
            }
            Kind::FbyBack { init, next } => {
                let next = self.after_last(next, sampling, writer);
                let Some((end, _)) = self.segment else {
                    return writer.define(out, Kind::FbyBack { init, next });
                };
                let last = self.waiting.last(end, sampling, writer);
                let ahead = writer.fby_back(init, next);
                writer.define(out, Kind::Apply(Op::If, Box::new([last, init, ahead])));
            }
            _ => unreachable!("it is a delay"),
        }
    }

    /// The operand of a delay into the future on a sampled clock: the next segment or piece sends no gradient
    /// back.
    fn after_last(&mut self, next: VarId, sampling: &Sampling, writer: &mut Writer) -> VarId {
        if !self.is_differentiated || !writer.is_num(next) {
            return next;
        }
        let mut next = next;
        if let Some((cut, _)) = self.cut {
            let last = self.waiting.last(cut, sampling, writer);
            let no = writer.truth(false);
            let after = writer.fby(no, last);
            next = cut_gradient(Some(after), next, writer);
        }
        if let Some((_, reset)) = self.segment {
            let first = self.waiting.first(reset, sampling, writer);
            next = cut_gradient(Some(first), next, writer);
        }
        next
    }

    /// The operand of a delay into the future: the next segment neither sends a value nor receives a
    /// gradient.
    fn before_next_segment(&self, next: VarId, writer: &mut Writer) -> VarId {
        let next = cut_gradient(self.cut.map(|(_, after)| after), next, writer);
        match self.segment {
            None => next,
            Some((_, rst)) => {
                let zero = writer.zero_like(next);
                writer.select(rst, zero, next)
            }
        }
    }
}

/// `if c then stop_gradient(x) else x`.
fn cut_gradient(condition: Option<VarId>, x: VarId, writer: &mut Writer) -> VarId {
    match condition {
        Some(condition) if writer.is_num(x) => {
            let stopped = writer.apply(Op::StopGradient, &[x]);
            writer.select(condition, stopped, x)
        }
        _ => x,
    }
}

/// A derivative written by the user does not cover resets in its node.
pub(crate) fn pointwise_instances(
    body: &Body,
    is_changed: fn(&Equation) -> bool,
    what: &str,
) -> Result<(), Vec<Diagnostic>> {
    let with_state = |placed: &&Placed| body.equations[placed.range.clone()].iter().any(is_changed);
    match body.instances.iter().find(with_state) {
        None => Ok(()),
        Some(Placed { instance, .. }) => {
            let title = format!(
                "{what} cannot be woven into `{}`: it has a custom derivative and is not pointwise",
                instance.name
            );
            let diagnostic = Diagnostic::error(codes::CUSTOM, instance.span, title)
                .reason("a derivative that is written by hand does not know about resets")
                .help("keep delays and parameters outside of the node with the custom derivative");
            Err(vec![diagnostic])
        }
    }
}

/// Streams on a sampled clock are computed at its activations only, so a parameter whose initial value depends on
/// data has no value at other cycles.
fn varying_parameter(
    equation: &Equation,
    sampling: &Sampling,
    request: &Weave,
    writer: &Writer,
) -> Diagnostic {
    let signal = if request.end.is_some() { "end" } else { "cut" };
    let node = &request.node;
    let label = |var: VarId| writer.vars[var.index()].name.as_deref().unwrap_or("…").to_string();
    let name = writer.vars[equation.out.index()].name.as_deref();
    let of = name.map_or(String::new(), |name| format!(" `{name}`"));
    let conditions = sampling.iter().map(|(condition, polarity)| match polarity {
        Polarity::On => format!(" on {}", label(*condition)),
        Polarity::OnNot => format!(" on not {}", label(*condition)),
    });
    let clock: String = conditions.collect();
    let title = format!(
        "cannot weave `{signal}` into `{node}`: a parameter{of} is on the sampled clock `base{clock}`, and its initial value is not constant"
    );
    Diagnostic::error(codes::SAMPLED, equation.span, title)
        .reason("its value would be needed at the first cycle of a segment, where it may be absent")
        .help("give the parameter a constant initial value, or keep it on the base clock")
}
