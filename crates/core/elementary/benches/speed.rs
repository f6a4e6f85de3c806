//! Nanoseconds for each element of an array, in Rust and C, compared with the platform's functions.
//!
//! `cargo bench -p eddy-elementary` prints a row for each function; the crate's documentation has its output.
//! The columns are: C in a loop, C in a loop with the platform's library, Rust, Rust with the standard
//! library. C is compiled with `cc -O3 -march=native`, Rust like this crate (without AVX).

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark compiles C and measures time"
)]

use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use eddy_elementary::{Width, c_source, double, single};

const N: usize = 1024;
const ROUNDS: usize = 60;
const REPEATS: usize = 20;

/// A loop over arguments and results.
type Loop<F> = fn(&[F], &mut [F]);

/// A function, its names in C (ours and the platform's), and the range of its arguments.
struct Row<F> {
    ours: &'static str,
    platform: &'static str,
    range: (f32, f32),
    rust: Loop<F>,
    standard: Loop<F>,
}

const DOUBLE: &[Row<f64>] = &[
    Row {
        ours: "exp",
        platform: "exp(x)",
        range: (-20.0, 20.0),
        rust: |xs, ys| each(xs, ys, double::exp),
        standard: |xs, ys| each(xs, ys, f64::exp),
    },
    Row {
        ours: "log",
        platform: "log(x)",
        range: (0.01, 100.0),
        rust: |xs, ys| each(xs, ys, double::log),
        standard: |xs, ys| each(xs, ys, f64::ln),
    },
    Row {
        ours: "tanh",
        platform: "tanh(x)",
        range: (-5.0, 5.0),
        rust: |xs, ys| each(xs, ys, double::tanh),
        standard: |xs, ys| each(xs, ys, f64::tanh),
    },
    Row {
        ours: "sigmoid",
        platform: "1.0 / (1.0 + exp(-x))",
        range: (-20.0, 20.0),
        rust: |xs, ys| each(xs, ys, double::sigmoid),
        standard: |xs, ys| each(xs, ys, |x| 1.0 / (1.0 + (-x).exp())),
    },
    Row {
        ours: "sin_near",
        platform: "sin(x)",
        range: (-10.0, 10.0),
        rust: |xs, ys| each(xs, ys, double::sin),
        standard: |xs, ys| each(xs, ys, f64::sin),
    },
    Row {
        ours: "cos_near",
        platform: "cos(x)",
        range: (-10.0, 10.0),
        rust: |xs, ys| each(xs, ys, double::cos),
        standard: |xs, ys| each(xs, ys, f64::cos),
    },
    Row {
        ours: "sin",
        platform: "sin(x)",
        range: (-10.0, 10.0),
        rust: |xs, ys| each(xs, ys, double::sin),
        standard: |xs, ys| each(xs, ys, f64::sin),
    },
    Row {
        ours: "sin",
        platform: "sin(x)",
        range: (1e9, 1e10),
        rust: |xs, ys| each(xs, ys, double::sin),
        standard: |xs, ys| each(xs, ys, f64::sin),
    },
    Row {
        ours: "pow",
        platform: "pow(x, 1.7)",
        range: (0.01, 100.0),
        rust: |xs, ys| each(xs, ys, |x| double::pow(x, 1.7)),
        standard: |xs, ys| each(xs, ys, |x| x.powf(1.7)),
    },
];

const SINGLE: &[Row<f32>] = &[
    Row {
        ours: "exp",
        platform: "expf(x)",
        range: (-20.0, 20.0),
        rust: |xs, ys| each(xs, ys, single::exp),
        standard: |xs, ys| each(xs, ys, f32::exp),
    },
    Row {
        ours: "log",
        platform: "logf(x)",
        range: (0.01, 100.0),
        rust: |xs, ys| each(xs, ys, single::log),
        standard: |xs, ys| each(xs, ys, f32::ln),
    },
    Row {
        ours: "tanh",
        platform: "tanhf(x)",
        range: (-5.0, 5.0),
        rust: |xs, ys| each(xs, ys, single::tanh),
        standard: |xs, ys| each(xs, ys, f32::tanh),
    },
    Row {
        ours: "sigmoid",
        platform: "1.0f / (1.0f + expf(-x))",
        range: (-20.0, 20.0),
        rust: |xs, ys| each(xs, ys, single::sigmoid),
        standard: |xs, ys| each(xs, ys, |x| 1.0 / (1.0 + (-x).exp())),
    },
    Row {
        ours: "sin_near",
        platform: "sinf(x)",
        range: (-10.0, 10.0),
        rust: |xs, ys| each(xs, ys, single::sin),
        standard: |xs, ys| each(xs, ys, f32::sin),
    },
    Row {
        ours: "cos_near",
        platform: "cosf(x)",
        range: (-10.0, 10.0),
        rust: |xs, ys| each(xs, ys, single::cos),
        standard: |xs, ys| each(xs, ys, f32::cos),
    },
    Row {
        ours: "sin",
        platform: "sinf(x)",
        range: (-10.0, 10.0),
        rust: |xs, ys| each(xs, ys, single::sin),
        standard: |xs, ys| each(xs, ys, f32::sin),
    },
    Row {
        ours: "sin",
        platform: "sinf(x)",
        range: (1e9, 1e10),
        rust: |xs, ys| each(xs, ys, single::sin),
        standard: |xs, ys| each(xs, ys, f32::sin),
    },
    Row {
        ours: "pow",
        platform: "powf(x, 1.7f)",
        range: (0.01, 100.0),
        rust: |xs, ys| each(xs, ys, |x| single::pow(x, 1.7)),
        standard: |xs, ys| each(xs, ys, |x| x.powf(1.7)),
    },
];

