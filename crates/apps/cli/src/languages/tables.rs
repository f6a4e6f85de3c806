//! The languages of `.lam`, `.sysf` and `.ref` files: `check`, `run`, `trace`, `ask`, `enum`, `opt` and
//! `intype`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint, value_parser};
use eddy_language::kernels::Kernel;
use eddy_syntax::{Code, Diagnostic, SourceFile};
use eddy_tables::derivation::write;
use eddy_tables::dialect::Dialect;
use eddy_tables::integer::Int;
use eddy_tables::requests::questions::{
    self, Asked, Explained, Listed, Membership, Optimised, Question, TooLong,
};
use eddy_tables::requests::{self, Checked, Ran};
use eddy_tables::run::{Engine, Limits, RunError, Shown};
use eddy_tables::{ask as search, codes, format};
use serde_json::{Value, json};

use super::reactive::compare_kernel;
use super::{Language, NoArgs, Offer};
use crate::args::{EngineName, Fuel, MemoryLimit, SearchLimits};
use crate::command_line::misuse;
use crate::commands::Command;
use crate::input;
use crate::session::{Ended, Session};
use crate::status::Status;
use crate::stop::Stop;

/// One of the three languages.
pub struct Tables {
    dialect: Dialect,
}

pub const LAM: Tables = Tables { dialect: Dialect::Lambda };
pub const SYSF: Tables = Tables { dialect: Dialect::SystemF };
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

    fn engines(&self) -> Vec<&'static str> {
        Engine::ALL.map(Engine::name).to_vec()
    }

    fn codes(&self) -> Vec<Code> {
        codes::CODES.to_vec()
    }

    fn unreadable(&self) -> Code {
        codes::LEXICAL
    }

    fn offers(&self) -> Vec<Offer> {
        let dialect = self.dialect;
        let mut offers = vec![
            Offer::new(Command::Check, move |_: NoArgs, session| check(dialect, session)),
            Offer::new(Command::Run, move |args, session| run(dialect, args, session)),
            Offer::new(Command::Trace, move |args, session| trace(dialect, args, session)),
            Offer::new(Command::Ask, move |args, session| ask(dialect, args, session)),
            Offer::new(Command::Enum, move |args, session| enumerate(dialect, args, session)),
            Offer::new(Command::Opt, move |args, session| optimise(dialect, args, session)),
            Offer::new(Command::Intype, move |args, session| intype(dialect, args, session)),
        ];
        // Of the three only `lam` has a translation to functions.
        if dialect == Dialect::Lambda {
            let compare = |args, session: &Session| compare_kernel(Kernel::Lam, args, session);
            offers.push(Offer::new(Command::Compare, compare));
        }
        offers
    }

    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
        format::format(file, self.dialect)
    }
}

#[derive(Args)]
struct RunArgs {
    #[command(flatten)]
    engine: EngineName,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Args)]
struct LimitArgs {
    #[command(flatten)]
    fuel: Fuel,
    #[command(flatten)]
    memory: MemoryLimit,
}

#[derive(Args)]
struct AskArgs {
    #[command(flatten)]
    value: ValueArgs,
    /// The intersection type of the meaning, such as `(1 -> 2) & (3 -> 4)`
    #[arg(long = "type", value_name = "TYPE", allow_hyphen_values = true, conflicts_with_all = ["value", "value_file"])]
    ty: Option<String>,
    /// Show why the answer is yes, with values or with types
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "values")]
    derivation: Option<Form>,
    /// Show which part of each function was needed
    #[arg(long)]
    tables: bool,
    #[command(flatten)]
    limits: SearchArgs,
}

/// How a derivation is written.
#[derive(Clone, Copy, ValueEnum)]
enum Form {
    Values,
    Types,
}

#[derive(Args)]
struct EnumArgs {
    /// List the values up to this size
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=40))]
    size: Option<u32>,
    /// Make inputs of these integers
    #[arg(long, value_name = "N", value_delimiter = ',', allow_hyphen_values = true, value_parser = integer)]
    ints: Option<Vec<Int>>,
    #[command(flatten)]
    limits: SearchArgs,
}

