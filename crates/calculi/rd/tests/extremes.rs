//! Programs that are deep, long or large: nothing recurses on the native stack, and every limit is reported
//! by name.
//!
//! Each program is checked, run by all engines, formatted and dropped in a thread with Rust's small default
//! stack; any function that recursed over the program would overflow it.

use eddy_rd::engine::{Engine, run};
use eddy_rd::outcome::Limits;
use eddy_rd::{format, transform, typing};
use eddy_syntax::SourceFile;

const DEEP: usize = 100_000;
const ALL: &[Engine] = &Engine::ALL;

/// Runs a program with each of these engines; each must print `expected`.
fn check(text: String, engines: &'static [Engine], limits: Limits, expected: &'static str) {
    let work = move || {
        let file = SourceFile::new("deep.rd", text);
        let program = typing::check(&file).expect("the program is right");
        for engine in engines {
            if *engine != Engine::Transform || transform::not_transformable(&program).is_none() {
                assert_eq!(run(&program, *engine, limits).to_string(), expected, "{}", engine.name());
            }
        }
        format::format(&file).expect("what is accepted can be formatted");
    };
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(work)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

fn answers(text: String, expected: &'static str) {
    check(text, ALL, Limits::default(), expected);
}

fn refused(text: String, code: &'static str) {
    let work = move || {
        let file = SourceFile::new("deep.rd", text);
        let diagnostics = typing::check(&file).expect_err("the program is wrong");
        assert_eq!(diagnostics.iter().map(|found| found.code.name()).collect::<Vec<_>>(), [code]);
    };
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(work)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

fn nested(open: &str, inner: &str, close: &str) -> String {
    open.repeat(DEEP) + inner + &close.repeat(DEEP)
}

fn chain(n: usize, link: impl Fn(usize) -> String) -> String {
    (1..n).map(link).collect()
}

#[test]
fn parentheses() {
    answers(nested("(", "1", ")"), "1");
    answers(nested("<", "1", ">"), "1");
    answers(format!("if {} then 1 else 0", nested("(", "1 < 2", ")")), "1");
    answers(format!("zero[{}]", nested("(", "real", ")")), "0");
}

#[test]
fn operators() {
    answers("1 + ".repeat(DEEP) + "1", "100001");
    answers(nested("-(", "1", ")"), "1");
    answers(format!("if {} 1 < 2 then 1 else 0", "not ".repeat(DEEP)), "1");
    answers(format!("if {} 1 < 2 then 1 else 0", "2 < 1 || ".repeat(DEEP)), "1");
    answers(nested("cos(", "0.7390851332151607", ")"), "0.7390851332151607");
}

#[test]
fn conditionals() {
    answers("if 2 < 1 then 0 else ".repeat(DEEP) + "7", "7");
    answers(format!("grad[3](x. {} x * x)", "if x < 1 then 0 else ".repeat(1000)), "6");
}

#[test]
fn chains_of_lets() {
    let chain = chain(DEEP, |i| format!("let x{i} = x{} + 1 in ", i - 1));
    answers(format!("let x0 = 1 in {chain} x{}", DEEP - 1), "100000");
    answers(format!("grad[1](x0. {chain} x{})", DEEP - 1), "1");
    let shadowed = "let x = x + x - x in ".repeat(DEEP);
    answers(format!("let x = 5 in {shadowed} x"), "5");
}

#[test]
fn chains_of_functions() {
    let n = 20_000;
    let chain = chain(n, |i| format!("let f{i}(x:real):real = f{}(x) + 1 in ", i - 1));
    answers(format!("let f0(x:real):real = x in {chain} f{}(1)", n - 1), "20000");
}

#[test]
fn wide_tuples() {
    let tuple = vec!["1"; 5000].join(", ");
    answers(format!("let v = ({tuple}) in dot(v, v)"), "5000");
    let variables = vec!["x"; 50_000].join(", ");
    answers(format!("let x = 1 in let v = ({variables}) in snd(v)"), "1");
    let units = "let u = (u, u) in ".repeat(40);
    refused(format!("let u = () in {units} u"), "RD011");
    answers("let v = zero[real^5000] in dot(v + v, v - 2 * v)".to_string(), "0");
    answers("snd(grad[zero[real^5000]](v. dot(v, v)))".to_string(), "0");
}

#[test]
fn a_million_nested_calls_with_their_gradient() {
    let limits = Limits { memory: 1 << 30, ..Limits::default() };
    let recursion = "letrec f(n:real, x:real):real = if n < 0.5 then x else 1 * f(n - 1, x) in";
    check(format!("{recursion} grad[2](x. f(1000000, x))"), &[Engine::Tape], limits, "1");
    check(format!("{recursion} f(1000000, 2)"), ALL, limits, "2");
    // The reference engine keeps whole terms; a tenth of the depth tests the same.
    check(format!("{recursion} grad[2](x. f(100000, x))"), &[Engine::Reference], Limits::default(), "1");
}

#[test]
fn derivatives_nested_as_deep_as_calls() {
    let limits = Limits { fuel: 200_000, ..Limits::default() };
    check(
        "letrec f(x:real):real = grad[x](f) in f(0)".to_string(),
        &[Engine::Tape],
        limits,
        "diverged: out of fuel",
    );
}

#[test]
fn long_traces_are_printed() {
    let text =
        "letrec g(x:real, n:real):real = if n < 0.5 then x else g(x * 1.01, n - 1) in grad[1](x. g(x, 2000))";
    let program = typing::check(&SourceFile::new("long.rd", text)).expect("the program is right");
    let mut out = String::new();
    eddy_rd::trace::trace(&program, Limits::default(), eddy_rd::trace::TraceOptions::default(), &mut out)
        .expect("a string");
    assert!(out.lines().count() == 5, "{} lines", out.lines().count());
}

#[test]
fn many_mistakes_are_many_messages_up_to_a_limit() {
    let text = vec!["yy"; 20_000].join(" + ");
    let diagnostics = typing::check(&SourceFile::new("wrong.rd", text)).expect_err("nothing binds it");
    assert_eq!(diagnostics.len(), eddy_syntax::Diagnostics::MAX);
    assert_eq!(diagnostics[99].reason.as_deref(), Some("19900 more mistakes are not shown"));
}

#[test]
fn tail_calls_need_no_stack() {
    let limits = Limits { memory: 16 << 20, ..Limits::default() };
    let text = "letrec f(n:real, x:real):real = if n < 0.5 then x else f(n - 1, x + 1) in f(1000000, 0)";
    check(text.to_string(), ALL, limits, "1000000");
}

#[test]
fn twenty_nested_derivatives() {
    let mut text = "exp(x0)".to_string();
    for level in 0..20 {
        let point = if level == 19 { "0".to_string() } else { format!("x{}", level + 1) };
        text = format!("grad[{point}](x{level}. {text})");
    }
    check(text, &[Engine::Tape], Limits::default(), "1");
}

#[test]
fn running_out_of_memory_is_reported() {
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let line = "diverged: out of memory, which `--memory` limits to 64 MiB";
    let recursion = "letrec f(n:real):real = 1 + f(n + 1) in";
    check(format!("{recursion} f(0)"), ALL, limits, line);
    check(format!("{recursion} grad[0](f)"), ALL, limits, line);
    // A function that differentiates itself has derivatives of every order.
    let tower = "letrec f(x:real):real = grad[x](y. f(y) * y) in f(1)";
    check(
        tower.to_string(),
        &[Engine::Tape, Engine::Reference],
        Limits { fuel: 50, ..limits },
        "diverged: out of fuel",
    );
}

#[test]
fn running_out_of_fuel_is_reported() {
    let limits = Limits { fuel: 10, ..Limits::default() };
    let countdown = "letrec f(n:real):real = if n < 0.5 then 0 else f(n - 1) in";
    check(format!("{countdown} f(9)"), ALL, limits, "0");
    check(format!("{countdown} f(10)"), ALL, limits, "diverged: out of fuel");
    check(format!("{countdown} grad[9](f)"), ALL, limits, "0");
    check(format!("{countdown} grad[10](f)"), ALL, limits, "diverged: out of fuel");
}

#[test]
fn unfinished_programs_are_refused_once() {
    refused("(".repeat(DEEP), "RD002");
    refused(")".repeat(DEEP), "RD002");
    refused("let x = ".repeat(DEEP), "RD002");
    refused("if ".repeat(DEEP), "RD002");
    refused("(* ".repeat(DEEP), "RD001");
    refused(nested("fst(", "1", ")"), "RD005");
    refused("x".repeat(1 << 20), "RD003");
}

#[test]
fn ten_megabytes() {
    let line = "let x = x * 1.5 - (x + 2) * 0.5 - x + 1 in\n";
    let text = format!("let x = 1 in\n{}x", line.repeat(10_000_000 / line.len()));
    check(text, &[Engine::Tape], Limits::default(), "0");
}
