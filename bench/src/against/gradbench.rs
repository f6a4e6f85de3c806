//! GradBench: the functions of all its modules, in Eddy and as hand-written C.
//!
//! Both sides are tools of the benchmark: they receive the same messages, and time themselves. Eddy's side is
//! the command `eddy gradbench` of the binary next to this one; the C is in `bench/gradbench/twins`. Sides
//! take turns, and outputs must agree to 1e-9.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use super::numbers::number;
use super::table::duration;
use super::twins::{FLAGS, compiler};

/// How long an answer may take.
const LIMIT: Duration = Duration::from_mins(2);

/// Functions of one module with the same input, the objective first.
struct Workload {
    module: &'static str,
    sizes: String,
    functions: &'static [&'static str],
    input: Json,
}

/// A tool of the benchmark, in a process.
struct Tool {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

/// The median time of an evaluation, and its output.
struct Answer {
    nanoseconds: f64,
    output: Json,
}

/// The table of all modules, or of those whose names are among the words.
pub fn table(eddy: &Path, work: &Path, is_quick: bool, words: &[String]) -> String {
    let mut text = String::from(
        "\n# GradBench\n\n| function | Eddy | C | Eddy / C | derivative / objective | outputs |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let named = |module: &str| words.iter().any(|word| word == module);
    let any = workloads(is_quick).iter().any(|workload| named(workload.module));
    for workload in workloads(is_quick).iter().filter(|workload| !any || named(workload.module)) {
        println!("{} {}", workload.module, workload.sizes);
        rows(&mut text, workload, eddy, work, if is_quick { 0.1 } else { 1.0 });
    }
    text
}

fn rows(text: &mut String, workload: &Workload, eddy: &Path, work: &Path, seconds: f64) {
    let mut own = Tool::start(Command::new(eddy).arg("gradbench"), workload.module);
    let mut twin = twin(workload.module, work)
        .and_then(|binary| Tool::start(&mut Command::new(binary), workload.module));
    let mut objective = None;
    for function in workload.functions {
        let ask = |tool: &mut Result<Tool, String>| {
            let answer = tool.as_mut().map_err(|why| why.clone())?.evaluate(workload, function, seconds);
            if let Err(why) = &answer {
                println!("  {function}: {why}");
            }
            answer
        };
        let (ours, theirs) = (ask(&mut own), ask(&mut twin));
        let time = |answer: &Result<Answer, String>| {
            answer.as_ref().map_or("-".to_string(), |answer| duration(answer.nanoseconds))
        };
        let ratio = |top: &Result<Answer, String>, bottom: Option<f64>| match (top, bottom) {
            (Ok(top), Some(bottom)) => format!("{:.2}", top.nanoseconds / bottom),
            _ => "-".to_string(),
        };
        let growth = ratio(&ours, objective);
        objective = objective.or_else(|| ours.as_ref().ok().map(|ours| ours.nanoseconds));
        let verdict = match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) if agree(&ours.output, &theirs.output) => "agree",
            (Ok(_), Ok(_)) => "DIFFER",
            _ => "-",
        };
        let against = ratio(&ours, theirs.as_ref().ok().map(|theirs| theirs.nanoseconds));
        let (module, sizes) = (workload.module, &workload.sizes);
        let (ours, theirs) = (time(&ours), time(&theirs));
        let _ = writeln!(
            text,
            "| `{module}` {sizes} `{function}` | {ours} | {theirs} | {against} | {growth} | {verdict} |"
        );
    }
}

impl Tool {
    fn start(command: &mut Command, module: &str) -> Result<Tool, String> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let stdin = child.stdin.take().expect("the stream is piped");
        let stdout = child.stdout.take().expect("the stream is piped");
        let (send, lines) = channel();
        // A separate reader thread, so that a process without output can time out.
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let mut tool = Tool { child, stdin, lines };
        tool.ask(&json!({ "id": 0, "kind": "define", "module": module }))?;
        Ok(tool)
    }

    fn evaluate(&mut self, workload: &Workload, function: &str, seconds: f64) -> Result<Answer, String> {
        let mut input = workload.input.clone();
        if let Json::Object(members) = &mut input {
            members.insert("min_runs".to_string(), json!(1));
            members.insert("min_seconds".to_string(), json!(seconds));
        }
        let mut answer = self.ask(&json!({
            "id": 1, "kind": "evaluate", "module": workload.module, "function": function, "input": input
        }))?;
        let timings = answer["timings"].as_array().cloned().unwrap_or_default();
        let runs = timings.iter().filter(|timing| timing["name"] == "evaluate");
        let mut runs: Vec<f64> = runs.filter_map(|timing| timing["nanoseconds"].as_f64()).collect();
        runs.sort_by(f64::total_cmp);
        let nanoseconds = *runs.get(runs.len() / 2).ok_or("no timings")?;
        Ok(Answer { nanoseconds, output: answer["output"].take() })
    }

    fn ask(&mut self, message: &Json) -> Result<Json, String> {
        writeln!(self.stdin, "{message}").map_err(|error| format!("the process ended: {error}"))?;
        let line = self.lines.recv_timeout(LIMIT).map_err(|_| "no answer".to_string())?;
        let answer: Json = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        if answer["success"] == true { Ok(answer) } else { Err(answer["error"].to_string()) }
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        // The process may have ended already, or hang; in either case it is no longer needed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("gradbench/twins")
}

