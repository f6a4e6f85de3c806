//! Programs that are deep, long or wrong a hundred thousand times, on the stack of an ordinary thread.
//!
//! Everything here takes time in proportion to its size; what does not would take minutes.

mod text_laws;

use eddy_reactive::extent::too_large;
use eddy_reactive::format::format;
use eddy_reactive::parse::parse;
use eddy_reactive::resolve::resolve;
use eddy_reactive::runs;
use eddy_syntax::{SourceFile, Sources};

use text_laws::words;

/// Deep enough for a stack frame of twenty bytes to show.
const DEEP: usize = 100_000;

/// Deep enough for one of a hundred bytes.
const SOME: usize = 20_000;

/// Runs with the stack of an ordinary thread.
fn in_thread(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work);
    thread.expect("a thread starts").join().expect("no overflow");
}

/// Parses and formats.
fn accepted(text: String) {
    in_thread(move || {
        let file = SourceFile::new("deep.eddy", text);
        let parsed = parse(&file);
        assert_eq!(parsed.diagnostics, []);
        drop(parsed.program.clone());
        let once = SourceFile::new("deep.eddy", format(&file).expect("no mistakes"));
        assert!(words(&file) == words(&once), "the tokens changed");
        assert!(format(&once).as_deref() == Ok(once.text()), "formatting twice changed something");
        let (before, after) = (file.text().len(), once.text().len());
        assert!(after < 200 * before + 1000, "{before} bytes have become {after}");
    });
}

/// Parses, and gives so many messages.
fn refused(text: String, n_messages: usize) {
    in_thread(move || {
        let shown: String = text.chars().take(60).collect();
        let diagnostics = parse(&SourceFile::new("deep.eddy", text)).diagnostics;
        let first: Vec<_> = diagnostics.iter().take(3).map(|diagnostic| &diagnostic.title).collect();
        assert_eq!(diagnostics.len(), n_messages, "{shown}: {first:?}");
    });
}

fn equation(value: &str) -> String {
    format!("node f(x)->(o) o = {value};")
}

fn nested(open: &str, inner: &str, close: &str) -> String {
    nested_by(DEEP, open, inner, close)
}

/// Less deep, for forms that are like others.
fn nested_some(open: &str, inner: &str, close: &str) -> String {
    nested_by(SOME, open, inner, close)
}

fn nested_by(n: usize, open: &str, inner: &str, close: &str) -> String {
    equation(&(open.repeat(n) + inner + &close.repeat(n)))
}

#[test]
fn brackets() {
    accepted(nested("(", "x", ")"));
    accepted(nested_some("[", "x", "]"));
    accepted(nested_some("f(1, ", "x", ")"));
    accepted(nested_some("(1, ", "x", ")"));
    accepted(nested_some("x[", "0", "]"));
    accepted(nested_some("", "x", "[0]"));
    accepted(format!("run f {{ x: {}1{}; }}", "[".repeat(DEEP), "]".repeat(DEEP)));
    accepted(format!("run f {{ x: {}1{}; }}", "[0, ".repeat(SOME), "]".repeat(SOME)));
}

#[test]
fn operators() {
    accepted(nested("- ", "x", ""));
    accepted(nested_some("not ", "x", ""));
    accepted(nested_some("post ", "x", ""));
    accepted(nested("x + ", "x", ""));
    accepted(nested_some("x - (", "x", ")"));
    accepted(nested_some("x fby ", "x", ""));
    accepted(nested_some("x fby back (", "x", ")"));
    accepted(nested_some("x or y and ", "x", ""));
}

#[test]
fn sampling_and_choices() {
    accepted(nested_some("", "x", " when not c"));
    accepted(nested("(", "x", ") when c"));
    accepted(nested("merge c (", "x", ") y"));
    accepted(nested_some("merge c x (", "x", ")"));
    accepted(nested_some("merge (", "x", ") 1 2"));
    accepted(nested("if x then 1 else ", "x", ""));
    accepted(nested_some("if x then ", "1", " else 2"));
    accepted(nested_some("if ", "x", " then 1 else 2"));
}

#[test]
fn declarations() {
    accepted("node f(x)->(o)\n".to_string() + &"o = x + 1;\n".repeat(DEEP));
    accepted("node f(x)->(o) o = x;\n".repeat(SOME));
    accepted("run f { x: 1 2; }\n".repeat(SOME));
    accepted(format!("run f {{\n{}}}", "x: 1 2;\n".repeat(SOME)));
    accepted(format!("run f {{ x: {}; }}", "1 . [2, 3] ".repeat(SOME)));
    accepted(format!("node f({}x)->(o)", "x:num [2] when c, ".repeat(SOME)));
    accepted(format!("node f(x{})->(o)", " when c".repeat(SOME)));
    accepted(format!("node f(x:num [{}x])->(o)", "- ".repeat(SOME)));
    accepted(format!("node f(x)->(o) {}x = g();", "x, ".repeat(SOME)));
    accepted(format!("run f show {}x {{}}", "f#1/".repeat(SOME)));
    accepted(format!("run f {} {{}}", "chrono ".repeat(SOME)));
    accepted(format!("train f as g loss h optim s({}1);", "1, ".repeat(SOME)));
    accepted(format!("import {}x from \"a\";", "x, ".repeat(SOME)));
    accepted("import \"a\";".repeat(SOME));
}

