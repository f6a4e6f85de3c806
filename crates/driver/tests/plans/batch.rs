//! L9: a batch of streams equals as many runs of one stream each.
//!
//! Without learning, results are equal bit for bit. A batch learns from the mean of all gradients, or from
//! their sum if requested.

use std::cell::RefCell;

use eddy_driver::lock_step::joined;
use eddy_flow::{Kind, VarId};
use eddy_language::codes;
use eddy_language::elaborate::{BatchLoss, ElaborationOptions};
use eddy_language::prepare::Prepared;
use eddy_language::semantics::Cell;
use eddy_language::semantics::simulate::{self, Simulation};
use eddy_tensor::slices::{split, stack};
use eddy_tensor::{Data, Op, Scalar, Type, Value};

use crate::compiled::{Folder, How, PLAIN, agrees};
use crate::generated::case::Ready;
use crate::generated::compare::{is_below, show};
use crate::generated::engines::{Rows, SEED, cells, simulate};
use crate::generated::harness::{Trial, Verdict, law};
use crate::samples::{Family, Sample, prepared_given};

/// Why a program cannot be batched.
enum Refusal {
    /// An `if` would have to choose for each stream separately which branch it waits for.
    WaitsForBoth,
    Wrong(String),
}

impl From<Refusal> for Trial {
    fn from(refusal: Refusal) -> Trial {
        match refusal {
            Refusal::WaitsForBoth => Ok(Verdict::Vacuous("waits for both branches")),
            Refusal::Wrong(message) => Err(message),
        }
    }
}

/// The batch; without one, the law does not apply.
macro_rules! batched {
    ($batched:expr) => {
        match $batched {
            Ok(batched) => batched,
            Err(refusal) => return Trial::from(refusal),
        }
    };
}

fn has_choices(ready: &Ready) -> bool {
    ready.flow().equations.iter().any(|equation| matches!(equation.kind, Kind::Apply(Op::If, _)))
}

/// The program of a sample for some streams, its inputs, and the inputs of each stream.
struct Batched {
    ready: Ready,
    streams: Vec<Ready>,
}

impl Batched {
    fn new(sample: &Sample, ready: &Ready, n: usize) -> Result<Batched, Refusal> {
        let given = ElaborationOptions { batch: Some(n), ..ElaborationOptions::default() };
        let prepared =
            prepared_given(&sample.text, &sample.node, &given).map_err(|found| match found[0].code {
                codes::CAUSALITY if has_choices(ready) => Refusal::WaitsForBoth,
                code => Refusal::Wrong(format!("not accepted: {code} {}", found[0].title)),
            })?;
        let batch = prepared.batch.as_ref().expect("it was asked for");
        let is_wide: Vec<bool> = prepared.flow.inputs.iter().map(|input| batch.is_wide(*input)).collect();
        let streams: Vec<Rows> = (0..n)
            .map(|stream| {
                let rows = ready.inputs.iter().zip(&is_wide);
                rows.map(|(row, is_wide)| {
                    row.iter().map(|cell| varied(cell, if *is_wide { stream } else { 0 })).collect()
                })
                .collect()
            })
            .collect();
        let inputs = is_wide.iter().enumerate().map(|(input, is_wide)| {
            let cells = (0..ready.n_cycles).map(|cycle| match (&ready.inputs[input][cycle], is_wide) {
                (Cell::Value(_), true) => {
                    let values: Vec<&Value> =
                        streams.iter().filter_map(|rows| rows[input][cycle].value()).collect();
                    Cell::Value(stack(&values))
                }
                (cell, _) => cell.clone(),
            });
            cells.collect()
        });
        let inputs = inputs.collect();
        let streams = streams.into_iter().map(|rows| ready.with_inputs(rows, ready.n_cycles)).collect();
        Ok(Batched { ready: Ready { prepared, inputs, n_cycles: ready.n_cycles }, streams })
    }

    /// The cells of an output in one stream.
    fn cells(&self, rows: &Rows, output: usize, stream: usize) -> Vec<Cell> {
        let flow = self.ready.flow();
        let batch = self.ready.prepared.batch.as_ref().expect("it was asked for");
        let var = flow.outputs[output];
        let own = |cell: &Cell| match cell {
            Cell::Value(value) if batch.is_wide(var) => Cell::Value(split(value)[stream].clone()),
            other => other.clone(),
        };
        rows[var.index()].iter().map(own).collect()
    }
}

