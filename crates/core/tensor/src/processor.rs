//! Selects the vector width of the processor. Loops that profit from wide vectors are compiled for several,
//! and [`widest`] chooses one.
//!
//! A loop is a type that implements [`WithSimd`](pulp::WithSimd), with everything `#[inline(always)]`, so
//! that `pulp` compiles the whole loop for each generation of processors. The choice affects the time of a
//! loop and never its result: no operation in these loops depends on the processor, and the compiler neither
//! reorders nor fuses floating-point operations.

use std::sync::LazyLock;

use pulp::Arch;

/// The best instruction set of this processor.
#[inline]
pub(crate) fn widest() -> Arch {
    static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);
    *ARCH
}
