//! Epochs and validation of one node.

mod shadow;

use eddy_language::{Comparison, Data, Plan, Progress, TrainOptions, Trainer};
use eddy_syntax::{Diagnostic, Sources, Span};
use eddy_tensor::Value;
use rustc_hash::FxHashMap;

use super::batches;
use super::dataset::{Dataset, Unit};
use super::divergence;
use super::signals::Signals;
use crate::cell::Cell;
use crate::codes;
use crate::command_line::Told;

use crate::elaborate::{Given, Interface, elaborate};
use crate::engine::choose::{Choice, choose};
use crate::engine::{Compilation, Engine, Failure, Source};
use crate::errors;
use crate::flow::{Constant, Flow, Kind, VarId};
use crate::parameters;
use crate::prepare::{Checks, Prepared, prepare};
use crate::program::{Base, Callable, Program};
use crate::simulate::{self, Simulation};
use crate::stream::{Columns, hints};

/// A node that is being trained.
pub struct NodeTrainer {
    name: String,
    model: String,
    span: Span,
    prepared: Prepared,
    /// The output that is the loss.
    loss: VarId,
    data: Dataset,
    unit: Unit,
    is_shuffled: bool,
    options: simulate::Options,
    checkpoints: bool,
    /// The state of optimisers, by its name; empty before the first epoch.
    memory: FxHashMap<String, Value>,
    validation: Option<Validation>,
    /// The node as machine code, if it is.
    compilation: Option<Compilation>,
    /// What is said about that.
    notes: Vec<Diagnostic>,
    /// The input that says where sequences end.
    end: Option<usize>,
    /// The command that trains the node on other data.
    words: Vec<String>,
}

/// The same node without its optimisers, and other data.
struct Validation {
    prepared: Prepared,
    loss: VarId,
    data: Dataset,
    compilation: Option<Compilation>,
}

impl NodeTrainer {
    /// Reads the data and prepares the node.
    pub(super) fn new(
        program: Program,
        callable: Callable,
        sources: &mut Sources,
        options: &TrainOptions,
        data: Vec<Data>,
        validation: Vec<Data>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let (name, span) = (program.name_of(&callable), program.span_of(&callable));
        let Told { constants, interface, .. } =
            Told::read(&program, &callable, sources, &options.constants, &[])?;
        let given = Given { constants, batch: options.batch, ..Given::default() };
        let signals = Signals::of(&program, &callable, &given);
        let unit = unit(&program, &callable, signals, &given)?;
        let (prepared, rows) = read(&program, &callable, &given, &interface, sources, data)?;
        let loss = loss_of(&callable, &interface, &prepared.flow, span)?;
        signals.check_options(options, span)?;
        signals.check(&rows, "the data", &prepared.flow, span)?;
        let mut data = Dataset::new(rows, signals, unit, options, &prepared.flow);
        batches::check(&mut data, &prepared, unit, options, span)?;
        // The loss of the data for validation is measured stream by stream.
        let given = Given { batch: None, ..given };
        let validation = match (callable.base, validation.is_empty()) {
            (_, true) => None,
            (Base::Train(train), false) if callable.modes.is_empty() => {
                let test: Callable = Base::Test(train).into();
                let (prepared, rows) = read(&program, &test, &given, &interface, sources, validation)?;
                let loss = loss_of(&test, &interface, &prepared.flow, span)?;
                signals.check(&rows, "the data for validation", &prepared.flow, span)?;
                let data = Dataset::new(rows, signals, Unit::Whole, options, &prepared.flow);
                Some(Validation { prepared, loss, data, compilation: None })
            }
            _ => {
                let title = format!("`{name}` is no node that a `train` declares: it cannot be validated");
                return Err(vec![Diagnostic::error(codes::DATA, span, title)]);
            }
        };
        let mut trainer = NodeTrainer {
            end: signals.end,
            words: shadow::command(&name, options),
            name,
            model: model(&program, &callable),
            span,
            loss,
            data,
            unit,
            is_shuffled: options.shuffle && unit != Unit::Whole,
            options: simulate::Options {
                strict: false,
                seed: options.seed,
                max_window: options.max_window,
                single: false,
            },
            checkpoints: options.checkpoints,
            memory: FxHashMap::default(),
            validation,
            prepared,
            compilation: None,
            notes: Vec::new(),
        };
        trainer.check_parameters()?;
        trainer.compile(options);
        Ok(trainer)
    }

