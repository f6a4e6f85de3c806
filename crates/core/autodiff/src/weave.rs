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
//! A cut replaces x by `if cut then stop_gradient(x) else x` on the source side of the delay (for delays into
//! the future, at the cycle after the cut), and holds parameters between cuts.

use eddy_flow::{Equation, Kind, Role, VarId};
use eddy_syntax::Diagnostic;
use eddy_tensor::{Algebra, Op};

use crate::body::{Body, Placed};
use crate::codes;
use crate::expand::{Host, flow_of};
use crate::section::Weave;
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
    pointwise_instances(&body)?;
    let flow = flow_of(&body, writer);
    if let Some((number, clock)) = host.sampled(&flow, &is_woven)? {
        return Err(vec![on_sampled_clock(&body.equations[number], &clock, request, writer)]);
    }
    writer.role = Role::Reset;
    let signals = Signals::new(request, writer);
    let mut starts = Vec::with_capacity(body.equations.len() + 1);
    for equation in &body.equations {
        starts.push(writer.body.equations.len());
        writer.at_equation(equation);
        signals.equation(equation, writer);
    }
    starts.push(writer.body.equations.len());
    writer.role = Role::Derivative;
    let mut woven = std::mem::take(&mut writer.body);
    woven.instances = body
        .instances
        .into_iter()
        .map(|placed| Placed { range: starts[placed.range.start]..starts[placed.range.end], ..placed })
        .collect();
    Ok(woven)
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
        Signals { segment, cut, hold }
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
                let (last, first) = self.hold;
                writer.held.insert(out);
                let ty = writer.ty(out).clone();
                let parameter = writer.write(Kind::Param(init), ty);
                let zero = zero(writer);
                let next = writer.select(last, zero, out);
                let held = writer.fby(parameter, next);
                writer.define(out, Kind::Apply(Op::If, Box::new([first, parameter, held])));
            }
            _ => writer.body.equations.push(equation.clone()),
        }
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
fn pointwise_instances(body: &Body) -> Result<(), Vec<Diagnostic>> {
    let with_state = |placed: &&Placed| body.equations[placed.range.clone()].iter().any(is_woven);
    match body.instances.iter().find(with_state) {
        None => Ok(()),
        Some(Placed { instance, .. }) => {
            let title = format!(
                "`end` or `cut` cannot be woven into `{}`: it has a custom derivative and is not pointwise",
                instance.name
            );
            let diagnostic = Diagnostic::error(codes::CUSTOM, instance.span, title)
                .reason("a derivative that is written by hand does not know about resets")
                .help("keep delays and parameters outside of the node with the custom derivative");
            Err(vec![diagnostic])
        }
    }
}

fn on_sampled_clock(equation: &Equation, clock: &str, request: &Weave, writer: &Writer) -> Diagnostic {
    let what = match &equation.kind {
        Kind::Param(_) => "a parameter",
        _ => "a delay",
    };
    let signal = if request.end.is_some() { "end" } else { "cut" };
    let node = &request.node;
    let name = writer.vars[equation.out.index()].name.as_deref();
    let of = name.map_or(String::new(), |name| format!(" `{name}`"));
    let title =
        format!("cannot weave `{signal}` into `{node}`: {what}{of} is on the sampled clock `{clock}`");
    Diagnostic::error(codes::SAMPLED, equation.span, title)
        .reason(format!("a `{signal}` that falls between two activations would be lost"))
        .help("keep delays and parameters on the base clock: sample their outputs, not their inputs")
}
