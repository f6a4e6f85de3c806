//! What is measured in each epoch.

use serde_json::{Value, json};

/// One pass over the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Epoch {
    /// The mean loss, while the parameters moved.
    pub loss: f64,
    /// The mean loss on the data for validation, afterwards.
    pub validation: Option<f64>,
    /// How long it took.
    pub seconds: f64,
}

impl Epoch {
    /// What early stopping and the choice of parameters go by.
    pub fn score(&self) -> f64 {
        self.validation.unwrap_or(self.loss)
    }

    /// One line of `metrics.jsonl`.
    pub fn line(&self, number: usize) -> String {
        let mut line = json!({ "epoch": number, "loss": self.loss });
        if let Some(validation) = self.validation {
            line["validation"] = json!(validation);
        }
        line["seconds"] = json!((self.seconds * 1000.0).round() / 1000.0);
        line.to_string() + "\n"
    }

    /// How long the epoch of such a line took.
    pub fn seconds_of(line: &str) -> Option<f64> {
        serde_json::from_str::<Value>(line).ok()?.get("seconds")?.as_f64()
    }

    /// What a checkpoint keeps of it: what is the same whenever the same is run.
    pub fn result(&self) -> Value {
        json!([self.loss, self.validation])
    }

    /// Reads what a checkpoint kept.
    pub fn from_result(result: &Value, seconds: f64) -> Option<Epoch> {
        let [loss, validation] = result.as_array()?.as_slice() else { return None };
        Some(Epoch { loss: loss.as_f64()?, validation: validation.as_f64(), seconds })
    }
}
