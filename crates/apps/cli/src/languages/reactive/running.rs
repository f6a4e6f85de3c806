//! `run` and `trace`: test benches, or a node on data.

use std::fmt::{self, Write};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueHint, value_parser};
use eddy_driver::benches::ItemResult;
use eddy_driver::functions::Budget;
use eddy_driver::stream::Summary;
use eddy_driver::{
    self as driver, Answer, BenchRequest, Data, EngineKind, FunctionEngine, FunctionRequest, Model,
    NodeRequest, Precision, Program, Refusal, RunRequest,
};
use eddy_language::chronogram::Chart;
use eddy_language::chronogram::svg::{Arrows, draw};
use eddy_language::codes;
use eddy_language::runs::Ran;
use eddy_syntax::{Diagnostic, Sources};
use serde_json::Value as Json;

use super::data::{DataArgs, is_read_from_standard_input, open_all, path_of};
use super::functions::{Nesting, call};
use super::{
    Announcer, EquationLimit, cycles, given_parameters, load, named_constant, refused, rows, settings,
    streams, threads,
};
use crate::answers::Answers;
use crate::args::{EngineName, Fuel, MemoryLimit, is_standard_input, unknown_engine};
use crate::command_line::misuse;
use crate::json;
use crate::report::Form;
use crate::session::{Ended, Session};
use crate::status::Status;
use crate::stop::Stop;

#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line are independent")]
pub struct RunArgs {
    #[command(flatten)]
    engine: EngineName,
    /// Run this node, instead of the test benches of the file
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    /// Call this function once for each line of `--in`; it may be a derivative, such as `adj_f`
    #[arg(long = "fn", value_name = "NAME", conflicts_with = "node")]
    function: Option<String>,
    /// Read the inputs of the node: .jsonl, .csv, .tsv, .npy or .npz, `-` for standard input; NAME=FILE for
    /// one input. For a function: .jsonl, an object of arguments per line
    #[arg(long = "in", value_name = "[NAME=]FILE", value_hint = ValueHint::FilePath)]
    data: Vec<String>,
    #[command(flatten)]
    reading: DataArgs,
    /// Give an input of the node a compile-time constant
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = named_constant, requires = "node")]
    constants: Vec<(String, String)>,
    /// Run this many cycles
    #[arg(long, value_name = "N", requires = "node")]
    cycles: Option<u64>,
    /// Run N independent streams in lock-step; `--in` then names N files, one for each
    #[arg(long, value_name = "N", value_parser = streams, requires = "node")]
    batch: Option<usize>,
    /// Let N threads compute large tensors; otherwise as many as the machine has
    #[arg(long, value_name = "N", value_parser = threads, requires = "node")]
    threads: Option<usize>,
    /// The seed of random numbers
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print these streams, instead of the outputs
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "node")]
    show: Vec<String>,
    /// Print the streams that the program probes behind the outputs, and these
    #[arg(
        long,
        value_name = "NAME,..",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        requires = "node",
        conflicts_with = "show"
    )]
    probe: Option<String>,
    /// Print a chronogram
    #[arg(long, requires = "node")]
    chrono: bool,
    /// Round the numbers of chronograms to N significant digits
    #[arg(long, value_name = "N", value_parser = super::digits)]
    digits: Option<usize>,
    /// Check neither clocks nor causality
    #[arg(long, requires = "node")]
    unchecked: bool,
    /// Stop when more than N cycles are open at once
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    max_window: Option<u64>,
    /// Compute loops again from registers saved every √W cycles, rather than keep their values
    #[arg(long, value_name = "HOW", value_parser = ["sqrt"], requires = "node")]
    checkpoint: Option<String>,
    /// Give the parameters of the node the values of this file, which `eddy train` wrote
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "node")]
    params: Option<PathBuf>,
    /// Numbers have single precision
    #[arg(long, conflicts_with = "f64", requires = "node")]
    f32: bool,
    /// Numbers have double precision, which is the default
    #[arg(long, requires = "node")]
    f64: bool,
    /// Do not compare the first cycles of compiled code with the simulator
    #[arg(long, requires = "node")]
    no_shadow: bool,
    #[command(flatten)]
    memory: MemoryLimit,
    #[command(flatten)]
    limit: EquationLimit,
    #[command(flatten)]
    fuel: Fuel,
    #[command(flatten)]
    nesting: Nesting,
}

#[derive(Args)]
pub struct TraceArgs {
    /// Draw chronograms into this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "out")]
    svg: Option<PathBuf>,
    /// Draw which cell reads which across time
    #[arg(long, requires = "svg")]
    arrows: bool,
    /// Round the numbers of chronograms to N significant digits
    #[arg(long, value_name = "N", value_parser = super::digits, requires = "svg")]
    digits: Option<usize>,
    #[command(flatten)]
    memory: MemoryLimit,
    #[command(flatten)]
    limit: EquationLimit,
}

