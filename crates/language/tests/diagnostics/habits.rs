//! What users of Python, JAX, C, Lustre and Haskell write, and the first diagnostic about it.
//!
//! `habits.txt` is the table: a program in one line, with `⏎` for the end of a line, and below it, indented,
//! its first diagnostic and the help. Expressions are wrapped in `y = …;`, equations in a node `f(x) -> (y)`.
//! `UPDATE_EXPECT=1` rewrites the table: read what changed.

use eddy_language::check::{check_program, load};
use eddy_language::program::Limits;
use eddy_syntax::{Severity, SourceFile, Sources};
use expect_test::expect_file;

#[test]
fn habits_of_other_languages_get_a_fitting_message() {
    let table = include_str!("habits.txt");
    let mut section = "";
    let mut written = String::new();
    for line in table.lines().filter(|line| !line.starts_with("    ")) {
        written.push_str(line);
        written.push('\n');
        if let Some(title) = line.strip_prefix("== ") {
            section = title;
            continue;
        }
        let text = line.replace('⏎', "\n");
        let program = match section {
            "expressions" => format!("node f(x) -> (y)\n  y = {text};\n"),
            "equations" => format!("node f(x) -> (y)\n  {text}\n"),
            _ => text + "\n",
        };
        for answer in answers(&program) {
            written.push_str("    ");
            written.push_str(&answer);
            written.push('\n');
        }
    }
    expect_file!["habits.txt"].assert_eq(&written);
}

/// The answer of `eddy check` and its first diagnostic.
fn answers(program: &str) -> Vec<String> {
    let mut sources = Sources::alone(SourceFile::new("f.eddy", program));
    let checked = load(&mut sources, Limits::default()).and_then(|program| check_program(&program, None));
    let (text, diagnostics) = match checked {
        Ok(checked) => (checked.report.to_string(), checked.warnings),
        Err(diagnostics) => (String::new(), diagnostics),
    };
    let mut answers: Vec<String> = text.lines().map(|line| format!("= {line}")).collect();
    if let Some(first) = diagnostics.first() {
        let kind = if first.severity == Severity::Error { "error" } else { "warning" };
        answers.push(format!("{kind}[{}]: {}", first.code, first.title));
        answers.extend(first.help.as_ref().map(|help| format!("help: {}", help.text)));
    }
    answers
}
