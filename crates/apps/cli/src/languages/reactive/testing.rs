//! The command `test`: the benches of a file against the cells that they expect.

use std::fmt::Write as _;

use clap::Args;
use eddy_driver::testing::TestReport;
use eddy_driver::{Answer, EngineKind, TestRequest};
use eddy_language::runs::Tested;
use eddy_syntax::{Sources, suggest::UnknownName};
use serde_json::{Value as Json, json};

use super::{EquationLimit, load, refused};
use crate::json;
use crate::report::Form;
use crate::session::{Ended, Session};
use crate::status::Status;
use crate::stop::Stop;

#[derive(Args)]
pub struct TestArgs {
    /// Run all benches by this semantics: `simulate` or `denote`
    #[arg(long, value_name = "NAME", value_parser = semantics)]
    engine: Option<EngineKind>,
    /// The largest difference of numbers, relative to the larger of both and to 1
    #[arg(long, value_name = "X", default_value = "1e-9", value_parser = tolerance)]
    tolerance: f64,
    #[command(flatten)]
    limit: EquationLimit,
}

/// `eddy test`.
pub fn test(args: TestArgs, session: &Session) -> Result<Status, Stop> {
    let request = TestRequest { engine: args.engine, tolerance: args.tolerance };
    session.conclude(None, |sources, answers| {
        let tested = load(sources.clone(), args.limit.read(None))
            .and_then(|program| Ok((program.test(&request)?, program.sources().clone())));
        let (Answer { value: report, warnings }, program_sources) = match tested {
            Ok(tested) => tested,
            Err(refusal) => return Ok(refused(refusal, sources)),
        };
        *sources = program_sources;
        let failures: Vec<_> = report.failures().cloned().collect();
        let text = text(&report, sources);
        let answer = session.form.as_data(|| as_data(&report, sources));
        if failures.is_empty() {
            let ended = Ended { diagnostics: warnings, ..Ended::answered(answer) };
            session.write_whole(&text, &ended, answers)?;
            return Ok(ended);
        }
        // Scripts get the report of a failed test too; people get the differences, and then the count.
        if matches!(session.form, Form::Json) {
            answers.write_str(&json::result("test", Status::Refused.word(), &text, &answer))?;
        }
        Ok(Ended {
            diagnostics: warnings.into_iter().chain(failures).collect(),
            ..Ended::refused_with(answer)
        })
    })
}

fn text(report: &TestReport, sources: &Sources) -> String {
    let line = |tested: &Tested| {
        let verdict = if tested.failures.is_empty() { "ok" } else { "FAILED" };
        format!("{verdict}  {} `{}`, {} cells\n", place(tested, sources), tested.node, tested.n_cells)
    };
    let mut text: String = report.tested.iter().map(line).collect();
    let n = report.tested.len();
    let n_failed = report.tested.iter().filter(|tested| !tested.failures.is_empty()).count();
    let _ = write!(text, "{} of {n} benches passed", n - n_failed);
    if report.n_without > 0 {
        let _ = write!(text, "; {} expect nothing", report.n_without);
    }
    text + "\n"
}

fn place(tested: &Tested, sources: &Sources) -> String {
    let file = sources.file(tested.span);
    format!("{}:{}", file.name(), file.position(tested.span.start).line)
}

fn as_data(report: &TestReport, sources: &Sources) -> Json {
    let bench = |tested: &Tested| {
        let differences: Vec<&str> = tested.failures.iter().map(|failure| failure.title.as_str()).collect();
        json!({
            "place": place(tested, sources),
            "node": tested.node,
            "cells": tested.n_cells,
            "passed": differences.is_empty(),
            "differences": differences,
        })
    };
    let benches: Vec<Json> = report.tested.iter().map(bench).collect();
    json!({ "benches": benches, "without_expectations": report.n_without })
}

fn semantics(text: &str) -> Result<EngineKind, String> {
    let known = [EngineKind::Simulate, EngineKind::Denote];
    let engine: Result<EngineKind, UnknownName> = text.parse();
    engine.ok().filter(|engine| known.contains(engine)).ok_or("it is `simulate` or `denote`".to_string())
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err("it is a number that is not negative".to_string()),
    }
}
