//! Executes the requests of a program's sections, inner sections first.

use std::collections::VecDeque;

use eddy_flow::clocks::Clocks;
use eddy_flow::{Flow, Purpose, Var, VarId};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Type;
use rustc_hash::FxHashSet;

use crate::adjoint::adjoint;
use crate::body::{Body, Placed};
use crate::codes;
use crate::diff::diff;
use crate::prune::mentioned;
use crate::restart::restart;
use crate::section::{Edge, Instance, Mark, Mode, Request};
use crate::surroundings::{Surroundings, Unexpanded};
use crate::tangent::tangent;
use crate::train::train;
use crate::weave::weave;
use crate::writer::Writer;

/// The services of the language that differentiation needs.
pub trait Host {
    /// The user's derivative of an instance, at these types of its stream inputs.
    fn rule(&mut self, instance: &Instance, mode: Mode, types: &[Type]) -> Result<Expanded, Vec<Diagnostic>>;

    /// The clocks of some equations.
    fn clocks(&self, flow: &Flow) -> Result<Clocks, Vec<Diagnostic>>;

    /// The clocks of some equations of which others are missing; errors in them are reported elsewhere.
    fn guessed_clocks(&self, flow: &Flow) -> Clocks;

    /// The limit of equations after differentiation.
    fn equation_limit(&self) -> EquationLimit;
}

/// The limit of equations of a program, and how to raise it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EquationLimit {
    /// The largest number of equations.
    pub max: usize,
    /// The help of the diagnostic when the program has more.
    pub help: &'static str,
}

/// How training code passes the gradients of parameters to the equations that update them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gradients {
    /// Directly.
    Direct,
    /// Through copies, so that each parameter has one equation whose value is its gradient. A batch sums the
    /// gradients of its streams there.
    Copied {
        /// The number of losses in the mean: gradients are divided by it.
        n_losses: usize,
    },
}

/// A flow whose sections are expanded.
#[derive(Clone, Debug)]
pub struct Expanded {
    pub flow: Flow,
    /// The instances that have derivatives of their own.
    pub instances: Vec<Placed>,
    /// The copies through which gradients pass, if there are any.
    pub gradients: Vec<VarId>,
    /// Warnings for the user.
    pub warnings: Vec<Diagnostic>,
}

impl Expanded {
    /// A flow that has no sections to expand.
    fn plain(flow: Flow) -> Expanded {
        Expanded { flow, instances: Vec::new(), gradients: Vec::new(), warnings: Vec::new() }
    }
}

/// Expands all sections of a flow.
pub fn expand(
    flow: Flow,
    marks: Vec<Mark>,
    gradients: Gradients,
    host: &mut dyn Host,
) -> Result<Expanded, Vec<Diagnostic>> {
    if marks.is_empty() {
        return Ok(Expanded::plain(flow));
    }
    let Flow {
        vars,
        equations,
        inputs,
        outputs,
        clocks,
        mut parameters,
        mut persistent_state,
        mut tape,
        contracts,
        calls,
        aliases,
    } = flow;
    let mut writer = Writer::new(vars, clocks.clone(), calls, gradients);
    let limit = host.equation_limit();
    let mut marks = VecDeque::from(marks);
    // The open sections, from the outermost to the innermost; the first is the program.
    let mut open = vec![Body::default()];
    let mut surroundings = Surroundings::new(&inputs);
    let n_equations = equations.len();
    let mut equations = equations.into_iter();
    for at in 0..=n_equations {
        while let Some(mark) = marks.pop_front_if(|mark| mark.at == at) {
            match mark.what {
                Edge::Begin => open.push(Body::default()),
                Edge::End(section) => {
                    let body = open.pop().expect("a section begins before it ends");
                    let span = section.span;
                    if section.request.is_derivative() && writer.has_handed_over(&body) {
                        return Err(vec![coupled(span)]);
                    }
                    let body = match section.request {
                        Request::Restart(request) => {
                            let rest =
                                Unexpanded { open: &open, equations: equations.as_slice(), marks: &marks };
                            let samplings = surroundings.samplings(&body, &request, &rest, &writer, host);
                            restart(body, &request, span, &samplings, &mut writer)?
                        }
                        request => end(body, request, span, &mut writer, host)?,
                    };
                    let around = open.last_mut().expect("a section lies in another, or in the program");
                    around.append(body);
                    if around.equations.len() > limit.max {
                        return Err(vec![too_large(limit, span)]);
                    }
                }
            }
        }
        if let Some(equation) = equations.next() {
            open.last_mut().expect("the program is open").equations.push(equation);
        }
    }
    let body = open.pop().expect("the program is open");
    let gradients = std::mem::take(&mut writer.handed);
    // Weaving may have replaced the stream of a parameter.
    let left = body.parameter_streams();
    for (parameter, var) in parameters.iter_mut().zip(left) {
        parameter.var = var;
    }
    for named in &mut persistent_state {
        named.var = writer.delays.get(&named.var).copied().unwrap_or(named.var);
    }
    persistent_state.extend(writer.learnt.iter().cloned());
    parameters.append(&mut writer.learnt);
    tape.extend(&writer.tape);
    let equations = body.equations;
    let flow = Flow {
        vars: writer.vars,
        equations,
        inputs,
        outputs,
        clocks,
        parameters,
        persistent_state,
        tape,
        contracts,
        calls: writer.calls,
        aliases,
    };
    Ok(compact(Expanded { flow, instances: body.instances, gradients, warnings: writer.warnings }))
}

