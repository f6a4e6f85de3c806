//! Diagnostics about invalid programs: each test is a program and the whole message.

mod declarations;
mod equations;
mod expressions;
mod foreign;
mod habits;
mod numbers;
mod recovery;
mod runs;
mod words;

use eddy_language::parse::parse;
use eddy_syntax::render::{Style, full};
use eddy_syntax::{SourceFile, Sources};
use expect_test::Expect;

/// Checks all diagnostics about a program, in full.
fn check(text: &str, expected: &Expect) {
    let file = SourceFile::new("f.eddy", text);
    let messages: Vec<_> = parse(&file)
        .diagnostics
        .iter()
        .map(|diagnostic| full(diagnostic, &Sources::alone(file.clone()), Style::Plain))
        .collect();
    expected.assert_eq(&(messages.join("\n\n") + "\n"));
}

/// As `check`, for an equation.
fn check_equation(text: &str, expected: &Expect) {
    check(&format!("node f(x)->(o) {text}"), expected);
}

/// A program that is almost invalid, but accepted.
fn accepted(text: &str) {
    let diagnostics = parse(&SourceFile::new("f.eddy", text)).diagnostics;
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
}
