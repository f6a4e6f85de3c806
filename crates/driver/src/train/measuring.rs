//! Measures the answers of a node with given parameters: metrics, and the answers beside the wanted values.
//!
//! A metric is a node of the program that takes an answer and the wanted value, and gives a number. It runs
//! by itself on the rows that have a loss, in the order of the data; its value is the mean of its outputs.

use std::collections::VecDeque;

use eddy_flow::VarId;
use eddy_language::codes;
use eddy_language::prepare::Prepared;
use eddy_language::semantics::{Cell, simulate};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Type, Value};

use super::Trainer;
use super::signals::Signals;
use crate::engine::{Compilation, Engine, EngineError, EngineInput, EngineKind};
use crate::model::{Model, NodeRequest};
use crate::parameters;
use crate::program::Program;
use crate::refusal::Refusal;
use crate::run::{Row, Run, RunRequest};

/// Beyond this number of rows, metrics are compiled.
const MANY_ROWS: usize = 10_000;

/// A node without its optimisers, and the metrics of its answers.
pub(super) struct Measuring {
    prepared: Prepared,
    /// The loss and the answer.
    shown: [VarId; 2],
    /// The numbers of the inputs `bp` and the target.
    bp: usize,
    target: usize,
    compilation: Option<Compilation>,
    metrics: Vec<Metric>,
}

/// A node that judges answers.
struct Metric {
    model: Model,
    /// The names of its outputs in the results.
    names: Vec<String>,
    request: RunRequest,
}

/// The sums of a metric.
struct Sums {
    run: Run,
    names: Vec<String>,
    sums: Vec<(f64, usize)>,
}

impl Measuring {
    /// Prepares metrics of a node that was prepared without its optimisers.
    pub fn new(
        program: &Program,
        prepared: Prepared,
        loss: VarId,
        signals: Signals,
        metrics: &[String],
        (options, n_rows): (simulate::Options, usize),
        span: Span,
    ) -> Result<Measuring, Refusal> {
        let refused = |title: &str| {
            let diagnostic = Diagnostic::error(codes::DATA, span, title);
            Refusal::new(vec![diagnostic], program.sources())
        };
        let Some(bp) = signals.bp.filter(|bp| bp + 1 < prepared.flow.inputs.len()) else {
            return Err(refused("only nodes that a `train` declares have metrics"));
        };
        let answers: Vec<VarId> = prepared.flow.outputs.iter().copied().filter(|var| *var != loss).collect();
        let [answer] = answers.as_slice() else {
            return Err(refused("metrics judge nodes with one answer that is a tensor"));
        };
        let types = [*answer, prepared.flow.inputs[bp + 1]].map(|var| prepared.flow.var(var).ty.clone());
        let engine = (n_rows < MANY_ROWS).then_some(EngineKind::Simulate);
        let precision = options.single.then_some(eddy_compile::Precision::Single);
        let request = RunRequest { engine, precision, ..RunRequest::default() };
        let metric = |name: &String| Metric::new(program, name, &types, request.clone(), span);
        let metrics = metrics.iter().map(metric).collect::<Result<_, _>>()?;
        let shown = [loss, *answer];
        Ok(Measuring { prepared, shown, bp, target: bp + 1, compilation: None, metrics })
    }

    pub fn source(&self, options: simulate::Options) -> EngineInput<'_> {
        let Prepared { flow, clocks, .. } = &self.prepared;
        EngineInput { flow, clocks, shown: &self.shown, options, is_checked: true, checkpoints: false }
    }

    pub fn compiled(&mut self, compilation: Option<Compilation>) {
        self.compilation = compilation;
    }
}

impl Metric {
    fn new(
        program: &Program,
        name: &str,
        [answer, wanted]: &[Type; 2],
        request: RunRequest,
        span: Span,
    ) -> Result<Metric, Refusal> {
        let node = NodeRequest::of(name);
        let inputs: Vec<String> = program.model(node.clone())?.input_names().map(str::to_string).collect();
        let [first, second] = inputs.as_slice() else {
            let title = format!("a metric has two inputs, and the node `{name}` has {}", inputs.len());
            let help = "a metric takes an answer and the wanted value, and gives a number";
            let diagnostic = Diagnostic::error(codes::DATA, span, title).help(help);
            return Err(Refusal::new(vec![diagnostic], program.sources()));
        };
        let shapes =
            vec![(first.clone(), answer.shape.to_string()), (second.clone(), wanted.shape.to_string())];
        let model = program.model(NodeRequest { shapes, ..node })?;
        let outputs = model.signature()?.outputs;
        let names = match outputs.as_slice() {
            [_] => vec![name.to_string()],
            outputs => outputs.iter().map(|port| format!("{name}.{}", port.name)).collect(),
        };
        if let Some(port) = outputs.iter().find(|port| !port.ty.shape.is_scalar()) {
            let title = format!("the metric `{name}` gives {} for `{}`, not a number", port.ty, port.name);
            let diagnostic = Diagnostic::error(codes::DATA, model.span(), title);
            return Err(Refusal::new(vec![diagnostic], model.sources()));
        }
        Ok(Metric { model, names, request })
    }