/// A cell of another stream.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)] // there are few streams
fn varied(cell: &Cell, stream: usize) -> Cell {
    let Cell::Value(value) = cell else { return cell.clone() };
    let element = |value: Value| match value {
        Value::Num(x) => Value::Num(x * (1.0 - 0.25 * stream as f64) + 0.125 * stream as f64),
        Value::Int(i) => Value::Int(i + stream as i64),
        Value::Bool(truth) => Value::Bool(truth ^ (stream % 2 == 1)),
        other => other,
    };
    let elements: Vec<Value> = value.elements().map(element).collect();
    let number = |value: &Value| if let Value::Num(x) = value { *x } else { 0.0 };
    let integer = |value: &Value| if let Value::Int(i) = value { *i } else { 0 };
    let data = match elements.first() {
        None => return cell.clone(),
        Some(Value::Bool(_)) => {
            Data::Bool(elements.iter().map(|value| *value == Value::Bool(true)).collect())
        }
        Some(Value::Int(_)) => Data::Int(elements.iter().map(integer).collect()),
        Some(_) => Data::Num(elements.iter().map(number).collect()),
    };
    Cell::Value(Value::new(value.shape().clone(), data).expect("it has as many elements"))
}

/// Whether cells agree. An `if` that chooses for each stream separately waits for both branches, so it may
/// know less.
fn is_same(ready: &Ready, alone: &[Cell], together: &[Cell]) -> bool {
    let looks_ahead = |kind: &Kind| matches!(kind, Kind::Post(_) | Kind::FbyBack { .. });
    if has_choices(ready) && ready.flow().equations.iter().any(|equation| looks_ahead(&equation.kind)) {
        return together.iter().zip(alone).all(|(together, alone)| is_below(together, alone));
    }
    alone == together
}

/// Each stream has the cells that it has alone.
fn is_separate_runs(sample: &Sample, ready: &Ready) -> Trial {
    if !ready.flow().persistent_state.is_empty() {
        return Ok(Verdict::Vacuous("it learns"));
    }
    let n = 1 + sample.decisions().below(4);
    let batched = batched!(Batched::new(sample, ready, n));
    let alone: Result<Vec<Rows>, _> = batched.streams.iter().map(simulate).collect();
    let alone = cells!(alone);
    let together = simulate(&batched.ready).map_err(|_| "only the batch has no value")?;
    for (output, var) in ready.flow().outputs.iter().enumerate() {
        for (stream, rows) in alone.iter().enumerate() {
            let (alone, together) = (&rows[var.index()], batched.cells(&together, output, stream));
            if !is_same(ready, alone, &together) {
                return Err(format!(
                    "output {output}, stream {stream} of {n}\n  alone:    {}\n  together: {}",
                    show(alone),
                    show(&together)
                ));
            }
        }
    }
    Ok(Verdict::Holds)
}

fn separate(name: &'static str, n: u32, family: Family) {
    law(
        name,
        n,
        |source| Sample::of(family, source),
        |sample| match &sample.ready {
            Ok(ready) => is_separate_runs(sample, ready),
            Err(refusal) => Ok(Verdict::Vacuous(refusal)),
        },
    );
}

#[test]
fn l9_a_batch_is_separate_runs() {
    separate("batches of programs", 200, Family::Plain);
}

#[test]
fn l9_a_batch_of_derivatives_is_separate_runs() {
    separate("batches of derivatives", 150, Family::Adjoint);
}

#[test]
fn l9_a_batch_with_resets_is_separate_runs() {
    separate("batches with resets", 100, Family::Reset);
}

/// A batch of one stream learns what one stream does, bit for bit.
fn learns_as_one(sample: &Sample, ready: &Ready) -> Trial {
    let alone = cells!(simulate(ready));
    let batched = batched!(Batched::new(sample, ready, 1));
    let together = simulate(&batched.ready).map_err(|_| "only the batch has no value")?;
    for (output, var) in ready.flow().outputs.iter().enumerate() {
        let (alone, together) = (&alone[var.index()], batched.cells(&together, output, 0));
        if !is_same(ready, alone, &together) {
            return Err(format!("output {output}\n  alone: {}\n  batch: {}", show(alone), show(&together)));
        }
    }
    Ok(Verdict::Holds)
}

#[test]
fn l9_a_batch_of_one_learns_as_one() {
    law(
        "batches that learn",
        100,
        |source| Sample::of(Family::Training, source),
        |sample| match &sample.ready {
            Ok(ready) => learns_as_one(sample, ready),
            Err(refusal) => Ok(Verdict::Vacuous(refusal)),
        },
    );
}

fn compiled(name: &'static str, n: u32, family: Family) {
    let number = RefCell::default();
    let folder = Folder::new(&name.replace(' ', "-"));
    let how = How { flags: &["-O1"], ..PLAIN };
    law(
        name,
        n,
        |source| Sample::of(family, source),
        |sample| match &sample.ready {
            Ok(ready) => {
                let batched = batched!(Batched::new(sample, ready, 1 + sample.decisions().below(4)));
                agrees(&batched.ready, &folder, how, &number)
            }
            Err(refusal) => Ok(Verdict::Vacuous(refusal)),
        },
    );
}

