//! C text under construction: lines, and blocks of them.

use std::fmt::Write;

/// Lines of C.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    pub lines: Vec<Line>,
}

/// One line, or several that belong together.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// A line.
    Plain(String),
    /// `head { …` and what closes it.
    Block { head: String, inner: Lines, end: String },
}

impl Lines {
    /// One line.
    pub fn line(&mut self, line: impl AsRef<str>) {
        self.lines.push(Line::Plain(line.as_ref().to_string()));
    }

    /// `head { … }`.
    pub fn block(&mut self, head: &str, inner: impl FnOnce(&mut Lines)) {
        self.block_with(head, "}", inner);
    }

    /// `head { …` and what closes it.
    pub fn block_with(&mut self, head: &str, end: &str, inner: impl FnOnce(&mut Lines)) {
        let mut lines = Lines::default();
        inner(&mut lines);
        self.lines.push(Line::Block { head: head.to_string(), inner: lines, end: end.to_string() });
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
        self.lines.extend_from_slice(&other.lines);
    }

    /// The body of a function with these parameters, which may fail: those that it does not need are mentioned, since compilers warn.
    pub fn function_body(&mut self, parameters: &[&str], body: &Lines) {
        let can_fail = body.mention("&error");
        if can_fail {
            self.line("int32_t error = 0;");
        }
        let is_in = |name: &&&str| body.any(&|line| mentions_variable(line, name));
        for name in parameters.iter().filter(|name| !is_in(name)) {
            self.line(format!("(void){name};"));
        }
        self.append(body);
        if can_fail {
            self.line("if (error) return -error;");
        }
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether this text is in some line.
    pub fn mention(&self, text: &str) -> bool {
        self.any(&|line| line.contains(text))
    }

    fn any(&self, is_it: &dyn Fn(&str) -> bool) -> bool {
        self.lines.iter().any(|line| line.any(is_it))
    }

    /// All of it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(0, &mut text);
        text
    }

    fn write(&self, depth: usize, text: &mut String) {
        let put = |line: &str, text: &mut String| {
            let width = if line.is_empty() { 0 } else { 2 * depth };
            let _ = writeln!(text, "{:width$}{line}", "");
        };
        for line in &self.lines {
            match line {
                Line::Plain(line) => put(line, text),
                Line::Block { head, inner, end } => {
                    put(&if head.is_empty() { "{".to_string() } else { format!("{head} {{") }, text);
                    inner.write(depth + 1, text);
                    put(end, text);
                }
            }
        }
    }
}

/// Whether a line mentions a variable: not a field of the same name, nor in a comment.
fn mentions_variable(line: &str, name: &str) -> bool {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let code = line.split("/*").enumerate();
    let mut code =
        code.map(
            |(part, text)| if part == 0 { text } else { text.split_once("*/").map_or("", |(_, code)| code) },
        );
    code.any(|code| {
        code.match_indices(name).any(|(at, _)| {
            let (before, after) = (&code[..at], &code[at + name.len()..]);
            let is_field = before.ends_with("->") || before.ends_with('.');
            !before.ends_with(is_of_word) && !after.starts_with(is_of_word) && !is_field
        })
    })
}

impl Line {
    /// Whether it, or a line inside, is such.
    pub fn any(&self, is_it: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Line::Plain(text) => is_it(text),
            Line::Block { head, inner, .. } => is_it(head) || inner.any(is_it),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_comments_are_no_variables() {
        for line in ["out->y = in->self;", "x = 1; /* self */", "selfish = a.self;", "/* a: self + b */"] {
            assert!(!mentions_variable(line, "self"), "{line}");
        }
        for line in ["self->x = 1; /* y */", "f(self);", "/* y */ out = self;", "in->self = self"] {
            assert!(mentions_variable(line, "self"), "{line}");
        }
    }
}