fn twin(module: &str, work: &Path) -> Result<PathBuf, String> {
    let to = work.join("gradbench");
    fs::create_dir_all(&to).map_err(|error| format!("{}: {error}", to.display()))?;
    let (source, binary) = (folder().join(format!("{module}.c")), to.join(module));
    let mut command = Command::new(compiler());
    command.args(FLAGS).arg(source).arg("-o").arg(&binary).arg("-lm");
    let output = command.output().map_err(|error| format!("{}: {error}", compiler()))?;
    if output.status.success() {
        Ok(binary)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Equal up to a relative error of 1e-9.
fn agree(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => {
            let (left, right) = (left.as_f64().unwrap_or(f64::NAN), right.as_f64().unwrap_or(f64::NAN));
            (left - right).abs() <= 1e-9 * (left.abs() + right.abs()).max(1.0)
        }
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| agree(left, right))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| agree(left, right)))
        }
        _ => left == right,
    }
}

/// Numbers between 0 and 1, as the benchmark draws most of its inputs.
fn uniform(seed: u64, shape: &[usize]) -> Json {
    nested(shape, &mut (0..).map(|i| json!(0.5 * (number(seed, i, 1.0) + 1.0))))
}

/// Numbers between -1 and 1.
fn symmetric(seed: u64, shape: &[usize]) -> Json {
    nested(shape, &mut (0..).map(|i| json!(number(seed, i, 1.0))))
}

/// Integers from 0 to below a bound.
fn integers(seed: u64, shape: &[usize], bound: usize) -> Json {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is below the bound"
    )]
    let integer = |i| json!((0.5 * (number(seed, i, 1.0) + 1.0) * bound as f64) as usize);
    nested(shape, &mut (0..).map(integer))
}

fn nested(shape: &[usize], numbers: &mut dyn Iterator<Item = Json>) -> Json {
    match shape {
        [] => numbers.next().expect("the numbers do not end"),
        [n, inner @ ..] => (0..*n).map(|_| nested(inner, numbers)).collect(),
    }
}

