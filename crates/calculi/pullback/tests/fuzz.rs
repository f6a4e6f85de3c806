//! No input may crash the tool: arbitrary bytes, random tokens, and programs with mistakes in them.
//!
//! For every input, reading, formatting and checking return an answer. An accepted program runs on every
//! engine and prints one line, or gives a message. All engines that have a value have the same.
//!
//! `cargo test` tries inputs from a fixed seed, as many as fit in a few seconds. To try more:
//!
//! ```text
//! EDDY_CASES=100 cargo test -p eddy-pullback --test fuzz  the same, a hundred times as many
//! BOLERO_RANDOM_ITERATIONS=1000000 cargo test -p eddy-pullback --test fuzz bolero  other inputs each time
//! cargo bolero test -p eddy-pullback --test fuzz bolero_tokens  guided by coverage
//! ```

#[allow(dead_code)] // the laws use more of it
#[path = "laws/generate.rs"]
mod generate;

use eddy_pullback::engine::Engine;
use eddy_pullback::format::format;
use eddy_pullback::outcome::Limits;
use eddy_pullback::parse::LEXICON;
use eddy_pullback::requests::{Check, Run};
use eddy_syntax::SourceFile;
use eddy_tests::fuzz::{half_printable, is_accepted, misspell, numbers, random_tokens, try_random, words};

use generate::Generator;

/// Steps, and bytes, that a program may use.
const LIMITS: Limits = Limits { fuel: 3000, memory: 64 << 20 };

/// Checks everything that must hold for one input.
fn survives(bytes: &[u8]) {
    let file = SourceFile::from_bytes("fuzz.pb", bytes.to_vec());
    if is_accepted(&file, &LEXICON, format, &Check.answer(&file)) {
        runs(&file);
    }
}

/// Every engine gives one line or a message, and those that give a line give the same kind of line. Rounding
/// may differ, so numbers are not compared here.
fn runs(file: &SourceFile) {
    let lines: Vec<String> = Engine::ALL.into_iter().filter_map(|engine| run_by(engine, file)).collect();
    let shape = |line: &String| line.chars().filter(|c| !"0123456789.e+-".contains(*c)).collect::<String>();
    let shapes: Vec<String> = lines.iter().map(shape).collect();
    assert!(shapes.windows(2).all(|pair| pair[0] == pair[1]), "engines differ: {lines:?}");
}

/// The line that an engine prints; `None` if it has no value.
fn run_by(engine: Engine, file: &SourceFile) -> Option<String> {
    let (line, diagnostics) = match (Run { engine, limits: LIMITS }).answer(file) {
        Ok(ran) => (ran.to_string(), Vec::from_iter(ran.diagnostic)),
        Err(diagnostics) => (String::new(), diagnostics),
    };
    if !diagnostics.is_empty() {
        let codes: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic.code.name()).collect();
        assert!(matches!(codes[..], ["PB013" | "PB014" | "PB015"]), "the checker accepted it: {codes:?}");
        assert!(line.is_empty(), "no value, no line: {line}");
        return None;
    }
    assert!(!line.contains('\n') && !line.is_empty(), "one line: {line:?}");
    Some(line)
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

fn random_pieces(bytes: &[u8]) -> Vec<u8> {
    random_tokens(&PIECES, bytes)
}

/// A well-typed program with some mistakes: words are dropped, doubled, swapped or replaced by a piece.
fn mistakes(bytes: &[u8]) -> Vec<u8> {
    let numbers = numbers(bytes);
    let mut generator = Generator::new(&numbers);
    let source = generator.program().0;
    let file = SourceFile::new("fuzz.pb", source);
    let mut words = words(&file, &LEXICON);
    misspell(&mut words, &PIECES, &mut generator.choices);
    words.join(" ").into_bytes()
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
    try_random(6_000, 300, mistakes, survives);
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
