//! Runs that need the whole trace: the engines `denote` and `kahn`, and tables.

use eddy_language::codes;
use eddy_language::runs::{Ran, RunOptions, run_cells};
use eddy_language::semantics::{Cell, simulate};
use eddy_language::tree::Semantics;
use eddy_syntax::Diagnostic;

use super::demand::DemandRun;
use super::{Stopped, Stream, batch};
use crate::data::Data;
use crate::engine::EngineKind;
use crate::model::Model;
use crate::program::Answer;
use crate::ready::shown;
use crate::refusal::Refusal;
use crate::run::RunRequest;

impl Model {
    /// Runs the node on all data and then returns all cells, or those that the engines `denote` and `kahn`
    /// compute.
    pub fn run_whole(&self, request: &RunRequest, data: Vec<Data>) -> Result<Answer<Ran>, Refusal> {
        let stream = Stream::new(self, request, data).map_err(|stopped| stopped.refusal(self.sources()))?;
        stream.run_whole()
    }
}

impl Stream {
    fn run_whole(mut self) -> Result<Answer<Ran>, Refusal> {
        let model = self.model.clone();
        let refusal = |found: Vec<Diagnostic>| Refusal::new(found, model.sources());
        let prepared = self.prepare().map_err(|stopped| stopped.refusal(model.sources()))?;
        shown(&model, &self.request, &prepared.flow).map_err(refusal)?;
        if let Some(batch) = &prepared.batch {
            return Err(refusal(vec![batch::only_one(batch, model.span())]));
        }
        let mut inputs: Vec<Vec<Cell>> = vec![Vec::new(); prepared.flow.inputs.len()];
        let seed = self.request.seed.unwrap_or(0);
        let demands = self.demands(&prepared);
        let mut demand_run = demands.as_ref().map(|demands| {
            DemandRun::new(
                demands,
                &prepared.clocks,
                simulate::Options { seed, ..simulate::Options::default() },
            )
        });
        let mut n_cycles = 0;
        while self.request.cycles.is_none_or(|limit| n_cycles < limit) {
            let cells = self.next_cells(&prepared, &mut demand_run, n_cycles);
            if let Some(idle) = self.idle(demand_run.as_ref()) {
                // Nothing is shown before the trace is complete, which may never happen.
                let diagnostic = Diagnostic::error(codes::DATA, model.span(), idle)
                    .help("say how many cycles to run: `--cycles N`");
                return Err(refusal(vec![diagnostic]));
            }
            match cells {
                Ok(Some(cells)) => inputs.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell)),
                Ok(None) => break,
                Err(stopped) => return Err(Stopped::refusal(stopped, model.sources())),
            }
            n_cycles += 1;
        }
        let span = model.span();
        let options = RunOptions {
            semantics: self.request.engine.map_or(Semantics::Operational, EngineKind::semantics),
            unchecked: self.request.unchecked,
            n_cycles: Some(usize::try_from(n_cycles).unwrap_or(usize::MAX)),
            seed,
            max_window: self.request.max_window,
            show: self.request.show.iter().map(|name| (name.clone(), span)).collect(),
            ..RunOptions::default()
        };
        let (program, interface) = (model.program().resolved(), model.fixed_inputs().interface.clone());
        let ran = run_cells(program, model.callable(), interface, prepared, options, inputs);
        Ok(Answer { value: ran.map_err(refusal)?, warnings: self.warnings() })
    }
}
