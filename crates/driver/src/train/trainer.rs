//! Epochs and validation of one node.

mod shadow;

use std::fmt;
use std::ops::ControlFlow;

use eddy_compile::Precision;
use eddy_flow::{Constant, Flow, Kind, VarId};
use eddy_formats::{Categories, Encoding, Mapping};
use eddy_language::causality::{Verdict, causality_of};
use eddy_language::codes;
use eddy_language::elaborate::{BatchLoss, Draft, ElaborationOptions, Interface, elaborate};
use eddy_language::infer::{Hint, Hints};
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::program::{self, Base, Callable};
use eddy_language::semantics::simulate::{self, Simulation};
use eddy_syntax::{Diagnostic, Sources, Span};
use eddy_tensor::{Scalar, Static, Value};
use rustc_hash::FxHashMap;

use super::batches;
use super::dataset::{Dataset, Order, Unit};
use super::delay;
use super::divergence;
use super::growth::is_growth;
use super::measuring::Measuring;
use super::padding::Padding;
use super::pass::Pass;
use super::reading::{Purpose, Read, Reading};
use super::registers::Registers;
use super::signals::Signals;
use super::source::Source;
use super::unknown::{Unknown, refusal};
use super::waits;
use super::{Comparison, Epoch, Measured, Progress, TrainPlan, TrainRequest};
use crate::data::Data;
use crate::engine::choose::{Choice, choose};
use crate::engine::{Compilation, Engine, EngineInput};
use crate::inputs::FixedInputs;
use crate::normalisation::normalise;
use crate::parameters;
use crate::precision::check_single;
use crate::program::Program;
use crate::refusal::Refusal;
use crate::stream::{Columns, SharedEncoding, Stopped, hints};

/// A node in training. It owns its program and its data, and can be kept and moved to other threads between
/// epochs.
pub struct Trainer {
    name: String,
    program: Program,
    /// The files that diagnostics refer to.
    sources: Sources,
    callable: Callable,
    given: ElaborationOptions,
    span: Span,
    prepared: Prepared,
    /// The output with the loss, and how far ahead it looks.
    loss: VarId,
    verdict: Option<Verdict>,
    data: Dataset,
    unit: Unit,
    is_shuffled: bool,
    options: simulate::Options,
    checkpoints: bool,
    registers: Registers,
    validation: Option<Validation>,
    /// The node whose answers are measured, if they are.
    pub(super) measuring: Option<Measuring>,
    /// How the batches are padded, if they are.
    padding: Option<Padding>,
    /// How data become inputs.
    encoding: Encoding,
    /// The node as machine code, if it was compiled.
    compilation: Option<Compilation>,
    /// Remarks about the compilation.
    notes: Vec<Diagnostic>,
    /// The input that marks the ends of sequences.
    end: Option<usize>,
    /// The name of the input with the targets.
    target: Option<String>,
    /// The command that trains the node on other data, for a reproduction.
    words: Vec<String>,
    /// The loss of the first epoch of this process, to which later ones are compared; 0 before.
    first_loss: f64,
}

/// The same node without its optimisers, and the validation data.
struct Validation {
    prepared: Prepared,
    loss: VarId,
    verdict: Option<Verdict>,
    data: Dataset,
    compilation: Option<Compilation>,
}

