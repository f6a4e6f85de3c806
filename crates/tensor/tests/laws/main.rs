//! The laws of the operation table, tried on generated operands of generated shapes.
//!
//! The numbers are the same on every run. A failing law shows the smallest operands that break it. `EDDY_CASES=10` tries
//! ten times as many.
//!
//! * [`cases`](cases): operands for every operation; [`harness`](harness): how a law is tried on them.
//! * [`evaluate`](evaluate): derivatives that compute; [`tape`](tape): derivatives that record, so that they can be
//!   differentiated again.
//! * the laws: [`soundness`](soundness) for the typing and shape rules, [`elements`](elements) for what works element by element, [`definitions`](definitions) for sums and
//!   products, [`derivatives`](derivatives) for the first order, [`second_order`](second_order) for the second,
//!   [`precision`](precision) for f32, [`text`](text) for printing; [`formulas`](formulas) shows all derivatives, and
//!   what they read.

mod cases;
mod harness;

mod evaluate;
mod tape;

mod definitions;
mod derivatives;
mod elements;
mod formulas;
mod precision;
mod second_order;
mod soundness;
mod text;
