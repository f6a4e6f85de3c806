//! Which vectors the processor has. Loops that profit from wide ones are compiled several times, and [`widest`] chooses.
//!
//! A loop is a type that implements [`WithSimd`](pulp::WithSimd), all of it `#[inline(always)]`, so that it becomes part of what `pulp` compiles
//! for each generation of processors. The choice shows in the time that a loop takes and never in its result: there is no
//! operation in them whose result depends on the processor, and the compiler does not reorder or fuse those of floating point.

use std::sync::LazyLock;

use pulp::Arch;

/// The best that the processor at hand can do.
#[inline]
pub(crate) fn widest() -> Arch {
    static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);
    *ARCH
}