impl Trainer {
    /// Reads the data and prepares the node.
    pub(super) fn new(
        whole: &Program,
        callable: Callable,
        sources: &mut Sources,
        options: &TrainRequest,
        data: Vec<Data>,
        validation: Vec<Data>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let program = whole.resolved();
        let (name, span) = (program.name_of(&callable), program.span_of(&callable));
        if let Some(engine) = options.engine.filter(|engine| engine.is_whole()) {
            let title = format!("the engine `{engine}` cannot train: it computes whole traces");
            return Err(vec![Diagnostic::error(codes::DATA, span, title)]);
        }
        let FixedInputs { constants, defaults, interface, .. } =
            FixedInputs::read(program, &callable, sources, &options.constants, &[])?;
        let (batch, batch_loss) = (options.batch, options.batch_loss);
        let is_weighted = options.pad && batch.is_some();
        let given =
            ElaborationOptions { constants, batch, batch_loss, is_weighted, ..ElaborationOptions::default() };
        let signals = Signals::of(program, &callable, &given);
        let unit = unit(program, &callable, signals, &given)?;
        let mut encoding = options.encoding.clone();
        let target_columns = target(&encoding, signals, &interface, &given, span)?;
        for Mapping { input, .. } in &encoding.columns {
            if !interface.inputs.iter().any(|port| port.name == *input) {
                let title = format!("the node `{name}` has no input `{input}` for `--columns`");
                return Err(vec![Diagnostic::error(codes::DATA, span, title)]);
            }
        }
        let mut shared = SharedEncoding::new(&encoding);
        shared.columns.extend(target_columns);
        shared.extra = options.split.iter().filter_map(|split| split.column()).map(str::to_string).collect();
        let preparing = Preparing { program, interface: &interface, defaults: &defaults, options };
        let (mut prepared, source, columns) =
            preparing.open(&callable, &given, sources, data, shared.clone())?;
        let loss = loss_of(&callable, &interface, &prepared.flow, span)?;
        signals.check_options(options, span)?;
        let padding = match batch {
            Some(_) if options.pad => Some(padding(program, &callable, &given, signals, &prepared, span)?),
            _ => None,
        };
        let purpose = Purpose::Training;
        let reading = Reading { prepared: &prepared, signals, unit, request: options, purpose, span };
        let Read { mut data, rest, normalised } = reading.read(source, columns, sources)?;
        encoding.categories = shared.close();
        if let Some(table) = encoding.categories.iter().find(|table| table.texts.is_empty()) {
            let title = format!("no input reads a column `{}` for `--category`", table.column);
            return Err(vec![Diagnostic::error(codes::DATA, span, title)]);
        }
        encoding.normalised.extend(normalised);
        shared.extra.clear();
        normalise(&mut prepared, &encoding.normalised, "the encoding", span)?;
        data.notes.extend(encoding.categories.iter().map(categories_note));
        batches::check(&mut data, &prepared, unit, options, span)?;
        let validation = match (callable.base, validation.is_empty() && rest.is_none()) {
            (_, true) => None,
            (Base::Train(train), false) if callable.modes.is_empty() => {
                // The loss on validation data is measured stream by stream.
                let given = ElaborationOptions { batch: None, is_weighted: false, ..given.clone() };
                let test: Callable = Base::Test(train).into();
                let (mut prepared, data) = if let Some(data) = rest {
                    (preparing.like(&test, &given, &prepared)?, data)
                } else {
                    let (prepared, source, columns) =
                        preparing.open(&test, &given, sources, validation, shared.clone())?;
                    let purpose = Purpose::Validation;
                    let reading = Reading {
                        prepared: &prepared,
                        signals,
                        unit: Unit::Whole,
                        sample: unit,
                        request: options,
                        purpose,
                        span,
                    };
                    let read = reading.read(source, columns, sources)?;
                    (prepared, read.data)
                };
                normalise(&mut prepared, &encoding.normalised, "the encoding", span)?;
                let loss = loss_of(&test, &interface, &prepared.flow, span)?;
                let verdict = causality_of(&prepared.flow, &prepared.clocks, &[loss]).ok();
                Some(Validation { prepared, loss, verdict, data, compilation: None })
            }
            _ => {
                let title = format!("`{name}` is no node that a `train` declares: it cannot be validated");
                return Err(vec![Diagnostic::error(codes::DATA, span, title)]);
            }
        };
        let is_single = options.precision == Some(Precision::Single);
        let simulation = simulate::Options {
            strict: false,
            seed: options.seed,
            max_window: options.max_window,
            single: is_single,
        };
        let measuring = if options.metrics.is_empty() && !options.keeps_answers {
            None
        } else {
            let Base::Train(train) = callable.base else {
                let title =
                    format!("`{name}` is no node that a `train` declares: its answers have no metrics");
                return Err(vec![Diagnostic::error(codes::DATA, span, title)]);
            };
            let given = ElaborationOptions { batch: None, is_weighted: false, ..given.clone() };
            let test: Callable = Base::Test(train).into();
            let mut node = like(program, &test, &given, &prepared)?;
            normalise(&mut node, &encoding.normalised, "the encoding", span)?;
            let loss = loss_of(&test, &interface, &node.flow, span)?;
            let size = (simulation, data.n_rows());
            let made = Measuring::new(whole, node, loss, signals, &options.metrics, size, span);
            Some(made.map_err(|refusal| {
                *sources = refusal.sources;
                refusal.diagnostics
            })?)
        };
        let registers =
            Registers::new(&prepared.flow, &prepared.clocks, loss, options.seed, is_single, (&name, span))
                .map_err(|diagnostic| vec![*diagnostic])?;
        let mut trainer = Trainer {
            end: signals.end,
            target: signals.bp.and_then(|bp| {
                let target = prepared.flow.inputs.get(bp + 1)?;
                prepared.flow.var(*target).name.as_ref().map(ToString::to_string)
            }),
            first_loss: 0.0,
            words: shadow::command(&name, options, whole.session().n_threads()),
            name,
            program: whole.clone(),
            sources: sources.clone(),
            callable,
            given,
            span,
            loss,
            verdict: causality_of(&prepared.flow, &prepared.clocks, &[loss]).ok(),
            data,
            unit,
            is_shuffled: options.shuffle && unit != Unit::Whole,
            options: simulation,
            measuring,
            padding,
            encoding,
            checkpoints: options.checkpoints,
            registers,
            validation,
            prepared,
            compilation: None,
            notes: Vec::new(),
        };
        trainer.compile(options);
        Ok(trainer)
    }

