//! Programs that are deep, long or large: nothing recurses on the native stack, and every limit is reported
//! by name.
//!
//! Each program is checked, run, formatted and dropped in a thread with Rust's small default stack; any
//! function that recursed over the program would overflow it.

use eddy_coherent::engine::{self, Counters, Engine};
use eddy_coherent::outcome::{ExhaustedLimit, Limits};
use eddy_coherent::relation::{Answer, Bounds, Cut, ask};
use eddy_coherent::syntax::Program;
use eddy_coherent::{format, print, relation, typing};
use eddy_syntax::SourceFile;

const DEEP: usize = 100_000;
const VERY_DEEP: usize = 1_000_000;

const ALL: &[Engine] = &Engine::ALL;
const FAST: &[Engine] = &[Engine::Environment];

fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    thread.join().expect("no overflow");
}

/// What `run` prints.
fn run(
    program: &Program,
    engine: Engine,
    limits: Limits,
    coins: u64,
) -> (Result<String, ExhaustedLimit>, Counters) {
    let (leaves, counters) = engine::run(program, engine, limits, coins);
    (leaves.map(|leaves| leaves.to_string()), counters)
}

/// Runs a program by these machines; all must answer with this line.
fn check(text: String, engines: &'static [Engine], expected: &'static str) {
    on_small_stack(move || {
        let file = SourceFile::new("deep.cd", text);
        let program = typing::check(&file).expect("the program is right");
        for engine in engines {
            let (lines, _) = run(&program, *engine, Limits::default(), 12);
            assert_eq!(lines.as_deref(), Ok(expected), "{}", engine.name());
        }
        assert!(!print::show_briefly(&program.terms, program.main, 10_000_000).is_empty());
        format::format(&file).expect("what is accepted can be formatted");
    });
}

fn answers(text: String, expected: &'static str) {
    check(text, ALL, expected);
}

fn checked(text: String) -> Program {
    typing::check(&SourceFile::new("extreme.cd", text)).expect("the program is right")
}

fn refused(text: String, code: &'static str) {
    on_small_stack(move || {
        let file = SourceFile::new("deep.cd", text);
        let diagnostics = typing::check(&file).expect_err("the program is wrong");
        assert_eq!(diagnostics.iter().map(|found| found.code.name()).collect::<Vec<_>>(), [code]);
    });
}

fn nested(open: &str, inner: &str, close: &str) -> String {
    open.repeat(DEEP) + inner + &close.repeat(DEEP)
}

fn chain(n: usize, link: impl Fn(usize) -> String) -> String {
    (1..=n).map(link).collect()
}

#[test]
fn parentheses() {
    answers(nested("(", "1", ")"), "1");
    answers(format!("(\\x:{}. x) 3", nested("(", "nat", ")")), "3");
    refused("(".repeat(DEEP), "parse");
    refused(")".repeat(DEEP), "parse");
}

#[test]
fn prefix_operators() {
    answers("succ ".repeat(DEEP) + "1", "100001");
    answers("pred ".repeat(DEEP) + "1", "0");
    answers("pi0 inj0 ".repeat(DEEP) + "7", "7");
    answers("tick ".repeat(DEEP) + "1", "1 ticks 100000");
    answers(format!("pi1 {} inj1 inj0 7", "flip flip ".repeat(1000)), "0: 7\n1: none");
    refused("succ ".repeat(DEEP), "parse");
    refused("theta ".repeat(DEEP) + "1", "depth");
}

#[test]
fn a_term_a_million_deep() {
    let runs = |text: String, expected: &'static str| {
        on_small_stack(move || {
            let program = checked(text);
            let (lines, _) = run(&program, Engine::Environment, Limits::default(), 0);
            assert_eq!(lines.as_deref(), Ok(expected));
        });
    };
    runs("succ ".repeat(VERY_DEEP) + "1", "1000001");
    runs("(\\x:nat. ".repeat(VERY_DEEP) + "7" + &") 1".repeat(VERY_DEEP), "7");
    runs("let x = ".repeat(VERY_DEEP) + "7" + &" in x".repeat(VERY_DEEP), "7");
}

#[test]
fn blocks() {
    answers("if 1 then 0 else ".repeat(DEEP) + "7", "7");
    answers("let x = 1 in ".repeat(DEEP) + "x", "1");
    answers(format!("let x0 = 7 in {} x{DEEP}", chain(DEEP, |i| format!("let x{i} = x{} in ", i - 1))), "7");
    check("choice(1, ".repeat(DEEP) + "7" + &", 8)".repeat(DEEP), FAST, "{unresolved: 1}");
    check("\\x:nat. ".repeat(DEEP).replacen("\\x", "(\\x", 1) + "x" + ")" + &" 7".repeat(DEEP), FAST, "7");
}

