//! `diff_N` (9.5): training code. Cotangents enter where `bp` is true; parameters are updated by their
//! cotangents, in place.
//!
//! A stream on a sampled clock has its cotangent on that clock too, so [`sampled`](crate::sampled) samples
//! `bp` for it.

use eddy_flow::{Kind, Named, Polarity, VarId};
use eddy_syntax::Diagnostic;
use eddy_tensor::{Algebra, Op};

use crate::body::{Body, Step};
use crate::expand::Host;
use crate::reverse::{Task, reverse};
use crate::sampled::SampledSignal;
use crate::section::{Diff, Instance, Pair};
use crate::writer::Writer;

/// Adds the backward equations to a body, and turns its parameters into state.
pub(crate) fn diff(
    mut body: Body,
    request: &Diff,
    writer: &mut Writer,
    host: &mut dyn Host,
) -> Result<Body, Vec<Diagnostic>> {
    let mut bp = SampledSignal::new(request, &body, writer, host)?;
    let mut seeds = Vec::new();
    for pair in &request.outputs {
        writer.at_stream(pair.primal);
        let bp = bp.on_clock_of(pair.primal, writer);
        // The seed is `merge bp dy 0`.
        let seed = Pair { derivative: writer.padded(pair.derivative, bp, Polarity::On), ..*pair };
        writer.synchronise(seed);
        seeds.push(seed);
    }
    let inputs = request.inputs.iter().map(|pair| pair.primal);
    let sources: Vec<VarId> = inputs.chain(body.parameter_streams()).collect();
    let task = Task { body: &body, sources, seeds, pinned: Vec::new(), is_training: true };
    let cotangents = reverse(&task, writer, host)?;
    for pair in &request.inputs {
        writer.at_stream(pair.primal);
        let dense = cotangents.get(&pair.primal).copied();
        let dense = dense.unwrap_or_else(|| {
            let zero = writer.derivative("d'", pair.primal);
            writer.define_zero(zero, pair.primal);
            zero
        });
        let bp = bp.on_clock_of(pair.primal, writer);
        writer.define(pair.derivative, Kind::When { value: dense, condition: bp, polarity: Polarity::On });
    }
    let mut body = without_replaced(std::mem::take(&mut body));
    for (number, name) in body.parameters().into_iter().zip(&request.parameters) {
        writer.learnt.push(Named { name: name.clone(), var: body.equations[number].out });
        update(&mut body, number, &cotangents, writer);
    }
    body.append(std::mem::take(&mut writer.body));
    Ok(body)
}

/// `p = param(i)` becomes `p = i fby p1`, with `p1 = p + d'p`.
fn update(body: &mut Body, number: usize, cotangents: &crate::reverse::Cotangents, writer: &mut Writer) {
    let equation = &mut body.equations[number];
    let Kind::Param(init) = equation.kind else { unreachable!("it is a parameter") };
    writer.at_equation(equation);
    let next = match cotangents.get(&equation.out) {
        Some(cotangent) => {
            let gradient = writer.handed_over(*cotangent);
            writer.apply(Op::Add, &[equation.out, gradient])
        }
        None => equation.out,
    };
    equation.kind = Kind::Fby { init, next };
}

/// The body without the instances that a `diff_M` replaces.
fn without_replaced(body: Body) -> Body {
    let is_replaced =
        |instance: &Instance| instance.has_diff && !instance.has_adjoint && !instance.has_tangent;
    if !body.instances.iter().any(|placed| is_replaced(&placed.instance)) {
        return body;
    }
    let is_black_box =
        |instance: &Instance| instance.has_adjoint || instance.has_tangent || instance.has_diff;
    let mut left = Body::default();
    for step in body.steps(is_black_box) {
        match step {
            Step::Equation(equation) => left.equations.push(equation.clone()),
            Step::Instance(placed) if is_replaced(&placed.instance) => {}
            Step::Instance(placed) => {
                let start = left.equations.len();
                left.equations.extend_from_slice(&body.equations[placed.range.clone()]);
                let range = start..left.equations.len();
                left.instances.push(crate::body::Placed { range, instance: placed.instance.clone() });
            }
        }
    }
    left
}
