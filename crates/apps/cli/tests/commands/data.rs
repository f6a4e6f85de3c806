//! Data for `--in` and files of `--out`: wrong data, and files that must not be lost.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;

use crate::folder::{Folder, PATIENCE};

const SUM: &str = "node acc(x)->(s) s = x + (0.0 fby s);\n";

#[test]
fn a_mark_at_the_start_of_data_is_passed_over() {
    let folder = Folder::new("mark").with("a.eddy", SUM).with("x.csv", "\u{FEFF}x\n1\n2\n");
    let run = ["run", "a.eddy", "--node", "acc", "--in", "-"];
    folder.eddy_with_input(&run, "\u{FEFF}{\"x\":1}\n{\"x\":2}\n").is(0, "{\"s\":1}\n{\"s\":3}\n");
    folder.eddy(&["run", "a.eddy", "--node", "acc", "--in", "x.csv"]).is(0, "{\"s\":1}\n{\"s\":3}\n");
}

#[test]
fn an_error_at_any_character_is_reported() {
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

/// The condition of a stream's clock counts as what the stream is made of, also where no operand reads it.
#[test]
fn a_stream_depends_on_the_condition_of_its_clock() {
    let folder = Folder::new("conditions")
        .with(
            "a.eddy",
            "node sampled(a)->(c, y:num [] when c) c = 1 div int(post a) > 0; y = 1.0;
             node unread(a)->(o) c = post a > 0.0; z:int [] when c = int(1.0e300); o = a;",
        )
        .with("a.csv", "a\n1\n0\n1\n");
    for engine in ["simulate", "compiled"] {
        let run = ["run", "a.eddy", "--in", "a.csv", "--engine", engine, "--node"];
        let shown = [&run[..], &["sampled", "--show", "y"]].concat();
        folder.eddy(&shown).fails(1, &["division by zero at cycle 0"]);
        // `z` waits for a later cycle, and nothing needs it.
        let unread = [&run[..], &["unread"]].concat();
        folder.eddy(&unread).is(0, "{\"o\":1}\n{\"o\":0}\n{\"o\":1}\n");
    }
}

/// The first line that `stream` gives after these input lines, while the input stays open.
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
    let line = receive.recv_timeout(PATIENCE);
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
fn delayed_output_is_announced_with_its_reason() {
    let folder = Folder::new("awaited").with("a.eddy", "node f(x, y)->(o, p) o = x; p = y;");
    let run = ["run", "a.eddy", "--node", "f", "--in", "-"];
    let note = first_line(&folder, &run, &"{\"x\":1}\n".repeat(10), "stderr");
    assert!(note.starts_with("note: there is no output before the first value of `y`"), "{note}");
}

/// A run of `acc` on these data is refused with these words.
#[track_caller]
fn refused(folder: &Folder, options: &[&str], words: &[&str]) {
    let arguments = [&["run", "--short", "a.eddy", "--node", "acc"], options].concat();
    folder.eddy(&arguments).fails(1, words);
}

#[test]
fn data_that_contradict_each_other_are_refused() {
    let folder = Folder::new("contradictions")
        .with("a.eddy", SUM)
        .with("a.jsonl", "{\"x\":1}\n")
        .with("b.jsonl", "{\"x\":2}\n")
        .with("twice.jsonl", "{\"x\":1,\"x\":2}\n")
        .with("twice.csv", "x,x\n1,2\n")
        .with("quote.csv", "x,t\n1,\"2\n")
        .with("short.csv", "x,t\n1\n");
    refused(
        &folder,
        &["--in", "a.jsonl", "--in", "b.jsonl"],
        &["b.jsonl:1:2", "`x` is given here and in `a.jsonl`"],
    );
    refused(&folder, &["--in", "a.jsonl", "--in", "a.jsonl"], &["a.jsonl", "this file is read already"]);
    refused(&folder, &["--in", "x=a.jsonl", "--in", "x=b.jsonl"], &["`x` is read from `a.jsonl` already"]);
    refused(&folder, &["--in", "twice.jsonl"], &["twice.jsonl:1:2", "`x` is given twice"]);
    refused(&folder, &["--in", "twice.csv"], &["twice.csv:1:1", "the header names `x` twice"]);
    refused(&folder, &["--in", "quote.csv"], &["quote.csv:2:1", "a quote is opened here"]);
    refused(&folder, &["--in", "short.csv"], &["short.csv:2:1", "the row has 1 cell, but the header has 2"]);
    refused(
        &folder,
        &["--in", "a.jsonl", "--const", "x=3"],
        &["a.jsonl:1:2", "`x` is given by the data and by `--const`"],
    );
    refused(&folder, &["--in", "a.jsonl", "--show", "s,s"], &["`--show` names `s` twice"]);
}

#[test]
fn an_input_without_data_is_named() {
    let folder = Folder::new("without").with("a.eddy", SUM).with("a.csv", "X\n1\n");
    let ended = folder.eddy(&["run", "--short", "a.eddy", "--node", "acc", "--in", "a.csv"]);
    assert_eq!((ended.code, &*ended.stdout), (Some(0), "{}\n"));
    assert!(ended.stderr.contains("the data have nothing for the input `x` of `acc`"), "{}", ended.stderr);
    refused(&folder, &[], &["the node `acc` has inputs, and there are no data"]);
}

#[test]
fn a_value_of_another_type_is_shown() {
    let program = "node f(n:int [], p:bool [], v:num [2])->(o) o = n;";
    let folder = Folder::new("types").with("a.eddy", program);
    let says = |line: &str, words: &str| {
        let run = ["run", "--short", "a.eddy", "--node", "f", "--in", "-"];
        folder.eddy_with_input(&run, line).fails(1, &[words]);
    };
    says("{\"n\":1.0}", "`n` must be int, not the number 1.0, at cycle 0: its type is int []");
    says(
        "{\"n\":9223372036854775808}",
        "`n` must be int, not 9.223372036854776e18, which is no integer of 64 bits",
    );
    says("{\"p\":1}", "`p` must be bool, not the number 1");
    says(
        "{\"v\":[1,null]}",
        "`v` has an absent or unknown element: a value is present as a whole, or not at all",
    );
    says("{\"v\":[1,1e400]}", "number out of range");
}

#[test]
fn what_is_wrong_on_the_command_line_is_shown_as_it_was_typed() {
    let folder = Folder::new("typed").with("a.eddy", SUM);
    let run = ["run", "a.eddy", "--node", "acc", "--cycles", "1", "--const", "x=abc"];
    let ended = folder.eddy(&run);
    assert!(
        ended.stderr.contains("--> --const x:1:1") && ended.stderr.contains("1 | abc"),
        "{}",
        ended.stderr
    );
    folder.eddy(&["run", "a.eddy", "--max-window", "0"]).fails(2, &["--max-window"]);
}

#[test]
fn lines_of_csv_are_counted_whatever_ends_them() {
    let folder = Folder::new("lines").with("a.eddy", SUM);
    for (name, line_break) in [("lf.csv", "\n"), ("crlf.csv", "\r\n"), ("cr.csv", "\r")] {
        let folder = Folder(folder.0.clone()).with(name, ["x", "1", "", "2", "two", "3"].join(line_break));
        let ended = folder.eddy(&["run", "--short", "a.eddy", "--node", "acc", "--in", name]);
        assert_eq!((ended.code, &*ended.stdout), (Some(1), "{\"s\":1}\n{\"s\":3}\n"));
        assert!(ended.stderr.contains(&format!("{name}:5:1")), "{}", ended.stderr);
    }
}

#[test]
fn one_warning_names_all_columns_that_are_not_used() {
    let folder =
        Folder::new("unused").with("a.eddy", SUM).with("a.csv", "a,x,b,c,d,e,f,g\n0,1,0,0,0,0,0,0\n");
    let ended = folder.eddy(&["run", "--short", "a.eddy", "--node", "acc", "--in", "a.csv"]);
    assert_eq!((ended.code, &*ended.stdout, ended.stderr.lines().count()), (Some(0), "{\"s\":1}\n", 1));
    let words = "the data have 7 columns that are no inputs of `acc`: `a`, `b`, `c`, `d`, `e` and 2 more";
    assert!(ended.stderr.contains(words), "{}", ended.stderr);
}

#[test]
fn a_row_that_is_too_long_for_a_message_is_shortened() {
    let folder = Folder::new("long").with("a.eddy", SUM);
    // Longer than a program may be.
    let long = format!("{{\"x\":[{}1]}}\n", "1,".repeat(33 << 20));
    let folder = folder.with("x.jsonl", format!("{{\"x\":1}}\n{long}"));
    let ended = folder.eddy(&["run", "a.eddy", "--node", "acc", "--in", "x.jsonl"]);
    assert_eq!((ended.code, &*ended.stdout), (Some(1), "{\"s\":1}\n"), "{:.300}", ended.stderr);
    assert!(ended.stderr.contains("`x` has shape [34603009]"), "{:.300}", ended.stderr);
    assert!(ended.stderr.len() < 9000, "{}", ended.stderr.len());
    fs::remove_file(folder.0.join("x.jsonl")).expect("it is no longer needed");
}

#[cfg(target_os = "linux")]
#[test]
fn a_row_without_an_end_is_refused() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("endless").with("a.eddy", SUM);
    for name in ["zero.csv", "zero.jsonl"] {
        symlink("/dev/zero", folder.0.join(name)).expect("a link can be made");
        let run = ["run", "--short", "a.eddy", "--node", "acc", "--in", name];
        folder.eddy(&run).fails(1, &["is longer than 256 MiB", name]);
    }
}

