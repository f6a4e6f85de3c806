//! The command `doc`: a page about a program, from its comments, types, clocks and test benches.

use std::fmt::Write as _;

use clap::Args;
use eddy_driver::Answer;
use eddy_driver::benches::ItemResult;
use eddy_driver::documentation::{Documentation, Documented};
use eddy_language::runs::{Found, Ran};
use serde_json::{Value as Json, json};

use super::{EquationLimit, load, refused};
use crate::session::{Ended, Session};
use crate::status::Status;
use crate::stop::Stop;

/// The width of the chronograms.
const WIDTH: usize = 100;

#[derive(Args)]
pub struct DocArgs {
    /// Round the numbers of chronograms to N significant digits
    #[arg(long, value_name = "N", default_value = "6", value_parser = super::digits)]
    digits: usize,
    #[command(flatten)]
    limit: EquationLimit,
}

/// `eddy doc`.
pub fn doc(args: DocArgs, session: &Session) -> Result<Status, Stop> {
    session.check_output(session.out.as_deref(), &[])?;
    session.conclude(session.out.as_deref(), |sources, answers| {
        let asked = load(sources.clone(), args.limit.read(None))
            .and_then(|program| Ok((program.documentation()?, program.sources().clone())));
        let (Answer { value, warnings }, program_sources) = match asked {
            Ok(asked) => asked,
            Err(refusal) => return Ok(refused(refusal, sources)),
        };
        *sources = program_sources;
        let text = page(&session.file.display().to_string(), &value, args.digits);
        let answer = session.form.as_data(|| as_data(&value));
        let ended = Ended { diagnostics: warnings, ..Ended::answered(answer) };
        session.write_whole(&text, &ended, answers)?;
        Ok(ended)
    })
}

/// The page in Markdown.
fn page(name: &str, documentation: &Documentation, digits: usize) -> String {
    let mut text = format!("# {name}\n");
    for item in &documentation.items {
        let _ = write!(text, "\n## {}\n\n", item.name);
        if let Some(doc) = &item.doc {
            let _ = write!(text, "{}\n\n", doc.trim());
        }
        if !item.report.is_empty() {
            let _ = write!(text, "```text\n{}```\n", item.report);
        }
        let of_item = |ran: &&Ran| ran.node == item.name;
        for ran in benches(documentation).filter(of_item) {
            let _ = write!(text, "\n```text\n{}```\n", chronogram(ran, digits));
        }
    }
    let is_named = |ran: &&Ran| documentation.items.iter().any(|item| item.name == ran.node);
    for ran in benches(documentation).filter(|ran| !is_named(ran)) {
        let _ = write!(text, "\n## {}\n\n```text\n{}```\n", ran.node, chronogram(ran, digits));
    }
    let evaluations: String = documentation
        .results
        .iter()
        .filter(|result| matches!(result, ItemResult::Evaluation(_)))
        .map(|result| result.text(None))
        .collect();
    if !evaluations.is_empty() {
        let _ = write!(text, "\n## Evaluations\n\n```text\n{evaluations}```\n");
    }
    text
}

fn benches(documentation: &Documentation) -> impl Iterator<Item = &Ran> {
    documentation.results.iter().filter_map(|result| match result {
        ItemResult::Bench(ran) => Some(ran),
        ItemResult::Evaluation(_) => None,
    })
}

/// The cells of a bench as a table, if its semantics has cycles.
fn chronogram(ran: &Ran, digits: usize) -> String {
    let is_table = matches!(ran.found, Found::Cells { .. });
    Ran { is_table, digits: Some(digits), ..ran.clone() }.text(Some(WIDTH))
}

fn as_data(documentation: &Documentation) -> Json {
    let item = |item: &Documented| json!({ "name": item.name, "doc": item.doc, "report": item.report });
    let items: Vec<Json> = documentation.items.iter().map(item).collect();
    let results = super::rows::answer_of_file(&documentation.results);
    json!({ "items": items, "results": results["results"] })
}
