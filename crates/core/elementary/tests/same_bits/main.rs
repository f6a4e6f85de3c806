//! C and Rust agree bit by bit for all compiler flags, and C compilers vectorise loops over the functions.
//!
//! A C program reads numbers and writes the results of all functions; the test computes them in Rust and
//! compares. The numbers are edge cases, random bits, and a few of every exponent.

mod compiler;
#[path = "../random/mod.rs"]
mod random;

use compiler::ScratchFolder;
use eddy_elementary::{Width, c_source, double, single};
use random::Random;

/// Optimised or not, for any machine or for this one, and with checks for undefined behaviour.
const WAYS_TO_COMPILE: &[&[&str]] = &[
    &["-O0"],
    &["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    &["-O3", "-ffp-contract=off"],
    &["-O3", "-march=native", "-ffp-contract=off"],
    &["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"],
];

/// The functions that the program calls, in this order; `pow` takes a number and its predecessor.
const CALLS: &[&str] = &[
    "exp",
    "log",
    "tanh",
    "sigmoid",
    "sin",
    "cos",
    "near sin_near",
    "near cos_near",
    "pow",
    "lgamma",
    "digamma",
];

/// The number of numbers in a block.
const BLOCK: usize = 256;

/// A C program with a loop for each function over a block; it reads and answers blocks until the end of its
/// input.
fn program(width: Width) -> String {
    let (ty, suffix) = match width {
        Width::Double => ("double", ""),
        Width::Single => ("float", "f"),
    };
    let mut lines = vec![
        c_source(width),
        "#include <stdio.h>".to_owned(),
        "int main(void) {".to_owned(),
        format!("    static {ty} x[{BLOCK}], y[{BLOCK}];"),
        "    while (fread(x, sizeof x, 1, stdin) == 1) {".to_owned(),
    ];
    for call in CALLS {
        let result = match call.split_once(' ') {
            Some((_, name)) => format!("eddy_is_near{suffix}(x[i]) ? eddy_{name}{suffix}(x[i]) : 0"),
            None if *call == "pow" => format!("eddy_pow{suffix}(x[i], x[(i + {}) % {BLOCK}])", BLOCK - 1),
            None => format!("eddy_{call}{suffix}(x[i])"),
        };
        lines.push(format!("        for (int i = 0; i < {BLOCK}; i++) y[i] = {result};"));
        lines.push("        fwrite(y, sizeof y, 1, stdout);".to_owned());
    }
    lines.push("    }\n    return 0;\n}\n".to_owned());
    lines.join("\n")
}

/// The expected output for a block, function by function.
macro_rules! answers {
    ($width:ident, $block:expr) => {{
        use $width::*;
        let block = $block;
        let before = |i: usize| block[(i + BLOCK - 1) % BLOCK];
        let mut answers = Vec::new();
        for call in CALLS {
            answers.extend(block.iter().enumerate().map(|(i, &x)| match *call {
                "exp" => exp(x),
                "log" => log(x),
                "tanh" => tanh(x),
                "lgamma" => lgamma(x),
                "digamma" => digamma(x),
                "sigmoid" => sigmoid(x),
                "sin" => sin(x),
                "cos" => cos(x),
                "near sin_near" => {
                    if is_near(x) {
                        sin_near(x)
                    } else {
                        0.0
                    }
                }
                "near cos_near" => {
                    if is_near(x) {
                        cos_near(x)
                    } else {
                        0.0
                    }
                }
                _ => pow(x, before(i)),
            }));
        }
        answers
    }};
}

/// Compiles with all flags, and compares.
macro_rules! check {
    ($name:literal, $module:ident, $width:expr, $float:ty, $numbers:expr) => {{
        if compiler::version().is_none() {
            return;
        }
        let mut numbers: Vec<$float> = $numbers;
        numbers.resize(numbers.len().next_multiple_of(BLOCK), 0.5);
        let input: Vec<u8> = numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let expected: Vec<$float> =
            numbers.chunks_exact(BLOCK).flat_map(|block| answers!($module, block)).collect();
        let scratch = ScratchFolder::new($name);
        for flags in WAYS_TO_COMPILE {
            scratch.compile(&program($width), flags);
            let output = scratch.run(input.clone());
            let (found, rest) = output.as_chunks::<{ size_of::<$float>() }>();
            assert_eq!((found.len(), rest.len()), (expected.len(), 0), "{flags:?}");
            for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let (found, block) = (<$float>::from_ne_bytes(*found), place / (CALLS.len() * BLOCK));
                let x = numbers[block * BLOCK + place % BLOCK];
                let call = CALLS[place / BLOCK % CALLS.len()];
                let is_same = found.to_bits() == expected.to_bits();
                assert!(is_same, "{flags:?}: {call} of {x:e} is {found:e} in C and {expected:e} in Rust");
            }
        }
    }};
}

