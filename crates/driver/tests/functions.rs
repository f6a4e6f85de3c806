//! The golden files of functions on both engines.

#![expect(clippy::disallowed_methods, reason = "tests read files")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use eddy_driver::functions::Budget;
use eddy_driver::{BenchRequest, BuildOptions, Deaf, EngineKind, Options, Session};
use eddy_language::codes;
use eddy_syntax::Diagnostic;

/// All lines that a file prints, and how it ends.
fn outcome(session: &Session, text: &str, engine: EngineKind) -> String {
    // One of the files does not terminate.
    let budget = Budget { fuel: Some(3_000_000), ..Budget::default() };
    let request = BenchRequest { engine: Some(engine), budget, ..BenchRequest::default() };
    let program = match session.load_text("file.eddy", text) {
        Ok(program) => program,
        Err(refusal) => return format!("{:?}", refusal.diagnostics),
    };
    match program.benches(&request) {
        Ok(answer) => {
            let is_replaced = |warning: &Diagnostic| warning.code == codes::NOT_COMPILED;
            assert!(!answer.warnings.iter().any(is_replaced), "{:?}", answer.warnings);
            let lines: String = answer.value.results.iter().map(|result| result.text(None)).collect();
            format!("{lines}{:?}", answer.value.failure)
        }
        Err(refusal) => format!("{:?}", refusal.diagnostics),
    }
}

#[test]
fn golden_files_have_the_same_outcome_compiled_and_interpreted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reactive/functions");
    let mut options = BuildOptions::from_environment().expect("the environment makes sense");
    options.tries_compiler = false;
    let session = Session::new(Options::new(Ok(options)), Arc::new(Deaf));
    let mut n_files = 0;
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_none_or(|extension| extension != "eddy") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("it can be read");
        let interpreted = outcome(&session, &text, EngineKind::Simulate);
        assert_eq!(outcome(&session, &text, EngineKind::Compiled), interpreted, "{}", path.display());
        n_files += 1;
    }
    assert!(n_files > 25, "{n_files} files");
}
