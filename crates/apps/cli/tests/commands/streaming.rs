//! Slow data: each complete line is answered at once, and no input is read before the program requests it.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crate::folder::{Folder, PATIENCE};

const SUM: &str = "node acc(x:num [])->(s) s = x + (0.0 fby s);\n";
const AHEAD: &str = "node acc(x:num [])->(s) s = 2.0 * (post x);\n";
const WINDOW: &str = "node acc(x:num [])->(s) c = x > 0.5; s = merge c (x when c) ((post s) when not c);\n";

/// The lines of a stream as they arrive.
fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        BufReader::new(from).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
    });
    receive
}

fn started(folder: &Folder, arguments: &[&str]) -> (Child, Receiver<String>) {
    let mut command = folder.command(arguments);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().expect("eddy can be started");
    let out = lines(child.stdout.take().expect("the output is piped"));
    (child, out)
}

#[track_caller]
fn answers(out: &Receiver<String>, expected: &[&str]) {
    for line in expected {
        let found = out.recv_timeout(PATIENCE).expect("a line comes while the input is open");
        assert_eq!(&*found, *line);
    }
}

#[track_caller]
fn no_line_arrives(out: &Receiver<String>) {
    assert_eq!(out.recv_timeout(Duration::from_millis(200)).ok(), None);
}

/// Sends blocks that may end within a line, and compares the answers after each.
fn converse(folder: &Folder, arguments: &[&str], blocks: &[(&str, &[&str])]) {
    for engine in ["compiled", "simulate"] {
        let (mut child, out) = started(folder, &[arguments, &["--engine", engine]].concat());
        let mut stdin = child.stdin.take().expect("the input is piped");
        for (block, expected) in blocks {
            stdin.write_all(block.as_bytes()).expect("eddy reads");
            answers(&out, expected);
        }
        drop(stdin);
        child.wait().expect("eddy ends");
    }
}

const RUN: [&str; 6] = ["run", "a.eddy", "--node", "acc", "--in", "-"];

#[test]
fn half_a_line_keeps_no_answer_back() {
    let folder = Folder::new("half").with("a.eddy", SUM);
    let blocks: &[(&str, &[&str])] = &[
        ("{\"x\":1}\n{\"x\"", &["{\"s\":1}"]),
        (":2}\n{\"x\":3}\n{", &["{\"s\":3}", "{\"s\":6}"]),
        ("\"x\":4}\n\n \n{\"x\":", &["{\"s\":10}"]),
        ("1}\r\n", &["{\"s\":11}"]),
    ];
    converse(&folder, &RUN, blocks);
}

#[test]
fn half_a_line_keeps_no_answer_of_a_node_back_that_looks_ahead() {
    let folder = Folder::new("ahead").with("a.eddy", AHEAD);
    converse(&folder, &RUN, &[("{\"x\":1}\n{\"x\":2}\n{\"x\"", &["{\"s\":4}"]), (":3}\n{", &["{\"s\":6}"])]);
    let folder = Folder::new("window").with("a.eddy", WINDOW);
    let blocks: &[(&str, &[&str])] =
        &[("{\"x\":0}\n{\"x\":2}\n{\"x\"", &["{\"s\":2}", "{\"s\":2}"]), (":3}\n{", &["{\"s\":3}"])];
    converse(&folder, &RUN, blocks);
}

/// A named pipe.
fn pipe(folder: &Folder, name: &str) -> bool {
    Command::new("mkfifo").arg(folder.0.join(name)).status().is_ok_and(|status| status.success())
}

#[test]
fn half_a_line_of_csv_keeps_no_answer_back() {
    let folder = Folder::new("csv").with("a.eddy", SUM);
    if !pipe(&folder, "x.csv") {
        return;
    }
    for engine in ["compiled", "simulate"] {
        let arguments = ["run", "a.eddy", "--node", "acc", "--in", "x.csv", "--engine", engine];
        let (mut child, out) = started(&folder, &arguments);
        let mut to = OpenOptions::new().write(true).open(folder.0.join("x.csv")).expect("eddy reads");
        for (block, expected) in
            [("t,x\n0,1\n0,", "{\"s\":1}"), ("2\r\n\r\n\"0", "{\"s\":3}"), ("\",3\n", "{\"s\":6}")]
        {
            to.write_all(block.as_bytes()).expect("eddy reads");
            answers(&out, &[expected]);
        }
        drop(to);
        child.wait().expect("eddy ends");
    }
}

