//! The language of `.pb` files: `check`, `run` and `trace`.

use clap::Args;
use eddy_language::kernels::Kernel;
use eddy_pullback::engine::Engine;
use eddy_pullback::outcome::{Leaf, Limits, Outcome, Stop as Stopped};
use eddy_pullback::requests::{self, Checked, Ran};
use eddy_pullback::trace::TraceOptions;
use eddy_pullback::{codes, format};
use eddy_syntax::{Code, Diagnostic, SourceFile};
use serde_json::{Value, json};

use super::reactive::compare_kernel;
use super::{Language, NoArgs, Offer};
use crate::args::{EngineName, Fuel, MemoryLimit};
use crate::commands::Command;
use crate::session::{Ended, Session};
use crate::status::Status;
use crate::stop::Stop;

pub struct Pullback;

impl Language for Pullback {
    fn name(&self) -> &'static str {
        "pullback"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pb"]
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
        vec![
            Offer::new(Command::Check, check),
            Offer::new(Command::Run, run),
            Offer::new(Command::Trace, trace),
            Offer::new(Command::Compare, |args, session| compare_kernel(Kernel::Pullback, args, session)),
        ]
    }

    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
        format::format(file)
    }

    fn show_stats(&self, stats: &[(&'static str, u64)]) -> String {
        let shown: Vec<String> = stats.iter().map(|(name, value)| format!("{name}={value}")).collect();
        shown.join(" ") + "\n"
    }
}

#[derive(Args)]
struct RunArgs {
    #[command(flatten)]
    engine: EngineName,
    #[command(flatten)]
    fuel: Fuel,
    #[command(flatten)]
    memory: MemoryLimit,
}

#[derive(Args)]
struct TraceArgs {
    #[command(flatten)]
    fuel: Fuel,
    #[command(flatten)]
    memory: MemoryLimit,
    /// Show pullbacks in continuation-passing style
    #[arg(long)]
    cps: bool,
    /// Do not reduce terms that are stuck in the paper
    #[arg(long)]
    paper: bool,
    /// Show the whole state after each step
    #[arg(long)]
    states: bool,
}

fn limits(fuel: &Fuel, memory: &MemoryLimit) -> Limits {
    let default = Limits::default();
    Limits { fuel: fuel.fuel.unwrap_or(default.fuel), memory: memory.bytes().unwrap_or(default.memory) }
}

fn check(_: NoArgs, session: &Session) -> Result<Status, Stop> {
    session.reply(
        |sources| requests::Check.answer(sources.main()),
        |checked: &Checked| Ended::answered(json!({ "type": checked.program.show_type() })),
    )
}

fn run(args: RunArgs, session: &Session) -> Result<Status, Stop> {
    let RunArgs { engine, fuel, memory } = args;
    let request = requests::Run { engine: engine.read(session.language)?, limits: limits(&fuel, &memory) };
    session.reply(|sources| request.answer(sources.main()), ended)
}

fn trace(args: TraceArgs, session: &Session) -> Result<Status, Stop> {
    let TraceArgs { fuel, memory, cps, paper, states } = args;
    let request =
        requests::Trace { show: TraceOptions { cps, paper, states }, limits: limits(&fuel, &memory) };
    session.stream(|sources, out| {
        let traced = match request.answer(sources.main()) {
            Ok(traced) => traced,
            Err(diagnostics) => return Ok(Ended::refused(diagnostics)),
        };
        // A refused program must print nothing, and it may be refused as late as during the run, so the lines
        // are kept until the end.
        let mut lines = String::new();
        let ended = ended(&traced.write(&mut lines)?);
        if ended.status != Status::Refused {
            out.write_str(&lines)?;
        }
        Ok(ended)
    })
}

fn ended(ran: &Ran) -> Ended {
    let counters = ran.report.counters;
    let answer = outcome(ran);
    let ended = match &ran.report.outcome {
        Outcome::Value(_) | Outcome::Open(_) => Ended::answered(answer),
        // Decision: by the common rules, exit code 3 is for runs that are out of fuel. An argument outside of
        // its domain is refused, as this language's specification requires.
        Outcome::Stopped(Stopped::Domain(_)) => Ended::refused(ran.diagnostic.iter().cloned().collect()),
        Outcome::Stopped(Stopped::OutOfFuel | Stopped::OutOfMemory) => {
            Ended::no_value(answer, ran.diagnostic.clone())
        }
    };
    ended.counting(vec![
        ("primal_ops", counters.primal_ops),
        ("total_ops", counters.total_ops),
        ("steps", counters.steps),
        ("bytes", counters.bytes),
    ])
}

/// The outcome for scripts. The value is text, since it may be nested deeper than JSON readers accept; its
/// numbers are listed from left to right, with `null` for a function.
fn outcome(ran: &Ran) -> Value {
    let number = |leaf: &Leaf| match leaf {
        Leaf::Real(number) => Some(*number),
        Leaf::Function | Leaf::Dual => None,
    };
    let limits = ran.report.limits;
    match &ran.report.outcome {
        Outcome::Value(answer) => {
            let numbers: Vec<Option<f64>> = answer.leaves.iter().map(number).collect();
            json!({ "kind": "value", "value": ran.to_string(), "numbers": numbers })
        }
        Outcome::Open(_) => json!({ "kind": "open" }),
        Outcome::Stopped(Stopped::Domain(_)) => Value::Null,
        Outcome::Stopped(Stopped::OutOfFuel) => json!({ "kind": "out-of-fuel", "fuel": limits.fuel }),
        Outcome::Stopped(Stopped::OutOfMemory) => json!({ "kind": "out-of-memory", "bytes": limits.memory }),
    }
}
