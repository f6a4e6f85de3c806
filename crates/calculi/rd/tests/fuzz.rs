//! No input may crash the tool: arbitrary bytes, random tokens, and programs with mistakes in them.
//!
//! For every input, reading, formatting and checking return an answer. An accepted program runs on every
//! engine and prints one line that fits its outcome. All engines agree on the kind of outcome.
//!
//! `cargo test` tries inputs from a fixed seed, as many as fit in a few seconds. To try more:
//!
//! ```text
//! EDDY_CASES=100 cargo test -p eddy-rd --test fuzz  the same, a hundred times as many
//! BOLERO_RANDOM_ITERATIONS=1000000 cargo test -p eddy-rd --test fuzz bolero  other inputs each time
//! cargo bolero test -p eddy-rd --test fuzz bolero_tokens  guided by coverage
//! ```
//!
//! The last one needs `cargo install cargo-bolero` and runs until it is stopped. Its findings are in
//! `tests/__fuzz__`, and bolero tries them again on every run.

#[allow(dead_code, unused_imports)] // the laws use more of it
#[path = "laws/generate/mod.rs"]
mod generate;

use eddy_rd::engine::Engine;
use eddy_rd::format::format;
use eddy_rd::outcome::{Limits, Outcome};
use eddy_rd::parse::LEXICON;
use eddy_rd::requests::{Check, Run};
use eddy_syntax::SourceFile;
use eddy_tests::fuzz::{half_printable, is_accepted, misspell, numbers, random_tokens, try_random, words};

use generate::Generator;

/// Calls, and bytes, that a program may use.
const LIMITS: Limits = Limits { fuel: 200, memory: 64 << 20 };

/// Checks everything that must hold for one input.
fn survives(bytes: &[u8]) {
    let file = SourceFile::from_bytes("fuzz.rd", bytes.to_vec());
    if is_accepted(&file, &LEXICON, format, &Check.answer(&file)) {
        runs(&file);
    }
}

/// The part of an outcome on which all engines agree.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Value,
    Undefined,
    OutOfFuel,
}

/// Every engine gives one line, and all the same kind of outcome. Runs that exhaust the memory or overflow
/// are not compared: engines need different amounts of memory, and add sums in different orders.
fn runs(file: &SourceFile) {
    let ends: Vec<(Engine, Kind, String)> =
        Engine::ALL.into_iter().filter_map(|engine| run_by(engine, file)).collect();
    assert!(ends.len() >= 2, "at most one engine may refuse an accepted program");
    if ends.iter().any(|(_, _, line)| line.contains("overflow") || line.contains("out of memory")) {
        return;
    }
    assert!(ends.iter().all(|(_, kind, _)| *kind == ends[0].1), "engines differ: {ends:?}");
}

/// How an engine ends, and the line that it prints; `None` if it cannot handle the program.
fn run_by(engine: Engine, file: &SourceFile) -> Option<(Engine, Kind, String)> {
    let report = match (Run { engine, limits: LIMITS, approximant: None }).answer(file) {
        Ok(report) => report,
        Err(diagnostics) => {
            let codes: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic.code.name()).collect();
            assert_eq!((engine, &codes[..]), (Engine::Transform, &["RD014"][..]), "the checker accepted it");
            return None;
        }
    };
    let line = report.to_string();
    assert!(!line.contains('\n') && !line.is_empty(), "one line: {line:?}");
    let (kind, begins) = match report.outcome {
        Outcome::Value(_) | Outcome::Interval(..) => (Kind::Value, ""),
        Outcome::Undefined(_) => (Kind::Undefined, "undefined: "),
        Outcome::Diverged | Outcome::OutOfMemory => (Kind::OutOfFuel, "diverged: "),
    };
    let has_value = !line.starts_with("undefined: ") && !line.starts_with("diverged: ");
    assert!(line.starts_with(begins) && has_value == (kind == Kind::Value), "{engine:?}: {line}");
    Some((engine, kind, line))
}

/// Pieces of programs: tokens, and some longer ones that are hard to hit by chance.
const PIECES: [&str; 96] = [
    "x",
    "y",
    "f",
    "1",
    "0",
    "2.5",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ",",
    ":",
    ".",
    "=",
    "+",
    "-",
    "*",
    "/",
    "^",
    "in",
    "let ",
    "letrec ",
    "if ",
    "then ",
    "else ",
    "real",
    "unit",
    "fst",
    "snd",
    "rd",
    "fd",
    "grad",
    "true",
    "false",
    "not ",
    "const ",
    "use ",
    "clarke ",
    "zero",
    "&&",
    "||",
    "<=",
    ">=",
    "==",
    "!=",
    "≤",
    "⟨",
    "⟩",
    "×",
    "·",
    "∧",
    "∨",
    "¬",
    "ℝ",
    "(*",
    "*)",
    "--",
    "\n",
    " ",
    "_r",
    "1e5",
    "1e999",
    "^2",
    "^-1",
    "1e-320",
    "sin",
    "log",
    "mul",
    "dot",
    "scale",
    "powi",
    "relu",
    "max",
    "log_r",
    "x + 1",
    "(x, y)",
    "let x = 1 in ",
    "let (x, y) = (1, 2) in ",
    "x < 1",
    "if x < 1 then ",
    " else ",
    "let f(x:real):real = ",
    "letrec f(x:real):real = ",
    "f(x - 1)",
    "f(1)",
    "letrec[2] f(x:real):real = ",
    "grad[x](y. ",
    "1.rd[2](x. ",
    "1.fd[2](x:real. ",
    ".rd[x](f)",
    "zero[real * unit]",
    "real^2",
    "use clarke ",
    " in ",
];

fn random_pieces(bytes: &[u8]) -> Vec<u8> {
    random_tokens(&PIECES, bytes)
}

/// A well-typed program with some mistakes: words are dropped, doubled, swapped or replaced by a piece.
fn mistakes(bytes: &[u8]) -> Vec<u8> {
    let numbers = numbers(bytes);
    let mut generator = Generator::new(&numbers);
    generator.clarke = generator.choices.once_in(4);
    let source = generator.program().0;
    let file = SourceFile::new("fuzz.rd", source);
    let mut words = words(&file, &LEXICON);
    misspell(&mut words, &PIECES, &mut generator.choices);
    let head = if generator.clarke { "use clarke " } else { "" };
    format!("{head}{}", words.join(" ")).into_bytes()
}

#[test]
fn arbitrary_bytes_never_crash() {
    try_random(20_000, 200, half_printable, survives);
}

#[test]
fn random_tokens_never_crash() {
    try_random(40_000, 120, random_pieces, survives);
}

#[test]
fn programs_with_mistakes_never_crash() {
    try_random(10_000, 500, mistakes, survives);
}

#[test]
fn bolero_bytes() {
    bolero::check!().with_iterations(0).for_each(survives);
}

#[test]
fn bolero_tokens() {
    bolero::check!().with_iterations(0).for_each(|bytes: &[u8]| survives(&random_pieces(bytes)));
}

#[test]
fn bolero_mistakes() {
    bolero::check!().with_iterations(0).for_each(|bytes: &[u8]| survives(&mistakes(bytes)));
}
