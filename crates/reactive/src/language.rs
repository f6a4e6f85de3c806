//! The language as the command line sees it.

use eddy_language::{
    Built, Command, Data, Language, OptionName, Options, Out, TrainOptions, Trainer, Verdict,
};
use eddy_syntax::explain::Page;
use eddy_syntax::{Code, Diagnostic, SourceFile, Sources, Span};

use crate::check::{check_node, earliest, first_ones, without_repetitions};
use crate::chronogram::{Chart, svg};
use crate::command_line::Told;
use crate::elaborate::Given;
use crate::extent::too_large;
use crate::flow::text::print;
use crate::infer::Hints;
use crate::limits::Limits;
use crate::prepare::{Checks, prepare};
use crate::printed::Wish;
use crate::program::{Base, Callable, NodeId, Program, TrainId};
use crate::runs::Wishes;
use crate::tree::{RowValue, Run, RunOption, RunOptionKind, Semantics};
use crate::{building, codes, format, gradcheck, planning, printed, resolve, runs, stream, training};

/// The language of `.eddy` files.
#[derive(Clone, Copy, Debug)]
pub struct Reactive;

const ENGINES: [&str; 4] = ["compiled", "simulate", "denote", "kahn"];

impl Language for Reactive {
    fn name(&self) -> &'static str {
        "reactive"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["eddy"]
    }

    fn engines(&self) -> &'static [&'static str] {
        &ENGINES
    }

    fn options(&self, command: Command) -> Option<&'static [OptionName]> {
        Some(match command {
            Command::Ask | Command::Enum | Command::Opt | Command::Intype => return None,
            Command::Check => &[OptionName::MemoryReport, OptionName::Equations],
            Command::Trace => {
                use OptionName::{Arrows, Equations, Memory, Svg};
                &[Svg, Arrows, Memory, Equations]
            }
            Command::Flow => &[OptionName::Node, OptionName::Equations],
            Command::Gradcheck => {
                use OptionName::{Const, Cycles, Equations, In, Node, Seed, Shape, Tolerance};
                &[Node, In, Const, Cycles, Seed, Shape, Tolerance, Equations]
            }
            Command::Diff => {
                use OptionName::{Const, Dense, Equations, Finite, Node, Shape};
                &[Node, Const, Shape, Dense, Finite, Equations]
            }
            Command::Plan => {
                use OptionName::{
                    Batch, Checkpoint, Const, Equations, MaxWindow, Node, Seed, Shape, Stream, Svg,
                };
                &[Node, Const, Shape, Batch, Seed, MaxWindow, Checkpoint, Stream, Svg, Equations]
            }
            Command::Run => {
                use OptionName::{
                    Batch, Checkpoint, Chrono, Const, Cycles, Engine, Equations, In, MaxWindow, Memory,
                    NoShadow, Node, Params, Precision, Seed, Show, Threads, Unchecked,
                };
                &[
                    Engine, Node, In, Const, Cycles, Batch, Threads, Seed, Show, Chrono, Unchecked,
                    MaxWindow, Checkpoint, Params, Precision, NoShadow, Memory, Equations,
                ]
            }
        })
    }

    fn pages(&self) -> &'static [Page] {
        codes::PAGES
    }

    fn unreadable(&self) -> Code {
        codes::LEXICAL
    }

    fn answer(
        &self,
        command: Command,
        sources: &mut Sources,
        options: &Options,
        data: Vec<Data>,
        out: Out<'_>,
    ) -> Result<Verdict, std::fmt::Error> {
        let limits = Limits::new(options.equations, options.memory);
        let program = match resolve::resolve(sources) {
            Ok(program) => Program { limits, ..program },
            Err(diagnostics) => return Ok(Verdict::refused(without_repetitions(diagnostics))),
        };
        let too_large = too_large(&program);
        if !too_large.is_empty() {
            return Ok(Verdict::refused(without_repetitions(too_large)));
        }
        if command == Command::Run && options.node.is_some() {
            eddy_loader::set_threads(options.threads);
            let mut verdict = stream::run(&program, sources, options, data, out)?;
            verdict.diagnostics.splice(0..0, program.warnings);
            return Ok(verdict);
        }
        let mut found = Vec::new();
        let text = match command {
            Command::Check => check(&program, options.memory_report, &mut found),
            Command::Flow => flow(&program, options),
            Command::Gradcheck => gradcheck::check(&program, sources, options, data),
            Command::Diff => diff(&program, sources, options),
            Command::Plan => plan(&program, sources, options, &mut found),
            Command::Run => run(&program, &wishes(options), &mut found),
            Command::Trace if options.svg => picture(&program, options),
            Command::Trace => run(&program, &Wishes { trace: true, ..wishes(options) }, &mut found),
            Command::Ask | Command::Enum | Command::Opt | Command::Intype => {
                unreachable!("this command has no options, not even none")
            }
        };
        match text {
            Ok(text) => {
                out.write_str(&text)?;
                found.extend(warnings(&program, command, sources.main().end()));
                let diagnostics = without_repetitions(found);
                Ok(Verdict { diagnostics, ..Verdict::answered() })
            }
            Err(diagnostics) => Ok(Verdict::refused(first_ones(without_repetitions(earliest(diagnostics))))),
        }
    }

    fn trainer(
        &self,
        sources: &mut Sources,
        options: &TrainOptions,
        data: Vec<Data>,
        validation: Vec<Data>,
    ) -> Option<Result<Box<dyn Trainer>, Vec<Diagnostic>>> {
        eddy_loader::set_threads(options.threads);
        let made = resolve::resolve(sources)
            .map_err(without_repetitions)
            .map(|program| Program { limits: Limits::new(options.equations, None), ..program })
            .and_then(|program| training::trainer(program, sources, options, data, validation));
        Some(made.map(|trainer| Box::new(trainer) as Box<dyn Trainer>))
    }

    fn build(&self, sources: &mut Sources, options: &Options) -> Option<Result<Built, Vec<Diagnostic>>> {
        let limits = Limits::new(options.equations, options.memory);
        let built = resolve::resolve(sources).and_then(|program| {
            let program = Program { limits, ..program };
            let node = asked(&program, options)?;
            match node.as_slice() {
                [node] => building::build(&program, node, sources, options),
                _ => unreachable!("a node is named"),
            }
        });
        Some(built.map_err(without_repetitions))
    }

    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
        format::format(file)
    }
}

