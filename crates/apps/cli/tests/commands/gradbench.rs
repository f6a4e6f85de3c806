//! `eddy gradbench` follows the protocol, and its answers equal those of an independent implementation.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

/// The answers to these lines, one per line.
fn answers(arguments: &[&str], lines: &[String]) -> Vec<Json> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eddy"));
    let piped = command.arg("gradbench").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.spawn().expect("eddy can be started");
    let mut stdin = child.stdin.take().expect("the input is piped");
    let text = lines.join("\n") + "\n";
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()).expect("eddy reads"));
    let output = child.wait_with_output().expect("eddy ends");
    writer.join().expect("all is written");
    assert!(output.status.success(), "{:?}", output.status);
    let text = String::from_utf8(output.stdout).expect("it is text");
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn evaluate(id: usize, module: &str, function: &str, input: &Json) -> String {
    let message = json!({
        "id": id, "kind": "evaluate", "module": module, "function": function, "input": input
    });
    message.to_string()
}

fn define(id: usize, module: &str) -> String {
    json!({ "id": id, "kind": "define", "module": module }).to_string()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../bench/gradbench")
}

/// Equal up to a relative error of 1e-9; integers and numbers mix.
fn is_close(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => {
            let (left, right) = (left.as_f64().unwrap_or(f64::NAN), right.as_f64().unwrap_or(f64::NAN));
            (left - right).abs() <= 1e-9 * (left.abs() + right.abs()).max(1.0)
        }
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_close(left, right))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| is_close(left, right)))
        }
        _ => left == right,
    }
}

/// Compares the outputs of a module with those of `oracle.py`, in `bench/gradbench/expected`, for at most
/// `n_cases` cases.
#[track_caller]
fn check_module(module: &str, n_cases: usize) {
    let text = fs::read_to_string(folder().join(format!("expected/{module}.jsonl"))).expect("it is there");
    let cases: Vec<Json> =
        text.lines().take(n_cases).map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let mut lines = vec![define(0, module)];
    for (number, case) in cases.iter().enumerate() {
        let mut input = case["input"].clone();
        if let Json::Object(members) = &mut input {
            members.insert("min_runs".to_string(), json!(1));
            members.insert("min_seconds".to_string(), json!(0.0));
        }
        lines.push(evaluate(number + 1, module, case["function"].as_str().expect("a name"), &input));
    }
    let found = answers(&[], &lines);
    assert_eq!(found.len(), cases.len() + 1);
    assert_eq!(found[0]["success"], true, "{}", found[0]);
    for (case, answer) in cases.iter().zip(&found[1..]) {
        let function = &case["function"];
        assert_eq!(answer["success"], true, "{module} {function}: {answer}");
        assert!(
            is_close(&answer["output"], &case["output"]),
            "{module} {function}: {} instead of {}",
            answer["output"],
            case["output"]
        );
    }
}

macro_rules! modules {
    ($($module:ident: $n_cases:expr;)*) => {
        $(
            #[test]
            fn $module() {
                check_module(stringify!($module), $n_cases);
            }
        )*
    };
}

// The descents of `particle` and `saddle` take tens of thousands of steps: one mode of each is enough here,
// and `tests/reactive/functions` has small programs in all modes.
modules! {
    hello: 99;
    llsq: 99;
    lse: 99;
    kmeans: 99;
    det: 99;
    ode: 99;
    particle: 1;
    saddle: 1;
    gmm: 99;
    lstm: 99;
    ba: 99;
    // The other cases have no `us`: an empty list does not show that its rows have two numbers.
    ht: 4;
}

