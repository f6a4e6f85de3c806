//! Plans for people and for scripts: `eddy plan` (section 14).
//!
//! * [`kind`](mod@kind): the one line that says what a plan is.
//! * [`text`](mod@text): all of it; [`json`](mod@json): the same for scripts; [`svg`](mod@svg): a picture of the sweeps and of what they hand to
//!   each other.

mod checkpoint;
mod closing;
mod json;
mod kind;
mod names;
mod svg;
mod text;

pub use checkpoint::no_checkpoints;
pub use json::json;
pub use kind::{kind, reason};
pub use svg::svg;
pub use text::report;
