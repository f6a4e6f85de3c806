//! Programs that are deep, long or large: nothing recurses on the native stack, and every limit is reported
//! by name.
//!
//! Each program is checked, run, formatted and dropped in a thread with Rust's small default stack; any
//! function that recursed over the program would overflow it.

use std::fmt::Write;

use eddy_pullback::engine::{Engine, run};
use eddy_pullback::outcome::{Limits, Outcome, Stop};
use eddy_pullback::trace::{TraceOptions, trace};
use eddy_pullback::{format, typing};
use eddy_syntax::SourceFile;

const DEEP: usize = 100_000;
const ALL: &[Engine] = &Engine::ALL;
const FAST: &[Engine] = &[Engine::Fast];
const NOT_REFERENCE: &[Engine] = &[Engine::Fast, Engine::Translation];

fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    thread.join().expect("no overflow");
}

/// Runs a program with each of these engines; each must print `expected`.
fn answers(text: String, engines: &'static [Engine], expected: &'static str) {
    on_small_stack(move || {
        let file = SourceFile::new("deep.pb", text);
        let program = typing::check(&file).expect("the program is right");
        for engine in engines {
            let line = run(&program, *engine, Limits::default()).to_string();
            assert_eq!(line, expected, "{}", engine.name());
        }
        format::format(&file).expect("what is accepted can be formatted");
    });
}

fn refused(text: String, code: &'static str) {
    on_small_stack(move || {
        let file = SourceFile::new("deep.pb", text);
        let diagnostics = typing::check(&file).expect_err("the program is wrong");
        assert_eq!(diagnostics.iter().map(|found| found.code.name()).collect::<Vec<_>>(), [code]);
    });
}

fn nested(open: &str, inner: &str, close: &str) -> String {
    open.repeat(DEEP) + inner + &close.repeat(DEEP)
}

fn lets(n: usize, step: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for i in 0..n {
        let _ = write!(text, "let x{} = {} in ", i + 1, step(i));
    }
    text
}

#[test]
fn deep_parentheses() {
    answers(nested("(", "1", ")"), ALL, "1");
}

#[test]
fn long_sums() {
    answers("1 + ".repeat(DEEP) + "1", ALL, "100001");
}

#[test]
fn deep_functions() {
    answers("\\x:R. ".repeat(DEEP) + "x", ALL, "<fun>");
}

#[test]
fn deep_calls() {
    answers(format!("(\\f:R -> R. {}) (\\x. x)", nested("f (", "1", ")")), ALL, "1");
}

#[test]
fn deep_tuples() {
    let text = format!("let t = {} in 1", nested("<1, ", "1", ">"));
    answers(text, NOT_REFERENCE, "1");
}

#[test]
fn zero_at_a_deep_type() {
    let text = format!("let t = (zero : {}) in fst t", nested("R * (", "R", ")"));
    answers(text, FAST, "0");
}

#[test]
fn deep_types_and_patterns() {
    answers(format!("\\x:{}. 1", nested("(", "R", ")")), ALL, "<fun>");
    let mut pattern = String::new();
    for i in 0..DEEP {
        let _ = write!(pattern, "<y{i}, ");
    }
    answers(format!("\\{pattern}x{}. 1", ">".repeat(DEEP)), FAST, "<fun>");
}

#[test]
fn a_long_chain_of_lets_and_its_gradient() {
    let chain = lets(DEEP, |i| format!("x{i} * 1"));
    answers(format!("grad (\\x0:R. {chain}x{DEEP}) at 2"), FAST, "1");
}

#[test]
fn the_reference_engine_on_a_chain_of_lets() {
    let chain = lets(200, |i| format!("x{i} * 1"));
    answers(format!("grad (\\x0:R. {chain}x200) at 2"), ALL, "1");
}

#[test]
fn shared_terms_are_evaluated_once_by_all_engines() {
    // Each `let` uses the one before twice, so there are 2^60 paths through the derivative.
    let chain = lets(60, |i| format!("(x{i} + x{i})"));
    answers(format!("grad (\\x0:R. {chain}x60) at 1"), ALL, "1.152921504606847e18");
    // Functions that call functions that call functions: 2^7 calls, and a tangent for each partial
    // application.
    let nested = "twice (".repeat(7) + "f" + &")".repeat(7);
    let text = format!(
        "def twice (step : R -> R) = \\x. step (step x);\ndef f (x : R) = x + 1;\ngrad (\\a:R. {nested} (a * a)) at 3"
    );
    answers(text, ALL, "6");
}