pub fn run(args: RunArgs, session: &Session) -> Result<Status, Stop> {
    let read: Vec<_> = args.data.iter().map(|named| path_of(named)).collect();
    if is_standard_input(&session.file) && args.data.iter().any(is_read_from_standard_input) {
        return Err(misuse("run", "the program and its data cannot both be read from standard input"));
    }
    if !args.data.is_empty() && args.node.is_none() && args.function.is_none() {
        return Err(misuse("run", "`--in FILE` needs a node, `--node NAME`, or a function, `--fn NAME`"));
    }
    let out = session.out.as_deref();
    session.check_output(out, &read)?;
    let engine = args.engine.engine.as_deref().map(str::parse::<EngineKind>).transpose();
    let engine = engine.map_err(|unknown| unknown_engine(&unknown, session.language))?;
    let Ok((parameters, known)) = given_parameters(args.params.as_deref(), session.form) else {
        return Ok(Status::Refused);
    };
    let encoding = args.reading.encoding(known);
    if let (Some(_), Some(open)) = (&args.params, encoding.categories.iter().find(|table| table.is_open)) {
        let message = format!("the parameters know no categories of the column `{}`", open.column);
        return Err(misuse("run", &message));
    }
    let Some(data) = open_all(&args.data, args.reading.in_format, session.form) else {
        return Ok(Status::Refused);
    };
    session.conclude(out, |sources, answers| {
        let announcer = Announcer { form: session.form, output: Some(answers.destination()) };
        let settings = settings(args.threads, args.limit.read(args.memory.bytes()));
        let program = match driver::Session::new(settings, Arc::new(announcer)).load(sources.clone()) {
            Ok(program) => program,
            Err(refusal) => return Ok(refused(refusal, sources)),
        };
        if let Some(function) = args.function.clone() {
            let request = FunctionRequest {
                budget: args.budget(),
                engine: engine.map(FunctionEngine::of),
                ..FunctionRequest::new(function)
            };
            return call(session, &program, request, data, sources, answers);
        }
        let Some(node) = args.node.clone() else {
            let request = args.bench_request(engine);
            let mut text = String::new();
            let ended = benches(session.form, &program, (&request, args.digits), sources, &mut text)?;
            session.write_whole(&text, &ended, answers)?;
            return Ok(ended);
        };
        let mut ended = match program.model(args.node_request(node)) {
            Ok(model) => {
                if let Some(unknown) = args.reading.unknown_input(&model) {
                    let title =
                        format!("the node `{}` has no input `{unknown}` for `--columns`", model.name());
                    let diagnostic = Diagnostic::error(codes::DATA, model.span(), title);
                    let found = Refusal { diagnostics: vec![diagnostic], sources: model.sources().clone() };
                    return Ok(refused(found, sources));
                }
                let model = model.with_parameters(parameters).with_encoding(encoding);
                let mut request = args.run_request(engine);
                if let Some(probe) = &args.probe {
                    match model.outputs_and_probes() {
                        Ok(names) => request.show = names,
                        Err(refusal) => return Ok(refused(refusal, sources)),
                    }
                    let more = probe.split(',').filter(|name| !name.is_empty()).map(str::to_string);
                    let more: Vec<String> = more.filter(|name| !request.show.contains(name)).collect();
                    request.show.extend(more);
                }
                let run = NodeRun { session, model, request, data, digits: args.digits };
                if args.chrono || engine.is_some_and(EngineKind::is_whole) {
                    run.whole(args.chrono, sources, answers)?
                } else {
                    run.row_by_row(sources, answers)?
                }
            }
            Err(refusal) => refused(refusal, sources),
        };
        ended.diagnostics.splice(0..0, program.warnings().iter().cloned());
        Ok(ended)
    })
}

impl RunArgs {
    fn node_request(&self, node: String) -> NodeRequest {
        NodeRequest { node, constants: self.constants.clone(), shapes: Vec::new(), batch: self.batch }
    }

    fn run_request(&self, engine: Option<EngineKind>) -> RunRequest {
        RunRequest {
            engine,
            cycles: self.cycles,
            seed: self.seed,
            show: self.show.clone(),
            unchecked: self.unchecked,
            max_window: self.max_window.map(cycles),
            checkpoints: self.checkpoint.is_some(),
            precision: self.f32.then_some(Precision::Single),
            no_shadow: self.no_shadow,
        }
    }

    fn bench_request(&self, engine: Option<EngineKind>) -> BenchRequest {
        let max_window = self.max_window.map(cycles);
        BenchRequest { engine, seed: self.seed, max_window, trace: false, budget: self.budget() }
    }

    fn budget(&self) -> Budget {
        let bytes = self.memory.bytes_of_functions();
        self.nesting.budget(self.fuel.fuel, bytes.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)))
    }
}

/// Runs the test benches and evaluations of a file. Output printed before a failure stays.
fn benches(
    form: Form,
    program: &Program,
    (request, digits): (&BenchRequest, Option<usize>),
    sources: &mut Sources,
    out: &mut dyn Write,
) -> Result<Ended, fmt::Error> {
    let Answer { value: ran, warnings: mut diagnostics } = match program.benches(request) {
        Ok(answer) => answer,
        Err(refusal) => return Ok(refused(refusal, sources)),
    };
    *sources = program.sources().clone();
    let width = terminal_width();
    ran.results.iter().try_for_each(|result| match result {
        ItemResult::Bench(ran) => out.write_str(&Ran { digits, ..ran.clone() }.text(width)),
        ItemResult::Evaluation(_) => out.write_str(&result.text(width)),
    })?;
    let status = if ran.failure.is_some() { Status::NoValue } else { Status::Answered };
    diagnostics.extend(ran.failure);
    let answer = form.as_data(|| rows::answer_of_file(&ran.results));
    Ok(Ended { status, answer, diagnostics, stats: Vec::new() })
}

