//! The language as the command line sees it.

use eddy_language::{Command, Data, Language, OptionName, Options, Out, Status, Verdict};
use eddy_syntax::explain::Page;
use eddy_syntax::{Code, Diagnostic, SourceFile, Sources, Span};

use crate::engine::{self, Engine, Report};
use crate::outcome::{Limits, Outcome, Stop};
use crate::syntax::Program;
use crate::trace::{self, Show};
use crate::{codes, format, typing};

/// The language of `.pb` files.
#[derive(Clone, Copy, Debug)]
pub struct Pullback;

const ENGINES: [&str; 3] = ["fast", "reference", "translation"];

impl Language for Pullback {
    fn name(&self) -> &'static str {
        "pullback"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pb"]
    }

    fn engines(&self) -> &'static [&'static str] {
        &ENGINES
    }

    fn options(&self, command: Command) -> Option<&'static [OptionName]> {
        use OptionName::{Cps, Engine, Fuel, Memory, Paper, States};
        match command {
            Command::Check => Some(&[]),
            Command::Run => Some(&[Engine, Fuel, Memory]),
            // Only the reference engine has traces.
            Command::Trace => Some(&[Fuel, Memory, Cps, Paper, States]),
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
        let program = match typing::check(file) {
            Ok(program) => program,
            Err(diagnostics) => return Ok(Verdict::refused(diagnostics)),
        };
        if command != Command::Check && program.main.is_none() {
            return Ok(Verdict::refused(vec![no_main(file, command)]));
        }
        match command {
            Command::Check => {
                match program.show_type() {
                    Some(ty) => writeln!(out, "ok : {ty}")?,
                    None => writeln!(out, "ok")?,
                }
                Ok(Verdict::answered())
            }
            Command::Run => {
                let report = engine::run(&program, chosen_engine(options), limits(options));
                if let Some(line) = report.line() {
                    writeln!(out, "{line}")?;
                }
                Ok(verdict(&program, file, &report))
            }
            Command::Trace => {
                let show = Show { cps: options.cps, paper: options.paper, states: options.states };
                // A program that turns out to be refused has no answer, not even half of one: the lines wait.
                let mut lines = String::new();
                let report = trace::trace(&program, limits(options), show, &mut lines)?;
                let verdict = verdict(&program, file, &report);
                if verdict.status != Status::Refused {
                    out.write_str(&lines)?;
                }
                Ok(verdict)
            }
            _ => {
                unreachable!("this command has no options, not even none")
            }
        }
    }

    fn show_stats(&self, stats: &[(&'static str, u64)]) -> String {
        let shown: Vec<String> = stats.iter().map(|(name, value)| format!("{name}={value}")).collect();
        shown.join(" ") + "\n"
    }

    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
        format::format(file)
    }
}

fn no_main(file: &SourceFile, command: Command) -> Diagnostic {
    let title = format!("no main expression: there is nothing to {}", command.name());
    Diagnostic::error(codes::NO_MAIN, file.end(), title)
        .label("the file ends here")
        .help("write an expression after the declarations, such as a call of one of them")
}

fn chosen_engine(options: &Options) -> Engine {
    let name = options.engine.as_deref().unwrap_or(Engine::ALL[0].name());
    Engine::ALL.into_iter().find(|engine| engine.name() == name).expect("the command line knows the engines")
}

fn limits(options: &Options) -> Limits {
    let default = Limits::default();
    Limits { fuel: options.fuel.unwrap_or(default.fuel), memory: options.memory.unwrap_or(default.memory) }
}

fn verdict(program: &Program, file: &SourceFile, report: &Report) -> Verdict {
    let counters = report.counters;
    let stats = vec![
        ("primal_ops", counters.primal_ops),
        ("total_ops", counters.total_ops),
        ("steps", counters.steps),
        ("bytes", counters.bytes),
    ];
    match &report.outcome {
        Outcome::Stopped(stop) => {
            // Decision: the common rules keep 3 for runs that are out of fuel; what is outside of its domain is refused, as this language's
            // specification says.
            let status = if let Stop::Domain(_) = stop { Status::Refused } else { Status::NoValue };
            Verdict { status, diagnostics: vec![stopped(program, file, report, stop)], stats }
        }
        Outcome::Value(_) | Outcome::Open(_) => {
            Verdict { status: Status::Answered, diagnostics: Vec::new(), stats }
        }
    }
}

/// Why there is no value.
fn stopped(program: &Program, file: &SourceFile, report: &Report, stop: &Stop) -> Diagnostic {
    let at = |term| program.place(term).unwrap_or(Span::new(file.base(), file.base()));
    let whole = at(None);
    match stop {
        Stop::Domain(undefined) => {
            let title = format!("outside of the domain: {} is not a finite number", undefined.what);
            Diagnostic::error(codes::DOMAIN, at(undefined.at), title)
                .label("in the value or the derivative of this")
                .reason("a primitive, or its derivative, is asked for a value where it has none")
        }
        Stop::OutOfFuel => {
            let title = format!("out of fuel after {} steps", report.limits.fuel);
            Diagnostic::error(codes::FUEL, whole, title).help("give it more with `--fuel N`")
        }
        Stop::OutOfMemory => {
            let title = format!("out of fuel: the run needs more than {} MiB", report.limits.memory >> 20);
            Diagnostic::error(codes::FUEL, whole, title).help("give it more with `--memory MIB`")
        }
    }
}
