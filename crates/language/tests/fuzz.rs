//! No input may crash the tool: arbitrary bytes, random tokens, and programs with errors.
//!
//! For every input, parsing returns a tree and messages that point into the file; and a program without
//! errors obeys the laws of formatting.
//!
//! `cargo test` tests inputs from a fixed seed, as many as fit into a few seconds. To test more:
//!
//! ```text
//! EDDY_CASES=100 cargo test -p eddy-language --test fuzz                            a hundred times as many
//! BOLERO_RANDOM_ITERATIONS=1000000 cargo test -p eddy-language --test fuzz bolero   other inputs each time
//! cargo bolero test -p eddy-language --test fuzz bolero_tokens                      guided by coverage
//! ```
//!
//! The last one needs `cargo install cargo-bolero` and runs until it is stopped. Its findings are in
//! `tests/__fuzz__`, and bolero tests them again on every run.

mod text_laws;

use eddy_language::parse::{LEXICON, parse};
use eddy_language::tree::ExprKind;
use eddy_syntax::lex::lex;
use eddy_syntax::render::{Style, full};
use eddy_syntax::{Diagnostic, SourceFile, Sources, Span};
use eddy_tests::fuzz::{half_printable, try_random};

use text_laws::assert_laws;

/// All checks on one input.
fn survives(bytes: &[u8]) {
    let file = SourceFile::from_bytes("fuzz.eddy", bytes.to_vec());
    let parsed = parse(&file);
    for diagnostic in &parsed.diagnostics {
        makes_sense(diagnostic, &file);
    }
    assert!(
        parsed.diagnostics.is_sorted_by_key(|diagnostic| diagnostic.primary.span),
        "in the order of the text"
    );
    let exprs = &parsed.program.exprs;
    for id in exprs.ids() {
        is_inside(exprs.span(id), &file);
        is_inside(exprs.at(id), &file);
        assert!(exprs.children(id).all(|child| child < id), "children come first");
        let is_error = exprs.kind(id) == ExprKind::Error;
        assert!(!is_error || !parsed.diagnostics.is_empty(), "unreadable text is reported");
    }
    if parsed.diagnostics.is_empty() {
        assert_laws(file.text());
    }
}

fn makes_sense(diagnostic: &Diagnostic, file: &SourceFile) {
    let title = &diagnostic.title;
    assert!(["E0101", "E0102", "E0103"].contains(&diagnostic.code.name()), "the code of {title}");
    assert!(title.contains("expected") && !title.contains('\n') && title.len() < 250, "the title {title}");
    is_inside(diagnostic.primary.span, file);
    for cause in &diagnostic.causes {
        is_inside(cause.span, file);
    }
    if let Some(edit) = diagnostic.help.as_ref().and_then(|help| help.edit.as_ref()) {
        is_inside(edit.span, file);
    }
    assert!(!full(diagnostic, &Sources::alone(file.clone()), Style::Plain).is_empty());
}

fn is_inside(span: Span, file: &SourceFile) {
    assert!(span.start <= span.end && span.end <= file.end().end, "{span:?}");
    assert!(
        file.text().is_char_boundary(span.start as usize) && file.text().is_char_boundary(span.end as usize)
    );
}