    /// Compiles the training node and the validation node.
    fn compile(&mut self, options: &TrainRequest) {
        let choice = Choice { engine: options.engine, name: self.name.clone(), span: self.span };
        let session = self.program.session().clone();
        let (compilation, note) = choose(&self.source(), &choice, session.native(), session.listener());
        self.compilation = compilation;
        self.notes.extend(note);
        if let Some(validation) = &mut self.validation {
            let source = source(&validation.prepared, &validation.loss, self.options);
            (validation.compilation, _) = choose(&source, &choice, session.native(), session.listener());
        }
        if let Some(measuring) = &mut self.measuring {
            let source = measuring.source(self.options);
            let (compilation, _) = choose(&source, &choice, session.native(), session.listener());
            measuring.compiled(compilation);
        }
        let validated = self.validation.as_ref().and_then(|validation| validation.compilation.as_ref());
        let about_compilers = self.compilation.iter().chain(validated).flat_map(|compiled| &compiled.notes);
        self.data.notes.extend(about_compilers.cloned());
    }

    fn source(&self) -> EngineInput<'_> {
        EngineInput { checkpoints: self.checkpoints, ..source(&self.prepared, &self.loss, self.options) }
    }

    /// An epoch before its first row.
    fn start(&self) -> Engine<'_> {
        let mut engine = Engine::new(self.source(), self.compilation.as_ref());
        engine.restore(self.registers.remembered());
        engine
    }

    /// The node before the first row of an epoch, for simulation.
    fn simulation(&self) -> Simulation<'_> {
        let mut simulation = Simulation::new(&self.prepared.flow, &self.prepared.clocks, self.options);
        for (var, value) in self.registers.remembered() {
            simulation.restore(var, value);
        }
        simulation
    }

    /// Finds where an epoch failed, by simulating it.
    fn locate(&self, order: Order) -> Diagnostic {
        let rows = batches::cells(&self.data, order, &self.prepared, self.padding.as_ref());
        divergence::locate(&self.prepared.flow, self.simulation(), rows, self.loss)
    }

    /// Runs the rows of an epoch, until the loss is not finite.
    fn run_rows(
        &self,
        pass: &mut Pass<'_>,
        order: Order,
        n_streams: usize,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Vec<Diagnostic>> {
        let mut rows = batches::rows(&self.data, order, &self.prepared, self.padding.as_ref());
        // The last rows are announced, so that the engine can tell which values are unknown because the data
        // end.
        let mut coming: std::collections::VecDeque<_> =
            rows.by_ref().take(pass.engine.n_before_end()).collect();
        let (mut number, mut is_near_end) = (0, false);
        loop {
            match rows.next() {
                Some(row) => coming.push_back(row),
                None if is_near_end => {}
                None => {
                    is_near_end = true;
                    pass.near_end()?;
                }
            }
            let Some(row) = coming.pop_front() else { break };
            let row = row.map_err(|stopped| self.unreadable(stopped))?;
            pass.row(&row.cells, row.mask)?;
            if pass.is_diverged {
                break;
            }
            number += 1;
            let progress = Progress { n_rows: number * n_streams, loss: pass.mean() };
            if watch(progress).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if !pass.is_diverged {
            pass.end()?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The data whose answers are measured.
    pub(super) fn measured_data(&self) -> &Dataset {
        self.validation.as_ref().map_or(&self.data, |validation| &validation.data)
    }

    pub(super) fn span(&self) -> Span {
        self.span
    }

    pub(super) fn simulation_options(&self) -> simulate::Options {
        self.options
    }

    /// The errors for data that could be read before the first epoch.
    pub(super) fn unreadable(&self, stopped: Stopped) -> Vec<Diagnostic> {
        match stopped {
            Stopped::Program(diagnostics) => diagnostics,
            Stopped::Data { file, bad } => {
                let title = format!("{file}: {bad}");
                let reason = "the data have changed since this training began";
                vec![Diagnostic::error(codes::DATA, self.span, title).reason(reason)]
            }
        }
    }

    /// Adds the row numbers in the data, if they differ from the order of the epoch.
    fn with_data_rows(&self, mut diagnostic: Diagnostic, order: Order, row: u64) -> Diagnostic {
        if !self.is_shuffled && self.prepared.batch.is_none() {
            return diagnostic;
        }
        let number = usize::try_from(row).unwrap_or(usize::MAX);
        let rows = batches::rows_of_data(&self.data, order, &self.prepared, self.padding.as_ref(), number);
        if rows.is_empty() {
            return diagnostic;
        }
        let shown: Vec<String> = rows.iter().take(4).map(ToString::to_string).collect();
        let more = if rows.len() > 4 { " and others" } else { "" };
        let place = format!("in this epoch, that is row {}{more} of the data", shown.join(", "));
        let reason = match diagnostic.reason.take() {
            Some(reason) => format!("{reason}; {place}"),
            None => place,
        };
        diagnostic.reason(reason)
    }

    fn without_loss(&self, data: &str) -> Diagnostic {
        let title = format!("{data} give no loss at any row");
        Diagnostic::error(codes::NOTHING_TO_TRAIN, self.span, title)
            .reason("there is a loss where `bp` is true, and the inputs are there")
    }

    /// The refusal if too many rows of an epoch have no known loss.
    fn refusal(&self, unknown: &Unknown, order: Order) -> Diagnostic {
        let rows = batches::cells(&self.data, order, &self.prepared, self.padding.as_ref());
        let row = unknown.first.unwrap_or(0);
        let wait = waits::find(&self.prepared.flow, self.simulation(), rows, self.loss, row);
        let delay = delay::advice(self.program.resolved(), &self.callable, &self.given, &self.prepared);
        let diagnostic = Diagnostic::error(codes::UNKNOWN_LOSS, self.span, unknown.count());
        self.with_data_rows(refusal(diagnostic, wait, delay), order, row as u64)
    }

    /// The same for the validation data.
    fn validation_refusal(&self, unknown: &Unknown, flow: &Flow, validation: &Validation) -> Diagnostic {
        let simulation = Simulation::new(flow, &validation.prepared.clocks, self.options);
        let rows = validation.data.rows(&validation.prepared).map_while(Result::ok);
        let wait = waits::find(flow, simulation, rows, validation.loss, unknown.first.unwrap_or(0));
        let title = format!("{} in the data for validation", unknown.count());
        refusal(Diagnostic::error(codes::UNKNOWN_LOSS, self.span, title), wait, None)
    }

    /// The state after an epoch becomes the initial state of the next one.
    fn learn(&mut self, values: Option<Vec<Option<Value>>>) -> Result<(), Vec<Diagnostic>> {
        let Some(values) = values else { return Ok(()) };
        self.registers.learn(values).map_err(|name| {
            let title = format!("training diverged: `{name}` is not finite after this epoch");
            vec![divergence::with_help(Diagnostic::error(codes::DIVERGENCE, self.span, title))]
        })
    }

    /// The warning for a loss that has grown a thousandfold, with the likely reason.
    fn growth(&self, (first, last): (f64, f64), when: &str) -> Diagnostic {
        let title = format!("the loss grew from {first:.3e} to {last:.3e} {when}");
        let mut help =
            "the rate is probably too high: try one that is ten times smaller, or clipped gradients"
                .to_string();
        if let Base::Train(train) = self.callable.base {
            let declared = self.program.resolved().train(train);
            if (declared.segment || declared.truncate) && !declared.mean {
                help +=
                    "; the gradient of a sequence is the sum over its rows, `segment mean` takes their mean";
            }
        }
        if self.given.batch.is_some() && self.given.batch_loss == BatchLoss::Sum {
            help += "; `--batch-loss sum` adds the gradients of all streams";
        }
        Diagnostic::warning(codes::GROWTH, self.span, title).help(help)
    }

    /// The order of the data in an epoch.
    fn order(&self, epoch: u64) -> Order {
        Order { is_shuffled: self.is_shuffled, seed: self.options.seed, epoch }
    }

    /// The plan of the training.
    pub fn plan(&self) -> TrainPlan {
        let flow = &self.prepared.flow;
        let numbers = flow
            .parameters
            .iter()
            .map(|parameter| flow.var(parameter.var).ty.shape.iter().product::<usize>());
        TrainPlan {
            node: self.name.clone(),
            model: model(self.program.resolved(), &self.callable),
            n_parameters: flow.parameters.len(),
            n_numbers: numbers.sum(),
            n_rows: self.data.n_rows(),
            n_sequences: (self.unit == Unit::Sequence).then_some(self.data.n_units()),
            target: self.target.clone(),
            is_shuffled: self.is_shuffled,
            data_hash: self.data.hash.clone(),
            encoding: self.encoding.clone(),
            validation_hash: self.validation.as_ref().map(|validation| validation.data.hash.clone()),
            notes: self.data.notes.clone(),
        }
    }

    /// Warnings about the program.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.prepared.warnings.iter().chain(&self.notes).cloned().collect()
    }

    /// The files that diagnostics refer to.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Whether epochs run on machine code.
    pub fn is_compiled(&self) -> bool {
        self.compilation.is_some()
    }

    /// Compares compiled code with the simulator on the first rows of epoch `epoch`, without learning.
    /// `n_epochs` remaining epochs determine the budget of time.
    pub fn compare_engines(&mut self, epoch: u64, n_epochs: usize) -> Comparison {
        self.compare(epoch, n_epochs)
    }

    /// Goes once through all data. `watch` is called with the progress, and may stop the epoch. Epochs are
    /// counted from 1: their number determines the order of the data, so that a resumed run continues with
    /// the same order.
    pub fn epoch(
        &mut self,
        epoch: u64,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Epoch, Refusal> {
        self.run_epoch(epoch, watch).map_err(|diagnostics| Refusal::new(diagnostics, &self.sources))
    }

    fn run_epoch(
        &mut self,
        epoch: u64,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Epoch, Vec<Diagnostic>> {
        let order = self.order(epoch);
        let batch = self.prepared.batch.as_ref();
        let n_streams = batch.map_or(1, |batch| batch.n);
        let n_losses = if batch.is_some_and(|batch| batch.is_wide(self.loss)) { n_streams } else { 1 };
        let mut pass = Pass::new(self.start(), &self.prepared.flow, n_losses);
        match self.run_rows(&mut pass, order, n_streams, watch) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => return Ok(Epoch::Cancelled),
            Err(diagnostics) => {
                let Some(row) = pass.failed_at else { return Err(diagnostics) };
                let placed =
                    diagnostics.into_iter().map(|diagnostic| self.with_data_rows(diagnostic, order, row));
                return Err(placed.collect());
            }
        }
        if pass.is_diverged {
            return Err(vec![self.locate(order)]);
        }
        let (state, mean, unknown) = (pass.engine.state(), pass.mean(), pass.unknown.clone());
        let growth = pass.growth.found();
        drop(pass);
        if !unknown.is_harmless(self.verdict.as_ref(), state.is_some()) {
            return Err(vec![self.refusal(&unknown, order)]);
        }
        let loss = mean.ok_or_else(|| vec![self.without_loss("the data")])?;
        let since_start = is_growth(self.first_loss, loss).then_some((self.first_loss, loss));
        let warning = match (growth, since_start) {
            (Some(growth), _) => Some(self.growth(growth, "within this epoch")),
            (None, Some(growth)) => Some(self.growth(growth, "since the first epoch")),
            (None, None) => None,
        };
        self.first_loss = match since_start {
            // It is reported once.
            Some(_) => f64::INFINITY,
            None if self.first_loss == 0.0 => loss,
            None => self.first_loss,
        };
        self.learn(state)?;
        let warnings = warning.into_iter().collect();
        Ok(Epoch::Done(measured(loss, &unknown, self.verdict.as_ref(), warnings)))
    }

    /// The loss on the validation data, with the present parameters; `None` without such data.
    pub fn validate(&mut self) -> Result<Option<Measured>, Refusal> {
        self.run_validation().map_err(|diagnostics| Refusal::new(diagnostics, &self.sources))
    }

    fn run_validation(&mut self) -> Result<Option<Measured>, Vec<Diagnostic>> {
        let Some(validation) = &self.validation else { return Ok(None) };
        let mut flow = validation.prepared.flow.clone();
        parameters::give(&mut flow, &self.parameters(), "training", self.span)?;
        let source =
            EngineInput { flow: &flow, ..source(&validation.prepared, &validation.loss, self.options) };
        let mut engine = Engine::new(source, validation.compilation.as_ref());
        for (parameter, value) in given(&flow) {
            engine.give(parameter, value);
        }
        let mut pass = Pass::new(engine, &flow, 1);
        for row in validation.data.rows(&validation.prepared) {
            let row = row.map_err(|stopped| self.unreadable(stopped))?;
            pass.row(&row, None)?;
        }
        pass.end()?;
        let (mean, unknown) = (pass.mean(), pass.unknown.clone());
        drop(pass);
        if !unknown.is_harmless(validation.verdict.as_ref(), true) {
            return Err(vec![self.validation_refusal(&unknown, &flow, validation)]);
        }
        let loss = mean.ok_or_else(|| vec![self.without_loss("the data for validation")])?;
        Ok(Some(measured(loss, &unknown, validation.verdict.as_ref(), Vec::new())))
    }

    /// The present parameters.
    pub fn parameters(&self) -> Vec<(String, Value)> {
        self.registers.parameters()
    }

    /// The state that later epochs depend on: a checkpoint.
    pub fn persistent_state(&self) -> Vec<(String, Value)> {
        self.registers.persistent_state()
    }

    /// Restores the state of [`persistent_state`](Self::persistent_state); returns an error if it does not
    /// fit.
    pub fn restore(&mut self, state: Vec<(String, Value)>) -> Result<(), String> {
        self.registers.restore(state)
    }

    /// Starts from parameters of another run; returns an error if they do not fit.
    pub fn start_from(&mut self, parameters: Vec<(String, Value)>) -> Result<(), String> {
        self.registers.start_from(parameters)
    }
}

impl fmt::Debug for Trainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trainer").field("node", &self.name).finish_non_exhaustive()
    }
}

fn measured(loss: f64, unknown: &Unknown, verdict: Option<&Verdict>, warnings: Vec<Diagnostic>) -> Measured {
    let (n_rows, n_unknown) = (unknown.n_losses, unknown.n_unknown);
    Measured { loss, n_rows, n_unknown, why_unknown: unknown.why(verdict), warnings }
}

/// The engine input of a node whose loss is shown.
fn source<'a>(prepared: &'a Prepared, loss: &'a VarId, options: simulate::Options) -> EngineInput<'a> {
    let shown = std::slice::from_ref(loss);
    let Prepared { flow, clocks, .. } = prepared;
    EngineInput { flow, clocks, shown, options, is_checked: true, checkpoints: false }
}

/// Parameters with given values.
pub(super) fn given(flow: &Flow) -> impl Iterator<Item = (VarId, &Value)> {
    let definitions = flow.definitions();
    flow.parameters.iter().filter_map(move |parameter| {
        match &flow.equations[definitions[parameter.var.index()]?].kind {
            Kind::Const(Constant::Value(value)) => Some((parameter.var, value)),
            _ => None,
        }
    })
}

/// The node to run with the learnt parameters: reset by `end`, if it was trained a sequence at a time.
fn model(program: &program::Program, callable: &Callable) -> String {
    let name = &program.node(program.origin(callable.base)).name;
    match callable.base {
        Base::Train(train) if program.train(train).segment => format!("{name}_end"),
        _ => name.clone(),
    }
}

/// What is needed to prepare a node for data.
struct Preparing<'a> {
    program: &'a program::Program,
    interface: &'a Interface,
    defaults: &'a FxHashMap<String, Static>,
    options: &'a TrainRequest,
}

