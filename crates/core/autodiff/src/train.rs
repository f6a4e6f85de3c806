//! `train N as M …` (9.7): computes the gradient of the loss, and replaces each parameter by an optimiser.

use eddy_flow::components::components;
use eddy_flow::{Constant, Kind, VarId};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Algebra, Op};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::activity::{active, passages};
use crate::blocked;
use crate::body::{Body, Step};
use crate::codes;
use crate::expand::Host;
use crate::lifted::lifted;
use crate::reverse::{Task, reverse};
use crate::section::{Instance, Pair, Train};
use crate::support::supports;
use crate::writer::Writer;

/// Adds the backward equations to a body, and replaces its parameters by optimisers.
pub(crate) fn train(
    body: Body,
    request: &Train,
    span: Span,
    writer: &mut Writer,
    host: &mut dyn Host,
) -> Result<Body, Vec<Diagnostic>> {
    let mut body = lifted(body, writer, host);
    let parameters = body.parameter_streams();
    let steps = body.steps(is_black_box);
    let active = active(writer, passages(writer, &steps), parameters.iter().copied(), [request.loss]);
    if !request.is_bounded
        && let Some(circle) = circle(writer, &steps, &active)
    {
        return Err(vec![recurrence(&request.node, span, &circle, writer)]);
    }
    writer.at_stream(request.loss);
    // A loss with several entries counts as their sum. Losses that are minimised together count as their
    // mean: the seed is scaled, not the gradient, which may be large.
    let mut seed = writer.write(Kind::Const(Constant::Num(writer.weight())), writer.ty(request.loss).clone());
    if let Some(n_rows) = request.n_rows {
        seed = writer.apply(Op::Div, &[seed, n_rows]);
    }
    let of_parameters = parameters.iter().zip(&request.parameters);
    let pinned: Vec<Pair> = of_parameters
        .clone()
        .map(|(primal, trained)| Pair { primal: *primal, derivative: writer.computed(trained.gradient) })
        .collect();
    let computed: Vec<VarId> = pinned.iter().map(|pair| pair.derivative).collect();
    let task = Task {
        body: &body,
        sources: parameters.clone(),
        seeds: vec![Pair { primal: request.loss, derivative: seed }],
        pinned,
        is_training: false,
    };
    let cotangents = reverse(&task, writer, host)?;
    let wanted: Vec<(VarId, VarId)> =
        of_parameters.clone().filter_map(|(primal, trained)| Some((*primal, trained.step?))).collect();
    supports(&steps, &active, request.loss, &wanted, writer);
    drop(steps);
    let mut unreached = Vec::new();
    for ((number, trained), computed) in body.parameters().into_iter().zip(&request.parameters).zip(computed)
    {
        let equation = &mut body.equations[number];
        let Kind::Param(init) = equation.kind else { unreachable!("it is a parameter") };
        writer.at_equation(equation);
        writer.define_copy(trained.init, init);
        if cotangents.contains_key(&equation.out) {
            writer.hand_over(trained.gradient, computed);
        } else {
            unreached.push(equation.out);
            writer.define_zero(trained.gradient, equation.out);
        }
        equation.kind = Kind::Apply(Op::Copy, Box::new([trained.value]));
    }
    for parameter in unreached {
        writer.warnings.extend(blocked::warning(&body, parameter, request.loss, writer));
    }
    body.append(std::mem::take(&mut writer.body));
    Ok(body)
}

fn is_black_box(instance: &Instance) -> bool {
    instance.has_adjoint || instance.has_tangent
}

/// Streams on a cycle along which a gradient returns to its start: the backward pass would not end by itself.
fn circle(writer: &Writer, steps: &[Step<'_>], active: &FxHashSet<VarId>) -> Option<Vec<VarId>> {
    let mut streams: Vec<VarId> = active.iter().copied().collect();
    streams.sort_unstable();
    let numbers: FxHashMap<VarId, usize> =
        streams.iter().enumerate().map(|(number, var)| (*var, number)).collect();
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); streams.len()];
    for (from, to) in passages(writer, steps) {
        if let (Some(from), Some(to)) = (numbers.get(&from), numbers.get(&to)) {
            successors[*from].push(*to);
        }
    }
    let component = components(streams.len(), |vertex| successors[vertex].clone());
    let is_circular = |number: &usize| {
        let is_alike = |other: &usize| component[*other] == component[*number];
        successors[*number].iter().any(is_alike)
    };
    let first = (0..streams.len()).find(is_circular)?;
    let members = (0..streams.len()).filter(|number| component[*number] == component[first]);
    Some(members.map(|number| streams[number]).collect())
}

fn recurrence(node: &str, span: Span, circle: &[VarId], writer: &Writer) -> Diagnostic {
    let title = format!(
        "train: node '{node}' has a recurrence; its backward pass needs the end signal (add 'segment')"
    );
    let mut diagnostic = Diagnostic::error(codes::RECURRENCE, span, title)
        .reason("a gradient that flows through a recurrence comes from all later cycles, and a stream need not end")
        .help("`segment` resets the node by an input `end`; `truncate` cuts the gradient by an input `cut`");
    for var in circle.iter().map(|var| &writer.vars[var.index()]) {
        if let Some(name) = &var.name {
            diagnostic = diagnostic.cause(var.span, format!("`{name}` depends on its own past"));
        }
    }
    diagnostic
}
