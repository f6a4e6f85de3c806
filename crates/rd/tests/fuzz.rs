//! No input may crash the tool: arbitrary bytes, soups of tokens, and programs with mistakes in them.
//!
//! Whatever the input, reading, formatting and checking it give an answer, and an accepted program runs on every
//! engine to one line and an exit status that fits it. All engines agree on the kind of outcome.
//!
//! `cargo test` tries inputs from a fixed seed, as many as fit in a few seconds. To try more:
//!
//! ```text
//! EDDY_CASES=100 cargo test -p eddy-rd --test fuzz                                  the same, a hundred times as many
//! BOLERO_RANDOM_ITERATIONS=1000000 cargo test -p eddy-rd --test fuzz bolero         other inputs each time
//! cargo bolero test -p eddy-rd --test fuzz bolero_tokens                            guided by coverage
//! ```
//!
//! The last one needs `cargo install cargo-bolero` and goes on until it is stopped. What it finds lies in
//! `tests/__fuzz__`, and bolero tries it again on every run.

#[allow(dead_code, unused_imports)] // the laws use more of it
#[path = "laws/generate/mod.rs"]
mod generate;

use eddy_language::{Command, Language, Options, Status};
use eddy_rd::Rd;
use eddy_rd::parse::LEXICON;
use eddy_syntax::SourceFile;
use eddy_tests::fuzz::{answer, half_printable, is_accepted, misspell, numbers, soup, try_random, words};

use generate::Generator;

/// Calls, and bytes, that a program may use.
const FUEL: u64 = 200;
const MEMORY: u64 = 64 << 20;

/// Everything that must not go wrong, on one input.
fn survives(bytes: &[u8]) {
    let file = SourceFile::from_bytes("fuzz.rd", bytes.to_vec());
    if is_accepted(&Rd, &LEXICON, &file) {
        runs(&file);
    }
}

/// How a run ended, as far as engines agree on it.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Value,
    Undefined,
    OutOfFuel,
}

/// Every engine gives one line, and all the same kind of line. Memory and overflow are beyond comparison: engines need
/// more or less of the first, and group sums in different ways.
fn runs(file: &SourceFile) {
    let lines: Vec<(&str, String)> =
        Rd.engines().iter().filter_map(|engine| Some((*engine, run_by(engine, file)?))).collect();
    assert!(lines.len() >= 2, "only one engine may refuse what the checker accepts");
    if lines.iter().any(|(_, line)| line.contains("overflow") || line.contains("out of memory")) {
        return;
    }
    let kinds = lines.iter().map(|(_, line)| kind(line));
    assert!(kinds.clone().all(|found| Some(found) == kinds.clone().next()), "engines differ: {lines:?}");
}

/// The line that an engine writes; `None` if it cannot handle the program.
fn run_by(engine: &str, file: &SourceFile) -> Option<String> {
    let options = Options {
        engine: Some(engine.to_string()),
        fuel: Some(FUEL),
        memory: Some(MEMORY),
        ..Options::default()
    };
    let (verdict, out) = answer(&Rd, Command::Run, file, &options);
    if verdict.status == Status::Refused {
        let codes: Vec<_> = verdict.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(
            (engine, codes.as_slice()),
            ("transform", ["RD014"].as_slice()),
            "the checker accepted it"
        );
        return None;
    }
    let line = out.strip_suffix('\n').expect("a line ends");
    assert!(!line.contains('\n') && !line.is_empty(), "one line: {line:?}");
    let expected = if kind(line) == Kind::Value { Status::Answered } else { Status::NoValue };
    assert_eq!(verdict.status, expected, "{engine}: {line}");
    Some(line.to_string())
}

fn kind(line: &str) -> Kind {
    if line.starts_with("undefined: ") {
        Kind::Undefined
    } else if line.starts_with("diverged: ") {
        Kind::OutOfFuel
    } else {
        Kind::Value
    }
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

fn token_soup(bytes: &[u8]) -> Vec<u8> {
    soup(&PIECES, bytes)
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
fn arbitrary_bytes_are_survived() {
    try_random(20_000, 200, half_printable, survives);
}

#[test]
fn token_soup_is_survived() {
    try_random(40_000, 120, token_soup, survives);
}

#[test]
fn programs_with_mistakes_are_survived() {
    try_random(10_000, 500, mistakes, survives);
}

#[test]
fn bolero_bytes() {
    bolero::check!().with_iterations(0).for_each(survives);
}

#[test]
fn bolero_tokens() {
    bolero::check!().with_iterations(0).for_each(|bytes: &[u8]| survives(&token_soup(bytes)));
}

#[test]
fn bolero_mistakes() {
    bolero::check!().with_iterations(0).for_each(|bytes: &[u8]| survives(&mistakes(bytes)));
}
