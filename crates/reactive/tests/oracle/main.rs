//! The compiler against the yardstick of `eddy_tables::oracle`: every rewrite of a pure function keeps its tables.
//!
//! A pure function is a node without memory, at one cycle. It is evaluated in three ways ([`functions`]): by the simulator, which rewrites nothing; by executing
//! its plan, in which constants are folded, copies skipped and dead equations gone; and as C, in which loops are fused and nothing that moves no element is
//! computed. All of them promise the same bits, so all comparisons are exact.
//!
//! * [`rewrites`]: each rewrite by itself, on the smallest function that has it, and inside of larger ones.
//! * [`mistakes`]: rewrites that are tempting and wrong are caught.

mod functions;
mod mistakes;
mod rewrites;
