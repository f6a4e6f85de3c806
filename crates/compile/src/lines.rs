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
        self.block_with(head, "}", inner);
    }

    /// `head { …` and what closes it.
    pub fn block_with(&mut self, head: &str, end: &str, inner: impl FnOnce(&mut Lines)) {
        self.line(if head.is_empty() { "{".to_string() } else { format!("{head} {{") });
        self.depth += 1;
        inner(self);
        self.depth -= 1;
        self.line(end);
    }

    /// Lines of a body whose head is written elsewhere.
    pub fn nested(&mut self, inner: impl FnOnce(&mut Lines)) {
        self.depth += 1;
        inner(self);
        self.depth -= 1;
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

    /// The body of a function with these parameters, which may fail: those that it does not need are mentioned, since compilers warn.
    pub fn function_body(&mut self, parameters: &[&str], body: &Lines) {
        let can_fail = body.text.contains("&error");
        if can_fail {
            self.line("int32_t error = 0;");
        }
        let is_in = |name: &&&str| {
            let mut words = body.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            words.any(|word| word == **name)
        };
        for name in parameters.iter().filter(|name| !is_in(name)) {
            self.line(format!("(void){name};"));
        }
        self.append(body);
        if can_fail {
            self.line("if (error) return -error;");
        }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}
