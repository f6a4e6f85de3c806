//! No input may crash the tool: arbitrary bytes, soups of tokens, and programs with mistakes in them.
//!
//! Whatever the input, reading, formatting and checking it give an answer, and an accepted program runs on every engine to one line, or to a message and an
//! exit status that fits it. All engines that have a value have the same.
//!
//! `cargo test` tries inputs from a fixed seed, as many as fit in a few seconds. To try more:
//!
//! ```text
//! EDDY_CASES=100 cargo test -p eddy-pullback --test fuzz                                  the same, a hundred times as many
//! BOLERO_RANDOM_ITERATIONS=1000000 cargo test -p eddy-pullback --test fuzz bolero         other inputs each time
//! cargo bolero test -p eddy-pullback --test fuzz bolero_tokens                            guided by coverage
//! ```

#[allow(dead_code)] // the laws use more of it
#[path = "laws/generate.rs"]
mod generate;

use eddy_language::{Command, Language, Options, Status, Verdict};
use eddy_pullback::Pullback;
use eddy_pullback::format::format;
use eddy_pullback::parse::LEXICON;
use eddy_syntax::lex::{Lexed, lex};
use eddy_syntax::{SourceFile, Sources};
use eddy_tests::choices::Choices;
use eddy_tests::fuzz::{half_printable, try_random};

use generate::Generator;

/// Steps, and bytes, that a program may use.
const FUEL: u64 = 3000;
const MEMORY: u64 = 64 << 20;

/// Everything that must not go wrong, on one input.
fn survives(bytes: &[u8]) {
    let file = SourceFile::from_bytes("fuzz.pb", bytes.to_vec());
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
    let verdict = Pullback.answer(command, &mut sources, options, Vec::new(), &mut out);
    (verdict.expect("a string takes all that is written"), out)
}

/// Formatting refuses, or gives a text with the same words, which is its own format.
fn formats(file: &SourceFile) {
    let Ok(once) = format(file) else { return };
    let formatted = SourceFile::new("fuzz.pb", once.clone());
    assert_eq!(words(file), words(&formatted), "formatting changes no words");
    assert_eq!(format(&formatted).as_ref(), Ok(&once), "formatting again changes nothing");
}

fn words(file: &SourceFile) -> Vec<&str> {
    let Lexed { tokens, comments, .. } = lex(file, &LEXICON);
    let comments = comments.into_iter().map(|comment| comment.span);
    tokens.into_iter().map(|token| token.span).chain(comments).map(|span| file.slice(span)).collect()
}

/// Every engine gives one line or a message, and those that give a line give the same kind of line. Rounding may differ, so numbers are not compared here.
fn runs(file: &SourceFile) {
    let lines: Vec<String> = Pullback.engines().iter().filter_map(|engine| run_by(engine, file)).collect();
    let shape = |line: &String| line.chars().filter(|c| !"0123456789.e+-".contains(*c)).collect::<String>();
    let shapes: Vec<String> = lines.iter().map(shape).collect();
    assert!(shapes.windows(2).all(|pair| pair[0] == pair[1]), "engines differ: {lines:?}");
}

/// The line that an engine writes; none if it has no value.
fn run_by(engine: &str, file: &SourceFile) -> Option<String> {
    let options = Options {
        engine: Some(engine.to_string()),
        fuel: Some(FUEL),
        memory: Some(MEMORY),
        ..Options::default()
    };
    let (verdict, out) = answer(Command::Run, file, &options);
    if verdict.status != Status::Answered {
        let codes: Vec<_> = verdict.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert!(matches!(codes[..], ["PB013" | "PB014" | "PB015"]), "the checker accepted it: {codes:?}");
        assert!(out.is_empty(), "no value, no line: {out}");
        return None;
    }
    let line = out.strip_suffix('\n').expect("a line ends");
    assert!(!line.contains('\n') && !line.is_empty(), "one line: {line:?}");
    Some(line.to_string())
}

/// Pieces of programs: tokens, and some longer ones that are hard to hit by chance.
const PIECES: [&str; 84] = [
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
    ";",
    ".",
    "=",
    "+",
    "-",
    "*",
    "/",
    "^",
    "^*",
    "@",
    "->",
    "\\",
    "λ",
    "Ω",
    "·",
    "⟨",
    "⟩",
    "→",
    "×",
    "π1",
    "♯",
    "♭",
    "ℝ",
    "𝟎",
    "R",
    "J",
    "in ",
    "let ",
    "def ",
    "prim ",
    "type ",
    "assume ",
    "zero",
    "fst ",
    "snd ",
    "sharp ",
    "flat ",
    "jacobian ",
    "grad ",
    "vjp ",
    " at ",
    " with ",
    "pull(",
    "dmap(",
    "jac(",
    "(*",
    "*)",
    "--",
    "\n",
    " ",
    "1e5",
    "1e999",
    "^2",
    "^-1",
    "mult",
    "exp",
    "log",
    "\\x:R. ",
    "(\\x:R. x * x)",
    "<1, 2>",
    "[1]^*",
    "Ω [1]",
    "((Ω \\x:R. ",
    ") · Ω [1]) 2",
    "let x = 1 in ",
    "(λv:R. v)^* · ",
    "def f (x : R) = x * x;",
    "prim g(x, y) = <x, x * y>;",
    "assume w : Ω R;",
    "(zero : R -> R)",
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
    let source = generator.program().0;
    let file = SourceFile::new("fuzz.pb", source);
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
    words.join(" ").into_bytes()
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
    try_random(6_000, 300, mistakes, survives);
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
