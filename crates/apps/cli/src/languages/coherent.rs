//! The language of `.cd` files: `check`, `run`, `trace` and `ask`.

use clap::Args;
use eddy_coherent::engine::{Engine, Leaf};
use eddy_coherent::outcome::{Distribution, ExhaustedLimit, LeafResult};
use eddy_coherent::relation::{Answer, Bounds, Cut};
use eddy_coherent::requests::{self, Asked, Checked, Ran};
use eddy_coherent::trace::TraceOptions;
use eddy_coherent::{codes, format};
use eddy_language::kernels::Kernel;
use eddy_syntax::{Code, Diagnostic, SourceFile};
use serde_json::{Value, json};

use super::reactive::compare_kernel;
use super::{Language, NoArgs, Offer};
use crate::args::{EngineName, Fuel, MemoryLimit, SearchLimits};
use crate::command_line::misuse;
use crate::commands::Command;
use crate::session::{Ended, Session};
use crate::status::Status;
use crate::stop::Stop;

pub struct Coherent;

impl Language for Coherent {
    fn name(&self) -> &'static str {
        "coherent"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["cd"]
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
            Offer::new(Command::Compare, |args, session| compare_kernel(Kernel::Coherent, args, session)),
            Offer::new(Command::Ask, ask),
        ]
    }

    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
        format::format(file)
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
    /// Flip at most this many coins on each path
    #[arg(long, value_name = "N")]
    coins: Option<u64>,
}

#[derive(Args)]
struct TraceArgs {
    #[command(flatten)]
    fuel: Fuel,
    #[command(flatten)]
    memory: MemoryLimit,
    /// Show the steps from this one on
    #[arg(long, value_name = "N")]
    from: Option<u64>,
    /// Show the steps up to this one
    #[arg(long, value_name = "N")]
    to: Option<u64>,
    /// Show at most this many steps
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Show the term of each step
    #[arg(long)]
    terms: bool,
}

#[derive(Args)]
struct AskArgs {
    /// The point of the meaning, such as `3`, `01:3` for a leaf, or `[0, 0] -> 1` for a function
    #[arg(long, value_name = "POINT", allow_hyphen_values = true)]
    point: Option<String>,
    #[command(flatten)]
    limits: SearchLimits,
    /// Where the number of uses of an argument must be guessed, try up to this many
    #[arg(long, value_name = "N")]
    copies: Option<u32>,
    /// Unfold each recursion at most this often
    #[arg(long, value_name = "N")]
    unfold: Option<u32>,
}

fn check(_: NoArgs, session: &Session) -> Result<Status, Stop> {
    session.reply(
        |sources| requests::Check.answer(sources.main()),
        |checked: &Checked| {
            let (terms, program) = (&checked.program.terms, &checked.program);
            let definitions = program.definitions.iter().map(|definition| {
                json!({ "name": terms.names.text(definition.name), "type": terms.types.show(definition.ty) })
            });
            let definitions: Vec<Value> = definitions.collect();
            Ended::answered(json!({ "type": terms.types.show(program.ty), "definitions": definitions }))
        },
    )
}

fn run(args: RunArgs, session: &Session) -> Result<Status, Stop> {
    let RunArgs { engine, fuel, memory, coins } = args;
    let request = requests::Run {
        engine: engine.read(session.language)?,
        fuel: fuel.fuel,
        memory: memory.bytes(),
        coins,
    };
    session.reply(
        |sources| request.answer(sources.main()),
        |ran: &Ran| {
            let ended = match &ran.leaves {
                Ok(found) => Ended::answered(leaves(&found.leaves, found.has_ticks)),
                Err(exhausted) => Ended::no_value(exhausted_limit(*exhausted), ran.diagnostic.clone()),
            };
            ended.counting(vec![("steps", ran.counters.steps), ("cells", ran.counters.cells)])
        },
    )
}

