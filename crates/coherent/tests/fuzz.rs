//! No input may crash the tool: arbitrary bytes, soups of tokens, and programs with mistakes in them.
//!
//! Whatever the input, reading, formatting and checking it give an answer, and an accepted program runs on every machine; what
//! they all know, they agree on. `cargo test` tries inputs from a fixed seed, as many as fit in a few seconds. To try more:
//!
//! ```text
//! EDDY_CASES=100 cargo test -p eddy-coherent --test fuzz                                the same, a hundred times as many
//! BOLERO_RANDOM_ITERATIONS=1000000 cargo test -p eddy-coherent --test fuzz bolero       other inputs each time
//! ```

use eddy_coherent::Coherent;
use eddy_coherent::format::format;
use eddy_coherent::parse::LEXICON;
use eddy_language::{Command, Language, Options, Status, Verdict};
use eddy_syntax::lex::{Lexed, lex};
use eddy_syntax::{SourceFile, Sources};
use eddy_tests::fuzz::{half_printable, try_random};

/// Steps and bytes that a program may use.
const FUEL: u64 = 300;
const MEMORY: u64 = 16 << 20;

/// Everything that must not go wrong, on one input.
fn survives(bytes: &[u8]) {
    let file = SourceFile::from_bytes("fuzz.cd", bytes.to_vec());
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
    let verdict = Coherent.answer(command, &mut sources, options, Vec::new(), &mut out);
    (verdict.expect("a string takes all that is written"), out)
}

/// Formatting refuses, or gives a text with the same words, which is its own format.
fn formats(file: &SourceFile) {
    let Ok(once) = format(file) else { return };
    let formatted = SourceFile::new("fuzz.cd", once.clone());
    assert_eq!(words(file), words(&formatted), "formatting changes no words");
    assert_eq!(format(&formatted).as_ref(), Ok(&once), "formatting again changes nothing");
}

fn words(file: &SourceFile) -> Vec<&str> {
    let Lexed { tokens, comments, .. } = lex(file, &LEXICON);
    let comments = comments.into_iter().map(|comment| comment.span);
    tokens.into_iter().map(|token| token.span).chain(comments).map(|span| file.slice(span)).collect()
}

/// Every machine gives an answer or says why not; those that det and nd both know are the same, and env agrees where det has one.
fn runs(file: &SourceFile) {
    let options = |engine: &str| Options {
        engine: Some(engine.to_string()),
        fuel: Some(FUEL),
        memory: Some(MEMORY),
        coins: Some(3),
        ..Options::default()
    };
    let mut lines = Vec::new();
    for engine in ["det", "nd", "env"] {
        let (verdict, out) = answer(Command::Run, file, &options(engine));
        match verdict.status {
            Status::Answered => lines.push(Some(out)),
            Status::Refused | Status::NoValue => {
                assert!(out.is_empty() && verdict.diagnostics.len() == 1, "{engine}: {out}");
                lines.push(None);
            }
        }
    }
    let [Some(det), nd, env] = &lines[..] else { return };
    if let Some(nd) = nd {
        assert_eq!(det, nd, "det and nd");
    }
    if !det.contains("unresolved") {
        assert_eq!(Some(det), env.as_ref(), "det and env");
    }
    for command in [Command::Trace, Command::Ask] {
        let options = Options { point: Some("0".to_string()), unfold: Some(1), ..options("env") };
        let (verdict, out) = answer(command, file, &options);
        assert!(verdict.status == Status::Answered || out.is_empty(), "{out}");
    }
}

/// Words of the language, with which more gets past the parser.
const SOUP: &[&str] = &[
    "def f = ",
    ";",
    "pragma fuel 9;",
    "\\x:nat. ",
    "\\f:nat -> nat. ",
    "(\\(x y:D nat). pi0 x) ",
    "let x = ",
    "let^1 x = ",
    " in ",
    "if ",
    "if^1 ",
    " then ",
    " else ",
    "succ ",
    "succ^1 ",
    "pred ",
    "pi0 ",
    "pi1 ",
    "pi1^1 ",
    "inj0 ",
    "inj1 ",
    "theta ",
    "flip ",
    "flip[1]^2 ",
    "D ",
    "D^2 ",
    "fix ",
    "deriv ",
    "tick ",
    "coin(1/2) ",
    "choice(0.5, ",
    "omega[nat] ",
    "<",
    ">",
    ",",
    "^",
    "(",
    ")",
    "x ",
    "f ",
    "0 ",
    "1 ",
    "7 ",
    "+ ",
    "zero ",
    "λ",
    "ι",
    "∂ ",
    "-- c\n",
    "(* c *)",
    "\n",
];

fn soup(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| SOUP[usize::from(*byte) % SOUP.len()].bytes()).collect()
}

/// A program of the golden kind, with a few bytes changed.
fn mistakes(bytes: &[u8]) -> Vec<u8> {
    const PROGRAM: &str = "def M : (nat -> nat) -> nat -> nat = fix \\F:(nat -> nat) -> nat -> nat. \\f:nat -> nat. \\x:nat. \
         let y = x in if y then 0 else succ (F f (<f> y)); def T = \\x:nat. if pred x then 0 else choice(1/2, 0, 1);\n\
         theta (D (D M)) (flip <\\x:nat. inj0 (pred x), \\x:nat. inj1 x>^T) (tick 2) -- end";
    let mut text = PROGRAM.as_bytes().to_vec();
    for change in bytes.chunks_exact(3).take(4) {
        let place = (usize::from(change[0]) * 256 + usize::from(change[1])) % text.len();
        match change[2] % 3 {
            0 => text[place] = change[2],
            1 => drop(text.remove(place)),
            _ => text.insert(place, PROGRAM.as_bytes()[usize::from(change[2]) % PROGRAM.len()]),
        }
    }
    text
}

#[test]
fn arbitrary_bytes() {
    try_random(3000, 60, half_printable, survives);
}

#[test]
fn soups_of_words() {
    try_random(6000, 24, soup, survives);
}

#[test]
fn programs_with_mistakes() {
    try_random(3000, 13, mistakes, survives);
}

#[test]
fn bolero_words() {
    bolero::check!().for_each(|bytes: &[u8]| survives(&soup(&bytes[..bytes.len().min(40)])));
}
