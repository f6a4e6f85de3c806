//! The progress display of training: a bar on a terminal, a line for each epoch.

use std::cell::Cell;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use eddy_driver::train::{Measured, Progress, TrainPlan};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::folder::{Checkpoint, Folder};
use super::metrics::Epoch;

/// The bar of one epoch; it is drawn only on a terminal.
pub struct Bar {
    bar: ProgressBar,
    drawn: Cell<Instant>,
    /// How long the later epochs will take, if one is complete.
    later: Option<Duration>,
}

/// How often the loss in the bar is updated.
const PERIOD: Duration = Duration::from_millis(100);

impl Bar {
    /// `lasted` is the duration of the epoch before.
    pub fn new(epoch: usize, n_epochs: usize, n_rows: usize, lasted: Option<f64>) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(n_rows as u64), ProgressDrawTarget::stderr());
        let style =
            ProgressStyle::with_template("{prefix} {bar:24} {pos}/{len} rows, {per_sec}, {eta} left, {msg}");
        bar.set_style(style.expect("the template is right"));
        bar.set_prefix(format!("epoch {epoch}/{n_epochs}"));
        let n_later = u32::try_from(n_epochs - epoch).unwrap_or(u32::MAX);
        let lasted = lasted.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let later = lasted.and_then(|lasted| lasted.checked_mul(n_later)).filter(|_| n_later > 0);
        Bar { bar, drawn: Cell::new(Instant::now()), later }
    }

    pub fn show(&self, progress: Progress) {
        self.bar.set_position(progress.n_rows as u64);
        if self.drawn.get().elapsed() > PERIOD
            && let Some(loss) = progress.loss
        {
            self.drawn.set(Instant::now());
            let mut message = format!("loss {}", shown(loss));
            if let Some(later) = self.later {
                let whole = self.bar.eta() + later;
                let _ = write!(message, ", all epochs {} left", HumanDuration(whole));
            }
            self.bar.set_message(message);
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The summary printed before training.
pub fn begin(plan: &TrainPlan, folder: &Folder, n_done: usize) -> String {
    let mut text = format!(
        "training `{}`: {} with {}, on {}",
        plan.node,
        count(plan.n_parameters, "parameter"),
        count(plan.n_numbers, "number"),
        count(plan.n_rows, "row")
    );
    if let Some(n) = plan.n_sequences {
        let _ = write!(text, " in {}", count(n, "sequence"));
    }
    if plan.is_shuffled {
        text.push_str(", shuffled");
    }
    if n_done > 0 {
        let _ = write!(text, "; going on after {}", count(n_done, "epoch"));
    }
    let _ = write!(text, "\nrun folder: {}\n", folder.file("").display());
    for note in &plan.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// The line of a complete epoch.
pub fn epoch(number: usize, trained: &Measured, validated: Option<&Measured>, epoch: &Epoch) -> String {
    let loss = |measured: &Measured| {
        let mut text = shown(measured.loss);
        if measured.n_unknown > 0 {
            let Measured { n_unknown, n_rows, why_unknown, .. } = measured;
            let _ = write!(text, " ({n_unknown} of {n_rows} rows have no known loss");
            if let Some(why) = why_unknown {
                let _ = write!(text, ": {why}");
            }
            text.push(')');
        }
        text
    };
    let mut text = format!("epoch {number}: loss {}", loss(trained));
    if let Some(validated) = validated {
        let _ = write!(text, ", validation {}", loss(validated));
    }
    for (name, value) in &epoch.metrics {
        let _ = write!(text, ", {name} {}", shown(*value));
    }
    let _ = write!(text, " ({:.1} s", epoch.seconds);
    if let Some(memory) = epoch.memory {
        let _ = write!(text, ", at most {memory:.0} MiB");
    }
    text + ")\n"
}

/// The line printed when training stops early.
pub fn stopped(checkpoint: &Checkpoint) -> String {
    match &checkpoint.best {
        Some((best, _)) => format!("stopped: nothing was better than epoch {best}\n"),
        None => String::new(),
    }
}

/// The result: the curve, the best epoch, and the command that uses it.
pub fn answer(checkpoint: &Checkpoint, folder: &Folder, program: &Path, model: &str) -> String {
    let mut text = checkpoint.curve();
    let Some((best, measured)) = &checkpoint.best else { return text };
    let _ = writeln!(text, "best epoch: {best}, {}", losses(measured));
    let (parameters, program) = (folder.parameters(), program.display());
    let _ = writeln!(text, "parameters: {}", parameters.display());
    let _ = writeln!(
        text,
        "try them: eddy run {program} --node {model} --in DATA --params {}",
        parameters.display()
    );
    text
}

/// The same as data.
pub fn answer_as_data(checkpoint: &Checkpoint, folder: &Folder, plan: &TrainPlan) -> Value {
    let best = checkpoint.best.as_ref().map(|(number, measured)| {
        let mut best = measured.result();
        best["epoch"] = json!(number);
        best
    });
    json!({
        "node": plan.node,
        "model": plan.model,
        "folder": folder.path().display().to_string(),
        "parameters": folder.parameters().display().to_string(),
        "epochs": checkpoint.n_epochs,
        "best": best,
    })
}

fn losses(epoch: &Epoch) -> String {
    let loss = epoch.loss;
    let mut text = match epoch.validation {
        Some(validation) => format!("loss {}, validation {}", shown(loss), shown(validation)),
        None => format!("loss {}", shown(loss)),
    };
    for (name, value) in &epoch.metrics {
        let _ = write!(text, ", {name} {}", shown(*value));
    }
    text
}

/// A loss with six decimals, or with an exponent where these would show no digits or too many.
pub fn shown(loss: f64) -> String {
    let size = loss.abs();
    if size != 0.0 && !(1e-4..1e9).contains(&size) { format!("{loss:.6e}") } else { format!("{loss:.6}") }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_loss_shows_its_digits() {
        let losses = [0.0, 1.5, -0.25, 123_456_789.0, 1e-4, 4.2e-9, -3e12, 1.56e164, f64::INFINITY];
        assert_eq!(
            losses.map(shown),
            [
                "0.000000",
                "1.500000",
                "-0.250000",
                "123456789.000000",
                "0.000100",
                "4.200000e-9",
                "-3.000000e12",
                "1.560000e164",
                "inf"
            ]
        );
    }
}
