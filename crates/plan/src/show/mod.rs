//! Plans for people: `eddy plan` (section 14).
//!
//! * [`kind`]: the one line that says what a plan is.
//! * [`text`]: all of it.

mod kind;
mod text;

pub use kind::{kind, reason};
pub use text::report;