const SAMPLED: &str = "node f(c:bool [], x:num [])->(o) o = merge c x 0.0;\n";

#[test]
fn an_input_on_a_sampled_clock_is_read_only_when_its_clock_is_true() {
    let folder = Folder::new("sampled").with("a.eddy", SAMPLED);
    if !pipe(&folder, "x.jsonl") {
        return;
    }
    for engine in ["compiled", "simulate"] {
        let arguments =
            ["run", "a.eddy", "--node", "f", "--in", "c=-", "--in", "x=x.jsonl", "--engine", engine];
        let (mut child, out) = started(&folder, &arguments);
        let mut x = OpenOptions::new().write(true).open(folder.0.join("x.jsonl")).expect("eddy reads");
        let mut c = child.stdin.take().expect("the input is piped");
        c.write_all(b"{\"c\":false}\n{\"c\":false}\n").expect("eddy reads");
        answers(&out, &["{\"o\":0}", "{\"o\":0}"]);
        c.write_all(b"{\"c\":true}\n").expect("eddy reads");
        no_line_arrives(&out);
        x.write_all(b"{\"x\":7}\n").expect("eddy reads");
        answers(&out, &["{\"o\":7}"]);
        drop((c, x));
        child.wait().expect("eddy ends");
    }
}

/// Checks a node's output on data in several files, with all engines that run nodes on data.
fn gives(folder: &Folder, options: &[&str], expected: &str) {
    for engine in ["compiled", "simulate"] {
        let arguments = [&["run", "a.eddy", "--node", "f", "--engine", engine], options].concat();
        folder.eddy(&arguments).is(0, expected);
    }
}

#[test]
fn rows_of_a_file_are_taken_where_the_clock_is_true() {
    let folder = Folder::new("own")
        .with("a.eddy", SAMPLED)
        .with("c.csv", "c\nfalse\ntrue\nfalse\nfalse\ntrue\n")
        .with("few.csv", "x\n1\n2\n")
        .with("all.csv", "x,t\n,0\n1,0\n,0\n,0\n2,0\n")
        .with("some.csv", "x,t\n,0\n1,0\n2,0\n");
    let expected = "{\"o\":0}\n{\"o\":1}\n{\"o\":0}\n{\"o\":0}\n{\"o\":2}\n";
    for file in ["few.csv", "all.csv", "some.csv"] {
        gives(&folder, &["--in", "c=c.csv", "--in", &format!("x={file}")], expected);
        gives(&folder, &["--in", &format!("x={file}"), "--in", "c.csv"], expected);
    }
    let table =
        folder.eddy(&["run", "a.eddy", "--node", "f", "--in", "c=c.csv", "--in", "x=few.csv", "--chrono"]);
    assert!(table.stdout.contains("x      .      1     .      .      2"), "{}", table.stdout);
}

#[test]
fn files_with_too_few_or_too_many_rows_are_reported() {
    let folder = Folder::new("count")
        .with("a.eddy", SAMPLED)
        .with("c.csv", "c\nfalse\ntrue\n")
        .with("none.csv", "x\n")
        .with("absent.csv", "x,t\n,0\n,0\n5,0\n")
        .with("more.csv", "x\n1\n2\n");
    for file in ["x=none.csv", "x=absent.csv"] {
        let run = ["run", "--short", "a.eddy", "--node", "f", "--in", "c=c.csv", "--in", file];
        let ended = folder.eddy(&run);
        assert_eq!(ended.code, Some(1), "{file}: {}", ended.stdout);
        assert!(ended.stderr.contains("E0601"), "{}", ended.stderr);
    }
    let ended =
        folder.eddy(&["run", "--short", "a.eddy", "--node", "f", "--in", "c=c.csv", "--in", "x=more.csv"]);
    assert_eq!((ended.code, &*ended.stdout), (Some(0), "{\"o\":0}\n{\"o\":1}\n"));
    assert!(ended.stderr.contains("`more.csv` has more values than `f` asks for"), "{}", ended.stderr);
}

