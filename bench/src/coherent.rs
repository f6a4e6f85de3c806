//! The environment machine of `coherent`: steps per second, and the cost of derivatives.

use std::hint::black_box;

use eddy_coherent::environment::code::Code;
use eddy_coherent::environment::{self, Report};
use eddy_coherent::outcome::{Limits, Outcome};
use eddy_coherent::typing;
use eddy_syntax::SourceFile;

use crate::clock::alone;

const ACKERMANN: &str = "def ack = fix \\a:nat -> nat -> nat. \\(m n:nat). let x = m in let y = n in \
     if x then succ y else if y then a (pred x) 1 else a (pred x) (a x (pred y));";
const FIBONACCI: &str = "def add = fix \\a:nat -> nat -> nat. \\(x y:nat). let u = x in if u then y else succ (a (pred u) y);\n\
     def fib = fix \\f:nat -> nat. \\n:nat. let x = n in if x then 0 else if pred x then 1 else add (f (pred x)) (f (pred (pred x)));";
const WALK: &str = "def M : (nat -> nat) -> nat -> nat = fix \\F:(nat -> nat) -> nat -> nat. \\f:nat -> nat. \\x:nat. \
     let y = x in if y then 0 else succ (F f (<f> y));\ndef dec = \\x:nat. pred x;";

/// A checked and compiled program, so that only its execution is timed.
struct Ready(Code);

impl Ready {
    fn new(text: &str) -> Ready {
        let program = typing::check(&SourceFile::new("bench.cd", text)).expect("the program is valid");
        Ready(environment::compile(&program, u64::MAX).expect("a small program"))
    }

    fn run(&self) -> Report {
        let report = environment::run(&self.0, &[], Limits { fuel: u64::MAX, ..Limits::default() });
        assert!(
            !matches!(black_box(report.outcome), Outcome::Exhausted(_)),
            "the program ends within its limits"
        );
        report
    }
}

fn line(name: &str, figure: &str, target: &str) {
    println!("  {name:<58}{figure:>14}   {target}");
}

/// Steps per second, on one core.
pub fn steps() {
    println!("steps a second of the environment machine");
    let calls = "\\f:nat -> nat. (fix \\s:nat -> nat. \\n:nat. let k = n in if k then f 0 else let r = s (pred k) in f r) 40";
    let marked = "\\x:nat. let y = x in if pred (pred (pred y)) then inj0 (succ y) else inj0 (pred y)";
    let programs = [
        ("ackermann 3 7", format!("{ACKERMANN} ack 3 7"), 10),
        ("fibonacci 20", format!("{FIBONACCI} fib 20"), 10),
        ("a loop of a million turns", format!("{LOOP} loop 1000000"), 10),
        ("the derivative of the walk from 400", walk(400), 3),
        ("a first derivative of 40 nested calls", format!("pi0 (D ({calls}) ({marked}))"), 3),
        (
            "a second derivative of 40 nested calls",
            format!("pi0 (pi0 (D^2 ({calls}) (\\x:nat. inj0 (({marked}) x))))"),
            3,
        ),
        ("500 recursive derivatives of derivatives", format!("{OWN} P 500"), 3),
    ];
    for (name, text, target) in programs {
        let ready = Ready::new(&text);
        let steps = ready.run().steps;
        let time = alone(|| {
            ready.run();
        });
        #[allow(clippy::cast_precision_loss)] // a figure for people
        let rate = steps as f64 / time.as_secs_f64() / 1e6;
        line(name, &format!("{rate:.0} million"), &format!("target ≥ {target} million; {steps} steps"));
    }
    println!();
}

const LOOP: &str = "def loop = fix \\f:nat -> nat. \\n:nat. let x = n in if x then 7 else f (pred x);";
const OWN: &str =
    "def P : nat -> nat = fix \\f:nat -> nat. \\x:nat. if x then 5 else pi0 (D f) (inj0 (pred x));";

/// The derivative of the walk from n; only its first step is marked.
fn walk(n: usize) -> String {
    let test = "pred ".repeat(n - 1);
    format!("{WALK}\ndef T = \\x:nat. if {test} x then 0 else 1;\nderiv M <dec, dec>^T {n}")
}

/// The derivative of the walk, including parsing, checking and compiling.
pub fn the_walk() {
    println!("the derivative of the walk from n, text to value");
    for n in [50, 200, 800] {
        let text = walk(n);
        let time = alone(|| {
            Ready::new(&text).run();
        });
        let target = if n == 200 { "target < 100 ms" } else { "" };
        line(&format!("n = {n}"), &format!("{:.2} ms", time.as_secs_f64() * 1e3), target);
    }
    println!();
}
