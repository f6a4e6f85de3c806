//! Differentiation as a translation of flow to flow (section 9 of the language's specification).
//!
//! Each equation is replaced by its transpose, and time is reversed:
//!
//! ```text
//! y = x1 * x2          x̄1 += ȳ * x2,  x̄2 += ȳ * x1
//! y = x when c         x̄  += merge c ȳ 0
//! y = merge c a b      ā  += ȳ when c,  b̄ += ȳ when not c
//! y = i fby x          x̄  += 0 fby back ȳ
//! y = post x           x̄  += 0 fby ȳ
//! ```
//!
//! The result is equations again: they can be printed, run, compiled, and differentiated again. A program
//! requests derivatives with [`section`]s: ranges of its equations, with a request for each.
//! [`expand`](fn@expand) executes them, inner sections first.
//!
//! * [`section`]: the requests. [`body`]: the equations of one section.
//! * [`weave`]: resets and truncation, `N_end` and `N_cut` (9.4, 9.11), with [`waiting`] and [`lifted`] for
//!   sampled clocks. [`restart`]: `reset N(x) every c`, with the clocks of its [`surroundings`].
//!   [`activations`]: when a sampled clock is active.
//! * [`activity`]: the streams that carry derivatives.
//! * [`reverse`]: cotangents, a file per construct (9.2, 9.3).
//! * [`forward`]: tangents, likewise (9.10).
//! * [`custom`]: derivatives written by the user (9.12).
//! * [`adjoint`], [`diff`] with [`sampled`], [`tangent`], [`train`] with [`support`] and [`blocked`]: the
//!   synthesised nodes (9.1, 9.5, 9.7).
//! * [`writer`] writes equations, [`renaming`] removes copies, [`rows`] merges rows that were placed among
//!   zeros, [`prune`](mod@prune) removes dead equations.

mod activations;
mod activity;
mod adjoint;
mod blocked;
mod body;
mod custom;
mod diff;
mod expand;
mod forward;
mod lifted;
mod prune;
mod renaming;
mod restart;
mod reverse;
mod rows;
mod sampled;
mod support;
mod surroundings;
mod tangent;
mod train;
mod waiting;
mod weave;
mod writer;

pub mod codes;
pub mod section;

pub use body::{Body, Placed};
pub use expand::{EquationLimit, Expanded, Gradients, Host, expand};
pub use prune::prune;
pub use reverse::Use;
pub use reverse::node::{Node, NodeCall, NodeStep, Transposed};
