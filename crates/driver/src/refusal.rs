//! Why a request has no answer.

use std::{error, fmt};

use eddy_syntax::render::{Style, full};
use eddy_syntax::{Diagnostic, Sources};

/// A refused program, request or data. `Display` shows the messages with their excerpts.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The errors; at least one.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that the diagnostics refer to: those of the program, and excerpts of data and constants.
    pub sources: Sources,
}

impl Refusal {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>, sources: &Sources) -> Refusal {
        Refusal { diagnostics, sources: sources.clone() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, diagnostic) in self.diagnostics.iter().enumerate() {
            let between = if number == 0 { "" } else { "\n\n" };
            write!(f, "{between}{}", full(diagnostic, &self.sources, Style::Plain))?;
        }
        Ok(())
    }
}

impl error::Error for Refusal {}