#[test]
fn a_trace_of_shared_terms_is_bounded() {
    on_small_stack(|| {
        let nested = "twice (".repeat(8) + "f" + &")".repeat(8);
        let text = format!(
            "def twice (step : R -> R) = \\x. step (step x);\ndef f (x : R) = x * x;\ngrad (\\a:R. {nested} a) at 1"
        );
        let program = typing::check(&SourceFile::new("shared.pb", text)).expect("the program is right");
        let limits = Limits { fuel: 1_000_000, memory: 1 << 27 };
        let mut lines = String::new();
        let report = trace(&program, limits, TraceOptions::default(), &mut lines)
            .expect("writing to a string does not fail");
        assert!(lines.len() < 1 << 28, "{} bytes for {:?}", lines.len(), report.counters);
    });
}

#[test]
fn no_expression_swell() {
    on_small_stack(|| {
        let chain = lets(50, |i| format!("x{i} * x{i}"));
        let file = SourceFile::new("swell.pb", format!("grad (\\x0:R. {chain}x50) at 1"));
        let program = typing::check(&file).expect("the program is right");
        let report = run(&program, Engine::Fast, Limits::default());
        assert_eq!(report.to_string(), "1125899906842624");
        assert!(report.counters.total_ops < 1000, "{:?}", report.counters);
    });
}

#[test]
fn a_gradient_in_ten_thousand_variables() {
    on_small_stack(|| {
        let n = 10_000;
        let names: Vec<String> = (0..n).map(|i| format!("x{i}")).collect();
        let sum: Vec<String> = (1..n).map(|i| format!("x{} * x{i}", i - 1)).collect();
        let ones = vec!["1"; n].join(", ");
        let text = format!("grad (\\<{}>:R^{n}. {}) at <{ones}>", names.join(", "), sum.join(" + "));
        let program = typing::check(&SourceFile::new("wide.pb", text)).expect("the program is right");
        let report = run(&program, Engine::Fast, Limits::default());
        let line = report.to_string();
        assert!(line.starts_with("<1, 2, 2, ") && line.ends_with(", 2, 1>"), "{line}");
        let counters = report.counters;
        assert!(counters.total_ops <= 6 * counters.primal_ops + 10 * n as u64, "{counters:?}");
    });
}

#[test]
fn a_fold_over_a_long_church_list() {
    let n = 10_000;
    let list = "(f s ".repeat(n) + "d" + &")".repeat(n);
    let text = format!(
        "def l (s : R) = \\(f : R -> R -> R) (d : R). {list};\ngrad (\\s:R. l s (\\x y. x + y) 0) at 3"
    );
    answers(text, FAST, "10000");
}

#[test]
fn pullbacks_inside_of_pullbacks() {
    let n = 2000;
    let text = "grad (\\x:R. ".repeat(n) + "5" + &") at 1".repeat(n);
    answers(text, FAST, "0");
}

#[test]
fn types_that_double_are_refused() {
    refused(lets(60, |i| if i == 0 { "<1, 1>".to_string() } else { format!("<x{i}, x{i}>") }) + "1", "PB012");
}

#[test]
fn nested_mistakes() {
    refused("(".repeat(DEEP), "PB002");
    refused("\\x. x (".to_string() + &"x ".repeat(1000) + ")", "PB005");
    refused("(\\x. let <a, b> = x in x + a) 3".to_string(), "PB005");
}

#[test]
fn a_chain_of_mistakes_takes_no_longer_than_reading_it() {
    on_small_stack(|| {
        let file = SourceFile::new("deep.pb", "1".to_string() + &"^*".repeat(DEEP));
        let diagnostics = typing::check(&file).expect_err("the program is wrong");
        assert!(diagnostics.iter().any(|found| found.code.name() == "PB007"));
    });
}

#[test]
fn limits_are_reported_by_name() {
    on_small_stack(|| {
        // Church numerals: a tower of powers of two, which exceeds the limits.
        let two = "\\(f : R -> R) (x : R). f (f x)";
        let text = format!("def t = {two};\n{}(\\x:R. x + 1){} 0", "t (".repeat(40), ")".repeat(40));
        let program = typing::check(&SourceFile::new("long.pb", text)).expect("the program is right");
        for engine in ALL {
            let limits = Limits { fuel: 100_000, memory: 1 << 28 };
            let outcome = run(&program, *engine, limits).outcome;
            assert!(
                matches!(outcome, Outcome::Stopped(Stop::OutOfFuel | Stop::OutOfMemory)),
                "{}",
                engine.name()
            );
        }
        let limits = Limits { fuel: u64::MAX, memory: 1 << 24 };
        let outcome = run(&program, Engine::Fast, Limits { fuel: 50_000_000, ..limits }).outcome;
        assert!(matches!(outcome, Outcome::Stopped(_)), "{outcome:?}");
    });
}