    fn start(&self) -> Result<Sums, Refusal> {
        let sums = vec![(0.0, 0); self.names.len()];
        Ok(Sums { run: self.model.start(&self.request)?, names: self.names.clone(), sums })
    }
}

impl Sums {
    fn add(&mut self, answer: &Value, wanted: &Value) -> Result<(), Refusal> {
        let rows = self.run.step(&[Cell::Value(answer.clone()), Cell::Value(wanted.clone())])?;
        self.take(&rows);
        Ok(())
    }

    fn take(&mut self, rows: &[Row]) {
        for row in rows {
            for (cell, (sum, n)) in row.cells.iter().zip(&mut self.sums) {
                let Some(value) = cell.value() else { continue };
                *sum += number(value);
                *n += 1;
            }
        }
    }

    #[allow(clippy::cast_precision_loss)] // there are fewer than 2^53 rows
    fn finish(mut self) -> Result<Vec<(String, f64)>, Refusal> {
        let rows = self.run.flush()?;
        self.take(&rows);
        let means = self.sums.iter().map(|(sum, n)| if *n > 0 { sum / *n as f64 } else { f64::NAN });
        Ok(self.names.into_iter().zip(means).collect())
    }
}

#[allow(clippy::cast_precision_loss)] // an integer where a number is needed is the nearest one
fn number(value: &Value) -> f64 {
    match value {
        Value::Num(x) => *x,
        Value::Num32(x) => f64::from(*x),
        Value::Int(n) => *n as f64,
        Value::Bool(truth) => f64::from(u8::from(*truth)),
        Value::Tensor(_) => unreachable!("the shape was checked"),
    }
}

impl Trainer {
    /// The metrics with the present parameters, by name: on the validation data, or on the training data if
    /// there are none.
    pub fn measure(&self) -> Result<Vec<(String, f64)>, Refusal> {
        let Some(measuring) = self.measuring.as_ref().filter(|measuring| !measuring.metrics.is_empty())
        else {
            return Ok(Vec::new());
        };
        let mut all = measuring.metrics.iter().map(Metric::start).collect::<Result<Vec<Sums>, _>>()?;
        self.answered(&self.parameters(), &mut |answer, wanted| {
            all.iter_mut().try_for_each(|sums| sums.add(answer, wanted))
        })?;
        let metrics = all.into_iter().map(Sums::finish).collect::<Result<Vec<_>, _>>()?;
        Ok(metrics.concat())
    }

    /// The answers with these parameters beside the wanted values, in the rows that have a loss; at most
    /// `most`.
    pub fn answers(
        &self,
        parameters: &[(String, Value)],
        most: usize,
    ) -> Result<Vec<(Value, Value)>, Refusal> {
        let mut pairs = Vec::new();
        self.answered(parameters, &mut |answer, wanted| {
            if pairs.len() < most {
                pairs.push((answer.clone(), wanted.clone()));
            }
            Ok(())
        })?;
        Ok(pairs)
    }

    /// Runs the node, and calls `each` with each answer and the wanted value.
    fn answered(
        &self,
        given: &[(String, Value)],
        each: &mut dyn FnMut(&Value, &Value) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let refusal = |found: Vec<Diagnostic>| Refusal::new(found, self.sources());
        let Some(measuring) = &self.measuring else { return Ok(()) };
        let mut flow = measuring.prepared.flow.clone();
        parameters::give(&mut flow, given, "training", self.span()).map_err(refusal)?;
        let source = EngineInput { flow: &flow, ..measuring.source(self.simulation_options()) };
        let mut engine = Engine::new(source, measuring.compilation.as_ref());
        for (parameter, value) in super::trainer::given(&flow) {
            engine.give(parameter, value);
        }
        let failed = |failure: EngineError| refusal(vec![failure.diagnostic(&flow)]);
        let data = self.measured_data();
        let mut wanted: VecDeque<Option<Value>> = VecDeque::new();
        let mut take = |engine: &mut Engine<'_>, wanted: &mut VecDeque<Option<Value>>| {
            while let Some(row) = engine.next_row() {
                let target = wanted.pop_front().flatten();
                if let (Some(answer), Some(target)) = (row[1].value(), target) {
                    each(answer, &target)?;
                }
            }
            Ok(())
        };
        for row in data.rows(&measuring.prepared) {
            let row = row.map_err(|stopped| refusal(self.unreadable(stopped)))?;
            let is_judged = row[measuring.bp].truth() == Some(true);
            wanted.push_back(row[measuring.target].value().filter(|_| is_judged).cloned());
            engine.open(&row).map_err(failed)?;
            take(&mut engine, &mut wanted)?;
        }
        engine.end().map_err(failed)?;
        take(&mut engine, &mut wanted)
    }
}
