//! Plans for people and scripts: `eddy plan` (section 14).
//!
//! * [`kind`](mod@kind): a summary in one line.
//! * [`text`](mod@text): the whole plan; [`json`](mod@json): the same for scripts; [`svg`](mod@svg): a
//!   picture of the sweeps and the buffers between them.

mod checkpoint;
mod derived_end;
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