#[derive(Args)]
struct OptArgs {
    /// Inline at most this deep
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
}

#[derive(Args)]
struct IntypeArgs {
    #[command(flatten)]
    value: ValueArgs,
    /// Stop after this many membership tests
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
}

/// The value that the question is about.
#[derive(Args)]
struct ValueArgs {
    /// The value, such as `3` or `{1 -> 2}`
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, conflicts_with = "value_file")]
    value: Option<String>,
    /// Read the value from this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    value_file: Option<PathBuf>,
}

/// The limits of a search.
#[derive(Args)]
struct SearchArgs {
    #[command(flatten)]
    limits: SearchLimits,
    /// Stop after this many applications on all branches together
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
}

fn integer(text: &str) -> Result<Int, String> {
    text.trim().parse().map_err(|_| "it is a list of integers, such as `0,1`".to_string())
}

impl LimitArgs {
    fn given(&self, default: Limits) -> Limits {
        Limits {
            fuel: self.fuel.fuel.unwrap_or(default.fuel),
            memory: self.memory.bytes().unwrap_or(default.memory),
        }
    }
}

impl SearchArgs {
    fn given(&self) -> search::Limits {
        let default = search::Limits::default();
        search::Limits {
            fuel: self.limits.fuel.unwrap_or(default.fuel),
            steps: self.steps.unwrap_or(default.steps),
            memory: self.limits.bytes().unwrap_or(default.memory),
        }
    }
}

impl ValueArgs {
    /// The question's value from the command line or from a file; `None` if neither was given. An unreadable
    /// file is reported and ends the command.
    fn question(self, session: &Session) -> Result<Option<Question>, Status> {
        let Some(path) = self.value_file else { return Ok(self.value.as_deref().map(Question::value)) };
        let name = path.display().to_string();
        match input::text(&path) {
            Ok(text) => Ok(Some(Question { name, ..Question::value(&text) })),
            Err(reason) => {
                session.form.failure(&name, &format!("cannot read the file: {reason}"));
                Err(Status::Refused)
            }
        }
    }
}

fn check(dialect: Dialect, session: &Session) -> Result<Status, Stop> {
    session.reply(
        |sources| requests::Check.answer(sources.main(), dialect),
        |checked: &Checked| {
            let program = &checked.program;
            Ended::answered(json!({ "type": program.ty.map(|ty| program.types.show(ty)) }))
        },
    )
}

fn run(dialect: Dialect, args: RunArgs, session: &Session) -> Result<Status, Stop> {
    let RunArgs { engine, limits } = args;
    let limits = limits.given(Limits::default());
    let request = requests::Run { engine: engine.read(session.language)?, limits };
    session.reply(
        |sources| request.answer(sources.main(), dialect),
        |ran: &Ran| {
            let ended = match &ran.outcome {
                Ok(Shown(value)) => {
                    Ended::answered(json!({ "kind": "value", "value": value, "type": ran.ty }))
                }
                Err(why) => Ended::no_value(failure(*why), ran.diagnostic.clone()),
            };
            ended.counting(vec![
                ("applications", ran.counters.applications),
                ("deepest stack", ran.counters.deepest),
                ("addresses", ran.counters.addresses),
            ])
        },
    )
}

fn trace(dialect: Dialect, args: LimitArgs, session: &Session) -> Result<Status, Stop> {
    let request = requests::Trace { limits: args.given(requests::Trace::default().limits) };
    session.stream(|sources, out| {
        let traced = match request.answer(sources.main(), dialect) {
            Ok(traced) => traced,
            Err(diagnostics) => return Ok(Ended::refused(diagnostics)),
        };
        let steps = match traced.steps {
            Ok(steps) => steps,
            Err(why) => return Ok(Ended::no_value(failure(why), traced.diagnostic)),
        };
        let n_steps = steps.n_steps;
        for line in steps {
            writeln!(out, "{line}")?;
        }
        Ok(Ended::answered(Value::Null).counting(vec![("steps", n_steps)]))
    })
}

