//! The chunks of a window with checkpoints.
//!
//! ```text
//! chunk:        the length of a chunk, the square root of the length of the window, rounded up
//! from, to:     the first cycle of the chunk, and the one after its last
//! low, high:    the same, for its inner cycles
//! before:       the cycle before the chunk, where chunk buffers begin
//! ```
//!
//! Chunks are counted from the start of the loop that runs again: its last chunk may be shorter. So each
//! later chunk begins after an inner cycle.

use eddy_imp::{Block, Expr, Type};
use eddy_plan::plan::Direction;

use super::sweep::Bodies;
use super::{alternatives, at_cycle, n};

/// The chunks of a loop in this direction that runs again.
#[derive(Clone, Copy)]
pub(super) struct Chunks(pub Direction);

fn from() -> Expr {
    Expr::var("from")
}

fn to() -> Expr {
    Expr::var("to")
}

fn chunk() -> Expr {
    Expr::var("chunk")
}

impl Chunks {
    /// All chunks, in the order of the loop.
    pub fn in_order(self, block: &mut Block, inner: impl FnOnce(&mut Block)) {
        match self.0 {
            Direction::Forward => block.repeat("from", Type::Cycle, 0, from().lt(n()), chunk(), inner),
            Direction::Backward => block.repeat("to", Type::Cycle, n(), to().gt(0), -chunk(), inner),
        }
    }

    /// All chunks, in the opposite order.
    pub fn reversed(self, block: &mut Block, inner: impl FnOnce(&mut Block)) {
        let whole = (n() - 1) / chunk() * chunk();
        match self.0 {
            Direction::Forward => block.repeat("from", Type::Cycle, whole, from().ge(0), -chunk(), inner),
            Direction::Backward => {
                block.repeat("to", Type::Cycle, n() - whole, to().le(n()), chunk(), inner);
            }
        }
    }

    /// Declares the bounds of a chunk and of its inner cycles; `end` is the cycle after the last inner cycle
    /// of the window.
    pub fn bounds(self, end: &Expr, block: &mut Block) {
        match self.0 {
            Direction::Forward => {
                let next = from() + chunk();
                block.constant("to", Type::Cycle, Expr::choice(next.clone().lt(n()), next, n()));
            }
            Direction::Backward => {
                let first = Expr::choice(to().gt(chunk()), to() - chunk(), 0);
                block.constant("from", Type::Cycle, first);
            }
        }
        block.constant("before", Type::Cycle, from() - 1);
        block.constant("low", Type::Cycle, Expr::choice(from().gt(0), from(), 1));
        block.constant("high", Type::Cycle, Expr::choice(to().lt(end), to(), end));
    }

    /// Whether it is the first chunk of the loop.
    pub fn is_first(self) -> Expr {
        match self.0 {
            Direction::Forward => from().equals(0),
            Direction::Backward => to().equals(n()),
        }
    }

    /// Whether it is a later chunk.
    pub fn is_later(self) -> Expr {
        match self.0 {
            Direction::Forward => from().gt(0),
            Direction::Backward => to().lt(n()),
        }
    }

    /// The index of a chunk.
    pub fn number(self) -> Expr {
        match self.0 {
            Direction::Forward => from() / chunk(),
            Direction::Backward => (n() - to()) / chunk(),
        }
    }

    /// The entry of a buffer for the previous cycle, in the direction of the loop.
    pub fn behind(self) -> Expr {
        match self.0 {
            Direction::Forward => 0.into(),
            Direction::Backward => to() - Expr::var("before"),
        }
    }

    /// The entry of a buffer for the cycle after the chunk, in the direction of the loop; where its value was
    /// when the next chunk was run; and the condition that there is one.
    pub fn ahead(self) -> [Expr; 3] {
        match self.0 {
            Direction::Forward => [chunk() + 1, 1.into(), to().lt(n())],
            Direction::Backward => {
                [0.into(), Expr::choice(from().lt(chunk()), from(), chunk()), from().gt(0)]
            }
        }
    }
}

/// Runs over the cycles of a chunk; `after_inner` runs after the inner ones.
pub(super) fn run(bodies: Bodies, direction: Direction, after_inner: Block, block: &mut Block) {
    let Bodies { first, inner, lasts } = bodies;
    let mut last = Block::new();
    if lasts.iter().any(|last| !last.is_empty()) {
        alternatives(lasts, &mut last);
    }
    let run_first = |block: &mut Block| {
        if !first.is_empty() {
            block.when(from().equals(0), |block| block.append(at_cycle(0, first)));
        }
    };
    let run_last = |block: &mut Block| {
        if !last.is_empty() {
            block.when(to().equals(n()), |block| block.append(at_cycle(n() - 1, last)));
        }
    };
    let run_inner = |block: &mut Block| {
        if !inner.is_empty() {
            inner_cycles(direction, inner, block);
        }
        block.append(after_inner);
    };
    match direction {
        Direction::Forward => {
            run_first(block);
            run_inner(block);
            run_last(block);
        }
        Direction::Backward => {
            run_last(block);
            run_inner(block);
            run_first(block);
        }
    }
}

/// A loop over the cycles from `low` to `high`.
pub(super) fn inner_cycles(direction: Direction, inner: Block, block: &mut Block) {
    let (t, low, high) = (Expr::var("t"), Expr::var("low"), Expr::var("high"));
    let append = |block: &mut Block| block.append(inner);
    match direction {
        Direction::Forward => block.repeat("t", Type::Cycle, low, t.lt(high), 1, append),
        Direction::Backward => block.repeat("t", Type::Cycle, high - 1, t.ge(low), -1, append),
    }
}