#[test]
fn applications() {
    answers(nested("(\\x:nat. x) (", "7", ")"), "7");
    answers(nested("<\\x:nat. succ x> (", "7", ")"), "100007");
    answers(format!("{} 1", nested("((\\f:nat -> nat. f) ", "\\x:nat. 7", ")")), "7");
}

#[test]
fn definitions() {
    let definitions = chain(DEEP, |i| format!("def x{i} = succ x{};\n", i - 1));
    answers(format!("def x0 = 7;\n{definitions}x{DEEP}"), "100007");
    // Each definition uses the one before it twice; without sharing there would be 2^60 terms.
    let doubled = chain(60, |i| format!("def y{i} = if 1 then y{} else y{};\n", i - 1, i - 1));
    answers(format!("def y0 = 7;\n{doubled}y60"), "7");
}

#[test]
fn types() {
    answers(format!("(\\f:{}nat. 7) omega[{0}nat]", "nat -> ".repeat(DEEP)), "7");
    answers(format!("(\\x:{}nat. 7) omega[{0}nat]", "D ".repeat(1000)), "7");
    refused(format!("omega[{}nat]", "D^999999 ".repeat(3)), "parse");
    refused("D^1000000 (\\x:nat. x)".to_string() + " 1", "type");
}

#[test]
fn tail_recursion_takes_constant_memory() {
    let text =
        "def loop = fix \\f:nat -> nat. \\n:nat. let x = n in if x then 7 else f (pred x); loop 800000";
    let program = checked(text.to_string());
    let limits = Limits { fuel: 20_000_000, memory: 4 << 20 };
    let (lines, counters) = run(&program, Engine::Environment, limits, 0);
    assert_eq!(lines.as_deref(), Ok("7"));
    assert!(counters.steps > 10_000_000, "{}", counters.steps);
}

#[test]
fn chains_of_closures_may_be_long() {
    let add = "def add = fix \\f:nat -> nat -> nat. \\(x y:nat). let u = x in if u then y else f (pred u) (succ y);";
    check(format!("{add} add 300000 1"), FAST, "300001");
}

#[test]
fn limits_are_reported_by_name() {
    let stopped = |text: &str, limits: Limits| {
        let program = checked(text.to_string());
        ALL.iter().map(move |engine| run(&program, *engine, limits, 0).0).collect::<Vec<_>>()
    };
    let small = Limits { fuel: 1000, memory: 1 << 20 };
    assert_eq!(stopped("omega[nat]", small), vec![Err(ExhaustedLimit::Fuel(1000)); 3]);
    assert_eq!(stopped("succ 18446744073709551615", small), vec![Err(ExhaustedLimit::Overflow); 3]);
    let little = Limits { fuel: u64::MAX, memory: 1 << 20 };
    assert_eq!(stopped("fix \\x:nat. succ x", little), vec![Err(ExhaustedLimit::Memory(1 << 20)); 3]);
}

#[test]
fn many_live_variables_are_bounded_by_memory() {
    // Each body needs all variables before it, so closures hold a quadratic number of values.
    let n = 2000;
    let lets = chain(n, |i| format!("let x{i} = {i} in "));
    let uses = chain(n, |i| format!("if x{i} then 0 else "));
    let program = checked(lets + &uses + "7");
    let (lines, _) = run(&program, Engine::Environment, Limits::default(), 0);
    assert_eq!(lines.as_deref(), Ok("7"));
    let little = Limits { memory: 1 << 20, ..Limits::default() };
    assert_eq!(run(&program, Engine::Environment, little, 0).0, Err(ExhaustedLimit::Memory(1 << 20)));
}

#[test]
fn a_few_steps_that_take_much_memory_are_noticed() {
    // A turn of the recursion makes a closure of a thousand values; a hundred turns are more than a megabyte.
    let n = 1000;
    let lets = chain(n, |i| format!("let x{i} = {i} in "));
    let uses = chain(n, |i| format!("if x{i} then 0 else "));
    let program = checked(format!("{lets} (fix \\f:nat -> nat. \\y:nat. succ (f ({uses} y))) 1"));
    let limits = |fuel| Limits { fuel, memory: 24 << 20 };
    let exhausted = |fuel| run(&program, Engine::Environment, limits(fuel), 0).0;
    assert_eq!(exhausted(5_000), Err(ExhaustedLimit::Fuel(5_000)));
    assert_eq!(exhausted(20_000), Err(ExhaustedLimit::Memory(24 << 20)));
}