    /// Compiles the node, and the one that is validated.
    fn compile(&mut self, options: &TrainOptions) {
        let choice = Choice { engine: options.engine.clone(), name: self.name.clone(), span: self.span };
        let mut out = String::new();
        let (compilation, note) = choose(&self.source(), &choice, &mut out);
        self.compilation = compilation;
        self.notes.extend(note);
        if let Some(validation) = &mut self.validation {
            let source = source(&validation.prepared, &validation.loss, self.options);
            (validation.compilation, _) = choose(&source, &choice, &mut out);
        }
    }

    /// Each parameter must be what an optimiser remembers: else its value at the end of an epoch is not known.
    fn check_parameters(&self) -> Result<(), Vec<Diagnostic>> {
        let flow = &self.prepared.flow;
        if flow.memory.is_empty() {
            let title = format!("the node `{}` learns nothing: no parameter of it is trained", self.name);
            return Err(vec![Diagnostic::error(codes::NOTHING_TO_TRAIN, self.span, title)]);
        }
        for parameter in &flow.parameters {
            if self.memory_of(parameter.var).is_none() {
                let title = format!(
                    "the optimiser of the parameter `{}` does not keep it in a `fby`",
                    parameter.name
                );
                let help = "an optimiser ends in `p = init fby p1;`, with p1 the value after the step";
                let span = flow.var(parameter.var).span;
                return Err(vec![Diagnostic::error(codes::NOTHING_TO_TRAIN, span, title).help(help)]);
            }
        }
        Ok(())
    }

    /// The name of the state that a parameter is, through copies.
    fn memory_of(&self, parameter: VarId) -> Option<&str> {
        let flow = &self.prepared.flow;
        let definitions = flow.definitions();
        let mut at = parameter;
        loop {
            if let Some(memory) = flow.memory.iter().find(|memory| memory.var == at) {
                return Some(&memory.name);
            }
            match &flow.equations[definitions[at.index()]?].kind {
                Kind::Apply(eddy_tensor::Op::Copy, operands) => at = operands[0],
                _ => return None,
            }
        }
    }

    /// The value of a parameter before anything was learnt.
    fn initial(&self, parameter: VarId) -> Option<Value> {
        let flow = &self.prepared.flow;
        let definitions = flow.definitions();
        let mut at = parameter;
        for _ in 0..flow.equations.len() {
            match &flow.equations[definitions[at.index()]?].kind {
                Kind::Apply(eddy_tensor::Op::Copy, operands) => at = operands[0],
                Kind::Fby { init, .. } => at = *init,
                Kind::Const(constant) => return Some(constant.value(&flow.var(at).ty, self.options.seed)),
                _ => return None,
            }
        }
        None
    }

    fn source(&self) -> Source<'_> {
        Source { checkpoints: self.checkpoints, ..source(&self.prepared, &self.loss, self.options) }
    }

    /// An epoch before its first row.
    fn start(&self) -> Engine<'_> {
        let mut engine = Engine::new(self.source(), self.compilation.as_ref());
        for (var, value) in self.remembered() {
            engine.restore(var, value);
        }
        engine
    }

    fn remembered(&self) -> Vec<(VarId, Value)> {
        let memories = self.prepared.flow.memory.iter();
        memories.filter_map(|memory| Some((memory.var, self.memory.get(&memory.name)?.clone()))).collect()
    }

    /// Where an epoch went wrong, by simulating it.
    fn locate(&self, order: &[usize]) -> Diagnostic {
        let flow = &self.prepared.flow;
        let mut simulation = Simulation::new(flow, &self.prepared.clocks, self.options);
        for (var, value) in self.remembered() {
            simulation.restore(var, value);
        }
        divergence::locate(flow, simulation, batches::rows(&self.data, order, &self.prepared), self.loss)
    }

    fn without_loss(&self, data: &str) -> Diagnostic {
        let title = format!("{data} give no loss at any row");
        Diagnostic::error(codes::NOTHING_TO_TRAIN, self.span, title)
            .reason("there is a loss where `bp` is true, and the inputs are there")
    }

    /// What the optimisers remember at the end of an epoch.
    fn remember(&mut self, learnt: Vec<(String, Value)>) -> Result<(), Vec<Diagnostic>> {
        if let Some((name, _)) = learnt.iter().find(|(_, value)| !value.is_finite()) {
            let title = format!("training diverged: `{name}` is not finite after this epoch");
            return Err(vec![divergence::with_help(Diagnostic::error(codes::DIVERGENCE, self.span, title))]);
        }
        self.memory.extend(learnt);
        Ok(())
    }
}

