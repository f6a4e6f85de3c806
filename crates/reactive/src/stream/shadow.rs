//! What a run on data says about the shadow check: the difference, and the data that show it again.

use eddy_language::{Disagreement, Options, Out};
use eddy_syntax::Sources;

use super::Stream;
use crate::disagreement::{Subject, json_lines, parameters, report, stream_of, words};
use crate::engine::{Compilation, Difference, Engine};
use crate::prepare::Prepared;

/// The file of parameters in the folder.
const PARAMETERS: &str = "parameters.safetensors";

impl Stream<'_> {
    /// Tells at once if the first cycles show that compiled code is wrong, or that nothing could be compared.
    pub(super) fn tell_of_shadow(
        &self,
        engine: &mut Engine<'_>,
        compilation: Option<&Compilation>,
        prepared: &Prepared,
        sources: &Sources,
        out: Out<'_>,
    ) {
        let Some(compilation) = compilation else { return };
        if let Some(difference) = engine.take_difference() {
            out.disagreement(sources, self.disagreement(&difference, compilation, prepared, sources));
        }
        if engine.take_not_compared() {
            let name = self.program.name_of(&self.callable);
            out.progress(&format!(
                "`{name}` runs compiled and is not compared with the simulator, which would take too long"
            ));
        }
    }

    fn disagreement(
        &self,
        difference: &Difference,
        compilation: &Compilation,
        prepared: &Prepared,
        sources: &Sources,
    ) -> Disagreement {
        let node = self.program.name_of(&self.callable);
        let mut command = command(self.options);
        let mut files = Vec::new();
        let (flow, rows) = (&prepared.flow, &difference.inputs);
        let streams: Vec<Vec<u8>> = match &prepared.batch {
            _ if flow.inputs.is_empty() => Vec::new(),
            None => vec![json_lines(flow, rows)],
            Some(batch) => {
                let rows = |stream| -> Vec<_> {
                    rows.iter().map(|row| stream_of(flow, batch, row, stream)).collect()
                };
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
        if let Some((_, values)) = &self.options.parameters {
            files.push((PARAMETERS.to_string(), parameters(values)));
        }
        let span = self.program.span_of(&self.callable);
        report(&Subject { sources, node: &node, span, compilation }, difference, command, files)
    }
}

/// The command, without the data.
fn command(options: &Options) -> Vec<String> {
    let mut command = vec!["run".to_string()];
    let count = |n: Option<usize>| n.map(|n| n.to_string());
    command.extend(words([
        ("--node", options.node.clone()),
        ("--batch", count(options.batch)),
        ("--threads", count(options.threads)),
        ("--seed", options.seed.map(|seed| seed.to_string())),
        ("--max-window", count(options.max_window)),
        ("--checkpoint", options.checkpoints.then(|| "sqrt".to_string())),
        ("--params", options.parameters.as_ref().map(|_| PARAMETERS.to_string())),
        ("--show", (!options.show.is_empty()).then(|| options.show.join(","))),
    ]));
    for (name, value) in &options.constants {
        command.extend(["--const".to_string(), format!("{name}={value}")]);
    }
    command.extend(options.single.then(|| "--f32".to_string()));
    command
}
