//! Which engine runs a program, and what the user is told about it.

use eddy_language::Out;
use eddy_syntax::{Diagnostic, Span};

use super::program::{Compilation, compile};
use super::{NotCompiled, Source};
use crate::checkpoints;
use crate::codes;

/// What the command line says about engines.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The engine that is named.
    pub engine: Option<String>,
    /// What the program is called.
    pub name: String,
    /// Where messages point to.
    pub span: Span,
}

/// So many lines of C take some seconds in the C compiler, and whoever waits should know for what.
const MANY_LINES: usize = 10_000;

/// The program as machine code, unless it is to be simulated or cannot be compiled; and why it was not, if the user should know.
pub fn choose(
    source: &Source<'_>,
    choice: &Choice,
    out: Out<'_>,
) -> (Option<Compilation>, Option<Diagnostic>) {
    let is_asked_for = choice.engine.as_deref() == Some("compiled");
    if choice.engine.is_some() && !is_asked_for || !source.is_checked {
        return (None, None);
    }
    let mut tell = |n_lines: usize| {
        if n_lines > MANY_LINES {
            out.progress(&format!("compiling `{}`: {n_lines} lines of C", choice.name));
        }
    };
    match compile(source, &choice.name, &mut tell) {
        Ok(compilation) => {
            compilation.notes.iter().for_each(|note| out.remark(note));
            if let Some(seconds) = compilation.built_in {
                let name = &choice.name;
                let kept = if compilation.is_kept() { "; it is kept for the next time" } else { "" };
                out.progress(&format!("compiled `{name}` in {seconds:.1} s{kept}"));
            }
            let Choice { name, span, .. } = choice;
            let warning = checkpoints::warning(source.flow, &compilation.plan, name, *span);
            (Some(compilation), warning)
        }
        Err(why) if is_asked_for || why.is_unexpected() => (None, Some(warning(&why, choice))),
        Err(_) => (None, None),
    }
}

fn warning(why: &NotCompiled, choice: &Choice) -> Diagnostic {
    let title = format!("`{}` is not compiled: it runs in the simulator, more slowly", choice.name);
    let warning = Diagnostic::warning(codes::NOT_COMPILED, choice.span, title).reason(why.to_string());
    match why.help() {
        Some(help) => warning.help(help),
        None => warning,
    }
}