#[test]
fn a_program_drives_its_inputs_by_what_it_computes() {
    let folder = Folder::new("driven")
        .with(
            "a.eddy",
            "node f(x:num [])->(o) c = false fby not c; o = merge c x ((0.0 fby o) when not c);\n",
        )
        .with("x.csv", "x\n5\n6\n");
    gives(
        &folder,
        &["--in", "x=x.csv", "--cycles", "5"],
        "{\"o\":0}\n{\"o\":5}\n{\"o\":5}\n{\"o\":6}\n{\"o\":6}\n",
    );
    gives(&folder, &["--in", "x=x.csv"], "{\"o\":0}\n{\"o\":5}\n{\"o\":5}\n{\"o\":6}\n{\"o\":6}\n");
    // The first input is the clock of the second one.
    let folder = Folder::new("nested")
        .with("a.eddy", "node f(c:bool [], d:bool [], x:num [])->(o) o = merge c (merge d x 1.0) 0.0;\n")
        .with("c.csv", "c\nfalse\ntrue\ntrue\nfalse\ntrue\n")
        .with("d.csv", "d\nfalse\ntrue\ntrue\n")
        .with("x.csv", "x\n8\n9\n");
    let data = ["--in", "x=x.csv", "--in", "d=d.csv", "--in", "c=c.csv"];
    gives(&folder, &data, "{\"o\":0}\n{\"o\":1}\n{\"o\":8}\n{\"o\":0}\n{\"o\":9}\n");
}

/// A clock that is never true: the run never ends, which is reported.
#[test]
fn a_program_that_never_reads_its_input_is_reported() {
    let folder = Folder::new("idle")
        .with("a.eddy", "node f(x:num [])->(o) c = false fby c; o = merge c x 0.0;\n")
        .with("x.csv", "x\n5\n");
    let run = ["run", "a.eddy", "--node", "f", "--in", "x=x.csv", "--engine"];
    for engine in ["compiled", "simulate"] {
        let mut command = folder.command(&[&run[..], &[engine]].concat());
        let piped = command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("eddy can be started");
        let message = lines(child.stderr.take().expect("it is piped"));
        let message = message.recv_timeout(Duration::from_mins(1)).expect("eddy says something");
        // The run continues: a program may request an input rarely.
        assert!(child.try_wait().expect("eddy was started").is_none(), "the run ended: {message}");
        child.kill().expect("it runs");
        child.wait().expect("it was ended");
        assert!(message.contains("`f` has asked for no row of its data in 100000 cycles"), "{message}");
        assert!(message.contains("`--cycles N` ends it"), "{message}");
    }
    // A command that needs the whole trace would never print.
    folder
        .eddy(&[&run[..], &["denote"]].concat())
        .fails(1, &["asked for no row of its data in 100000 cycles", "`--cycles N`"]);
    gives(&folder, &["--in", "x=x.csv", "--cycles", "2"], "{\"o\":0}\n{\"o\":0}\n");
}

#[test]
fn where_a_clock_looks_ahead_its_input_has_a_cell_for_each_cycle() {
    let folder = Folder::new("later")
        .with("a.eddy", "node f(c:bool [], x:num [])->(o) d = post c; o = merge d x 0.0;\n")
        .with("c.csv", "c\nfalse\ntrue\nfalse\n")
        .with("x.csv", "x,t\n3,0\n,0\n,0\n");
    let run = ["run", "a.eddy", "--node", "f", "--in", "c=c.csv", "--in", "x=x.csv"];
    let ended = folder.eddy(&run);
    assert!(ended.stdout.starts_with("{\"o\":3}\n{\"o\":0}\n"), "{} {}", ended.stdout, ended.stderr);
}
