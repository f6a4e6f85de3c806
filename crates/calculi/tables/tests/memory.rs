//! `--memory` counts the memory that a run or a question uses: resident memory against the limit, for
//! programs that use up the limit.
//!
//! Each case runs in its own process, which measures itself: in one process, memory that a case returned to
//! the allocator would distort the figures of the next case.
//!
//! `-- --nocapture` shows the figures.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test starts itself again and reads how much memory it took"
)]

use std::fs;
use std::process::Command;

use eddy_syntax::SourceFile;
use eddy_tables::ask::{self, Answer};
use eddy_tables::dialect::Dialect;
use eddy_tables::run::{self, RunError};
use eddy_tables::syntax::Program;
use eddy_tables::typing;
use eddy_tables::value::Values;
use eddy_tables::value::parse::Goal;

/// Runs that run out of memory: a deep stack, a long list, large integers that many frames hold,
/// environments, a store, pairs.
const PROGRAMS: [(Dialect, &str); 6] = [
    (Dialect::Lambda, "(\\f. f f 100000000) (\\f. \\n. if n then 1 + f f (n - 1) else 0)"),
    (Dialect::Lambda, "(\\f. f f 0 100000000) (\\f. \\l. \\n. if n then f f (\\k. k n l) (n - 1) else 0)"),
    (
        Dialect::Lambda,
        "let sq = \\x. x * x in
         let b = sq (sq (sq (sq (sq (sq (sq (sq (sq (sq (sq (sq (sq 12345)))))))))))) in
         (\\f. f f 100000000) (\\f. \\n. if n then b + f f (n - 1) else 0)",
    ),
    (
        Dialect::Lambda,
        "let sq = \\x. x * x in
         let b = sq (sq (sq (sq (sq (sq (sq (sq (sq (sq (sq (sq (sq 12345)))))))))))) in
         (\\f. f f 0 100000000) (\\f. \\l. \\n. if n then f f (\\k. k (b + n) l) (n - 1) else 0)",
    ),
    (
        Dialect::References,
        "let f = ref (\\n:int. 0) in
         (f := (\\n:int. if n then (let r = ref n in 1 + !f (n - 1)) else 0); !f 100000000)",
    ),
    (
        Dialect::SystemF,
        "(fix f : (int -> int) -> int -> int. \\g:int -> int. \\n:int.
            if n then f (\\m:int. g (m + n)) (n - 1) else 0) (\\m:int. m) 100000000",
    ),
];

/// Limits of the runs, in bytes.
const LIMITS: [u64; 2] = [16 << 20, 48 << 20];

/// The allowed overhead: the allocator's own memory, and terms.
const OVERHEAD: u64 = 4 << 20;

/// Tells a child process its case.
const CASE: &str = "EDDY_MEMORY_CASE";

#[test]
#[cfg(target_os = "linux")]
fn counted_memory_is_used_memory() {
    for (at, (_, text)) in PROGRAMS.into_iter().enumerate() {
        for (limit, what) in LIMITS.into_iter().flat_map(|limit| [(limit, "run"), (limit, "ask")]) {
            let used = in_a_process(&format!("{what} {at} {limit}"));
            check(what, text, used, limit);
        }
    }
}

/// Checks that a limit holds, and that most of it can be used.
fn check(what: &str, text: &str, used: u64, limit: u64) {
    eddy_tests::law::show(&format!("{what}: {} of {} KiB: {}", used >> 10, limit >> 10, &text[..40]));
    assert!(used <= limit + OVERHEAD, "{what} takes {used} bytes of {limit}: {text}");
    assert!(used >= limit / 2, "{what} is given up at {used} bytes of {limit}: {text}");
}

/// The memory of a case, measured by its process.
fn in_a_process(case: &str) -> u64 {
    let this = std::env::current_exe().expect("a test is a program");
    let output = Command::new(this)
        .args(["--exact", "one_case", "--nocapture"])
        .env(CASE, case)
        .output()
        .expect("a test can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    let used = text.lines().find_map(|line| line.strip_prefix("used ")?.parse().ok());
    used.unwrap_or_else(|| panic!("{case}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// The case of this process, if it has one.
#[test]
fn one_case() {
    let Ok(case) = std::env::var(CASE) else { return };
    let words: Vec<&str> = case.split(' ').collect();
    let (dialect, text) = PROGRAMS[words[1].parse::<usize>().expect("a number")];
    let memory = words[2].parse().expect("a limit");
    let program = program(dialect, text);
    let before = resident("VmRSS");
    if words[0] == "run" {
        let outcome = run::run(&program, run::Limits { fuel: u64::MAX, memory }).0;
        assert_eq!(outcome, Err(RunError::Memory(memory)), "{text}");
    } else {
        let mut values = Values::default();
        let goal = Goal { value: values.int(0), store: None };
        let limits = ask::Limits { fuel: u64::MAX, steps: u64::MAX, memory };
        assert_eq!(ask::ask(&program, goal, &mut values, limits).0, Answer::Unknown, "{text}");
    }
    eddy_tests::law::show(&format!("used {}", resident("VmHWM").saturating_sub(before)));
}

fn program(dialect: Dialect, text: &str) -> Program {
    typing::check(&SourceFile::new("memory", text), dialect)
        .unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

fn resident(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a process has a status");
    let line = status.lines().find(|line| line.starts_with(key)).expect("the status lists this memory");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("in KiB") << 10
}