/// The largest default sizes of the benchmark that run in reasonable time, or small ones.
fn workloads(is_quick: bool) -> Vec<Workload> {
    let size = |quick: usize, usual: usize| if is_quick { quick } else { usual };
    let value_and_gradient: &[&str] = &["primal", "gradient"];
    let value_and_jacobian: &[&str] = &["objective", "jacobian"];
    let modes: &[&str] = &["ff", "fr", "rf", "rr"];
    let (n, points) = (size(256, 4096), size(2500, 1_280_000));
    let (k, k_points, dimensions) = (size(10, 100), size(200, 10_000), 16);
    let ell = size(6, 10);
    let (length, steps) = (size(100, 10_000), size(10, 100));
    let mut all = vec![
        Workload {
            module: "llsq",
            sizes: format!("n={n}"),
            functions: value_and_gradient,
            input: json!({ "x": uniform(1, &[128]), "n": n }),
        },
        Workload {
            module: "lse",
            sizes: format!("n={points}"),
            functions: value_and_gradient,
            input: json!({ "x": uniform(1, &[points]) }),
        },
        Workload {
            module: "kmeans",
            sizes: format!("k={k} n={k_points} d={dimensions}"),
            functions: &["cost", "dir"],
            input: json!({
                "points": uniform(1, &[k_points, dimensions]),
                // The first points, so that no cluster is empty.
                "centroids": uniform(1, &[k, dimensions])
            }),
        },
        Workload {
            module: "det",
            sizes: format!("ell={ell}"),
            functions: value_and_gradient,
            input: json!({ "A": uniform(1, &[ell * ell]), "ell": ell }),
        },
        Workload {
            module: "ode",
            sizes: format!("n={length} s={steps}"),
            functions: value_and_gradient,
            input: json!({ "x": uniform(1, &[length]), "s": steps }),
        },
        Workload { module: "particle", sizes: String::new(), functions: modes, input: json!({ "w": 0.0 }) },
        Workload {
            module: "saddle",
            sizes: String::new(),
            functions: modes,
            input: json!({ "start": [1.0, 1.0] }),
        },
    ];
    let (d, k, n) = (size(4, 20), size(5, 25), size(50, 1000));
    all.push(Workload {
        module: "gmm",
        sizes: format!("d={d} k={k} n={n}"),
        functions: value_and_jacobian,
        input: json!({
            "d": d, "k": k, "n": n, "m": 0, "gamma": 1.0, "x": symmetric(1, &[n, d]), "alpha": symmetric(2, &[k]),
            "mu": symmetric(3, &[k, d]), "q": symmetric(4, &[k, d]), "l": symmetric(5, &[k, d * (d - 1) / 2])
        }),
    });
    let (layers, characters, bits) = (2, size(32, 4096), 14);
    all.push(Workload {
        module: "lstm",
        sizes: format!("layers={layers} characters={characters}"),
        functions: value_and_jacobian,
        input: json!({
            "main_params": uniform(1, &[2 * layers, 4 * bits]), "extra_params": uniform(2, &[3, bits]),
            "state": uniform(3, &[2 * layers, bits]), "sequence": integers(4, &[characters, bits], 2)
        }),
    });
    let (n, m, p) = (size(2, 49), size(5, 7776), size(20, 31_843));
    all.push(Workload {
        module: "ba",
        sizes: format!("n={n} m={m} p={p}"),
        functions: value_and_jacobian,
        input: json!({
            "n": n, "m": m, "p": p, "cam": uniform(1, &[11]), "x": [0.3, 0.2, 5.0], "w": 0.7, "feat": uniform(2, &[2])
        }),
    });
    let (vertices, n) = (size(20, 10_000), size(10, 1000));
    all.push(Workload {
        module: "ht",
        sizes: format!("vertices={vertices} n={n}"),
        functions: value_and_jacobian,
        input: hand(vertices, n),
    });
    all
}

/// A model of a hand, with barycentric coordinates.
fn hand(vertices: usize, n: usize) -> Json {
    let (bones, faces) = (22, 2 * vertices);
    let parent = |bone: usize| match bone {
        0 => -1,
        1 => 0,
        _ if bone % 4 == 2 => 1,
        _ => i64::try_from(bone).unwrap_or(0) - 1,
    };
    let mut model = Map::new();
    let mut member = |name: &str, value: Json| model.insert(name.to_string(), value);
    member("bone_count", json!(bones));
    member("bone_names", (0..bones).map(|bone| json!(format!("bone{bone}"))).collect());
    member("parents", (0..bones).map(|bone| json!(parent(bone))).collect());
    member("base_relatives", symmetric(1, &[bones, 4, 4]));
    member("inverse_base_absolutes", symmetric(2, &[bones, 4, 4]));
    member("base_positions", symmetric(3, &[vertices, 4]));
    member("weights", uniform(4, &[vertices, bones]));
    member("triangles", integers(5, &[faces, 3], vertices));
    member("is_mirrored", json!(false));
    let data = json!({
        "model": model, "correspondences": integers(6, &[n], faces), "points": symmetric(7, &[n, 3])
    });
    json!({ "theta": symmetric(8, &[26]), "data": data, "us": uniform(9, &[n, 2]) })
}

#[cfg(test)]
mod tests {
    use super::super::twins::has_compiler;
    use super::*;

    /// Compares the twins with the independent values of `gradbench/oracle.py`.
    #[test]
    fn twins_give_the_expected_outputs() {
        if !has_compiler() {
            return;
        }
        let work = std::env::temp_dir().join(format!("eddy-gradbench-{}", std::process::id()));
        let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("gradbench/expected");
        for module in workloads(true).iter().map(|workload| workload.module).chain(["hello"]) {
            let binary = twin(module, &work).expect("the twin compiles");
            let mut tool = Tool::start(&mut Command::new(binary), module).expect("the twin starts");
            let text = fs::read_to_string(expected.join(format!("{module}.jsonl")))
                .expect("the expected outputs exist");
            for line in text.lines() {
                let mut case: Json = serde_json::from_str(line).expect("the line is JSON");
                if let Json::Object(members) = &mut case["input"] {
                    members.insert("min_seconds".to_string(), json!(0));
                }
                let (function, input) = (&case["function"], &case["input"]);
                let message = json!({ "id": 1, "kind": "evaluate", "function": function, "input": input });
                let answer = tool.ask(&message).expect("the twin answers");
                assert!(agree(&answer["output"], &case["output"]), "{module} {function}: {answer}");
            }
        }
        fs::remove_dir_all(&work).expect("the folder can be removed");
    }
}