/// Streams of a batch that learn together depend on each other, so their derivatives cannot be batched.
fn coupled(span: Span) -> Diagnostic {
    let title = "a derivative of training code cannot be computed for several streams at once";
    Diagnostic::error(codes::BATCH, span, title)
        .reason("all streams of a batch move the same parameters, so each depends on all others")
        .help("leave out `--batch`")
}

fn too_large(limit: EquationLimit, span: Span) -> Diagnostic {
    let title = format!("more than {} equations once derivatives are written out", limit.max);
    Diagnostic::error(codes::TOO_LARGE, span, title)
        .reason("each derivative of a derivative has about four times as many equations")
        .help(limit.help)
}

/// The end of a section.
fn end(
    mut body: Body,
    request: Request,
    span: Span,
    writer: &mut Writer,
    host: &mut dyn Host,
) -> Result<Body, Vec<Diagnostic>> {
    match request {
        Request::Instance(instance) => {
            let range = 0..body.equations.len();
            body.instances.push(Placed { range, instance });
            Ok(body)
        }
        Request::Weave(request) => weave(body, &request, writer, host),
        Request::Restart(_) => unreachable!("it needs the clocks around it"),
        Request::Adjoint(request) => adjoint(body, &request, writer, host),
        Request::Diff(request) => diff(body, &request, writer, host),
        Request::Tangent(request) => tangent(body, &request, writer, host),
        Request::Train(request) => train(body, &request, span, writer, host),
    }
}

/// Removes streams that renaming and pruning left without an equation.
fn compact(expanded: Expanded) -> Expanded {
    let Expanded { flow, mut instances, mut gradients, warnings } = expanded;
    let Flow {
        vars,
        equations,
        inputs,
        outputs,
        mut clocks,
        mut parameters,
        mut persistent_state,
        mut tape,
        mut contracts,
        calls,
        mut aliases,
    } = flow;
    let body = Body { equations, instances: Vec::new() };
    let mut used: FxHashSet<VarId> = mentioned(&body);
    used.extend(inputs.iter().chain(&outputs));
    parameters.retain(|parameter| used.contains(&parameter.var));
    persistent_state.retain(|named| used.contains(&named.var));
    aliases.retain(|(_, var)| used.contains(var));
    tape.retain(|var| used.contains(var));
    gradients.retain(|var| used.contains(var));
    contracts.retain(|contract| used.contains(&contract.var));
    let mut numbers = vec![VarId::new(0); vars.len()];
    let mut kept: Vec<Var> = Vec::with_capacity(used.len());
    for (number, var) in vars.into_iter().enumerate() {
        if used.contains(&VarId::new(number)) {
            numbers[number] = VarId::new(kept.len());
            kept.push(var);
        }
    }
    let rename = |var: VarId| numbers[var.index()];
    for var in &mut kept {
        var.purpose = var.purpose.filter(|purpose| used.contains(&purpose.of));
        var.purpose = var.purpose.map(|Purpose { of, role }| Purpose { of: rename(of), role });
    }
    for placed in &mut instances {
        placed.instance.rename(&rename);
    }
    clocks.retain(|clock| used.contains(&clock.var));
    for clock in &mut clocks {
        clock.var = rename(clock.var);
        clock.conditions.iter_mut().for_each(|(condition, _)| *condition = rename(*condition));
    }
    for saved in parameters.iter_mut().chain(&mut persistent_state) {
        saved.var = rename(saved.var);
    }
    for (_, var) in &mut aliases {
        *var = rename(*var);
    }
    for var in &mut gradients {
        *var = rename(*var);
    }
    for contract in &mut contracts {
        (contract.var, contract.condition) = (rename(contract.var), rename(contract.condition));
    }
    let flow = Flow {
        vars: kept,
        equations: body.equations.iter().map(|equation| equation.renamed(&rename)).collect(),
        inputs: inputs.into_iter().map(rename).collect(),
        outputs: outputs.into_iter().map(rename).collect(),
        clocks,
        parameters,
        persistent_state,
        tape: tape.into_iter().map(rename).collect(),
        contracts,
        calls,
        aliases,
    };
    Expanded { flow, instances, gradients, warnings }
}

/// The equations of a body as a separate program; undefined streams become its inputs.
pub(crate) fn flow_of(body: &Body, writer: &Writer) -> Flow {
    let defined: FxHashSet<VarId> = body.equations.iter().map(|equation| equation.out).collect();
    let mut inputs: Vec<VarId> = mentioned(body).into_iter().filter(|var| !defined.contains(var)).collect();
    inputs.sort_unstable();
    let flow = Flow {
        vars: writer.vars.clone(),
        equations: body.equations.clone(),
        inputs,
        calls: writer.calls.clone(),
        ..Flow::default()
    };
    compact(Expanded::plain(flow)).flow
}

/// The streams of a body in the order of [`flow_of`].
pub(crate) fn streams_of(body: &Body) -> Vec<VarId> {
    let mut streams: Vec<VarId> = mentioned(body).into_iter().collect();
    streams.sort_unstable();
    streams
}
