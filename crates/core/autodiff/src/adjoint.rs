//! `adj_N` (9.2): cotangents of inputs and parameters, cycle by cycle; the parameters are unchanged.

use eddy_syntax::Diagnostic;

use crate::body::Body;
use crate::expand::Host;
use crate::reverse::{Task, reverse};
use crate::section::{Adjoint, Pair};
use crate::writer::Writer;

/// Adds the adjoint equations to a body.
pub(crate) fn adjoint(
    mut body: Body,
    request: &Adjoint,
    writer: &mut Writer,
    host: &mut dyn Host,
) -> Result<Body, Vec<Diagnostic>> {
    for pair in &request.outputs {
        writer.at_stream(pair.primal);
        writer.synchronise(*pair);
    }
    let parameters = body.parameter_streams().into_iter().zip(&request.parameters);
    let parameters = parameters.map(|(primal, derivative)| Pair { primal, derivative: *derivative });
    let wanted: Vec<Pair> = request.inputs.iter().copied().chain(parameters).collect();
    let task = Task {
        body: &body,
        sources: wanted.iter().map(|pair| pair.primal).collect(),
        seeds: request.outputs.clone(),
        pinned: wanted.clone(),
        is_training: false,
    };
    let cotangents = reverse(&task, writer, host)?;
    for pair in wanted.iter().filter(|pair| !cotangents.contains_key(&pair.primal)) {
        writer.at_stream(pair.primal);
        writer.define_zero(pair.derivative, pair.primal);
    }
    body.append(std::mem::take(&mut writer.body));
    Ok(body)
}
