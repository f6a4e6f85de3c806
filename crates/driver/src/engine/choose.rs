//! Chooses the engine that runs a program, and what to report about the choice.

use eddy_language::codes;
use eddy_syntax::{Diagnostic, Span};

use super::kind::EngineKind;
use super::program::{Compilation, Native, compile};
use super::{EngineInput, NotCompiled};
use crate::checkpoints;
use crate::listener::{Event, Listener};

/// The program to run, and the requested engine.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The engine, if one was named.
    pub engine: Option<EngineKind>,
    /// The program's name.
    pub name: String,
    /// The span for messages.
    pub span: Span,
}

/// Returns the program as machine code; `None` if the simulator is to run it, or if it cannot be compiled.
/// Also returns a warning, if the user should know why it is not compiled, or that checkpoints have no
/// effect.
pub fn choose(
    source: &EngineInput<'_>,
    choice: &Choice,
    native: &Native,
    listener: &dyn Listener,
) -> (Option<Compilation>, Option<Diagnostic>) {
    let is_asked_for = choice.engine == Some(EngineKind::Compiled);
    if choice.engine.is_some() && !is_asked_for || !source.is_checked {
        return (None, None);
    }
    let node = || choice.name.clone();
    let mut tell = |n_lines: usize| listener.hear(Event::Compiling { node: node(), n_lines });
    match compile(source, &choice.name, native, &mut tell) {
        Ok(compilation) => {
            listener.hear(match compilation.built_in {
                Some(seconds) => Event::Compiled { node: node(), seconds, is_kept: compilation.is_kept() },
                None => Event::FoundCompiled { node: node() },
            });
            let Choice { name, span, .. } = choice;
            let warning = checkpoints::warning(source.flow, &compilation.plan, name, *span);
            (Some(compilation), warning)
        }
        Err(why) => {
            listener.hear(Event::NotCompiled { node: node(), reason: why.to_string() });
            let is_told = is_asked_for || why.is_unexpected();
            (None, is_told.then(|| warning(&why, choice)))
        }
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
