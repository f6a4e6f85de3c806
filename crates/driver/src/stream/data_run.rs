//! The rows of a run on data, as an iterator.

use std::collections::VecDeque;
use std::sync::Arc;
use std::{fmt, mem};

use eddy_language::program::Enumerations;
use eddy_language::semantics::Cell;
use eddy_syntax::Diagnostic;

use super::columns::Columns;
use super::{Stopped, Stream, announce_shadow_check, batch, row_of_cells};
use crate::data::Data;
use crate::listener::Event;
use crate::model::{Model, Signature};
use crate::ready::{Ready, Running, shown};
use crate::refusal::Refusal;
use crate::run::{Row, RunRequest};

/// A node that runs on data. The iterator yields the rows as they become known and, if the run fails, the
/// reason at the end.
pub struct DataRun {
    stream: Stream,
    ready: Arc<Ready>,
    running: Running,
    signature: Signature,
    n_cycles: u64,
    n_shown: u64,
    rows: VecDeque<Row>,
    state: State,
    /// A warning about the choice of the engine.
    note: Option<Diagnostic>,
}

enum State {
    Open,
    /// The run failed, which is returned after the rows.
    Failed(Box<Refusal>),
    Ended,
}

/// Warnings and counters of a run.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Warnings and remarks.
    pub warnings: Vec<Diagnostic>,
    /// Counters: name and value.
    pub stats: Vec<(&'static str, u64)>,
}

impl Model {
    /// Runs the node on data. For tables, and for the engines that need the whole trace, use
    /// [`run_whole`](Model::run_whole).
    pub fn run(&self, request: &RunRequest, data: Vec<Data>) -> Result<DataRun, Refusal> {
        let mut stream =
            Stream::new(self, request, data).map_err(|stopped| stopped.refusal(self.sources()))?;
        let refusal = |found: Vec<Diagnostic>| Refusal::new(found, self.sources());
        let prepared = stream.prepare().map_err(|stopped| stopped.refusal(self.sources()))?;
        let request = &stream.request.clone();
        let shown = shown(self, request, &prepared.flow).map_err(refusal)?;
        if let Some(engine) = request.engine.filter(|engine| engine.is_whole()) {
            let title = format!("the engine `{engine}` needs the whole trace, and gives no rows one by one");
            return Err(refusal(vec![Diagnostic::error(eddy_language::codes::DATA, self.span(), title)]));
        }
        let signature = self.signature_of(&prepared);
        let (mut ready, note) = Ready::new(self, request, prepared, shown);
        ready.demands = stream.demands(&ready.prepared);
        let ready = Arc::new(ready);
        let running = ready.start(request);
        let (rows, state) = (VecDeque::new(), State::Open);
        Ok(DataRun { stream, ready, running, signature, n_cycles: 0, n_shown: 0, rows, state, note })
    }
}

impl DataRun {
    /// Types, clocks and look-ahead of inputs and outputs for these data.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The names of the cells of a row, in order.
    pub fn names(&self) -> Vec<String> {
        self.ready.shown.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The enumerations among these cells.
    pub fn enumerations(&self) -> Enumerations {
        self.ready.enumerations.clone()
    }

    /// Whether machine code runs.
    pub fn is_compiled(&self) -> bool {
        self.ready.compilation.is_some()
    }

    /// Whether reading the next row may block: then a caller should flush its output before it requests the
    /// row.
    pub fn is_waiting(&self) -> bool {
        self.rows.is_empty() && self.stream.feeds.iter().any(Columns::is_waiting)
    }

    /// Warnings about the program and its data, and counters; complete after the last row.
    pub fn summary(&mut self) -> Summary {
        let deadlocks = self.ready.prepared.deadlocks();
        let warnings = self.note.iter().cloned().chain(deadlocks).chain(self.stream.warnings()).collect();
        let stats = self.running.with_dependent(|_, playing| playing.engine.stats());
        Summary { warnings, stats }
    }

    /// Runs one more cycle.
    fn advance(&mut self) {
        let DataRun { stream, running, n_cycles, .. } = self;
        let is_over = stream.request.cycles.is_some_and(|limit| *n_cycles >= limit);
        let next = if is_over {
            Ok(None)
        } else {
            running.with_dependent_mut(|ready, playing| {
                stream.next_cells(&ready.prepared, &mut playing.demand_run, *n_cycles)
            })
        };
        match next {
            Ok(Some(cells)) => self.open(&cells),
            Ok(None) => self.end(),
            Err(stopped) => self.fail(stopped),
        }
    }

    fn open(&mut self, cells: &[Cell]) {
        let DataRun { stream, running, .. } = self;
        let opened = running.with_dependent_mut(|ready, playing| {
            if let Some(idle) = stream.idle(playing.demand_run.as_ref()) {
                let listener = stream.model.program().session().listener();
                listener.hear(Event::Remark(format!("{idle}; `--cycles N` ends it after N cycles")));
            }
            let opened = playing.engine.open(cells);
            announce_shadow_check(&stream.model, &stream.request, ready, &mut playing.engine);
            opened.map_err(|failure| Stopped::Program(vec![failure.diagnostic(&ready.prepared.flow)]))
        });
        self.take_rows();
        self.n_cycles += 1;
        if let Err(stopped) = opened {
            self.fail(stopped);
        }
    }

    fn end(&mut self) {
        self.state = State::Ended;
        let DataRun { stream, running, .. } = self;
        let ended = running.with_dependent_mut(|ready, playing| {
            let ended = playing.engine.end();
            announce_shadow_check(&stream.model, &stream.request, ready, &mut playing.engine);
            ended.map_err(|failure| Stopped::Program(vec![failure.diagnostic(&ready.prepared.flow)]))
        });
        self.take_rows();
        if let Err(stopped) = ended {
            self.fail(stopped);
        }
    }

    /// Takes the decided cycles.
    fn take_rows(&mut self) {
        let DataRun { running, rows, n_shown, .. } = self;
        running.with_dependent_mut(|ready, playing| {
            while let Some(cells) = playing.engine.next_row() {
                match &ready.prepared.batch {
                    None => rows.push_back(row_of_cells(*n_shown, cells)),
                    Some(batch) => rows.extend(batch::rows_of_streams(batch, &ready.shown, *n_shown, &cells)),
                }
                *n_shown += 1;
            }
        });
    }

    fn fail(&mut self, stopped: Stopped) {
        self.state = State::Failed(Box::new(stopped.refusal(self.stream.model.sources())));
    }
}

impl Iterator for DataRun {
    type Item = Result<Row, Refusal>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.rows.pop_front() {
                return Some(Ok(row));
            }
            match mem::replace(&mut self.state, State::Ended) {
                State::Ended => return None,
                State::Failed(refusal) => return Some(Err(*refusal)),
                State::Open => {
                    self.state = State::Open;
                    self.advance();
                }
            }
        }
    }
}

impl fmt::Debug for DataRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (node, cycle) = (&self.ready.name, self.n_cycles);
        f.debug_struct("DataRun").field("node", node).field("cycle", &cycle).finish_non_exhaustive()
    }
}
