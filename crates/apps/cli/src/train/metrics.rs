//! The measurements of each epoch.

use eddy_driver::train::Measured;
use serde_json::{Value, json};

/// One pass over the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Epoch {
    /// The mean loss while the parameters changed.
    pub loss: f64,
    /// The number of rows whose loss is unknown.
    n_unknown: usize,
    /// The mean loss on the validation data, after the epoch.
    pub validation: Option<f64>,
    n_validation_unknown: usize,
    /// The duration of the epoch.
    pub seconds: f64,
}

impl Epoch {
    pub fn new(trained: &Measured, validated: Option<&Measured>, seconds: f64) -> Epoch {
        Epoch {
            loss: trained.loss,
            n_unknown: trained.n_unknown,
            validation: validated.map(|validated| validated.loss),
            n_validation_unknown: validated.map_or(0, |validated| validated.n_unknown),
            // Rounded as in the file, so that reading returns the same value.
            seconds: (seconds * 1000.0).round() / 1000.0,
        }
    }

    /// The loss that early stopping and the choice of parameters compare.
    pub fn score(&self) -> f64 {
        self.validation.unwrap_or(self.loss)
    }

    /// One line of `metrics.jsonl`.
    pub fn line(&self, number: usize) -> String {
        let mut line = self.result();
        let seconds = json!(self.seconds);
        if let Value::Object(line) = &mut line {
            line.insert("seconds".to_string(), seconds);
            line.shift_insert(0, "epoch".to_string(), json!(number));
        }
        line.to_string() + "\n"
    }

    /// Reads such a line: the number and the epoch.
    pub fn from_line(line: &str) -> Option<(usize, Epoch)> {
        let line: Value = serde_json::from_str(line).ok()?;
        let number = usize::try_from(line.get("epoch")?.as_u64()?).ok()?;
        Some((number, Epoch { seconds: line.get("seconds")?.as_f64()?, ..Epoch::from_result(&line)? }))
    }

    /// The measurements that repeat when the run is repeated.
    pub fn result(&self) -> Value {
        let mut result = json!({ "loss": self.loss });
        if self.n_unknown > 0 {
            result["unknown"] = json!(self.n_unknown);
        }
        if let Some(validation) = self.validation {
            result["validation"] = json!(validation);
        }
        if self.n_validation_unknown > 0 {
            result["validation_unknown"] = json!(self.n_validation_unknown);
        }
        result
    }

    /// Reads such measurements.
    pub fn from_result(result: &Value) -> Option<Epoch> {
        let count = |key: &str| result.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let validation = match result.get("validation") {
            Some(validation) => Some(validation.as_f64()?),
            None => None,
        };
        Some(Epoch {
            loss: result.get("loss")?.as_f64()?,
            n_unknown: count("unknown").unwrap_or(0),
            validation,
            n_validation_unknown: count("validation_unknown").unwrap_or(0),
            seconds: 0.0,
        })
    }
}
