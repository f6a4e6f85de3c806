//! Run folders: one writer, no lost data, no silent change.

use std::fmt::Write;
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::folder::{Folder, bytes, losses, words};

const LINE: &str = "import line from \"model.eddy\";
train line as learn loss mse optim adam(0.1,0.9,0.999,0.00000001);
";
const MODEL: &str = "node line(x)->(y)
  k = param(0.0);
  y = k * x + param(0.0);
";

fn line_folder(test: &str) -> Folder {
    Folder::new(test).with("p.eddy", LINE).with("model.eddy", MODEL).with("data.csv", data(40))
}

/// Rows of a line with slope 2 and offset -3.
fn data(n: i32) -> String {
    let mut text = "x,gt\n".to_string();
    for row in 0..n {
        let x = f64::from(row * 7 % 13) / 3.0 - 2.0;
        let _ = writeln!(text, "{x},{}", 2.0 * x - 3.0);
    }
    text
}

/// The bytes of all files of a run.
fn all(folder: &Folder, run: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder.0.join(run)).expect("the run is there");
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| {
            let entry = entry.expect("it can be listed");
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).expect("it can be read"))
        })
        .collect();
    files.sort();
    files
}

fn start(folder: &Folder, line: &str) -> Child {
    let mut command = folder.command(&words(line));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("eddy can be started")
}

fn end(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Waits until the condition holds, with time for a slow machine.
#[track_caller]
fn wait_until(is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_mins(1), "it took too long");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_finished_run_is_not_changed_by_resuming_it() {
    let folder = line_folder("finished");
    for (run, options) in [
        ("patience", "--epochs 500 --patience 3"),
        ("epochs", "--epochs 4"),
        ("both", "--epochs 4 --patience 2 --validate data.csv"),
    ] {
        let line = format!("train p.eddy --in data.csv {options} --run {run}");
        folder.answer(&line);
        let before = all(&folder, run);
        for _ in 0..2 {
            let ended = folder.call(&format!("{line} --resume"));
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
            assert!(ended.stderr.contains("this run is finished"), "{}", ended.stderr);
            assert!(ended.stdout.contains("best epoch"), "{}", ended.stdout);
            assert!(before == all(&folder, run), "{run}: something changed");
        }
    }
    // With more epochs, or more patience, training continues.
    let n_before = losses(&folder, "patience").len();
    folder.answer(&format!("train p.eddy --in data.csv --epochs {} --run patience --resume", n_before + 2));
    assert_eq!(losses(&folder, "patience").len(), n_before + 2);
}

#[test]
fn two_processes_do_not_write_to_one_folder() {
    let folder = line_folder("locked");
    let line = "train p.eddy --in data.csv --engine simulate --epochs 1000000 --run run";
    let child = start(&folder, line);
    wait_until(|| folder.0.join("run/checkpoint.safetensors").exists());
    let message = folder.refusal("train p.eddy --in data.csv --epochs 1 --run run --resume");
    let holder = format!("process {}", child.id());
    assert!(message.contains(&holder) && message.contains("is training in this folder"), "{message}");
    folder.answer("train p.eddy --in data.csv --epochs 1 --run run");
    assert!(folder.0.join("run-2/checkpoint.safetensors").exists());
    // A killed process holds no lock, whatever the file contains.
    end(child);
    let n_epochs = losses(&folder, "run").len();
    folder.answer(&format!("train p.eddy --in data.csv --epochs {} --run run --resume", n_epochs + 3));
    assert_eq!(losses(&folder, "run").len(), n_epochs + 3);
}

/// The same command is repeated after a kill at any moment, also before the first checkpoint; the result
/// equals that of an undisturbed run.
#[test]
fn runs_that_are_killed_at_any_moment_end_as_if_they_were_not() {
    let folder = line_folder("killed").with("data.csv", data(400));
    let line = "train p.eddy --in data.csv --validate data.csv --engine simulate --epochs 12 --seed 3 --run";
    folder.answer(&format!("{line} whole"));
    let mut random: u64 = 1;
    for kill in 0..15 {
        let run = format!("run-{kill}");
        for _ in 0..2 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let milliseconds = (random >> 33) % 120;
            let is_begun = folder.0.join(&run).join("checkpoint.safetensors").exists();
            let resume = if is_begun { " --resume" } else { "" };
            let child = start(&folder, &format!("{line} {run}{resume}"));
            std::thread::sleep(Duration::from_millis(milliseconds));
            end(child);
        }
        let is_there = folder.0.join(&run).exists();
        folder.answer(&format!("{line} {run}{}", if is_there { " --resume" } else { "" }));
        for file in ["checkpoint.safetensors", "parameters.safetensors", "run.json", "loss.svg"] {
            assert!(
                bytes(&folder, &format!("whole/{file}")) == bytes(&folder, &format!("{run}/{file}")),
                "{run}: {file}"
            );
        }
        assert_eq!(losses(&folder, "whole"), losses(&folder, &run));
        assert_eq!(all(&folder, &run).len(), all(&folder, "whole").len(), "{run}: something is left over");
    }
    assert!(!folder.0.join("run-0-2").exists());
}