impl Trainer for NodeTrainer {
    fn plan(&self) -> Plan {
        let flow = &self.prepared.flow;
        let numbers = flow
            .parameters
            .iter()
            .map(|parameter| flow.var(parameter.var).ty.shape.iter().product::<usize>());
        Plan {
            node: self.name.clone(),
            model: self.model.clone(),
            n_parameters: flow.parameters.len(),
            n_numbers: numbers.sum(),
            n_rows: self.data.n_rows(),
            n_sequences: (self.unit == Unit::Sequence).then_some(self.data.n_units()),
            is_shuffled: self.is_shuffled,
            notes: self.data.notes.clone(),
        }
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        self.prepared.warnings.iter().chain(&self.notes).cloned().collect()
    }

    fn compare_engines(&mut self, sources: &Sources, epoch: u64, n_epochs: usize) -> Comparison {
        self.compare(sources, epoch, n_epochs)
    }

    fn epoch(&mut self, epoch: u64, watch: &mut dyn FnMut(Progress)) -> Result<f64, Vec<Diagnostic>> {
        let order = self.data.order(self.is_shuffled, self.options.seed, epoch);
        let batch = self.prepared.batch.as_ref();
        let n_streams = batch.map_or(1, |batch| batch.n);
        let n_losses = if batch.is_some_and(|batch| batch.is_wide(self.loss)) { n_streams } else { 1 };
        let mut pass = Pass::new(self.start(), &self.prepared.flow, n_losses);
        for (number, row) in batches::rows(&self.data, &order, &self.prepared).enumerate() {
            pass.row(&row)?;
            if pass.is_diverged {
                break;
            }
            watch(Progress { n_rows: (number + 1) * n_streams, loss: pass.mean() });
        }
        if !pass.is_diverged {
            pass.end()?;
        }
        if pass.is_diverged {
            return Err(vec![self.locate(&order)]);
        }
        let flow = &self.prepared.flow;
        let learnt = flow
            .memory
            .iter()
            .filter_map(|memory| Some((memory.name.clone(), pass.engine.memory(memory.var)?)));
        let (learnt, mean) = (learnt.collect(), pass.mean());
        drop(pass);
        self.remember(learnt)?;
        mean.ok_or_else(|| vec![self.without_loss("the data")])
    }

    fn validate(&mut self) -> Result<Option<f64>, Vec<Diagnostic>> {
        let Some(validation) = &self.validation else { return Ok(None) };
        let mut flow = validation.prepared.flow.clone();
        parameters::give(&mut flow, &self.parameters(), "training", self.span)?;
        let source = Source { flow: &flow, ..source(&validation.prepared, &validation.loss, self.options) };
        let mut engine = Engine::new(source, validation.compilation.as_ref());
        for (parameter, value) in given(&flow) {
            engine.give(parameter, value);
        }
        let mut pass = Pass::new(engine, &flow, 1);
        for row in validation.data.rows(&[0]) {
            pass.row(row)?;
        }
        pass.end()?;
        pass.mean().map(Some).ok_or_else(|| vec![self.without_loss("the data for validation")])
    }

    fn parameters(&self) -> Vec<(String, Value)> {
        let value = |parameter: &crate::flow::Named| {
            let learnt = self.memory_of(parameter.var).and_then(|memory| self.memory.get(memory)).cloned();
            let value = learnt.or_else(|| self.initial(parameter.var))?;
            Some((parameter.name.clone(), value))
        };
        self.prepared.flow.parameters.iter().filter_map(value).collect()
    }

    fn memory(&self) -> Vec<(String, Value)> {
        let flow = &self.prepared.flow;
        let saved = flow
            .memory
            .iter()
            .filter_map(|memory| Some((memory.name.clone(), self.memory.get(&memory.name)?.clone())));
        saved.collect()
    }

    fn restore(&mut self, memory: Vec<(String, Value)>) -> Result<(), String> {
        let flow = &self.prepared.flow;
        for (name, value) in &memory {
            let Some(known) = flow.memory.iter().find(|known| known.name == *name) else {
                return Err(format!("it has `{name}`, which this program does not know"));
            };
            let ty = &flow.var(known.var).ty;
            if value.ty() != *ty {
                return Err(format!("its `{name}` is {}, but this program has {ty}", value.ty()));
            }
        }
        if let Some(missing) =
            flow.memory.iter().find(|known| memory.iter().all(|(name, _)| *name != known.name))
        {
            return Err(format!("it has no `{}`", missing.name));
        }
        self.memory = memory.into_iter().collect();
        Ok(())
    }