#[test]
fn l9_compiled_batches() {
    compiled("compiled batches", 40, Family::Plain);
}

#[test]
fn l9_compiled_batches_that_learn() {
    compiled("compiled batches that learn", 40, Family::Training);
}

/// Nodes that learn, with products of all kinds: recurrent, with attention, convolutions, choices by data,
/// parts on slower clocks. In the last one some gradients depend on no data, so they are equal in all
/// streams.
const LEARNERS: [&str; 7] = [
    "import lstm from \"eddy:recurrent\";
     node n(x:num[3]) -> (y:num[]) y = sum(lstm(2, 3, x));",
    "import attention from \"eddy:attention\";
     node n(x:num[2]) -> (y:num[]) y = sum(attention(3, 2, 2, x));",
    "import convolution2d from \"eddy:layers\";
     node n(x:num[5,4,1]) -> (y:num[]) y = sum(softmax(transpose(max(relu(convolution2d(2, 2, 2, 1, x)), 2))));",
    "node n(x:num[2,3]) -> (y:num[])
       a = matmul(x, param(glorot_uniform([3,4])));
       b = matmul(param(glorot_uniform([4,2])), x);
       y = matmul(matmul(x[0], b[0]) * param(ones([3])), a[1][0] * onehot(3, argmax(x[1])));",
    "node n(x:num[2]) -> (y:num[])
       p = param(0.5);
       s = if x[0] > x[1] then p * (0.0 fby s) + x[0] else x[1] - p;
       y = where(x > 0.0, x * p, param(ones([2])))[1] + s * sum(outer(x, x)[0]);",
    "node n(x:num[2]) -> (y:num[])
       c = true fby not c;
       h = matmul(param(glorot_uniform([2,2])), x);
       y = merge c (sum(h when c)) (sum((param([1.0,2.0]) * x) when not c));",
    // A part that does not depend on data has the same gradient in each stream, and counts once per stream.
    "node straight(y:num[], t:num[]) -> (l:num[]) l = y + 0.0 * t;
     node n(x:num[2]) -> (y:num[])
       q = param([0.3,0.7]);
       r = param(0.4);
       y = sum(param(0.5) * x) + 0.1 * sum(q * q) + r * (1.0 fby 2.0);",
];

/// A node of a program with inputs of some streams for some cycles; as a batch, if there are several.
fn ready(text: &str, node: &str, streams: &[usize], n_cycles: usize) -> Ready {
    ready_for(text, node, streams, n_cycles, BatchLoss::Mean)
}

fn ready_for(text: &str, node: &str, streams: &[usize], n_cycles: usize, batch_loss: BatchLoss) -> Ready {
    let batch = (streams.len() > 1).then_some(streams.len());
    let given = ElaborationOptions { batch, batch_loss, ..ElaborationOptions::default() };
    let prepared = prepared_given(text, node, &given).unwrap_or_else(|found| panic!("{text}\n{found:?}"));
    let cycles: Vec<Vec<Cell>> = (0..n_cycles)
        .map(|cycle| {
            let rows: Vec<Vec<Cell>> =
                streams.iter().map(|stream| given_cells(&prepared, *stream, cycle)).collect();
            let rows: Vec<&[Cell]> = rows.iter().map(Vec::as_slice).collect();
            match &prepared.batch {
                Some(batch) => {
                    joined(&prepared.flow, batch, &rows).unwrap_or_else(|_| panic!("they go together"))
                }
                None => rows[0].to_vec(),
            }
        })
        .collect();
    let inputs = 0..prepared.flow.inputs.len();
    let inputs = inputs.map(|input| cycles.iter().map(|cells| cells[input].clone()).collect()).collect();
    Ready { prepared, inputs, n_cycles }
}

fn learner(program: &str, rate: f64) -> String {
    let loss = if program.contains("node straight(") { "straight" } else { "mse" };
    format!("{program}\ntrain n as t loss {loss} optim sgd({rate:?}) segment;")
}

/// The parameters learnt from sequences of a few cycles, one for each stream, at some rate.
fn learnt(program: &str, rate: f64, streams: &[usize], batch_loss: BatchLoss) -> Vec<(String, Value)> {
    let Ready { prepared, inputs, n_cycles } =
        ready_for(&learner(program, rate), "t", streams, 4, batch_loss);
    let options = simulate::Options { seed: SEED, ..simulate::Options::default() };
    let mut simulation = Simulation::new(&prepared.flow, &prepared.clocks, options);
    for cycle in 0..n_cycles {
        let cells: Vec<Cell> = inputs.iter().map(|cells| cells[cycle].clone()).collect();
        simulation.open(&cells).expect("it has a value");
    }
    // The effect of a step appears at the next cycle.
    let vars = prepared.flow.persistent_state.iter();
    vars.map(|named| {
        (named.name.to_string(), simulation.delay_state(named.var).cloned().expect("it was learnt"))
    })
    .collect()
}