impl Preparing<'_> {
    /// Prepares a node and opens the data for it.
    fn open(
        &self,
        callable: &Callable,
        given: &ElaborationOptions,
        sources: &mut Sources,
        data: Vec<Data>,
        encoding: SharedEncoding,
    ) -> Result<(Prepared, Source, Columns), Vec<Diagnostic>> {
        let names = self.interface.inputs.iter().map(|port| port.name.clone());
        let names: Vec<String> = names.filter(|name| !given.constants.contains_key(name)).collect();
        let enumerations = self.program.enumerations(callable, names.iter().map(String::as_str));
        let mut source = Source {
            data,
            is_spent: false,
            names,
            enumerations,
            defaults: self.defaults.clone(),
            encoding,
            is_single: self.options.precision == Some(Precision::Single),
        };
        let mut columns = source.open_first().map_err(|stopped| stopped.diagnostics(sources))?;
        let prepared = prepare(self.program, callable, given, |draft| hints(draft, &mut columns), Checks::On);
        let prepared = prepared.map_err(|found| match columns.peeked_error() {
            Some(stopped) => stopped.diagnostics(sources),
            None => found,
        })?;
        if source.is_single {
            check_single(&prepared.flow)?;
        }
        Ok((prepared, source, columns))
    }

    /// Prepares a node for inputs of the types that another node has.
    fn like(
        &self,
        callable: &Callable,
        given: &ElaborationOptions,
        other: &Prepared,
    ) -> Result<Prepared, Vec<Diagnostic>> {
        like(self.program, callable, given, other)
    }
}

