//! Runs a node step by step.
//!
//! Each step is a cycle. It returns the cycles whose outputs became known, which may be none or several: a
//! node that looks ahead answers later, and a node that runs in windows answers when a window ends.
//! [`Run::flush`] ends the run and returns the rest. The cells equal those of a run on the same data as a
//! whole, bit for bit.
//!
//! The state of a run cannot be saved and restored. Between two windows it consists of the values of delays,
//! but inside a window, and after a takeover by the simulator, engines keep cells of open cycles that have no
//! external form. To continue elsewhere, keep the inputs since the last [`Run::reset`]. The state of training
//! can be saved, see [`Trainer`](crate::train::Trainer).

use std::sync::Arc;

use eddy_compile::Precision;
use eddy_flow::{Name, VarId};
use eddy_formats::Raw;
use eddy_language::codes;
use eddy_language::elaborate::ElaborationOptions;
use eddy_language::prepare::Checks;
use eddy_language::semantics::{Cell, simulate};
use eddy_syntax::Diagnostic;
use eddy_tensor::Type;

use crate::engine::EngineKind;
use crate::model::{Model, Signature};
use crate::precision::check_single;
use crate::ready::{Ready, Running, shown, shown_twice, with_leaves};
use crate::refusal::Refusal;
use crate::stream::{announce_shadow_check, row_of_cells};

/// How a node is run.
#[derive(Clone, Debug, Default)]
pub struct RunRequest {
    /// The engine; `None` means machine code where possible, the simulator otherwise.
    pub engine: Option<EngineKind>,
    /// The largest number of cycles; without data, the exact number.
    pub cycles: Option<u64>,
    /// The seed of random initialisers; `None` means 0.
    pub seed: Option<u64>,
    /// The streams to show, instead of the outputs.
    pub show: Vec<String>,
    /// Check neither clocks nor causality.
    pub unchecked: bool,
    /// The largest number of cycles that may be open at once.
    pub max_window: Option<usize>,
    /// Recompute the values of compiled loops instead of keeping them.
    pub checkpoints: bool,
    /// The precision of numbers; `None` means double.
    pub precision: Option<Precision>,
    /// Do not compare the first cycles of compiled code with the simulator.
    pub no_shadow: bool,
}

impl RunRequest {
    pub(crate) fn simulation(&self) -> simulate::Options {
        simulate::Options {
            strict: false,
            seed: self.seed.unwrap_or(0),
            max_window: self.max_window,
            single: self.precision == Some(Precision::Single),
        }
    }
}

/// The known cells of a cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The number of the cycle, from 0.
    pub cycle: u64,
    /// With a batch, the number of the stream.
    pub stream: Option<usize>,
    /// A cell for each shown stream.
    pub cells: Vec<Cell>,
}

/// A node at some cycle.
pub struct Run {
    model: Model,
    request: RunRequest,
    ready: Arc<Ready>,
    running: Running,
    signature: Signature,
    types: Vec<Type>,
    n_shown: u64,
    is_ended: bool,
    /// Why the run cannot continue.
    failure: Option<Refusal>,
    warnings: Vec<Diagnostic>,
}

impl Model {
    /// The node before its first cycle. The shapes of its inputs are written, inferred, or part of the
    /// [`NodeRequest`](crate::model::NodeRequest).
    pub fn start(&self, request: &RunRequest) -> Result<Run, Refusal> {
        if let Some(engine) = request.engine.filter(|engine| engine.is_whole()) {
            let title = format!("the engine `{engine}` needs the whole trace, and cannot run step by step");
            return Err(self.refusal(vec![Diagnostic::error(codes::DATA, self.span(), title)]));
        }
        let request = &with_leaves(self, request);
        let checks = if request.unchecked { Checks::Off } else { Checks::On };
        let names = request.show.iter().map(|name| Name::from(name.as_str())).collect();
        let given = ElaborationOptions { shown: names, ..self.given() };
        let prepared = shown_twice(self, request).and_then(|()| self.prepare_given(&given, checks));
        let prepared = prepared.and_then(|prepared| {
            if request.precision == Some(Precision::Single) {
                check_single(&prepared.flow)?;
            }
            Ok(prepared)
        });
        let prepared = prepared.map_err(|found| self.refusal(found))?;
        let signature = self.signature_of(&prepared);
        let types = prepared.flow.inputs.iter().map(|input| prepared.flow.var(*input).ty.clone()).collect();
        let shown = shown(self, request, &prepared.flow).map_err(|found| self.refusal(found))?;
        let (ready, note) = Ready::new(self, request, prepared, shown);
        let warnings =
            self.program().answer((), note.into_iter().chain(ready.prepared.deadlocks()).collect()).warnings;
        let ready = Arc::new(ready);
        let running = ready.start(request);
        Ok(Run {
            model: self.clone(),
            request: request.clone(),
            ready,
            running,
            signature,
            types,
            n_shown: 0,
            is_ended: false,
            failure: None,
            warnings,
        })
    }
}

