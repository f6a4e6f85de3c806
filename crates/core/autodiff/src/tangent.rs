//! `tan_N` (9.10): tangents of outputs from those of inputs and parameters.

use eddy_syntax::Diagnostic;

use crate::body::Body;
use crate::expand::Host;
use crate::forward::forward;
use crate::section::{Pair, Tangent};
use crate::writer::Writer;

/// Adds the tangent equations to a body.
pub(crate) fn tangent(
    mut body: Body,
    request: &Tangent,
    writer: &mut Writer,
    host: &mut dyn Host,
) -> Result<Body, Vec<Diagnostic>> {
    let parameters = body.parameter_streams().into_iter().zip(&request.parameters);
    let parameters = parameters.map(|(primal, derivative)| Pair { primal, derivative: *derivative });
    let given: Vec<Pair> = request.inputs.iter().copied().chain(parameters).collect();
    for pair in &given {
        writer.at_stream(pair.primal);
        writer.synchronise(*pair);
    }
    forward(&body, &given, &request.outputs, writer, host)?;
    body.append(std::mem::take(&mut writer.body));
    Ok(body)
}
