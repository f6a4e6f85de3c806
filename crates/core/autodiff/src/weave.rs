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
//! o = i fby x         h = 0 fby (if end then 0 else (merge κ x h))
//!                     o = if first then i else (h when κ)
//! o = post x          h = if end then 0 else post (if rst then 0 else (merge κ x h))
//!                     o = h when κ
//! o = i fby back x    h, with `0 fby back` in place of `post`
//!                     o = if final then i else (h when κ)
//! o = param(i)        p = param(i), held on base as above
//!                     o = p when κ
//! ```
//!
//! Decision: composition.md has `o = if first then i else (i fby (if final then 0 else x))` on κ, which has
//! the same cells. There the forward pass reads `final`, which looks ahead; here windows that end with a
//! segment hold all that is delayed. A `fby` that is not differentiated is `if first then i else (i fby x)`,
//! as there.
//!
//! A cut replaces x by `if cut then stop_gradient(x) else x` on the source side of the delay (for delays into
//! the future, at the cycle after the cut), and holds parameters between cuts.

use eddy_flow::{Equation, Kind, Polarity, Role, VarId};
use eddy_syntax::Diagnostic;
use eddy_tensor::{Algebra, Op};

use crate::activations::{Sampling, merged};
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

    /// A delay on a sampled clock keeps its value on base, where resets and cuts are those of base. Without
    /// derivatives a `fby` needs no such value.
    fn sampled_delay(&mut self, equation: &Equation, sampling: &Sampling, writer: &mut Writer) {
        let out = equation.out;
        let kind = match equation.kind {
            _ if self.segment.is_none() && !self.is_differentiated => equation.kind.clone(),
            Kind::Fby { init, next } => {
                let start = match self.segment {
                    Some((_, reset)) => reset,
                    None => {
                        let (yes, no) = (writer.truth(true), writer.truth(false));
                        writer.fby(yes, no)
                    }
                };
                let first = self.waiting.first(start, sampling, writer);
                let delayed = if self.is_differentiated {
                    let held = self.held(next, sampling, writer);
                    self.waiting.sampled(held, sampling, writer)
                } else {
                    writer.fby(init, next)
                };
                Kind::Apply(Op::If, Box::new([first, init, delayed]))
            }
            Kind::Post(next) => {
                let ahead = self.ahead(next, sampling, writer, |next, writer| {
                    let ty = writer.ty(next).clone();
                    writer.write(Kind::Post(next), ty)
                });
                Kind::Apply(Op::Copy, Box::new([self.waiting.sampled(ahead, sampling, writer)]))
            }
            Kind::FbyBack { init, next } => {
                let end = self.segment.map(|(end, _)| end);
                let end = end.unwrap_or_else(|| writer.truth(false));
                let last = self.waiting.last(end, sampling, writer);
                let ahead = self.ahead(next, sampling, writer, |next, writer| {
                    let zero = writer.zero_like(next);
                    writer.fby_back(zero, next)
                });
                let ahead = self.waiting.sampled(ahead, sampling, writer);
                Kind::Apply(Op::If, Box::new([last, init, ahead]))
            }
            _ => unreachable!("it is a delay"),
        };
        writer.define(out, kind);
    }

    /// The value of a stream at its last activation before this cycle:
    /// `held = 0 fby (if end then 0 else (merge κ x held))`.
    fn held(&self, x: VarId, sampling: &Sampling, writer: &mut Writer) -> VarId {
        let ty = writer.ty(x).clone();
        let held = writer.fresh(ty);
        let last = merged(x, held, sampling, writer);
        let mut next = cut_gradient(self.cut.map(|(cut, _)| cut), last, writer);
        if let Some((end, _)) = self.segment {
            let zero = writer.zero_like(x);
            next = writer.select(end, zero, next);
        }
        let init = writer.zero_like(x);
        writer.define(held, Kind::Fby { init, next });
        held
    }

    /// The value of a stream at its first activation after this cycle, given a delay into the future.
    fn ahead(
        &self,
        x: VarId,
        sampling: &Sampling,
        writer: &mut Writer,
        delay: impl FnOnce(VarId, &mut Writer) -> VarId,
    ) -> VarId {
        let ty = writer.ty(x).clone();
        let ahead = writer.fresh(ty);
        let first = merged(x, ahead, sampling, writer);
        let next = self.before_next_segment(first, writer);
        let delayed = delay(next, writer);
        match self.segment {
            None => writer.define_copy(ahead, delayed),
            Some((end, _)) => {
                let zero = writer.zero_like(x);
                writer.define(ahead, Kind::Apply(Op::If, Box::new([end, zero, delayed])));
            }
        }
        ahead
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

/// Streams on a sampled clock are computed at its activations only, so a parameter whose initial value
/// depends on data has no value at other cycles.
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