/// Prepares a node for inputs of the types that another node has.
fn like(
    program: &program::Program,
    callable: &Callable,
    given: &ElaborationOptions,
    other: &Prepared,
) -> Result<Prepared, Vec<Diagnostic>> {
    let types = other.input_types();
    let hints = |draft: &Draft| {
        let mut hints = Hints::default();
        for (input, ty) in draft.inputs.iter().copied().zip(&types) {
            let span = draft.vars[input.index()].span;
            hints.shapes.push(Hint { input, says: ty.shape.clone(), span });
            if ty.scalar == Scalar::Bool {
                hints.scalars.push(Hint { input, says: Scalar::Bool, span });
            }
        }
        hints
    };
    prepare(program, callable, given, hints, Checks::On)
}

/// How batches are padded, or the error if the node looks ahead.
fn padding(
    program: &program::Program,
    callable: &Callable,
    given: &ElaborationOptions,
    signals: Signals,
    prepared: &Prepared,
    span: Span,
) -> Result<Padding, Vec<Diagnostic>> {
    let refused = |title: String| {
        vec![
            Diagnostic::error(codes::BATCH, span, title)
                .reason("the rows that fill up a shorter sequence come after its own rows")
                .help("leave out `--pad`: sequences of equal length form batches"),
        ]
    };
    let Base::Train(train) = callable.base else {
        return Err(refused(
            "only nodes that a `train` declares can be trained in padded batches".to_string(),
        ));
    };
    let test: Callable = Base::Test(train).into();
    let given = ElaborationOptions { batch: None, is_weighted: false, ..given.clone() };
    let verdict = like(program, &test, &given, prepared)?.verdict;
    if verdict != Some(Verdict::LookAhead(0)) {
        let name = &program.node(program.train(train).node).name;
        return Err(refused(format!("`{name}` looks ahead, so padding would change its answers")));
    }
    let is_mean = program.train(train).mean;
    Ok(Padding { signals, batch_loss: given.batch_loss, is_mean })
}

