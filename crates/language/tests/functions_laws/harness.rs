//! Runs generated programs and compares what they print.

use eddy_language::functions::{Budget, lower};
use eddy_language::resolve;
use eddy_syntax::render::short;
use eddy_syntax::{SourceFile, Sources};
use proptest::prelude::*;

use crate::generate::PRELUDE;

/// The decisions of a generator.
pub fn numbers() -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), 0..120)
}

/// Where generated functions are evaluated.
pub const POINT: &str = "(0.625, [0.375, -0.75, 1.25])";

/// The lines that evaluations print.
pub fn lines(text: &str, evals: &[String]) -> Result<Vec<String>, String> {
    let evals: Vec<String> = evals.iter().map(|eval| format!("eval {eval};\n")).collect();
    let evals = evals.concat();
    let text = format!("{PRELUDE}{text}{evals}");
    let mut sources = Sources::alone(SourceFile::new("FILE", text.as_str()));
    let failed = |found: &[eddy_syntax::Diagnostic], sources: &Sources| {
        let found: String = found.iter().map(|found| short(found, sources) + "\n").collect();
        Err(format!("{found}{text}"))
    };
    let program = match resolve(&mut sources).accepted() {
        Ok(program) => program,
        Err(found) => return failed(&found, &sources),
    };
    let mut budget = Budget::default();
    let functions = match lower(&program, &mut budget) {
        Ok(functions) => functions,
        Err(found) => return failed(&found, &sources),
    };
    let mut lines = Vec::new();
    for eval in &functions.evals {
        match functions.evaluate(eval.item, &mut budget) {
            Ok(line) => lines.push(line),
            Err(failure) => return failed(&[*failure], &sources),
        }
    }
    Ok(lines)
}

/// The numbers of a line.
pub fn parsed(line: &str) -> Vec<f64> {
    let words = line.split(|c: char| "[]{},:\"".contains(c));
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Whether a line has numbers other than 0 and all of them are moderate.
pub fn is_moderate(line: &str) -> bool {
    let numbers = parsed(line);
    numbers.iter().all(|x| x.is_finite() && x.abs() < 1e6) && numbers.iter().any(|x| *x != 0.0)
}

/// Both lines have the same numbers, within a relative tolerance.
pub fn near(what: &str, a: &str, b: &str, tolerance: f64) -> Result<(), String> {
    let (x, y) = (parsed(a), parsed(b));
    let is_near = |(x, y): (&f64, &f64)| {
        (x - y).abs() <= tolerance * (1.0 + x.abs().max(y.abs())) || x.is_nan() && y.is_nan() || x == y
    };
    if x.len() == y.len() && x.iter().zip(&y).all(is_near) {
        Ok(())
    } else {
        Err(format!("{what}:\n  {a}\n  {b}"))
    }
}
