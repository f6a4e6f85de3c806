//! Which derivatives pass through each instance, from its inputs and parameters to its outputs (section 9.2).
//! A node is differentiated as a whole, with respect to all its `num` inputs, so that all its instances have
//! the same training code.

use eddy_autodiff::Transposed;

use super::local::{Action, Local, StreamId, Typed};
use crate::flow::Kind;
use crate::program::{Customs, SlotId};

/// The cotangents that pass through an instance.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    /// For each input, which outputs it influences.
    pub passes: Vec<Vec<bool>>,
    /// For each output, whether a parameter influences it.
    pub has_parameter: Vec<bool>,
    /// Whether the instance contains a parameter.
    pub contains_parameter: bool,
    /// The derivatives that the user wrote, if any.
    pub custom: Option<Customs>,
}

impl Summary {
    /// The summary of an instance whose callees have summaries.
    pub fn new(typed: &Typed<'_>, instance: usize, local: &Local, callees: &[Option<Summary>]) -> Summary {
        let node = typed.node(instance);
        let custom = typed.program.customs.get(&typed.recorded(instance).node).copied();
        let inputs: Vec<StreamId> = (0..node.n_inputs).map(|input| local.slot(SlotId::new(input))).collect();
        let outputs: Vec<StreamId> = node.outputs.iter().map(|output| local.slot(*output)).collect();
        let is_num = |stream: &StreamId| local.is_num(*stream);
        if custom.is_some() && instance > 0 {
            let to_outputs =
                |input: &StreamId| outputs.iter().map(|to| is_num(input) && is_num(to)).collect();
            return Summary {
                passes: inputs.iter().map(to_outputs).collect(),
                has_parameter: vec![false; outputs.len()],
                contains_parameter: false,
                custom,
            };
        }
        let differentiated = local.differentiated(callees);
        let reached = |from: &[StreamId]| {
            let influenced = differentiated.influenced(from);
            outputs.iter().map(|output| influenced.contains(output)).collect::<Vec<bool>>()
        };
        let from_input = |input: &StreamId| if is_num(input) { reached(&[*input]) } else { reached(&[]) };
        let contains_parameter = local.steps.iter().any(|step| match &step.action {
            Action::Equation(kind) => matches!(kind, Kind::Param(_)),
            Action::Call(callee) => summary(callees, *callee).contains_parameter,
        });
        Summary {
            passes: inputs.iter().map(from_input).collect(),
            has_parameter: reached(&parameters(local, callees)),
            contains_parameter,
            custom: None,
        }
    }
}

/// The backward equations of an instance, for the outputs whose cotangents the caller provides.
pub(super) fn transposed(
    typed: &Typed<'_>,
    instance: usize,
    local: &Local,
    callees: &[Option<Summary>],
    is_seeded: &[bool],
) -> Transposed {
    let node = typed.node(instance);
    let inputs = (0..node.n_inputs).map(|input| local.slot(SlotId::new(input)));
    let mut sources: Vec<StreamId> = inputs.filter(|input| local.is_num(*input)).collect();
    sources.extend(parameters(local, callees));
    let outputs = node.outputs.iter().zip(is_seeded).filter(|(_, is_seeded)| **is_seeded);
    let outputs = outputs.map(|(output, _)| local.slot(*output));
    let sinks: Vec<StreamId> = outputs.filter(|output| local.is_num(*output)).collect();
    local.differentiated(callees).transpose(&sources, &sinks)
}

pub(super) fn summary(callees: &[Option<Summary>], callee: usize) -> &Summary {
    callees[callee].as_ref().expect("callees are known before their callers")
}

/// The streams of parameters.
fn parameters(local: &Local, callees: &[Option<Summary>]) -> Vec<StreamId> {
    let mut found = Vec::new();
    for step in &local.steps {
        match &step.action {
            Action::Equation(Kind::Param(_)) => found.push(step.results[0]),
            Action::Equation(_) => {}
            Action::Call(callee) => {
                let has_parameter = &summary(callees, *callee).has_parameter;
                let results = step.results.iter().zip(has_parameter).filter(|(_, has)| **has);
                found.extend(results.map(|(result, _)| *result));
            }
        }
    }
    found
}