    fn start_from(&mut self, parameters: Vec<(String, Value)>) -> Result<(), String> {
        for (name, value) in parameters {
            let flow = &self.prepared.flow;
            let Some(parameter) = flow.parameters.iter().find(|parameter| parameter.name == name) else {
                return Err(format!("it has a parameter `{name}`, which this program does not know"));
            };
            let ty = &flow.var(parameter.var).ty;
            let value = value.to_num64();
            if value.ty() != *ty {
                return Err(format!("its `{name}` is {}, but this program has {ty}", value.ty()));
            }
            let memory = self.memory_of(parameter.var).expect("it was checked").to_string();
            self.memory.insert(memory, value);
        }
        Ok(())
    }
}

/// A node whose loss is asked for.
fn source<'a>(prepared: &'a Prepared, loss: &'a VarId, options: simulate::Options) -> Source<'a> {
    let shown = std::slice::from_ref(loss);
    let Prepared { flow, clocks, .. } = prepared;
    Source { flow, clocks, shown, options, is_checked: true, checkpoints: false }
}

/// Parameters whose values are given.
fn given(flow: &Flow) -> impl Iterator<Item = (VarId, &Value)> {
    let definitions = flow.definitions();
    flow.parameters.iter().filter_map(move |parameter| {
        match &flow.equations[definitions[parameter.var.index()]?].kind {
            Kind::Const(Constant::Given(value)) => Some((parameter.var, value)),
            _ => None,
        }
    })
}

/// One pass over some rows.
struct Pass<'a> {
    engine: Engine<'a>,
    flow: &'a Flow,
    /// How many streams a loss is of.
    n_streams: usize,
    sum: f64,
    n_losses: usize,
    is_diverged: bool,
}

impl<'a> Pass<'a> {
    fn new(engine: Engine<'a>, flow: &'a Flow, n_streams: usize) -> Self {
        Pass { engine, flow, n_streams, sum: 0.0, n_losses: 0, is_diverged: false }
    }

    fn row(&mut self, row: &[Cell]) -> Result<(), Vec<Diagnostic>> {
        let opened = self.engine.open(row);
        self.concluded(opened)
    }

    fn end(&mut self) -> Result<(), Vec<Diagnostic>> {
        let ended = self.engine.end();
        self.concluded(ended)
    }

    fn concluded(&mut self, outcome: Result<(), Failure>) -> Result<(), Vec<Diagnostic>> {
        outcome.map_err(|failure| vec![errors::run(self.flow, &failure)])?;
        while let Some(row) = self.engine.next_row() {
            if let Some(loss) = row[0].value() {
                self.add(loss.clone());
            }
        }
        Ok(())
    }

    fn add(&mut self, loss: Value) {
        let entries = loss.elements().map(|entry| if let Value::Num(entry) = entry { entry } else { 0.0 });
        let loss: f64 = entries.sum();
        self.is_diverged |= !loss.is_finite();
        self.sum += loss;
        self.n_losses += self.n_streams;
    }

    #[allow(clippy::cast_precision_loss)] // a mean of more than 2^53 losses may be rounded
    fn mean(&self) -> Option<f64> {
        (self.n_losses > 0).then(|| self.sum / self.n_losses as f64)
    }
}

/// The node to run with what was learnt: restarted by `end`, if it was trained a sequence at a time.
fn model(program: &Program, callable: &Callable) -> String {
    let name = &program.node(program.origin(callable.base)).name;
    match callable.base {
        Base::Train(train) if program.train(train).segment => format!("{name}_end"),
        _ => name.clone(),
    }
}

/// Prepares a node and reads the data for it.
fn read(
    program: &Program,
    callable: &Callable,
    given: &Given,
    interface: &Interface,
    sources: &mut Sources,
    data: Vec<Data>,
) -> Result<(Prepared, Vec<Vec<Cell>>), Vec<Diagnostic>> {
    let names = interface.inputs.iter().map(|port| port.name.clone());
    let names: Vec<String> = names.filter(|name| !given.constants.contains_key(name)).collect();
    let mut columns = Columns::new(data, names).map_err(|stopped| stopped.diagnostics(sources))?;
    let prepared = prepare(program, callable, given, |draft| hints(draft, &mut columns), Checks::On)?;
    let span = program.span_of(callable);
    let rows = Dataset::read(&mut columns, &prepared, span, sources)?;
    Ok((prepared, rows))
}

/// What may be shuffled: sequences if they have ends, rows if the node has no memory of its own.
fn unit(
    program: &Program,
    callable: &Callable,
    signals: Signals,
    given: &Given,
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