fn main() {
    let in_c = measure_in_c();
    let in_c: Vec<&str> = in_c.lines().collect();
    say(&format!("{:<32}{:>9}{:>9}{:>9}{:>9}", "ns per element", "C", "C libm", "Rust", "std"));
    let (double, single) = in_c.split_at(DOUBLE.len().min(in_c.len()));
    report("", DOUBLE, double, f64::from);
    report("f", SINGLE, single, |x| x);
}

fn report<F: Copy>(suffix: &str, rows: &[Row<F>], in_c: &[&str], number: fn(f32) -> F) {
    for (index, row) in rows.iter().enumerate() {
        let xs: Vec<F> = (0..N).map(|i| number(argument(row.range, i))).collect();
        let name = format!("{}{suffix}, {:e} to {:e}", row.ours, row.range.0, row.range.1);
        let in_c = in_c.get(index).copied().unwrap_or("        -        -");
        say(&format!("{name:<32}{in_c}{:>9.2}{:>9.2}", time(&xs, row.rust), time(&xs, row.standard)));
    }
}

/// Generic, so that `function` is inlined into the loop.
fn each<F: Copy>(xs: &[F], ys: &mut [F], function: impl Fn(F) -> F) {
    for (y, x) in ys.iter_mut().zip(xs) {
        *y = function(*x);
    }
}

/// Spread over a range, in an order that branch prediction cannot learn.
#[allow(clippy::cast_precision_loss)] // there are 1024 of them
fn argument(range: (f32, f32), i: usize) -> f32 {
    range.0 + (range.1 - range.0) * ((i * 389 % N) as f32 / N as f32)
}

#[allow(clippy::cast_precision_loss)]
fn time<F: Copy>(xs: &[F], function: Loop<F>) -> f64 {
    let mut ys = xs.to_vec();
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..REPEATS {
            function(black_box(xs), &mut ys);
            black_box(&mut ys);
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e9 / (REPEATS * N) as f64
}

/// A line with two numbers for each row; empty without a compiler.
fn measure_in_c() -> String {
    let folder = std::env::temp_dir().join(format!("eddy-elementary-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the benchmark");
    std::fs::write(folder.join("speed.c"), program()).expect("the benchmark can be written");
    let output = build_and_run(&folder);
    std::fs::remove_dir_all(&folder).expect("what was written can be removed");
    output
}

fn build_and_run(folder: &Path) -> String {
    let flags =
        ["-std=c99", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"];
    let built =
        Command::new("cc").args(flags).args(["speed.c", "-o", "speed", "-lm"]).current_dir(folder).status();
    if !built.is_ok_and(|status| status.success()) {
        say("there is no C compiler, so there are no numbers for C");
        return String::new();
    }
    let output = Command::new(folder.join("speed")).output().expect("what was built runs");
    String::from_utf8(output.stdout).expect("numbers are ASCII")
}

fn program() -> String {
    let mut text = String::from(
        "#define _POSIX_C_SOURCE 199309L\n#include <math.h>\n#include <stdio.h>\n#include <time.h>\n",
    );
    text += &c_source(Width::Double);
    text += &c_source(Width::Single);
    let mut calls = String::new();
    write_rows(&mut text, &mut calls, DOUBLE, "double", "");
    write_rows(&mut text, &mut calls, SINGLE, "float", "f");
    writeln!(text, "int main(void) {{\n{calls}    return 0;\n}}").expect("strings grow");
    text
}

fn write_rows<F>(text: &mut String, calls: &mut String, rows: &[Row<F>], ty: &str, suffix: &str) {
    for (index, row) in rows.iter().enumerate() {
        let argument = if row.ours == "pow" { format!("x, ({ty})1.7") } else { "x".to_owned() };
        let ours = format!("eddy_{}{suffix}({argument})", row.ours);
        let (from, to) = row.range;
        writeln!(calls, "    printf(\"%9.2f%9.2f\\n\", ours_{index}{suffix}(), platform_{index}{suffix}());")
            .expect("strings grow");
        for (who, call) in [("ours", ours.as_str()), ("platform", row.platform)] {
            writeln!(
                text,
                "static double {who}_{index}{suffix}(void) {{
    static {ty} xs[{N}], ys[{N}];
    for (int i = 0; i < {N}; i++) xs[i] = ({ty})({from:e} + ({to:e} - {from:e}) * ((i * 389 % {N}) / {N}.0));
    double best = 1e300;
    for (int round = 0; round < {ROUNDS}; round++) {{
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (int repeat = 0; repeat < {REPEATS}; repeat++) {{
            for (int i = 0; i < {N}; i++) {{ const {ty} x = xs[i]; ys[i] = {call}; }}
            __asm__ volatile(\"\" : : \"g\"(ys), \"g\"(xs) : \"memory\");
        }}
        clock_gettime(CLOCK_MONOTONIC, &end);
        const double t = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
        if (t < best) best = t;
    }}
    return best / ({REPEATS}.0 * {N}.0);
}}"
            )
            .expect("strings grow");
        }
    }
}

#[expect(clippy::print_stdout, reason = "a benchmark prints how long it took")]
fn say(line: &str) {
    println!("{line}");
}