/// Pieces of programs: tokens, and some longer ones that random choice rarely produces.
const PIECES: &[&str] = &[
    "x",
    "y",
    "c",
    "f",
    "_",
    "t",
    "1",
    "0",
    "2.5",
    "1e5",
    "1e999",
    "99999999999999999999",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ";",
    "=",
    "==",
    ":=",
    "->",
    "→",
    ".",
    "□",
    "?",
    "⊥",
    "#",
    "#1",
    "/",
    "+",
    "-",
    "*",
    "×",
    "<",
    "<=",
    "≤",
    ">",
    ">=",
    "!=",
    "≠",
    "¬",
    "∧",
    "∨",
    "&&",
    "||",
    "!",
    "%",
    "^",
    "//",
    "/*",
    "\"",
    "\"a.eddy\"",
    "'",
    "£",
    "if ",
    "then ",
    "else ",
    "fby ",
    "back ",
    "post ",
    "when ",
    "not ",
    "merge ",
    "and ",
    "or ",
    "div ",
    "mod ",
    "true",
    "false",
    "node ",
    "run ",
    "train ",
    "import ",
    "from ",
    "as ",
    "loss ",
    "optim ",
    "segment ",
    "truncate",
    "mean",
    "chrono ",
    "for ",
    "seed ",
    "show ",
    "K ",
    "num",
    "int ",
    "bool",
    "real",
    "let ",
    "tel ",
    "var ",
    "returns ",
    "pre ",
    "every ",
    "(*",
    "*)",
    "--",
    "\n",
    "\n\n",
    " ",
    "f(",
    "x[",
    "x = ",
    "x: ",
    ";\n",
    "x = y;",
    "x, y = f(x);",
    "node f(x)->(o) ",
    "node f(x:num [3], c when x)->(o)\n  ",
    "run f { x: 1 2; }",
    "run f {",
    "x: 1 . 2;",
    "merge c (x) (y)",
    "x when not c",
    "0.0 fby x",
    "train f as g loss h optim s(1);",
    "import f from \"a\";",
    "-- doc\n",
    "(* doc *)",
];

/// A sequence of pieces, one per byte.
fn random_tokens(bytes: &[u8]) -> Vec<u8> {
    let mut text = String::new();
    for byte in bytes {
        text.push_str(PIECES[usize::from(*byte) % PIECES.len()]);
        // Most pieces need a space to stay separate tokens; without the space, other tokens arise.
        if !bytes.len().is_multiple_of(4) {
            text.push(' ');
        }
    }
    text.into_bytes()
}

/// A program of the specification with some errors: words are dropped, doubled, swapped or replaced by a
/// piece.
fn mistakes(bytes: &[u8]) -> Vec<u8> {
    let mut numbers = bytes.chunks_exact(2).map(|pair| usize::from(u16::from_le_bytes([pair[0], pair[1]])));
    let mut below = |n: usize| numbers.next().unwrap_or(0) % n.max(1);
    let programs = text_laws::programs();
    let file = SourceFile::new("fuzz.eddy", programs[below(programs.len())].clone());
    let mut ends: Vec<usize> =
        lex(&file, &LEXICON).tokens.iter().map(|token| token.span.end as usize).collect();
    ends.dedup();
    // Each word with the blanks before it, so that adjacency is preserved.
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let mut words: Vec<&str> =
        starts.zip(ends.iter()).map(|(start, end)| &file.text()[start..*end]).collect();
    for _ in 0..=below(4) {
        let (at, other) = (below(words.len()), below(words.len()));
        match below(4) {
            0 => drop(words.remove(at)),
            1 => words.insert(other, words[at]),
            2 => words.swap(at, other),
            _ => words[at] = PIECES[below(PIECES.len())],
        }
    }
    words.concat().into_bytes()
}

#[test]
fn arbitrary_bytes_are_survived() {
    try_random(10_000, 200, half_printable, survives);
}

#[test]
fn random_tokens_are_survived() {
    try_random(10_000, 60, random_tokens, survives);
}

#[test]
fn equations_of_random_tokens_are_survived() {
    try_random(
        20_000,
        10,
        |bytes| [b"node f(x)->(o) o = ", &random_tokens(bytes)[..], b";"].concat(),
        survives,
    );
}

#[test]
fn rows_of_random_tokens_are_survived() {
    try_random(10_000, 10, |bytes| [b"run f { x: ", &random_tokens(bytes)[..], b"; }"].concat(), survives);
}

#[test]
fn programs_with_mistakes_are_survived() {
    try_random(10_000, 40, mistakes, survives);
}

#[test]
fn bolero_bytes() {
    bolero::check!().with_iterations(0).for_each(survives);
}

#[test]
fn bolero_tokens() {
    bolero::check!().with_iterations(0).for_each(|bytes: &[u8]| survives(&random_tokens(bytes)));
}

#[test]
fn bolero_mistakes() {
    bolero::check!().with_iterations(0).for_each(|bytes: &[u8]| survives(&mistakes(bytes)));
}
