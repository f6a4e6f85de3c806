//! The workloads; their names contain their sizes.
//!
//! `lstm-train-h64-b1` has 64 units and a batch of 1. Sizes that a name omits have the default of
//! `bench/README.md`, so `lstm-train-h4-b2-i3-t5` is a small workload for tests.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// A recurrent layer over sequences, with or without derivatives of the weights.
    Lstm { units: usize, inputs: usize, steps: usize, batch: usize, part: Part },
    /// One step of the layer.
    Stream { units: usize, inputs: usize, steps: usize },
    /// `GradBench`'s lstm.
    Characters { layers: usize, characters: usize, bits: usize, part: Part },
    /// `GradBench`'s gmm.
    Mixture { dimensions: usize, components: usize, points: usize, part: Part },
    /// One step of gradient descent for a perceptron.
    Perceptron { inputs: usize, hidden: usize, classes: usize, batch: usize },
    /// The gradient of a network with two hidden layers, or its Hessian times a vector.
    Curvature { inputs: usize, hidden: usize, batch: usize, part: Part },
}

/// The simpler or the harder half of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The value; for [`Workload::Curvature`] the gradient.
    First,
    /// Its derivatives; for [`Workload::Curvature`] the product.
    Second,
}

/// A row of the table with its targets.
pub struct Target {
    pub name: &'static str,
    /// The largest allowed ratio to the time of the best peer.
    pub of_peer: Option<f64>,
    /// The largest allowed ratio to the time of the twin.
    pub of_twin: Option<f64>,
}

const fn target(name: &'static str, of_peer: f64) -> Target {
    Target { name, of_peer: Some(of_peer), of_twin: None }
}

const fn both(name: &'static str, of_peer: f64, of_twin: f64) -> Target {
    Target { name, of_peer: Some(of_peer), of_twin: Some(of_twin) }
}

const fn shown(name: &'static str) -> Target {
    Target { name, of_peer: None, of_twin: None }
}

/// All workloads, in the order of the table.
pub const TARGETS: &[Target] = &[
    both("lstm-train-h64-b1", 0.55, 1.4),
    both("lstm-train-h128-b1", 0.8, 1.4),
    both("lstm-train-h256-b1", 0.9, 1.4),
    target("lstm-train-h64-b32", 0.9),
    target("lstm-train-h128-b32", 0.9),
    target("lstm-train-h256-b32", 0.9),
    shown("lstm-forward-h64-b1"),
    shown("lstm-forward-h128-b1"),
    shown("lstm-forward-h256-b1"),
    both("lstm-stream-h64", 0.25, 1.3),
    both("lstm-stream-h128", 0.45, 1.3),
    both("lstm-stream-h256", 0.7, 1.3),
    target("gradbench-lstm-l2-c1024-objective", 0.15),
    target("gradbench-lstm-l2-c1024-gradient", 0.15),
    target("gradbench-lstm-l4-c4096-objective", 0.15),
    target("gradbench-lstm-l4-c4096-gradient", 0.15),
    target("gmm-d10-k25-n1000-objective", 0.5),
    target("gmm-d10-k25-n1000-gradient", 0.5),
    target("gmm-d10-k25-n10000-objective", 0.5),
    target("gmm-d10-k25-n10000-gradient", 0.5),
    target("gmm-d64-k25-n1000-objective", 0.5),
    target("gmm-d64-k25-n1000-gradient", 0.5),
    target("mlp-784-100-10-b32", 0.9),
    shown("hvp-8-32-32-1-b64-gradient"),
    target("hvp-8-32-32-1-b64-product", 1.0),
];

/// How to build the twin of a workload.
pub struct Twin {
    pub source: &'static str,
    pub defines: Vec<(&'static str, usize)>,
    /// The part that the twin times.
    pub part: Part,
}

impl Workload {
    /// Parses the name of a workload.
    pub fn named(name: &str) -> Option<Workload> {
        let size = |letter: char, otherwise: usize| {
            let part = name.split('-').find_map(|part| part.strip_prefix(letter)?.parse().ok());
            part.unwrap_or(otherwise)
        };
        let part_with = |end: &str| if name.ends_with(end) { Part::Second } else { Part::First };
        let part = part_with("-gradient");
        let plain: Vec<usize> = name.split('-').filter_map(|part| part.parse().ok()).collect();
        let (units, inputs, steps) = (size('h', 64), size('i', 32), size('t', 100));
        Some(match name.split('-').next()? {
            "lstm" if name.starts_with("lstm-stream") => Workload::Stream { units, inputs, steps },
            "lstm" => {
                let part = if name.starts_with("lstm-train") { Part::Second } else { Part::First };
                Workload::Lstm { units, inputs, steps, batch: size('b', 1), part }
            }
            "gradbench" => Workload::Characters {
                layers: size('l', 2),
                characters: size('c', 1024),
                bits: size('b', 14),
                part,
            },
            "gmm" => Workload::Mixture {
                dimensions: size('d', 10),
                components: size('k', 25),
                points: size('n', 1000),
                part,
            },
            "mlp" => {
                let [inputs, hidden, classes] = plain[..] else { return None };
                Workload::Perceptron { inputs, hidden, classes, batch: size('b', 32) }
            }
            "hvp" => {
                let [inputs, hidden, ..] = plain[..] else { return None };
                Workload::Curvature { inputs, hidden, batch: size('b', 64), part: part_with("-product") }
            }
            _ => return None,
        })
    }

