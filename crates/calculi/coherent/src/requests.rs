//! The requests about a program, and their answers.
//!
//! A request is plain data with a method `answer`. For a rejected program, the answer is its diagnostics.
//! Answers are data too, and print as `eddy` shows them.
//!
//! ```
//! use eddy_coherent::relation::Answer;
//! use eddy_coherent::requests::{Ask, Check};
//! use eddy_syntax::SourceFile;
//!
//! let file = SourceFile::new("twice.cd", "\\x:nat. if x then x else 7");
//! assert_eq!(Check.answer(&file).unwrap().to_string(), "main : nat -> nat");
//! let asked = Ask { point: "[0, 0] -> 0".to_string(), ..Ask::default() }.answer(&file).unwrap();
//! assert!(matches!(asked.answer, Answer::Yes(_)));
//! ```

use std::collections::BTreeSet;
use std::fmt;

use eddy_syntax::{Diagnostic, SourceFile, Span};

use crate::engine::{self, Counters, Engine, Leaves, MAX_LEVELS, NotRunnable};
use crate::krivine::det;
use crate::outcome::{DEFAULT_COINS, ExhaustedLimit, Limits, Outcome};
use crate::relation::point::PointSyntaxError;
use crate::relation::store::Store;
use crate::relation::{self, Answer, Bounds, Cut};
use crate::syntax::Program;
use crate::trace::{Steps, TraceOptions};
use crate::types::Type;
use crate::{codes, parse, typing};

/// What are the types of the program and its definitions?
#[derive(Clone, Copy, Debug, Default)]
pub struct Check;

/// Which values are at the leaves of the program? A missing limit comes from the program's pragma, or is the
/// default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    /// The machine.
    pub engine: Engine,
    /// The largest number of steps, for each leaf and each path of coins.
    pub fuel: Option<u64>,
    /// The largest number of bytes.
    pub memory: Option<u64>,
    /// The largest number of coins on a path.
    pub coins: Option<u64>,
}

/// Which values are at the leaves, on each machine that can run the program? Limits are those of [`Run`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Compare {
    /// The largest number of steps, for each leaf and each path of coins.
    pub fuel: Option<u64>,
    /// The largest number of bytes.
    pub memory: Option<u64>,
}

/// Which steps does the deterministic machine make?
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace {
    /// Which steps to show, and how.
    pub show: TraceOptions,
    /// The largest number of steps.
    pub fuel: Option<u64>,
    /// The largest number of bytes.
    pub memory: Option<u64>,
}

/// Does the program have this point?
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// The point, as text.
    pub point: String,
    /// The bounds of the search.
    pub bounds: Bounds,
}

/// A program that is well typed. It prints as a line `NAME : TYPE` for each definition and for the program
/// itself.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The program, as core terms.
    pub program: Program,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The leaves, or the exhausted limit. They print as `run` shows them; nothing if the run was stopped.
    pub leaves: Result<Leaves, ExhaustedLimit>,
    /// The counters of the run.
    pub counters: Counters,
    /// Why there is no value, if there is none.
    pub diagnostic: Option<Diagnostic>,
}

/// The answers of the machines.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The machines by their names, the default first.
    pub runs: Vec<(&'static str, Ran)>,
}

/// The steps of a run.
#[derive(Clone, Debug)]
pub struct Traced {
    /// An iterator over the steps. A run that does not end has no trace, unless a part of it is requested.
    pub steps: Result<Steps, ExhaustedLimit>,
    /// Why there is no trace, if there is none.
    pub diagnostic: Option<Diagnostic>,
}

/// Whether the program has the point. It prints as `yes` with the derivation, `no` or `unknown`.
#[derive(Clone, Debug)]
pub struct Asked {
    pub answer: Answer,
    /// The number of examined goals.
    pub goals: u64,
    /// The part that was not searched, if the answer is unknown.
    pub diagnostic: Option<Diagnostic>,
    program: Program,
}

impl Check {
    /// The program with its types.
    pub fn answer(self, file: &SourceFile) -> Result<Checked, Vec<Diagnostic>> {
        Ok(Checked { program: typing::check(file)? })
    }
}