#[test]
fn a_run_without_a_complete_epoch_is_tried_again_in_its_folder() {
    let folder = line_folder("retried");
    folder.answer("train p.eddy --in data.csv --epochs 2 --run whole");
    for (run, resume) in [("again", ""), ("resumed", " --resume")] {
        fs::create_dir(folder.0.join(run)).expect("it can be made");
        fs::write(folder.0.join(run).join("metrics.jsonl"), "{\"epoch\":1,\"lo").expect("it can be written");
        fs::write(folder.0.join(run).join(".run.json.eddy-7-0"), "half").expect("it can be written");
        folder.answer(&format!("train p.eddy --in data.csv --epochs 2 --run {run}{resume}"));
        assert_eq!(
            bytes(&folder, "whole/checkpoint.safetensors"),
            bytes(&folder, &format!("{run}/checkpoint.safetensors"))
        );
        assert_eq!(losses(&folder, "whole"), losses(&folder, run));
        assert!(!folder.0.join(run).join(".run.json.eddy-7-0").exists());
    }
    // A folder with other files stays unchanged.
    fs::create_dir(folder.0.join("mine")).expect("it can be made");
    fs::write(folder.0.join("mine/notes.txt"), "mine").expect("it can be written");
    folder.answer("train p.eddy --in data.csv --epochs 1 --run mine");
    assert!(folder.0.join("mine-2/checkpoint.safetensors").exists());
    assert_eq!(all(&folder, "mine").len(), 1);
}

#[test]
fn changes_since_a_run_began_are_reported() {
    let changes = |test: &str, change: &dyn Fn(&Folder), options: &str| {
        let folder = line_folder(test);
        folder.answer("train p.eddy --in data.csv --validate data.csv --epochs 1 --run run");
        change(&folder);
        let line =
            format!("train p.eddy --in data.csv --validate data.csv --epochs 2 --run run --resume {options}");
        let ended = folder.call(&line);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let notes = ended.stderr.lines().filter(|line| line.contains("changed since the run began"));
        notes.map(str::to_string).collect::<Vec<_>>()
    };
    let nothing = |_: &Folder| {};
    assert_eq!(changes("same", &nothing, "--threads 1 --engine simulate"), Vec::<String>::new());
    let write = |name: &'static str, text: String| {
        move |folder: &Folder| fs::write(folder.0.join(name), &text).expect("it can be written")
    };
    for (test, change, options, expected) in [
        (
            "seed",
            &nothing as &dyn Fn(&Folder),
            "--seed 7",
            "note: the seed changed since the run began: it was 0 and is 7",
        ),
        (
            "order",
            &nothing,
            "--no-shuffle",
            "note: whether rows are shuffled changed since the run began: it was true and is false",
        ),
        (
            "batch",
            &nothing,
            "--batch 2",
            "note: the batch changed since the run began: it was not given and is 2",
        ),
        (
            "patience",
            &nothing,
            "--patience 2",
            "note: the patience changed since the run began: it was not given and is 2",
        ),
        (
            "program",
            &write("p.eddy", format!("-- so\n{LINE}")),
            "",
            "note: the program changed since the run began",
        ),
        (
            "import",
            &write("model.eddy", format!("{MODEL}-- so\n")),
            "",
            "note: an imported file changed since the run began: `model.eddy`",
        ),
    ] {
        assert_eq!(changes(test, change, options), [expected], "{test}");
    }
    let found = changes("data", &write("data.csv", data(41)), "");
    let data =
        ["note: the data changed since the run began", "note: the validation changed since the run began"];
    assert_eq!(found, data);
}

#[test]
fn a_run_folder_describes_the_run() {
    let folder = line_folder("described");
    folder.answer(
        "train p.eddy --in data.csv --epochs 1 --batch 4 --batch-loss sum --patience 5 --seed 3 --no-shuffle --engine simulate --threads 1 --max-window 9 --run run",
    );
    let description: serde_json::Value =
        serde_json::from_str(&folder.read("run/run.json")).expect("it is JSON");
    for (key, value) in [
        ("batch", serde_json::json!(4)),
        ("batch_loss", serde_json::json!("sum")),
        ("patience", serde_json::json!(5)),
        ("shuffled", serde_json::json!(false)),
        ("engine", serde_json::json!("simulate")),
        ("threads", serde_json::json!(1)),
        ("max_window", serde_json::json!(9)),
        ("sequence", serde_json::Value::Null),
    ] {
        assert_eq!(description[key], value, "{key}");
    }
    assert!(description["imports"]["model.eddy"].is_string(), "{description}");
    assert!(description["data_hash"].is_string(), "{description}");
}