#[test]
fn comments() {
    accepted(format!("{}node f()->()", "-- c\n".repeat(SOME)));
    accepted(format!("node f()->() x = {}1{};", "(* c *) ".repeat(SOME), " -- c\n".repeat(SOME)));
    accepted(format!("node f()->() {}{} x = 1;", "(* ".repeat(SOME), "*)".repeat(SOME)));
}

#[test]
fn unfinished_programs_are_refused_once() {
    refused(equation(&"(".repeat(DEEP)), 1);
    refused(equation(&"[".repeat(DEEP)), 1);
    refused(equation(&"f(".repeat(DEEP)), 1);
    refused(equation(&"merge ".repeat(DEEP)), DEEP - 1);
    refused(equation(&"if ".repeat(DEEP)), 1);
    refused(equation(&"x when ".repeat(DEEP)), 1);
    refused(equation(&"x fby ".repeat(DEEP)), 1);
    refused(equation(&")".repeat(DEEP)), 1);
    refused(equation(&"x ".repeat(DEEP)), 1);
    refused("x = ".repeat(DEEP), 1);
    refused("(* ".repeat(DEEP), 1);
    refused("# ".repeat(DEEP), 1);
    refused("/* ".repeat(DEEP), 1);
    refused(format!("run f {{ x: {}; }}", "[".repeat(DEEP)), 1);
    refused("£".repeat(DEEP), 1);
    refused("x".repeat(1 << 20), 1);
    refused("\"".repeat(DEEP), 1);
    refused("run ".repeat(DEEP), DEEP / 2);
    refused("node f(".repeat(DEEP), DEEP);
    refused("node f(x)->(o) var ".to_string() + &"x var ".repeat(DEEP), 2);
}

#[test]
fn a_hundred_thousand_mistakes_inside_of_each_other() {
    refused(nested("x && ", "x", ""), DEEP);
    refused(nested("f (", "x", ")"), DEEP);
    refused(nested("merge c -", "x", " y"), DEEP);
    refused(nested("merge c (", "x", ") when c y"), DEEP);
    refused(equation(&format!("{}x{}", "- ".repeat(DEEP), " [0]".repeat(DEEP))), DEEP);
    refused(nested("1 + if x then 1 else ", "x", ""), DEEP);
}

#[test]
fn ten_megabytes() {
    let line =
        "  o, p = f(x * 1.5 - (x + 2) * 0.5, merge c (x when c) (0.0 fby y))[0] when not c;  -- a comment\n";
    let equations = format!("node f(x)->(o)\n{}", line.repeat(10_000_000 / line.len()));
    let cells = "1 2.5 . -3 t f ? [1,2,3] 1e-3 ";
    let cells = format!("run f {{ x: {}; }}", cells.repeat(10_000_000 / cells.len()));
    in_thread(move || {
        for text in [equations, cells] {
            let file = SourceFile::new("long.eddy", text);
            assert_eq!(parse(&file).diagnostics, []);
        }
    });
    accepted(format!("node f(x)->(o)\n{}", line.repeat(1_000_000 / line.len())));
}

/// One message, and not one for each of two thousand callers.
#[test]
fn nodes_that_are_nested_too_deep() {
    let caller = |level: usize| format!("node f{level}(x)->(o) o = f{}(x);\n", level - 1);
    let callers: String = (1..3000).map(caller).collect();
    in_thread(move || {
        let text = format!("node f0(x)->(o) o = x + 1.0;\n{callers}");
        let mut sources = Sources::alone(SourceFile::new("deep.eddy", text));
        let program = resolve(&mut sources).expect("names and arguments are right");
        let titles: Vec<String> = too_large(&program).into_iter().map(|found| found.title).collect();
        assert_eq!(titles, ["instances are nested more than 1000 deep"]);
    });
}

/// A test bench keeps all of its cycles: nothing may look at all of them at each.
#[test]
fn a_hundred_thousand_cycles() {
    let bench = |node: &str, rows: &str| format!("{node}\nrun f {{ {rows} }}\n");
    let ones = "1 ".repeat(DEEP);
    let never = "f ".repeat(DEEP - 1) + "t";
    let absent = ". ".repeat(DEEP);
    in_thread(move || {
        runs_in(&bench("node f(x)->(o) o = x;", &format!("x: {ones};")), DEEP);
        runs_in(&bench("node f(x)->(o) o = x + (0.0 fby back o);", &format!("x: {ones};")), DEEP);
        runs_in(&bench("node f(x)->(o) o = post x;", &format!("x: 1 {absent} 1;")), DEEP + 2);
        let backfill = "node f(x, c)->(o) o = merge c (x when c) ((post o) when not c);";
        runs_in(&bench(backfill, &format!("x: {ones}; c: {never};")), DEEP);
    });
}

fn runs_in(text: &str, n_lines: usize) {
    let mut sources = Sources::alone(SourceFile::new("long.eddy", text));
    let program = resolve(&mut sources).expect("the program is right");
    let run = program.modules[1].tree.runs().next().expect("one test bench");
    let printed = runs::execute(&program, run, &runs::Wishes::default()).expect("it runs").0;
    assert_eq!(printed.lines().count(), n_lines);
}
