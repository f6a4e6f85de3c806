//! What is measured in each epoch.

use serde_json::{Value, json};

/// One pass over the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Epoch {
    /// The mean loss, while the parameters moved.
    pub loss: Option<f64>,
    /// The mean loss on the data for validation, afterwards.
    pub validation: Option<f64>,
    /// How long it took.
    pub seconds: f64,
}

impl Epoch {
    /// What early stopping and the choice of parameters go by.
    pub fn score(&self) -> Option<f64> {
        self.validation.or(self.loss)
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

    /// Reads such a line.
    pub fn parse(line: &str) -> Option<Epoch> {
        let value: Value = serde_json::from_str(line).ok()?;
        let number = |key: &str| value.get(key).and_then(Value::as_f64);
        Some(Epoch {
            loss: number("loss"),
            validation: number("validation"),
            seconds: number("seconds").unwrap_or(0.0),
        })
    }
}
