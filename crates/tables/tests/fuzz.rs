//! No input may crash the tool: arbitrary bytes, soups of tokens, and programs and values with mistakes in them.
//!
//! Whatever the input, reading, formatting and checking it give an answer, and an accepted program is run, traced, asked about, listed and optimised.
//! `cargo test` tries inputs from a fixed seed, as many as fit in a few seconds. To try more:
//!
//! ```text
//! EDDY_CASES=100 cargo test -p eddy-tables --test fuzz                                the same, a hundred times as many
//! BOLERO_RANDOM_ITERATIONS=1000000 cargo test -p eddy-tables --test fuzz bolero       other inputs each time
//! ```

use eddy_language::{Command, Derivation, Options, Status};
use eddy_syntax::SourceFile;
use eddy_tables::parse::LEXICON;
use eddy_tables::{LAM, REF, SYSF, Tables};
use eddy_tests::fuzz::{answer, garbled, half_printable, is_accepted, thick_soup, try_random};

const LANGUAGES: [Tables; 3] = [LAM, SYSF, REF];

fn options() -> Options {
    Options { fuel: Some(60), steps: Some(2000), memory: Some(16 << 20), ..Options::default() }
}

/// Everything that must not go wrong, on one input.
fn survives(bytes: &[u8]) {
    for language in LANGUAGES {
        let file = SourceFile::from_bytes("fuzz", bytes.to_vec());
        if is_accepted(&language, &LEXICON, &file) {
            questions(language, &file);
        }
    }
}

/// Every command gives an answer or says why not.
fn questions(language: Tables, file: &SourceFile) {
    for command in [Command::Run, Command::Trace, Command::Opt] {
        let (verdict, out) = answer(&language, command, file, &options());
        assert!(verdict.status == Status::Answered || out.is_empty(), "{out}");
    }
    let options = Options { size: Some(4), ..options() };
    answer(&language, Command::Enum, file, &options);
    for value in ["0", "{}", "{0 -> 1}", "{{} -> {0 -> 0}}"] {
        let value = Some(("--value".to_string(), value.to_string()));
        let plain = Options { value: value.clone(), ..options.clone() };
        let (verdict, answered) = answer(&language, Command::Ask, file, &plain);
        assert_eq!(verdict.status, Status::Answered);
        let explained =
            Options { value, derivation: Some(Derivation::Values), tables: true, ..options.clone() };
        let (verdict, out) = answer(&language, Command::Ask, file, &explained);
        if verdict.status == Status::Answered {
            assert!(out.ends_with(&answered), "{out} and {answered}");
        }
    }
}

/// Values and types that are no values and no types are refused.
fn survives_as_value(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    for (language, program) in [(LAM, "\\x. x"), (SYSF, "/\\a. \\x:a. x"), (REF, "\\x:ref int. x")] {
        let file = SourceFile::new("fuzz", program);
        let value = Some(("--value".to_string(), text.clone()));
        let asked = Options { value, ..options() };
        for command in [Command::Ask, Command::Intype] {
            let (verdict, out) = answer(&language, command, &file, &asked);
            assert_eq!(verdict.status == Status::Answered, !out.is_empty(), "{out}");
        }
    }
    let asked = Options { ty: Some(text), ..options() };
    let (verdict, out) = answer(&LAM, Command::Ask, &SourceFile::new("fuzz", "\\x. x"), &asked);
    assert_eq!(verdict.status == Status::Answered, !out.is_empty(), "{out}");
}

/// Words of the languages, with which more gets past the parser.
const SOUP: &[&str] = &[
    "\\x. ",
    "\\x y. ",
    "\\x:int. ",
    "\\f:int -> int. ",
    "(\\(x:int)(y:int). x) ",
    "/\\a. ",
    "\\x:a. ",
    "[int] ",
    "[a] ",
    "fix f : int -> int. ",
    "let x = ",
    "let f x = ",
    " in ",
    "if ",
    " then ",
    " else ",
    "x ",
    "f ",
    "0 ",
    "1 ",
    "-1 ",
    "(",
    ")",
    "+ ",
    "- ",
    "* ",
    "/ ",
    "% ",
    "= ",
    "!= ",
    "< ",
    ">= ",
    "ref ",
    "!",
    "x := ",
    ":= ",
    "; ",
    ", ",
    "fst ",
    "snd ",
    "⟨",
    "⟩",
    "{",
    "}",
    "->",
    "@0",
    "λx. ",
    "Λa. ",
    "∀",
    "∅",
    "-- c\n",
    "(* c *)",
    "\n",
];

const VALUES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    " -> ",
    "; ",
    "0",
    "1",
    "-1",
    "@0",
    "@1",
    " = ",
    "wrong",
    "thunk",
    "none",
    "some",
    "∅",
    "↦",
    "{1 -> 2}",
    "{@0; [@0 = 1] -> @0; [@0 = 2]}",
    "thunk(some(",
    "top",
    " & ",
    "⊤",
];

fn soup(words: &'static [&'static str]) -> impl Fn(&[u8]) -> Vec<u8> {
    |bytes| thick_soup(words, bytes)
}

/// Programs of the golden kind, with a few bytes changed.
fn mistakes(bytes: &[u8]) -> Vec<u8> {
    const PROGRAMS: [&str; 3] = [
        "let Z = \\f. let M = \\x. f (\\v. x x v) in M M in let H = \\r n. if n = 0 then 1 else n * r (n - 1) in Z H 3 -- end",
        "(/\\a b. \\f:a -> b. \\x:a. f x)[int][int] (fix f : int -> int. \\n:int. if n < 1 then -1 else f (n / 2)) 5",
        "let r = ref (\\x:int. x) in let f (n:int) = if n = 0 then 1 else n * (!r) (n - 1) in r := f; (f 3, fst (2, !r 1))",
    ];
    garbled(PROGRAMS[bytes.len() % 3], bytes)
}

#[test]
fn arbitrary_bytes() {
    try_random(2000, 60, half_printable, survives);
}

#[test]
fn soups_of_words() {
    try_random(5000, 24, soup(SOUP), survives);
}

#[test]
fn programs_with_mistakes() {
    try_random(2500, 13, mistakes, survives);
}

#[test]
fn soups_of_values() {
    try_random(5000, 16, soup(VALUES), survives_as_value);
}

#[test]
fn bolero_words() {
    bolero::check!().for_each(|bytes: &[u8]| survives(&soup(SOUP)(&bytes[..bytes.len().min(40)])));
}