impl Run {
    /// The leaves, or why there are none.
    pub fn answer(self, file: &SourceFile) -> Result<Ran, Vec<Diagnostic>> {
        let program = typing::check(file)?;
        if let Some(not_runnable) = engine::not_runnable(&program, self.engine) {
            return Err(vec![cannot_run(file, &program, not_runnable)]);
        }
        Ok(self.of(file, &program))
    }

    /// The run of a program that the machine can run.
    fn of(self, file: &SourceFile, program: &Program) -> Ran {
        let coins = self.coins.or(program.coins).unwrap_or(DEFAULT_COINS);
        let limits = limits(program, self.fuel, self.memory);
        let (leaves, counters) = engine::run(program, self.engine, limits, coins);
        let diagnostic = leaves.as_ref().err().map(|exhausted| stopped(file, *exhausted));
        Ran { leaves, counters, diagnostic }
    }
}

impl Compare {
    /// The result of each machine that can run the program.
    pub fn answer(self, file: &SourceFile) -> Result<Compared, Vec<Diagnostic>> {
        let program = typing::check(file)?;
        if let Some(not_runnable) = engine::not_runnable(&program, Engine::default()) {
            return Err(vec![cannot_run(file, &program, not_runnable)]);
        }
        let machines =
            Engine::ALL.into_iter().filter(|engine| engine::not_runnable(&program, *engine).is_none());
        let run = |engine: Engine| {
            let run = Run { engine, fuel: self.fuel, memory: self.memory, coins: None };
            (engine.name(), run.of(file, &program))
        };
        Ok(Compared { runs: machines.map(run).collect() })
    }
}

impl Trace {
    /// The steps; each is computed on demand.
    pub fn answer(self, file: &SourceFile) -> Result<Traced, Vec<Diagnostic>> {
        let program = typing::check(file)?;
        if let Some(diagnostic) = cannot_trace(file, &program) {
            return Err(vec![diagnostic]);
        }
        let limits = limits(&program, self.fuel, self.memory);
        // Only a run shows whether the program ends, so it is run before it is traced.
        if !self.show.is_part()
            && let Outcome::Exhausted(exhausted) = det::run(&program, &[], limits).outcome
        {
            return Ok(Traced { steps: Err(exhausted), diagnostic: Some(stopped(file, exhausted)) });
        }
        Ok(Traced { steps: Ok(Steps::new(&program, limits, self.show)), diagnostic: None })
    }
}

impl Ask {
    /// Whether the program has the point, and why.
    pub fn answer(&self, file: &SourceFile) -> Result<Asked, Vec<Diagnostic>> {
        let program = typing::check(file)?;
        let types = &program.terms.types;
        let read = |store: &mut Store| relation::point::parse(&self.point, types, program.ty, store);
        if let Err(wrong) = read(&mut Store::default()) {
            return Err(vec![no_point(file, &program, &self.point, &wrong)]);
        }
        let (answer, goals) =
            relation::ask(&program, self.bounds, |store| read(store).expect("it was read before"));
        let diagnostic = match &answer {
            Answer::Unknown(cuts) => Some(not_searched(file, self.bounds, cuts)),
            Answer::Yes(_) | Answer::No => None,
        };
        Ok(Asked { answer, goals, diagnostic, program })
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = &self.program.terms;
        for definition in &self.program.definitions {
            writeln!(f, "{} : {}", terms.names.text(definition.name), terms.types.show(definition.ty))?;
        }
        write!(f, "main : {}", terms.types.show(self.program.ty))
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.leaves.as_ref().map_or(Ok(()), |leaves| leaves.fmt(f))
    }
}

impl Asked {
    /// Why the answer is yes: a judgement on each line, with its premises below it and indented.
    pub fn derivation(&self) -> Option<String> {
        let Answer::Yes(found) = &self.answer else { return None };
        let mut text = String::new();
        relation::derivation::write(found, &self.program.terms, &mut text)
            .expect("a string takes all that is written");
        Some(text.trim_end().to_string())
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.answer {
            Answer::Yes(_) => "yes",
            Answer::No => "no",
            Answer::Unknown(_) => "unknown",
        })?;
        self.derivation().map_or(Ok(()), |derivation| write!(f, "\n{derivation}"))
    }
}

