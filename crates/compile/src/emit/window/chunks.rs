//! The chunks of a window with checkpoints, as C.
//!
//! ```text
//! chunk:        how many cycles a chunk has, the square root of the length of the window, rounded up
//! from, to:     the first cycle of the chunk, and the one after its last
//! low, high:    the same, of its inner cycles
//! before:       the cycle before the chunk; buffers that are kept for one chunk begin there
//! ```
//!
//! Chunks are counted from where the loop starts that runs again: the last one that it comes to may be shorter. So another chunk begins
//! where the cycle that the loop comes from is an inner one.

use eddy_plan::plan::Direction;

use super::alternatives;
use super::sweep::Bodies;
use crate::lines::Lines;

/// The chunks of a loop that goes this way, and runs again.
#[derive(Clone, Copy)]
pub(super) struct Chunks(pub Direction);

impl Chunks {
    /// All chunks, in the order in which the loop comes to them.
    pub fn in_order(self) -> &'static str {
        match self.0 {
            Direction::Forward => "for (int64_t from = 0; from < n; from += chunk)",
            Direction::Backward => "for (int64_t to = n; to > 0; to -= chunk)",
        }
    }

    /// All chunks, in the opposite order.
    pub fn reversed(self) -> &'static str {
        match self.0 {
            Direction::Forward => "for (int64_t from = (n - 1) / chunk * chunk; from >= 0; from -= chunk)",
            Direction::Backward => "for (int64_t to = n - (n - 1) / chunk * chunk; to <= n; to += chunk)",
        }
    }

    /// Where a chunk begins and ends, and which of its cycles are inner ones; `end` is the cycle after the last of these in the window.
    pub fn bounds(self, end: &str, lines: &mut Lines) {
        lines.line(match self.0 {
            Direction::Forward => {
                "const int64_t to = from + chunk < n ? from + chunk : n, before = from - 1;"
            }
            Direction::Backward => "const int64_t from = to > chunk ? to - chunk : 0, before = from - 1;",
        });
        lines.line("const int64_t low = from > 0 ? from : 1;");
        lines.line(format!("const int64_t high = to < {end} ? to : {end};"));
        lines.line("(void)low, (void)high, (void)before;");
    }

    /// Whether it is the first chunk that the loop comes to.
    pub fn is_first(self) -> &'static str {
        match self.0 {
            Direction::Forward => "from == 0",
            Direction::Backward => "to == n",
        }
    }

    /// Whether it is another one.
    pub fn is_later(self) -> &'static str {
        match self.0 {
            Direction::Forward => "from > 0",
            Direction::Backward => "to < n",
        }
    }

    /// The number of a chunk.
    pub fn number(self) -> &'static str {
        match self.0 {
            Direction::Forward => "from / chunk",
            Direction::Backward => "(n - to) / chunk",
        }
    }

    /// The entry of a buffer for the cycle that the loop comes from.
    pub fn behind(self) -> &'static str {
        match self.0 {
            Direction::Forward => "0",
            Direction::Backward => "to - before",
        }
    }

    /// The entry of a buffer for the cycle that the loop goes to after the chunk; where that is, if there is such a cycle, when the
    /// chunk with it was the last one that was run; and the condition for that.
    pub fn ahead(self) -> [&'static str; 3] {
        match self.0 {
            Direction::Forward => ["chunk + 1", "1", "to < n"],
            Direction::Backward => ["0", "from < chunk ? from : chunk", "from > 0"],
        }
    }
}

/// The cycles of a chunk; something may be done after the inner ones.
pub(super) fn run(bodies: &Bodies, direction: Direction, after_inner: &Lines, lines: &mut Lines) {
    let first = |lines: &mut Lines| {
        if !bodies.first.is_empty() {
            lines.block("if (from == 0)", |lines| {
                cycle("0", lines);
                lines.append(&bodies.first);
            });
        }
    };
    let last = |lines: &mut Lines| {
        if bodies.lasts.iter().any(|last| !last.is_empty()) {
            lines.block("if (to == n)", |lines| {
                cycle("n - 1", lines);
                alternatives(&bodies.lasts, lines);
            });
        }
    };
    let inner = |head: &str, lines: &mut Lines| {
        if !bodies.inner.is_empty() {
            lines.block(head, |lines| lines.append(&bodies.inner));
        }
        lines.append(after_inner);
    };
    match direction {
        Direction::Forward => {
            first(lines);
            inner("for (int64_t t = low; t < high; t++)", lines);
            last(lines);
        }
        Direction::Backward => {
            last(lines);
            inner("for (int64_t t = high - 1; t >= low; t--)", lines);
            first(lines);
        }
    }
}

/// Says which cycle it is.
fn cycle(index: &str, lines: &mut Lines) {
    lines.line(format!("const int64_t t = {index};"));
    lines.line("(void)t;");
}
