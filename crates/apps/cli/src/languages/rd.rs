//! The language of `.rd` files: `check`, `run` and `trace`.

use clap::Args;
use eddy_language::kernels::Kernel;
use eddy_rd::engine::{Engine, Report};
use eddy_rd::outcome::{Limits, Outcome};
use eddy_rd::requests::{self, Checked};
use eddy_rd::trace::TraceOptions;
use eddy_rd::{codes, format};
use eddy_syntax::{Code, Diagnostic, SourceFile};
use serde_json::{Value, json};

use super::reactive::compare_kernel;
use super::{Language, NoArgs, Offer};
use crate::args::{EngineName, Fuel, MemoryLimit};
use crate::commands::Command;
use crate::session::{Ended, Session};
use crate::status::Status;
use crate::stop::Stop;

pub struct Rd;

impl Language for Rd {
    fn name(&self) -> &'static str {
        "rd"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["rd"]
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
            Offer::new(Command::Compare, |args, session| compare_kernel(Kernel::Rd, args, session)),
        ]
    }

    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
        format::format(file)
    }
}

/// The limits of a run, and the expression to run.
#[derive(Args)]
struct Evaluation {
    #[command(flatten)]
    fuel: Fuel,
    #[command(flatten)]
    memory: MemoryLimit,
    /// Replace each recursion by its N-th approximant
    #[arg(long, value_name = "N")]
    approx: Option<u32>,
}

#[derive(Args)]
struct RunArgs {
    #[command(flatten)]
    engine: EngineName,
    #[command(flatten)]
    evaluation: Evaluation,
}

#[derive(Args)]
struct TraceArgs {
    #[command(flatten)]
    evaluation: Evaluation,
    /// Show derivatives as the paper prints them, unless they are too large
    #[arg(long)]
    literal: bool,
    /// Show each rule that is applied
    #[arg(long)]
    rules: bool,
}

impl Evaluation {
    fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits {
            fuel: self.fuel.fuel.unwrap_or(default.fuel),
            memory: self.memory.bytes().unwrap_or(default.memory),
        }
    }
}

fn check(_: NoArgs, session: &Session) -> Result<Status, Stop> {
    session.reply(
        |sources| requests::Check.answer(sources.main()),
        |checked: &Checked| Ended::answered(json!({ "type": checked.to_string() })),
    )
}

fn run(args: RunArgs, session: &Session) -> Result<Status, Stop> {
    let RunArgs { engine, evaluation } = args;
    let request = requests::Run {
        engine: engine.read(session.language)?,
        limits: evaluation.limits(),
        approximant: evaluation.approx,
    };
    session.reply(|sources| request.answer(sources.main()), ended)
}

fn trace(args: TraceArgs, session: &Session) -> Result<Status, Stop> {
    let TraceArgs { evaluation, literal, rules } = args;
    let request = requests::Trace {
        show: TraceOptions { rules, literal },
        limits: evaluation.limits(),
        approximant: evaluation.approx,
    };
    session.stream(|sources, out| match request.answer(sources.main()) {
        Ok(traced) => Ok(ended(&traced.write(out)?)),
        Err(diagnostics) => Ok(Ended::refused(diagnostics)),
    })
}

fn ended(report: &Report) -> Ended {
    let answer = outcome(report);
    let counters = report.counters;
    let ended = match report.outcome {
        Outcome::Value(_) | Outcome::Interval(..) => Ended::answered(answer),
        Outcome::Undefined(_) | Outcome::Diverged | Outcome::OutOfMemory => Ended::no_value(answer, None),
    };
    ended.counting(vec![
        ("calls", counters.calls),
        ("recorded", counters.recorded),
        ("bytes", counters.bytes),
    ])
}

/// The outcome for scripts. The value is text, since it may be nested deeper than JSON readers accept; its
/// numbers are listed from left to right.
fn outcome(report: &Report) -> Value {
    match &report.outcome {
        Outcome::Value(value) => {
            json!({ "kind": "value", "value": value.to_string(), "numbers": value.leaves() })
        }
        Outcome::Interval(low, high) => {
            json!({ "kind": "interval", "value": report.to_string(), "low": low.leaves(), "high": high.leaves() })
        }
        Outcome::Undefined(undefined) => json!({ "kind": "undefined", "reason": undefined.to_string() }),
        Outcome::Diverged => json!({ "kind": "out-of-fuel", "fuel": report.limits.fuel }),
        Outcome::OutOfMemory => json!({ "kind": "out-of-memory", "bytes": report.limits.memory }),
    }
}