#[test]
fn the_machines_of_the_paper_collect_dead_terms() {
    let loops =
        "def loop = fix \\f:nat -> nat. \\n:nat. let x = n in if x then 7 else f (pred x); loop 300000";
    let program = checked(loops.to_string());
    for engine in [Engine::Deterministic, Engine::Krivine] {
        let (lines, counters) = run(&program, engine, Limits { memory: 64 << 20, ..Limits::default() }, 0);
        assert_eq!(lines.as_deref(), Ok("7"), "{}", engine.name());
        assert!(counters.steps > 3_000_000, "{}", counters.steps);
    }
}

#[test]
fn distributions_are_bounded_by_memory() {
    // A thousand coins make 2^1000 paths, no two of which reach the same state.
    let apart = "(fix \\f:(nat -> nat) -> nat. \\g:nat -> nat. choice(1/2, f (\\x:nat. succ (g x)), f (\\x:nat. pred (g x)))) (\\x:nat. x)";
    // There are as many values as coins, and each probability has as many digits.
    let long = "fix \\x:nat. choice(1/2, 0, succ x)";
    let little = Limits { memory: 1 << 20, ..Limits::default() };
    for (text, coins) in [(apart, 1000), (long, 100_000)] {
        let (lines, _) = run(&checked(text.to_string()), Engine::Environment, little, coins);
        assert_eq!(lines, Err(ExhaustedLimit::Memory(1 << 20)), "{text}");
    }
    // In small parts, the generation fits.
    let (lines, _) = run(&checked(apart.to_string()), Engine::Environment, little, 12);
    assert_eq!(lines.as_deref(), Ok("{unresolved: 1}"));
}

#[test]
fn paths_in_equal_states_are_merged() {
    let walk = "(fix \\F:nat -> nat. \\x:nat. let y = x in if y then 0 else F (if coin(1/2) then pred y else succ y)) 3";
    let (lines, counters) = run(&checked(walk.to_string()), Engine::Environment, Limits::default(), 100);
    assert!(lines.is_ok_and(|lines| lines.starts_with("{0: ")));
    assert!(counters.steps < 1_000_000, "{}", counters.steps);
}

/// The answer to a question with these bounds.
fn asked(program: &Program, point: &str, bounds: Bounds) -> Answer {
    let read = |store: &mut _| {
        relation::point::parse(point, &program.terms.types, program.ty, store).expect("it is a point")
    };
    ask(program, bounds, read).0
}

#[test]
fn searches_are_bounded_by_memory() {
    let little = Bounds { memory: 1 << 20, ..Bounds::default() };
    // The point of a function of n arguments has n multisets; each abstraction creates a point with one
    // fewer.
    let arguments = format!("({}x) {}", "\\x:nat. ".repeat(1000), "7 ".repeat(1000));
    let Answer::Unknown(cuts) = asked(&checked(arguments), "7", little) else { panic!("too much memory") };
    assert_eq!(cuts, [Cut::Memory].into());
    // All sizes up to the bound are tried, if memory allows.
    let many = Bounds { copies: u32::MAX, ..little };
    let program = checked("\\f:nat -> nat. f 1".to_string());
    let Answer::Unknown(cuts) = asked(&program, "[[1] -> 2] -> 3", many) else {
        panic!("nothing is searched")
    };
    assert_eq!(cuts, [Cut::Copies, Cut::Memory].into());
}

#[test]
fn questions_about_deep_programs() {
    on_small_stack(|| {
        let found = |text: String, point: &str| {
            let program = checked(text);
            let Answer::Yes(found) = asked(&program, point, Bounds::default()) else { panic!("it is there") };
            let mut text = String::new();
            relation::derivation::write(&found, &program.terms, &mut text).expect("a string takes all");
            text.lines().count()
        };
        assert_eq!(found("succ ".repeat(DEEP) + "1", "100001"), DEEP + 1);
        assert_eq!(found("(\\x:nat. ".repeat(DEEP) + "7" + &") 1".repeat(DEEP), "7"), 2 * DEEP + 1);
        let lets = chain(DEEP, |i| format!("let x{i} = x{} in ", i - 1));
        assert_eq!(found(format!("let x0 = 7 in {lets} x{DEEP}"), "7"), 2 * DEEP + 3);
    });
}
