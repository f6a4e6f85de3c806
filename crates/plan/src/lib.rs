//! From flow equations to static loops: retiming, windows, sweeps.
//!
//! A program says what each stream is, not when it is computed. Planning decides that: which equations run in one forward
//! loop, perhaps some cycles late; where time is cut into windows; which loops run over a window, forwards or backwards, and
//! what is kept between them. The result is data that code can be printed from.
//!
//! * [`plan`]: what a plan is.

mod cells;
mod graph;
mod held;
mod known;
pub mod plan;
mod region;
mod retime;
mod sweeps;
mod system;
mod units;
mod zones;

pub use plan::Plan;
