//! Clocks: the cycles at which a stream is present (section 5).
//!
//! A clock is a root, or a clock sampled by a condition: `base on c on not d`. Streams of one operation have
//! the same clock; `when` makes a slower one, `merge` joins two complementary ones. Clocks are inferred by
//! unification, and a program that combines streams on different clocks is rejected.
//!
//! Conditions are compared as variables, up to copies and negations: with `n = not c`, `on n` equals
//! `on not c`. Two expressions `a and b` are different conditions, because equal values are not proved; two
//! expressions `b when c` are the same ([`samplings`]).

mod errors;
mod infer;
mod samplings;

use eddy_syntax::Diagnostic;

use crate::flow::Flow;
pub use crate::flow::clocks::{Clock, ClockId, Clocks, Root};

/// Infers the clocks of a program.
pub fn infer(flow: &Flow) -> Result<Clocks, Vec<Diagnostic>> {
    infer::infer(flow, true)
}

/// Infers clocks and ignores errors, for programs that are run unchecked.
pub fn guess(flow: &Flow) -> Clocks {
    infer::infer(flow, false).expect("errors are ignored")
}