/// What is not done although the program was accepted.
fn warnings(program: &Program, command: Command, end: Span) -> Vec<Diagnostic> {
    let tree = &program.modules[Program::MAIN].tree;
    let mut warnings: Vec<Diagnostic> = program.warnings.clone();
    if matches!(command, Command::Run | Command::Trace) && tree.runs().next().is_none() {
        let title = "nothing to run: the file has no test bench";
        let warning = Diagnostic::warning(codes::NOTHING_TO_RUN, end, title)
            .help("add one, `run NODE { x: 1 2 3; }`, or name a node: `eddy run FILE --node NAME --in DATA`");
        warnings.push(warning);
    }
    if matches!(command, Command::Run | Command::Trace) {
        let has_length = |run: &&Run| {
            let is_for = |option: &RunOption| matches!(option.kind, RunOptionKind::For(_));
            run.options.iter().any(is_for)
                || run.rows.iter().any(|row| matches!(row.value, RowValue::Cells(_)))
        };
        warnings.extend(tree.runs().filter(|run| !has_length(run)).map(|run| {
            let title = "nothing to run: this test bench has no cycles";
            Diagnostic::warning(codes::NOTHING_TO_RUN, run.node.span, title)
                .help("give it a row of cells, or say how many cycles it has: `for 3`")
        }));
    }
    warnings
}

/// The pictures of all test benches.
fn picture(program: &Program, options: &Options) -> Result<String, Vec<Diagnostic>> {
    let runs = program.modules[Program::MAIN].tree.runs();
    let wishes = wishes(options);
    let charts: Vec<Chart> = runs.map(|run| runs::chart(program, run, &wishes)).collect::<Result<_, _>>()?;
    let arrows = if options.arrows { svg::Arrows::Drawn } else { svg::Arrows::Hidden };
    Ok(svg::draw(&charts, arrows))
}

/// What the command line asks of test benches.
fn wishes(options: &Options) -> Wishes {
    Wishes {
        semantics: options.engine.as_deref().map(semantics),
        trace: false,
        seed: options.seed,
        max_window: options.max_window,
        width: options.width,
    }
}

/// The semantics behind the name of an engine.
pub(crate) fn semantics(engine: &str) -> Semantics {
    match engine {
        "denote" => Semantics::Denotational,
        "kahn" => Semantics::Kahn,
        _ => Semantics::Operational,
    }
}

