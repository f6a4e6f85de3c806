//! `step` and `flush`: the prelude, the arrivals, and the window if it closes here.

use eddy_plan::plan::{Cut, Windows};

use super::super::Emitter;
use super::super::iteration::{Loop, before_end};
use crate::lines::Lines;

impl<'a> Emitter<'a> {
    /// `step`: the prelude, the arrivals, and the window if it closes here.
    pub(super) fn step_of_windows(&mut self, windows: &'a Windows, max_window: usize) {
        let name = &self.name;
        let head = format!("int32_t {name}_step({name}_state *self, const {name}_in *in, {name}_out *out)");
        self.arrival(windows, &Loop::new(&windows.prelude), &head, max_window);
    }

    /// A function that runs an iteration of the prelude, and the window if it closes with what arrives.
    fn arrival(&mut self, windows: &'a Windows, this: &Loop<'a>, head: &str, max_window: usize) {
        let mut body = Lines::default();
        self.prelude(windows, this, &mut body);
        let (lag, unknown) = (windows.prelude.max_lag, this.unknown_at_end());
        let is_trace = matches!(windows.cut, Cut::Trace);
        let run = self.choose_version(windows, "window", "n + 1, alt");
        let can_prepare_fail = self.can_prepare_fail();
        self.functions.line("");
        self.functions.block(head, |lines| {
            if can_prepare_fail {
                lines.line("if (self->failed) return -self->failed;");
            }
            lines.line("const int64_t n = self->n;");
            lines.line(format!("if (n >= {max_window}) return INT32_MIN;"));
            let unused: &[&str] = match (this.is_over, is_trace) {
                (true, _) => &["end"],
                (false, true) => &["in", "out"],
                (false, false) => &["in"],
            };
            lines.function_body(unused, &body);
            if lag > 0 && unknown == 0 {
                lines.line(format!("if (t < {lag}) return 0;"));
            } else if lag > 0 {
                lines.line(format!("if (!(t >= {lag} && {})) return 0;", before_end(lag, unknown)));
            }
            lines.line("self->n = n + 1;");
            if is_trace {
                // The window is the whole trace: `flush` runs it.
                return lines.line("return 0;");
            }
            lines.line("if (!closes) return 0;");
            lines.line("self->n = 0;");
            lines.append(&run);
        });
    }

    /// Runs the version of the window that was written for what is assumed about it.
    fn choose_version(&self, windows: &'a Windows, function: &str, arguments: &str) -> Lines {
        let (mut lines, name) = (Lines::default(), &self.name);
        for (number, version) in windows.versions.iter().enumerate() {
            let condition = match version.assumes {
                None => "",
                Some((_, true)) => "if (self->all) ",
                Some((_, false)) => "if (self->none) ",
            };
            lines.line(format!("{condition}return {name}_{function}{number}(self, {arguments}, out);"));
        }
        if windows.versions.iter().any(|version| version.assumes.is_some()) {
            lines.line("return INT32_MIN + 1;");
        }
        lines
    }

    /// `flush`: what the prelude is late with, then the window that is open, or is the whole trace.
    pub(super) fn flush_windows(&mut self, windows: &'a Windows, max_window: usize) {
        let is_trace = matches!(windows.cut, Cut::Trace);
        let (name, lag) = (self.name.clone(), windows.prelude.max_lag);
        let (over, is_known) = (Loop::over(&windows.prelude), self.root.may_be_unknown.is_empty());
        let runs_last = is_trace || self.opens && is_known;
        self.flushes = runs_last || over.unknown_at_end() < lag;
        if !self.flushes {
            return self.flush_nothing();
        }
        if lag > 0 {
            let head =
                format!("static int32_t {name}_over({name}_state *self, int64_t end, {name}_out *out)");
            self.arrival(windows, &over, &head, max_window);
        }
        if runs_last {
            self.last_window(windows, is_trace);
        }
        self.functions.line("");
        let head = format!("int32_t {name}_flush({name}_state *self, {name}_out *out)");
        self.functions.block(&head, |lines| {
            if lag == 0 {
                return lines.line(format!("return {name}_last(self, out);"));
            }
            lines.line("const int64_t end = self->t;");
            lines.line("int32_t rows = 0;");
            lines.block(&format!("for (int64_t k = 0; k < {lag}; k++)"), |lines| {
                lines.line(format!("const int32_t given = {name}_over(self, end, out + rows);"));
                lines.line("if (given < 0) return given;");
                lines.line("rows += given;");
            });
            if !runs_last {
                return lines.line("return rows;");
            }
            lines.line(format!("const int32_t given = {name}_last(self, out + rows);"));
            lines.line("return given < 0 ? given : rows + given;");
        });
        self.is_flushed = is_known;
    }

    /// The window that is open when the trace ends, or is all of it.
    fn last_window(&mut self, windows: &'a Windows, is_trace: bool) {
        let name = self.name.clone();
        let mut run = Lines::default();
        if is_trace {
            run.line(format!("return {name}_window0(self, n, 0, out);"));
        } else {
            run = self.choose_version(windows, "open", "n");
        }
        self.functions.line("");
        let head = format!("static int32_t {name}_last({name}_state *self, {name}_out *out)");
        self.functions.block(&head, |lines| {
            lines.line("const int64_t n = self->n;");
            lines.line("self->n = 0;");
            lines.line("if (n == 0) return 0;");
            lines.append(&run);
        });
    }
}
