//! What comes in by `--in` and goes out by `--out`: data that are wrong, and files that must not be lost.

mod folder;

use std::fs;

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