/// The columns of the target, if they are named. The target is the input after `bp`, whatever its name is.
fn target(
    encoding: &Encoding,
    signals: Signals,
    interface: &Interface,
    given: &ElaborationOptions,
    span: Span,
) -> Result<Option<Mapping>, Vec<Diagnostic>> {
    let Some(columns) = &encoding.target else { return Ok(None) };
    let refused = |title: String| vec![Diagnostic::error(codes::DATA, span, title)];
    let mut inputs = interface.inputs.iter().filter(|port| !given.constants.contains_key(&port.name));
    let input = signals.bp.and_then(|bp| inputs.nth(bp + 1));
    let input =
        input.ok_or_else(|| refused("`--target` needs a node that a `train` declares".to_string()))?;
    if encoding.columns.iter().any(|mapping| mapping.input == input.name) {
        return Err(refused(format!("`--target` and `--columns {}=..` both name the target", input.name)));
    }
    Mapping::new(&input.name, columns).map(Some).map_err(|why| refused(format!("`--target`: {why}")))
}

/// The texts of a column, for the user.
fn categories_note(table: &Categories) -> String {
    const SHOWN: usize = 8;
    let shown = table.texts.iter().enumerate().take(SHOWN).map(|(number, text)| format!("{number} = {text}"));
    let shown: Vec<String> = shown.collect();
    let more = if table.texts.len() > SHOWN { ", and so on" } else { "" };
    let n = table.texts.len();
    format!(
        "`{}` has {n} categor{}: {}{more}",
        table.column,
        if n == 1 { "y" } else { "ies" },
        shown.join(", ")
    )
}