fn ask(dialect: Dialect, args: AskArgs, session: &Session) -> Result<Status, Stop> {
    let AskArgs { value, ty, derivation, tables, limits } = args;
    let question = match value.question(session) {
        Ok(value) => value.or_else(|| ty.as_deref().map(Question::ty)),
        Err(refused) => return Ok(refused),
    };
    let Some(question) = question else {
        return Err(misuse(session.command.name(), "say what to ask for: --value or --type"));
    };
    let derivation = derivation.map(|form| match form {
        Form::Values => write::Form::Values,
        Form::Types => write::Form::Types,
    });
    let request = questions::Ask { question, derivation, tables, limits: limits.given() };
    session.reply(
        |sources| request.answer(sources, dialect),
        |asked: &Asked| {
            let ended = match &asked.outcome {
                Ok(explained) => Ended::answered(answer(explained)),
                Err(TooLong) => Ended::no_value(json!({ "kind": "too-long" }), asked.diagnostic.clone()),
            };
            ended.counting(vec![("applications", asked.applications)])
        },
    )
}

fn enumerate(dialect: Dialect, args: EnumArgs, session: &Session) -> Result<Status, Stop> {
    let EnumArgs { size, ints, limits } = args;
    let default = questions::Enum::default();
    let request = questions::Enum {
        size: size.unwrap_or(default.size),
        ints: ints.unwrap_or(default.ints),
        limits: limits.given(),
    };
    session.reply(
        |sources| request.answer(sources.main(), dialect),
        |found: &Listed| {
            let values: Vec<String> = found.listed.iter().map(|value| found.values.show(*value)).collect();
            Ended::answered(json!({ "values": values, "complete": found.is_complete }))
                .counting(vec![("applications", found.applications)])
        },
    )
}

fn optimise(dialect: Dialect, args: OptArgs, session: &Session) -> Result<Status, Stop> {
    let depth = args.depth.unwrap_or(questions::Opt::default().depth);
    session.reply(
        |sources| questions::Opt { depth }.answer(sources.main(), dialect),
        |optimised: &Optimised| match optimised.outcome {
            Ok(_) => Ended::answered(json!({ "kind": "program", "program": optimised.to_string() })),
            Err(_) => Ended::no_value(json!({ "kind": "too-large" }), optimised.diagnostic.clone()),
        },
    )
}

fn intype(dialect: Dialect, args: IntypeArgs, session: &Session) -> Result<Status, Stop> {
    let question = match args.value.question(session) {
        Ok(Some(question)) => question,
        Ok(None) => return Err(misuse(session.command.name(), "say what to ask for: --value")),
        Err(refused) => return Ok(refused),
    };
    let mut request = questions::Intype::new(question);
    request.fuel = args.fuel.unwrap_or(request.fuel);
    let fuel = request.fuel;
    session.reply(
        |sources| request.answer(sources, dialect),
        |membership: &Membership| match membership.is_member {
            Some(is_member) => Ended::answered(json!({ "kind": if is_member { "yes" } else { "no" } })),
            None => {
                Ended::no_value(json!({ "kind": "out-of-fuel", "fuel": fuel }), membership.diagnostic.clone())
            }
        },
    )
}

fn answer(explained: &Explained) -> Value {
    let Explained { answer, derivation, tables } = explained;
    let derivation = derivation.as_ref().map(|text| text.lines().collect::<Vec<_>>());
    let table = |(function, table): &(String, String)| json!({ "function": function, "table": table });
    let tables = tables.as_ref().map(|tables| tables.iter().map(table).collect::<Vec<_>>());
    json!({ "kind": answer.word(), "derivation": derivation, "tables": tables })
}

fn failure(failure: RunError) -> Value {
    match failure {
        RunError::Stuck(_, why) => json!({ "kind": "stuck", "reason": why.to_string() }),
        RunError::Fuel(fuel) => json!({ "kind": "out-of-fuel", "fuel": fuel }),
        RunError::Memory(bytes) => json!({ "kind": "out-of-memory", "bytes": bytes }),
        RunError::TooLarge(_) => json!({ "kind": "too-large" }),
    }
}
