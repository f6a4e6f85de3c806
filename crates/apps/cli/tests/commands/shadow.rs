//! The shadow check: a wrong C compiler changes no result.
//!
//! The compiler is a script that edits the C text of one node before it calls the real one. So each test
//! knows the error, and the cycle where it begins.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;

use crate::folder::{Ended, Folder, PATIENCE};

const SUM: &str = "node acc(x)->(s, d) s = x + (0.0 fby s); d = 2.0 * x;\n";

/// A folder with a compiler that applies an edit (of `sed`) to the text of a node.
fn folder(test: &str, node: &str, edit: &str) -> Folder {
    let script = format!(
        "#!/bin/sh\nfor word; do case \"$word\" in */{node}.c) sed -i '{edit}' \"$word\";; esac; done\nexec cc \"$@\"\n"
    );
    let folder = Folder::new(test).with("wrong-cc", script);
    let path = folder.0.join("wrong-cc");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions can be set");
    folder
}

/// Calls `eddy` with the words of a line and the compiler of the folder.
fn call(folder: &Folder, line: &str) -> Ended {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut command = folder.command(&words);
    command.env("CC", folder.0.join("wrong-cc")).env("EDDY_CACHE_SIZE", "0");
    Ended::new(&command.output().expect("eddy can be started"))
}

/// The folder that reproduces the difference.
fn evidence(folder: &Folder) -> Option<String> {
    folder.names().into_iter().find(|name| name.starts_with("eddy-disagreement-"))
}

/// The command of its README, called in the folder.
fn again(folder: &Folder, evidence: &str) -> Ended {
    let readme = folder.read(&format!("{evidence}/README.txt"));
    let command = readme.lines().find(|line| line.starts_with("    ")).expect("there is a command").trim();
    let command = command.replace(" eddy ", &format!(" '{}' ", env!("CARGO_BIN_EXE_eddy")));
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(command).current_dir(folder.0.join(evidence)).env("EDDY_CACHE_SIZE", "0");
    Ended::new(&shell.output().expect("a shell can be started"))
}

/// A run gives the simulator's result and reports that; the folder that it leaves reproduces the report.
#[track_caller]
fn is_noticed(folder: &Folder, line: &str, words: &[&str]) {
    let simulated = call(folder, &format!("{line} --engine simulate"));
    assert_eq!((simulated.code, &*simulated.stderr), (Some(0), ""));
    let unchecked = call(folder, &format!("{line} --no-shadow"));
    assert_ne!(unchecked.stdout, simulated.stdout, "the compiler is right");
    let compiled = call(folder, line);
    assert_eq!((compiled.code, &compiled.stdout), (Some(0), &simulated.stdout), "{}", compiled.stderr);
    assert_eq!(compiled.stderr.matches("warning[E0908]").count(), 1, "{}", compiled.stderr);
    let evidence = evidence(folder).expect("a folder was written");
    for word in words.iter().chain(&["wrong-cc", "-O3", &evidence]) {
        assert!(compiled.stderr.contains(word), "no `{word}` in {}", compiled.stderr);
    }
    let again = again(folder, &evidence);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(again.stderr.contains("warning[E0908]"), "{}", again.stderr);
    assert!(words.iter().all(|word| again.stderr.contains(word)), "{}", again.stderr);
}

#[test]
fn an_error_from_the_first_cycle_on_changes_no_row() {
    let folder = folder("first", "acc", "s/2.0 \\* in->x/3.0 * in->x/").with("a.eddy", SUM);
    let folder = folder.with("x.jsonl", "{\"x\":1}\n{\"x\":2}\n");
    is_noticed(
        &folder,
        "run a.eddy --node acc --in x.jsonl",
        &["`d` at cycle 0", "gives 3.0, the simulator 2.0"],
    );
}

#[test]
fn an_error_of_a_later_cycle_and_one_output_changes_no_row() {
    let folder =
        folder("later", "acc", "s/2.0 \\* in->x/(in->x > 3.5 ? 7.5 : 2.0 * in->x)/").with("a.eddy", SUM);
    let folder = folder.with("x.csv", "x\n1\n2\n3\n4\n5\n6\n");
    is_noticed(
        &folder,
        "run a.eddy --node acc --in x.csv",
        &["`d` at cycle 3", "gives 7.5, the simulator 8.0"],
    );
}

