//! No input may crash the tool: arbitrary bytes, random tokens, and programs and values with mistakes in
//! them.
//!
//! For every input, reading, formatting and checking give an answer, and an accepted program is run, traced,
//! asked about, listed and optimised.
//! `cargo test` tries inputs from a fixed seed, as many as fit in a few seconds. To try more:
//!
//! ```text
//! EDDY_CASES=100 cargo test -p eddy-tables --test fuzz  the same, a hundred times as many
//! BOLERO_RANDOM_ITERATIONS=1000000 cargo test -p eddy-tables --test fuzz bolero  other inputs each time
//! ```

use eddy_syntax::{SourceFile, Sources};
use eddy_tables::ask;
use eddy_tables::derivation::write::Form;
use eddy_tables::dialect::Dialect;
use eddy_tables::format::format;
use eddy_tables::parse::LEXICON;
use eddy_tables::requests::questions::{Ask, Enum, Intype, Opt, Question};
use eddy_tables::requests::{Check, Run, Trace};
use eddy_tables::run;
use eddy_tests::fuzz::{garbled, half_printable, is_accepted, joined_pieces, try_random};

const LIMITS: run::Limits = run::Limits { fuel: 60, memory: 16 << 20 };
const SEARCH: ask::Limits = ask::Limits { fuel: 60, steps: 2000, memory: 16 << 20 };

/// Checks everything that must hold for one input.
fn survives(bytes: &[u8]) {
    for dialect in Dialect::ALL {
        let file = SourceFile::from_bytes("fuzz", bytes.to_vec());
        let checked = Check.answer(&file, dialect);
        if is_accepted(&file, &LEXICON, |file| format(file, dialect), &checked) {
            questions(dialect, &file);
        }
    }
}

/// Every question gets either an answer or a diagnostic with the reason why there is none.
fn questions(dialect: Dialect, file: &SourceFile) {
    let accepted = "the checker accepted it";
    let ran = Run { limits: LIMITS, ..Run::default() }.answer(file, dialect).expect(accepted);
    assert_eq!(ran.to_string().is_empty(), ran.diagnostic.is_some(), "{ran}");
    let traced = Trace { limits: LIMITS }.answer(file, dialect).expect(accepted);
    assert_eq!(traced.steps.is_err(), traced.diagnostic.is_some());
    if let Ok(steps) = traced.steps {
        let n_steps = steps.n_steps;
        assert_eq!(steps.count() as u64, n_steps + 1);
    }
    if let Ok(optimised) = Opt::default().answer(file, dialect) {
        assert_eq!(optimised.outcome.is_err(), optimised.diagnostic.is_some());
        let _ = optimised.to_string();
    }
    if let Ok(listed) = (Enum { size: 4, limits: SEARCH, ..Enum::default() }).answer(file, dialect) {
        let _ = listed.to_string();
    }
    for value in ["0", "{}", "{0 -> 1}", "{{} -> {0 -> 0}}"] {
        let plain = Ask { limits: SEARCH, ..Ask::new(Question::value(value)) };
        let sources = || Sources::alone(file.clone());
        let answered = plain.answer(&mut sources(), dialect).expect(accepted).to_string();
        let explained = Ask { derivation: Some(Form::Values), tables: true, ..plain };
        if let Ok(asked) = explained.answer(&mut sources(), dialect) {
            let out = asked.to_string();
            assert!(asked.outcome.is_err() || out.ends_with(&answered), "{out} and {answered}");
        }
    }
}

/// Malformed values and types are refused.
fn survives_as_value(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let programs = [
        (Dialect::Lambda, "\\x. x"),
        (Dialect::SystemF, "/\\a. \\x:a. x"),
        (Dialect::References, "\\x:ref int. x"),
    ];
    for (dialect, program) in programs {
        let sources = || Sources::alone(SourceFile::new("fuzz", program));
        let ask = Ask { limits: SEARCH, ..Ask::new(Question::value(&text)) };
        if let Ok(asked) = ask.answer(&mut sources(), dialect) {
            assert_eq!(asked.to_string().is_empty(), asked.diagnostic.is_some(), "{asked}");
        }
        let intype = Intype { fuel: LIMITS.fuel, ..Intype::new(Question::value(&text)) };
        if let Ok(tested) = intype.answer(&mut sources(), dialect) {
            assert_eq!(tested.to_string().is_empty(), tested.diagnostic.is_some(), "{tested}");
        }
    }
    let mut sources = Sources::alone(SourceFile::new("fuzz", "\\x. x"));
    let ask = Ask { limits: SEARCH, ..Ask::new(Question::ty(&text)) };
    if let Ok(asked) = ask.answer(&mut sources, Dialect::Lambda) {
        assert!(!asked.to_string().is_empty());
    }
}

/// Words of the languages, so that more inputs pass the parser.
const WORDS: &[&str] = &[
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

fn random_tokens(words: &'static [&'static str]) -> impl Fn(&[u8]) -> Vec<u8> {
    |bytes| joined_pieces(words, bytes)
}

/// Programs like those of the golden tests, with a few bytes changed.
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
fn random_words() {
    try_random(5000, 24, random_tokens(WORDS), survives);
}

#[test]
fn programs_with_mistakes() {
    try_random(2500, 13, mistakes, survives);
}

#[test]
fn random_words_as_values() {
    try_random(5000, 16, random_tokens(VALUES), survives_as_value);
}

#[test]
fn bolero_words() {
    bolero::check!().for_each(|bytes: &[u8]| survives(&random_tokens(WORDS)(&bytes[..bytes.len().min(40)])));
}