#[test]
fn every_message_is_answered_with_its_id() {
    let lines = [
        json!({ "id": 0, "kind": "start", "eval": "hello" }).to_string(),
        define(1, "hello"),
        evaluate(2, "hello", "square", &json!(3)),
        json!({ "id": 3, "kind": "analysis", "of": 2, "valid": true }).to_string(),
        json!({ "id": 4, "kind": "something new", "data": [1, [2], "x"] }).to_string(),
    ];
    let mut found = answers(&[], &lines);
    for answer in &mut found {
        if let Some(timings) = answer.get_mut("timings").and_then(Json::as_array_mut) {
            for timing in timings {
                assert!(timing["nanoseconds"].is_u64(), "{timing}");
                timing["nanoseconds"] = Json::Null;
            }
        }
    }
    let timing = |name: &str| json!({ "name": name, "nanoseconds": null });
    let expected = [
        json!({ "id": 0, "tool": "eddy" }),
        json!({ "id": 1, "success": true, "timings": [timing("define")] }),
        json!({ "id": 2, "success": true, "output": 9, "timings": [timing("prepare"), timing("evaluate")] }),
        json!({ "id": 3 }),
        json!({ "id": 4 }),
    ];
    assert_eq!(found, expected);
}

#[test]
fn failures_have_reasons_and_do_not_end_the_session() {
    let lines = [
        define(0, "helo"),
        evaluate(1, "hello", "square", &json!(1)),
        define(2, "hello"),
        evaluate(3, "hello", "squares", &json!(1)),
        evaluate(4, "hello", "square", &json!([1])),
        "not JSON".to_string(),
        evaluate(6, "hello", "double", &json!(2.5)),
    ];
    let found = answers(&[], &lines);
    let reasons = [
        "did you mean `hello`?",
        "`hello` is not defined",
        "",
        "unknown function `squares`",
        "`x` must be a number",
        "not JSON",
    ];
    for (answer, reason) in found.iter().zip(reasons) {
        assert_eq!(answer["success"], reason.is_empty(), "{answer}");
        assert!(answer["error"].as_str().unwrap_or_default().contains(reason), "{answer}");
    }
    assert_eq!((&found[6]["output"], &found[6]["id"]), (&json!(5), &json!(6)));
}

#[test]
fn runs_are_repeated_as_often_as_requested() {
    let times = |min_runs: usize, min_seconds: f64| {
        let input = json!({ "x": [1.0, 2.0], "min_runs": min_runs, "min_seconds": min_seconds });
        let found = answers(&[], &[define(0, "lse"), evaluate(1, "lse", "primal", &input)]);
        let timings = found[1]["timings"].as_array().expect("there are some").clone();
        let runs = timings.iter().filter(|timing| timing["name"] == "evaluate");
        runs.map(|timing| timing["nanoseconds"].as_u64().expect("an integer")).collect::<Vec<_>>()
    };
    assert_eq!(times(7, 0.0).len(), 7);
    let long = times(1, 0.05);
    assert!(long.iter().sum::<u64>() >= 50_000_000);
    assert!(long[..long.len() - 1].iter().sum::<u64>() < 50_000_000);
}

#[test]
fn programs_are_read_from_a_folder() {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("own.eddy"), "fn f(a: { x: num }) -> num = 2.0 * a.x;\n")
        .expect("it is written");
    fs::write(folder.path().join("bad.eddy"), "fn f(x: num) -> num = y;\n").expect("it is written");
    let path = folder.path().display().to_string();
    // Fields that a type does not have are dropped.
    let input = json!({ "a": { "x": 4, "name": "four" }, "min_seconds": 0 });
    let lines = [define(0, "own"), evaluate(1, "own", "f", &input), define(2, "bad"), define(3, "missing")];
    let found = answers(&["--programs", &path], &lines);
    assert_eq!(found[1]["output"], 8, "{}", found[1]);
    for (answer, reason) in found[2..].iter().zip(["unknown variable `y`", "there is no such file"]) {
        assert_eq!(answer["success"], false);
        assert!(answer["error"].as_str().unwrap_or_default().contains(reason), "{answer}");
    }
}

#[test]
fn a_long_line_is_read_and_written() {
    let x: Vec<f64> = (0..100_000).map(|i| f64::from(i % 1000) * 0.001).collect();
    let input = json!({ "x": x, "min_seconds": 0.0 });
    let found = answers(&[], &[define(0, "lse"), evaluate(1, "lse", "gradient", &input)]);
    assert_eq!(found[1]["output"].as_array().map(Vec::len), Some(100_000));
}