/// The unit of shuffling: sequences if they have ends, rows if the node has no memory of its own.
fn unit(
    program: &program::Program,
    callable: &Callable,
    signals: Signals,
    given: &ElaborationOptions,
) -> Result<Unit, Vec<Diagnostic>> {
    if signals.end.is_some() {
        return Ok(Unit::Sequence);
    }
    let node: Callable = program.origin(callable.base).into();
    let draft = elaborate(program, &node, given)?;
    let has_delays = draft.equations.iter().any(|equation| equation.kind.is_delay());
    let is_declared = matches!(callable.base, Base::Train(_));
    Ok(if has_delays || !is_declared { Unit::Whole } else { Unit::Row })
}

/// The loss: the last output of a training node, or the output of that name.
fn loss_of(
    callable: &Callable,
    interface: &Interface,
    flow: &Flow,
    span: Span,
) -> Result<VarId, Vec<Diagnostic>> {
    let found = match callable.base {
        Base::Train(_) | Base::Test(_) => interface.outputs.len().checked_sub(1),
        _ => interface.outputs.iter().position(|port| port.name == "loss"),
    };
    match found {
        Some(output) => Ok(flow.outputs[output]),
        None => {
            let title = "a node that is trained has an output `loss`";
            Err(vec![Diagnostic::error(codes::NOTHING_TO_TRAIN, span, title)])
        }
    }
}
