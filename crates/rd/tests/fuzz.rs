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

use eddy_language::{Command, Language, Options, Status, Verdict};
use eddy_rd::Rd;
use eddy_rd::format::format;
use eddy_rd::parse::LEXICON;
use eddy_syntax::lex::{Lexed, lex};
use eddy_syntax::{SourceFile, Sources};
use eddy_tests::fuzz::{half_printable, try_random};

use generate::{Choices, Generator};

/// Calls, and bytes, that a program may use.
const FUEL: u64 = 200;
const MEMORY: u64 = 64 << 20;

/// Everything that must not go wrong, on one input.
fn survives(bytes: &[u8]) {
    let file = SourceFile::from_bytes("fuzz.rd", bytes.to_vec());
    formats(&file);
    let (verdict, out) = answer(Command::Check, &file, &Options::default());
    match verdict.status {
        Status::Refused => {
            assert!(!verdict.diagnostics.is_empty(), "a refusal says why");
            assert!(out.is_empty(), "a refusal writes nothing: {out}");
        }
        Status::Answered => runs(&file),
        Status::NoValue => panic!("checking runs nothing"),
    }
}

fn answer(command: Command, file: &SourceFile, options: &Options) -> (Verdict, String) {
    let mut out = String::new();
    let mut sources = Sources::alone(file.clone());
    let verdict = Rd.answer(command, &mut sources, options, Vec::new(), &mut out);
    (verdict.expect("a string takes all that is written"), out)
}

/// Formatting refuses, or gives a text with the same words, which is its own format.
fn formats(file: &SourceFile) {
    let Ok(once) = format(file) else { return };
    let formatted = SourceFile::new("fuzz.rd", once.clone());
    assert_eq!(words(file), words(&formatted), "formatting changes no words");
    assert_eq!(format(&formatted).as_ref(), Ok(&once), "formatting again changes nothing");
}

fn words(file: &SourceFile) -> Vec<&str> {
    let Lexed { tokens, comments, .. } = lex(file, &LEXICON);
    let comments = comments.into_iter().map(|comment| comment.span);
    tokens.into_iter().map(|token| token.span).chain(comments).map(|span| file.slice(span)).collect()
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
    let (verdict, out) = answer(Command::Run, file, &options);
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

/// A soup of pieces, one per two bytes.
fn soup(bytes: &[u8]) -> Vec<u8> {
    let numbers: Vec<u16> = numbers(bytes);
    let mut choices = Choices::new(&numbers);
    let mut text = String::new();
    for _ in &numbers {
        text.push_str(choices.among(&PIECES));
        // Most pieces need a space to stay apart; without it, others come about.
        if !numbers.len().is_multiple_of(4) {
            text.push(' ');
        }
    }
    text.into_bytes()
}

/// A well-typed program with some mistakes: words are dropped, doubled, swapped or replaced by a piece.
fn mistakes(bytes: &[u8]) -> Vec<u8> {
    let numbers = numbers(bytes);
    let mut generator = Generator::new(&numbers);
    generator.clarke = generator.choices.once_in(4);
    let source = generator.program().0;
    let file = SourceFile::new("fuzz.rd", source);
    let mut words = words(&file);
    for _ in 0..generator.choices.below(4) {
        let (at, other) = (generator.choices.below(words.len()), generator.choices.below(words.len()));
        match generator.choices.below(4) {
            0 => drop(words.remove(at)),
            1 => words.insert(other, words[at]),
            2 => words.swap(at, other),
            _ => words[at] = generator.choices.among(&PIECES),
        }
        if words.is_empty() {
            break;
        }
    }
    let head = if generator.clarke { "use clarke " } else { "" };
    format!("{head}{}", words.join(" ")).into_bytes()
}

fn numbers(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

#[test]
fn arbitrary_bytes_are_survived() {
    try_random(20_000, 200, half_printable, survives);
}

#[test]
fn token_soup_is_survived() {
    try_random(40_000, 120, soup, survives);
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
    bolero::check!().with_iterations(0).for_each(|bytes: &[u8]| survives(&soup(bytes)));
}

#[test]
fn bolero_mistakes() {
    bolero::check!().with_iterations(0).for_each(|bytes: &[u8]| survives(&mistakes(bytes)));
}