/// The nodes of the main file, then those that its `train`s declare.
fn declared(program: &Program) -> Vec<Callable> {
    let nodes = (0..program.nodes.len()).map(NodeId);
    let nodes = nodes.filter(|node| program.node(*node).module == Program::MAIN).map(Base::Node);
    let trains = (0..program.trains.len()).map(TrainId);
    let trains = trains.filter(|train| program.train(*train).module == Program::MAIN).map(Base::Train);
    nodes.chain(trains).map(Callable::from).collect()
}

fn check(program: &Program, memory: bool, warnings: &mut Vec<Diagnostic>) -> Result<String, Vec<Diagnostic>> {
    let (mut text, mut diagnostics) = (String::new(), Vec::new());
    for callable in declared(program) {
        match check_node(program, &callable, memory) {
            Ok((lines, found)) => {
                text.push_str(&lines);
                warnings.extend(found);
            }
            Err(mut found) => diagnostics.append(&mut found),
        }
    }
    for run in program.modules[Program::MAIN].tree.runs() {
        if let Err(mut found) = runs::check(program, run) {
            diagnostics.append(&mut found);
        }
    }
    if diagnostics.is_empty() { Ok(text) } else { Err(diagnostics) }
}

/// The node that is named, or all that need no constants.
fn asked(program: &Program, options: &Options) -> Result<Vec<Callable>, Vec<Diagnostic>> {
    match &options.node {
        Some(name) => Ok(vec![program.find_named(name).map_err(|diagnostic| vec![*diagnostic])?]),
        None => {
            let needs_constants = |callable: &Callable| {
                program.node(program.origin(callable.base)).static_inputs().next().is_some()
            };
            Ok(declared(program).into_iter().filter(|callable| !needs_constants(callable)).collect())
        }
    }
}

/// How nodes will run.
fn plan(
    program: &Program,
    sources: &mut Sources,
    options: &Options,
    warnings: &mut Vec<Diagnostic>,
) -> Result<String, Vec<Diagnostic>> {
    let nodes = asked(program, options)?;
    let (text, mut found) = planning::plan(program, &nodes, sources, options)?;
    warnings.append(&mut found);
    Ok(text)
}

/// The equations of one node, or of every node that needs no constants.
fn flow(program: &Program, options: &Options) -> Result<String, Vec<Diagnostic>> {
    let nodes = asked(program, options)?;
    let (mut text, mut diagnostics) = (String::new(), Vec::new());
    for node in nodes {
        let prepared = match prepare(program, &node, &Given::default(), |_| Hints::default(), Checks::On) {
            Ok(prepared) => prepared,
            Err(mut found) => {
                diagnostics.append(&mut found);
                continue;
            }
        };
        let name = program.name_of(&node);
        text.extend(["-- ", name.as_str(), "\n"]);
        let (flow, clocks) = (&prepared.flow, &prepared.clocks);
        text.push_str(&print(flow, |var, name| Some(clocks.show(flow, clocks.of(var), &name))));
    }
    if diagnostics.is_empty() { Ok(text) } else { Err(diagnostics) }
}

/// The training code of a node.
fn diff(program: &Program, sources: &mut Sources, options: &Options) -> Result<String, Vec<Diagnostic>> {
    let name = options.node.as_deref().expect("a node is named");
    let callable = program.find_named(name).map_err(|diagnostic| vec![*diagnostic])?;
    let told = Told::read(program, &callable, sources, &options.constants, &options.shapes)?;
    let (constants, shapes) = (told.constants, told.shapes);
    let wish = Wish { constants, shapes, dense: options.dense, finite: options.finite };
    printed::print(program, &callable, &wish)
}

/// What all test benches print.
fn run(
    program: &Program,
    wishes: &Wishes,
    warnings: &mut Vec<Diagnostic>,
) -> Result<String, Vec<Diagnostic>> {
    let runs = || program.modules[Program::MAIN].tree.runs();
    let mut text = String::new();
    let printed = runs().try_for_each(|run| {
        let (lines, found) = runs::execute(program, run, wishes)?;
        text.push_str(&lines);
        warnings.extend(found);
        Ok(())
    });
    printed.map(|()| text).map_err(|mut diagnostics: Vec<Diagnostic>| {
        // Another test bench may be wrong before anything runs, which is told first.
        diagnostics.extend(runs().filter_map(|run| runs::check(program, run).err()).flatten());
        diagnostics
    })
}
