//! Clocks: at which cycles a stream is there (section 5).
//!
//! A clock is a root, or a clock sampled by a condition: `base on c on not d`. Streams of one operation have one clock; `when`
//! makes a slower one, `merge` joins two complementary ones. Clocks are found by unification, and a program whose streams
//! would be combined at different times is refused.
//!
//! Conditions are compared as variables, up to copies and negations: `n = not c` makes `on n` the same as `on not c`. Two texts
//! `a and b` are two conditions, since nothing says that they stay equal; two texts `b when c` are one ([`samplings`]).

mod errors;
mod infer;
mod samplings;

use eddy_syntax::Diagnostic;

use crate::flow::Flow;
pub use crate::flow::clocks::{Clock, ClockId, Clocks, Root};

/// Finds the clocks of a program.
pub fn infer(flow: &Flow) -> Result<Clocks, Vec<Diagnostic>> {
    infer::infer(flow, true)
}

/// Finds clocks as far as there are any: a program that is run unchecked may have none.
pub fn guess(flow: &Flow) -> Clocks {
    infer::infer(flow, false).expect("mistakes are ignored")
}