/// A node to run on data.
struct NodeRun<'a> {
    session: &'a Session,
    model: Model,
    request: RunRequest,
    data: Vec<Data>,
    digits: Option<usize>,
}

impl NodeRun<'_> {
    /// Runs on all data, then prints the rows.
    fn whole(
        self,
        is_table: bool,
        sources: &mut Sources,
        answers: &mut Answers,
    ) -> Result<Ended, fmt::Error> {
        let NodeRun { session, model, request, data, digits } = self;
        let Answer { value: ran, warnings } = match model.run_whole(&request, data) {
            Ok(answer) => answer,
            Err(refusal) => return Ok(refused(refusal, sources)),
        };
        *sources = model.sources().clone();
        let ran = Ran { is_table, digits, ..ran };
        let answer = session.form.as_data(|| rows::answer_of_run(&ran));
        let ended = Ended { diagnostics: warnings, ..Ended::answered(answer) };
        session.write_whole(&ran.text(terminal_width()), &ended, answers)?;
        Ok(ended)
    }

    /// Prints each row as soon as it is known; JSON is one object at the end.
    fn row_by_row(self, sources: &mut Sources, answers: &mut Answers) -> Result<Ended, fmt::Error> {
        let NodeRun { session, model, request, data, .. } = self;
        let mut run = match model.run(&request, data) {
            Ok(run) => run,
            Err(refusal) => return Ok(refused(refusal, sources)),
        };
        *sources = model.sources().clone();
        let is_json = matches!(session.form, Form::Json);
        let (names, enumerations, mut text) = (run.names(), run.enumerations(), String::new());
        let mut stopped = None;
        while stopped.is_none() {
            if run.is_waiting() {
                answers.flush_now();
            }
            match run.next() {
                Some(Ok(row)) if is_json => text.push_str(&rows::line(&names, &enumerations, &row)),
                Some(Ok(row)) => answers.write_str(&rows::line(&names, &enumerations, &row))?,
                Some(Err(refusal)) => stopped = Some(refusal),
                None => break,
            }
        }
        let Summary { warnings, stats } = run.summary();
        if let Some(refusal) = stopped {
            return Ok(refused(refusal, sources).counting(stats));
        }
        let answer = session.form.as_data(|| rows::answer_of_rows(&model.name(), &text));
        let ended = Ended { diagnostics: warnings, ..Ended::answered(answer) }.counting(stats);
        if is_json {
            session.write_whole(&text, &ended, answers)?;
        }
        Ok(ended)
    }
}

pub fn trace(args: TraceArgs, session: &Session) -> Result<Status, Stop> {
    let TraceArgs { svg, arrows, digits, memory, limit } = args;
    let to = svg.as_deref().or(session.out.as_deref());
    session.check_output(to, &[])?;
    let arrows = if arrows { Arrows::Drawn } else { Arrows::Hidden };
    let write = |sources: &mut Sources, out: &mut dyn Write| {
        let program = match load(sources.clone(), limit.read(memory.bytes())) {
            Ok(program) => program,
            Err(refusal) => return Ok(refused(refusal, sources)),
        };
        if svg.is_some() {
            picture(&program, (arrows, digits), sources, out)
        } else {
            let request = BenchRequest { trace: true, ..BenchRequest::default() };
            benches(session.form, &program, (&request, None), sources, out)
        }
    };
    session.conclude(to, |sources, answers| match session.form {
        Form::Json => {
            let mut lines = json::Lines::new(session.command.name(), answers);
            let ended = write(sources, &mut lines)?;
            lines.finish(ended.status, &ended.answer)?;
            Ok(ended)
        }
        Form::Full(_) | Form::Short => write(sources, answers),
    })
}

/// Draws the chronograms of all test benches.
fn picture(
    program: &Program,
    (arrows, digits): (Arrows, Option<usize>),
    sources: &mut Sources,
    out: &mut dyn Write,
) -> Result<Ended, fmt::Error> {
    match program.charts(&BenchRequest::default()) {
        Ok(Answer { value: charts, warnings }) => {
            *sources = program.sources().clone();
            let rounded = |chart: Chart| match digits {
                Some(digits) => chart.rounded(digits),
                None => chart,
            };
            let charts: Vec<Chart> = charts.into_iter().map(rounded).collect();
            out.write_str(&draw(&charts, arrows))?;
            Ok(Ended { diagnostics: warnings, ..Ended::answered(Json::Null) })
        }
        Err(refusal) => Ok(refused(refusal, sources)),
    }
}

/// The width of the terminal that standard output is connected to, if any.
fn terminal_width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}
