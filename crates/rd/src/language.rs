//! The language as the command line sees it.

use eddy_language::{Command, Data, Language, OptionName, Options, Out, Status, Verdict};
use eddy_syntax::explain::Page;
use eddy_syntax::{Code, Diagnostic, SourceFile, Sources};

use crate::engine::{self, Engine, Report};
use crate::outcome::{Limits, Outcome};
use crate::surface::{ExprKind, Recursion};
use crate::syntax::Program;
use crate::trace::{self, Show};
use crate::transform::{self, Obstacle};
use crate::{codes, format, parse, typing};

/// The language of `.rd` files.
#[derive(Clone, Copy, Debug)]
pub struct Rd;

const ENGINES: [&str; 3] = ["tape", "reference", "transform"];

impl Language for Rd {
    fn name(&self) -> &'static str {
        "rd"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["rd"]
    }

    fn engines(&self) -> &'static [&'static str] {
        &ENGINES
    }

    fn options(&self, command: Command) -> Option<&'static [OptionName]> {
        use OptionName::{Approx, Engine, Fuel, Literal, Memory, Rules};
        match command {
            Command::Check => Some(&[]),
            Command::Run => Some(&[Engine, Fuel, Memory, Approx]),
            // Only the reference engine has traces.
            Command::Trace => Some(&[Fuel, Memory, Approx, Literal, Rules]),
            _ => None,
        }
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
        _data: Vec<Data>,
        out: Out<'_>,
    ) -> Result<Verdict, std::fmt::Error> {
        let file = sources.main();
        let program = match prepare(file, options) {
            Ok(program) => program,
            Err(diagnostics) => return Ok(Verdict::refused(diagnostics)),
        };
        match command {
            Command::Check => {
                writeln!(out, "{}", program.terms.types.show(program.terms.ty(program.main)))?;
                Ok(Verdict::answered())
            }
            Command::Run => run(file, &program, options, out),
            Command::Trace => {
                let show = Show { rules: options.rules, literal: options.literal };
                let report = trace::trace(&program, limits(options), show, out)?;
                Ok(verdict(&report))
            }
            _ => {
                unreachable!("this command has no options, not even none")
            }
        }
    }

    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
        format::format(file)
    }
}

/// Checks a program and replaces recursion by its approximant where that is asked for.
fn prepare(file: &SourceFile, options: &Options) -> Result<Program, Vec<Diagnostic>> {
    let mut program = typing::check(file)?;
    if let Some(limit) = options.approx {
        program.terms.approximate(limit);
    }
    Ok(program)
}

fn run(
    file: &SourceFile,
    program: &Program,
    options: &Options,
    out: Out<'_>,
) -> Result<Verdict, std::fmt::Error> {
    let engine = chosen_engine(options);
    if engine == Engine::Transform
        && let Some(obstacle) = transform::obstacle(program)
    {
        return Ok(Verdict::refused(vec![cannot_transform(file, obstacle)]));
    }
    let report = engine::run(program, engine, limits(options));
    writeln!(out, "{}", report.line())?;
    Ok(verdict(&report))
}

/// The refusal of the source transformation, at the definition or directive that it cannot handle.
fn cannot_transform(file: &SourceFile, obstacle: Obstacle) -> Diagnostic {
    let program = parse::parse(file).program;
    let help = "run it with `--engine tape`, which handles every program";
    if obstacle == Obstacle::Clarke {
        let span = program.directives.first().expect("the program says `use clarke`").span;
        let title = "a derivative under `use clarke` cannot be transformed";
        return Diagnostic::error(codes::TRANSFORM, span, title)
            .reason("the choice at a tie would have to be repeated wherever the tie is computed again")
            .help(help);
    }
    let heads = program.exprs.ids().filter_map(|id| match program.exprs.kind(id) {
        ExprKind::Function(head, ..) => Some(head),
        _ => None,
    });
    // Without a limit of its own, a function is limited by `--approx`.
    let limited = heads.max_by_key(|head| matches!(head.recursion, Recursion::Limited(_)));
    let span = limited.expect("only functions have limits").ident.span;
    Diagnostic::error(codes::TRANSFORM, span, "letrec[n] cannot be transformed")
        .label("the recursion of this function is limited")
        .reason("its reverse would need the function itself at limit n-1")
        .help(help)
}

fn chosen_engine(options: &Options) -> Engine {
    let name = options.engine.as_deref().unwrap_or(Engine::ALL[0].name());
    Engine::ALL.into_iter().find(|engine| engine.name() == name).expect("the command line knows the engines")
}

fn limits(options: &Options) -> Limits {
    let default = Limits::default();
    Limits { fuel: options.fuel.unwrap_or(default.fuel), memory: options.memory.unwrap_or(default.memory) }
}

fn verdict(report: &Report) -> Verdict {
    let status = match report.outcome {
        Outcome::Value(_) | Outcome::Interval(..) => Status::Answered,
        Outcome::Undefined(_) | Outcome::Diverged | Outcome::OutOfMemory => Status::NoValue,
    };
    let counters = report.counters;
    let stats = vec![("calls", counters.calls), ("recorded", counters.recorded), ("bytes", counters.bytes)];
    Verdict { status, diagnostics: Vec::new(), stats }
}