#[test]
fn the_smallest_integer_can_be_written() {
    let program = "node f(x:int [])->(o, p) o = x + -9223372036854775808; p = -9223372036854775808 fby o;\n\
                   run f { x: 0 -9223372036854775808 5; }\n";
    let folder = Folder::new("smallest").with("a.eddy", program).with("x.csv", "x\n0\n5\n");
    let row = "{\"o\":-9223372036854775808,\"p\":-9223372036854775808}\n";
    for engine in ["compiled", "simulate", "denote"] {
        let run = ["run", "a.eddy", "--node", "f", "--in", "x.csv", "--engine", engine];
        folder.eddy(&run).is(0, &format!("{row}{{\"o\":-9223372036854775803,\"p\":-9223372036854775808}}\n"));
    }
    let constant = "node g(k, x:int [])->(o) o = k + x;\n";
    let folder = folder.with("b.eddy", constant).with("y.csv", "x\n7\n");
    let run = ["run", "b.eddy", "--node", "g", "--in", "y.csv", "--const", "k=-9223372036854775808"];
    folder.eddy(&run).is(0, "{\"o\":-9223372036854775801}\n");
    let folder = folder
        .with("c.eddy", "node f()->(o) o = 9223372036854775808;")
        .with("d.eddy", "node f()->(o) o = 1 - 9223372036854775808;");
    for file in ["c.eddy", "d.eddy"] {
        folder.eddy(&["check", file]).fails(1, &["number out of range"]);
    }
}

