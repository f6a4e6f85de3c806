//! The tape engine of `rd`, compared with plain Rust and with itself.

use std::fmt::Write;
use std::hint::black_box;

use eddy_rd::outcome::{Counters, Limits, Outcome, Ties};
use eddy_rd::syntax::Program;
use eddy_rd::tape::code::Code;
use eddy_rd::{tape, typing};
use eddy_syntax::SourceFile;

use crate::clock::{alone, ratio, side_by_side};

const N_ITERATIONS: u32 = 1_000_000;

/// A checked and compiled program, so that only its execution is timed.
struct Ready {
    program: Program,
    code: Code,
}

impl Ready {
    fn new(text: &str) -> Ready {
        let program = typing::check(&SourceFile::new("bench.rd", text)).expect("the program is valid");
        let code = tape::compile(&program, None);
        Ready { program, code }
    }

    fn run(&self) -> Counters {
        let limits = Limits { fuel: u64::MAX, ..Limits::default() };
        let (outcome, counters) =
            tape::execute(&self.program, &self.code, limits, &mut Ties::default(), None);
        assert!(matches!(black_box(outcome), Outcome::Value(_)), "the program has a value");
        counters
    }
}

fn line(name: &str, figure: &str, target: &str) {
    println!("  {name:<58}{figure:>12}   {target}");
}

/// Arithmetic loops on reals, compared with the same loops in Rust.
pub fn loops_against_rust() {
    println!("scalar loops: time of `eddy` / time of the same arithmetic in Rust            target ≤ 30");
    let affine = Ready::new(&format!(
        "letrec f(n:real, x:real):real = if n < 0.5 then x else f(n - 1, x * 0.9999999 + 0.1) in f({N_ITERATIONS}, 2)"
    ));
    let plain_affine = || {
        let (mut n, mut x) = (black_box(f64::from(N_ITERATIONS)), black_box(2.0));
        while n >= 0.5 {
            x = x * 0.999_999_9 + 0.1;
            n -= 1.0;
        }
        black_box(x);
    };
    line(
        "x := x * a + b",
        &times(ratio(side_by_side(
            || {
                affine.run();
            },
            plain_affine,
        ))),
        "",
    );

    let polynomial = Ready::new(&format!(
        "letrec f(n:real, x:real, s:real):real = if n < 0.5 then s else \
         let y = (((x * 0.5 + 0.25) * x - 0.125) * x + 0.0625) / (1 + x * x) in f(n - 1, y, s + y) in f({N_ITERATIONS}, 0.7, 0)"
    ));
    let plain_polynomial = || {
        let (mut n, mut x, mut s) = (black_box(f64::from(N_ITERATIONS)), black_box(0.7), black_box(0.0));
        while n >= 0.5 {
            let y = (((x * 0.5 + 0.25) * x - 0.125) * x + 0.0625) / (1.0 + x * x);
            (n, x, s) = (n - 1.0, y, s + y);
        }
        black_box(s);
    };
    line(
        "a rational function, iterated",
        &times(ratio(side_by_side(
            || {
                polynomial.run();
            },
            plain_polynomial,
        ))),
        "",
    );

    let waves = Ready::new(&format!(
        "letrec f(n:real, x:real):real = if n < 0.5 then x else f(n - 1, sin(x) + exp(-x)) in f({N_ITERATIONS}, 0.7)"
    ));
    let plain_waves = || {
        let (mut n, mut x) = (black_box(f64::from(N_ITERATIONS)), black_box(0.7_f64));
        while n >= 0.5 {
            x = x.sin() + (-x).exp();
            n -= 1.0;
        }
        black_box(x);
    };
    line(
        "x := sin x + exp(-x)",
        &times(ratio(side_by_side(
            || {
                waves.run();
            },
            plain_waves,
        ))),
        "",
    );
    println!();
}

pub fn gradients_against_values() {
    println!("gradients: time of the gradient / time of the value                            target ≤ 4");
    let programs = [
        ("a loop, x := x * a + b", "f(n - 1, x * 0.9999999 + 0.1)", "x"),
        ("a loop with transcendental functions", "f(n - 1, tanh(x) + exp(-x) * sin(x))", "x"),
        ("recursion that is not a loop", "0.9999999 * f(n - 1, x) + 0.1", "x"),
        ("a loop with a division and a square root", "f(n - 1, sqrt(x * x + 1) / (1 + 0.5 * x))", "x"),
    ];
    for (name, step, end) in programs {
        let definition = format!("letrec f(n:real, x:real):real = if n < 0.5 then {end} else {step} in");
        let value = Ready::new(&format!("{definition} f(100000, 0.7)"));
        let gradient = Ready::new(&format!("{definition} grad[0.7](x. f(100000, x))"));
        let figure = ratio(side_by_side(
            || {
                gradient.run();
            },
            || {
                value.run();
            },
        ));
        line(name, &times(figure), "");
    }
    println!();
}

pub fn deep_recursion() {
    println!("a million nested calls, and their gradient");
    let ready = Ready::new(
        "letrec f(n:real, x:real):real = if n < 0.5 then x else 1.0000001 * f(n - 1, x) in grad[2](x. f(1000000, x))",
    );
    let counters = ready.run();
    let time = alone(|| {
        ready.run();
    });
    #[allow(clippy::cast_precision_loss)] // a figure for people
    let (mebibytes, each) =
        (counters.bytes as f64 / f64::from(1 << 20), counters.bytes as f64 / counters.recorded as f64);
    line("stack and tape", &format!("{mebibytes:.0} MiB"), "target ≤ 1024 MiB");
    line("of these, for each recorded operation", &format!("{each:.0} bytes"), "");
    line("time", &format!("{:.0} ms", time.as_secs_f64() * 1e3), "");
    println!();
}

pub fn nested_derivatives() {
    println!("nested derivatives of exp");
    let tower = |order: usize| {
        let mut text = "exp(x0)".to_string();
        for level in 0..order {
            let point = if level + 1 == order { "0.5".to_string() } else { format!("x{}", level + 1) };
            text = format!("grad[{point}](x{level}. {text})");
        }
        Ready::new(&text)
    };
    for order in [1, 5, 10, 20] {
        let ready = tower(order);
        let recorded = ready.run().recorded;
        let time = alone(|| {
            ready.run();
        });
        let target = if order == 20 { "target: it ends" } else { "" };
        let figure = format!("{:.1} µs", time.as_secs_f64() * 1e6);
        line(&format!("order {order}, {recorded} operations recorded"), &figure, target);
    }
    println!();
}

pub fn reading() {
    println!("reading and checking");
    let mut text = String::new();
    for i in 0..50_000 {
        let _ = writeln!(text, "let x{i} = 1.5 * {i} - ({i} + 2) in");
    }
    let file = SourceFile::new("bench.rd", text + "1");
    let time = alone(|| drop(black_box(typing::check(&file))));
    #[allow(clippy::cast_precision_loss)] // a figure for people
    let rate = file.text().len() as f64 / time.as_secs_f64() / 1e6;
    line("a chain of 50000 lets", &format!("{rate:.0} MB/s"), "");
}

fn times(ratio: f64) -> String {
    format!("{ratio:.1} ×")
}
