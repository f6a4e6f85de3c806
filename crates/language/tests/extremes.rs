//! Programs that are deep, long or have a hundred thousand errors, on the stack of an ordinary thread.
//!
//! All of these take time proportional to their size; a quadratic algorithm would take minutes.

mod text_laws;

use eddy_language::check::{check_program, load};
use eddy_language::format;
use eddy_language::parse::parse;
use eddy_language::positions::Positions;
use eddy_language::program::Limits;
use eddy_language::resolve;
use eddy_language::runs;
use eddy_syntax::{Diagnostic, Diagnostics, SourceFile, Sources};

use text_laws::words;

/// Deep enough to detect a stack frame of twenty bytes.
const DEEP: usize = 100_000;

/// Deep enough to detect a stack frame of a hundred bytes.
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
        let once = SourceFile::new("deep.eddy", format(&file).expect("no errors"));
        assert!(words(&file) == words(&once), "the tokens changed");
        assert!(format(&once).as_deref() == Ok(once.text()), "formatting twice changed something");
        let (before, after) = (file.text().len(), once.text().len());
        assert!(after < 200 * before + 1000, "{before} bytes have become {after}");
    });
}

/// Parses, and expects this many messages, or the maximum.
fn refused(text: String, n_messages: usize) {
    in_thread(move || {
        let shown: String = text.chars().take(60).collect();
        let diagnostics = parse(&SourceFile::new("deep.eddy", text)).diagnostics;
        let first: Vec<_> = diagnostics.iter().take(3).map(|diagnostic| &diagnostic.title).collect();
        assert_eq!(diagnostics.len(), n_messages.min(Diagnostics::MAX), "{shown}: {first:?}");
    });
}

fn equation(value: &str) -> String {
    format!("node f(x)->(o) o = {value};")
}

fn nested(open: &str, inner: &str, close: &str) -> String {
    nested_by(DEEP, open, inner, close)
}

/// Less deep, for forms that are similar to others.
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

/// One error, and not one for each of two thousand callers.
#[test]
fn nodes_that_are_nested_too_deep() {
    let caller = |level: usize| format!("node f{level}(x)->(o) o = f{}(x);\n", level - 1);
    let callers: String = (1..3000).map(caller).collect();
    in_thread(move || {
        let text = format!("node f0(x)->(o) o = x + 1.0;\n{callers}");
        let mut sources = Sources::alone(SourceFile::new("deep.eddy", text));
        let found = load(&mut sources, Limits::default()).map(|_| ()).expect_err("it is too deep");
        let titles: Vec<String> = found.into_iter().map(|found| found.title).collect();
        assert_eq!(titles, ["instances are nested more than 1000 deep"]);
    });
}

/// A test bench keeps all of its cycles: no cycle may take time proportional to their number.
/// The code of functions nests choices and loops to a limit; anything deeper is refused at its place.
#[test]
fn functions_that_are_nested_too_deep() {
    let forms = [
        ("fn f(x: num) -> num = ", "if x > 1.0 then x else ", "x", ""),
        ("fn f(x: num) -> num = ", "if x > 1.0 then (", "x", ") else x"),
        ("fn f(x: num) -> num = ", "fold s = x for i < 2 do (", "x", ")"),
        ("fn f(x: num) -> num = ", "sum(i < 2: ", "x", ")"),
    ];
    for (head, open, inner, close) in forms {
        let program = |n: usize| format!("{head}{}{inner}{};", open.repeat(n), close.repeat(n));
        assert_eq!(checked(program(190)), [], "{open}");
        for n in [200, 1_000, SOME] {
            let titles: Vec<String> =
                checked(program(n)).into_iter().map(|diagnostic| diagnostic.title).collect();
            assert_eq!(titles, ["more than 192 choices and loops are inside each other"], "{open}");
        }
    }
}

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
    let program = resolve(&mut sources).accepted().expect("the program is correct");
    let run = program.modules[1].tree.runs().next().expect("one test bench");
    let printed = runs::execute(&program, run, &runs::RunOverrides::default()).expect("it runs").0;
    assert_eq!(printed.lines().count(), n_lines);
}

/// The diagnostics of `eddy check`. Also computes the positions for editors.
fn checked(text: String) -> Vec<Diagnostic> {
    let mut sources = Sources::alone(SourceFile::new("large.eddy", text.clone()));
    let positions = Positions::of(&resolve(&mut sources));
    let after_node = 5;
    assert!(positions.at(after_node).is_some(), "the first node has a name");
    let mut sources = Sources::alone(SourceFile::new("large.eddy", text));
    let checked = load(&mut sources, Limits::default()).and_then(|program| check_program(&program, None));
    checked.map_or_else(|errors| errors, |checked| checked.warnings)
}

fn joined(n: usize, separator: &str, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect::<Vec<_>>().join(separator)
}

