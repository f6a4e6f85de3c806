//! A node that is run step by step.
//!
//! Each step is a cycle. It returns the cycles whose outputs became known, which may be none or several: a
//! node that looks ahead answers later, and a node that runs in windows answers when a window ends.
//! [`Run::flush`] says that there are no more cycles and returns the rest. The cells are those that a run on
//! the same data as a whole gives, bit for bit.
//!
//! What a run remembers cannot be saved and restored: between two windows it is what delays remember, but
//! inside of a window, and where the simulator has taken over, engines keep cells of open cycles that have no
//! form outside of this process. Whoever wants to go on elsewhere keeps the inputs since the last
//! [`Run::reset`]. (What training learns is another thing, see [`Trainer`](crate::train::Trainer).)

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
use crate::ready::{Ready, Running, shown, shown_twice, with_leaves};
use crate::refusal::Refusal;
use crate::stream::{row_of_cells, tell_of_shadow};

/// How a node is run.
#[derive(Clone, Debug, Default)]
pub struct RunRequest {
    /// Which engine; none: machine code where possible, the simulator otherwise.
    pub engine: Option<EngineKind>,
    /// At most so many cycles; without data, exactly so many.
    pub cycles: Option<u64>,
    /// The seed of random initialisers; none is 0.
    pub seed: Option<u64>,
    /// The streams to show, instead of the outputs.
    pub show: Vec<String>,
    /// Check neither clocks nor causality.
    pub unchecked: bool,
    /// At most so many cycles may be open at once.
    pub max_window: Option<usize>,
    /// Compiled loops run again rather than keep what they compute.
    pub checkpoints: bool,
    /// The precision of numbers; none is double.
    pub precision: Option<Precision>,
    /// The first cycles of compiled code are not compared with the simulator.
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

/// What is known of a cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The number of the cycle, from 0.
    pub cycle: u64,
    /// With a batch, the number of the stream.
    pub stream: Option<usize>,
    /// A cell for each stream that is shown.
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
    /// Why the run cannot go on.
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
    /// What a step is given and gives; with [`RunRequest::show`], steps give the streams that were named
    /// instead of the outputs.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The names of what steps give, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.ready.shown.iter().map(|(name, _): &(String, VarId)| name.as_str())
    }

    /// Whether machine code runs.
    pub fn is_compiled(&self) -> bool {
        self.ready.compilation.is_some()
    }

    /// What the user should know about the node.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// One more cycle, with a cell for each input; returns the cycles that became known. If an operation has
    /// no value, the cycles before it are returned first, and the next call says why the run cannot go on.
    ///
    /// With a batch, a cell holds the values of all streams, whose number is the last axis.
    pub fn step(&mut self, inputs: &[Cell]) -> Result<Vec<Row>, Refusal> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let cells = self.checked(inputs).map_err(|diagnostic| self.model.refusal(vec![*diagnostic]))?;
        self.run(|playing| playing.engine.open(&cells))
    }

    /// There are no more cycles; returns all that are left, in which what waits for later cycles is unknown.
    pub fn flush(&mut self) -> Result<Vec<Row>, Refusal> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        if std::mem::replace(&mut self.is_ended, true) {
            return Ok(Vec::new());
        }
        self.run(|playing| playing.engine.end())
    }

    /// Starts anew, before the first cycle.
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
            tell_of_shadow(model, request, ready, &mut playing.engine);
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
            return Err(wrong("the run has ended: it starts anew after a reset".to_string()));
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