    pub fn twin(self) -> Twin {
        match self {
            Workload::Lstm { units, inputs, steps, batch, part } => Twin {
                source: if batch == 1 { "lstm_train.c" } else { "lstm_train_batch.c" },
                defines: vec![("UNITS", units), ("INPUTS", inputs), ("STEPS", steps), ("BATCH", batch)],
                part,
            },
            Workload::Stream { units, inputs, steps } => Twin {
                source: "lstm_stream.c",
                defines: vec![("UNITS", units), ("INPUTS", inputs), ("STEPS", steps)],
                part: Part::First,
            },
            Workload::Characters { layers, characters, bits, part } => Twin {
                source: "gradbench_lstm.c",
                defines: vec![("LAYERS", layers), ("CHARACTERS", characters), ("BITS", bits)],
                part,
            },
            Workload::Mixture { dimensions, components, points, part } => Twin {
                source: "gmm.c",
                defines: vec![("DIMENSIONS", dimensions), ("COMPONENTS", components), ("POINTS", points)],
                part,
            },
            Workload::Perceptron { inputs, hidden, classes, batch } => Twin {
                source: "mlp.c",
                defines: vec![("INPUTS", inputs), ("HIDDEN", hidden), ("CLASSES", classes), ("BATCH", batch)],
                part: Part::First,
            },
            Workload::Curvature { inputs, hidden, batch, part } => Twin {
                source: "hvp.c",
                defines: vec![("INPUTS", inputs), ("HIDDEN", hidden), ("BATCH", batch)],
                part,
            },
        }
    }

    /// The script of the peers, and their names. [`SLOW_PEER`] compiles for up to a minute; quick runs skip
    /// it.
    pub fn peers(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Workload::Lstm { part: Part::First, .. } => ("lstm.py", &["jax", "torch", "onnxruntime"]),
            Workload::Lstm { .. } => ("lstm.py", &["jax", "torch"]),
            Workload::Stream { .. } => ("lstm_stream.py", &["jax", "torch", "onnxruntime"]),
            // PyTorch takes seconds for one gradient of the long sequence.
            Workload::Characters { characters: 0..=1024, .. } => ("gradbench_lstm.py", &["jax", "torch"]),
            Workload::Characters { .. } => ("gradbench_lstm.py", &["jax"]),
            Workload::Mixture { .. } => ("gmm.py", &["jax", "torch", SLOW_PEER]),
            Workload::Perceptron { .. } => ("mlp.py", &["jax", "torch", SLOW_PEER]),
            Workload::Curvature { .. } => ("hvp.py", &["jax", "torch"]),
        }
    }

    /// Whether numbers are in single precision, as is usual for such networks.
    pub fn is_single(self) -> bool {
        matches!(self, Workload::Lstm { .. } | Workload::Stream { .. } | Workload::Perceptron { .. })
    }

    /// The largest relative difference between checks.
    pub fn tolerance(self) -> f64 {
        if self.is_single() { 1e-4 } else { 1e-9 }
    }
}

/// See [`Workload::peers`].
pub const SLOW_PEER: &str = "torch.compile";

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::First => "0",
            Part::Second => "1",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_contain_sizes() {
        let part = Part::Second;
        assert_eq!(
            Workload::named("lstm-train-h4-b2-i3-t5"),
            Some(Workload::Lstm { units: 4, inputs: 3, steps: 5, batch: 2, part })
        );
        assert_eq!(
            Workload::named("gradbench-lstm-l4-c4096-gradient"),
            Some(Workload::Characters { layers: 4, characters: 4096, bits: 14, part })
        );
        assert_eq!(
            Workload::named("hvp-8-32-32-1-b64-product"),
            Some(Workload::Curvature { inputs: 8, hidden: 32, batch: 64, part })
        );
        assert_eq!(
            Workload::named("hvp-8-32-32-1-b64-gradient"),
            Some(Workload::Curvature { inputs: 8, hidden: 32, batch: 64, part: Part::First })
        );
        assert_eq!(Workload::named("sorting-n10"), None);
    }

    #[test]
    fn all_targets_are_workloads() {
        for target in TARGETS {
            assert!(Workload::named(target.name).is_some(), "{}", target.name);
        }
    }
}
