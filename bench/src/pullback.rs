//! The fast engine of `pullback`: the cost of a gradient, and its growth.

use std::fmt::Write;
use std::hint::black_box;

use eddy_pullback::fast::code::Code;
use eddy_pullback::outcome::{Counters, Limits, Outcome};
use eddy_pullback::syntax::Program;
use eddy_pullback::{fast, typing};
use eddy_syntax::SourceFile;

use crate::clock::{alone, ratio, side_by_side};

/// A checked and compiled program, so that only its execution is timed.
struct Ready {
    program: Program,
    code: Code,
}

impl Ready {
    fn new(text: &str) -> Ready {
        let program = typing::check(&SourceFile::new("bench.pb", text)).expect("the program is valid");
        let code = fast::compile(&program);
        Ready { program, code }
    }

    fn run(&self) -> Counters {
        let limits = Limits { fuel: u64::MAX, ..Limits::default() };
        let (outcome, counters, _) = fast::execute(&self.program, &self.code, limits);
        assert!(matches!(black_box(outcome), Outcome::Value(_)), "the program has a value");
        counters
    }
}

fn line(name: &str, figure: &str, target: &str) {
    println!("  {name:<58}{figure:>12}   {target}");
}

/// A function of size n and a point, as source text.
type Family = fn(usize) -> (String, String);

/// `x1*x2 + x2*x3 + …` of n variables: function and point.
fn products(n: usize) -> (String, String) {
    let names: Vec<String> = (0..n).map(|i| format!("x{i}")).collect();
    let sum: Vec<String> = (1..n).map(|i| format!("x{} * x{i}", i - 1)).collect();
    let function = format!("(\\<{}>:R^{n}. {})", names.join(", "), sum.join(" + "));
    (function, format!("<{}>", vec!["0.5"; n].join(", ")))
}

/// A chain of `let`s with transcendental functions.
fn chain(n: usize) -> (String, String) {
    let mut body = String::new();
    for i in 0..n {
        let _ = write!(body, "let x{} = x{i} + 0.001 * sin x{i} in ", i + 1);
    }
    (format!("(\\x0:R. {body}x{n})"), "0.7".to_string())
}

/// A fold over a Church list of n elements.
fn fold(n: usize) -> (String, String) {
    let list = "(f s ".repeat(n) + "d" + &")".repeat(n);
    let function = format!("(\\s:R. (\\(f : R -> R -> R) (d : R). {list}) (\\x y. y + 0.001 * x * y) 1)");
    (function, "0.7".to_string())
}

pub fn gradients_against_values() {
    println!("gradients: time of the gradient / time of the value                            target ≤ 5");
    let families: [(&str, Family); 3] = [
        ("a sum of products of neighbours, n variables", products),
        ("a chain of lets, n long", chain),
        ("a fold over a Church list of n elements", fold),
    ];
    for (name, family) in families {
        for n in [1_000, 10_000, 50_000] {
            let (function, point) = family(n);
            let value = Ready::new(&format!("{function} {point}"));
            let gradient = Ready::new(&format!("grad {function} at {point}"));
            let figure = ratio(side_by_side(
                || {
                    gradient.run();
                },
                || {
                    value.run();
                },
            ));
            let counters = gradient.run();
            #[allow(clippy::cast_precision_loss)] // a figure for people
            let operations = counters.total_ops as f64 / counters.primal_ops.max(1) as f64;
            line(
                &format!("{name}, n = {n}"),
                &format!("{figure:.1} ×"),
                &format!("{operations:.1} × operations"),
            );
        }
    }
    println!();
}

/// The growth of the time of a gradient when n doubles. The time per variable is shown too: it is nearly
/// constant, except for one step of about 1.5. The allocator causes this step: it returns a tape of more than
/// 32 MiB to the system after each run, so every page is new in the next run.
/// `MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=2147483648` removes the step. If other work on
/// the machine fills the caches, the step occurs at a smaller n.
pub fn growth() {
    println!("growth: time of the gradient for 2n / for n                                   target ≤ 2.5");
    for n in [5_000, 10_000, 20_000, 40_000, 80_000] {
        let ready = |n: usize| {
            let (function, point) = products(n);
            Ready::new(&format!("grad {function} at {point}"))
        };
        let (small, large) = (ready(n), ready(2 * n));
        let times = side_by_side(
            || {
                large.run();
            },
            || {
                small.run();
            },
        );
        #[allow(clippy::cast_precision_loss)] // a figure for people
        let each = times.1.as_secs_f64() * 1e9 / n as f64;
        line(
            &format!("a sum of products, n = {n}"),
            &format!("{:.1} ×", ratio(times)),
            &format!("{each:.0} ns a variable"),
        );
    }
    println!();
}

pub fn nested_derivatives() {
    println!("nested pullbacks of x^9 exp x                                        × the order before");
    let tower = |order: usize| {
        let derivative = "def d (f : R -> R) = \\y. sharp (((Ω f) · Ω [1]) y);\n";
        let text = format!("{derivative}{}(\\x. x^9 * exp x){} 0.5", "d (".repeat(order), ")".repeat(order));
        Ready::new(&text)
    };
    let mut before = tower(0);
    for order in 1..=6 {
        let ready = tower(order);
        let operations = ready.run().total_ops;
        let times = side_by_side(
            || {
                ready.run();
            },
            || {
                before.run();
            },
        );
        let time = format!("{:.1} µs", times.0.as_secs_f64() * 1e6);
        line(&format!("order {order}, {operations} operations"), &format!("{:.1} ×", ratio(times)), &time);
        before = ready;
    }
    println!();
}

pub fn reading() {
    println!("reading and checking");
    let mut text = String::new();
    for i in 0..50_000 {
        let _ = writeln!(text, "let x{i} = 1.5 * {i} - ({i} + 2) in");
    }
    let file = SourceFile::new("bench.pb", text + "1");
    let time = alone(|| drop(black_box(typing::check(&file))));
    #[allow(clippy::cast_precision_loss)] // a figure for people
    let rate = file.text().len() as f64 / time.as_secs_f64() / 1e6;
    line("a chain of 50000 lets", &format!("{rate:.0} MB/s"), "");
}
