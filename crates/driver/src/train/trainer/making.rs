//! Makes a trainer: prepares the node, reads its data, and compiles it.

use eddy_compile::Precision;
use eddy_flow::{Flow, VarId};
use eddy_formats::{Categories, Encoding, Mapping};
use eddy_language::causality::{Verdict, causality_of};
use eddy_language::codes;
use eddy_language::elaborate::{Draft, ElaborationOptions, Interface, elaborate};
use eddy_language::infer::{Hint, Hints};
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::program::{self, Base, Callable};
use eddy_language::semantics::simulate;
use eddy_syntax::{Diagnostic, Sources, Span};
use eddy_tensor::{Scalar, Static};
use rustc_hash::FxHashMap;

use super::{Trainer, Validation, shadow, source};
use crate::data::Data;
use crate::engine::choose::{Choice, choose};
use crate::inputs::FixedInputs;
use crate::normalisation::normalise;
use crate::precision::check_single;
use crate::program::Program;
use crate::stream::{Columns, SharedEncoding, hints};
use crate::train::TrainRequest;
use crate::train::batches;
use crate::train::dataset::Unit;
use crate::train::measuring::Measuring;
use crate::train::padding::Padding;
use crate::train::reading::{Purpose, Read, Reading};
use crate::train::registers::Registers;
use crate::train::signals::Signals;
use crate::train::source::Source;

impl Trainer {
    /// Reads the data and prepares the node.
    pub(in crate::train) fn new(
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
        let reading =
            Reading { prepared: &prepared, signals, unit, sample: unit, request: options, purpose, span };
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