/// With a quadratic algorithm, each of these takes minutes.
#[test]
fn checking_takes_time_in_proportion_to_the_size() {
    let inputs = joined(SOME, ", ", |i| format!("x{i}"));
    let unused = format!("node f({inputs}) -> (y)\n  y = 1.0;\n");
    let samplings =
        joined(SOME, "", |i| format!("  a{j} = a{i} when c{i};\n  c{j} = c{i} when c{i};\n", j = i + 1));
    let nested = format!("node f(x, c:bool) -> (y)\n  a0 = x;\n  c0 = c;\n{samplings}  y = a{SOME};\n");
    let parameters = joined(SOME / 4, " + ", |i| format!("param({i}.0) * x"));
    let trained = format!("node f(x) -> (y)\n  y = {parameters};\ntrain f as t loss mse optim sgd(0.1);\n");
    in_thread(move || {
        for program in [unused, nested, trained] {
            assert_eq!(checked(program), []);
        }
    });
}

/// Each constant needs the previous one, or the next one.
#[test]
fn two_thousand_constants() {
    let after = joined(2000, "", |i| format!("const c{} = c{i} + 1;\n", i + 1));
    let before = joined(2000, "", |i| format!("const c{i} = c{} + 1;\n", i + 1));
    let node = "node f(x) -> (y)\n  y = x;\n";
    let programs = [format!("{node}const c0 = 1;\n{after}"), format!("{node}{before}const c2000 = 1;\n")];
    in_thread(move || {
        for program in programs {
            assert_eq!(checked(program), []);
        }
    });
}

/// A cycle with thousands of guards, none of which breaks it: the message shows some of them.
#[test]
fn a_message_about_thousands_of_guards() {
    const N: usize = SOME / 4;
    let conditions = joined(N, ", ", |i| format!("c{i}:bool"));
    let equations =
        joined(N, "", |i| format!("  a{i} = if c{i} then a{} + x else a{};\n", (i + 1) % N, (7 * i + 3) % N));
    let program = format!("node f(x, {conditions}) -> (y)\n{equations}  y = a0;\n");
    in_thread(move || {
        let found = checked(program);
        assert_eq!(found.len(), 1);
        assert!(found[0].title.len() < 1000 && found[0].causes.len() < 50, "{}", found[0].title);
    });
}

/// Twenty thousand errors are counted, and the first hundred reported.
#[test]
fn twenty_thousand_errors() {
    let body = |equation: fn(usize) -> String| {
        format!("node f(x, c:bool) -> (y)\n{}  y = x;\n", joined(SOME, "", equation))
    };
    let programs = [
        body(|i| format!("  a{i} = x + b{i};\n")),
        body(|i| format!("  a{i} = g{i}(x);\n")),
        body(|_| "  y = x;\n".to_string()),
        body(|i| format!("  a{i} = x + 1.0 + (c and x > 1.0);\n")),
        body(|i| format!("  a{i} = x + (x when c);\n")),
        format!("node f(x) -> ({})\n  y0 = x;\n", joined(SOME, ", ", |i| format!("y{i}"))),
    ];
    in_thread(move || {
        for program in programs {
            let shown = program[..80].to_string();
            let n = checked(program).len();
            assert!(n > 1 && n <= Diagnostics::MAX, "{n} messages: {shown}");
        }
    });
}

/// A cycle through all streams is one message of a few lines.
#[test]
fn a_cycle_through_twenty_thousand_streams() {
    let cycle = joined(SOME, "", |i| format!("  a{i} = a{} + x;\n", (i + 1) % SOME));
    in_thread(move || {
        let found = checked(format!("node f(x) -> (y)\n{cycle}  y = a0;\n"));
        assert_eq!(found.len(), 1);
        assert!(found[0].title.len() < 300 && found[0].causes.len() < 20, "{}", found[0].title);
    });
}

/// 2^60 equations are rejected without elaborating any of them.
#[test]
fn nodes_that_double_sixty_times() {
    let caller = |level: usize| format!("node f{level}(x)->(o) o = f{i}(f{i}(x));\n", i = level - 1);
    let callers: String = (1..60).map(caller).collect();
    in_thread(move || {
        let found = checked(format!("node f0(x)->(o) o = x + 1.0;\n{callers}"));
        assert_eq!(found.len(), 1, "callers of a node that is too large are not reported again");
        assert_eq!(found[0].title, "more than 2097152 equations once all nodes are inlined");
        let reason = found[0].reason.as_deref().unwrap_or_default();
        assert!(
            reason.contains("`f21` has 2 instances of `f20`, which has 2 instances of `f19`"),
            "{reason}"
        );
        let help = found[0].help.as_ref().map(|help| help.text.as_str());
        assert_eq!(help, Some("`--equations N` raises the limit"));
    });
}