#[test]
fn single_precision_batches_parameters_constants_and_chosen_streams_are_compared() {
    let program = "node f(k, x)->(y) w = param(0.5); z = k * x; y = z * w + (0.0 fby y);\n";
    let folder = folder("options", "f", "s/1.5\\(f*\\) \\*/1.25\\1 */").with("a.eddy", program);
    let folder = folder.with("x.jsonl", "{\"x\":1}\n{\"x\":3}\n").with("y.jsonl", "{\"x\":0}\n{\"x\":5}\n");
    let learn = "node g(x)->(y) y = param(0.5) * x;\n";
    let folder = folder.with("b.eddy", learn);
    is_noticed(&folder, "run a.eddy --node f --const k=1.5 --in x.jsonl --f32", &["`y` at cycle 0"]);
    for name in folder.names().into_iter().filter(|name| name.starts_with("eddy-dis")) {
        fs::remove_dir_all(folder.0.join(name)).expect("the folder can be removed");
    }
    let line = "run a.eddy --node f --const k=1.5 --batch 2 --in x.jsonl --in y.jsonl --show z,y --threads 2";
    is_noticed(&folder, line, &["`z` at cycle 0"]);
}

#[test]
fn an_error_in_a_node_that_looks_ahead_changes_no_row() {
    let program = "node late(x)->(y, z) y = x + 2.0 * (post x);  z = 0.0 fby y;\n";
    let folder = folder("ahead", "late", "s/2.0 \\*/2.5 */").with("a.eddy", program);
    let folder = folder.with("x.jsonl", "{\"x\":1}\n{\"x\":2}\n{\"x\":3}\n{\"x\":5}\n");
    is_noticed(&folder, "run a.eddy --node late --in x.jsonl", &["`y` at cycle 0"]);
}

#[test]
fn an_error_in_a_window_and_in_a_whole_trace_changes_no_row() {
    let window = "node until(x, c)->(o) o = merge c ((3.0 * x) when c) ((post o) when not c);\n";
    let folder = folder("window", "until", "s/3.0 \\*/3.5 */").with("a.eddy", window);
    let folder =
        folder.with("x.jsonl", "{\"x\":1,\"c\":false}\n{\"x\":2,\"c\":true}\n{\"x\":3,\"c\":true}\n");
    is_noticed(&folder, "run a.eddy --node until --in x.jsonl", &["`o` at cycle 0"]);
    let trace = "node backward(x)->(o) o = 3.0 * x + (0.0 fby back o);\n";
    let folder = self::folder("trace", "backward", "s/3.0 \\*/3.5 */").with("a.eddy", trace);
    let folder = folder.with("x.jsonl", "{\"x\":1}\n{\"x\":2}\n{\"x\":3}\n");
    is_noticed(&folder, "run a.eddy --node backward --in x.jsonl", &["`o` at cycle 0"]);
}

#[test]
fn a_whole_trace_that_is_long_is_tried_on_its_first_rows() {
    let trace = "node backward(x)->(o) o = 3.0 * x + (0.0 fby back o);\n";
    let folder = folder("long", "backward", "s/3.0 \\*/3.5 */").with("a.eddy", trace);
    let folder = folder.with("x.jsonl", "{\"x\":1}\n".repeat(3000));
    is_noticed(&folder, "run a.eddy --node backward --in x.jsonl", &["`o` at cycle 0"]);
    let evidence = evidence(&folder).expect("a folder was written");
    assert!(folder.read(&format!("{evidence}/data.jsonl")).lines().count() <= 1001);
}

#[test]
fn a_failure_that_compiled_code_invents_or_misses_is_noticed() {
    let program = "node third(x)->(y) y = 6 div x;\n";
    let folder = folder("failure", "third", "s/eddy_div(6, /eddy_div(7, /;s/INT64_C(6)/INT64_C(7)/")
        .with("a.eddy", program);
    let folder = folder.with("x.jsonl", "{\"x\":1}\n{\"x\":3}\n{\"x\":0}\n");
    let simulated = call(&folder, "run a.eddy --node third --in x.jsonl --engine simulate");
    let compiled = call(&folder, "run a.eddy --node third --in x.jsonl");
    assert_eq!((compiled.code, &compiled.stdout), (simulated.code, &simulated.stdout));
    assert!(
        compiled.stderr.contains("warning[E0908]") && compiled.stderr.contains(simulated.stderr.trim()),
        "{}",
        compiled.stderr
    );
}

const LINE: &str = "node line(x)->(y) y = param(0.5) * x + param(0.1) * (0.0 fby y);\ntrain line as learn loss mse optim sgd(0.01) segment;\n";

fn sequences(n: usize) -> String {
    let row = |i: usize| {
        let x = i % 7;
        format!("{{\"x\":0.{x},\"gt\":0.{},\"end\":{}}}\n", (x + 3) % 8, i % 5 == 4)
    };
    (0..n).map(row).collect()
}

