//! C text under construction: lines, and how deep they stand.

use std::fmt::Write;

/// Lines of C.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    /// One line.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if line.is_empty() {
            self.text.push('\n');
        } else {
            let _ = writeln!(self.text, "{:width$}{line}", "", width = 2 * self.depth);
        }
    }

    /// `head { … }`.
    pub fn block(&mut self, head: &str, inner: impl FnOnce(&mut Lines)) {
        self.line(if head.is_empty() { "{".to_string() } else { format!("{head} {{") });
        self.depth += 1;
        inner(self);
        self.depth -= 1;
        self.line("}");
    }

    /// `if (a && b) { … }`, or just what is inside if there is no condition.
    pub fn guarded(&mut self, conditions: &[String], inner: impl FnOnce(&mut Lines)) {
        if conditions.is_empty() {
            return inner(self);
        }
        self.block(&format!("if ({})", conditions.join(" && ")), inner);
    }

    /// Lines that were written elsewhere.
    pub fn append(&mut self, other: &Lines) {
        for line in other.text.lines() {
            self.line(line);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}
