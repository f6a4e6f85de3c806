//! Epochs and validation of one node.

mod making;
mod shadow;

use std::fmt;
use std::ops::ControlFlow;

use eddy_flow::{Constant, Flow, Kind, VarId};
use eddy_formats::Encoding;
use eddy_language::causality::Verdict;
use eddy_language::codes;
use eddy_language::elaborate::{BatchLoss, ElaborationOptions};
use eddy_language::prepare::Prepared;
use eddy_language::program::{self, Base, Callable};
use eddy_language::semantics::simulate::{self, Simulation};
use eddy_syntax::{Diagnostic, Sources, Span};
use eddy_tensor::Value;

use super::batches;
use super::dataset::{Dataset, Order, Unit};
use super::delay;
use super::divergence;
use super::growth::is_growth;
use super::measuring::Measuring;
use super::padding::Padding;
use super::pass::Pass;
use super::registers::Registers;
use super::unknown::{Unknown, refusal};
use super::waits;
use super::{Comparison, Epoch, Measured, Progress, TrainPlan};
use crate::engine::{Compilation, Engine, EngineInput};
use crate::parameters;
use crate::program::Program;
use crate::refusal::Refusal;
use crate::stream::Stopped;

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