/// The contents of a run folder, and the messages.
fn trained(folder: &Folder, options: &str, run: &str) -> (Vec<u8>, String) {
    let ended = call(folder, &format!("train t.eddy --in t.jsonl --epochs 2 --run {run} {options}"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    (fs::read(folder.0.join(run).join("parameters.safetensors")).expect("it was written"), ended.stderr)
}

#[track_caller]
fn training_is_noticed(folder: &Folder, options: &str) {
    let (simulated, _) = trained(folder, &format!("{options} --engine simulate"), "simulated");
    let (wrong, _) = trained(folder, &format!("{options} --no-shadow"), "wrong");
    assert_ne!(simulated, wrong, "the compiler is right");
    let (compiled, message) = trained(folder, options, "compiled");
    assert_eq!(compiled, simulated, "{message}");
    assert!(message.contains("warning[E0908]") && message.contains("what is learnt in"), "{message}");
    let run = Folder(folder.0.join("compiled"));
    let evidence = evidence(&run).expect("the folder is in the folder of the run");
    let again = again(&run, &evidence);
    assert!(again.stderr.contains("warning[E0908]"), "{}", again.stderr);
}

#[test]
fn an_error_in_the_backward_sweep_changes_no_parameter() {
    let folder = folder("backward", "learn", "s/0.01 \\*/0.02 */").with("t.eddy", LINE);
    let folder = folder.with("t.jsonl", sequences(40));
    training_is_noticed(&folder, "");
    // Also from the end of a resumed run.
    trained(&folder, "", "resumed");
    let ended = call(&folder, "train t.eddy --in t.jsonl --epochs 3 --run resumed --resume");
    assert!(ended.stderr.contains("E0908"), "{}", ended.stderr);
    // No epoch remains, so nothing is compared.
    let ended = call(&folder, "train t.eddy --in t.jsonl --epochs 3 --run resumed --resume");
    assert!(!ended.stderr.contains("E0908"), "{}", ended.stderr);
}

#[test]
fn an_error_in_training_with_a_batch_or_checkpoints_changes_no_parameter() {
    let folder = folder("batch", "learn", "s/0.01 \\*/0.02 */").with("t.eddy", LINE);
    let folder = folder.with("t.jsonl", sequences(40));
    training_is_noticed(&folder, "--batch 2");
    let folder = self::folder("checkpoint", "learn", "s/0.01 \\*/0.02 */").with("t.eddy", LINE);
    let folder = folder.with("t.jsonl", sequences(40));
    training_is_noticed(&folder, "--checkpoint sqrt");
}

/// Learnt parameters, from a run whose code is right.
fn learnt(folder: Folder) -> Folder {
    let (parameters, _) = trained(&folder, "--engine simulate", "first");
    folder.with("learnt.safetensors", parameters)
}

#[test]
fn an_error_in_a_run_with_learnt_parameters_changes_no_row() {
    let folder = folder("params", "line", "s/0\\.[0-9]* \\* in->x/0.75 * in->x/").with("t.eddy", LINE);
    let folder = learnt(folder.with("t.jsonl", sequences(40)));
    let folder = folder.with("x.jsonl", "{\"x\":1}\n{\"x\":2}\n");
    let line = "run t.eddy --node line --in x.jsonl --params learnt.safetensors";
    is_noticed(&folder, line, &["`y` at cycle 0", "gives 0.75, the simulator 0.5"]);
}

#[test]
fn an_error_in_training_that_starts_from_parameters_changes_no_parameter() {
    let folder = folder("start", "learn", "s/0.01 \\*/0.02 */").with("t.eddy", LINE);
    let folder = learnt(folder.with("t.jsonl", sequences(40)));
    training_is_noticed(&folder, "--params learnt.safetensors");
    // The folder also starts from there.
    let run = Folder(folder.0.join("compiled"));
    let evidence = evidence(&run).expect("there is one");
    let start = fs::read(run.0.join(evidence).join("start.safetensors")).expect("it was written");
    assert_eq!(start, fs::read(folder.0.join("learnt.safetensors")).expect("it was written"));
}

/// Only code for validation has constant parameters.
#[test]
fn an_error_in_validation_changes_no_loss() {
    let folder = folder("validation", "learn", "s/self->k_v[0-9]* \\* in->x/0.75 * in->x/");
    let folder = folder.with("t.eddy", LINE).with("t.jsonl", sequences(40)).with("v.jsonl", sequences(20));
    let trained = |options: &str, run: &str| {
        let line = format!("train t.eddy --in t.jsonl --validate v.jsonl --epochs 2 --run {run} {options}");
        let Ended { code, stdout, stderr } = call(&folder, &line);
        assert_eq!(code, Some(0), "{stderr}");
        let best =
            stdout.lines().find(|line| line.starts_with("best epoch")).expect("it is printed").to_string();
        (best, fs::read(folder.0.join(run).join("parameters.safetensors")).expect("it was written"), stderr)
    };
    let (simulated, parameters, _) = trained("--engine simulate", "simulated");
    let (wrong, same_parameters, _) = trained("--no-shadow", "wrong");
    assert_ne!(simulated, wrong, "the compiler is right");
    assert_eq!(parameters, same_parameters, "the compiler is wrong about training too");
    let (compiled, same_parameters, message) = trained("", "compiled");
    assert_eq!((compiled, same_parameters), (simulated, parameters), "{message}");
    assert!(message.contains("warning[E0908]") && message.contains("`loss`"), "{message}");
    let run = Folder(folder.0.join("compiled"));
    let evidence = evidence(&run).expect("the folder is in the folder of the run");
    assert!(folder.read(&format!("compiled/{evidence}/validation.jsonl")).lines().count() > 0);
    let again = again(&run, &evidence);
    assert!(again.stderr.contains("warning[E0908]"), "{}", again.stderr);
}

/// One loop for both roots, and a program for each root of which one looks ahead.
#[test]
fn an_error_in_one_of_several_roots_changes_no_row() {
    let late = "y = 3.0 * a + (post a);  z = 2.0 * b + (0.0 fby z);";
    for (test, body) in [("roots", "y = 3.0 * a + (0.0 fby y);  z = 2.0 * b;"), ("parts", late)] {
        let folder = folder(test, "two", "s/2.0 \\* in->b/2.5 * in->b/");
        let folder = folder.with("a.eddy", format!("node two(a, b)->(y, z) {body}\n"));
        let rows = "{\"a\":1}\n{\"b\":1}\n{\"a\":2,\"b\":2}\n{\"a\":4}\n{\"b\":5}\n{\"a\":3}\n";
        let folder = folder.with("x.jsonl", rows);
        let words = ["`z` at cycle 1", "gives 2.5, the simulator 2.0"];
        is_noticed(&folder, "run a.eddy --node two --in x.jsonl", &words);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_reported() {
    let folder = folder("denied", "acc", "s/2.0 \\* in->x/3.0 * in->x/").with("a.eddy", SUM);
    let folder = folder.with("x.jsonl", "{\"x\":1}\n");
    let first = call(&folder, "run a.eddy --node acc --in x.jsonl");
    let name = evidence(&folder).expect("a folder was written");
    assert!(first.stderr.contains("shows it again"), "{}", first.stderr);
    // A file where the folder should be; permissions would not stop the superuser.
    fs::remove_dir_all(folder.0.join(&name)).expect("the folder can be removed");
    fs::write(folder.0.join(&name), "").expect("a file can be written");
    let second = call(&folder, "run a.eddy --node acc --in x.jsonl");
    assert_eq!((second.code, second.stdout), (Some(0), first.stdout));
    assert!(second.stderr.contains("cannot be written"), "{}", second.stderr);
    assert_eq!(
        folder.names().iter().filter(|name| name.contains("eddy-")).count(),
        1,
        "{:?}",
        folder.names()
    );
}

#[test]
fn the_message_comes_at_once_and_rows_do_not_wait() {
    let folder =
        folder("pipe", "acc", "s/2.0 \\* in->x/(in->x > 1.5 ? 7.5 : 2.0 * in->x)/").with("a.eddy", SUM);
    let mut command = folder.command(&["run", "a.eddy", "--node", "acc", "--in", "-"]);
    command.env("CC", folder.0.join("wrong-cc")).env("EDDY_CACHE_SIZE", "0");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("eddy starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let out = lines(child.stdout.take().expect("it is piped"));
    let err = lines(child.stderr.take().expect("it is piped"));
    let next = |from: &mpsc::Receiver<String>| {
        from.recv_timeout(PATIENCE).expect("a line comes while the input is open")
    };
    stdin.write_all(b"{\"x\":1}\n{\"x\"").expect("eddy reads");
    assert_eq!(next(&out), "{\"s\":1,\"d\":2}");
    stdin.write_all(b":2}\n").expect("eddy reads");
    assert!(next(&err).contains("E0908"));
    assert_eq!(next(&out), "{\"s\":3,\"d\":4}");
    drop(stdin);
    child.wait().expect("eddy ends");
}

/// The lines of a stream as they arrive.
fn lines(from: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        BufReader::new(from).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
    });
    receive
}