#[test]
fn double_precision() {
    check!("double", double, Width::Double, f64, doubles());
}

#[test]
fn single_precision() {
    check!("single", single, Width::Single, f32, singles());
}

fn doubles() -> Vec<f64> {
    let edges = [
        0.0,
        5e-324,
        f64::MIN_POSITIVE,
        1e-20,
        0.5,
        1.0,
        1.5,
        2.0,
        3.0,
        19.06,
        20.0,
        708.4,
        709.782_712_893_384,
        745.13,
        746.0,
        1_048_576.0,
        4_503_599_627_370_497.0,
        9_007_199_254_740_993.0,
        1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
    ];
    let mut random = Random(5);
    let mut numbers: Vec<f64> = edges.into_iter().flat_map(neighbours).collect();
    numbers.extend((0..20_000).map(|_| f64::from_bits(random.bits())));
    numbers.extend((0..20_000).map(|_| random.between(1e-3, 1e3) * if random.flip() { 1.0 } else { -1.0 }));
    for exponent in 0..0x800 {
        numbers.extend((0..4).map(|_| f64::from_bits(random.bits() & !(0x7FF << 52) | exponent << 52)));
    }
    numbers
}

/// A number, its neighbours, and their negations.
fn neighbours(x: f64) -> [f64; 6] {
    [x, -x, x.next_up(), -x.next_up(), x.next_down(), -x.next_down()]
}

#[allow(clippy::cast_possible_truncation)] // floats are what we want
fn singles() -> Vec<f32> {
    let mut random = Random(6);
    let narrow = |x: f64| [x as f32, (x as f32).next_up(), (x as f32).next_down()];
    let mut numbers: Vec<f32> = doubles().into_iter().flat_map(narrow).collect();
    numbers.extend((0..20_000).map(|_| f32::from_bits(random.bits() as u32)));
    for exponent in 0..0x100 {
        numbers.extend((0..4).map(|_| f32::from_bits(random.bits() as u32 & !(0xFF << 23) | exponent << 23)));
    }
    numbers
}

#[test]
fn both_widths_fit_into_one_file() {
    if compiler::version().is_none() {
        return;
    }
    let (double, single) = (c_source(Width::Double), c_source(Width::Single));
    let main = "int main(void) {\n    return 0;\n}\n";
    let scratch = ScratchFolder::new("both");
    scratch.compile(&format!("{double}{single}{double}{main}"), &["-O0"]);
    scratch.compile(&format!("{single}{double}{main}"), &["-O3"]);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn loops_are_vectorised() {
    let functions = ["exp", "log", "tanh", "sigmoid", "sin_near", "cos_near", "pow", "lgamma", "digamma"];
    if !compiler::version().is_some_and(|version| version.contains("Free Software Foundation")) {
        return;
    }
    let scratch = ScratchFolder::new("vectorised");
    for (width, ty, suffix) in [(Width::Double, "double", ""), (Width::Single, "float", "f")] {
        let mut lines: Vec<String> = c_source(width).lines().map(str::to_owned).collect();
        let mut loops = Vec::new();
        for name in functions {
            let second = if name == "pow" { ", y[i]" } else { "" };
            let head = format!("void loop_{name}(const {ty} *restrict x, {ty} *restrict y)");
            lines.extend([format!("{head};"), format!("{head} {{")]);
            lines.push(format!(
                "    for (int i = 0; i < 1024; i++) y[i] = eddy_{name}{suffix}(x[i]{second});"
            ));
            loops.push((name, lines.len()));
            lines.push("}".to_owned());
        }
        lines.push("int main(void) { return 0; }\n".to_owned());
        let flags = ["-O3", "-march=native", "-ffp-contract=off", "-fopt-info-vec-optimized"];
        let messages = scratch.compile(&lines.join("\n"), &flags);
        for (name, line) in loops {
            let is_vectorised = messages.contains(&format!("program.c:{line}:"));
            assert!(is_vectorised, "eddy_{name}{suffix} at line {line}: {messages}");
        }
    }
}
