//! Eddy's side of a workload: a program of `bench/programs`, its constants, parameters and inputs, and how to
//! compute the check from its outputs.

use eddy_tensor::{Shape, Static, Value};

use super::super::numbers::{number, numbers, tensor};
use super::super::workload::{Part, Workload};

/// A program and its data.
pub struct Case {
    /// The path of the program in `bench/programs`.
    pub file: &'static str,
    pub node: &'static str,
    pub constants: Vec<(&'static str, Static)>,
    /// The values of parameters, by path.
    pub parameters: Vec<(String, Value)>,
    /// The values of the inputs that are present at each cycle, by name. A run of the workload is all cycles,
    /// or one for [`Workload::Stream`].
    pub cycles: Vec<Vec<(&'static str, Value)>>,
    pub check: Check,
}

/// How to compute the numbers that all sides must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The sum of the first output over all cycles, then the norm of all other outputs together.
    SumAndLength,
    /// The mean over all cycles of the squares of the output.
    MeanSquare,
    /// The sum of the first output, the norm of the next six, and the norm of the rest.
    SumAndLengths,
    /// The first output at the first and at the tenth cycle.
    FirstAndTenth,
}

impl Check {
    /// Computes the numbers from the outputs of all cycles.
    pub fn read(self, rows: &[Vec<Option<Value>>]) -> Vec<f64> {
        let first = |row: &[Option<Value>]| row[0].as_ref().map_or(f64::NAN, |value| elements(value)[0]);
        let sum: f64 = rows.iter().map(|row| first(row)).sum();
        let squares = |from: usize, to: usize| -> f64 {
            let values = rows.iter().flat_map(|row| &row[from..to.min(row.len())]).flatten();
            values.flat_map(elements).map(|x| x * x).sum()
        };
        let n_outputs = rows.first().map_or(0, Vec::len);
        match self {
            Check::SumAndLength if n_outputs == 1 => vec![sum],
            Check::SumAndLength => vec![sum, squares(1, n_outputs).sqrt()],
            Check::SumAndLengths => vec![sum, squares(1, 7).sqrt(), squares(7, n_outputs).sqrt()],
            Check::MeanSquare => {
                let n: usize = rows.iter().flatten().flatten().map(Value::n_elements).sum();
                vec![squares(0, 1) / n as f64]
            }
            Check::FirstAndTenth => vec![first(&rows[0]), rows.get(9).map_or(f64::NAN, |row| first(row))],
        }
    }
}

fn elements(value: &Value) -> Vec<f64> {
    let number = |element| match element {
        Value::Num(x) => x,
        Value::Num32(x) => f64::from(x),
        _ => f64::NAN,
    };
    value.elements().map(number).collect()
}

fn int(n: usize) -> Static {
    Static::Int(i64::try_from(n).expect("sizes are small"))
}

/// The prefix of the paths of a node's parameters. Values are computed by the node itself, derivatives by
/// another node that calls it.
fn within(node: &str, part: Part) -> String {
    if part == Part::First { String::new() } else { format!("{node}#1/") }
}

fn last(at: usize, n: usize) -> Value {
    Value::Bool(at + 1 == n)
}

impl Case {
    pub fn of(workload: Workload) -> Case {
        match workload {
            Workload::Lstm { units, inputs, steps, batch: 1, part } => lstm(units, inputs, steps, part),
            Workload::Lstm { units, inputs, steps, batch, part } => {
                lstm_batch(units, inputs, steps, batch, part)
            }
            Workload::Stream { units, inputs, steps } => stream(units, inputs, steps),
            Workload::Characters { layers, characters, bits, part } => {
                characters_model(layers, characters, bits, part)
            }
            Workload::Mixture { dimensions, components, points, part } => {
                mixture(dimensions, components, points, part)
            }
            Workload::Perceptron { inputs, hidden, classes, batch } => {
                perceptron(inputs, hidden, classes, batch)
            }
            Workload::Curvature { inputs, hidden, batch, part } => curvature(inputs, hidden, batch, part),
        }
    }
}

fn lstm(units: usize, inputs: usize, steps: usize, part: Part) -> Case {
    let x = |t: usize| tensor(&[inputs], |i| number(3, (t * inputs + i) as u64, 1.0));
    Case {
        file: "lstm.eddy",
        node: if part == Part::First { "energy" } else { "gradient" },
        constants: vec![("units", int(units)), ("inputs", int(inputs)), ("steps", int(steps))],
        parameters: layer(&format!("{}layer#1/", within("energy", part)), units, inputs),
        cycles: (0..steps).map(|t| vec![("x", x(t)), ("end", last(t, steps))]).collect(),
        check: Check::SumAndLength,
    }
}

fn lstm_batch(units: usize, inputs: usize, steps: usize, batch: usize, part: Part) -> Case {
    // Here columns are sequences; in the agreed order the numbers of a sequence are adjacent.
    let x = |t: usize| {
        tensor(&[inputs, batch], |at| number(3, ((t * batch + at % batch) * inputs + at / batch) as u64, 1.0))
    };
    let sizes = [("units", units), ("inputs", inputs), ("batch", batch), ("steps", steps)];
    Case {
        file: "lstm-batch.eddy",
        node: if part == Part::First { "energy" } else { "gradient" },
        constants: sizes.into_iter().map(|(name, size)| (name, int(size))).collect(),
        parameters: layer(&format!("{}layer#1/", within("energy", part)), units, inputs),
        cycles: (0..steps).map(|t| vec![("x", x(t)), ("end", last(t, steps))]).collect(),
        check: Check::SumAndLength,
    }
}

fn stream(units: usize, inputs: usize, steps: usize) -> Case {
    let x = |t: usize| tensor(&[inputs], |i| number(3, (t * inputs + i) as u64, 1.0));
    Case {
        file: "lstm.eddy",
        node: "layer",
        constants: vec![("units", int(units)), ("inputs", int(inputs))],
        parameters: layer("", units, inputs),
        cycles: (0..steps).map(|t| vec![("x", x(t))]).collect(),
        check: Check::MeanSquare,
    }
}

fn layer(path: &str, units: usize, inputs: usize) -> Vec<(String, Value)> {
    vec![
        (format!("{path}kernel"), numbers(1, &[4 * units, inputs + units], 0.1)),
        (format!("{path}bias"), numbers(2, &[4 * units], 0.1)),
    ]
}

fn characters_model(layers: usize, characters: usize, bits: usize, part: Part) -> Case {
    let steps = characters - 1;
    let character =
        |t: usize| tensor(&[bits], |i| if number(2, (t * bits + i) as u64, 1.0) > 0.0 { 1.0 } else { 0.0 });
    let model = within(if layers == 2 { "model2" } else { "model4" }, part);
    let mut parameters = vec![(format!("{model}extra"), numbers(1, &[3, bits], 1.0))];
    for layer in 1..=layers {
        let seed = 8 + 2 * layer as u64;
        parameters.push((format!("{model}cell#{layer}/weight"), numbers(seed, &[4, bits], 1.0)));
        parameters.push((format!("{model}cell#{layer}/bias"), numbers(seed + 1, &[4, bits], 1.0)));
    }
    let cycle = |t: usize| vec![("x", character(t)), ("gold", character(t + 1)), ("end", last(t, steps))];
    Case {
        file: "gradbench-lstm.eddy",
        node: match (layers, part) {
            (2, Part::First) => "model2",
            (2, Part::Second) => "gradient2",
            (4, Part::First) => "model4",
            (4, Part::Second) => "gradient4",
            _ => unreachable!("the program has models of 2 and of 4 layers"),
        },
        constants: vec![("bits", int(bits)), ("steps", int(steps))],
        parameters,
        cycles: (0..steps).map(cycle).collect(),
        check: Check::SumAndLength,
    }
}

/// The number of points per cycle is the largest divisor of `n` up to this, preferably a multiple of 8, to
/// fill vectors. Many points are better, since values that do not depend on points are computed once per
/// cycle; few points are better, since all intermediate values should fit into a cache.
const MOST_POINTS: usize = 200;

fn mixture(d: usize, k: usize, n: usize, part: Part) -> Case {
    let divisors = (1..=MOST_POINTS.min(n)).filter(|points| n.is_multiple_of(*points));
    let points = divisors.max_by_key(|points| (points.is_multiple_of(8), *points)).expect("1 divides");
    let cycles = n / points;
    // Here columns are points; in the agreed order the numbers of a point are adjacent.
    let x = |cycle: usize| {
        tensor(&[d, points], |at| number(5, ((cycle * points + at % points) * d + at / points) as u64, 1.0))
    };
    // In the agreed order components come first; here rows do.
    let component_first = |at: usize| (at % k * d + at / k) as u64;
    let row_of_component = |at: usize| component_first(at / d) * d as u64 + (at % d) as u64;
    let prefix = within("posterior", part);
    Case {
        file: "gmm.eddy",
        node: if part == Part::First { "posterior" } else { "gradient" },
        constants: vec![
            ("d", int(d)),
            ("k", int(k)),
            ("points", int(points)),
            ("share", Static::Num(1.0 / cycles as f64)),
            ("constant", Static::Num(constant(d, k, n) / n as f64)),
        ],
        parameters: vec![
            (format!("{prefix}alpha"), numbers(1, &[k], 1.0)),
            (format!("{prefix}mu"), numbers(2, &[k, d], 1.0)),
            (format!("{prefix}q"), tensor(&[d, k], |at| number(3, component_first(at), 0.1))),
            (format!("{prefix}l"), tensor(&[d, k, d], |at| number(4, row_of_component(at), 0.1))),
        ],
        cycles: (0..cycles).map(|cycle| vec![("x", x(cycle)), ("end", last(cycle, cycles))]).collect(),
        check: Check::SumAndLength,
    }
}

/// The part of a mixture's log posterior that does not depend on parameters; the Wishart prior has gamma 1
/// and m 0.
fn constant(d: usize, k: usize, n: usize) -> f64 {
    use std::f64::consts::{LN_2, PI};
    let (dims, freedom) = (d as f64, (d + 1) as f64);
    // The arguments of the gamma function are multiples of a half: they go down from (d + 1) / 2 in halves.
    let mut gamma = 0.25 * dims * (dims - 1.0) * PI.ln();
    for j in 1..=d {
        gamma += log_gamma_of_halves(d + 2 - j);
    }
    -0.5 * n as f64 * dims * (2.0 * PI).ln() - k as f64 * (-freedom * dims * 0.5 * LN_2 - gamma)
}

/// log Γ(n / 2), from Γ(x + 1) = x Γ(x).
fn log_gamma_of_halves(n: usize) -> f64 {
    let start = if n.is_multiple_of(2) { 0.0 } else { 0.5 * std::f64::consts::PI.ln() };
    let factors = (n % 2..n.saturating_sub(1)).step_by(2).filter(|twice| *twice > 0);
    start + factors.map(|twice| (twice as f64 / 2.0).ln()).sum::<f64>()
}

fn perceptron(inputs: usize, hidden: usize, classes: usize, batch: usize) -> Case {
    let x = numbers(5, &[batch, inputs], 1.0);
    let wanted =
        tensor(&[batch, classes], |at| if at % classes == at / classes % classes { 1.0 } else { 0.0 });
    let cycle = || vec![("x", x.clone()), ("gt", wanted.clone())];
    Case {
        file: "mlp.eddy",
        node: "step",
        constants: vec![("inputs", int(inputs)), ("hidden", int(hidden)), ("classes", int(classes))],
        parameters: vec![
            ("network#1/w1".to_owned(), numbers(1, &[inputs, hidden], 0.05)),
            ("network#1/b1".to_owned(), numbers(2, &[hidden], 0.05)),
            ("network#1/w2".to_owned(), numbers(3, &[hidden, classes], 0.05)),
            ("network#1/b2".to_owned(), numbers(4, &[classes], 0.05)),
        ],
        cycles: (0..10).map(|_| cycle()).collect(),
        check: Check::FirstAndTenth,
    }
}

fn curvature(inputs: usize, hidden: usize, batch: usize, part: Part) -> Case {
    let shapes: [&[usize]; 6] =
        [&[inputs, hidden], &[hidden], &[hidden, hidden], &[hidden], &[hidden, 1], &[1]];
    let names = ["w1", "b1", "w2", "b2", "w3", "b3"];
    let seeded =
        |from: u64, scale: f64| (from..).zip(shapes).map(move |(seed, shape)| numbers(seed, shape, scale));
    let mut cycle = vec![("x", numbers(7, &[batch, inputs], 1.0)), ("gt", numbers(8, &[batch, 1], 1.0))];
    if part == Part::Second {
        cycle.extend(["v1", "v2", "v3", "v4", "v5", "v6"].into_iter().zip(seeded(11, 1.0)));
    }
    let parameters = names.iter().zip(seeded(1, 0.3));
    Case {
        file: "hvp.eddy",
        node: if part == Part::First { "gradient" } else { "product" },
        constants: vec![("inputs", int(inputs)), ("hidden", int(hidden))],
        parameters: parameters.map(|(name, value)| (format!("loss_of#1/{name}"), value)).collect(),
        cycles: vec![cycle],
        check: if part == Part::First { Check::SumAndLength } else { Check::SumAndLengths },
    }
}

/// The type of an input: whether it is a `bool`, and its shape.
pub fn shape_of(case: &Case, input: &str) -> Option<(bool, Shape)> {
    let value = case.cycles.first()?.iter().find(|(name, _)| *name == input).map(|(_, value)| value)?;
    Some((matches!(value, Value::Bool(_)), value.shape().clone()))
}
