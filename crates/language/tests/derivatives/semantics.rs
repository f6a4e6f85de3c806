//! Laws of all nodes, applied to synthesised ones: both semantics agree (P1), the flow is well formed and its
//! text reads back. And laws that relate them to their node: equal clocks and values.

use std::mem::discriminant;

use eddy_flow::VarId;
use eddy_language::semantics::Cell;
use eddy_tensor::Scalar;

use crate::generated::agreement::agree;
use crate::generated::case::Case;
use crate::generated::compare::{label, show};
use crate::generated::harness::Verdict;
use crate::generated::round_trip::reads_back;
use crate::run::{Run, Stop, law_of_nodes, parameters};
use crate::samples::{sample, sample_to_train};
use crate::training::diff;

/// Some derivatives of a node, up to second order.
fn derivatives(case: &Case, node: &Run) -> Result<Vec<Run>, Stop> {
    let choices = &mut case.decisions();
    let seeds = node.seeds(choices);
    let adjoint = node.adjoint(&seeds)?.run;
    let tangent = node.tangent(&node.directions(&node.rows_of(&node.sources), choices))?.run;
    let twice = adjoint.adjoint(&adjoint.seeds(choices))?.run;
    let mixed = adjoint.tangent(&adjoint.directions(&adjoint.rows_of(&adjoint.sources), choices))?.run;
    Ok(vec![adjoint, tangent, twice, mixed])
}

/// Nodes with resets and cuts, training code, and their adjoints.
fn training_code(case: &Case, node: &Run) -> Result<Vec<Run>, Stop> {
    let choices = &mut case.decisions();
    let mut runs = Vec::new();
    for (name, n_signals) in [("n_end", 1), ("n_cut", 1), ("n_end_cut", 2)] {
        runs.push(node.with_signals(name, n_signals, || choices.once_in(3))?);
    }
    runs.push(diff(node, choices)?.run);
    for number in 0..runs.len() {
        let seeds = runs[number].seeds(choices);
        runs.push(runs[number].adjoint(&seeds)?.run);
    }
    Ok(runs)
}

/// Both semantics give the same cells. If a stream waits for itself, the law is weaker.
fn agree_on(runs: &[Run]) -> Result<(), Stop> {
    let mut is_waiting = false;
    for run in runs {
        let verdict =
            agree(&run.ready).map_err(|broken| format!("{}: {broken}", run.ready.bench(&run.name)))?;
        is_waiting |= matches!(verdict, Verdict::Vacuous(_));
    }
    if is_waiting { Err(Stop::Vacuous("waits within a cycle")) } else { Ok(()) }
}

/// The flow is well formed, and so is the flow that is read back from its text.
fn all_read_back(runs: &[Run]) -> Result<(), Stop> {
    for run in runs {
        reads_back(&run.ready).map_err(|broken| format!("{}: {broken}", run.name))?;
    }
    Ok(())
}

#[test]
fn p1_denotation_is_simulation_of_derivatives() {
    law_of_nodes("P1 A = B of derivatives", 120, sample, |case, node| agree_on(&derivatives(case, node)?));
}

#[test]
fn p1_denotation_is_simulation_of_training_code() {
    law_of_nodes("P1 A = B of training code", 80, sample_to_train, |case, node| {
        agree_on(&training_code(case, node)?)
    });
}

#[test]
fn flow_of_derivatives_reads_back_as_it_was_printed() {
    law_of_nodes("flow text of derivatives", 50, sample, |case, node| {
        all_read_back(&derivatives(case, node)?)
    });
}

#[test]
fn flow_of_training_code_reads_back_as_it_was_printed() {
    law_of_nodes("flow text of training code", 30, sample_to_train, |case, node| {
        all_read_back(&training_code(case, node)?)
    });
}

#[test]
fn derivatives_have_the_values_and_clocks_of_their_node() {
    law_of_nodes("values and clocks", 200, sample, |case, node| {
        let adjoint = node.adjoint(&node.seeds(&mut case.decisions()))?;
        let outputs = &adjoint.run.flow().outputs[..node.flow().outputs.len()];
        if adjoint.run.rows_of(outputs) != node.rows_of(&node.flow().outputs) {
            return Err(Stop::Broken("the values of adj_n differ from those of n".to_string()));
        }
        for (source, cotangent) in node.sources.iter().zip(&adjoint.rows) {
            let source = node.row(*source);
            let fits = |(source, cotangent): (&Cell, &Cell)| match (source, cotangent) {
                (Cell::Value(_) | Cell::Present, cotangent) => cotangent.is_present(),
                (source, cotangent) => discriminant(source) == discriminant(cotangent),
            };
            if !source.iter().zip(cotangent).all(fits) {
                let bench = adjoint.run.ready.bench("adj_n");
                return Err(Stop::Broken(format!("x: {}\ndx: {}\n{bench}", show(source), show(cotangent))));
            }
        }
        Ok(())
    });
}

#[test]
fn derivatives_are_found_on_the_clocks_of_their_streams() {
    law_of_nodes("inferred clocks", 150, sample, |case, node| {
        let choices = &mut case.decisions();
        let adjoint = node.adjoint(&node.seeds(choices))?.run;
        let tangent = node.tangent(&node.directions(&node.rows_of(&node.sources), choices))?.run;
        let n_outputs = node.flow().outputs.len();
        let n_inputs = node.flow().inputs.len();
        for run in [&adjoint, &tangent] {
            let (flow, clocks) = (run.flow(), run.ready.clocks());
            let is_num = |var: &&VarId| flow.var(**var).ty.scalar == Scalar::Num;
            let (inputs, given) = flow.inputs.split_at(n_inputs);
            let (outputs, said) = flow.outputs.split_at(n_outputs);
            let parameters = parameters(flow).map(|equation| &equation.out);
            let sources: Vec<&VarId> = inputs.iter().filter(is_num).chain(parameters).collect();
            let targets: Vec<&VarId> = outputs.iter().filter(is_num).collect();
            let (of_given, of_said) =
                if run.name.starts_with("adj") { (targets, sources) } else { (sources, targets) };
            for (stream, derivative) in of_given.into_iter().zip(given).chain(of_said.into_iter().zip(said)) {
                let [of_stream, of_derivative] = [stream, derivative].map(|var| clocks.of(*var));
                if of_stream != of_derivative {
                    let show = |clock| clocks.show(flow, clock, &|var| label(flow, var));
                    let (of_stream, of_derivative) = (show(of_stream), show(of_derivative));
                    return Err(Stop::Broken(format!("{}: {of_stream}, {of_derivative}", run.name)));
                }
            }
        }
        Ok(())
    });
}
