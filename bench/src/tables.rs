//! The languages of `tables`: running compared with asking, and the cost of explanations and lists.

use std::hint::black_box;

use eddy_syntax::SourceFile;
use eddy_tables::ask::{self, Answer};
use eddy_tables::derivation::explain;
use eddy_tables::dialect::Dialect;
use eddy_tables::enumerate::Enumeration;
use eddy_tables::integer::Int;
use eddy_tables::run::{self, Shown};
use eddy_tables::syntax::Program;
use eddy_tables::typing::check;
use eddy_tables::value::Values;
use eddy_tables::value::parse::Goal;

use crate::clock::{alone, ratio, side_by_side};

const FACTORIAL: &str = "let Z = \\f. let M = \\x. f (\\v. x x v) in M M in
let H = \\r. let F = \\n. if n = 0 then 1 else n * r (n - 1) in F in Z H";

fn program(dialect: Dialect, text: &str) -> Program {
    check(&SourceFile::new("bench", text), dialect).expect("the program is valid")
}

fn run(program: &Program) -> String {
    let limits = run::Limits { fuel: u64::MAX, ..run::Limits::default() };
    let (outcome, _) = run::run(program, limits);
    let Shown(text) = outcome.expect("the program has a value");
    black_box(text)
}

fn line(name: &str, figure: &str, target: &str) {
    println!("  {name:<58}{figure:>14}   {target}");
}

/// Applications per second, and asking compared with running.
pub fn asking_against_running() {
    println!("asking whether a program has its result, against running it");
    let fibonacci =
        "(fix f : int -> int. \\n:int. if n < 2 then n else f (n - 1) + f (n - 2)) 20".to_string();
    let count = "(fix f : int -> int. \\n:int. if n = 0 then 0 else 1 + f (n - 1)) 50000".to_string();
    let programs = [
        ("fibonacci 20", Dialect::SystemF, fibonacci),
        ("50,000 nested calls", Dialect::SystemF, count),
        ("200! by the strict fixed point", Dialect::Lambda, format!("{FACTORIAL} 200")),
    ];
    for (name, dialect, text) in programs {
        let program = program(dialect, &text);
        let result: Int = run(&program).parse().expect("an integer");
        let limits = ask::Limits { fuel: u64::MAX, ..ask::Limits::default() };
        let times = side_by_side(
            || {
                let mut values = Values::default();
                let goal = Goal { value: values.int(result.clone()), store: None };
                let (answer, _) = ask::ask(&program, goal, &mut values, limits);
                assert_eq!(black_box(answer), Answer::Yes);
            },
            || {
                run(&program);
            },
        );
        line(name, &format!("{:.1} times", ratio(times)), "target ≤ 3 times");
    }
    println!();
}

pub fn explaining() {
    println!("explaining an answer, against the answer alone");
    for n in [10, 20, 40] {
        let program = program(Dialect::Lambda, &format!("{FACTORIAL} {n}"));
        let result: Int = run(&program).parse().expect("an integer");
        let limits = ask::Limits::default();
        let times = side_by_side(
            || {
                let mut values = Values::default();
                let goal = Goal { value: values.int(result.clone()), store: None };
                assert!(black_box(explain(&program, goal, &mut values, limits)).1.is_some());
            },
            || {
                let mut values = Values::default();
                let goal = Goal { value: values.int(result.clone()), store: None };
                assert_eq!(black_box(ask::ask(&program, goal, &mut values, limits)).0, Answer::Yes);
            },
        );
        line(
            &format!("{n}!, whose table of M has 2^{n} entries when printed"),
            &format!("{:.1} times", ratio(times)),
            "",
        );
    }
    println!();
}

pub fn listing() {
    println!("values of `\\f. \\x. f (f x)` over 0 and 1");
    let program = program(Dialect::Lambda, "\\f. \\x. f (f x)");
    for size in 5..=8 {
        let mut count = 0;
        let time = alone(|| {
            let mut values = Values::default();
            let mut list =
                Enumeration::new(&program, &[Int::ZERO, Int::ONE], &mut values, ask::Limits::default());
            count = (0..size).map(|_| list.next_size().expect("few values").len()).sum();
        });
        line(
            &format!("size ≤ {size}: {count} values"),
            &format!("{:.3} s", time.as_secs_f64()),
            "target: size 7 in seconds",
        );
    }
    println!();
}
