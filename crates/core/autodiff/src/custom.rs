//! Derivatives written by the user (9.12).
//!
//! A rule is the flow of `adj_M`, `tan_M` or `diff_M` at the types of the instance. Its equations are inlined
//! where the derivative is needed. `adj_M` is linear in dy, and `tan_M` in tx; if only one of them exists,
//! its transpose is the other.

use std::ops::RangeFrom;

use eddy_flow::{Constant, Equation, Flow, Kind, VarId};
use eddy_syntax::Diagnostic;
use eddy_tensor::{Scalar, Shape, Type};
use rustc_hash::FxHashMap;

use crate::body::{Body, Placed};
use crate::expand::{Expanded, Gradients, Host};
use crate::prune::prune;
use crate::reverse::{Task, reverse};
use crate::section::{Argument, Instance, Mode, Pair};
use crate::writer::Writer;

/// The user's derivative of an instance. Its inputs are the streams that the instance reads, then the
/// additional inputs of the rule.
pub(crate) fn rule(
    instance: &Instance,
    mode: Mode,
    writer: &Writer,
    host: &mut dyn Host,
) -> Result<Expanded, Vec<Diagnostic>> {
    let mut types: Vec<Type> = instance.streams().map(|var| writer.ty(var).clone()).collect();
    let of_outputs = instance.differentiable().map(|output| writer.ty(output).clone());
    match mode {
        Mode::Adjoint => types.extend(of_outputs),
        Mode::Diff => {
            types.push(Type { scalar: Scalar::Bool, shape: Shape::scalar() });
            types.extend(of_outputs);
        }
        Mode::Tangent => {
            let varying = instance.inputs.iter().filter(|input| input.has_cotangent);
            types.extend(varying.map(|input| match input.argument {
                Argument::Stream(var) => writer.ty(var).clone(),
                Argument::Static(_) => Type { scalar: Scalar::Num, shape: Shape::scalar() },
            }));
        }
    }
    host.rule(instance, mode, &types)
}

/// The transpose of the user's derivative: from `tan_M` the part of `adj_M` that computes dx, and vice versa.
/// Its inputs are the streams that the instance reads, then the cotangents of the outputs of the rule.
pub(crate) fn transposed(
    instance: &Instance,
    given: Mode,
    writer: &Writer,
    host: &mut dyn Host,
) -> Result<Expanded, Vec<Diagnostic>> {
    let Expanded { flow, instances, .. } = rule(instance, given, writer, host)?;
    let n_streams = instance.streams().count();
    let linear: Vec<VarId> = flow.inputs[n_streams..].to_vec();
    let results = flow.outputs[instance.outputs.len()..].to_vec();
    let mut writer = Writer::new(flow.vars, flow.clocks, flow.calls, Gradients::Direct);
    writer.at(instance.span);
    let seeds: Vec<Pair> = results
        .iter()
        .map(|result| Pair { primal: *result, derivative: writer.fresh(writer.ty(*result).clone()) })
        .collect();
    let body = Body { equations: flow.equations, instances };
    let task = Task {
        body: &body,
        sources: linear.clone(),
        seeds: seeds.clone(),
        pinned: Vec::new(),
        is_training: false,
    };
    let cotangents = reverse(&task, &mut writer, host)?;
    let outputs: Vec<VarId> = linear
        .iter()
        .map(|input| cotangents.get(input).copied().unwrap_or_else(|| writer.zero_like(*input)))
        .collect();
    // The rule is linear in these, so their values do not matter.
    let mut whole = body;
    for input in &linear {
        let zero = Kind::Const(Constant::Zero);
        whole.equations.push(Equation { out: *input, kind: zero, span: instance.span, call: None });
    }
    whole.append(std::mem::take(&mut writer.body));
    let inputs = flow.inputs[..n_streams].iter().copied().chain(seeds.iter().map(|seed| seed.derivative));
    let flow = Flow {
        vars: writer.vars,
        equations: whole.equations,
        inputs: inputs.collect(),
        outputs,
        ..Flow::default()
    };
    Ok(Expanded { flow, instances: whole.instances, gradients: Vec::new(), warnings: Vec::new() })
}

/// Inlines the equations of a rule for these arguments, without those that its used outputs do not need;
/// returns these outputs.
pub(crate) fn splice(
    rule: &Expanded,
    outputs: RangeFrom<usize>,
    arguments: &[VarId],
    instance: &Instance,
    writer: &mut Writer,
) -> Vec<VarId> {
    let flow = &rule.flow;
    let outputs = &flow.outputs[outputs];
    // Cloned, since a rule is small and a body is simpler to prune.
    let whole = Body { equations: flow.equations.clone(), instances: rule.instances.clone() };
    let body = prune(&whole, outputs);
    let mut names: FxHashMap<VarId, VarId> =
        flow.inputs.iter().copied().zip(arguments.iter().copied()).collect();
    let path = instance.path.inside("derivative");
    for equation in &body.equations {
        let var = flow.var(equation.out);
        let name = var.name.as_ref().map(|name| name.within(&path));
        let new = writer.var(name, var.ty.clone());
        names.insert(equation.out, new);
    }
    let rename = |var: VarId| names[&var];
    let mut instances = body.instances;
    for Placed { instance, .. } in &mut instances {
        instance.rename(&rename);
    }
    // Instances in the rule are not instances of the program.
    let here = |equation: &Equation| Equation { call: None, ..equation.renamed(&rename) };
    let equations = body.equations.iter().map(here).collect();
    writer.body.append(Body { equations, instances });
    outputs.iter().map(|output| rename(*output)).collect()
}