#[test]
fn what_is_asked_for_may_be_negative() {
    let folder = Folder::new("negative").with("a.lam", "-9\n").with("b.cd", "3\n");
    let yes = folder.eddy(&["ask", "a.lam", "--type", "-9"]);
    assert_eq!(yes.code, Some(0), "{}", yes.stderr);
    assert_eq!(yes.stdout, folder.eddy(&["ask", "a.lam", "--type=-9"]).stdout);
    assert_eq!(yes.stdout, folder.eddy(&["ask", "a.lam", "--value", "-9"]).stdout);
    let typed = folder.eddy(&["ask", "b.cd", "--point", "-3"]);
    assert_eq!(typed, folder.eddy(&["ask", "b.cd", "--point=-3"]));
}

#[test]
fn wrong_records_and_enumerators_are_reported_by_name() {
    const RECORDS: &str = "type pt = {x: num, v: num};\ntype mode = enum {up, down};\n\
        node f(p:pt, m:mode)->(o) o = if m == up then p.x else p.v;\n";
    let folder = Folder::new("records").with("a.eddy", RECORDS).with("m.csv", "p.x,p.v,m\n1,2,left\n");
    let run = ["run", "a.eddy", "--node", "f", "--in", "-"];
    folder.eddy_with_input(&run, "{\"p\":{\"x\":1,\"v\":2},\"m\":\"down\"}\n").is(0, "{\"o\":2}\n");
    let wrong = [
        ("{\"p\":{\"x\":1},\"m\":\"up\"}", "the record `p` has no field `v`"),
        ("{\"p\":1,\"m\":\"up\"}", "`p` must be an object with a field `x`, not 1"),
        ("{\"p\":{\"x\":1,\"v\":2},\"m\":\"left\"}", "`m` must be one of \"up\", \"down\", not \"left\""),
        ("{\"p\":{\"x\":1,\"v\":2},\"m\":1}", "`m` must be one of \"up\", \"down\", not 1"),
    ];
    for (line, message) in wrong {
        folder.eddy_with_input(&run, line).fails(1, &["E0701", message]);
    }
    let message = "`m` must be one of `up`, `down`, not `left`";
    folder.eddy(&["run", "a.eddy", "--node", "f", "--in", "m.csv"]).fails(1, &["E0701", message]);
}

#[test]
fn numbers_that_single_precision_does_not_have_are_refused() {
    let folder = Folder::new("single")
        .with("a.eddy", SUM)
        .with("big.eddy", "node big(x)->(y) y = x * 1.0e39;\n")
        .with("x.csv", "x\n3e38\n1e39\n")
        .with("x.jsonl", "{\"x\":\"-inf\"}\n{\"x\":-1e39}\n");
    // The row before the wrong one is printed.
    for (data, row, words) in [
        ("x.csv", "{\"s\":3e+38}\n", "`x` has the number 1e39, which is infinite"),
        ("x.jsonl", "{\"s\":\"-inf\"}\n", "`x` has the number -1e39"),
    ] {
        let run = ["run", "a.eddy", "--node", "acc", "--in", data, "--f32"];
        folder.eddy(&run).fails_after(row, 1, &["E0701", words]);
    }
    for command in ["run big.eddy --cycles 1 --f32", "build big.eddy --out c --f32"] {
        let words: Vec<&str> = command.split(' ').chain(["--node", "big"]).collect();
        folder.eddy(&words).fails(1, &["E0103", "1e39 is infinite in single precision"]);
    }
}
