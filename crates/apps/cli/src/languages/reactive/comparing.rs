//! `compare`: a program under every semantics that understands it.

use std::fmt::Write;
use std::sync::Arc;

use clap::Args;
use eddy_driver::compare::kernels::KernelLimits;
use eddy_driver::compare::{ComparedItem, Comparison};
use eddy_driver::{Answer, Deaf, Refusal};
use eddy_language::kernels::Kernel;
use eddy_syntax::Sources;
use serde_json::{Map, Value as Json, json};

use super::functions::Nesting;
use super::{EquationLimit, load, refused, settings};
use crate::args::{Fuel, MemoryLimit};
use crate::json;
use crate::report::Form;
use crate::session::{Ended, Session};
use crate::status::Status;
use crate::stop::Stop;

#[derive(Args)]
pub struct CompareArgs {
    #[command(flatten)]
    memory: MemoryLimit,
    #[command(flatten)]
    limit: EquationLimit,
    #[command(flatten)]
    fuel: Fuel,
    #[command(flatten)]
    nesting: Nesting,
}

/// Prints all semantics side by side. Exit code 1 if two of them differ.
pub fn compare(args: CompareArgs, session: &Session) -> Result<Status, Stop> {
    let bytes = args.memory.bytes_of_functions().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let budget = args.nesting.budget(args.fuel.fuel, bytes);
    show(session, |sources| {
        let program = load(sources, args.limit.read(args.memory.bytes()))?;
        Ok((program.compare(budget)?, program.sources().clone()))
    })
}

/// The limits of a comparison of a program of another language.
#[derive(Args)]
pub struct KernelCompareArgs {
    #[command(flatten)]
    fuel: Fuel,
    #[command(flatten)]
    memory: MemoryLimit,
}

/// As [`compare`], for a program of a kernel.
pub fn compare_kernel(kernel: Kernel, args: KernelCompareArgs, session: &Session) -> Result<Status, Stop> {
    let limits = KernelLimits { fuel: args.fuel.fuel, memory: args.memory.bytes() };
    show(session, |sources| {
        let driver =
            eddy_driver::Session::new(settings(None, eddy_driver::Limits::default()), Arc::new(Deaf));
        driver.compare_kernel(kernel, sources, limits)
    })
}

fn show(
    session: &Session,
    compared: impl FnOnce(Sources) -> Result<(Answer<Comparison>, Sources), Refusal>,
) -> Result<Status, Stop> {
    session.conclude(None, |sources, answers| match compared(sources.clone()) {
        Err(refusal) => Ok(refused(refusal, sources)),
        Ok((Answer { value: comparison, warnings }, files)) => {
            *sources = files;
            let status = if comparison.agrees() { Status::Answered } else { Status::Refused };
            let (text, answer) = (comparison.to_string(), as_data(&comparison));
            // The answer is printed also if the exit code is 1.
            answers.write_str(&match session.form {
                Form::Json => json::result(session.command.name(), word(status), &text, &answer),
                Form::Full(_) | Form::Short => text,
            })?;
            Ok(Ended { status, answer, diagnostics: warnings, stats: Vec::new() })
        }
    })
}

fn word(status: Status) -> &'static str {
    if status == Status::Answered { "answered" } else { "differs" }
}

fn as_data(comparison: &Comparison) -> Json {
    let item = |item: &ComparedItem| {
        let columns: Map<String, Json> =
            item.columns.iter().map(|(name, lines)| ((*name).to_string(), json!(lines))).collect();
        json!({ "name": item.name, "semantics": columns, "first_difference": item.first_difference })
    };
    json!({ "agrees": comparison.agrees(), "items": comparison.items.iter().map(item).collect::<Vec<_>>() })
}
