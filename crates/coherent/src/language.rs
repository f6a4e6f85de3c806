//! The language as the command line sees it.

use std::collections::BTreeSet;

use eddy_language::{Command, Data, Language, OptionName, Options, Out, Status, Verdict};
use eddy_syntax::explain::Page;
use eddy_syntax::{Code, Diagnostic, SourceFile, Sources, Span};

use crate::engine::{self, Engine, MAX_LEVELS, Obstacle};
use crate::krivine::step::RULES;
use crate::outcome::{DEFAULT_COINS, Limits, Outcome, Shortage};
use crate::relation::store::Store;
use crate::relation::{self, Answer, Bounds, Cut};
use crate::syntax::Program;
use crate::trace::{self, Show, Summary};
use crate::{codes, format, parse, typing};

/// The language of `.cd` files.
#[derive(Clone, Copy, Debug)]
pub struct Coherent;

const ENGINES: [&str; 3] = ["env", "det", "nd"];

impl Language for Coherent {
    fn name(&self) -> &'static str {
        "coherent"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["cd"]
    }

    fn engines(&self) -> &'static [&'static str] {
        &ENGINES
    }

    fn options(&self, command: Command) -> Option<&'static [OptionName]> {
        use OptionName::{Coins, Copies, Engine, From, Fuel, Limit, Memory, Point, Terms, To, Unfold};
        match command {
            Command::Check => Some(&[]),
            Command::Run => Some(&[Engine, Fuel, Memory, Coins]),
            Command::Trace => Some(&[Fuel, Memory, From, To, Limit, Terms]),
            Command::Ask => Some(&[Point, Fuel, Memory, Copies, Unfold]),
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
        match command {
            Command::Check => check(&program, out),
            Command::Run => run(file, &program, options, out),
            Command::Trace => trace(file, &program, options, out),
            Command::Ask => ask(file, &program, options, out),
            _ => {
                unreachable!("this command has no options, not even none")
            }
        }
    }

    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
        format::format(file)
    }
}

fn check(program: &Program, out: Out<'_>) -> Result<Verdict, std::fmt::Error> {
    let terms = &program.terms;
    for definition in &program.definitions {
        writeln!(out, "{} : {}", terms.names.text(definition.name), terms.types.show(definition.ty))?;
    }
    writeln!(out, "main : {}", terms.types.show(program.ty))?;
    Ok(Verdict::answered())
}

fn run(
    file: &SourceFile,
    program: &Program,
    options: &Options,
    out: Out<'_>,
) -> Result<Verdict, std::fmt::Error> {
    let name = options.engine.as_deref().unwrap_or(Engine::ALL[0].name());
    let engine = Engine::ALL
        .into_iter()
        .find(|engine| engine.name() == name)
        .expect("the command line knows the engines");
    if let Some(obstacle) = engine::obstacle(program, engine) {
        return Ok(Verdict::refused(vec![cannot_run(file, program, obstacle)]));
    }
    let coins = options.coins.or(program.coins).unwrap_or(DEFAULT_COINS);
    let (lines, counters) = engine::run(program, engine, limits(program, options), coins);
    let mut verdict = match lines {
        Ok(lines) => {
            write!(out, "{lines}")?;
            Verdict::answered()
        }
        Err(shortage) => stopped(file, shortage),
    };
    verdict.stats = vec![("steps", counters.steps), ("cells", counters.cells)];
    Ok(verdict)
}

fn trace(
    file: &SourceFile,
    program: &Program,
    options: &Options,
    out: Out<'_>,
) -> Result<Verdict, std::fmt::Error> {
    let refuse = |title: &str, help: &str| {
        let diagnostic = Diagnostic::error(codes::RUN, main_span(file), title).help(help);
        Ok(Verdict::refused(vec![diagnostic]))
    };
    if program.ty != crate::types::Type::NAT {
        let title = format!(
            "only terms of type `nat` are traced, and this is `{}`",
            program.terms.types.show_briefly(program.ty)
        );
        return refuse(&title, "choose a leaf: `pi0 M` or `pi1 M` of a pair, an application of a function");
    }
    if program.has_coins() {
        return refuse(
            "a program with coins is not one run, and has no trace",
            "put numbers in the place of coins",
        );
    }
    let limits = limits(program, options);
    let wanted = Show { from: options.from, to: options.to, limit: options.limit, terms: options.terms };
    // A run that does not end has no trace, unless a part of it is asked for; to know, it is run first.
    if !wanted.is_part()
        && let Outcome::Short(shortage) = crate::krivine::det::run(program, &[], limits).outcome
    {
        return Ok(stopped(file, shortage));
    }
    let summary = trace::trace(program, limits, wanted, out)?;
    let mut verdict = Verdict::answered();
    if let Outcome::Short(shortage) = summary.outcome {
        writeln!(out, "stopped: {shortage}")?;
        verdict.status = Status::NoValue;
    }
    verdict.stats = stats(&summary);
    Ok(verdict)
}

fn stats(summary: &Summary) -> Vec<(&'static str, u64)> {
    let rules = RULES.into_iter().zip(summary.rules).filter(|(_, times)| *times > 0);
    let totals = [("steps", summary.steps), ("cells", summary.cells), ("deepest stack", summary.deepest)];
    totals.into_iter().chain(rules).collect()
}

