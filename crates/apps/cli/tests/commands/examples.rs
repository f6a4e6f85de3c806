//! The examples that learn: each reaches in a short run what its comment promises for a long one, or almost.
//!
//! `files.rs` tests that they are well formed and that their derivatives are right, as for all other files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository, where the commands of the examples run.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A run folder that does not exist yet.
fn fresh(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples").join(name);
    let _ = fs::remove_dir_all(&folder);
    folder.display().to_string()
}

/// The standard output of a command that succeeds.
fn eddy(arguments: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eddy"));
    let output = command.args(arguments.split_whitespace()).current_dir(root()).output();
    let output = output.expect("eddy can be started");
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("answers are UTF-8")
}

/// Trains an example; returns the run folder.
fn train(name: &str, arguments: &str) -> String {
    let run = fresh(name);
    eddy(&format!("train examples/training/{name}.eddy --run {run} {arguments}"));
    run
}

/// A number of a line of JSON.
fn number(line: &str, key: &str) -> Option<f64> {
    let rest = line.split(&format!("\"{key}\":")).nth(1)?;
    rest.split([',', '}']).next()?.parse().ok()
}

/// The smallest loss of a run, on its data and on its validation data.
fn scores(run: &str) -> (f64, f64) {
    let metrics = fs::read_to_string(Path::new(run).join("metrics.jsonl")).expect("there are metrics");
    let smallest =
        |key: &str| metrics.lines().filter_map(|line| number(line, key)).fold(f64::INFINITY, f64::min);
    (smallest("loss"), smallest("validation"))
}

/// The last value of an example's node on some data, with the parameters of a run.
fn share(name: &str, node: &str, data: &str, run: &str) -> f64 {
    let answer = eddy(&format!(
        "run examples/training/{name}.eddy --node {node} --in examples/data/{data} --params {run}/parameters.safetensors"
    ));
    let last = answer.lines().filter_map(|line| number(line, "share")).next_back();
    last.expect("there is an answer")
}

#[track_caller]
fn assert_below(value: f64, bound: f64) {
    assert!(value < bound, "{value} is not below {bound}");
}

#[track_caller]
fn assert_above(value: f64, bound: f64) {
    assert!(value > bound, "{value} is not above {bound}");
}

#[test]
fn forecasts_are_three_times_better_than_the_value_of_today() {
    let data = "--in examples/data/sunspots.csv --validate examples/data/sunspots-test.csv";
    let run = train("forecast", &format!("{data} --epochs 100 --patience 5"));
    assert_below(scores(&run).1, 0.11 / 2.8);
    let metrics = fs::read_to_string(Path::new(&run).join("metrics.jsonl")).expect("there are metrics");
    assert!(metrics.lines().count() < 30, "it stops early");
}

#[test]
fn sequences_of_all_lengths_are_classified() {
    let run = train("sequences", "--in examples/data/waves.jsonl --epochs 3");
    assert_below(scores(&run).0, 0.4);
    assert_above(share("sequences", "accuracy", "waves-test.jsonl", &run), 0.95);
}

#[test]
fn digits_are_read() {
    let run = train("digits", "--in examples/data/digits.jsonl --sequence 32 --epochs 2");
    assert_below(scores(&run).0, 0.3);
    assert_above(share("digits", "accuracy", "digits-test.jsonl", &run), 0.92);
}

#[test]
fn the_future_helps() {
    let both = train("bidirectional", "--node learn --in examples/data/halves.jsonl --epochs 2");
    assert_below(scores(&both).0, 0.15);
    assert_above(share("bidirectional", "accuracy", "halves-test.jsonl", &both), 0.93);
    let forwards = train("bidirectional", "--node guess --in examples/data/halves.jsonl --epochs 2");
    assert_above(scores(&forwards).0, 0.25);
    assert_below(share("bidirectional", "accuracy_forwards", "halves-test.jsonl", &forwards), 0.88);
}

#[test]
fn experts_share_the_work() {
    let data = "--in examples/data/regions.jsonl --validate examples/data/regions-test.jsonl";
    // One dense layer has 1.16.
    assert_below(scores(&train("experts", &format!("{data} --epochs 10"))).1, 0.2);
}

#[test]
fn one_encoder_judges_pairs_and_two_do_not() {
    let data = "--in examples/data/pairs.jsonl --validate examples/data/pairs-test.jsonl --epochs 8";
    let together = train("siamese", &format!("--node learn {data}"));
    assert_above(share("siamese", "accuracy", "pairs-test.jsonl", &together), 0.98);
    let apart = train("siamese", &format!("--node guess {data}"));
    assert_below(share("siamese", "accuracy_apart", "pairs-test.jsonl", &apart), 0.6);
}

#[test]
fn twenty_blocks_learn_if_there_is_a_way_around_each() {
    let data = "--in examples/data/digits.jsonl --epochs 2";
    let residual = train("deep", &format!("--node learn {data}"));
    assert_above(share("deep", "accuracy", "digits-test.jsonl", &residual), 0.8);
    // A guess at random has log 10 = 2.30.
    assert_above(scores(&train("deep", &format!("--node guess {data}"))).0, 2.2);
}

#[test]
fn a_transformer_reads_more_than_pairs_of_letters() {
    let data = "--in examples/data/prose.csv --validate examples/data/prose-test.csv";
    let run = train("transformer", &format!("{data} --sequence 32 --batch 8 --epochs 4"));
    // Counts of pairs have 2.27.
    assert_below(scores(&run).1, 2.0);
}

#[test]
fn an_equation_is_solved_without_data() {
    let answer = eddy("run examples/training/pinn.eddy --node solve --cycles 4000");
    let errors: Vec<f64> = answer.lines().filter_map(|line| number(line, "error")).collect();
    assert_below(errors[3900..].iter().copied().fold(0.0, f64::max), 0.01);
}

#[test]
fn a_pipeline_learns_through_its_registers() {
    let run = train("pipeline", "--in examples/data/curve.jsonl --epochs 4");
    assert_below(scores(&run).0, 2e-5);
}

#[test]
fn learning_goes_on_while_the_world_changes() {
    let answer = eddy("run examples/training/drift.eddy --node drift --cycles 3000");
    let lines: Vec<&str> = answer.lines().collect();
    let at = |cycle: usize, key: &str| number(lines[cycle], key).expect("a number");
    assert_below(at(998, "learning"), 0.02);
    assert_above(at(998, "stopped"), 0.3);
    assert_below(at(2999, "learning"), 0.02);
    assert_above(at(2999, "stopped"), 0.3);
}

#[test]
fn the_pole_stands() {
    let answer = eddy("run examples/training/cartpole.eddy --node cartpole --cycles 27000");
    let means = answer.lines().filter_map(|line| number(line, "mean_length"));
    assert_above(means.fold(0.0, f64::max), 194.999);
}

/// The commands in the README of the data reproduce the data, bit for bit.
#[test]
fn data_that_are_made_up_are_made_by_their_commands() {
    let readme = fs::read_to_string(root().join("examples/data/README.md")).expect("it is there");
    let mut n_files = 0;
    for line in readme.lines() {
        let Some(arguments) = line.strip_prefix("eddy ") else { continue };
        let (arguments, file) = arguments.split_once(" --out ").expect("a command writes a file");
        let expected = fs::read_to_string(root().join(file)).expect("the data are there");
        assert!(eddy(arguments) == expected, "{file} is not what `eddy {arguments}` makes");
        n_files += 1;
    }
    assert_eq!(n_files, 9);
}
