//! Runs the evaluations of a file and renders what `eddy run` prints.

use eddy_language::functions::{Budget, lower};
use eddy_language::resolve;
use eddy_syntax::render::short;
use eddy_syntax::{SourceFile, Sources};

/// What a file prints: a line for each evaluation, then the first error, without its code.
pub fn output(text: &str, mut budget: Budget) -> String {
    let mut sources = Sources::alone(SourceFile::new("FILE", text));
    let refused = |diagnostics: Vec<eddy_syntax::Diagnostic>, sources: &Sources| -> String {
        diagnostics.iter().map(|found| without_code(&short(found, sources)) + "\n").collect()
    };
    let program = match resolve(&mut sources).accepted() {
        Ok(program) => program,
        Err(diagnostics) => return refused(diagnostics, &sources),
    };
    let functions = match lower(&program, &mut budget) {
        Ok(functions) => functions,
        Err(diagnostics) => return refused(diagnostics, &sources),
    };
    let mut lines = String::new();
    for eval in &functions.evals {
        match functions.evaluate(eval.item, &mut budget) {
            Ok(line) => lines += &(line + "\n"),
            Err(failure) => return lines + &refused(vec![*failure], &sources),
        }
    }
    lines
}

/// `FILE:1:2: error[E0301]: text` as the specification has it.
fn without_code(line: &str) -> String {
    match (line.find('['), line.find("]:")) {
        (Some(start), Some(end)) if start < end => format!("{}{}", &line[..start], &line[end + 1..]),
        _ => line.to_string(),
    }
}

#[track_caller]
pub fn check(text: &str, expected: &[&str]) {
    let found = output(text, Budget::default());
    assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{text}");
}

/// The file is refused, or the run fails, with these words, at this place.
#[track_caller]
pub fn fails(text: &str, place: &str, words: &str) {
    let found = output(text, Budget::default());
    let last = found.lines().last().unwrap_or_default();
    assert!(last.starts_with(&format!("FILE:{place}: error: ")), "{text}\n{found}");
    assert!(last.contains(words), "{text}\n{found}");
}
