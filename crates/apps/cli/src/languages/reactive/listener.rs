//! Prints the driver's announcements on standard error.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use eddy_driver::{Event, Listener};

use crate::answers::Destination;
use crate::report::Form;
use crate::reproduction;

/// The C compiler takes seconds for more lines of C than this.
const MANY_LINES: usize = 10_000;

/// Writes remarks, progress and disagreements to standard error while a command runs.
pub struct Announcer {
    pub form: Form,
    /// The output to flush before a remark, because its next line may come much later.
    pub output: Option<Destination>,
}

impl Announcer {
    fn remark(&self, text: &str) {
        // Programs that read JSON get diagnostics and results only.
        if !matches!(self.form, Form::Json) {
            // If standard error is closed, the remark is lost.
            let _ = writeln!(io::stderr(), "note: {text}");
        }
    }

    /// A remark about a slow step, for a user at a terminal.
    fn progress(&self, text: &str) {
        if io::stderr().is_terminal() {
            self.remark(text);
        }
    }
}

impl Listener for Announcer {
    fn hear(&self, event: Event) {
        match event {
            Event::Compiling { node, n_lines } if n_lines > MANY_LINES => {
                self.progress(&format!("compiling `{node}`: {n_lines} lines of C"));
            }
            Event::Compiled { node, seconds, is_kept } => {
                let kept = if is_kept { "; it is kept for the next time" } else { "" };
                self.progress(&format!("compiled `{node}` in {seconds:.1} s{kept}"));
            }
            Event::NotCompared { node } => self.progress(&format!(
                "`{node}` runs compiled and is not compared with the simulator, which would take too long"
            )),
            Event::Disagreement { sources, found } => {
                // Reported relative to the current folder: the folder of the program may not belong to the
                // user.
                reproduction::report(self.form, &sources, Path::new(""), *found);
            }
            Event::Remark(text) => {
                // If the output is closed, the next write fails as well.
                let _ = self.output.as_ref().map(Destination::flush);
                self.remark(&text);
            }
            Event::Compiling { .. } | Event::FoundCompiled { .. } | Event::NotCompiled { .. } => {}
        }
    }
}
