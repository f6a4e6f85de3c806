//! The contract of the command line: exit codes, streams, unreadable files, closed pipes, and `fmt`.
//!
//! File tests cover the answers of languages; here every program is as small as possible.

use std::fs;
use std::process::Command;

use crate::folder::{Ended, Folder};

const RIGHT: &str = "1\n";
const WRONG: &str = "let x = 1 in x + yy\n";
const UNFORMATTED: &str = "1   \n\n\n";

#[test]
fn an_answer_is_on_standard_output() {
    let folder = Folder::new("answer").with("a.rd", RIGHT);
    folder.eddy(&["check", "a.rd"]).is(0, "real\n");
    folder.eddy(&["run", "a.rd"]).is(0, "1\n");
    folder.eddy_with_input(&["run", "--lang", "rd", "-"], RIGHT).is(0, "1\n");
    folder.eddy(&["run", "--fuel", "10", "a.rd", "--engine=tape"]).is(0, "1\n");
}

#[test]
fn a_program_without_a_value_ends_with_3() {
    let folder = Folder::new("no_value").with("a.rd", "letrec f(x:real):real = f(x + 1) in f(0)\n");
    let ended = folder.eddy(&["run", "--fuel=0", "a.rd"]);
    ended.is(3, "diverged: out of fuel\n");
}

