//! What is left to do when there are no more inputs: `flush` of programs whose streams are late.
//!
//! The loop goes on for as many iterations as its latest stream is late, for streams whose cycle is not past the end. A delay into the
//! future has its initial value at the last cycle. All this is known, so that `flush` gives the last cycles of all outputs, if
//! nothing is made of a `post`; what is would be unknown there.

use eddy_plan::plan::Lagged;

use super::Emitter;
use super::iteration::Loop;
use crate::lines::Lines;

impl<'a> Emitter<'a> {
    /// `flush` of one forward loop.
    pub(super) fn flush_late(&mut self, lagged: &'a Lagged) {
        let mut body = Lines::default();
        body.line("const int64_t t = self->t;");
        body.append(&self.iteration(&Loop::over(lagged)));
        body.line("self->t = t + 1;");
        let (name, z) = (self.name.clone(), lagged.look_ahead);
        self.max_outputs = self.max_outputs.max(z);
        self.functions.line("");
        let head = format!("static int32_t {name}_over({name}_state *self, int64_t end, {name}_out *out)");
        self.functions.block(&head, |lines| {
            lines.function_body(&["end", "out"], &body);
            lines.line(format!("return t >= {z} && t < end + {z};"));
        });
        self.functions.line("");
        let head = format!("int32_t {name}_flush({name}_state *self, {name}_out *out)");
        self.functions.block(&head, |lines| {
            lines.line("const int64_t end = self->t;");
            lines.line("int32_t rows = 0;");
            lines.block(&format!("for (int64_t k = 0; k < {}; k++)", lagged.max_lag), |lines| {
                lines.line(format!("const int32_t given = {name}_over(self, end, out + rows);"));
                lines.line("if (given < 0) return given;");
                lines.line("rows += given;");
            });
            lines.line("return rows;");
        });
        self.is_flushed = true;
    }
}