fn ask(
    file: &SourceFile,
    program: &Program,
    options: &Options,
    out: Out<'_>,
) -> Result<Verdict, std::fmt::Error> {
    let text = options.point.as_deref().unwrap_or_default();
    let types = &program.terms.types;
    if let Err(wrong) = relation::point::parse(text, types, program.ty, &mut Store::default()) {
        let (before, after) = text.split_at(wrong.at);
        let ty = types.show_briefly(program.ty);
        let place = if before.is_empty() { String::new() } else { format!("after `{before}` ") };
        let title = format!("`{text}` is no point of `{ty}`: {place}expected {}", wrong.expected);
        let found = if after.is_empty() { "the end".to_string() } else { format!("`{after}`") };
        let diagnostic = Diagnostic::error(codes::RUN, main_span(file), title)
            .label(format!("this is `{ty}`"))
            .reason(format!("found {found}"))
            .help("a point is a number, `01:3` for a leaf, `[0, 0] -> 3` for a function that uses its argument twice");
        return Ok(Verdict::refused(vec![diagnostic]));
    }
    let default = Bounds::default();
    let bounds = Bounds {
        copies: options.copies.unwrap_or(default.copies),
        unfold: options.unfold.unwrap_or(default.unfold),
        work: options.fuel.unwrap_or(default.work),
        memory: options.memory.unwrap_or(default.memory),
    };
    let (answer, work) = relation::ask(program, bounds, |store| {
        relation::point::parse(text, types, program.ty, store).expect("it was read before")
    });
    let mut verdict = Verdict::answered();
    match answer {
        Answer::Yes(found) => {
            writeln!(out, "yes")?;
            relation::derivation::write(&found, &program.terms, out)?;
        }
        Answer::No => writeln!(out, "no")?,
        Answer::Unknown(cuts) => {
            writeln!(out, "unknown")?;
            verdict.diagnostics.push(not_searched(file, bounds, &cuts));
        }
    }
    verdict.stats = vec![("goals", work)];
    Ok(verdict)
}

/// No derivation was found, and not everything was searched.
fn not_searched(file: &SourceFile, bounds: Bounds, cuts: &BTreeSet<Cut>) -> Diagnostic {
    let said = cuts.iter().map(|cut| match cut {
        Cut::Copies => {
            format!("a multiset that must be guessed has at most the size {} (`--copies`)", bounds.copies)
        }
        Cut::Unfold => {
            format!("a recursion is unfolded inside itself down to the depth {} (`--unfold`)", bounds.unfold)
        }
        Cut::Work => format!("the number of goals that are looked at is {} (`--fuel`)", bounds.work),
        Cut::Memory => format!("the search may take {} MiB (`--memory`)", bounds.memory >> 20),
    });
    Diagnostic::warning(codes::FUEL, main_span(file), "not everything was searched")
        .label("this may have the point, or not")
        .reason(said.collect::<Vec<_>>().join("; "))
        .help("give the search more room")
}

fn limits(program: &Program, options: &Options) -> Limits {
    let default = Limits::default();
    Limits {
        fuel: options.fuel.or(program.fuel).unwrap_or(default.fuel),
        memory: options.memory.unwrap_or(default.memory),
    }
}

/// The run was stopped, which is no mistake of the program: its value is not known.
fn stopped(file: &SourceFile, shortage: Shortage) -> Verdict {
    let diagnostic = Diagnostic::error(codes::FUEL, main_span(file), shortage.to_string());
    let diagnostic = match shortage {
        Shortage::Fuel(_) => diagnostic
            .label("this was still running")
            .help("give it more with `--fuel N` or `pragma fuel N;`, if it ends at all"),
        Shortage::Memory(_) => diagnostic.label("in this run").help("give it more with `--memory MIB`"),
        Shortage::Overflow => diagnostic.label("in this run").reason("numbers have 64 bits"),
    };
    Verdict { status: Status::NoValue, diagnostics: vec![diagnostic], stats: Vec::new() }
}

fn cannot_run(file: &SourceFile, program: &Program, obstacle: Obstacle) -> Diagnostic {
    let ty = program.terms.types.show_briefly(program.ty);
    let error = |title: String| {
        Diagnostic::error(codes::RUN, main_span(file), title).label(format!("this is `{ty}`"))
    };
    match obstacle {
        Obstacle::Function => error(format!("a function cannot be run, and this is `{ty}`"))
            .help("apply it to its arguments; `eddy check` tells its type"),
        Obstacle::Leaves => {
            let leaves = format!("2^{}", program.ty.depth);
            error(format!("`{ty}` has {leaves} leaves, and at most 2^{MAX_LEVELS} are run"))
                .help("choose some of them with `pi0` and `pi1`")
        }
        Obstacle::Coins => error("the nd machine has no rule for coins".to_string())
            .help("run it with `--engine det` or `--engine env`"),
    }
}

/// Where the term of a program stands.
fn main_span(file: &SourceFile) -> Span {
    let program = parse::parse(file).program;
    program.exprs.span(program.main)
}