#[test]
fn a_refused_program_leaves_standard_output_empty() {
    let folder = Folder::new("refused").with("a.rd", WRONG);
    for command in ["check", "run", "trace"] {
        folder.eddy(&[command, "a.rd"]).fails(1, &["error[RD003]", "--> a.rd:1:18", "let x = 1 in x + yy"]);
        folder.eddy(&[command, "--short", "a.rd"]).fails(1, &["a.rd:1:18: error[RD003]: unbound variable"]);
        folder
            .eddy(&[command, "--json", "a.rd"])
            .fails(1, &[r#"{"version":1,"type":"diagnostic","code":"RD003""#]);
    }
    let named = folder.eddy_with_input(&["check", "--short", "--lang", "rd", "-"], WRONG);
    named.fails(1, &["<stdin>:1:18: error[RD003]"]);
}

#[test]
fn a_file_that_cannot_be_read_is_a_diagnostic() {
    let folder = Folder::new("unreadable").with("bytes.rd", b"1 + \xff");
    fs::create_dir(folder.0.join("folder.rd")).expect("the folder can be made");
    for command in ["check", "run", "trace", "fmt"] {
        folder
            .eddy(&[command, "--short", "missing.rd"])
            .fails(1, &["missing.rd:1:1: error[", "]: cannot read the file: there is no such file"]);
        folder
            .eddy(&[command, "--short", "folder.rd"])
            .fails(1, &["folder.rd:1:1: error[", "cannot read the file: it is a directory"]);
        folder.eddy(&[command, "--short", "bytes.rd"]).fails(1, &["bytes.rd:1:5: error["]);
    }
    folder.eddy(&["run", "missing.rd"]).fails(1, &["cannot read the file", "--> missing.rd:1:1"]);
    folder
        .eddy(&["run", "--json", "missing.rd"])
        .fails(1, &[r#""file":"missing.rd""#, r#""line":1,"column":1,"byte":0"#]);
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let folder = Folder::new("large").with("a.rd", "");
    let file = fs::OpenOptions::new().write(true).open(folder.0.join("a.rd")).expect("the file is there");
    // Sparse: it takes no space on the disk.
    file.set_len((1 << 30) + 1).expect("the file can grow");
    folder.eddy(&["check", "--short", "a.rd"]).fails(1, &["cannot read the file: it is larger than 64 MiB"]);
}

#[test]
fn a_wrong_command_line_exits_with_2_and_lists_the_choices() {
    let folder = Folder::new("misuse").with("a.rd", RIGHT);
    folder
        .eddy(&["run", "a.rd", "--engine", "tap"])
        .fails(2, &["no engine `tap`", "tape, reference", "did you mean `tape`?"]);
    folder.eddy(&["run", "a.rx"]).fails(2, &["`.rx`", "rd (.rd)", "did you mean `a.rd`?"]);
    folder.eddy(&["run", "a"]).fails(2, &["no extension", "--lang"]);
    folder.eddy(&["run", "-"]).fails(2, &["--lang", "rd (.rd)"]);
    folder.eddy(&["run", "a.rd", "--lang", "rx"]).fails(2, &["possible values: reactive, rd"]);
    folder.eddy(&["run", "a.rd", "--fuel", "much"]).fails(2, &["--fuel"]);
    folder.eddy(&["run", "a.rd", "--memory", "99999999999999"]).fails(2, &["--memory"]);
    folder.eddy(&["run", "a.rd", "b.rd"]).fails(2, &["b.rd"]);
    folder.eddy(&["run", "a.rd", "--short", "--json"]).fails(2, &["cannot be used with"]);
    folder.eddy(&["trac", "a.rd"]).fails(2, &["'trac'", "'trace'"]);
    folder.eddy(&["explain", "RD0O3"]).fails(2, &["`RD0O3`", "did you mean `RD003`?"]);
    folder.eddy(&[]).fails(2, &["Usage: eddy"]);
}

#[test]
fn results_have_a_machine_form() {
    let folder = Folder::new("json").with("a.rd", RIGHT);
    let result = |command: &str, output: &str, answer: &str| {
        let start =
            format!(r#"{{"version":1,"command":"{command}","status":"answered","output":["{output}"]"#);
        format!("{start},\"answer\":{answer}}}\n")
    };
    let value = r#"{"kind":"value","value":"1","numbers":[1.0]}"#;
    folder.eddy(&["check", "--json", "a.rd"]).is(0, &result("check", "real", r#"{"type":"real"}"#));
    folder.eddy(&["run", "--json", "a.rd"]).is(0, &result("run", "1", value));
    let trace = folder.eddy(&["trace", "--json", "a.rd"]);
    let (lines, last) = trace.stdout.trim_end().rsplit_once('\n').expect("a trace has a line and a status");
    assert!(
        lines.lines().all(|line| line.starts_with(r#"{"version":1,"command":"trace","line":""#)),
        "{lines}"
    );
    let ended = format!(r#"{{"version":1,"command":"trace","status":"answered","answer":{value}}}"#);
    assert_eq!(last, ended);
    let folder =
        Folder::new("json_of_plans").with("a.eddy", "node f(x)->(y) y = x; node g(x)->(y) y = post x;");
    let plans = folder.eddy(&["plan", "--json", "a.eddy"]).stdout;
    let starts = ["f", "g"].map(|node| format!(r#"{{"version":1,"command":"plan","node":"{node}","kind":""#));
    assert!(
        plans.lines().count() == 2 && plans.lines().zip(&starts).all(|(line, start)| line.starts_with(start)),
        "{plans}"
    );
    let page = folder.eddy(&["explain", "--json", "rd003"]);
    assert!(page.stdout.starts_with(
        r#"{"version":1,"command":"explain","language":"rd","code":"RD003","phase":"names","title":""#
    ));
}

#[test]
fn counters_are_on_standard_error() {
    let folder = Folder::new("stats").with("a.rd", RIGHT);
    let ended = folder.eddy(&["run", "--stats", "a.rd"]);
    assert_eq!((ended.code, &*ended.stdout), (Some(0), "1\n"));
    for line in ended.stderr.lines() {
        let (_, value) = line.split_once(": ").expect("a name and a value");
        assert!(value.parse::<u64>().is_ok(), "{line}");
    }
    let ended = folder.eddy(&["run", "--stats", "--json", "a.rd"]);
    assert!(ended.stderr.starts_with(r#"{"version":1,"type":"stats","counters":{"#), "{}", ended.stderr);
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let folder = Folder::new("colour").with("a.rd", WRONG);
    let is_coloured = |command: &mut Command| {
        let output = command.output().expect("eddy can be started");
        String::from_utf8_lossy(&output.stderr).contains('\u{1b}')
    };
    assert!(!is_coloured(&mut folder.command(&["run", "a.rd"])));
    assert!(is_coloured(&mut folder.command(&["run", "--color", "always", "a.rd"])));
    assert!(!is_coloured(folder.command(&["run", "--color=never", "a.rd"]).env("CLICOLOR_FORCE", "1")));
    assert!(is_coloured(folder.command(&["run", "a.rd"]).env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1")));
    assert!(!is_coloured(folder.command(&["run", "a.rd"]).env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1")));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = Folder::new("pipe").with("a.rd", RIGHT);
    for arguments in [
        &["run", "a.rd"][..],
        &["trace", "--json", "a.rd"],
        &["--help"],
        &["completions", "bash"],
        &["explain"],
    ] {
        let (reader, writer) = std::io::pipe().expect("there are pipes");
        drop(reader);
        let output = folder.command(arguments).stdout(writer).output().expect("eddy can be started");
        Ended::new(&output).is(0, "");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported() {
    let folder = Folder::new("full").with("a.rd", RIGHT);
    for arguments in
        [&["check", "a.rd"][..], &["run", "a.rd"], &["trace", "a.rd"], &["--version"], &["explain"]]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let output = folder.command(arguments).stdout(full).output().expect("eddy can be started");
        Ended::new(&output).fails(1, &["cannot write to standard output: no space left on device"]);
    }
}

#[test]
fn every_command_shows_an_example() {
    let folder = Folder::new("help");
    for command in ["check", "run", "trace", "fmt", "explain", "completions"] {
        let help = folder.eddy(&[command, "--help"]);
        assert!(help.stdout.contains(&format!("\n  eddy {command}")), "{}", help.stdout);
    }
    assert!(folder.eddy(&["--version"]).stdout.starts_with("eddy "));
}

#[test]
fn fmt_rewrites_in_place_and_prints_nothing() {
    let folder = Folder::new("fmt").with("a.rd", UNFORMATTED).with("b.rd", UNFORMATTED);
    folder.eddy(&["fmt", "a.rd", "b.rd"]).is(0, "");
    assert_eq!((folder.read("a.rd"), folder.read("b.rd")), (RIGHT.to_owned(), RIGHT.to_owned()));
    assert_eq!(folder.names(), ["a.rd", "b.rd"]);
}

#[test]
fn fmt_check_lists_and_writes_nothing() {
    let folder = Folder::new("fmt_check").with("a.rd", RIGHT).with("b.rd", UNFORMATTED);
    folder.eddy(&["fmt", "--check", "a.rd"]).is(0, "");
    folder.eddy(&["fmt", "--check", "a.rd", "b.rd"]).is(1, "b.rd\n");
    let result = r#"{"version":1,"command":"fmt","status":"unformatted","output":["b.rd"],"answer":null}"#;
    folder.eddy(&["fmt", "--check", "--json", "a.rd", "b.rd"]).is(1, &format!("{result}\n"));
    assert_eq!(folder.read("b.rd"), UNFORMATTED);
}

#[test]
fn fmt_of_standard_input_goes_to_standard_output() {
    let folder = Folder::new("fmt_stdin");
    folder.eddy_with_input(&["fmt", "--lang=rd", "-"], UNFORMATTED).is(0, RIGHT);
}

#[test]
fn fmt_leaves_what_does_not_parse_and_goes_on() {
    let folder = Folder::new("fmt_refused").with("a.rd", "1 + $  \n").with("b.rd", UNFORMATTED);
    folder.eddy(&["fmt", "--short", "a.rd", "b.rd"]).fails(1, &["a.rd:1:5: error["]);
    assert_eq!((folder.read("a.rd"), folder.read("b.rd")), ("1 + $  \n".to_owned(), RIGHT.to_owned()));
}

#[test]
fn fmt_touches_nothing_when_the_command_line_is_wrong() {
    let folder = Folder::new("fmt_misuse").with("a.rd", UNFORMATTED);
    folder.eddy(&["fmt", "a.rd", "b.rx"]).fails(2, &["b.rx"]);
    assert_eq!(folder.read("a.rd"), UNFORMATTED);
}

#[test]
#[cfg(unix)]
fn fmt_keeps_permissions_and_links() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new("fmt_permissions").with("a.rd", UNFORMATTED);
    let mode = |name: &str| {
        fs::metadata(folder.0.join(name)).expect("the file is there").permissions().mode() & 0o777
    };
    fs::set_permissions(folder.0.join("a.rd"), fs::Permissions::from_mode(0o640)).expect("it is ours");
    std::os::unix::fs::symlink("a.rd", folder.0.join("link.rd")).expect("links can be made");
    folder.eddy(&["fmt", "link.rd"]).is(0, "");
    assert_eq!((folder.read("a.rd"), mode("a.rd")), (RIGHT.to_owned(), 0o640));
    assert!(fs::symlink_metadata(folder.0.join("link.rd")).expect("the link is there").is_symlink());
}

#[test]
#[cfg(unix)]
fn fmt_does_not_overwrite_what_is_read_only() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new("fmt_read_only").with("a.rd", UNFORMATTED);
    fs::set_permissions(folder.0.join("a.rd"), fs::Permissions::from_mode(0o444)).expect("it is ours");
    folder.eddy(&["fmt", "a.rd"]).fails(1, &["a.rd: cannot write the file: it is read-only"]);
    assert_eq!(folder.read("a.rd"), UNFORMATTED);
    assert_eq!(folder.names(), ["a.rd"]);
}

#[test]
fn a_node_that_is_not_there_is_answered_with_those_that_are() {
    let folder = Folder::new("nodes").with("a.eddy", "node f(x)->(y) y = x;\nnode other(x)->(y) y = x;\n");
    let run = |name: &str| folder.eddy_with_input(&["run", "a.eddy", "--node", name, "--in", "-"], "");
    run("F").fails(1, &["unknown node or function `F`", "did you mean `f`?"]);
    run("banana").fails(1, &["the file has `f`, `other`"]);
    folder.eddy(&["plan", "a.eddy", "--node", "OTHER"]).fails(1, &["did you mean `other`?"]);
}

#[test]
fn the_limits_of_a_program_can_be_set() {
    let nodes =
        "node f0(x)->(y) y = x + 1.0;\nnode f1(x)->(y) y = f0(f0(x));\nnode f2(x)->(y) y = f1(f1(x));\n";
    let program = format!("{nodes}run f2 {{ x: 1.0; }}\n");
    let folder = Folder::new("limits").with("a.eddy", &program).with("a.rd", RIGHT);
    folder.eddy(&["run", "a.eddy", "--equations", "8"]).is(0, "{\"y\":5}\n");
    for command in ["run", "check", "flow", "plan"] {
        let ended = folder.eddy(&[command, "a.eddy", "--equations", "7"]);
        ended.fails(
            1,
            &["error[E0213]: more than 7 equations", "`f2` has 2 instances of `f1`", "--equations N"],
        );
    }
    let tensors = "node g(x)->(y) y = sum(x + zeros([1000, 1000]));\nrun g { x: 1.0; }\n";
    let folder = folder.with("b.eddy", tensors);
    folder.eddy(&["run", "b.eddy", "--memory", "100"]).is(0, "{\"y\":1000000}\n");
    folder
        .eddy(&["run", "b.eddy", "--memory", "10"])
        .fails(1, &["error[E0213]", "the limit is 10 MiB", "--memory MIB"]);
    folder.eddy(&["run", "a.rd", "--equations", "7"]).fails(2, &["does not understand `--equations`"]);
}
