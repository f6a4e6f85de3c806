//! Differentiation as a translation of flow to flow (section 9 of the language's specification).
//!
//! Each equation becomes its transpose, and time turns round with it:
//!
//! ```text
//! y = x1 * x2          x̄1 += ȳ * x2,  x̄2 += ȳ * x1
//! y = x when c         x̄  += merge c ȳ 0
//! y = merge c a b      ā  += ȳ when c,  b̄ += ȳ when not c
//! y = i fby x          x̄  += 0 fby back ȳ
//! y = post x           x̄  += 0 fby ȳ
//! ```
//!
//! The result is equations again: they can be printed, run, compiled, and differentiated once more. A program
//! says what it wants by [`section`]s: stretches of its equations with what is to become of them.
//! [`expand`](fn@expand) does it, inner sections first.
//!
//! * [`section`]: what can be asked for. [`body`]: the equations of one section.
//! * [`weave`]: resets and truncation, `N_end` and `N_cut` (9.4, 9.11).
//! * [`activity`]: which streams carry derivatives at all.
//! * [`reverse`]: cotangents, a file per construct (9.2, 9.3).
//! * [`forward`]: tangents, likewise (9.10).
//! * [`custom`]: derivatives that the user writes (9.12).
//! * [`adjoint`], [`diff`] with [`sampled`], [`tangent`], [`train`] with [`support`] and [`blocked`]: the
//!   synthesised nodes (9.1, 9.5, 9.7).
//! * [`writer`] writes equations, [`renaming`] saves copies, [`rows`] puts rows together that were placed
//!   among zeros, [`prune`](mod@prune) drops what nothing needs.

mod activity;
mod adjoint;
mod blocked;
mod body;
mod custom;
mod diff;
mod expand;
mod forward;
mod prune;
mod renaming;
mod reverse;
mod rows;
mod sampled;
mod support;
mod tangent;
mod train;
mod weave;
mod writer;

pub mod codes;
pub mod section;

pub use body::{Body, Placed};
pub use expand::{EquationLimit, Expanded, Gradients, Host, expand};
pub use prune::prune;
pub use reverse::Use;
pub use reverse::node::{Node, NodeCall, NodeStep, Transposed};
