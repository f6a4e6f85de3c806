//! `test`, `new`, `doc` and `repl`, and rounded chronograms.

use crate::folder::Folder;

const TOTAL: &str = "-- The sum so far.\nnode total(x) -> (s)\n  d = 0.0 fby s;\n  s = x + d;\n\n";

#[test]
fn benches_are_compared_with_what_they_expect() {
    let right = "run total { x: 1 2 . 0.3; expect s: 1 3 . 3.3; expect d: 0 1 . 3; }\n\
                 run total { x: 1; }\n";
    let folder = Folder::new("expected").with("right.eddy", format!("{TOTAL}{right}"));
    let report = "ok  right.eddy:6 `total`, 8 cells\n1 of 1 benches passed; 1 expect nothing\n";
    folder.eddy(&["test", "right.eddy"]).is(0, report);
    folder.eddy(&["test", "right.eddy", "--engine", "denote"]).is(0, report);
    let wrong = "run total { x: 1 2 3 4; expect s: 1 3 7 11; }\nrun total { x: 1 2; expect s: 1; }\n";
    let folder = folder.with("wrong.eddy", format!("{TOTAL}{wrong}"));
    let message = "wrong.eddy:6:39: error[E0609]: `s` is 6 at cycle 2, not 7";
    folder.eddy(&["test", "--short", "wrong.eddy"]).fails(
        1,
        &[message, "wrong.eddy:7:28: error[E0609]: 1 cell are expected of `s`, and the run has 2 cycles"],
    );
    let json = folder.eddy(&["test", "--json", "wrong.eddy"]);
    assert!(
        json.stdout.contains("\"status\":\"refused\"") && json.stdout.contains("\"passed\":false"),
        "{}",
        json.stdout
    );
    // `run` prints the outputs, and does not compare.
    let lines = "{\"s\":1}\n{\"s\":3}\n{}\n{\"s\":3.3}\n{\"s\":1}\n";
    folder.eddy(&["run", "right.eddy"]).is(0, lines);
}

#[test]
fn what_is_expected_must_exist() {
    let folder = Folder::new("unknown");
    for (bench, message) in [
        ("run total { x: 1; expect t: 1; }", "unknown variable `t`"),
        ("run total { x: 1; expect s: t; }", "`s` must be num at cycle 0"),
        ("run total { x: 1; expect s: 1; expect s: 1; }", "the cells of `s` are expected twice"),
        ("run total { x: 1; expect s = 1; }", "expected `:`"),
        ("run total { x: 1; expect s: [1]; }", "`s` has shape [1] at cycle 0"),
    ] {
        let folder = Folder(folder.0.clone()).with("a.eddy", format!("{TOTAL}{bench}\n"));
        let ended = folder.eddy(&["test", "--short", "a.eddy"]);
        assert_eq!((ended.code, &*ended.stdout), (Some(1), ""), "{bench}");
        assert!(ended.stderr.contains(message), "{bench}: {}", ended.stderr);
    }
    let folder = Folder(folder.0.clone()).with("none.eddy", TOTAL);
    let ended = folder.eddy(&["test", "none.eddy"]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("nothing to test"), "{}", ended.stderr);
    // `expect` remains a name.
    let named = "node f(expect) -> (o) o = expect + 1.0;\nrun f { expect: 1 2; expect o: 2 3; }\n";
    let folder = folder.with("named.eddy", named);
    folder.eddy(&["test", "named.eddy"]).is(0, "ok  named.eddy:2 `f`, 2 cells\n1 of 1 benches passed\n");
}

#[test]
fn expectations_are_formatted() {
    let text = format!("{TOTAL}run total {{\n  x: 1 2;\n  expect   s:1   30 ;\n}}\n");
    let folder = Folder::new("formatted").with("a.eddy", text);
    assert_eq!(folder.eddy(&["fmt", "a.eddy"]).code, Some(0));
    let bench = folder.read("a.eddy").split_once("run").expect("there is a bench").1.to_string();
    assert_eq!(bench, " total {\n  x:        1 2;\n  expect s: 1 30;\n}\n");
    assert_eq!(folder.eddy(&["fmt", "--check", "a.eddy"]).code, Some(0));
}

