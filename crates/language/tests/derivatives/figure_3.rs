//! P13: Figure 3 learns the line that generates its data.

use eddy_language::semantics::Cell;
use eddy_language::semantics::simulate::{Options, Simulation};
use eddy_tensor::Value;

use crate::generated::case::prepared;

const NODES: &str = "
node dense(i) -> (o)
  b = param(0.0);
  k = param(1.0);
  o = k * i + b;
node multiply(i) -> (o)
  o = i * i;
node app(i) -> (o)
  x = dense(i);
  o = multiply(x);
";

/// The right column of the figure, with its errors corrected.
const BY_HAND: &str = "
node diff_param(init, bp, do) -> (o)
  o = init fby o1;
  o1 = o + merge bp do 0.0;
node diff_dense(i, bp, do) -> (o, di)
  b = diff_param(0.0, bp, db);
  k = diff_param(1.0, bp, dk);
  o = k * i + b;
  di = (k when bp) * do;
  dk = (i when bp) * do;
  db = do;
node diff_multiply(i, bp, do) -> (o, di)
  o = i * i;
  di = do * 2.0 * i when bp;
node diff_app(i, bp, do) -> (o, di)
  x, di = diff_dense(i, bp, dx);
  o, dx = diff_multiply(x, bp, do);
";

const TRAINING: &str = "
node t(i, bp, gt) -> (o)
  o, _ = diff_app(i, bp, do);
  do = -0.003 * mse_grad_i(o when bp, gt);
";

const TRAIN: &str = "train app as t loss mse optim sgd(0.003);";

/// Trains on (2 i - 3)² for 20000 cycles, i cycling through 0, 1, 2, 3; returns k and b.
fn trained(text: &str, [k, b]: [&str; 2]) -> [f64; 2] {
    let prepared = prepared(text, "t").expect("the figure is accepted");
    let [k, b] = [k, b].map(|name| prepared.flow.find(name).expect("the parameter has this name"));
    let mut simulation = Simulation::new(&prepared.flow, &prepared.clocks, Options::default());
    let mut found = [f64::NAN; 2];
    for cycle in 0..20_000_u64 {
        let i = [0.0, 1.0, 2.0, 3.0][(cycle % 4) as usize];
        let gt = (2.0 * i - 3.0) * (2.0 * i - 3.0);
        let cells = [Value::Num(i), Value::Bool(true), Value::Num(gt)].map(Cell::Value);
        simulation.open(&cells).expect("the arithmetic has values");
        while simulation.first_cycle() < simulation.n_cycles()
            && simulation.is_complete(simulation.first_cycle())
        {
            for (found, var) in found.iter_mut().zip([k, b]) {
                let Some(Value::Num(value)) = simulation.cell(simulation.first_cycle(), var).value() else {
                    panic!("a parameter has a value at each cycle");
                };
                *found = *value;
            }
            simulation.release();
        }
    }
    found
}

#[track_caller]
fn learns(text: &str, names: [&str; 2]) {
    let [k, b] = trained(text, names);
    assert!((k - 2.0).abs() < 1e-6 && (b + 3.0).abs() < 1e-6, "k = {k}, b = {b}");
}

#[test]
fn p13_figure_3_learns_by_hand() {
    let names = ["diff_app#1/diff_dense#1/k", "diff_app#1/diff_dense#1/b"];
    learns(&[BY_HAND, TRAINING].concat(), names);
}

#[test]
fn p13_figure_3_learns_by_synthesised_training_code() {
    learns(&[NODES, TRAINING].concat(), ["diff_app#1/dense#1/k", "diff_app#1/dense#1/b"]);
}

#[test]
fn p13_figure_3_learns_by_train() {
    learns(&[NODES, TRAIN].concat(), ["dense#1/k", "dense#1/b"]);
}