/// The amount written per epoch does not grow with the number of epochs; pictures are drawn only after some
/// epochs.
#[test]
fn bookkeeping_does_not_grow_with_the_number_of_epochs() {
    let folder = line_folder("long").with("data.csv", data(2));
    let sizes = |n: usize| {
        folder.answer(&format!("train p.eddy --in data.csv --engine simulate --epochs {n} --run run-{n}"));
        bytes(&folder, &format!("run-{n}/checkpoint.safetensors")).len()
    };
    let (few, many) = (sizes(10), sizes(300));
    assert!(many <= few + 16, "a checkpoint has {few} bytes after 10 epochs, and {many} after 300");
    assert_eq!(losses(&folder, "run-300").len(), 300);
    // Lines are appended; existing ones are not written again.
    folder.answer("train p.eddy --in data.csv --engine simulate --epochs 301 --run run-300 --resume");
    assert_eq!(losses(&folder, "run-300").len(), 301);
}

/// Lost metrics cannot be recomputed, which is reported; all other files are restored.
#[test]
fn lost_metrics_are_reported_and_training_continues() {
    let folder = line_folder("lost");
    folder.answer("train p.eddy --in data.csv --epochs 4 --run whole");
    folder.answer("train p.eddy --in data.csv --epochs 3 --run run");
    let metrics = folder.read("run/metrics.jsonl");
    let first = metrics.lines().next().expect("there are three");
    fs::write(folder.0.join("run/metrics.jsonl"), format!("{first}\ngarbage\n")).expect("it can be written");
    fs::write(folder.0.join("run/.loss.svg.eddy-1"), "half").expect("it can be written");
    let ended = folder.call("train p.eddy --in data.csv --epochs 4 --run run --resume");
    assert!(ended.stderr.contains("`metrics.jsonl` has lost 2 of 3 epochs"), "{}", ended.stderr);
    assert_eq!(bytes(&folder, "whole/checkpoint.safetensors"), bytes(&folder, "run/checkpoint.safetensors"));
    let whole = losses(&folder, "whole");
    assert_eq!(losses(&folder, "run"), [whole[0].clone(), whole[3].clone()]);
    assert!(!folder.0.join("run/.loss.svg.eddy-1").exists());
}

/// Without `run.json` nothing can be compared, which is reported.
#[test]
fn a_lost_description_is_reported() {
    let folder = line_folder("undescribed");
    folder.answer("train p.eddy --in data.csv --epochs 2 --run run");
    let line = "train p.eddy --in data.csv --epochs 3 --run run --resume";
    fs::write(folder.0.join("run/run.json"), "{\"eddy\":").expect("it can be written");
    let ended = folder.call(line);
    assert!(ended.stderr.contains("`run.json` is lost or damaged"), "{}", ended.stderr);
    // It was written again.
    let ended = folder.call(line);
    assert!(!ended.stderr.contains("run.json"), "{}", ended.stderr);
    fs::remove_file(folder.0.join("run/run.json")).expect("it is there");
    let ended = folder.call(line);
    assert!(ended.stderr.contains("`run.json` is lost or damaged"), "{}", ended.stderr);
}

/// Missing parameters are not announced; those of a later epoch are kept, even if they are worse.
#[test]
fn lost_parameters_are_reported_and_not_announced() {
    for damage in ["", "half of a file"] {
        let folder = line_folder("parameterless");
        folder.answer("train p.eddy --in data.csv --epochs 2 --run run");
        let parameters = folder.0.join("run/parameters.safetensors");
        if damage.is_empty() {
            fs::remove_file(&parameters).expect("it is there");
        } else {
            fs::write(&parameters, damage).expect("it can be written");
        }
        let ended = folder.call("train p.eddy --in data.csv --epochs 2 --run run --resume");
        assert!(ended.stderr.contains("it had the parameters of epoch 2"), "{}", ended.stderr);
        assert!(!ended.stdout.contains("parameters:"), "{}", ended.stdout);
        let answer = folder.answer("train p.eddy --in data.csv --epochs 3 --run run --resume");
        assert!(answer.contains("best epoch: 3"), "{answer}");
        folder.answer("run p.eddy --node line --in x=data.csv --params run/parameters.safetensors");
    }
}

/// A validation loss is never compared with a loss on the training data.
#[test]
fn a_run_that_goes_on_with_validation_has_a_new_best_epoch() {
    let folder = line_folder("validated").with("far.csv", "x,gt\n100,0\n");
    let line = "train p.eddy --in data.csv --run run";
    folder.answer(&format!("{line} --epochs 2"));
    let far = folder.answer(&format!("{line} --epochs 3 --validate far.csv --resume"));
    assert!(far.contains("best epoch: 3, ") && far.contains(", validation "), "{far}");
    let again = folder.answer(&format!("{line} --epochs 4 --resume"));
    assert!(again.contains("best epoch: 4, ") && !again.contains(", validation "), "{again}");
    let before = bytes(&folder, "run/parameters.safetensors");
    let near = folder.answer(&format!("{line} --epochs 5 --validate data.csv --resume"));
    assert!(near.contains("best epoch: 5, "), "{near}");
    assert_ne!(before, bytes(&folder, "run/parameters.safetensors"));
}
