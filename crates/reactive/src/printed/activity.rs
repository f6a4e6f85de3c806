//! Which streams carry cotangents (section 9.2), node by node: those that an input or a parameter of the node influences and
//! that influence one of its outputs. A node is differentiated as a whole, with respect to all its `num` inputs, so that its
//! training code is the same text at every instance.

use rustc_hash::{FxHashMap, FxHashSet};

use super::local::{Action, Local, Step, StreamId, Typed};
use crate::program::{Customs, SlotId};

/// What cotangents pass through an instance.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    /// For each input whether it influences each output.
    pub passes: Vec<Vec<bool>>,
    /// For each output whether a parameter influences it.
    pub has_parameter: Vec<bool>,
    /// Whether there is any parameter in it.
    pub contains_parameter: bool,
    /// Whether the user wrote its derivative.
    pub custom: Option<Customs>,
}

impl Summary {
    /// Of an instance whose callees are known.
    pub fn new(typed: &Typed<'_>, instance: usize, local: &Local, callees: &[Option<Summary>]) -> Summary {
        let node = typed.node(instance);
        let custom = typed.program.customs.get(&typed.recorded(instance).node).copied();
        let inputs: Vec<StreamId> = (0..node.n_inputs).map(|input| local.slot(SlotId(input))).collect();
        let outputs: Vec<StreamId> = node.outputs.iter().map(|output| local.slot(*output)).collect();
        if custom.is_some() && instance > 0 {
            let passes = inputs
                .iter()
                .map(|input| {
                    outputs.iter().map(|output| local.is_num(*input) && local.is_num(*output)).collect()
                })
                .collect();
            return Summary {
                passes,
                has_parameter: vec![false; outputs.len()],
                contains_parameter: false,
                custom,
            };
        }
        let forward = edges(local, callees);
        let reached = |from: Vec<StreamId>| {
            let reached = reachable(from, &forward);
            outputs.iter().map(|output| reached.contains(output)).collect::<Vec<bool>>()
        };
        let passes = inputs.iter().map(|input| {
            if local.is_num(*input) { reached(vec![*input]) } else { vec![false; outputs.len()] }
        });
        let passes = passes.collect();
        let contains_parameter = local.steps.iter().any(|step| match &step.action {
            Action::Param => true,
            Action::Call(callee) => summary(callees, *callee).contains_parameter,
            _ => false,
        });
        let has_parameter = reached(parameters(local, callees));
        Summary { passes, has_parameter, contains_parameter, custom: None }
    }
}

/// The streams of an instance that carry cotangents, from the outputs that its caller asks for.
pub(super) fn active(
    typed: &Typed<'_>,
    instance: usize,
    local: &Local,
    callees: &[Option<Summary>],
    is_seeded: &[bool],
) -> FxHashSet<StreamId> {
    let node = typed.node(instance);
    let forward = edges(local, callees);
    let mut backward: FxHashMap<StreamId, Vec<StreamId>> = FxHashMap::default();
    for (from, tos) in &forward {
        for to in tos {
            backward.entry(*to).or_default().push(*from);
        }
    }
    let inputs = (0..node.n_inputs).map(|input| local.slot(SlotId(input)));
    let mut sources: Vec<StreamId> = inputs.filter(|input| local.is_num(*input)).collect();
    sources.extend(parameters(local, callees));
    let outputs = node.outputs.iter().zip(is_seeded).filter(|(_, is_seeded)| **is_seeded);
    let outputs = outputs.map(|(output, _)| local.slot(*output));
    let influenced = reachable(sources, &forward);
    let influencing = reachable(outputs.filter(|output| local.is_num(*output)).collect(), &backward);
    influenced.intersection(&influencing).copied().collect()
}

/// The active operands to which the cotangents of the active results of a step pass, with their positions.
pub(super) fn contributing(
    local: &Local,
    step: &Step,
    callees: &[Option<Summary>],
    active: &FxHashSet<StreamId>,
) -> Vec<(usize, StreamId)> {
    let reaches = |position: usize| match &step.action {
        Action::Call(callee) => {
            let passes = &summary(callees, *callee).passes[position];
            step.results.iter().zip(passes).any(|(result, passes)| *passes && active.contains(result))
        }
        _ => active.contains(&step.results[0]),
    };
    let operands = differentiable(local, step, callees).into_iter();
    operands.filter(|(position, operand)| active.contains(operand) && reaches(*position)).collect()
}

/// The operands that cotangents pass to, with their positions.
fn differentiable(local: &Local, step: &Step, callees: &[Option<Summary>]) -> Vec<(usize, StreamId)> {
    let passes = |position: usize| match &step.action {
        Action::Apply(op) => op.is_differentiable_in(position),
        Action::When(_) => position == 0,
        Action::Merge => position > 0,
        Action::Fby(_) | Action::Post => true,
        Action::Param => false,
        Action::Call(callee) => summary(callees, *callee).passes[position].contains(&true),
    };
    if !step.results.iter().any(|result| local.is_num(*result)) {
        return Vec::new();
    }
    let operands = step.operands.iter().copied().enumerate();
    operands.filter(|(position, operand)| local.is_num(*operand) && passes(*position)).collect()
}

pub(super) fn summary(callees: &[Option<Summary>], callee: usize) -> &Summary {
    callees[callee].as_ref().expect("callees are known before their callers")
}

fn edges(local: &Local, callees: &[Option<Summary>]) -> FxHashMap<StreamId, Vec<StreamId>> {
    let mut edges: FxHashMap<StreamId, Vec<StreamId>> = FxHashMap::default();
    for step in &local.steps {
        for (position, operand) in differentiable(local, step, callees) {
            for (number, result) in step.results.iter().enumerate() {
                let passes = match &step.action {
                    Action::Call(callee) => summary(callees, *callee).passes[position][number],
                    _ => true,
                };
                if passes && local.is_num(*result) {
                    edges.entry(operand).or_default().push(*result);
                }
            }
        }
    }
    edges
}

/// Where parameters enter.
fn parameters(local: &Local, callees: &[Option<Summary>]) -> Vec<StreamId> {
    let mut found = Vec::new();
    for step in &local.steps {
        match &step.action {
            Action::Param => found.push(step.results[0]),
            Action::Call(callee) => {
                let has_parameter = &summary(callees, *callee).has_parameter;
                found.extend(
                    step.results
                        .iter()
                        .zip(has_parameter)
                        .filter(|(_, has)| **has)
                        .map(|(result, _)| *result),
                );
            }
            _ => {}
        }
    }
    found
}

fn reachable(from: Vec<StreamId>, edges: &FxHashMap<StreamId, Vec<StreamId>>) -> FxHashSet<StreamId> {
    let mut todo = from;
    let mut seen: FxHashSet<StreamId> = todo.iter().copied().collect();
    while let Some(stream) = todo.pop() {
        for next in edges.get(&stream).into_iter().flatten() {
            if seen.insert(*next) {
                todo.push(*next);
            }
        }
    }
    seen
}
