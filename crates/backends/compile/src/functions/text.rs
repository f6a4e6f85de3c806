//! Lines of C.

/// Text that grows line by line.
#[derive(Default)]
pub(super) struct Text {
    pub lines: String,
    pub depth: usize,
}

impl Text {
    pub fn line(&mut self, line: &str) {
        for _ in 0..self.depth {
            self.lines.push_str("  ");
        }
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    /// Opens a block; the lines that follow are indented.
    pub fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
    }

    pub fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// Ends a block and begins one that continues it, such as `else`.
    pub fn reopen(&mut self, head: &str) {
        self.depth -= 1;
        self.line(&format!("}} {head} {{"));
        self.depth += 1;
    }
}