fn trace(args: TraceArgs, session: &Session) -> Result<Status, Stop> {
    let TraceArgs { fuel, memory, from, to, limit, terms } = args;
    let show = TraceOptions { from, to, limit, terms };
    let request = requests::Trace { show, fuel: fuel.fuel, memory: memory.bytes() };
    session.stream(|sources, out| {
        let traced = match request.answer(sources.main()) {
            Ok(traced) => traced,
            Err(diagnostics) => return Ok(Ended::refused(diagnostics)),
        };
        let mut steps = match traced.steps {
            Ok(steps) => steps,
            Err(exhausted) => return Ok(Ended::no_value(exhausted_limit(exhausted), traced.diagnostic)),
        };
        for step in steps.by_ref() {
            writeln!(out, "{step}")?;
        }
        let summary = steps.summary();
        writeln!(out, "{summary}")?;
        let ended = match summary.outcome.result() {
            Ok(result) => Ended::answered(leaves(&[Leaf { path: Vec::new(), result }], summary.has_ticks)),
            Err(exhausted) => Ended::no_value(exhausted_limit(exhausted), None),
        };
        Ok(ended.counting(summary.counters()))
    })
}

fn ask(args: AskArgs, session: &Session) -> Result<Status, Stop> {
    let AskArgs { point, limits, copies, unfold } = args;
    let Some(point) = point else {
        return Err(misuse(session.command.name(), "say what to ask for: --point"));
    };
    let default = Bounds::default();
    let bounds = Bounds {
        copies: copies.unwrap_or(default.copies),
        unfold: unfold.unwrap_or(default.unfold),
        work: limits.fuel.unwrap_or(default.work),
        memory: limits.bytes().unwrap_or(default.memory),
    };
    let request = requests::Ask { point, bounds };
    session.reply(
        |sources| request.answer(sources.main()),
        |asked: &Asked| {
            let ended = Ended::answered(answer(asked)).counting(vec![("goals", asked.goals)]);
            Ended { diagnostics: asked.diagnostic.iter().cloned().collect(), ..ended }
        },
    )
}

fn answer(asked: &Asked) -> Value {
    let cut = |cut: &Cut| match cut {
        Cut::Copies => "copies",
        Cut::Unfold => "unfold",
        Cut::Work => "fuel",
        Cut::Memory => "memory",
    };
    match &asked.answer {
        Answer::Yes(_) => {
            let derivation = asked.derivation().unwrap_or_default();
            json!({ "kind": "yes", "derivation": derivation.lines().collect::<Vec<_>>() })
        }
        Answer::No => json!({ "kind": "no" }),
        Answer::Unknown(cuts) => {
            json!({ "kind": "unknown", "cut": cuts.iter().map(cut).collect::<Vec<_>>() })
        }
    }
}

fn leaves(leaves: &[Leaf], has_ticks: bool) -> Value {
    let leaves: Vec<Value> = leaves.iter().map(|found| leaf(found, has_ticks)).collect();
    json!({ "kind": "leaves", "leaves": leaves })
}

fn leaf(leaf: &Leaf, has_ticks: bool) -> Value {
    let path: String = leaf.path.iter().map(|bit| bit.digit()).collect();
    match &leaf.result {
        LeafResult::Value { value, ticks } => {
            json!({ "path": path, "kind": "value", "value": value, "ticks": has_ticks.then_some(ticks) })
        }
        LeafResult::Empty => json!({ "path": path, "kind": "none" }),
        LeafResult::Distribution(Distribution { values, none, unresolved }) => {
            let values = values.iter().map(|(value, (mass, ticks))| {
                let ticks = has_ticks.then(|| ticks.to_string());
                json!({ "value": value, "probability": mass.to_string(), "ticks": ticks })
            });
            json!({
                "path": path,
                "kind": "distribution",
                "values": values.collect::<Vec<_>>(),
                "none": none.to_string(),
                "unresolved": unresolved.to_string(),
            })
        }
    }
}

fn exhausted_limit(exhausted: ExhaustedLimit) -> Value {
    match exhausted {
        ExhaustedLimit::Fuel(fuel) => json!({ "kind": "out-of-fuel", "fuel": fuel }),
        ExhaustedLimit::Memory(bytes) => json!({ "kind": "out-of-memory", "bytes": bytes }),
        ExhaustedLimit::Overflow => json!({ "kind": "overflow" }),
    }
}