impl Run {
    /// The inputs and outputs of a step; with [`RunRequest::show`], steps return the named streams instead of
    /// the outputs.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The names of the cells of a row, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.ready.shown.iter().map(|(name, _): &(String, VarId)| name.as_str())
    }

    /// Whether machine code runs.
    pub fn is_compiled(&self) -> bool {
        self.ready.compilation.is_some()
    }

    /// Warnings about the node.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Runs one cycle, with a cell for each input; returns the cycles that became known. If an operation has
    /// no value, the cycles before it are returned first, and the next call returns the reason.
    ///
    /// With a batch, a cell holds the values of all streams, whose number is the last axis.
    pub fn step(&mut self, inputs: &[Cell]) -> Result<Vec<Row>, Refusal> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let cells = self.checked(inputs).map_err(|diagnostic| self.model.refusal(vec![*diagnostic]))?;
        self.run(|playing| playing.engine.open(&cells))
    }

    /// Ends the run; returns all remaining cycles, in which streams that wait for later cycles are unknown.
    pub fn flush(&mut self) -> Result<Vec<Row>, Refusal> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        if std::mem::replace(&mut self.is_ended, true) {
            return Ok(Vec::new());
        }
        self.run(|playing| playing.engine.end())
    }

    /// Starts again, before the first cycle.
    pub fn reset(&mut self) {
        self.running = self.ready.start(&self.request);
        (self.n_shown, self.is_ended, self.failure) = (0, false, None);
    }

    fn run(
        &mut self,
        run: impl FnOnce(&mut crate::ready::Playing<'_>) -> Result<(), crate::engine::EngineError>,
    ) -> Result<Vec<Row>, Refusal> {
        let Run { model, request, running, n_shown, .. } = self;
        let (rows, outcome) = running.with_dependent_mut(|ready, playing| {
            let outcome = run(playing);
            announce_shadow_check(model, request, ready, &mut playing.engine);
            let rows: Vec<Vec<Cell>> = std::iter::from_fn(|| playing.engine.next_row()).collect();
            (rows, outcome.map_err(|failure| failure.diagnostic(&ready.prepared.flow)))
        });
        let row = |cells| {
            *n_shown += 1;
            row_of_cells(*n_shown - 1, cells)
        };
        let rows: Vec<Row> = rows.into_iter().map(row).collect();
        if let Err(diagnostic) = outcome {
            let failure = self.model.refusal(vec![diagnostic]);
            self.failure = Some(failure.clone());
            if rows.is_empty() {
                return Err(failure);
            }
        }
        Ok(rows)
    }

    /// The cells as values of the inputs' types.
    fn checked(&self, inputs: &[Cell]) -> Result<Vec<Cell>, Box<Diagnostic>> {
        let wrong = |title: String| Box::new(Diagnostic::error(codes::DATA, self.model.span(), title));
        if self.is_ended {
            return Err(wrong("the run has ended: it starts again after a reset".to_string()));
        }
        if inputs.len() != self.types.len() {
            let (n, found, node) = (self.types.len(), inputs.len(), &self.ready.name);
            let title =
                format!("a step takes a cell for each of the {n} inputs of `{node}`, and {found} are given");
            return Err(wrong(title));
        }
        let ports = self.signature.inputs.iter().zip(&self.types);
        let cell = |(cell, (port, ty)): (&Cell, _)| {
            let (port, ty): (&crate::model::Port, &Type) = (port, ty);
            let Cell::Value(value) = cell else { return Ok(cell.clone()) };
            let converted = Raw::Value(value.clone()).to_value(ty);
            converted
                .map(Cell::Value)
                .map_err(|mismatch| wrong(format!("`{}` {mismatch}: its type is {ty}", port.name)))
        };
        inputs.iter().zip(ports).map(cell).collect()
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("node", &self.ready.name)
            .field("cycle", &self.n_shown)
            .finish_non_exhaustive()
    }
}
