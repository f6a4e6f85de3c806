//! `plan`: shows how nodes will run.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint, value_parser};
use eddy_driver::planning::NodePlan;
use eddy_driver::{Answer, NodeRequest, PlanRequest, Program, Refusal};

use super::{Limits, Rendered, cycles, load, named_constant, named_shape, refused, streams};
use crate::command_line::misuse;
use crate::json;
use crate::report::Form;
use crate::session::{Ended, Session, same_file};
use crate::status::Status;
use crate::stop::Stop;

#[derive(Args)]
pub struct PlanArgs {
    /// Print the whole plan of this node; otherwise a line for each node of the file
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    /// Give an input of the node a compile-time constant
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = named_constant, requires = "node")]
    constants: Vec<(String, String)>,
    /// Give an input whose shape is not written a shape
    #[arg(long = "shape", value_name = "NAME=[SIZES]", value_parser = named_shape, requires = "node")]
    shapes: Vec<(String, String)>,
    /// Plan for N independent streams in lock-step
    #[arg(long, value_name = "N", value_parser = streams)]
    batch: Option<usize>,
    /// The seed of random initial values
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Say how much memory windows of at most N cycles take
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..), requires = "node")]
    max_window: Option<u64>,
    /// Compute loops again from registers saved every √W cycles, rather than keep their values
    #[arg(long, value_name = "HOW", value_parser = ["sqrt"])]
    checkpoint: Option<String>,
    /// Plan for data without an end, so that memory does not grow with them
    #[arg(long)]
    stream: bool,
    /// Keep values that take long to compute again, such as `exp`: it is faster and takes more memory; `run`
    /// and `train` do so
    #[arg(long)]
    keep: bool,
    /// Draw the plan into this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "node", conflicts_with = "json")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    limits: Limits,
}

/// The form in which plans are printed.
#[derive(Clone, Copy)]
enum Shown {
    Text,
    Json,
    Picture,
}

pub fn plan(args: PlanArgs, session: &Session) -> Result<Status, Stop> {
    if args.svg.as_ref().is_some_and(|to| same_file(&session.file, to)) {
        let message = "the picture cannot take the place of the program itself";
        return Err(misuse(session.command.name(), message));
    }
    let svg = args.svg.clone();
    session.conclude(svg.as_deref(), |sources, answers| {
        match load(sources.clone(), args.limits.read())
            .and_then(|program| answer(args, session.form, &program))
        {
            Ok(Rendered { text, answer, warnings, sources: known }) => {
                *sources = known;
                answers.write_str(&text)?;
                Ok(Ended { diagnostics: warnings, ..Ended::answered(answer) })
            }
            Err(refusal) => Ok(refused(refusal, sources)),
        }
    })
}

/// The plan of the named node, or of each node. In JSON, a plan is an object with keys of its own, not lines
/// of text as in other commands.
fn answer(args: PlanArgs, form: Form, program: &Program) -> Result<Rendered, Refusal> {
    let shown = match form {
        _ if args.svg.is_some() => Shown::Picture,
        Form::Json => Shown::Json,
        Form::Full(_) | Form::Short => Shown::Text,
    };
    let max_window = args.max_window.map(cycles);
    let show = |plan: &NodePlan| match shown {
        Shown::Picture => plan.svg(),
        Shown::Json => json::plans(&plan.json(max_window)),
        Shown::Text => plan.text(max_window),
    };
    let request = PlanRequest {
        seed: args.seed.unwrap_or(0),
        checkpoints: args.checkpoint.is_some(),
        stream: args.stream,
        keep: args.keep,
    };
    let (text, warnings, sources) = if let Some(node) = args.node {
        let PlanArgs { constants, shapes, batch, .. } = args;
        let model = program.model(NodeRequest { node, constants, shapes, batch })?;
        let Answer { value: plan, warnings } = model.plan(&request)?;
        (show(&plan), warnings, model.sources().clone())
    } else {
        let Answer { value: plans, warnings } = program.plans(&request, args.batch)?;
        let text = plans.iter().map(|plan| match shown {
            Shown::Text => format!("{}: {}\n", plan.name, plan.kind()),
            Shown::Json | Shown::Picture => show(plan),
        });
        (text.collect(), warnings, program.sources().clone())
    };
    Ok(Rendered { text, answer: serde_json::Value::Null, warnings, sources })
}