fn limits(program: &Program, fuel: Option<u64>, memory: Option<u64>) -> Limits {
    let default = Limits::default();
    Limits { fuel: fuel.or(program.fuel).unwrap_or(default.fuel), memory: memory.unwrap_or(default.memory) }
}

/// The run was stopped. This is not an error in the program; its value is unknown.
fn stopped(file: &SourceFile, exhausted: ExhaustedLimit) -> Diagnostic {
    let diagnostic = Diagnostic::error(codes::FUEL, main_span(file), exhausted.to_string());
    match exhausted {
        ExhaustedLimit::Fuel(_) => diagnostic
            .label("this was still running")
            .help("give it more with `--fuel N` or `pragma fuel N;`, if it ends at all"),
        ExhaustedLimit::Memory(_) => diagnostic.label("in this run").help("give it more with `--memory MIB`"),
        ExhaustedLimit::Overflow => diagnostic.label("in this run").reason("numbers have 64 bits"),
    }
}

fn cannot_run(file: &SourceFile, program: &Program, not_runnable: NotRunnable) -> Diagnostic {
    let ty = program.terms.types.show_briefly(program.ty);
    let error = |title: String| {
        Diagnostic::error(codes::RUN, main_span(file), title).label(format!("this is `{ty}`"))
    };
    match not_runnable {
        NotRunnable::Function => error(format!("a function cannot be run, and this is `{ty}`"))
            .help("apply it to its arguments; `eddy check` prints its type"),
        NotRunnable::Leaves => {
            let leaves = format!("2^{}", program.ty.depth);
            error(format!("`{ty}` has {leaves} leaves, and at most 2^{MAX_LEVELS} are run"))
                .help("choose some of them with `pi0` and `pi1`")
        }
        NotRunnable::Coins => error("the nd machine has no rule for coins".to_string())
            .help("run it with `--engine det` or `--engine env`"),
    }
}

fn cannot_trace(file: &SourceFile, program: &Program) -> Option<Diagnostic> {
    let error =
        |title: &str, help: &str| Some(Diagnostic::error(codes::RUN, main_span(file), title).help(help));
    if program.ty != Type::NAT {
        let ty = program.terms.types.show_briefly(program.ty);
        error(
            &format!("only terms of type `nat` are traced, and this is `{ty}`"),
            "choose a leaf: `pi0 M` or `pi1 M` of a pair, an application of a function",
        )
    } else if program.has_coins() {
        error("a program with coins is not one run, and has no trace", "put numbers in the place of coins")
    } else {
        None
    }
}

fn no_point(file: &SourceFile, program: &Program, text: &str, wrong: &PointSyntaxError) -> Diagnostic {
    let (before, after) = text.split_at(wrong.at);
    let ty = program.terms.types.show_briefly(program.ty);
    let place = if before.is_empty() { String::new() } else { format!("after `{before}` ") };
    let title = format!("`{text}` is no point of `{ty}`: {place}expected {}", wrong.expected);
    let found = if after.is_empty() { "the end".to_string() } else { format!("`{after}`") };
    Diagnostic::error(codes::RUN, main_span(file), title)
        .label(format!("this is `{ty}`"))
        .reason(format!("found {found}"))
        .help("a point is a number, `01:3` for a leaf, `[0, 0] -> 3` for a function that uses its argument twice")
}

/// No derivation was found, and not everything was searched.
fn not_searched(file: &SourceFile, bounds: Bounds, cuts: &BTreeSet<Cut>) -> Diagnostic {
    let reasons = cuts.iter().map(|cut| match cut {
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
        .reason(reasons.collect::<Vec<_>>().join("; "))
        .help("give the search more room")
}

/// The span of the program's term.
fn main_span(file: &SourceFile) -> Span {
    let program = parse::parse(file).program;
    program.exprs.span(program.main)
}
