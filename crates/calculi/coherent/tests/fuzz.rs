//! No input may crash the tool: arbitrary bytes, random tokens, and programs with mistakes in them.
//!
//! For every input, reading, formatting and checking give an answer, and an accepted program runs on every
//! machine; known results agree. `cargo test` tries inputs from a fixed seed, as many as fit in a few
//! seconds. To try more:
//!
//! ```text
//! EDDY_CASES=100 cargo test -p eddy-coherent --test fuzz  the same, a hundred times as many
//! BOLERO_RANDOM_ITERATIONS=1000000 cargo test -p eddy-coherent --test fuzz bolero  other inputs each time
//! ```

use eddy_coherent::engine::Engine;
use eddy_coherent::format::format;
use eddy_coherent::parse::LEXICON;
use eddy_coherent::relation::Bounds;
use eddy_coherent::requests::{Ask, Check, Run, Trace};
use eddy_coherent::trace::TraceOptions;
use eddy_syntax::SourceFile;
use eddy_tests::fuzz::{garbled, half_printable, is_accepted, joined_pieces, try_random};

/// Steps and bytes that a program may use.
const FUEL: u64 = 300;
const MEMORY: u64 = 16 << 20;

/// Checks everything that must hold for one input.
fn survives(bytes: &[u8]) {
    let file = SourceFile::from_bytes("fuzz.cd", bytes.to_vec());
    if is_accepted(&file, &LEXICON, format, &Check.answer(&file)) {
        runs(&file);
    }
}

/// Every machine gives an answer or a reason; answers of det and nd are equal, and env agrees where det has
/// one.
fn runs(file: &SourceFile) {
    let lines = [Engine::Deterministic, Engine::Krivine, Engine::Environment].map(|engine| {
        let run = Run { engine, fuel: Some(FUEL), memory: Some(MEMORY), coins: Some(3) };
        match run.answer(file) {
            Ok(ran) => {
                assert_eq!(ran.leaves.is_err(), ran.diagnostic.is_some(), "{engine:?}: {ran}");
                ran.leaves.ok().map(|leaves| leaves.to_string())
            }
            Err(diagnostics) => {
                assert_eq!(diagnostics.len(), 1, "{engine:?}");
                None
            }
        }
    });
    let [Some(det), nd, env] = &lines else { return };
    if let Some(nd) = nd {
        assert_eq!(det, nd, "det and nd");
    }
    if !det.contains("unresolved") {
        assert_eq!(Some(det), env.as_ref(), "det and env");
    }
    let trace = Trace { show: TraceOptions::default(), fuel: Some(FUEL), memory: Some(MEMORY) };
    if let Ok(traced) = trace.answer(file) {
        assert_eq!(traced.steps.is_err(), traced.diagnostic.is_some());
        // Only a run that ends has a whole trace, and it ends with the value of `run`.
        if let Ok(mut steps) = traced.steps {
            assert_eq!(steps.by_ref().count() as u64, steps.summary().steps);
            let last = steps.summary().to_string();
            assert!(last.starts_with(&format!("result: {det} (")), "{last} and {det}");
        }
    }
    let bounds = Bounds { work: FUEL, memory: MEMORY, unfold: 1, ..Bounds::default() };
    if let Ok(asked) = (Ask { point: "0".to_string(), bounds }).answer(file) {
        assert!(!asked.to_string().is_empty());
    }
}

/// Words of the language, so that more inputs pass the parser.
const WORDS: &[&str] = &[
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

fn joined_words(bytes: &[u8]) -> Vec<u8> {
    joined_pieces(WORDS, bytes)
}

/// A program like those of the golden tests, with a few bytes changed.
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
fn random_words() {
    try_random(6000, 24, joined_words, survives);
}

#[test]
fn programs_with_mistakes() {
    try_random(3000, 13, mistakes, survives);
}

#[test]
fn bolero_words() {
    bolero::check!().for_each(|bytes: &[u8]| survives(&joined_words(&bytes[..bytes.len().min(40)])));
}