#[test]
fn a_new_project_trains_at_once() {
    let folder = Folder::new("new");
    let made = folder.answer("new sine");
    assert!(made.contains("wrote sine/model.eddy"), "{made}");
    let project = Folder(folder.0.join("sine"));
    assert!(project.answer("test model.eddy").contains("1 of 1 benches passed"));
    assert_eq!(project.answer("fmt --check model.eddy"), "");
    let train = "train model.eddy --in data.csv --target next --split 0.8 --metric error --epochs 3";
    assert!(project.answer(train).contains("error 0."));
    // The commands of the page work.
    for line in project.read("README.md").lines().filter(|line| line.starts_with("eddy ")) {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let ended = project.eddy(&words);
        assert_eq!(ended.code, Some(0), "{line}: {}", ended.stderr);
    }
    folder.eddy(&["new", "sine"]).fails(1, &["sine: exists and is not empty"]);
    let json = folder.answer("new other --json");
    assert!(json.contains("\"files\":[\"model.eddy\",\"data.csv\",\"README.md\",\".gitignore\"]"), "{json}");
}

#[test]
fn a_page_has_comments_types_and_chronograms() {
    let bench = "run total { x: 1 2.123456789; }\n";
    let folder = Folder::new("page").with("a.eddy", format!("{TOTAL}{bench}"));
    let page = "# a.eddy\n\n## total\n\nThe sum so far.\n\n```text\n\
        total: (x: num [] @ base) -> (s: num [] @ base) | look-ahead 0\n```\n\n```text\n\
        cycle  0  1\nx      1  2.12\ns      1  3.12\n```\n";
    folder.eddy(&["doc", "a.eddy", "--digits", "3"]).is(0, page);
    folder.eddy(&["doc", "a.eddy", "--digits", "3", "--out", "a.md"]).is(0, "");
    assert_eq!(folder.read("a.md"), page);
    folder.eddy(&["doc", "a.eddy", "--out", "a.eddy"]).fails(2, &["it is the program itself"]);
    assert!(folder.answer("doc a.eddy --json").contains("\"doc\":\"The sum so far.\""));
}

#[test]
fn chronograms_are_rounded_on_demand() {
    let folder = Folder::new("digits")
        .with("a.eddy", format!("{TOTAL}run total chrono {{ x: 0.1 0.2; }}\n"))
        .with("x.csv", "x\n0.1\n0.2\n");
    assert!(folder.answer("run a.eddy").contains("0.30000000000000004"));
    assert_eq!(folder.answer("run a.eddy --digits 3"), "cycle  0    1\nx      0.1  0.2\ns      0.1  0.3\n");
    let node = folder.answer("run a.eddy --node total --in x.csv --chrono --digits 2");
    assert!(node.contains("s      0.1  0.3\n"), "{node}");
    folder.answer("trace a.eddy --svg a.svg --digits 3");
    assert!(!folder.read("a.svg").contains("0.30000000000000004"));
    assert_eq!(folder.call("run a.eddy --digits 0").code, Some(2));
}

/// What a script gets: the answers, without a prompt.
fn script(name: &str, lines: &str) -> (Option<i32>, String, String) {
    let ended = Folder::new(name).eddy_with_input(&["repl"], lines);
    (ended.code, ended.stdout, ended.stderr)
}

#[test]
fn equations_run_cycle_by_cycle() {
    let lines = "x: 1 2 3\ns = x + (0.0 fby s)\n:step 2\n\n:step\nd = post s\n:step\nsum([1.0, 2.0])\n";
    let expected = "   0  {\"s\":1}\n   1  {\"s\":3}\n   2  {\"s\":6}\n\
        \x20  0  {\"s\":1,\"d\":3}\n   1  {\"s\":3,\"d\":6}\n   2  {\"s\":6,\"d\":\"⊥\"}\n   3  {}\n3\n";
    assert_eq!(script("cycles", lines), (Some(0), expected.to_string(), String::new()));
}

#[test]
fn declarations_are_kept_and_mistakes_are_not() {
    let lines = "node twice(x) -> (y)\n  y = 2.0 * x;\n\na: 1 2\nb = twice(a)\nb = thrice(a)\n:forget c\n:step 2\n:list\n:nonsense\n";
    let (code, stdout, stderr) = script("mistakes", lines);
    let expected = "   0  {\"b\":2}\n   1  {\"b\":4}\nnode twice(x) -> (y)\n  y = 2.0 * x;\nb = twice(a);\na: 1 2\n2 cycles have run\n";
    assert_eq!((code, &*stdout), (Some(1), expected), "{stderr}");
    for message in [
        "unknown node or function `thrice`",
        "there is no equation and no input `c`",
        "there is no command `:nonsense`",
    ] {
        assert!(stderr.contains(message), "{stderr}");
    }
    let folder = Folder::new("file").with("a.eddy", "node twice(x) -> (y)\n  y = 2.0 * x;\n");
    let ended = folder.eddy_with_input(&["repl", "a.eddy"], "a: 3\nb = twice(a)\n:step\n");
    ended.is(0, "   0  {\"b\":6}\n");
}
