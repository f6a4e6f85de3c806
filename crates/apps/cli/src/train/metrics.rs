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
    /// The metrics after the epoch, by name: on the validation data, or on the training data without any.
    pub metrics: Vec<(String, f64)>,
    /// The largest amount of memory so far, in mebibytes, if it is traced.
    pub memory: Option<f64>,
    /// The duration of the epoch.
    pub seconds: f64,
}

/// The keys of a line that are no metrics.
const OWN_KEYS: [&str; 7] =
    ["epoch", "loss", "unknown", "validation", "validation_unknown", "memory_mib", "seconds"];

/// Whether a metric may have this name.
pub fn is_free(name: &str) -> bool {
    !OWN_KEYS.contains(&name)
}

/// What is compared to find the best epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// `loss`, `validation` or a metric; `None` for the validation loss, or the loss without validation.
    name: Option<String>,
    is_largest: bool,
}

impl Goal {
    /// The validation loss, or the loss without validation.
    pub const LOSS: Goal = Goal { name: None, is_largest: false };

    /// Reads `max:accuracy` or `min:error`.
    pub fn parse(text: &str) -> Result<Goal, String> {
        let (direction, name) = text.split_once(':').ok_or("write max:NAME or min:NAME")?;
        let is_largest = match direction {
            "max" => true,
            "min" => false,
            _ => return Err("it begins with `max:` or `min:`".to_string()),
        };
        Ok(Goal { name: Some(name.to_string()), is_largest })
    }

    /// The name of what is compared, if it is named.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The number that is compared; smaller is better.
    fn score(&self, epoch: &Epoch) -> Option<f64> {
        let value = match self.name() {
            None => Some(epoch.validation.unwrap_or(epoch.loss)),
            Some("loss") => Some(epoch.loss),
            Some("validation") => epoch.validation,
            Some(name) => epoch.metric(name),
        };
        value.map(|value| if self.is_largest { -value } else { value })
    }

    /// Whether an epoch is better than the best one so far. Losses on different data are not comparable: if a
    /// resumed run adds or drops validation, its first epoch is the best.
    pub fn is_better(&self, epoch: &Epoch, best: &Epoch) -> bool {
        match (self.score(epoch), self.score(best)) {
            _ if epoch.validation.is_some() != best.validation.is_some() => true,
            (Some(score), Some(best)) => score < best,
            (score, _) => score.is_some(),
        }
    }
}

impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let direction = if self.is_largest { "max" } else { "min" };
        write!(f, "{direction}:{}", self.name().unwrap_or("loss"))
    }
}

impl Epoch {
    pub fn new(trained: &Measured, validated: Option<&Measured>, seconds: f64) -> Epoch {
        Epoch {
            loss: trained.loss,
            n_unknown: trained.n_unknown,
            validation: validated.map(|validated| validated.loss),
            n_validation_unknown: validated.map_or(0, |validated| validated.n_unknown),
            metrics: Vec::new(),
            memory: None,
            // Rounded as in the file, so that reading returns the same value.
            seconds: (seconds * 1000.0).round() / 1000.0,
        }
    }

    /// The same with the values of metrics, and the memory.
    #[must_use]
    pub fn with_metrics(self, metrics: Vec<(String, f64)>, memory: Option<f64>) -> Epoch {
        Epoch { metrics, memory, ..self }
    }

    /// The value of a metric.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.iter().find(|(other, _)| other == name).map(|(_, value)| *value)
    }

    /// One line of `metrics.jsonl`.
    pub fn line(&self, number: usize) -> String {
        let mut line = self.result();
        let seconds = json!(self.seconds);
        if let Value::Object(line) = &mut line {
            if let Some(memory) = self.memory {
                line.insert("memory_mib".to_string(), json!(memory));
            }
            line.insert("seconds".to_string(), seconds);
            line.shift_insert(0, "epoch".to_string(), json!(number));
        }
        line.to_string() + "\n"
    }

    /// Reads such a line: the number and the epoch.
    pub fn from_line(line: &str) -> Option<(usize, Epoch)> {
        let line: Value = serde_json::from_str(line).ok()?;
        let number = usize::try_from(line.get("epoch")?.as_u64()?).ok()?;
        let memory = line.get("memory_mib").and_then(Value::as_f64);
        let seconds = line.get("seconds")?.as_f64()?;
        Some((number, Epoch { memory, seconds, ..Epoch::from_result(&line)? }))
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
        for (name, value) in &self.metrics {
            result[name] = json!(value);
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
            metrics: result
                .as_object()?
                .iter()
                .filter(|(key, _)| is_free(key))
                .filter_map(|(key, value)| Some((key.clone(), value.as_f64()?)))
                .collect(),
            memory: None,
            seconds: 0.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epoch(loss: f64, validation: Option<f64>, accuracy: f64) -> Epoch {
        let metrics = vec![("accuracy".to_string(), accuracy)];
        let (n_unknown, n_validation_unknown) = (0, 0);
        Epoch { loss, n_unknown, validation, n_validation_unknown, metrics, memory: Some(1.5), seconds: 0.25 }
    }

    #[test]
    fn a_line_reads_back() {
        let epoch = epoch(0.5, Some(0.25), 0.75);
        let line = epoch.line(3);
        let expected = "{\"epoch\":3,\"loss\":0.5,\"validation\":0.25,\"accuracy\":0.75,\"memory_mib\":1.5,\"seconds\":0.25}\n";
        assert_eq!(line, expected);
        assert_eq!(Epoch::from_line(&line), Some((3, epoch)));
    }

    #[test]
    fn the_best_epoch_is_that_of_the_goal() {
        let (low, accurate) = (epoch(0.1, None, 0.5), epoch(0.2, None, 0.9));
        let goal = |text: &str| Goal::parse(text).expect("it is right");
        assert!(Goal::LOSS.is_better(&low, &accurate) && goal("min:loss").is_better(&low, &accurate));
        assert!(goal("max:accuracy").is_better(&accurate, &low));
        assert!(!goal("max:accuracy").is_better(&low, &accurate));
        // Losses on other data are not compared.
        assert!(Goal::LOSS.is_better(&epoch(9.0, Some(9.0), 0.0), &low));
        assert!(Goal::parse("accuracy").is_err() && Goal::parse("best:x").is_err());
    }
}
