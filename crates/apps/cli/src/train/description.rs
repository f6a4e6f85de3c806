//! `run.json`: describes a run, and finds the changes when a run is resumed.

use std::path::Path;

use eddy_driver::EngineKind;
use eddy_driver::train::{BatchLoss, TrainPlan};
use eddy_syntax::Sources;
use serde_json::{Map, Value, json};

use crate::languages::reactive::derivatives::TrainArgs;

/// Something that a run depends on: its key and value in `run.json`, and its name in messages if it may
/// change when a run is resumed.
struct Fact {
    key: &'static str,
    value: Value,
    name: Option<&'static str>,
}

/// The description of the current run.
pub struct Description {
    facts: Vec<Fact>,
}

impl Description {
    pub fn new(args: &TrainArgs, file: &Path, plan: &TrainPlan, sources: &Sources) -> Description {
        let hash = |text: &str| json!(blake3::hash(text.as_bytes()).to_hex().to_string());
        let imports: Map<String, Value> =
            sources.imported().map(|file| (file.name().to_string(), hash(file.text()))).collect();
        let constants: Vec<String> =
            args.constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let batch_loss = match args.batch_loss {
            BatchLoss::Mean => "mean",
            BatchLoss::Sum => "sum",
        };
        let fact = |key, value, name| Fact { key, value, name: Some(name) };
        let kept = |key, value| Fact { key, value, name: None };
        let facts = vec![
            fact("eddy", json!(env!("CARGO_PKG_VERSION")), "the version of Eddy"),
            kept("program", json!(file.display().to_string())),
            fact("source_hash", hash(sources.main().text()), "the program"),
            fact("imports", Value::Object(imports), "an imported file"),
            fact("node", json!(plan.node), "the node"),
            kept("parameters", json!(plan.n_parameters)),
            kept("numbers", json!(plan.n_numbers)),
            kept("rows", json!(plan.n_rows)),
            kept("sequences", json!(plan.n_sequences)),
            kept("data", json!(args.data)),
            fact("data_hash", json!(plan.data_hash), "the data"),
            kept("validation", json!(args.validate)),
            fact("validation_hash", json!(plan.validation_hash), "the validation"),
            kept("epochs", json!(args.epochs)),
            fact("patience", json!(args.patience), "the patience"),
            fact("best", json!(args.best.as_ref().map(ToString::to_string)), "what the best epoch is"),
            fact("metrics", json!(args.metrics), "the metrics"),
            kept("answers", json!(args.answers)),
            kept("trace_memory", json!(args.trace_memory)),
            fact("batch", json!(args.batch), "the batch"),
            fact("batch_loss", json!(batch_loss), "what is minimised of a batch"),
            fact("seed", json!(args.seed), "the seed"),
            fact("shuffled", json!(plan.is_shuffled), "whether rows are shuffled"),
            fact("sequence", json!(args.sequence), "the length of sequences"),
            fact("cut", json!(args.cut), "where gradients are cut"),
            fact("constants", json!(constants), "the constants"),
            fact("encoding", plan.encoding.to_json(), "how data become inputs"),
            fact("split", json!(args.split), "the part to learn from"),
            fact("split_by", json!(args.split_by), "the column that divides the data"),
            fact("stream", json!(args.stream), "whether data are streamed"),
            fact("pad", json!(args.pad), "whether batches are padded"),
            fact("precision", json!(if args.f32 { "f32" } else { "f64" }), "the precision"),
            kept("params", json!(args.params.as_ref().map(|path| path.display().to_string()))),
            // Engine and threads do not change the bits of the result.
            kept("engine", json!(args.engine.map(EngineKind::name))),
            kept("threads", json!(args.threads)),
            kept("max_window", json!(args.max_window)),
            kept("checkpoint", json!(args.checkpoint)),
            kept("shadow", json!(!args.no_shadow)),
            kept("equations", json!(args.limits.equations.equations)),
            kept("memory", json!(args.limits.mebibytes())),
        ];
        Description { facts }
    }

    /// The text of `run.json`.
    pub fn text(&self) -> String {
        let facts: Map<String, Value> =
            self.facts.iter().map(|fact| (fact.key.to_string(), fact.value.clone())).collect();
        serde_json::to_string_pretty(&facts).expect("it has no maps with odd keys") + "\n"
    }

    /// The facts that differ from an earlier `run.json`: with them, a resumed run gives another result than
    /// without the interruption.
    pub fn changes(&self, before: &str) -> Vec<String> {
        let Ok(before) = serde_json::from_str::<Value>(before) else {
            return vec![
                "`run.json` is lost or damaged, so changes since the run began cannot be detected"
                    .to_string(),
            ];
        };
        let mut changes = Vec::new();
        for Fact { key, value, name } in &self.facts {
            let (Some(name), Some(then)) = (name, before.get(key)) else { continue };
            if then == value {
                continue;
            }
            let values = if let Value::Object(now) = value {
                format!(": {}", changed_keys(then, now).join(", "))
            } else if key.ends_with("_hash") {
                String::new()
            } else {
                format!(": it was {} and is {}", shown(then), shown(value))
            };
            changes.push(format!("{name} changed since the run began{values}"));
        }
        changes
    }
}

/// A value in a message: an absent option is null in `run.json`.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "not given".to_string(),
        _ => value.to_string(),
    }
}

/// The keys that only one of the two has, or whose values differ.
fn changed_keys(then: &Value, now: &Map<String, Value>) -> Vec<String> {
    let empty = Map::new();
    let then = then.as_object().unwrap_or(&empty);
    let gone = then.keys().filter(|key| !now.contains_key(*key));
    let changed = now.iter().filter(|(key, value)| then.get(*key) != Some(value)).map(|(key, _)| key);
    gone.chain(changed).map(|name| format!("`{name}`")).collect()
}
