//! The page behind a diagnostic's code: what it means, why it is refused, a wrong program and a right one.
//!
//! Pages are Markdown files under `docs/errors`, so that the terminal and the book show the same text. A
//! language lists its own pages; a test runs the programs that they show.

use crate::diagnostic::Code;

/// One page of `eddy explain`.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The code that it explains.
    pub code: Code,
    /// The text, in Markdown.
    pub text: &'static str,
}

impl Page {
    /// The first heading, without the code: a title for the list of codes.
    pub fn title(&self) -> &'static str {
        let heading = self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim();
        heading.strip_prefix(self.code).map_or(heading, |rest| rest.trim_start_matches(':').trim())
    }
}
