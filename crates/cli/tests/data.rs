//! What comes in by `--in` and goes out by `--out`: data that are wrong, and files that must not be lost.

mod folder;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use folder::Folder;

const SUM: &str = "node acc(x)->(s) s = x + (0.0 fby s);\n";

#[test]
fn a_mark_at_the_start_of_data_is_passed_over() {
    let folder = Folder::new("mark").with("a.eddy", SUM).with("x.csv", "\u{FEFF}x\n1\n2\n");
    let run = ["run", "a.eddy", "--node", "acc", "--in", "-"];
    folder.eddy_with_input(&run, "\u{FEFF}{\"x\":1}\n{\"x\":2}\n").is(0, "{\"s\":1}\n{\"s\":3}\n");
    folder.eddy(&["run", "a.eddy", "--node", "acc", "--in", "x.csv"]).is(0, "{\"s\":1}\n{\"s\":3}\n");
}

#[test]
fn a_mistake_at_any_character_is_told() {
    let folder = Folder::new("characters").with("a.eddy", SUM);
    for form in [&["--short"][..], &["--json"], &[]] {
        for line in ["{\"x\":é}", "é", "{\"x\":1}é", "{\"é\":\"é\",\"x\":\"é\"}", "{\"x\":1,\u{FEFF}}"]
        {
            let arguments = [&["run", "a.eddy", "--node", "acc", "--in", "-"], form].concat();
            folder.eddy_with_input(&arguments, line).fails(1, &["E0701", "stdin"]);
        }
    }
}

#[test]
fn a_file_is_replaced_by_the_answer_to_a_program_that_runs() {
    let folder = Folder::new("out").with("a.eddy", SUM).with("x.jsonl", "{\"x\":1}\n").with("o", "old");
    let run = ["run", "a.eddy", "--node", "acc", "--in", "x.jsonl", "--out", "o"];
    folder.eddy(&run).is(0, "");
    assert_eq!(folder.read("o"), "{\"s\":1}\n");
    assert_eq!(folder.names(), ["a.eddy", "o", "x.jsonl"]);
}

#[test]
fn a_refused_program_leaves_the_file_as_it_was() {
    let folder =
        Folder::new("kept").with("a.eddy", SUM).with("b.eddy", "node f(x)->(o) o = y;").with("o", "old");
    folder.eddy(&["run", "b.eddy", "--out", "o"]).fails(1, &["unknown variable"]);
    let run = ["run", "a.eddy", "--node", "acc", "--in", "-", "--out", "o"];
    folder.eddy_with_input(&run, "{\"x\":1}\n{\"x\":[1]}\n").fails(1, &["has shape"]);
    folder.eddy(&["trace", "b.eddy", "--svg", "o"]).fails(1, &["unknown variable"]);
    assert_eq!(folder.read("o"), "old");
    assert_eq!(folder.names(), ["a.eddy", "b.eddy", "o"]);
}

#[test]
fn an_answer_never_replaces_what_it_is_made_of() {
    let folder = Folder::new("made_of").with("a.eddy", SUM).with("x.jsonl", "{\"x\":1}\n");
    fs::create_dir(folder.0.join("d")).expect("the folder can be made");
    for out in ["x.jsonl", "./d/../x.jsonl", "a.eddy"] {
        let run = ["run", "a.eddy", "--node", "acc", "--in", "x=x.jsonl", "--out", out];
        folder.eddy(&run).fails(2, &["cannot be written to", out]);
    }
    assert_eq!((folder.read("a.eddy"), folder.read("x.jsonl")), (SUM.to_string(), "{\"x\":1}\n".to_string()));
    folder.eddy(&["run", "a.eddy", "--out", "d"]).fails(1, &["d: cannot write the file: it is a directory"]);
}

#[test]
fn a_stream_that_nothing_needs_keeps_no_cycle_open() {
    let dead = "node f(x, c)->(s) s = x + (0.0 fby s); u = merge c (x when c) ((post u) when not c);";
    let folder = Folder::new("dead").with("a.eddy", dead);
    let lines = "{\"x\":1,\"c\":false}\n".repeat(4) + "{\"x\":1,\"c\":true}\n";
    let run = ["run", "a.eddy", "--node", "f", "--in", "-", "--max-window", "2"];
    folder.eddy_with_input(&run, &lines).is(0, "{\"s\":1}\n{\"s\":2}\n{\"s\":3}\n{\"s\":4}\n{\"s\":5}\n");
    let shown = [&run[..], &["--show", "u"]].concat();
    folder.eddy_with_input(&shown, &lines).fails(1, &["2 cycles", "'u'"]);
}

/// The first line that comes out after these lines went in, while more may follow; `stream` is what is listened to.
fn first_line(folder: &Folder, arguments: &[&str], lines: &str, stream: &str) -> String {
    let mut command = folder.command(arguments);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("eddy can be started");
    let mut stdin = child.stdin.take().expect("the input is piped");
    stdin.write_all(lines.as_bytes()).expect("eddy reads");
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let from: Box<dyn std::io::Read + Send> = match stream {
        "stdout" => Box::new(stdout.expect("the output is piped")),
        _ => Box::new(stderr.expect("the messages are piped")),
    };
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        let _ = BufReader::new(from).read_line(&mut line);
        let _ = send.send(line);
    });
    let line = receive.recv_timeout(Duration::from_secs(20));
    drop(stdin);
    child.wait().expect("eddy ends");
    line.expect("a line comes while the input is open")
}

#[test]
fn output_does_not_wait_for_an_input_whose_type_is_known() {
    let program = "node f(x:num [], c)->(o, p) o = x + 1.0; p = 2.0 when c;";
    let folder = Folder::new("known").with("a.eddy", program);
    let run = ["run", "a.eddy", "--node", "f", "--in", "-"];
    assert_eq!(first_line(&folder, &run, "{\"x\":1}\n", "stdout"), "{\"o\":2}\n");
}

#[test]
fn whoever_waits_for_output_is_told_for_what() {
    let folder = Folder::new("awaited").with("a.eddy", "node f(x, y)->(o, p) o = x; p = y;");
    let run = ["run", "a.eddy", "--node", "f", "--in", "-"];
    let note = first_line(&folder, &run, &"{\"x\":1}\n".repeat(10), "stderr");
    assert!(note.starts_with("note: there is no output before the first value of `y`"), "{note}");
}
