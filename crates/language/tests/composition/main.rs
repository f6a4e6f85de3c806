//! Laws of composition (composition.md, section 13), on generated programs.
//!
//! * [`expansion`]: a composed program is its expansion by hand. [`machines`]: state machines against an
//!   interpreter of their own. [`rows`]: rows at run time. [`segments`]: restarts, and segments on any
//!   clocks.

mod expansion;
mod machines;
mod rows;
mod segments;

use eddy_language::resolve;
use eddy_language::runs::{self, RunOverrides};
use eddy_syntax::{Diagnostic, SourceFile, Sources};

/// The lines that the test benches of a program print, or its first error.
fn output(text: &str) -> Result<Vec<String>, String> {
    let mut sources = Sources::alone(SourceFile::new("law.eddy", text));
    let first = |errors: Vec<Diagnostic>| errors[0].title.clone();
    let program = resolve(&mut sources).accepted().map_err(first)?;
    let mut lines = Vec::new();
    for run in program.modules[1].tree.runs() {
        let (ran, _) = runs::run(&program, run, &RunOverrides::default()).map_err(first)?;
        lines.extend(ran.text(None).lines().map(str::to_string));
    }
    Ok(lines)
}
