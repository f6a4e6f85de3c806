//! The report of a run's shadow check: the difference, and the data that reproduce it.

use eddy_compile::Precision;

use crate::disagreement::{Disagreement, Subject, json_lines, parameters, report, stream_of, words};
use crate::engine::{Compilation, Difference, Engine};
use crate::listener::Event;
use crate::model::Model;
use crate::ready::Ready;
use crate::run::RunRequest;

/// The file of parameters in the folder.
const PARAMETERS: &str = "parameters.safetensors";

/// Reports at once if the first cycles show that compiled code is wrong, or if nothing could be compared.
pub(crate) fn announce_shadow_check(
    model: &Model,
    request: &RunRequest,
    ready: &Ready,
    engine: &mut Engine<'_>,
) {
    let Some(compilation) = &ready.compilation else { return };
    let listener = model.program().session().listener();
    if let Some(difference) = engine.take_difference() {
        let found = Box::new(disagreement(model, request, ready, &difference, compilation));
        listener.hear(Event::Disagreement { sources: model.sources().clone(), found });
    }
    if engine.take_not_compared() {
        listener.hear(Event::NotCompared { node: ready.name.clone() });
    }
}

fn disagreement(
    model: &Model,
    request: &RunRequest,
    ready: &Ready,
    difference: &Difference,
    compilation: &Compilation,
) -> Disagreement {
    let mut command = command(model, request);
    let mut files = Vec::new();
    let (flow, rows) = (&ready.prepared.flow, &difference.inputs);
    let streams: Vec<Vec<u8>> = match &ready.prepared.batch {
        _ if flow.inputs.is_empty() => Vec::new(),
        None => vec![json_lines(flow, rows)],
        Some(batch) => {
            let rows =
                |stream| -> Vec<_> { rows.iter().map(|row| stream_of(flow, batch, row, stream)).collect() };
            (0..batch.n).map(|stream| json_lines(flow, &rows(stream))).collect()
        }
    };
    if streams.is_empty() {
        command.extend(["--cycles".to_string(), rows.len().to_string()]);
    }
    for (number, data) in streams.into_iter().enumerate() {
        let name = if number == 0 { "data.jsonl".to_string() } else { format!("data-{number}.jsonl") };
        command.extend(["--in".to_string(), name.clone()]);
        files.push((name, data));
    }
    if let Some(given) = model.given_parameters() {
        files.push((PARAMETERS.to_string(), parameters(&given.values)));
    }
    let subject = Subject { sources: model.sources(), node: &ready.name, span: ready.span, compilation };
    report(&subject, difference, command, files)
}

/// The command, without the data.
fn command(model: &Model, request: &RunRequest) -> Vec<String> {
    let node = model.request();
    let mut command = vec!["run".to_string()];
    let count = |n: Option<usize>| n.map(|n| n.to_string());
    command.extend(words([
        ("--node", Some(node.node.clone())),
        ("--batch", count(node.batch)),
        ("--threads", count(model.program().session().n_threads())),
        ("--seed", request.seed.map(|seed| seed.to_string())),
        ("--max-window", count(request.max_window)),
        ("--checkpoint", request.checkpoints.then(|| "sqrt".to_string())),
        ("--params", model.given_parameters().map(|_| PARAMETERS.to_string())),
        ("--show", (!request.show.is_empty()).then(|| request.show.join(","))),
    ]));
    for (name, value) in &node.constants {
        command.extend(["--const".to_string(), format!("{name}={value}")]);
    }
    command.extend((request.precision == Some(Precision::Single)).then(|| "--f32".to_string()));
    command
}
