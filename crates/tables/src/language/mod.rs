//! The three languages as the command line sees them.

mod questions;

use eddy_language::{Command, Data, Language, OptionName, Options, Out, Status, Verdict};
use eddy_syntax::explain::Page;
use eddy_syntax::{Code, Diagnostic, SourceFile, Sources};

use crate::dialect::Dialect;
use crate::run::{Failure, Limits, Shown, Stuck, run};
use crate::syntax::Program;
use crate::{codes, format, trace, typing};

/// One of the three languages.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    dialect: Dialect,
}

/// The language of `.lam` files.
pub const LAM: Tables = Tables { dialect: Dialect::Lambda };
/// The language of `.sysf` files.
pub const SYSF: Tables = Tables { dialect: Dialect::SystemF };
/// The language of `.ref` files.
pub const REF: Tables = Tables { dialect: Dialect::References };

impl Language for Tables {
    fn name(&self) -> &'static str {
        self.dialect.name()
    }

    fn extensions(&self) -> &'static [&'static str] {
        match self.dialect {
            Dialect::Lambda => &["lam"],
            Dialect::SystemF => &["sysf"],
            Dialect::References => &["ref"],
        }
    }

    fn engines(&self) -> &'static [&'static str] {
        &["closures"]
    }

    fn options(&self, command: Command) -> Option<&'static [OptionName]> {
        use OptionName::{Depth, Derivation, Engine, Fuel, Ints, Memory, Size, Steps, Tables, Type, Value};
        match command {
            Command::Check => Some(&[]),
            Command::Run => Some(&[Engine, Fuel, Memory]),
            Command::Trace => Some(&[Fuel, Memory]),
            Command::Ask => Some(&[Value, Type, Derivation, Tables, Fuel, Steps, Memory]),
            Command::Enum => Some(&[Size, Ints, Fuel, Steps, Memory]),
            Command::Opt => Some(&[Depth]),
            Command::Intype => Some(&[Value, Fuel]),
            Command::Flow | Command::Gradcheck | Command::Diff | Command::Plan => None,
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
        let program = match typing::check(sources.main(), self.dialect) {
            Ok(program) => program,
            Err(diagnostics) => return Ok(Verdict::refused(diagnostics)),
        };
        match command {
            Command::Check => check(&program, out),
            Command::Run => run_program(&program, options, out),
            Command::Trace => trace_program(&program, options, out),
            Command::Ask => questions::ask(&program, sources, options, out),
            Command::Enum => questions::enumerate(&program, options, out),
            Command::Opt => questions::optimise(&program, options, out),
            Command::Intype => questions::intype(&program, sources, options, out),
            Command::Flow | Command::Gradcheck | Command::Diff | Command::Plan => {
                unreachable!("this command has no options, not even none")
            }
        }
    }

    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
        format::format(file, self.dialect)
    }
}

/// The type of a program; a program without types is in order.
fn check(program: &Program, out: Out<'_>) -> Result<Verdict, std::fmt::Error> {
    match program.ty {
        Some(ty) => writeln!(out, "{}", program.types.show(ty))?,
        None => writeln!(out, "ok")?,
    }
    Ok(Verdict::answered())
}

fn run_program(program: &Program, options: &Options, out: Out<'_>) -> Result<Verdict, std::fmt::Error> {
    let (outcome, counters) = run(program, limits(options, Limits::default().fuel));
    let mut verdict = match outcome {
        Ok(Shown(value)) => {
            match program.ty {
                Some(ty) => writeln!(out, "{value} : {}", program.types.show(ty))?,
                None => writeln!(out, "{value}")?,
            }
            Verdict::answered()
        }
        Err(failure) => no_value(program, failure),
    };
    verdict.stats = vec![
        ("applications", counters.applications),
        ("deepest stack", counters.deepest),
        ("addresses", counters.addresses),
    ];
    Ok(verdict)
}

fn trace_program(program: &Program, options: &Options, out: Out<'_>) -> Result<Verdict, std::fmt::Error> {
    // A program without a value has no trace; to know, it is run first.
    let steps = match trace::steps(program, limits(options, trace::DEFAULT_STEPS)) {
        Ok(steps) => steps,
        Err(failure) => return Ok(no_value(program, failure)),
    };
    trace::write(program, out)?;
    let mut verdict = Verdict::answered();
    verdict.stats = vec![("steps", steps)];
    Ok(verdict)
}

fn limits(options: &Options, fuel: u64) -> Limits {
    let default = Limits::default();
    Limits { fuel: options.fuel.unwrap_or(fuel), memory: options.memory.unwrap_or(default.memory) }
}

/// The program was run and has no value.
fn no_value(program: &Program, failure: Failure) -> Verdict {
    let main = program.terms.span(program.main);
    let diagnostic = match failure {
        Failure::Stuck(span, why) => {
            let diagnostic = Diagnostic::error(codes::STUCK, span, format!("stuck: {why}"));
            diagnostic.label(if why == Stuck::Zero {
                "the divisor is 0 here"
            } else {
                "no rule applies to this"
            })
        }
        Failure::Fuel(fuel) => {
            Diagnostic::error(codes::FUEL, main, format!("out of fuel after {fuel} applications or steps"))
                .label("this was still running")
                .help("give it more with `--fuel N`, if it ends at all")
        }
        Failure::Memory(bytes) => Diagnostic::error(
            codes::FUEL,
            main,
            format!("out of fuel: more than {} MiB of memory", bytes >> 20),
        )
        .label("in this run")
        .help("give it more with `--memory MIB`"),
        Failure::TooLarge(span) => {
            let title = "out of fuel: an integer has more than five million digits";
            Diagnostic::error(codes::FUEL, span, title).label("this is computed here")
        }
    };
    Verdict { status: Status::NoValue, diagnostics: vec![diagnostic], stats: Vec::new() }
}