/// The inputs of a stream at a cycle: arbitrary numbers, `bp`, and `end` at each fourth cycle.
#[allow(clippy::cast_precision_loss)] // the numbers are small
fn given_cells(prepared: &Prepared, stream: usize, cycle: usize) -> Vec<Cell> {
    let inputs = prepared.flow.inputs.iter().zip(prepared.input_types());
    let cell = |(input, ty): (&VarId, &Type)| match (prepared.flow.var(*input).name.as_deref(), ty.scalar) {
        (Some("end"), _) => Value::Bool(cycle % 4 == 3),
        (_, Scalar::Bool) => Value::Bool(true),
        _ => {
            let n: usize = ty.shape.iter().product();
            let number = |at: usize| ((at * 7 + cycle * 5 + stream * 3 + input.index()) as f64 * 1.7).sin();
            Value::new(ty.shape.clone(), Data::Num((0..n).map(number).collect())).expect("there are n")
        }
    };
    inputs.map(cell).map(Cell::Value).collect()
}

#[test]
fn l9_a_batch_of_layers_is_separate_runs() {
    for program in LEARNERS {
        let run = |ready: &Ready| simulate(ready).unwrap_or_else(|_| panic!("no value\n{program}"));
        let together = run(&ready(program, "n", &[0, 1, 2], 6));
        for stream in 0..3 {
            let alone = ready(program, "n", &[stream], 6);
            let output = alone.flow().outputs[0].index();
            let cells = together[output].iter().map(|cell| match cell {
                Cell::Value(value) => Cell::Value(split(value)[stream].clone()),
                other => other.clone(),
            });
            let cells: Vec<Cell> = cells.collect();
            let alone = run(&alone);
            assert!(alone[output] == cells, "{}\n{}\n{program}", show(&alone[output]), show(&cells));
        }
    }
}

/// For a few streams, and for more than a vector holds, with and without vectors.
#[test]
fn l9_compiled_layers_learn_as_batches() {
    let (number, folder) = (RefCell::default(), Folder::new("batches-of-layers"));
    let vectors: &[&str] = &["-O2", "-march=native"];
    for program in LEARNERS {
        for (n, how) in [(3, PLAIN), (19, How { flags: vectors, single: true, ..PLAIN })] {
            let streams: Vec<usize> = (0..n).collect();
            let ready = ready(&learner(program, 0.5), "t", &streams, 8);
            match agrees(&ready, &folder, how, &number) {
                Ok(Verdict::Holds) => {}
                Ok(Verdict::Vacuous(why)) => panic!("{why}\n{program}"),
                Err(broken) => panic!("{broken}\n{program}"),
            }
        }
    }
}

/// The number of equations does not depend on the number of streams, only their size does.
#[test]
fn as_many_equations_for_many_streams_as_for_two() {
    for program in LEARNERS {
        let n_equations = |n: usize| {
            let streams: Vec<usize> = (0..n).collect();
            ready(&learner(program, 0.5), "t", &streams, 0).flow().equations.len()
        };
        assert_eq!(n_equations(2), n_equations(100), "{program}");
    }
}

#[test]
fn l9_a_step_of_a_batch_is_the_mean_of_all_steps() {
    steps_are(BatchLoss::Mean, 3.0);
}

#[test]
fn l9_or_their_sum() {
    steps_are(BatchLoss::Sum, 1.0);
}

/// A step of a batch is the sum of all steps divided by `divisor`.
fn steps_are(batch_loss: BatchLoss, divisor: f64) {
    for program in LEARNERS {
        let before = learnt(program, 0.0, &[0], batch_loss);
        let alone = [0, 1, 2].map(|stream| learnt(program, 0.5, &[stream], batch_loss));
        let together = learnt(program, 0.5, &[0, 1, 2], batch_loss);
        let mut has_moved = false;
        for (number, (name, after)) in together.iter().enumerate() {
            let numbers = |value: &Value| {
                value.elements().map(|x| if let Value::Num(x) = x { x } else { 0.0 }).collect::<Vec<_>>()
            };
            let (before, after) = (numbers(&before[number].1), numbers(after));
            for (at, (before, after)) in before.iter().zip(after).enumerate() {
                let steps = alone.iter().map(|learnt| numbers(&learnt[number].1)[at] - before);
                let sum = steps.sum::<f64>() / divisor;
                has_moved |= sum != 0.0;
                assert!(
                    (after - before - sum).abs() <= 1e-13 * (1.0 + after.abs()),
                    "{name}[{at}]: {before} moved by {} and not by {sum}\n{program}",
                    after - before
                );
            }
        }
        assert!(has_moved, "nothing was learnt\n{program}");
    }
}
