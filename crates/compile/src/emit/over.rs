//! What is left to do when there are no more inputs: `flush` of programs whose streams are late.
//!
//! The loop goes on for as many iterations as its outputs are late, for streams whose cycle is not past the end; more would show nothing, and there is no room for more. A delay into the
//! future has its initial value at the last cycle. What is made of a `post` may be unknown at the last cycles: these are left out, and all
//! others are given.

use eddy_plan::plan::Lagged;
use rustc_hash::FxHashSet;

use super::Emitter;
use super::iteration::{Loop, before_end};
use crate::lines::Lines;
use crate::lower::Lowered;

impl<'a> Emitter<'a> {
    /// `flush` of one forward loop.
    pub(super) fn flush_late(&mut self, lagged: &'a Lagged) {
        let this = Loop::over(lagged);
        let (name, z, unknown) = (self.name.clone(), lagged.look_ahead, this.unknown_at_end());
        self.left_out = unknown;
        if unknown >= z {
            // If outputs are not late themselves, all were given.
            self.is_flushed = z == 0;
            return self.flush_nothing();
        }
        let mut body = Lines::default();
        body.line("const int64_t t = self->t;");
        body.append(&self.iteration(&this));
        body.line("self->t = t + 1;");
        self.max_outputs = self.max_outputs.max(z);
        self.functions.line("");
        let head = format!("static int32_t {name}_over({name}_state *self, int64_t end, {name}_out *out)");
        self.functions.block(&head, |lines| {
            lines.function_body(&["end", "out"], &body);
            lines.line(format!("return t >= {z} && {};", before_end(z, unknown)));
        });
        self.functions.line("");
        let head = format!("int32_t {name}_flush({name}_state *self, {name}_out *out)");
        self.functions.block(&head, |lines| {
            lines.line("const int64_t end = self->t;");
            lines.line("int32_t rows = 0;");
            lines.block(&format!("for (int64_t k = 0; k < {z}; k++)"), |lines| {
                lines.line(format!("const int32_t given = {name}_over(self, end, out + rows);"));
                lines.line("if (given < 0) return given;");
                lines.line("rows += given;");
            });
            lines.line("return rows;");
        });
        self.flushes = true;
        self.is_flushed = unknown == 0;
    }

    /// Conditions of what is not computed any more are read by nobody; C compilers would warn.
    pub(super) fn use_conditions(&self, this: &Loop<'a>, lowered: &Lowered, lines: &mut Lines) {
        if !this.is_over {
            return;
        }
        let clocks = this.body().flat_map(|late| &late.instruction.clock);
        let mut used = FxHashSet::default();
        for condition in clocks.map(|condition| condition.read.var()) {
            if this.computes(condition) && lowered.homes.has(condition) && used.insert(condition) {
                let view = lowered.homes.seen(condition, self.ty(condition));
                lines.line(format!("(void){};", lowered.homes.element(&view, &view.offset.to_string())));
            }
        }
    }
}
