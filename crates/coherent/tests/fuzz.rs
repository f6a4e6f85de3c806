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
use eddy_coherent::parse::LEXICON;
use eddy_language::{Command, Options, Status};
use eddy_syntax::SourceFile;
use eddy_tests::fuzz::{answer, garbled, half_printable, is_accepted, thick_soup, try_random};

/// Steps and bytes that a program may use.
const FUEL: u64 = 300;
const MEMORY: u64 = 16 << 20;

/// Everything that must not go wrong, on one input.
fn survives(bytes: &[u8]) {
    let file = SourceFile::from_bytes("fuzz.cd", bytes.to_vec());
    if is_accepted(&Coherent, &LEXICON, &file) {
        runs(&file);
    }
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
        let (verdict, out) = answer(&Coherent, Command::Run, file, &options(engine));
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
        let (verdict, out) = answer(&Coherent, command, file, &options);
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

fn soup_of_words(bytes: &[u8]) -> Vec<u8> {
    thick_soup(SOUP, bytes)
}

/// A program of the golden kind, with a few bytes changed.
fn mistakes(bytes: &[u8]) -> Vec<u8> {
    const PROGRAM: &str = "def M : (nat -> nat) -> nat -> nat = fix \\F:(nat -> nat) -> nat -> nat. \\f:nat -> nat. \\x:nat. \
         let y = x in if y then 0 else succ (F f (<f> y)); def T = \\x:nat. if pred x then 0 else choice(1/2, 0, 1);\n\
         theta (D (D M)) (flip <\\x:nat. inj0 (pred x), \\x:nat. inj1 x>^T) (tick 2) -- end";
    garbled(PROGRAM, bytes)
}

#[test]
fn arbitrary_bytes() {
    try_random(3000, 60, half_printable, survives);
}

#[test]
fn soups_of_words() {
    try_random(6000, 24, soup_of_words, survives);
}

#[test]
fn programs_with_mistakes() {
    try_random(3000, 13, mistakes, survives);
}

#[test]
fn bolero_words() {
    bolero::check!().for_each(|bytes: &[u8]| survives(&soup_of_words(&bytes[..bytes.len().min(40)])));
}
