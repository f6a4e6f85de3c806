//! `eddy train --compare RUN RUN`: runs side by side, as a table and as curves.
//!
//! The table has a column for each run: the options in which the runs differ, their losses and metrics at the
//! best epoch, and their durations. The picture has a panel for the losses, and one for each metric.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::curve::{Line, Panel, drawn, metric_names};
use super::folder;
use super::metrics::{Epoch, Goal};
use super::progress::shown;
use crate::answers::Answers;
use crate::json;
use crate::replacement::replace;
use crate::report::Form;
use crate::status::Status;
use crate::stop::{Stop, reason};

/// A run that was read from its folder.
struct Run {
    name: String,
    description: Map<String, Value>,
    epochs: Vec<(usize, Epoch)>,
}

/// Compares the runs in these folders; the picture goes to the file `svg`.
pub fn compare(folders: &[PathBuf], svg: Option<&Path>, form: Form) -> Result<Status, Stop> {
    let mut runs = Vec::new();
    for folder in folders {
        match Run::read(folder) {
            Ok(run) => runs.push(run),
            Err(message) => {
                form.failure(&folder.display().to_string(), &message);
                return Ok(Status::Refused);
            }
        }
    }
    if let Some(svg) = svg
        && let Err(error) = replace(svg, drawn(&panels(&runs)).as_bytes())
    {
        form.failure(&svg.display().to_string(), &format!("cannot write the file: {}", reason(&error)));
        return Ok(Status::Refused);
    }
    let rows = rows(&runs);
    let mut answers = Answers::to_stdout();
    let text = table(&rows);
    match form {
        Form::Json => {
            let runs: Vec<Value> = runs.iter().map(Run::as_data).collect();
            let answer = json!({ "runs": runs });
            answers.write(&json::result("train", Status::Answered.word(), &text, &answer))?;
        }
        _ => answers.write(&text)?,
    }
    answers.finish(Status::Answered)?;
    Ok(Status::Answered)
}

impl Run {
    fn read(folder: &Path) -> Result<Run, String> {
        if !folder.is_dir() {
            return Err("there is no such run folder".to_string());
        }
        let epochs = folder::epochs(folder).ok_or("has no metrics: it is no run folder")?;
        let Some(Value::Object(description)) = folder::description(folder) else {
            return Err("its `run.json` is lost or damaged".to_string());
        };
        Ok(Run { name: folder.display().to_string(), description, epochs })
    }

    /// The best epoch, by the goal of the run.
    fn best(&self) -> Option<&(usize, Epoch)> {
        let goal = self.description.get("best").and_then(Value::as_str);
        let goal = goal.and_then(|goal| Goal::parse(goal).ok()).unwrap_or(Goal::LOSS);
        self.epochs.iter().reduce(|best, epoch| if goal.is_better(&epoch.1, &best.1) { epoch } else { best })
    }

    fn only_epochs(&self) -> Vec<Epoch> {
        self.epochs.iter().map(|(_, epoch)| epoch.clone()).collect()
    }

    fn as_data(&self) -> Value {
        let best = self.best().map(|(number, epoch)| {
            let mut best = epoch.result();
            best["epoch"] = json!(number);
            best
        });
        json!({
            "folder": self.name,
            "epochs": self.epochs.len(),
            "best": best,
            "seconds": self.epochs.iter().map(|(_, epoch)| epoch.seconds).sum::<f64>(),
            "description": self.description,
        })
    }
}

/// The rows of the table: a name, and a cell for each run.
fn rows(runs: &[Run]) -> Vec<(String, Vec<String>)> {
    let mut rows = vec![("run".to_string(), runs.iter().map(|run| run.name.clone()).collect())];
    let mut keys: Vec<&String> = Vec::new();
    for key in runs.iter().flat_map(|run| run.description.keys()) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    for key in keys {
        let values: Vec<Option<&Value>> = runs.iter().map(|run| run.description.get(key)).collect();
        if values.windows(2).any(|pair| pair[0] != pair[1]) {
            rows.push((key.clone(), values.into_iter().map(option).collect()));
        }
    }
    let best: Vec<Option<&(usize, Epoch)>> = runs.iter().map(Run::best).collect();
    let mut row = |name: &str, cell: &dyn Fn(&(usize, Epoch)) -> Option<String>| {
        let cells = best.iter().map(|best| best.and_then(cell).unwrap_or_else(|| "-".to_string()));
        rows.push((name.to_string(), cells.collect()));
    };
    row("best epoch", &|(number, _)| Some(number.to_string()));
    row("loss", &|(_, epoch)| Some(shown(epoch.loss)));
    if runs.iter().flat_map(|run| &run.epochs).any(|(_, epoch)| epoch.validation.is_some()) {
        row("validation", &|(_, epoch)| epoch.validation.map(shown));
    }
    for name in metrics(runs) {
        row(&name, &|(_, epoch)| epoch.metric(&name).map(shown));
    }
    let all = |cell: &dyn Fn(&Run) -> String| runs.iter().map(cell).collect();
    rows.push(("epochs".to_string(), all(&|run| run.epochs.len().to_string())));
    let seconds = |run: &Run| run.epochs.iter().map(|(_, epoch)| epoch.seconds).sum::<f64>();
    rows.push(("seconds".to_string(), all(&|run| format!("{:.1}", seconds(run)))));
    rows
}

/// An option as a cell; long texts, such as hashes, are cut.
fn option(value: Option<&Value>) -> String {
    const LONGEST: usize = 24;
    let text = match value {
        None | Some(Value::Null) => return "-".to_string(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn metrics(runs: &[Run]) -> Vec<String> {
    let all: Vec<Epoch> = runs.iter().flat_map(Run::only_epochs).collect();
    metric_names(&all)
}

fn table(rows: &[(String, Vec<String>)]) -> String {
    let width =
        |column: usize| rows.iter().map(|(_, cells)| cells[column].chars().count()).max().unwrap_or(0);
    let names = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].1.len()).map(width).collect();
    let mut text = String::new();
    for (name, cells) in rows {
        let mut line = format!("{name:names$}");
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(line, "  {cell:width$}");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn panels(runs: &[Run]) -> Vec<Panel> {
    let line = |name: String, run: &Run, value: &dyn Fn(&Epoch) -> Option<f64>| Line {
        name,
        values: run.epochs.iter().map(|(_, epoch)| value(epoch)).collect(),
    };
    let mut losses = Vec::new();
    for run in runs {
        losses.push(line(run.name.clone(), run, &|epoch| Some(epoch.loss)));
        losses.push(line(format!("{}, validation", run.name), run, &|epoch| epoch.validation));
    }
    let mut panels = vec![Panel { title: "loss".to_string(), lines: losses }];
    for name in metrics(runs) {
        let lines = runs.iter().map(|run| line(run.name.clone(), run, &|epoch| epoch.metric(&name)));
        panels.push(Panel { title: name.clone(), lines: lines.collect() });
    }
    panels
}
